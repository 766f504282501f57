"""Verbs that read what is typed without pydantic, which takes longer to import than predicting.

typer has it convert every value, even None and a text that shall be a text. Here a value that is of
its kind already is taken as it is, and digits as their number; all else goes typer's way, with its
messages for what is wrong.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from typer.core import TyperCommand, TyperGroup

__all__ = ["Verb", "Verbs", "read_plainly"]


class _Plainly:
    """What a parameter of typer's asks to convert a value."""

    def __init__(self, otherwise: Callable[[], Any]) -> None:
        self._otherwise = otherwise

    def coerce(self, value: Any, param: Any, ctx: Any) -> Any:
        """Return a value as what was declared."""
        if value is None:
            return () if param.multiple or param.nargs == -1 else None
        kind = param.type_descriptor.annotation
        if type(value) is kind:
            return value
        if kind == list[str] and isinstance(value, list | tuple) and set(map(type, value)) == {str}:
            return list(value)
        if kind is int and re.fullmatch("[0-9]{1,9}", str(value)):
            info = param.type_descriptor.parameter_info
            low, high = (0 if info.min is None else info.min), (info.max or 10**9)
            if low <= int(value) <= high:
                return int(value)
        return self._otherwise().coerce(value, param=param, ctx=ctx)


def read_plainly(params: list[Any]) -> list[Any]:
    """Return parameters that read what they can without pydantic; of another typer, as they do."""
    for one in params:
        usual = getattr(type(one), "get_runtime_param", None)
        if usual is not None and hasattr(one, "type_descriptor"):
            one.get_runtime_param = lambda one=one, usual=usual: _Plainly(lambda: usual(one))
    return params


class Verb(TyperCommand):
    """A verb."""

    def get_params(self, ctx: Any) -> list[Any]:
        return read_plainly(super().get_params(ctx))

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        try:
            return super().parse_args(ctx, args)
        except Exception as problem:
            error: Any = problem
            if near := getattr(error, "possibilities", None):
                error.possibilities = near[:1]  # typer's, of which the best comes first
            if typed := getattr(error, "option_name", ""):
                known = (option for one in self.get_params(ctx) for option in one.opts)
                if begun := [option for option in known if option.startswith(typed)]:
                    error.possibilities = begun
            raise


class Verbs(TyperGroup):
    """A group of verbs."""

    def get_params(self, ctx: Any) -> list[Any]:
        return read_plainly(super().get_params(ctx))
