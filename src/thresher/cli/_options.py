"""The parameters of `Categorizer` as options, made from their declarations."""

from __future__ import annotations

import ast
import re
import shlex
from collections.abc import Iterator
from itertools import compress, product
from typing import TYPE_CHECKING, Any

import click

from thresher.cli.declare import Verb, described, did_you_mean
from thresher.errors import ParameterError

if TYPE_CHECKING:
    from thresher.parameters import Parameter

# Options with another name than the parameter, besides those of `Categorizer`.
_OPTION_NAMES = {"label_separator": "separator", "n_jobs": "threads"}


class ModelVerb(Verb):
    """A verb that has the parameters of `Categorizer` as options.

    They are collected only when the verb is used, because importing the modules that declare them
    loads compiled code.
    """

    def further_options(self) -> list[click.Parameter]:
        from thresher.categorizer import Categorizer

        declared = Categorizer.parameters.items()
        return [_option(name, parameter) for name, parameter in declared if parameter.flag]

    def meant(self, typed: str, names: list[str]) -> str:
        python_name = _flag(typed.lstrip("-").replace("-", "_")).partition("/")[0]
        return did_you_mean([python_name]) if python_name in names else super().meant(typed, names)


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
        value = ("-" if _is_pair(name) else ",").join(map(str, value))
    return f"{flag} {'none' if value is None else value}"


def _is_pair(name: str) -> bool:
    """Return True unless a parameter of `Categorizer` has a list of values."""
    from thresher.categorizer import Categorizer
    from thresher.parameters import Some

    declared = Categorizer.parameters.get(name)
    return declared is None or not isinstance(declared.kind, Some)


def _flag(name: str) -> str:
    """Return the option of a parameter of Python."""
    from thresher.categorizer import Categorizer

    declared = Categorizer.parameters.get(name)
    if declared is not None and declared.flag:
        return str(declared.flag)
    return "--" + _OPTION_NAMES.get(name, name).replace("_", "-")


def with_fast(model_options: dict[str, Any], fast: bool) -> dict[str, Any]:
    """Return the parameters of a model, changed by the option --fast."""
    return model_options | ({"preset": "fast"} if fast else {})


def typed_options(model_options: dict[str, Any]) -> list[str]:
    """Return parameters of `Categorizer` as they are typed in a shell.

    Examples
    --------
    >>> typed_options({"concepts": (100, 200), "ngram_range": (1, 2), "token_pattern": "[a-z]+"})
    ['--concepts 100,200', '--ngrams 1-2', "--token-pattern '[a-z]+'"]
    """
    typed = []
    for name, value in model_options.items():
        flag, _, setting = as_option(f"{name}={value!r}").partition(" ")
        typed.append(f"{flag} {shlex.quote(setting)}".removesuffix(" ''"))
    return typed


def learner_of(name: str, settings: list[str], passes: int | None) -> Any:
    """Return the learner with this name, or `module:Class`, with settings NAME=VALUE."""
    from thresher.learners import import_learner, make_learner

    if name == "auto":
        if settings or passes is not None:
            raise ParameterError(
                "--parameter and --passes apply to a learner: add --learner NAME, such as "
                "--learner arow."
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
        except (SyntaxError, ValueError):  # a string without quotes
            values[key] = value
    return make_learner(kind, **values)


def split_learner(word: str) -> tuple[str, list[str]]:
    """Return the name and the settings in `name:key=value:...`; a name may be `module:Class`."""
    pieces = word.split(":")
    n = next((i for i, piece in enumerate(pieces) if "=" in piece), len(pieces))
    return ":".join(pieces[:n]), pieces[n:]


def grid(settings: list[str]) -> Iterator[tuple[list[str], list[str]]]:
    """Yield the combinations of settings NAME=A,B,C: all settings, and those with several values.

    Commas within brackets or quotes belong to a value.

    Examples
    --------
    >>> list(grid(["promotion=1.1,1.2", "sizes=(5,5)", "margin=0"]))[1]
    (['promotion=1.2', 'sizes=(5,5)', 'margin=0'], ['promotion=1.2'])
    """
    choices: dict[str, list[str]] = {}
    for setting in settings:
        name, equals, listed = setting.partition("=")
        values = re.findall(r"""(?:\([^)]*\)|\[[^]]*\]|"[^"]*"|'[^']*'|[^,])+""", listed)
        choices[name] = list(
            dict.fromkeys(f"{name}{equals}{value.strip()}" for value in values or [""])
        )
    several = [len(values) > 1 for values in choices.values()]
    for chosen in product(*choices.values()):
        yield list(chosen), list(compress(chosen, several))


class _Value(click.ParamType):
    """The value of a parameter, read and checked as it is declared."""

    name = "value"

    def __init__(self, parameter: Parameter) -> None:
        assert parameter.kind is not None
        self._kind, self._default = parameter.kind, parameter.value

    def convert(self, value: Any, param: click.Parameter | None, ctx: Any) -> Any:
        kind = self._kind
        if value == "none" and (kind.optional or None in getattr(kind, "choices", ())):
            return None
        if value == self._default:
            return value
        try:
            parsed = kind.parse(value)
            problem = kind.problem(parsed)
        except ValueError:
            problem = kind.problem(value) or kind.bounds()
        if not problem:
            return parsed
        for python, typed in (("None", "none"), ("a dict of such", "NAME=VALUE,...")):
            problem = problem.replace(python, typed)
        problem = re.sub(r"\((\d+), (\d+)\)", r"\1-\2", problem)
        flag = "" if param is None else param.opts[0]
        raise click.UsageError(f"{flag} is {value!r}; it must be {problem}.", ctx)


def _option(name: str, parameter: Parameter) -> click.Parameter:
    """Return a parameter of `Categorizer` as an option."""
    assert parameter.flag is not None and parameter.kind is not None
    help = f"{' '.join(parameter.words.split()).replace('`', '')} ".partition(". ")[0]
    help = help.partition("; None")[0].rstrip(". ") + "."  # the rest is for the documentation
    if parameter.kind.is_flag:
        option = click.Option([parameter.flag, name], is_flag=True, default=None)
    else:
        value, metavar = _Value(parameter), parameter.kind.placeholder()
        option = click.Option([parameter.flag, name], type=value, metavar=metavar)
        if parameter.value is not None:
            default = parameter.value
            typed = "{}-{}".format(*default) if isinstance(default, tuple) else default
            help += f" Default: {typed}."
    return described(option, help, parameter.panel or "Options")
