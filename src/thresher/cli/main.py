"""The command line: the library's verbs, one file each."""

from __future__ import annotations

import sys
import warnings
from importlib import import_module

import typer

from thresher.cli import _common as common
from thresher.cli import process

TYPE_CHECKING = False
if TYPE_CHECKING:
    from thresher.cli._common import app

__all__ = ["app", "main"]

VERBS = [  # in the order of the help
    "train", "predict", "filter", "rank", "evaluate", "explain", "split", "tune", "compare",
    "compact", "inspect", "concepts", "learn", "learners", "corpus", "paper", "demo", "warm_up",
]  # fmt: skip


def _show_version(wanted: bool) -> None:
    if wanted:
        from thresher import __version__

        typer.echo(f"thresher {__version__}")
        raise typer.Exit


@common.app.callback()
def options(
    version: bool = typer.Option(
        False, "--version", callback=_show_version, is_eager=True, help="Show the version and stop."
    ),
) -> None:
    """Sort text into categories, fast and exactly, and say why."""


def __getattr__(name: str) -> object:
    """Return `app` with all verbs; `main` makes do with the one that is typed."""
    if name != "app":
        raise AttributeError(f"module 'thresher.cli' has no attribute {name!r}")
    return _with_verbs(VERBS)


def _with_verbs(names: list[str]) -> typer.Typer:
    for name in names:
        import_module(f"thresher.cli.{name}")  # which adds it
    return common.app


def main() -> None:
    """Run the command line."""
    warnings.showwarning = lambda message, *where: _warn(str(message))
    try:
        typed = "".join(sys.argv[1:2]).replace("-", "_")
        run = _with_verbs([typed] if typed in VERBS else VERBS)  # all, for help and near names
        run()
    except (KeyboardInterrupt, Exception) as problem:  # before a verb began, as in its help
        sys.exit(common.answer(problem))
    except SystemExit:
        if process.is_deserted():
            sys.exit(141)
        raise


def _warn(sentence: str) -> None:
    from thresher.cli._options import in_options

    common.say(f"thresher: {in_options(sentence)}")
