"""Slow, obvious twins of `thresher.linguistics` and `thresher.features`, in plain Python."""

from __future__ import annotations

from math import floor, log, sqrt


def fold_one_by_one(linguistics, words):
    """Fold each word in a list of its own."""
    return [linguistics.fold([word])[0] for word in words]
