"""The options of a Categorizer on the command line, made from its parameters when a verb is used."""

from __future__ import annotations

import ast
from typing import Any

import click
from typer.core import TyperCommand, TyperOption

from thresher.errors import ParameterError
from thresher.parameters import Kind, Parameter

__all__ = ["CategorizerCommand", "given_parameters", "learner_of"]

_META = "thresher.parameters"


class CategorizerCommand(TyperCommand):
    """A verb that takes every parameter of `Categorizer` that has a flag.

    They are looked up when the verb is used, not when the command line starts: the stations that
    declare them load machine code.
    """

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        own = super().get_params(ctx)
        taken = {option for one in own for option in one.opts}
        options = [
            _option(name, one)
            for name, one in _parameters().items()
            if one.flag and one.flag.partition("/")[0] not in taken
        ]
        return [*own[:-1], *options, own[-1]]  # --help stays last

    def invoke(self, ctx: click.Context) -> Any:
        names = set(_parameters()) & set(ctx.params)
        own = {one.name for one in self.params}
        given = {name: ctx.params.pop(name) for name in names - own}
        ctx.meta[_META] = {name: value for name, value in given.items() if value is not None}
        return super().invoke(ctx)


def given_parameters() -> dict[str, Any]:
    """Return the parameters that were given, by their names in Python; the others are unset."""
    return dict(click.get_current_context().meta[_META])


def learner_of(name: str, settings: list[str], passes: int | None) -> Any:
    """Return the learner that the command line names, with its parameters.

    Parameters
    ----------
    name : str
        A registered name, or `module:Class`, which is imported.
    settings : list of str
        NAME=VALUE each.
    passes : int or None
        How many passes an online learner makes.
    """
    from thresher.learners import import_learner, make_learner

    learner = make_learner(import_learner(name) if ":" in name else name)
    values: dict[str, Any] = {} if passes is None else {"max_iter": passes}
    for setting in settings:
        key, equals, value = setting.partition("=")
        if not equals:
            raise ParameterError(f"--parameter is {setting!r}; it must be NAME=VALUE.")
        try:
            values[key] = ast.literal_eval(value)
        except (SyntaxError, ValueError):  # not a number or a tuple: a plain word
            values[key] = value
    return learner.set_params(**values)


def _parameters() -> dict[str, Parameter]:
    from thresher.categorizer import Categorizer

    return Categorizer.parameters


class _Value(click.ParamType):
    """A value that a kind of parameter reads and checks."""

    def __init__(self, kind: Kind) -> None:
        self.kind, self.name = kind, kind.describe().removesuffix(" or None")

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if not isinstance(value, str):
            return value
        try:
            parsed = self.kind.parse(value)
        except ValueError:
            self.fail(f"{value!r} must be {self.kind.bounds()}.", param, ctx)
        problem = self.kind.problem(parsed)
        if problem:
            self.fail(f"{value!r} must be {problem}.", param, ctx)
        return parsed

    def get_metavar(self, param: click.Parameter, ctx: click.Context | None = None) -> str:
        return self.name.replace('"', "").replace(", ", "|").strip("{}").replace("None|", "")


def _option(name: str, one: Parameter) -> TyperOption:
    assert one.flag is not None and one.kind is not None
    words = " ".join(one.words.split()).replace("`", "")
    shown = "" if one.value is None or one.kind.is_flag else f" Default: {_shown(one.value)}."
    more: dict[str, Any] = {"is_flag": True} if one.kind.is_flag else {"type": _Value(one.kind)}
    return TyperOption(
        param_decls=[name, one.flag],
        help=words + shown,
        default=None,
        show_default=False,
        rich_help_panel=one.panel,
        **more,
    )


def _shown(value: Any) -> str:
    """Return a default as it is typed on the command line."""
    return f"{value[0]}-{value[1]}" if isinstance(value, tuple) else str(value)
