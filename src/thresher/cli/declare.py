"""Verbs declared as functions: annotations describe their arguments and options.

A parameter without a default is an argument; one with a default is an option of the same name.
`Argument` and `Option` add its names, help and bounds. The functions become click commands.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator
from difflib import get_close_matches
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, get_args, get_origin, get_type_hints

import click
from click.core import ParameterSource

__all__ = ["Argument", "Group", "Option", "Verb", "declared"]

VALUE_NAMES = {int: "N", float: "NUMBER", str: "TEXT", Path: "FILE"}  # in the help, by the type


class Argument:
    """An argument of a verb, with its name and description in the help."""

    def __init__(self, *, metavar: str | None = None, help: str = "") -> None:
        self.metavar, self.help, self.panel = metavar, help, "Arguments"


class Option(Argument):
    """An option of a verb.

    Parameters
    ----------
    *names : str
        The names of the option, such as "--output" and "-o". Default: from the parameter name.
    metavar, help : str, optional
        The name of its value in the help, and its description.
    panel : str, default="Options"
        The heading under which the help lists it.
    min, max : number, optional
        The bounds of its value.
    """

    def __init__(
        self,
        *names: str,
        metavar: str | None = None,
        help: str = "",
        panel: str = "Options",
        min: float | None = None,
        max: float | None = None,
    ) -> None:
        super().__init__(metavar=metavar, help=help)
        self.names, self.panel, self.min, self.max = names, panel, min, max


def declared(owner: Callable[..., Any]) -> Iterator[click.Parameter]:
    """Yield the parameters of a function; a parameter that is a NamedTuple has several."""
    hints = get_type_hints(owner, include_extras=True)
    for name, parameter in inspect.signature(owner).parameters.items():
        if hasattr(hints[name], "_fields"):
            yield from declared(hints[name])
        elif get_origin(hints[name]) is not dict:
            yield _click_parameter(name, hints[name], parameter.default)


def _click_parameter(name: str, hint: Any, default: Any) -> click.Parameter:
    kind, *notes = get_args(hint) if get_origin(hint) is Annotated else (hint,)
    is_required = default is inspect.Parameter.empty
    about = notes[0] if notes else Argument() if is_required else Option()
    if isinstance(kind, UnionType):
        kind = next(inner for inner in get_args(kind) if inner is not NoneType)
    is_list, single = get_origin(kind) is list, (*get_args(kind), kind)[0]
    options: dict[str, Any] = {"type": single, "metavar": about.metavar}
    parameter: click.Parameter
    if not isinstance(about, Option):
        if not is_required:
            options["metavar"] = f"[{about.metavar}{'...' * is_list}]"
        parameter = click.Argument(
            [name], required=is_required, nargs=-1 if is_list else 1, **options
        )
    else:
        names = about.names or (f"--{name.replace('_', '-')}",)
        if single in (int, float):
            bounded: Any = click.IntRange if single is int else click.FloatRange
            options["type"] = bounded(about.min, about.max)
        if single is bool:
            options |= {"type": None, "is_flag": True}
        elif get_origin(kind) is tuple:
            options["nargs"] = len(get_args(kind))
        parameter = click.Option([*names, name], default=default, multiple=is_list, **options)
        parameter.metavar = about.metavar or VALUE_NAMES.get(single)
    return described(parameter, _with_default(about.help, default), about.panel)


def described(parameter: click.Parameter, help: str, panel: str) -> click.Parameter:
    """Set the help and the heading of a click parameter, and return it."""
    parameter.help, parameter.panel = help, panel  # type: ignore[attr-defined]
    return parameter


def _with_default(help: str, default: Any) -> str:
    if isinstance(default, bool) or not isinstance(default, int | float | str):
        return help
    return f"{help} Default: {default}."


class _Command(click.Command):
    """A command whose help lists its parameters under headings."""

    def get_help_option(self, ctx: click.Context) -> click.Option | None:
        option = super().get_help_option(ctx)
        if option is not None:
            option.help = "Show this help."
        return option

    def format_arguments(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Do nothing: `format_options` lists the arguments."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        panels: dict[str, list[tuple[str, str]]] = {"Arguments": [], "Options": []}
        for parameter in self.get_params(ctx):
            rows = panels.setdefault(getattr(parameter, "panel", "Options"), [])
            rows.append((_typed(parameter, ctx), getattr(parameter, "help", "") or ""))
        for title, rows in panels.items():
            if rows:
                with formatter.section(click.style(title, bold=True)):
                    formatter.write_dl(rows, col_max=26)


def _typed(parameter: click.Parameter, ctx: click.Context) -> str:
    """Return an argument or an option with its value, as it is typed."""
    if isinstance(parameter, click.Argument):
        return parameter.make_metavar(ctx).strip("[].")
    names = ", ".join(sorted(parameter.opts, key=len))
    value = "" if getattr(parameter, "is_flag", False) else f" {parameter.metavar}"
    return " / ".join([names, *parameter.secondary_opts]) + value


class Verb(_Command):
    """A verb of the command line."""

    def further_options(self) -> list[click.Parameter]:
        """Return further options; their values are passed to the function as `model_options`."""
        return []

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        *parameters, help_option = super().get_params(ctx)
        taken = {name for parameter in parameters for name in parameter.opts}
        further = [p for p in self.further_options() if not taken.intersection(p.opts)]
        return [*parameters, *further, help_option]

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            names = [name for p in self.get_params(ctx) for name in (*p.opts, *p.secondary_opts)]
            hint = self.meant(error.option_name, names)
            raise click.UsageError(f"No such option: {error.option_name}.{hint}", ctx) from None

    def meant(self, typed: str, names: list[str]) -> str:
        """Return a suggestion of an option with a similar name, or an empty string."""
        begun = [name for name in names if name.startswith(typed)]
        return did_you_mean(begun or get_close_matches(typed, names, 1))

    def invoke(self, ctx: click.Context) -> Any:
        values = {}
        for parameter in self.params:
            value = values[str(parameter.name)] = ctx.params.pop(str(parameter.name))
            if isinstance(value, tuple) and parameter.nargs < 2:
                values[str(parameter.name)] = list(value) or None
        if ctx.params or type(self) is not Verb:
            values["model_options"] = {
                name: value
                for name, value in ctx.params.items()
                if ctx.get_parameter_source(name) is ParameterSource.COMMANDLINE
            }
        ctx.params = values
        return super().invoke(ctx)


def did_you_mean(names: Iterable[str]) -> str:
    """Return a "Did you mean ...?" to append to a message; empty if there are no names."""
    known = " or ".join(names)
    return f" Did you mean {known}?" if known else ""


class Group(_Command, click.Group):
    """A verb with subcommands, or the whole command line."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        self.format_commands(ctx, formatter)
        _Command.format_options(self, ctx, formatter)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        commands = {name: self.get_command(ctx, name) for name in self.list_commands(ctx)}
        rows = [
            (name, (command.help or "").partition("\n")[0])
            for name, command in commands.items()
            if command
        ]
        with formatter.section(click.style("Commands", bold=True)):
            formatter.write_dl(rows)

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.commands)  # in the order in which they were added

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        if self.get_command(ctx, args[0]) is None:
            hint = did_you_mean(get_close_matches(args[0], self.list_commands(ctx), 1))
            ctx.fail(f"No such command: {args[0]}.{hint}")
        return super().resolve_command(ctx, args)
