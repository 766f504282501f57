"""What training takes for granted about documents and labels, and says afterwards."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from thresher.errors import ThresherWarning, counted
from thresher.rows import Labels

__all__ = ["Assumption", "assume", "labelled", "warn_of"]

MOST_MISSING = 0.05  # share of documents without a label that are taken for gaps in one-label data
MISSING = {"na", "n/a", "#n/a", "<na>", "nan", "nat", "null", "nil", "none", "missing", "-", "?"}


class Assumption(NamedTuple):
    """Something that was taken for granted, in a sentence with the remedy."""

    sentence: str
    is_doubtful: bool = False  # whether it may well be wrong: then Python warns of it


def labelled(mode: str, labels: Labels) -> np.ndarray | None:
    """Return the documents to learn from, where those without a label are to be left out.

    They are, in mode "auto", where nearly all documents have one label, few have none, and nobody
    has several: then labels are missing, and the few must not make it a task of several labels.

    Examples
    --------
    >>> labels = Labels.from_lists([[0], [1], []] + [[1]] * 30, 2)
    >>> len(labelled("auto", labels)), labelled("multi-label", labels)
    (32, None)
    """
    n_labels = np.diff(labels.indptr)
    n_missing = np.count_nonzero(n_labels == 0)
    is_gap = 0 < n_missing <= MOST_MISSING * len(n_labels) and n_labels.max() == 1
    if mode == "auto" and labels.n_categories > 1 and is_gap:
        return np.flatnonzero(n_labels)
    return None


def assume(
    asked: str, mode: str, labels: Labels, names: Sequence[str], columns: str = ""
) -> list[Assumption]:
    """Say what was assumed of the documents and labels that a model learned from.

    Parameters
    ----------
    asked, mode : str
        The mode that was asked for, and that of the decisions.
    labels : Labels
        Those of all documents, the ones that were left out too.
    names : sequence of str
        The categories.
    columns : str
        Which columns were read, if any.

    Examples
    --------
    >>> labels = Labels.from_lists([[0], [1], []] + [[1]] * 30, 2)
    >>> for one in assume("auto", "single-label", labels, ["NA", "news"]):
    ...     print(one.sentence)
    One label for each document; 1 of 33 have no label and were left out. If having ...
    The label 'NA' of 1 document looks like a missing value; ...
    """
    n_labels = np.diff(labels.indptr)
    n, none, several = (
        int(np.count_nonzero(x)) for x in (n_labels + 1, n_labels == 0, n_labels > 1)
    )
    assumptions = [Assumption(f"{columns}.")] if columns else []
    if mode == "multi-label":
        counts = f"{several:,} of {counted(n, 'document')} have several, {none:,} none"
        is_doubtful = asked == "auto" and none > 0 and not several and len(names) > 1
        remedy = ". If labels are missing, leave those documents out" if is_doubtful else ""
        sentence = f"Any number of labels for each document: {counts}{remedy}."
        assumptions.append(Assumption(sentence, is_doubtful))
    elif none and asked == "auto":
        left_out = f"{none:,} of {n:,} have no label and were left out"
        remedy = 'If having none is an answer, take mode="multi-label" (--mode multi-label)'
        sentence = f"One label for each document; {left_out}. {remedy}."
        assumptions.append(Assumption(sentence, is_doubtful=True))
    else:
        assumptions.append(Assumption("One label for each document."))
    counts_of = np.bincount(labels.indices, minlength=len(names))
    for name, count in zip(names, counts_of.tolist(), strict=True):
        if name.strip().lower() in MISSING:
            sentence = (
                f"The label {name!r} of {counted(count, 'document')} looks like a missing value; "
                "it was learned as a category. If it means that there is none, empty those "
                "labels and train again."
            )
            assumptions.append(Assumption(sentence, is_doubtful=True))
    return assumptions


def warn_of(assumptions: Sequence[Assumption]) -> None:
    """Warn of what may well be wrong, where `fit` was called."""
    for one in assumptions:
        if one.is_doubtful:
            warnings.warn(one.sentence, ThresherWarning, stacklevel=3)
