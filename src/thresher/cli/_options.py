"""The parameters of a Categorizer as options, made from their declarations when a verb is used."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

import typer
from typer.core import TyperCommand, TyperOption

from thresher.errors import ParameterError
from thresher.parameters import Kind, Parameter

__all__ = ["CategorizerCommand", "given_parameters", "learner_of", "split_learner"]

_META = "thresher.parameters"
_NONE = object()  # "none" was typed, which is not the same as nothing


class CategorizerCommand(TyperCommand):
    """A verb that takes every parameter of `Categorizer` that has a flag.

    They are looked up when the verb is used, not when the command line starts: the stations that
    declare them load machine code.
    """

    def get_params(self, ctx: Any) -> list[Any]:
        own = super().get_params(ctx)
        taken = {option for one in own for option in one.opts}
        options = [
            _option(name, one)
            for name, one in _parameters().items()
            if one.flag and one.flag.partition("/")[0] not in taken
        ]
        return [*own[:-1], *options, own[-1]]  # --help stays last

    def invoke(self, ctx: Any) -> Any:
        names = set(_parameters()) & set(ctx.params)
        own = {one.name for one in self.params}
        given = {name: ctx.params.pop(name) for name in names - own}
        ctx.meta[_META] = {
            name: None if value is _NONE else value
            for name, value in given.items()
            if value is not None
        }
        return super().invoke(ctx)


def given_parameters(context: typer.Context) -> dict[str, Any]:
    """Return the parameters that were given, by their names in Python; the others are unset."""
    return dict(context.meta[_META])


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
    values: dict[str, Any] = {}
    if passes is not None and "max_iter" in learner.parameters:
        values["max_iter"] = passes
    for setting in settings:
        key, equals, value = setting.partition("=")
        if not equals:
            raise ParameterError(f"--parameter is {setting!r}; it must be NAME=VALUE.")
        try:
            values[key] = ast.literal_eval(value)
        except (SyntaxError, ValueError):  # not a number or a tuple: a plain word
            values[key] = value
    return learner.set_params(**values)


def split_learner(word: str) -> tuple[str, list[str]]:
    """Return the name and the settings of `name:key=value:...`; a name may be `module:Class`.

    Examples
    --------
    >>> split_learner("sklearn.svm:LinearSVC:C=0.5")
    ('sklearn.svm:LinearSVC', ['C=0.5'])
    """
    parts = word.split(":")
    n = next((i for i, part in enumerate(parts) if "=" in part), len(parts))
    return ":".join(parts[:n]), parts[n:]


def _parameters() -> dict[str, Parameter]:
    from thresher.categorizer import Categorizer

    return Categorizer.parameters


def _reader(flag: str, kind: Kind) -> Callable[[str], Any]:
    """Return what reads and checks a value of this kind."""

    def read(value: Any) -> Any:
        if not isinstance(value, str):
            return value
        if kind.optional and value == "none":
            return _NONE
        try:
            parsed = kind.parse(value)
            problem = kind.problem(parsed)
        except ValueError:
            problem = kind.bounds()
        if problem:
            raise typer.BadParameter(f"{flag} is {value!r}; it must be {problem}.")
        return parsed

    return read


def _option(name: str, one: Parameter) -> TyperOption:
    assert one.flag is not None and one.kind is not None
    words = " ".join(one.words.split()).replace("`", "")
    shown = "" if one.value is None or one.kind.is_flag else f" Default: {_shown(one.value)}."
    more: dict[str, Any] = {"is_flag": True}
    if not one.kind.is_flag:
        named = one.kind.describe().removesuffix(" or None").replace('"', "").strip("{}")
        metavar = named.replace("None, ", "").replace(", ", "|")
        more = {"type": _reader(one.flag, one.kind), "metavar": metavar}
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
