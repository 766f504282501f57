"""Regular expressions as tokens: what Python finds, in linear time; and what is refused."""

import copy
import pickle
import re
import subprocess
import sys
import warnings
from itertools import pairwise

import numba
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fuzz.patterns import HOSTILE, pattern, spans_of_python, text
from thresher import Categorizer, ParameterError
from thresher.text import TextCounter, patterns
from thresher.text.linguistics import stop_words
from thresher.text.tokens import Tokenizer

needs_jit = pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="far too slow without")

FUNCTION_WORDS = "|".join(sorted(stop_words("english"), key=len, reverse=True))
# Patterns of the field; the last ones are our own.
KNOWN = [
    r"(?u)\b\w\w+\b",  # scikit-learn
    r"\w+|[^\w\s]+",  # NLTK's WordPunctTokenizer
    r"\w+(?:-\w+)*",
    r"[A-Za-z]+(?:'[a-z]+)?",
    r"#\w+|@\w+|\w+",
    r"(?i)[a-z]+",
    r"(?<!\S)\S+(?!\S)",
    r"\w+|\$[\d.]+|\S+",
    r"[-+]?\d+(?:[.,]\d+)*%?|\w+(?:['’]\w+)?|[^\w\s]",
    r"(?:[A-Z]\.)+|\w+(?:-\w+)*|\.\.\.|[][.,;\"'?():_`-]",
    r"https?://\S+|[\w.+-]+@[\w-]+(?:\.[\w-]+)+|\w+",
    r"\S+?(?=[.,;:!?]*(?:\s|$))",
    r"(?m)^\s*(\w+):",
    r"[^\W_]+|[^\w\s]|_",
    rf"(?i)\b(?:{FUNCTION_WORDS})\b",
]

# Found by the campaign, or odd by themselves: repeats of what may be empty, empty matches beside
# others, final newlines, letters that fold to one another, groups that match nothing.
ODD = [
    "", "|a", "a|", "a*", "(?:|a)*", "(?:|a)*b", "(?:a*|b)*", "(?:a*|b)*$", "(a*)*", "(a*)+",
    "(a|b?)*c", "(?:a?){3}", "(?:a?){2,}?b", "(?:(?:a?b?)*c?)*", "(?:(?:|a)*?(?:b|)*)+", "$", "^",
    "(?m)^", "(?m)$", r"\Z", r"\A", r"\B", r"\b", r".*?", r".*", r"(?s).*", r"a$|\n",
    r"(?:(a)|b)*", r"(a)?b", r"(?:(a)|b)", r"(?:(a|ab)(?:c|b)?)*", "(?i)k+", "(?i)ſ", "(?i)[^s]",
    "(?ia)k", "(?i:σ)+", r"(?a:\w)+|\w", "(?<!a)b", "(?<=\n)a", "(?!)", "(?=a)", "(?!a)",
    "(?=(?!ab)a).", r"(?x) a  b # c", "a{0}", "a{0,0}b*",
    "(?:a(?:b(?:c" * 10 + ")?)?)?" * 10,
]  # fmt: skip

EVIL = {
    r"(a+)+$": "a",
    r"(a|aa)+$": "a",
    r"(\w+\s?)*$": "a",
    r"(.*a){20}": "a",
    r"(.*a){20}b": "ab",
    r"\w+\w+\w+:": "a",
    r"a.*b|a": "a",
    r"(?:a?){50}a{50}": "a",
    r"(?:(?:a*)*)*b": "a",
    r"(?:a|b)*a(?:a|b){700}c": "abba",
    r"(?:|.){400}": "ab",
}


def spans(source, texts):
    """Return where the tokens of each text stand."""
    tokenizer = Tokenizer("words", source, 1, lowercase=False)
    sides = [next(tokenizer.places(one))[1] for one in texts]
    return [[tuple(side) for side in some.tolist()] for some in sides]


def words(source, texts, lowercase=False):
    """Return the tokens of the texts, all cut together."""
    all_words, n = [], 0
    for tokens in Tokenizer("words", source, 1, lowercase).cut(texts):
        some = tokens.words()
        starts = [0, *tokens.ends.tolist()]
        all_words += [some[i:j] for i, j in pairwise(starts)]
        n += len(some)
    assert n == sum(map(len, all_words))
    return all_words


def words_of_python(source, texts):
    return [re.findall(source, one.replace("\ud800", "\ufffd")) for one in texts]


# -- equal to Python


@given(chance=st.randoms(use_true_random=False), segment=st.sampled_from([0, 1, 2, 5, 4096]))
def test_any_pattern_finds_what_python_finds(chance, segment):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(patterns, "SEGMENT", segment)
        for _ in range(5):
            source, texts = pattern(chance), [text(chance, 9) for _ in range(5)]
            assert spans(source, texts) == spans_of_python(source, texts), source
            assert words(source, texts) == words_of_python(source, texts), source


@pytest.mark.parametrize("segment", [0, 1, 2, 4096])
@pytest.mark.parametrize("source", ODD + KNOWN)
def test_odd_and_known_patterns(monkeypatch, source, segment):
    texts = [
        "", "a", "b", "\n", "ab", "ba", "aab\n", "a\nb\n\n", "abcabc", "A b, c-d's e.g. 3,5%",
        "Σίσυφος ΣΑΣ σς", "K k K sſS İi", "été 中文 😀a😀", "a\ud800b", "x\0y \x1c z",
        "key: 1\n k2: b",
    ]  # fmt: skip
    monkeypatch.setattr(patterns, "SEGMENT", segment)
    assert spans(source, texts) == spans_of_python(source, texts)
    assert words(source, texts) == words_of_python(source, texts)
    lower = [one.lower() for one in texts]
    assert words(source, texts, lowercase=True) == words_of_python(source, lower)


@needs_jit
@pytest.mark.parametrize("bound", patterns.BOUNDS)
def test_every_character_is_what_python_says(bound):
    everything = "".join(map(chr, range(bound)))
    for source in (r"\w+", r"(?i)[k-sß]", r"(?a)\W+", r"[^\d\S]", "(?i)ÿ|ǆ"):
        assert spans(source, [everything]) == spans_of_python(source, [everything]), source


@needs_jit
@pytest.mark.corpus
@pytest.mark.slow
@pytest.mark.parametrize("name", ["20newsgroups", "reuters21578"])
def test_known_patterns_on_a_corpus(data_dir, name):
    from thresher.corpora import load

    texts = load(name).split("train").texts[:200]
    assert sum(map(len, texts)) > 100_000
    for source in KNOWN:
        assert words(source, texts) == words_of_python(source, texts), source


def test_memory_that_is_full_is_forgotten(monkeypatch):
    """Twenty places back there is an a or not: a million sets, of which few can be remembered."""
    chance = np.random.default_rng(1)
    long = "".join(chance.choice(list("ab"), 3000))
    source = "(?:a.{10}b|b.{12}a)."
    expected = spans_of_python(source, [long, "ab", long])
    for segment in (20, 4096):
        monkeypatch.setattr(patterns, "SEGMENT", segment)
        assert spans(source, [long, "ab", long]) == expected


def test_patterns_are_copied_and_pickled():
    tokenizer = Tokenizer("words", r"\w+", 1, lowercase=True)
    for other in (copy.deepcopy(tokenizer), pickle.loads(pickle.dumps(tokenizer))):
        assert [one.words() for one in other.cut(["A rose"])] == [["a", "rose"]]


# -- refused


@pytest.mark.parametrize(
    ("source", "sentence"),
    [
        (r"(a)\1", "refers back to a group; write out"),
        ("(a)?(?(1)b|c)", "asks whether a group has matched"),
        ("(?>a)", r"has an atomic group; write \(\?:"),
        ("a++", "has a possessive repeat; write a plain one"),
        ("(?<=ab)c", "looks back by more than one character"),
        (r"(?<=\b)c", "looks back by more than one character"),
        ("(?=(a))", "has a capturing group in a lookahead"),
        ("(a)(b)", "has 2 capturing groups; it may have one"),
        ("a{1000000}", "is too large, with more than 1,500 steps"),
        ("(?:(?:a{1000}){1000}){1000}", "is too large"),
        ("(?:(?:(?:){1400}){1400}){1400}", "is too large"),
        ("(?:" * 14 + "a?" + "b?)*" * 14, "is too large"),
        ("a" * 5001, "has more than 5,000 characters"),
        ("(?:" * 60 + "a" + ")?" * 60, "is nested more than 50 deep"),
        ("(" * 2000 + ")" * 2000, "is nested more than 50 deep"),
        ("".join(f"[{chr(0x4E00 + i)}a]" for i in range(101)), "more than 200 characters, ranges"),
        ("".join(f"(?<!{chr(97 + i)})" for i in range(6)), "more than 5 sets in lookbehinds"),
        ("a{99999999999999999999}", "not a regular expression: 'the repetition number is too"),
        ("(?\n", r"not a regular expression: 'unknown extension \?\\n"),
        ("(?L)a", "not a regular expression"),
        ("*", "not a regular expression: 'nothing to repeat at position 0'"),
    ],
)  # fmt: skip
def test_what_is_refused(source, sentence):
    with pytest.raises(ParameterError, match=sentence) as refused:
        TextCounter(token_pattern=source)
    assert str(refused.value).isprintable() and len(str(refused.value)) < 300


@pytest.mark.parametrize("source", HOSTILE)
def test_nothing_but_a_sentence_comes_of_hostile_patterns(source):
    with warnings.catch_warnings():
        warnings.simplefilter("error", FutureWarning)
        try:
            assert spans(source, ["aab"]) == spans_of_python(source, ["aab"])
        except ParameterError as refused:
            assert str(refused).isprintable()


# -- no text takes long


@needs_jit
@pytest.mark.slow
def test_evil_patterns_end(tmp_path):
    """Each by itself, and in a model file that a fresh process reads."""
    for i, (source, letters) in enumerate(EVIL.items()):
        long = letters * (100_000 // len(letters)) + "!"
        assert len(words(source, [long])) == 1
        model = Categorizer("perceptron", token_pattern=source)
        model.learn(["aa b", "ab"], ["x", "y"])
        model.save(tmp_path / f"{i}.thresher")
    script = """
import sys
from pathlib import Path
from thresher import Categorizer
for path in sorted(Path(sys.argv[1]).glob("*.thresher")):
    model = Categorizer.load(path)
    print(len(model.predict(["a" * 100_000 + "!", "ab" * 50_000])))
"""
    done = subprocess.run(
        [sys.executable, "-c", script, tmp_path],
        capture_output=True, text=True, timeout=300, check=True,
    )  # fmt: skip
    assert done.stdout.split() == ["2"] * len(EVIL)
