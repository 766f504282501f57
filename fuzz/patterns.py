"""Hostile regular expressions: matches must equal those of Python, in linear time."""

from __future__ import annotations

import json
import random
import re
import signal
import warnings
from pathlib import Path
from typing import Any

from fuzz.campaign import Attack, Case
from thresher.text.tokens import Tokenizer

FLAGS = ("", "", "", "", "(?i)", "(?m)", "(?s)", "(?a)", "(?im)", "(?x)")
CHARACTERS = (
    *"abcéΣσςſsKİ1 -_.😀", r"\n", r"\w", r"\W", r"\d", r"\s", r"\S", "[ab]", "[^a]", "[a-cé]",
    r"[\w-]", r"[^\W\d_]", "[Α-Ω]", "[A-Z]", "(?i:K)", "(?i:[a-z])", r"(?a:\w)", "(?s:.)",
    "(?-i:a)",
)  # fmt: skip
PLACES = (
    "", r"\b", r"\B", "^", "$", r"\A", r"\Z", "(?m:^)", "(?m:$)", r"(?a:\b)", "(?=a)", "(?!b)",
    r"(?<!\S)", r"(?!\S)", "(?<=a)", "(?<![ab])", r"(?i:(?<=k))", r"(?=\s|$)", "(?=ab*c)",
    "(?!a+b)", "(?=a(?!b))", "(?!)",
)  # fmt: skip
REPEATS = ("*", "+", "?", "{2}", "{1,2}", "{0,2}", "{2,}", "{,3}", "{0}", "*?", "+?", "??", "{1,}?")
# Slow with backtracking, too large, not supported, or invalid.
HOSTILE = (
    "(?:a+)+$", "(?:a|aa)+$", r"(?:\w+\s?)*$", "(?:.*a){20}", r"\w+\w+\w+:", "a.*b|a", "(?:|a)*",
    "(?:(?:a*)*)*", "a{1000}", "a{1000000}", "(?:(?:a{1000}){1000}){1000}", "(?:){99999999}",
    "(a)", "(?P<x>b)", r"(a)\1", "(?>a)", "a++", "(?<=ab)", "(?(1)a|b)", "(?=(a))", "[[a]", "(?L)",
    "a{99999999999999999999}", "(" * 60 + ")" * 60, "(?:" * 400 + ")" * 400, "\\", "(", "[", "\0",
    "(?\n", "\ud800",
)  # fmt: skip
ALPHABETS = (
    "aabbc", "abc \n", "aAbBkKK sSſ", "éÉa ΣσςίΑ", "a1_-. \n", "😀a b", "ab\n\n", "a",
    "abcéΣσςſsKkİ1 -_\n😀\t\ud800",
)  # fmt: skip


class SlowError(Exception):
    """Python takes too long for a pattern."""


def grown(chance: random.Random, depth: int) -> str:
    """Return a pattern without capturing groups, nested at most `depth` deep."""
    kind = chance.random()
    if depth == 0 or kind < 0.3:
        return chance.choice(CHARACTERS if chance.random() < 0.85 else PLACES)
    if kind < 0.5:
        return "".join(grown(chance, depth - 1) for _ in range(chance.randint(1, 3)))
    if kind < 0.7:
        parts = [grown(chance, depth - 1) for _ in range(chance.randint(2, 3))]
        return f"(?:{'|'.join(parts)})"
    return f"(?:{grown(chance, depth - 1)}){chance.choice(REPEATS)}"


def pattern(chance: random.Random) -> str:
    """Return a pattern, possibly with a capturing group."""
    source = chance.choice(FLAGS) + grown(chance, chance.randint(1, 5))
    groups = [at for at in range(len(source)) if source.startswith("(?:", at)]
    if groups and chance.random() < 0.4:
        at = chance.choice(groups)
        source = source[:at] + "(" + source[at + 3 :]
    return source if chance.random() < 0.7 else f"{source}|{grown(chance, 2)}"


def text(chance: random.Random, most: int) -> str:
    """Return a text of at most `most` characters."""
    return "".join(chance.choices(chance.choice(ALPHABETS), k=chance.randint(0, most)))


def spans_of_python(source: str, texts: list[str]) -> list[list[tuple[int, int]]]:
    """Return the spans of tokens found by Python; a group that did not match is at 0."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        asked = re.compile(source)
    spans = [[match.span(asked.groups) for match in asked.finditer(item)] for item in texts]
    return [[(max(start, 0), max(end, 0)) for start, end in some] for some in spans]


def attempt(case: Case, folder: Path) -> str:
    """Compare the matches in short texts with Python's; also search a long text."""
    source = pattern(case)
    if case.random() < 0.2:
        at = case.randint(0, len(source))
        source = source[:at] + case.choice(HOSTILE) + source[at:]
    texts = [text(case, 12) for _ in range(5)]
    long = text(case, 50) * case.choice((1, 10, 2_000))
    (folder / "case.json").write_text(json.dumps([source, texts, long]), encoding="utf-8")
    tokenizer = Tokenizer("words", source, 1, lowercase=False)
    list(tokenizer.cut([*texts, long]))
    actual = [next(tokenizer.places(item))[1] for item in texts]
    old = signal.signal(signal.SIGALRM, _give_up)
    signal.setitimer(signal.ITIMER_REAL, 1.0)
    try:
        expected = spans_of_python(source, texts)
    except SlowError:
        return "too slow for Python"
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, old)
    assert [[tuple(side) for side in sides.tolist()] for sides in actual] == expected
    return "equal"


def _give_up(*_: Any) -> None:
    raise SlowError


ATTACKS = (Attack("patterns", "regular expressions", attempt, cases=2_000, fresh=0.02),)
