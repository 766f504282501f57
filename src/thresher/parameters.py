"""Declarations of parameters: defaults, bounds and descriptions, for constructors and docs."""

from __future__ import annotations

import difflib
import functools
import inspect
import textwrap
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Self, dataclass_transform

import numpy as np

from thresher.errors import ModelError, ParameterError, brief, escaped, param
from thresher.limits import LARGEST, MOST_ROUNDS, MOST_THINGS, MOST_THREADS


@dataclass(frozen=True)
class Kind:
    """The values that a parameter may have; `Kind` itself allows any value."""

    name: ClassVar[str] = "object"  # the type in docstrings
    hint: ClassVar[str] = "OBJECT"  # the placeholder on the command line
    reads: ClassVar[type] = str  # converts text from the command line
    is_flag: ClassVar[bool] = False  # whether the option has no value there
    optional: bool = field(default=False, kw_only=True)  # whether None is allowed

    def allows(self, value: Any) -> bool:
        """Return True if a value other than None is allowed."""
        return True

    def bounds(self) -> str:
        """Return what a value must be, in words that follow "it must be"."""
        return self.name

    def describe(self) -> str:
        """Return the type as in NumPy's docstrings."""
        words = getattr(self, "words", self.name)
        return f"{words} or None" if self.optional else words

    def placeholder(self) -> str:
        """Return the placeholder on the command line."""
        return self.hint

    def parse(self, text: str) -> Any:
        """Return the value that a text from the command line stands for."""
        return self.reads(text)

    def problem(self, value: Any) -> str | None:
        """Return what the value must be, or None if it is allowed."""
        if (value is None and self.optional) or (value is not None and self.allows(value)):
            return None
        return self.bounds() + (" or None" if self.optional else "")


@dataclass(frozen=True)
class Number(Kind):
    """A finite number from `low` to `high`."""

    low: float = -LARGEST
    high: float = LARGEST
    open_low: bool = False
    name: ClassVar[str] = "float"
    hint: ClassVar[str] = "NUMBER"
    reads: ClassVar[type] = float

    def allows(self, value: Any) -> bool:
        if not is_whole(value) and not isinstance(value, float | np.floating):
            return False
        above = self.low < value if self.open_low else self.low <= value
        return bool(above and value <= self.high)

    def bounds(self) -> str:
        least = "" if self.low == -LARGEST else f"at least {self.low:g}"
        least = f"above {self.low:g}" if self.open_low else least
        most = "" if self.high == LARGEST else f"at most {self.high:g}"
        return " and ".join(filter(None, (least, most))) or f"a number up to ±{LARGEST:,.0f}"


@dataclass(frozen=True)
class Whole(Kind):
    """A whole number from `low` to `high`."""

    low: int = 0
    high: int = MOST_THINGS
    name: ClassVar[str] = "int"
    hint: ClassVar[str] = "N"
    reads: ClassVar[type] = int

    def allows(self, value: Any) -> bool:
        return is_whole(value) and self.low <= value <= self.high

    def bounds(self) -> str:
        up_to = "" if self.high == MOST_THINGS else f" to {self.high}"
        return f"a whole number from {self.low}{up_to}"


ROUNDS, THREADS = Whole(1, MOST_ROUNDS), Whole(1, MOST_THREADS)


@dataclass(frozen=True)
class Share(Kind):
    """A number of documents, or a share of them as a float from 0.0 to 1.0."""

    name: ClassVar[str] = "int or float"
    hint: ClassVar[str] = "N|SHARE"

    def allows(self, value: Any) -> bool:
        if isinstance(value, float | np.floating):
            return bool(0.0 <= value <= 1.0)
        return is_whole(value) and 0 <= value <= MOST_THINGS

    def bounds(self) -> str:
        return "a number of documents, such as 2, or a share of them from 0.0 to 1.0"

    def parse(self, text: str) -> Any:
        return int(text) if text.isdigit() else float(text)

    @staticmethod
    def of(value: float, n_documents: int) -> float:
        """Return the number of documents that a value stands for, which may be a fraction.

        Examples
        --------
        >>> Share.of(2, 10), Share.of(0.25, 10)
        (2, 2.5)
        """
        return value * n_documents if isinstance(value, float | np.floating) else value


@dataclass(frozen=True)
class Pair(Kind):
    """Two whole numbers, the lower one first."""

    low: int = 1
    high: int = 64
    name: ClassVar[str] = "(int, int)"
    hint: ClassVar[str] = "N|LOW-HIGH"

    def allows(self, value: Any) -> bool:
        is_pair = isinstance(value, tuple | list) and len(value) == 2 and all(map(is_whole, value))
        return is_pair and bool(self.low <= value[0] <= value[1] <= self.high)

    def bounds(self) -> str:
        numbers = f"two whole numbers from {self.low} to {self.high}"
        return f"{numbers}, the least and the greatest, such as (1, 2)"

    def parse(self, text: str) -> Any:
        least, _, greatest = text.partition("-")
        return int(least), int(greatest or least)


@dataclass(frozen=True)
class Choice(Kind):
    """One of some values."""

    choices: tuple[Any, ...] = ()
    name: ClassVar[str] = "str"

    def allows(self, value: Any) -> bool:
        return any(isinstance(value, type(c)) and value == c for c in self.choices)

    def bounds(self) -> str:
        return f"one of {', '.join(map(repr, self.choices))}"

    def problem(self, value: Any) -> str | None:
        return None if self.allows(value) else self.bounds()

    def describe(self) -> str:
        return "{" + ", ".join(repr(choice).replace("'", '"') for choice in self.choices) + "}"

    def placeholder(self) -> str:
        return "|".join(str(choice) for choice in self.choices if choice is not None)


@dataclass(frozen=True)
class Flag(Kind):
    """True, False, or a value that `also_allows` accepts, which `words` describes."""

    name: ClassVar[str] = "bool"
    is_flag: ClassVar[bool] = True
    words: str = "bool"
    also_allows: Callable[[Any], bool] = lambda value: False

    def allows(self, value: Any) -> bool:
        return isinstance(value, bool | np.bool_) or self.also_allows(value)

    def bounds(self) -> str:
        return "True or False" if self.words == "bool" else self.words


@dataclass(frozen=True)
class Text(Kind):
    """A string."""

    name: ClassVar[str] = "str"
    hint: ClassVar[str] = "TEXT"

    def allows(self, value: Any) -> bool:
        return isinstance(value, str)


@dataclass(frozen=True)
class Some(Kind):
    """Values that a function does not refuse; `refuse` returns what is wrong, or None."""

    words: str
    refuse: Callable[[Any], str | None] = lambda value: None
    read: Callable[[str], Any] = str
    typed: str = "TEXT"

    def placeholder(self) -> str:
        return self.typed

    def problem(self, value: Any) -> str | None:
        return None if value is None and self.optional else self.refuse(value)

    def parse(self, text: str) -> Any:
        return self.read(text)


@dataclass(frozen=True)
class Parameter:
    """The declaration of a parameter, returned by `parameter` and `inherited`."""

    value: Any
    kind: Kind | None = None  # None if only the default changes
    words: str = ""
    kw_only: bool = True
    flag: str | None = None
    panel: str | None = None

    def problem(self, value: Any) -> str | None:
        """Return what a value must be, or None if it is allowed; a default always is."""
        if self.kind is None or (isinstance(value, str) and value == self.value):
            return None
        return self.kind.problem(value)


AUTO = "auto"  # the default of parameters that are decided during training


def parameter(
    *,
    default: Any,
    kind: Kind,
    words: str,
    kw_only: bool = True,
    flag: str | None = None,
    panel: str | None = None,
) -> Any:
    """Declare a parameter of an `Estimator`.

    Parameters
    ----------
    default, kind
        The default and the values that are allowed.
    words : str
        A description for the documentation, which adds the default.
    kw_only : bool, default=True
        Whether the argument is keyword-only.
    flag, panel : str, optional
        The option on the command line, such as "--seed", and its heading in the help.
    """
    return Parameter(default, kind, inspect.cleandoc(words), kw_only, flag, panel)


def inherited(*, default: Any) -> Any:
    """Declare another default for a parameter of a base class."""
    return Parameter(default)


def random_seed(words: str) -> Any:
    """Declare the parameter `random_state`; `words` describe what the seed is for."""
    return parameter(default=0, kind=Whole(0, optional=True), words=words)


N_JOBS = parameter(
    default=1, kind=THREADS, words="Threads; the result does not depend on how many."
)


@dataclass_transform(kw_only_default=True, field_specifiers=(parameter, inherited))
class Estimator:
    """Base class of estimators, whose constructor arguments are declared parameters.

    The declarations give a constructor, `get_params`, `set_params`, checks of all values and the
    section "Parameters" of the docstring; the command line and model files use them too. A subclass
    inherits the parameters of its bases. It can change a default (`inherited`), or fix a value by a
    plain class attribute, which is then no longer a parameter. scikit-learn needs no more of an
    estimator than this and `__sklearn_tags__`, which a subclass defines.

    Examples
    --------
    >>> class Ridge(Estimator):
    ...     penalty: float = parameter(default=1.0, kind=Number(0), words="The L2 penalty.")
    >>> Ridge(penalty=2.5).get_params()
    {'penalty': 2.5}
    """

    parameters: ClassVar[dict[str, Parameter]] = {}

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        declared = {n: v for n, v in cls.__dict__.items() if isinstance(v, Parameter)}
        known = {name: new for name, new in declared.items() if new.kind}
        for base in cls.__mro__[1:]:
            for name, old in base.__dict__.get("parameters", {}).items():
                changed = name in declared and declared[name].kind is None
                known.setdefault(name, replace(old, value=declared[name].value) if changed else old)
        for name in declared:
            delattr(cls, name)
        fixed = {name for name in known if name in cls.__dict__}
        for base in cls.__mro__[1:]:
            fixed |= {name for name in known if name in base.__dict__ and name not in declared}
        cls.parameters = {name: p for name, p in known.items() if name not in fixed}
        if "__init__" not in cls.__dict__:
            cls.__init__ = _constructor(cls)  # type: ignore[method-assign]
        if cls.__doc__ is not None:  # python -OO strips docstrings
            cls.__doc__ = _documented(cls.__doc__, cls.parameters)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters by name, those of nested estimators as `outer__inner`."""
        values: dict[str, Any] = {}
        for name in self.parameters:
            value = values[name] = getattr(self, name)
            if deep and hasattr(value, "get_params") and not isinstance(value, type):
                values |= {f"{name}__{k}": v for k, v in value.get_params().items()}
        return values

    def set_params(self, **params: Any) -> Self:
        """Set parameters by name, those of nested estimators as `outer__inner`."""
        for key, value in params.items():
            name, _, inner = key.partition("__")
            if name not in self.parameters:
                close = difflib.get_close_matches(name, self.parameters, 1)
                meant = f"did you mean {close[0]!r}? It" if close else "it"
                raise ParameterError(
                    f"Invalid parameter {name!r} for estimator {type(self).__name__}: "
                    f"{meant} takes {', '.join(self.parameters)}."
                )
            if inner:
                nested = getattr(self, name)
                if not hasattr(nested, "set_params"):
                    raise ParameterError(
                        f"{key} cannot be set: {name} is {nested!r}, which has no parameters here; "
                        f"give {type(self).__name__} an estimator as its {name}, such as AROW()."
                    )
                nested.set_params(**{inner: value})
            else:
                setattr(self, name, value)
        return self

    def replace(self, **params: Any) -> Self:
        """Return a new, untrained estimator with some other parameters."""
        return type(self)(**(self.get_params(deep=False) | params))

    def check_parameters(self) -> None:
        """Raise `ParameterError` for the first parameter with a value that is not allowed."""
        for name, declared in self.parameters.items():
            value, owner = getattr(self, name), type(self).__name__
            if problem := declared.problem(value):
                shown = param(name, owner=owner) if declared.flag else f"{owner}: {name}"
                raise ParameterError(f"{shown} is {brief(value)}; it must be {problem}.")

    def plain_params(self) -> dict[str, Any]:
        """Return the parameters as plain data, for JSON."""
        owner = type(self).__name__
        return {name: plain(owner, name, getattr(self, name)) for name in self.parameters}

    @classmethod
    def from_plain(cls, values: dict[str, Any]) -> Self:
        """Return an estimator with the values of `plain_params`, checked; others have defaults."""
        strangers = sorted(set(values) - set(cls.parameters))
        if strangers:
            raise ModelError(
                f"The model gives {cls.__name__} {brief(strangers[0])}, unknown here; it "
                "is damaged, or of a newer Thresher."
            )
        given = {k: tuple(v) if isinstance(v, list) else v for k, v in values.items()}
        try:
            estimator = cls(**given)
            estimator.check_parameters()
        except (TypeError, ParameterError) as error:  # a subclass may define another constructor
            raise ModelError(f"The model's parameters make no sense: {error}") from error
        return estimator

    def __repr__(self) -> str:
        values = {name: repr(getattr(self, name)) for name in self.parameters}
        other = [f"{k}={v}" for k, v in values.items() if v != repr(self.parameters[k].value)]
        return f"{type(self).__name__}({', '.join(other)})"


def _constructor(owner: type[Estimator]) -> Callable[..., None]:
    """Return an `__init__` that stores its arguments and then calls `__post_init__`, if any."""
    positional, keyword = inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY
    arguments = [inspect.Parameter("self", positional)]
    for name, declared in sorted(owner.parameters.items(), key=lambda item: item[1].kw_only):
        kind = keyword if declared.kw_only else positional
        arguments.append(inspect.Parameter(name, kind, default=declared.value))
    signature = inspect.Signature(arguments)

    def initialize(self: Any, *args: Any, **kwargs: Any) -> None:
        values = signature.bind(self, *args, **kwargs)
        values.apply_defaults()
        for name, value in values.arguments.items():
            if name != "self":
                setattr(self, name, value)
        if hasattr(self, "__post_init__"):
            self.__post_init__()

    initialize.__name__, initialize.__qualname__ = "__init__", f"{owner.__qualname__}.__init__"
    initialize.__module__ = owner.__module__
    initialize.__signature__ = signature  # type: ignore[attr-defined]
    return initialize


SECTIONS = ("Attributes", "Raises", "See Also", "Notes", "References", "Examples")


def _documented(doc: str, parameters: dict[str, Parameter]) -> str:
    """Return a docstring with the section "Parameters" before the other sections."""
    doc = inspect.cleandoc(doc)
    if not parameters or "\nParameters\n---" in doc:
        return doc
    entries = []
    for name, declared in parameters.items():
        shown = repr(declared.value).replace("'", '"')
        kind = declared.kind.describe() if declared.kind else "object"
        kind = f'{kind} or "auto"' if declared.value == AUTO and "auto" not in kind else kind
        entries.append(
            f"{name} : {kind}, default={shown}\n{textwrap.indent(declared.words, '    ')}"
        )
    section = "\n".join(["Parameters", "----------", *entries])
    starts = [doc.find(f"\n{title}\n---") for title in SECTIONS]
    start = min((start for start in starts if start >= 0), default=len(doc))
    return f"{doc[:start].rstrip()}\n\n{section}\n{doc[start:]}"


def plain(owner: str, name: str, value: Any) -> Any:
    """Return a value as plain data for JSON, or raise `ParameterError`."""
    if isinstance(value, np.generic | np.ndarray):
        value = value.tolist()
    if isinstance(value, set | frozenset):
        value = sorted(value)
    if isinstance(value, tuple | list):
        return [plain(owner, name, item) for item in value]
    if isinstance(value, dict):
        return {str(key): plain(owner, name, item) for key, item in value.items()}
    if value is None or isinstance(value, str | bool | int | float):
        return value
    raise ParameterError(
        f"{owner}: {name} is {brief(value)}, which a model file cannot hold; "
        "give a number, a name or a list."
    )


def is_whole(value: Any) -> bool:
    """Return True for a whole number; True and False are none."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


class available_if:  # noqa: N801 - a decorator, named as that of scikit-learn
    """Decorate a method that exists only while a check, another method, raises no error."""

    def __init__(self, check: str) -> None:
        self._check = check

    def __call__(self, method: Callable) -> Any:
        self._method = method
        functools.update_wrapper(self, method)  # type: ignore[arg-type]
        return self

    def __get__(self, instance: Any, owner: type) -> Any:
        if instance is None:
            return self._method
        getattr(instance, self._check)()  # raises an AttributeError
        return self._method.__get__(instance, owner)


def transformer_tags(**inputs: bool) -> Any:
    """Return scikit-learn's tags of a transformer, given those of its inputs."""
    from sklearn.utils import InputTags, Tags, TargetTags, TransformerTags

    return Tags(
        estimator_type=None,
        target_tags=TargetTags(required=False),
        transformer_tags=TransformerTags(preserves_dtype=[]),
        input_tags=InputTags(**inputs),
    )


def names_of(values: Iterable[str]) -> str:
    """Return up to twenty names, separated by commas, and whether there are more."""
    names = list(values)
    return ", ".join(map(escaped, names[:20])) + (" and more" if len(names) > 20 else "")
