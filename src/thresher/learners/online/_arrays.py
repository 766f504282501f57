"""Arrays that grow, their way into a model file and back, and what is checked before a kernel."""

from __future__ import annotations

from typing import Any

import numpy as np

from thresher.errors import ModelError, ParameterError


def grown(old: np.ndarray | None, shape: tuple[int, ...], dtype: type, fill: float) -> np.ndarray:
    """Return `old` enlarged to `shape`, the new places holding `fill`.

    Rows are reserved ahead by half, so that a vocabulary growing batch by batch is copied seldom.
    """
    if old is None:
        return np.full(shape, fill, dtype)
    n_old = len(old)
    reserve = old.base
    if reserve is None or reserve.shape[1:] != shape[1:] or len(reserve) < shape[0]:
        rows = shape[0] if shape[0] == n_old else max(shape[0], n_old + n_old // 2)
        reserve = np.empty((rows, *shape[1:]), dtype)
        reserve[:n_old] = fill
        reserve[tuple(map(slice, old.shape))] = old
    new = reserve[: shape[0]]
    new[n_old:] = fill
    return new


def check_tensor(
    tensors: dict[str, np.ndarray], name: str, shape: tuple[int, ...], dtype: type
) -> np.ndarray:
    """Return a copy of the tensor of that name, or say what is wrong with it."""
    if name not in tensors:
        raise ModelError(f"The model has no tensor {name!r}; the file is not whole.")
    tensor = tensors[name]
    if tensor.shape != shape or tensor.dtype != np.dtype(dtype):
        raise ModelError(
            f"The model's tensor {name!r} is {tensor.dtype} of shape {tensor.shape}; "
            f"{np.dtype(dtype)} of shape {shape} was expected."
        )
    if tensor.dtype.kind == "f" and not np.isfinite(tensor).all():
        raise ModelError(f"The model's tensor {name!r} holds values that are not finite.")
    return np.array(tensor, order="C")


def jsonable(owner: object, name: str) -> Any:
    """Return a parameter as JSON can hold it."""
    value = getattr(owner, name)
    if isinstance(value, np.generic | np.ndarray):
        value = value.tolist()
    if isinstance(value, tuple):
        value = list(value)
    if not (value is None or isinstance(value, str | int | float | list)):
        raise ModelError(
            f"{type(owner).__name__}: {name} is {value!r}, which a model file cannot hold; "
            "give a number, a name or a list."
        )
    return value


def checked_order(order: np.ndarray | None, n_rows: int) -> np.ndarray:
    """Return the order in which documents are met, as the kernels take it."""
    if order is None:
        return np.arange(n_rows)
    order = np.ascontiguousarray(order, np.int64)
    if len(order) and (order.min() < 0 or order.max() >= n_rows):
        raise ParameterError(
            f"order names documents from {order.min()} to {order.max()}; there are {n_rows}."
        )
    return order


def checked_sample_weight(sample_weight: np.ndarray, n_rows: int) -> np.ndarray:
    """Return a weight per document, as the kernels take it."""
    weights = np.ascontiguousarray(sample_weight, np.float64)
    if weights.shape != (n_rows,) or not np.isfinite(weights).all() or (weights < 0).any():
        raise ParameterError(
            f"sample_weight must be {n_rows} finite numbers of zero or more, one per document."
        )
    return weights
