"""Checks of the content of model files: the header (JSON) and the tensors."""

from __future__ import annotations

import sys
from typing import Any, TypeVar

import numpy as np

from thresher.errors import ModelError, brief
from thresher.limits import LARGEST_WEIGHT, MOST_COUNTED

LARGEST_WHOLE = 2**63 - 1  # largest integer in a header

Parts = tuple[dict[str, Any], dict[str, np.ndarray]]
T = TypeVar("T")


def require_tensor(
    tensors: dict[str, np.ndarray],
    name: str,
    dtype: Any,
    shape: tuple[int | None, ...],
    *,
    low: float | None = None,
    high: float | None = None,
    finite: bool = False,
) -> np.ndarray:
    """Return a tensor of a model file, or raise `ModelError` if it is not valid.

    Parameters
    ----------
    tensors : dict of array
        The tensors of the file.
    name : str
        The name of the tensor.
    dtype, shape
        Its type and shape; None in the shape stands for any size.
    low, high : float, optional
        The smallest and largest value allowed. NaN is outside any bounds.
    finite : bool, default=False
        Whether NaN and infinities are refused and, without bounds, values beyond ±1e20, so that
        scores are finite too.

    Examples
    --------
    >>> tensors = {"columns": np.array([0, 7], np.int32)}
    >>> require_tensor(tensors, "columns", np.int32, (None,), low=0, high=9).tolist()
    [0, 7]
    >>> require_tensor(tensors, "columns", np.int32, (None,), low=0, high=5)
    Traceback (most recent call last):
    thresher.errors.ModelError: The model's tensor 'columns' holds 7; values up to 5 belong there.
    """
    if name not in tensors:
        raise ModelError(f"The model lacks the tensor {name!r}; it may be of another kind.")
    array = tensors[name]
    holds = f"The model's tensor {name!r} holds"
    if array.dtype != np.dtype(dtype):
        raise ModelError(f"{holds} {array.dtype}; {np.dtype(dtype)} belongs there.")
    if len(shape) != array.ndim or any(
        size not in (None, n) for size, n in zip(shape, array.shape, strict=True)
    ):
        expected = " x ".join("any" if n is None else str(n) for n in shape) or "a single number"
        shape_text = " x ".join(map(str, array.shape)) or "a single number"
        raise ModelError(
            f"The model's tensor {name!r} has the shape {shape_text}; it must be {expected}."
        )
    if finite and array.dtype.kind == "f":
        low = -LARGEST_WEIGHT if low is None else low
        high = LARGEST_WEIGHT if high is None else high
    if array.size and low is not None and not (least := array.min()) >= low:
        raise ModelError(f"{holds} {least}; {_belongs(finite, 'from', low)}.")
    if array.size and high is not None and not (most := array.max()) <= high:
        raise ModelError(f"{holds} {most}; {_belongs(finite, 'up to', high)}.")
    return array


def _belongs(finite: bool, which: str, bound: float) -> str:
    return f"{'finite ' if finite else ''}values {which} {bound:g} belong there"


def component_state(name: str, header: dict[str, Any], tensors: dict[str, np.ndarray]) -> Parts:
    """Return the header and the tensors of a component of the model."""
    prefix = f"{name}."
    selected = {k.removeprefix(prefix): v for k, v in tensors.items() if k.startswith(prefix)}
    return require_field(header, name, dict), selected


def require_field(
    header: dict[str, Any],
    name: str,
    kind: type[T],
    *,
    low: float | None = None,
    high: float | None = None,
) -> T:
    """Return a field of a model's header, or raise `ModelError` if it is not of type `kind`.

    The type is `str`, `int`, `float` (integers are converted), `bool`, `list` or `dict`. `low` and
    `high` limit numbers; integers must be within ±2^53 in any case.

    Examples
    --------
    >>> require_field({"margin": 1.0}, "margin", float, low=0)
    1.0
    """
    value = header.get(name)
    if kind is float and type(value) is int and abs(value) <= LARGEST_WHOLE:
        value = float(value)
    expected = f"{'an' if kind is int else 'a'} {kind.__name__}"
    expected += "" if low is None else f" from {low:g}"
    expected += "" if high is None else f" up to {high:g}"
    is_right = type(value) is kind
    if is_right and kind in (int, float):
        most = MOST_COUNTED if kind is int else sys.float_info.max
        low, high = -most if low is None else low, most if high is None else high
        is_right = low <= value <= high  # type: ignore[operator]
    if not is_right:
        fault = "is missing" if name not in header else f"is {brief(value)}"
        raise ModelError(f"The model's field {name!r} {fault}; it must be {expected}.")
    return value  # type: ignore[return-value]
