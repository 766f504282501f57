"""Parameters, declared once: their defaults, bounds and words, for constructor, checks and docs."""

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

__all__ = ["AUTO", "Choice", "Estimator", "Flag", "Kind", "Number", "Pair", "Parameter", "Share"]
__all__ += ["ROUNDS", "THREADS", "Some", "Text", "Whole", "available_if", "inherited", "parameter"]


@dataclass(frozen=True)
class Kind:
    """What a parameter may be; `Kind` itself leaves everything to whoever uses the value."""

    name: ClassVar[str] = "object"  # the type, in the words of the documentation
    hint: ClassVar[str] = "OBJECT"  # what is typed for it on the command line
    reads: ClassVar[type] = str  # what makes a value of that
    is_flag: ClassVar[bool] = False  # whether it stands there without a value
    optional: bool = field(default=False, kw_only=True)  # whether it may be None

    def allows(self, value: Any) -> bool:
        """Tell whether a value other than None is within the bounds."""
        return True

    def bounds(self) -> str:
        """Say what a value must be, to follow "it must be"."""
        return self.name

    def describe(self) -> str:
        """Name the type, in the manner of NumPy's docstrings."""
        words = getattr(self, "words", self.name)
        return f"{words} or None" if self.optional else words

    def placeholder(self) -> str:
        """Say what is typed for it on the command line."""
        return self.hint

    def parse(self, text: str) -> Any:
        """Read a value from the command line."""
        return self.reads(text)

    def problem(self, value: Any) -> str | None:
        """Say what the value must be, or nothing where it is that."""
        if (value is None and self.optional) or (value is not None and self.allows(value)):
            return None
        return self.bounds() + (" or None" if self.optional else "")


@dataclass(frozen=True)
class Number(Kind):
    """A number from `low` to `high`, which are finite."""

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
        least = f"above {self.low:g}" if self.open_low else f"at least {self.low:g}"
        least = "" if self.low == -LARGEST else least
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


@dataclass(frozen=True)
class Pair(Kind):
    """Two whole numbers, the least and the greatest."""

    low: int = 1
    high: int = 64
    name: ClassVar[str] = "(int, int)"
    hint: ClassVar[str] = "N|LOW-HIGH"

    def allows(self, value: Any) -> bool:
        right = isinstance(value, tuple | list) and len(value) == 2 and all(map(is_whole, value))
        return right and bool(self.low <= value[0] <= value[1] <= self.high)

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
        return any(isinstance(value, type(one)) and value == one for one in self.choices)

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
    """True or False, or also what `others` accepts, which `words` names."""

    name: ClassVar[str] = "bool"
    is_flag: ClassVar[bool] = True
    words: str = "bool"
    others: Callable[[Any], bool] = lambda value: False

    def allows(self, value: Any) -> bool:
        return isinstance(value, bool | np.bool_) or self.others(value)

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
    """What a function does not refuse: it returns what a value must be, None if it is that."""

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
    """A parameter as a class declares it; made by `parameter` and `inherited`."""

    value: Any
    kind: Kind | None = None  # None where only the default is new
    words: str = ""
    kw_only: bool = True
    flag: str | None = None
    panel: str | None = None

    def problem(self, value: Any) -> str | None:
        """Say what a value must be, or nothing where it is that; the default is always right."""
        if self.kind is None or (isinstance(value, str) and value == self.value):
            return None
        return self.kind.problem(value)


AUTO = "auto"  # the default of what is decided when the documents are seen


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
        Its value unless another is given, and what it may be.
    words : str
        What it does, for the documentation; the default is added.
    kw_only : bool, default=True
        Whether it can be given by name only.
    flag, panel : str, optional
        Its name on the command line, "--seed" say, and the heading it stands under.
    """
    return Parameter(default, kind, inspect.cleandoc(words), kw_only, flag, panel)


def inherited(*, default: Any) -> Any:
    """Give a parameter that a base declares another default."""
    return Parameter(default)


@dataclass_transform(kw_only_default=True, field_specifiers=(parameter, inherited))
class Estimator:
    """Parameters as constructor arguments, stored under their own names and nothing else.

    Declaring them gives a constructor, `get_params`, `set_params`, a check of every value and the
    section "Parameters" of the documentation; the command line and the model file read them too.
    A subclass takes over what its bases declare, gives it another default (`inherited`), or fixes a
    value by a plain attribute, which is then no parameter any more. scikit-learn asks no more of an
    estimator than this and `__sklearn_tags__`, which a subclass fills in.

    Examples
    --------
    >>> class Ridge(Estimator):
    ...     penalty: float = parameter(default=1.0, kind=Number(0), words="What weights cost.")
    >>> Ridge(penalty=2.5).get_params()
    {'penalty': 2.5}
    """

    parameters: ClassVar[dict[str, Parameter]] = {}

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        declared = {n: v for n, v in cls.__dict__.items() if isinstance(v, Parameter)}
        known = {name: one for name, one in declared.items() if one.kind}  # a class's own first
        for base in cls.__mro__[1:]:
            for name, one in base.__dict__.get("parameters", {}).items():
                changed = name in declared and declared[name].kind is None
                known.setdefault(name, replace(one, value=declared[name].value) if changed else one)
        for name in declared:
            delattr(cls, name)
        fixed = {name for name in known if name in cls.__dict__}
        for base in cls.__mro__[1:]:
            fixed |= {name for name in known if name in base.__dict__ and name not in declared}
        cls.parameters = {name: one for name, one in known.items() if name not in fixed}
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
        """Return a fresh one with these parameters, and the others as they are here."""
        return type(self)(**(self.get_params(deep=False) | params))

    def check_parameters(self) -> None:
        """Raise a sentence for the first parameter that is out of its bounds."""
        for name, one in self.parameters.items():
            value, owner = getattr(self, name), type(self).__name__
            if problem := one.problem(value):
                shown = param(name, owner=owner) if one.flag else f"{owner}: {name}"
                raise ParameterError(f"{shown} is {brief(value)}; it must be {problem}.")

    def plain_params(self) -> dict[str, Any]:
        """Return the parameters as JSON can hold them."""
        owner = type(self).__name__
        return {name: plain(owner, name, getattr(self, name)) for name in self.parameters}

    @classmethod
    def from_plain(cls, values: dict[str, Any]) -> Self:
        """Return an estimator with what `plain_params` returned, checked; the rest has defaults."""
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
        except (TypeError, ParameterError) as error:  # a constructor of one's own may know less
            raise ModelError(f"The model's parameters make no sense: {error}") from error
        return estimator

    def __repr__(self) -> str:
        values = {name: repr(getattr(self, name)) for name in self.parameters}
        other = [f"{k}={v}" for k, v in values.items() if v != repr(self.parameters[k].value)]
        return f"{type(self).__name__}({', '.join(other)})"


def _constructor(owner: type[Estimator]) -> Callable[..., None]:
    """Return an `__init__` that stores its arguments and then calls `__post_init__`, if any."""
    by_place, by_name = inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY
    arguments = [inspect.Parameter("self", by_place)]
    for name, one in sorted(owner.parameters.items(), key=lambda item: item[1].kw_only):
        kind = by_name if one.kw_only else by_place
        arguments.append(inspect.Parameter(name, kind, default=one.value))
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
    """Put the section "Parameters" before the first other section of a docstring."""
    doc = inspect.cleandoc(doc)
    if not parameters or "\nParameters\n---" in doc:
        return doc
    entries = []
    for name, one in parameters.items():
        shown = repr(one.value).replace("'", '"')
        kind = one.kind.describe() if one.kind else "object"
        kind = f'{kind} or "auto"' if one.value == AUTO and "auto" not in kind else kind
        entries.append(f"{name} : {kind}, default={shown}\n{textwrap.indent(one.words, '    ')}")
    section = "\n".join(["Parameters", "----------", *entries])
    places = [doc.find(f"\n{title}\n---") for title in SECTIONS]
    place = min((one for one in places if one >= 0), default=len(doc))
    return f"{doc[:place].rstrip()}\n\n{section}\n{doc[place:]}"


def plain(owner: str, name: str, value: Any) -> Any:
    """Return a value as JSON can hold it, or say that a model file cannot."""
    if isinstance(value, np.generic | np.ndarray):
        value = value.tolist()
    if isinstance(value, set | frozenset):
        value = sorted(value)
    if isinstance(value, tuple | list):
        return [plain(owner, name, one) for one in value]
    if isinstance(value, dict):
        return {str(key): plain(owner, name, one) for key, one in value.items()}
    if value is None or isinstance(value, str | bool | int | float):
        return value
    raise ParameterError(
        f"{owner}: {name} is {brief(value)}, which a model file cannot hold; "
        "give a number, a name or a list."
    )


def is_whole(value: Any) -> bool:
    """Tell whether a value is a whole number, which True and False are not meant to be."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


class available_if:  # noqa: N801 - a decorator, named as that of scikit-learn
    """Let a method exist only while a check, the name of another method, raises no error."""

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
    """Return what scikit-learn asks of a transformer, given what its inputs are."""
    from sklearn.utils import InputTags, Tags, TargetTags, TransformerTags

    return Tags(
        estimator_type=None,
        target_tags=TargetTags(required=False),
        transformer_tags=TransformerTags(preserves_dtype=[]),
        input_tags=InputTags(**inputs),
    )


def names_of(values: Iterable[str]) -> str:
    """Return names for a sentence: at most twenty, and whether there are more."""
    names = list(values)
    return ", ".join(map(escaped, names[:20])) + (" and more" if len(names) > 20 else "")
