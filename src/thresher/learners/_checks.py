"""Checks of rows, labels, orders and weights before they reach a kernel."""

from __future__ import annotations

import numpy as np

from thresher.errors import ModelError, ParameterError, counted
from thresher.limits import LARGEST_SAMPLE_WEIGHT as MOST_WEIGHT
from thresher.rows import Labels, Rows


def check_rows(rows: Rows, owner: str, n_features: int, non_negative: bool) -> None:
    """Refuse rows with features that a learner does not know, or with values it cannot use."""
    if len(rows.indices) and rows.indices.view(np.uint32).max() >= n_features:
        raise ModelError(
            f"The documents use features from {rows.indices.min()} to {rows.indices.max()} "
            f"and {owner} knows {n_features}; call grow before learn_rows, or count with "
            "grow=False."
        )
    if non_negative and len(rows.values) and rows.values.min() < 0:
        raise ModelError(
            f"Negative values in data passed to {owner}, the lowest being {rows.values.min():g}: "
            "it needs strengths of zero or more. Use Perceptron or PassiveAggressive, or leave "
            "such features out."
        )


def check_labels(rows: Rows, labels: Labels, owner: str, n_categories: int) -> None:
    """Refuse labels that are not one list per document, or of categories not known."""
    if labels.n_rows != rows.n_rows:
        raise ModelError(
            f"{counted(rows.n_rows, 'document')} cannot have "
            f"{counted(labels.n_rows, 'label list')}; give one each."
        )
    if len(labels.indices) and labels.indices.view(np.uint32).max() >= n_categories:
        raise ModelError(
            f"The labels use categories up to {labels.indices.max()} and {owner} knows "
            f"{n_categories}; call grow before learn_rows."
        )
    if labels.known is not None and labels.known.shape != (rows.n_rows, n_categories):
        raise ModelError(
            f"What is known of the labels has the shape {labels.known.shape}; it must be "
            f"({rows.n_rows}, {n_categories}), a truth value for each document and category."
        )


def checked_order(order: np.ndarray, n_rows: int) -> np.ndarray:
    """Return the order in which documents are met, as the kernels take it."""
    order = np.ascontiguousarray(order, np.int64)
    if len(order) and (order.min() < 0 or order.max() >= n_rows):
        raise ParameterError(
            f"order names documents from {order.min()} to {order.max()}; there are {n_rows}."
        )
    return order


def checked_sample_weight(sample_weight: np.ndarray | None, n_rows: int) -> np.ndarray:
    """Return a weight per document, as the kernels take it; 1 where none is given."""
    if sample_weight is None:
        return np.ones(n_rows)
    weights = np.ascontiguousarray(sample_weight, np.float64)
    is_right = weights.shape == (n_rows,)
    if not (is_right and weights.min(initial=0) >= 0 and weights.max(initial=0) <= MOST_WEIGHT):
        raise ParameterError(
            f"sample_weight must be {n_rows} numbers from 0 to {MOST_WEIGHT:g}, one per document."
        )
    return weights
