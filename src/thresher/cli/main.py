"""The command line: the library's verbs, one file each."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterable
from functools import cache
from importlib import import_module

import typer

from thresher.cli import _common as common
from thresher.cli import process
from thresher.cli._common import verb
from thresher.errors import ParameterError, ThresherWarning

TYPE_CHECKING = False
if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

    from thresher.cli._common import app

__all__ = ["app", "main", "verb"]

VERBS = [  # in the order of the help
    "train", "predict", "filter", "rank", "evaluate", "explain", "split", "tune", "compare",
    "compact", "inspect", "concepts", "learn", "learners", "corpus", "demo", "warm_up",
]  # fmt: skip
ENTRY_POINTS = "thresher.verbs"  # the verbs of other packages, by the modules that add them
OTHER_PACKAGES = {"paper": "thresher-papers"}


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
    """Return `app` with all verbs; `main` imports only the verb that is typed."""
    if name != "app":
        raise AttributeError(f"module 'thresher.cli' has no attribute {name!r}")
    return _with_all_verbs()


def _program(names: Iterable[str]) -> typer.Typer:
    """Return the program with these verbs, built in or of other packages."""
    for name in names:
        if name in VERBS:
            import_module(f"thresher.cli.{name}")  # which adds it
            continue
        try:
            _installed_verbs()[name].load()  # a module, which adds it too
        except Exception as problem:  # the other verbs still work
            _warn(f"The verb {name} cannot be loaded: {problem!r}.")
    return common.app


def _with_all_verbs() -> typer.Typer:
    return _program([*VERBS, *_installed_verbs()])


@cache
def _installed_verbs() -> dict[str, EntryPoint]:
    """Return the verbs of other packages. Finding them takes 25 ms."""
    from importlib.metadata import entry_points

    points = entry_points(group=ENTRY_POINTS)
    return {point.name: point for point in points if point.name.replace("-", "_") not in VERBS}


def _program_for(typed: str) -> typer.Typer:
    """Return the program with the verb that is typed; with all, for help and near names."""
    if (built_in := typed.replace("-", "_")) in VERBS:
        return _program([built_in])
    if typed in _installed_verbs():
        return _program([typed])
    if typed in OTHER_PACKAGES:
        package = OTHER_PACKAGES[typed]
        raise ParameterError(f"The verb {typed} is in a package of its own: pip install {package}.")
    return _with_all_verbs()


def main() -> None:
    """Run the command line."""
    warnings.showwarning = lambda message, *where: _warn(message)
    try:
        run = _program_for("".join(sys.argv[1:2]))
        run()
    except (KeyboardInterrupt, Exception) as problem:  # before a verb began, as in its help
        sys.exit(common.answer(problem))
    except SystemExit:
        if process.is_deserted():
            sys.exit(141)
        raise


def _warn(warning: Warning | str) -> None:
    from thresher.cli._options import as_option

    message = str(warning)
    if isinstance(warning, ThresherWarning):
        message = warning.message(as_option)
    common.say(f"thresher: {message}")
