"""What Python does without a library: the floor for anything that is written in it."""

from __future__ import annotations

import re
from collections import Counter

from benchmarks.peers.case import Case
from benchmarks.peers.jobs import Contender

NEEDS = ()


def counts(case: Case) -> dict[str, float]:
    """Count words with a regular expression and a Counter for each text; no vocabulary."""
    texts, words = case.texts(), re.compile(r"\b\w\w+\b")
    return case.count(texts, lambda: [Counter(words.findall(text.lower())) for text in texts])


def findall(case: Case) -> dict[str, float]:
    """Find words and count nothing."""
    texts, words = case.texts(), re.compile(r"\b\w\w+\b")
    return case.count(texts, lambda: [words.findall(text.lower()) for text in texts])


CONTENDERS = (
    Contender("counts", "re.findall and Counter", counts, variants="new words"),
    Contender("counts", "re.findall alone", findall, variants="new words"),
)
