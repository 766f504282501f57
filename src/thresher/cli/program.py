"""The program `thresher`: its verbs, and those that other packages add."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

import click
from click.shell_completion import get_completion_class

from thresher.cli.declare import Group

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

PROGRAM = "thresher"
VERBS = [  # in the order of the help
    "train", "predict", "filter", "rank", "evaluate", "explain", "split", "tune", "compare",
    "compact", "inspect", "concepts", "learn", "learners", "corpus", "demo", "warm-up",
]  # fmt: skip
ENTRY_POINTS = "thresher.verbs"  # the verbs of other packages, by the modules that add them
OTHER_PACKAGES = {"paper": "thresher-papers"}
CONTEXT = {"help_option_names": ["--help", "-h"], "max_content_width": 110}


class Program(Group):
    """The command line. The module of a verb is imported when the verb is used."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [*VERBS, *installed_verbs()]

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in self.commands:
            if name in VERBS:
                import_module(f"thresher.cli.{name.replace('-', '_')}")  # adds the verb
            elif name in installed_verbs():
                self._load(name)
            elif name in OTHER_PACKAGES:
                package = OTHER_PACKAGES[name]
                ctx.fail(f"The verb {name} is in a package of its own: pip install {package}.")
        return super().get_command(ctx, name)

    def _load(self, name: str) -> None:
        try:
            installed_verbs()[name].load()  # a module, which adds the verb
        except Exception as problem:  # the other verbs still work
            click.echo(f"thresher: The verb {name} cannot be loaded: {problem!r}.", err=True)


@cache
def installed_verbs() -> dict[str, EntryPoint]:
    """Return the verbs of other packages. Finding them takes 25 ms."""
    from importlib.metadata import entry_points

    points = entry_points(group=ENTRY_POINTS)
    return {point.name: point for point in points if point.name not in VERBS}


def _show_version(ctx: click.Context, param: click.Parameter, is_given: bool) -> None:
    if is_given:
        from thresher import __version__

        click.echo(f"thresher {__version__}")
        ctx.exit()


def _show_completion(ctx: click.Context, param: click.Parameter, shell: str | None) -> None:
    if shell is not None:
        kind: Any = get_completion_class(shell)
        click.echo(kind(app, {}, PROGRAM, f"_{PROGRAM.upper()}_COMPLETE").source())
        ctx.exit()


app = Program(
    PROGRAM,
    help="Sort text into categories, fast and exactly, and say why.",
    epilog="Start with: thresher demo",
    context_settings=CONTEXT,
    params=[
        click.Option(
            ["--version"],
            **{"is_flag": True, "is_eager": True, "expose_value": False},
            callback=_show_version,
            help="Show the version.",
        ),
        click.Option(
            ["--completion"],
            **{"is_eager": True, "expose_value": False},
            type=click.Choice(["bash", "zsh", "fish"]),
            metavar="bash|zsh|fish",
            callback=_show_completion,
            help="Print a script that completes verbs and options in this shell.",
        ),
    ],
)
