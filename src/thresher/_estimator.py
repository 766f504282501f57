"""scikit-learn's protocol without importing scikit-learn, which costs more than training does."""

from __future__ import annotations

import inspect
from typing import Any, Self

from thresher.errors import ParameterError

__all__ = ["Estimator", "check_choice", "check_range"]


class Estimator:
    """Parameters as constructor arguments, stored under their own names and nothing else.

    scikit-learn's `clone`, `Pipeline` and `GridSearchCV` ask no more of an estimator than this and
    `__sklearn_tags__`, which a subclass fills in; that method alone imports scikit-learn.
    """

    @classmethod
    def _parameter_names(cls) -> list[str]:
        return [name for name in inspect.signature(cls.__init__).parameters if name != "self"]

    def _keep(self, values: dict[str, Any]) -> None:
        """Store the constructor's arguments, given its `locals()`, under their own names."""
        for name in self._parameter_names():
            setattr(self, name, values[name])

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters by name, those of nested estimators as `outer__inner`."""
        found: dict[str, Any] = {}
        for name in self._parameter_names():
            value = found[name] = getattr(self, name)
            if deep and hasattr(value, "get_params") and not isinstance(value, type):
                found |= {f"{name}__{k}": v for k, v in value.get_params().items()}
        return found

    def set_params(self, **params: Any) -> Self:
        """Set parameters by name, those of nested estimators as `outer__inner`."""
        known = self._parameter_names()
        for key, value in params.items():
            name, _, inner = key.partition("__")
            if name not in known:
                raise ParameterError(
                    f"Invalid parameter {name!r} for estimator {type(self).__name__}: "
                    f"it takes {', '.join(known)}."
                )
            if inner:
                getattr(self, name).set_params(**{inner: value})
            else:
                setattr(self, name, value)
        return self

    def __repr__(self) -> str:
        defaults = inspect.signature(type(self).__init__).parameters
        shown = (
            f"{name}={value!r}"
            for name, value in self.get_params(deep=False).items()
            if repr(value) != repr(defaults[name].default)
        )
        return f"{type(self).__name__}({', '.join(shown)})"


def check_choice(owner: object, name: str, choices: tuple[Any, ...]) -> None:
    """Raise unless the parameter `name` of `owner` is one of `choices`."""
    value = getattr(owner, name)
    if not any(value is choice or value == choice for choice in choices):
        raise ParameterError(
            f"{type(owner).__name__}: {name} is {value!r}; "
            f"it must be one of {', '.join(map(repr, choices))}."
        )


def check_range(
    owner: object, name: str, low: float, high: float = float("inf"), *, open_low: bool = False
) -> None:
    """Raise unless the parameter `name` of `owner` is a number from `low` to `high`."""
    value = getattr(owner, name)
    is_number = isinstance(value, int | float) or hasattr(value, "__float__")
    if (
        not is_number
        or isinstance(value, bool)
        or not (low < value if open_low else low <= value)
        or not value <= high
    ):
        bound = f"above {low:g}" if open_low else f"at least {low:g}"
        bound += "" if high == float("inf") else f" and at most {high:g}"
        raise ParameterError(f"{type(owner).__name__}: {name} is {value!r}; it must be {bound}.")
