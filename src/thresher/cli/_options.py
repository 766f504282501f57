"""The parameters of a Categorizer as options, made from their declarations when a verb is used."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Callable, Iterator
from itertools import compress, product
from typing import TYPE_CHECKING, Annotated, Any

import typer

from thresher.cli._plainly import Verb, read_plainly
from thresher.errors import ParameterError

if TYPE_CHECKING:
    from thresher.parameters import Kind, Parameter

__all__ = [
    "CategorizerCommand", "as_option", "given_parameters", "grid",  "learner_of", "split_learner",
]  # fmt: skip

_META = "thresher.parameters"
_NONE = object()  # "none" was typed, which is not the same as nothing
# Options with another name than the parameter, besides those of `Categorizer`.
_OPTION_NAMES = {"label_separator": "separator", "n_jobs": "threads"}


class CategorizerCommand(Verb):
    """A verb that takes every parameter of `Categorizer` that has a flag.

    They are looked up only when the verb is used: the stations that declare them load machine code.
    """

    def get_params(self, ctx: Any) -> list[Any]:
        from thresher.categorizer import Categorizer

        own = super().get_params(ctx)
        taken = {option for one in own for option in one.opts}
        known = {name: one for name, one in Categorizer.parameters.items() if one.flag}
        wanted = {n: p for n, p in known.items() if str(p.flag).partition("/")[0] not in taken}
        return read_plainly([*own[:-1], *_options(wanted), own[-1]])  # --help stays last

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        try:
            return super().parse_args(ctx, args)
        except Exception as error:
            typed = getattr(error, "option_name", "").lstrip("-").replace("-", "_")
            options = {option for param in self.get_params(ctx) for option in param.opts}
            meant = _flag(typed).partition("/")[0]  # if the name in Python was typed
            if hasattr(error, "possibilities") and meant in options:
                error.possibilities = [meant]
            raise

    def invoke(self, ctx: Any) -> Any:
        own = {one.name for one in self.params}
        values = {name: ctx.params.pop(name) for name in set(ctx.params) - own}
        given = {name: value for name, value in values.items() if value is not None}
        ctx.meta[_META] = {name: None if v is _NONE else v for name, v in given.items()}
        return super().invoke(ctx)


def as_option(parameter: str) -> str:
    """Return a parameter, or its setting to a value, as it is typed on the command line.

    Examples
    --------
    >>> as_option('on_error="skip"'), as_option("n_jobs"), as_option("ngram_range=(1, 2)")
    ('--on-error skip', '--threads', '--ngrams 1-2')
    """
    name, equals, setting = parameter.partition("=")
    flag, _, negated = _flag(name.rpartition(": ")[2]).partition("/")
    if not equals:
        return flag
    value = ast.literal_eval(setting)
    if isinstance(value, bool):
        return flag if value else negated or f"no {flag}"
    if isinstance(value, dict):
        value = ",".join(f"{key}={number}" for key, number in value.items())
    elif isinstance(value, tuple):
        value = "-".join(map(str, value))
    return f"{flag} {'none' if value is None else value}"


def _flag(name: str) -> str:
    """Return the option of a parameter of Python."""
    from thresher.categorizer import Categorizer

    declared = Categorizer.parameters.get(name)
    if declared is not None and declared.flag:
        return str(declared.flag)
    return "--" + _OPTION_NAMES.get(name, name).replace("_", "-")


def _hyphened(sentence: str) -> str:
    """Return a sentence with its pairs as they are typed: 1-2 for (1, 2)."""
    return re.sub(r"\((\d+), (\d+)\)", r"\1-\2", sentence)


def given_parameters(context: typer.Context) -> dict[str, Any]:
    """Return the parameters that were given, by their names in Python; the others are unset."""
    return dict(context.meta[_META])


def learner_of(name: str, settings: list[str], passes: int | None) -> Any:
    """Return the learner of a registered name, or of `module:Class`, with settings NAME=VALUE."""
    from thresher.learners import import_learner, make_learner

    if name == "auto":
        if settings or passes is not None:
            raise ParameterError(
                "--parameter and --passes are for a learner: add --learner and its name, arow say."
            )
        return name
    kind = import_learner(name) if ":" in name else name
    values: dict[str, Any] = {}
    if passes is not None and "max_iter" in make_learner(kind).parameters:
        values["max_iter"] = passes
    for setting in settings:
        key, equals, value = setting.partition("=")
        if not equals:
            raise ParameterError(f"--parameter is {setting!r}; it must be NAME=VALUE.")
        try:
            values[key] = ast.literal_eval(value)
        except (SyntaxError, ValueError):  # not a number or a tuple: a plain word
            values[key] = value
    return make_learner(kind, **values)


def split_learner(word: str) -> tuple[str, list[str]]:
    """Return the name and the settings of `name:key=value:...`; a name may be `module:Class`."""
    parts = word.split(":")
    n = next((i for i, part in enumerate(parts) if "=" in part), len(parts))
    return ":".join(parts[:n]), parts[n:]


def grid(settings: list[str]) -> Iterator[tuple[list[str], list[str]]]:
    """Yield every choice of settings NAME=A,B,C: all of them, and those with others to choose from.

    Commas within brackets or quotes belong to a value.

    Examples
    --------
    >>> list(grid(["promotion=1.1,1.2", "sizes=(5,5)", "margin=0"]))[1]
    (['promotion=1.2', 'sizes=(5,5)', 'margin=0'], ['promotion=1.2'])
    """
    choices: dict[str, list[str]] = {}
    for setting in settings:
        name, equals, values = setting.partition("=")
        parts = re.findall(r"""(?:\([^)]*\)|\[[^]]*\]|"[^"]*"|'[^']*'|[^,])+""", values)
        choices[name] = list(dict.fromkeys(f"{name}{equals}{one.strip()}" for one in parts or [""]))
    several = [len(values) > 1 for values in choices.values()]
    for chosen in product(*choices.values()):
        yield list(chosen), list(compress(chosen, several))


def _reader(flag: str, kind: Kind, default: Any) -> Callable[[str], Any]:
    """Return what reads and checks a value of this kind."""

    def read(value: Any) -> Any:
        if not isinstance(value, str) or value == default:
            return value
        if value == "none" and (kind.optional or None in getattr(kind, "choices", ())):
            return _NONE
        try:
            parsed = kind.parse(value)
            problem = kind.problem(parsed)
        except ValueError:
            problem = kind.problem(value) or kind.bounds()
        if problem:  # it is in the words of Python
            problem = problem.replace("None", "none").replace("a dict of such", "NAME=VALUE,...")
            problem = _hyphened(problem)
            raise typer.BadParameter(f"{flag} is {value!r}; it must be {problem}.")
        return parsed

    return read


def _options(parameters: dict[str, Parameter]) -> list[Any]:
    """Return an option for each parameter, as a function that takes them would have them."""

    def takes_all() -> None: ...

    kinds = {name: _annotation(one) for name, one in parameters.items()}
    by_name = inspect.Parameter.KEYWORD_ONLY
    takes_all.__annotations__ = kinds
    takes_all.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [inspect.Parameter(name, by_name, default=None, annotation=k) for name, k in kinds.items()]
    )
    app = typer.Typer(add_completion=False, rich_markup_mode="rich")
    app.command(add_help_option=False)(takes_all)
    return list(typer.main.get_command(app).params)


def _annotation(one: Parameter) -> Any:
    assert one.flag is not None and one.kind is not None
    words = f"{' '.join(one.words.split()).replace('`', '')} ".partition(". ")[0]
    words = words.partition("; None")[0].rstrip(". ") + "."  # the rest is for the documentation
    if one.kind.is_flag:
        option = typer.Option(one.flag, help=words, rich_help_panel=one.panel, show_default=False)
        return Annotated[bool | None, option]
    if one.value is not None:
        typed = "{}-{}".format(*one.value) if isinstance(one.value, tuple) else one.value
        words += f" Default: {typed}."
    option = typer.Option(
        one.flag,
        help=words,
        rich_help_panel=one.panel,
        metavar=one.kind.placeholder(),
        parser=_reader(one.flag, one.kind, one.value),
        show_default=False,
    )
    return Annotated[Any, option]
