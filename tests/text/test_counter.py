"""Text to counts: against scikit-learn, against the slow twin, and at the edges."""

import copy
import json
import os
import pickle
import re
import signal
import subprocess
import sys
import threading
import time
import unicodedata
from functools import partial

import numba
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import Perceptron
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import FeatureUnion, make_pipeline

from naive import text as naive
from threads import are_gone
from thresher import DocumentError, Linguistics, ModelError, ParameterError
from thresher._kernels.text import sort_rows
from thresher.fields import field_names, split
from thresher.text import TextCounter, TextVectorizer, scripts
from thresher.text import counter as counter_module
from thresher.text import space as space_module
from thresher.text import tokens as tokens_module
from thresher.text.tokens import Tokens
from thresher.text.turns import in_turns
from thresher.text.vocabulary import Vocabulary, hash_words, sorted_order

needs_jit = pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="far too slow without")

# Words that meet again, letters that change their length in lower case, marks that combine, digits
# of other scripts, scripts without spaces, and anything else but halves of surrogate pairs.
LETTERS = "ab AB\tzZ_09,.;éÉßẞİiIıΣσςΑάК\u0301\u0323"
LETTERS += "\u200d한\u1100\u1161กำ้กิか\u3099豈क़\u00a0\u2003ǅȺⱥK५²½中文𝒜🙂\U0001e900\x00\x1c\x1e\n"
anything = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)
familiar = st.text(st.sampled_from(LETTERS), max_size=60)
words = ["rose", "is", "a", "ROSE", "Σίσυφος", "antidisestablish", "antidisestablished"]
sentences = st.lists(st.sampled_from(words), max_size=12).map(" ".join)
texts_lists = st.lists(st.one_of(anything, familiar, sentences), max_size=6)

OPTIONS = [
    {},
    {"lowercase": False},
    {"min_length": 1},
    {"min_length": 5},
    {"tokens": "book"},
    {"tokens": "whitespace"},
    {"token_pattern": r"(?u)\b\w+\b"},
    {"token_pattern": r"a(.?)"},
    {"ngram_range": (1, 2)},
    {"ngram_range": (2, 2), "tokens": "book"},
    {"ngram_range": (2, 4), "min_length": 1},
    {"ngram_range": None, "char_ngram_range": (1, 3), "char_ngram_tokens": "words"},
    {"ngram_range": None, "char_ngram_range": (4, 4)},
    {"char_ngram_range": (3, 4)},
    {"char_ngram_range": (2, 2), "ngram_range": (1, 3), "lowercase": False},
    {"char_ngram_range": (5, 5), "ngram_range": (2, 2), "char_ngram_tokens": "words"},
    {"gaps": True, "ngram_range": (1, 3)},
    {"gaps": True, "ngram_range": (2, 5), "min_length": 1, "char_ngram_range": (3, 3)},
    {"fields": "first-line"},
    {"fields": "lead", "ngram_range": (1, 2)},
    {"fields": ("subject", "body"), "ngram_range": (1, 2), "char_ngram_range": (3, 3)},
    {"fields": ("subject",), "ngram_range": None, "char_ngram_range": (4, 4)},
    {"fields": ("subject", "body"), "token_pattern": "[^a]+"},
    {"hashing_bits": 4},
    {"hashing_bits": 20, "ngram_range": (2, 3)},
    {"hashing_bits": 16, "gaps": True, "ngram_range": (1, 4)},
    {"hashing_bits": 18, "ngram_range": None, "char_ngram_range": (2, 3)},
    {"hashing_bits": 12, "ngram_range": (1, 2), "char_ngram_range": (2, 3)},
    {"hashing_bits": 3, "fields": ("subject", "body")},
    {"hashing_bits": 14, "fields": "first-line", "char_ngram_range": (2, 3)},
    {"hashing_bits": 10, "fields": "lead", "ngram_range": (1, 2)},
    {"hashing_bits": 9, "fields": ("subject",), "ngram_range": None, "char_ngram_range": (2, 2)},
]
GROWING = [one for one in OPTIONS if "hashing_bits" not in one]


class Shortening:
    """Linguistics small enough to be seen through: drops "is", folds words to two letters."""

    def __repr__(self):
        return "Shortening()"  # a name for the test, the same in every process

    def fold(self, words):
        return [None if word == "is" else word[:2] for word in words]


FOLDED = [
    {"linguistics": Shortening()},
    {"linguistics": Shortening(), "ngram_range": (1, 3)},
    {"linguistics": Shortening(), "ngram_range": (3, 4), "gaps": True},
    {"linguistics": Shortening(), "ngram_range": None, "char_ngram_range": (2, 3),
     "char_ngram_tokens": "words"},
    {"linguistics": Shortening(), "ngram_range": (1, 2), "char_ngram_range": (3, 3)},
    {"linguistics": Shortening(), "ngram_range": (1, 2), "fields": ("subject", "body")},
    {"linguistics": Shortening(), "fields": "lead", "token_pattern": "[^a]+"},
    {"linguistics": Shortening(), "hashing_bits": 10, "ngram_range": (1, 2)},
]  # fmt: skip


def name_of(options):
    return ",".join(f"{name}={value}" for name, value in options.items()) or "default"


def dicts(rows):
    """Return rows as dictionaries, which keep the order of the columns."""
    return [
        dict(zip(rows.indices[a:b].tolist(), rows.values[a:b].tolist(), strict=True))
        for a, b in zip(rows.indptr[:-1], rows.indptr[1:], strict=True)
    ]


def cut_into(patch, n_characters):
    """Let texts be counted in chunks of so many characters."""
    for module in (tokens_module, counter_module):
        patch.setattr(module, "CHUNK_CHARACTERS", n_characters)


def same_rows(ours, others):
    return all(np.array_equal(a, b) for a, b in zip(ours, others, strict=True))


def same_counts(first, second, texts, **options):
    return same_rows(first.count(texts, **options), second.count(texts, **options))


# -- against the slow twin


@given(st.lists(st.text(st.sampled_from("ab\n \t\r\x1e\u3000中é\u0301"), max_size=9), max_size=80))
def test_the_lead_is_that_of_its_twin(words):
    text = " ".join(words)
    pieces = naive.fields_of(text, "lead")
    assert split(text, "lead") == [piece for _, piece in pieces]
    before, line, lead, rest = split(text, "lead")
    assert before + line + lead + rest == text
    assert [before, line, lead + rest] == split(text, "first-line")
    assert len(lead.split()) == min(40, len((lead + rest).split()))
    options = {"fields": "lead", "min_length": 1}
    counter, twin = TextCounter(**options), naive.Counter(**options)
    assert dicts(counter.count([text])) == twin.count([text])
    assert counter.feature_names() == twin.names()


@pytest.mark.parametrize("options", GROWING + FOLDED[:-1], ids=name_of)
@given(texts=texts_lists, kept=st.integers(1, 5))
def test_the_field_of_a_column_is_that_in_its_name(options, texts, kept):
    counter, twin = TextCounter(**options), naive.Counter(**options)
    counter.count(texts)
    twin.count(texts)
    names = field_names(options.get("fields"))
    of_twin = [1 + names.index(one[0]) if block == 3 else 0 for block, one in twin.numbers]
    numbers = counter.field_numbers()
    assert numbers.dtype == np.uint8 and numbers.tolist() == of_twin
    keep = np.arange(counter.n_features) % kept == 0
    counter.prune(keep)
    assert counter.field_numbers().tolist() == numbers[keep].tolist()


def test_hashed_columns_are_told_apart_by_field_where_there_is_one():
    one, two = (TextCounter(fields=fields, hashing_bits=3) for fields in ("first-line", "lead"))
    assert one.field_numbers().tolist() == [0] * 4 + [1] * 4
    assert two.field_numbers().tolist() == [0] * 8


@pytest.mark.parametrize("options", OPTIONS + FOLDED, ids=name_of)
@given(first=texts_lists, second=texts_lists, third=texts_lists)
def test_counter_is_its_twin(options, first, second, third):
    counter, twin = TextCounter(**options), naive.Counter(**options)
    for texts, grow in ((first, True), (second, False), (third, True)):
        rows = counter.count(texts, grow=grow)
        assert dicts(rows) == twin.count(texts, grow=grow)
        assert rows.n_columns == counter.n_features
        assert [list(one) for one in dicts(rows)] == [list(one) for one in twin.count(texts, False)]
        assert rows.lengths.tolist() == [twin.length(text) for text in texts]
    if "hashing_bits" not in options:
        assert counter.feature_names() == twin.names()
        assert counter.names(range(counter.n_features)) == twin.names()
        assert counter.blocks.tolist() == twin.blocks()


@pytest.mark.parametrize("options", GROWING + FOLDED[:-1], ids=name_of)
@given(
    batches=st.lists(texts_lists, min_size=2, max_size=4),
    least=st.tuples(*4 * [st.integers(1, 3)]),
    most=st.sampled_from([0, 1, 7, 1000]),
)
def test_what_is_new_waits_as_in_its_twin(options, batches, least, most):
    counter, twin = TextCounter(**options), naive.Counter(**options, most=most)
    whole = TextCounter(**options)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(space_module, "MOST_CANDIDATES", most)
        rows = []
        for texts in batches:
            rows += dicts(counter.count(texts, least=least))
            assert rows[len(rows) - len(texts) :] == twin.count(texts, least=least)
        assert (
            dicts(whole.count([text for texts in batches for text in texts], least=least)) == rows
        )
        assert counter.feature_names() == whole.feature_names() == twin.names()
        assert len(counter._space.candidates()) == len(twin.waiting)
        if "linguistics" not in options:
            counter = TextCounter.from_state(*counter.state())
        assert dicts(counter.count(batches[0], least=least)) == twin.count(batches[0], least=least)
    assert dicts(counter.count(batches[1])) == twin.count(batches[1])  # now all at once
    assert counter.feature_names() == twin.names()
    assert counter.blocks.tolist() == twin.blocks()


@pytest.mark.parametrize("options", OPTIONS + FOLDED, ids=name_of)
@given(texts=texts_lists, chunk=st.integers(1, 40))
def test_neither_chunks_nor_batches_matter(options, texts, chunk):
    whole, cut, pieces = (TextCounter(**options) for _ in range(3))
    expected = whole.count(texts)
    assert expected.lengths is not None
    with pytest.MonkeyPatch.context() as patch:
        cut_into(patch, chunk)
        patch.setattr(counter_module, "BATCH_CHARACTERS", 3 * chunk)
        patch.setattr(counter_module, "MOST_SURFACE_FORMS", 3)
        patch.setattr(counter_module, "MOST_CELLS", 2)
        assert same_rows(cut.count(texts), expected)
        assert cut.spans("".join(texts)) == whole.spans("".join(texts))
    assert [dicts(pieces.count([text]))[0] for text in texts] == dicts(expected)
    if "hashing_bits" not in options:
        assert whole.feature_names() == cut.feature_names() == pieces.feature_names()


@given(st.lists(st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=20))))
def test_vocabulary_is_a_dictionary(batches):
    vocabulary, numbers = Vocabulary(), {}
    for number, words in enumerate(batches):
        grow = number % 3 != 1
        ids = vocabulary.look_up(Tokens.of_words(words), grow)
        assert ids.tolist() == naive.look_up(words, numbers, grow)
    every = np.arange(len(vocabulary))
    assert vocabulary.names(every) == list(numbers)
    assert vocabulary.names(every[-1:]) == list(numbers)[-1:]
    kept = np.arange(len(numbers)) % 2 == 0
    vocabulary = vocabulary.subset(kept)
    names = [word for word, keep in zip(numbers, kept, strict=True) if keep]
    assert vocabulary.names(np.arange(len(vocabulary))) == names
    assert vocabulary.look_up(Tokens.of_words(list(numbers)), False).tolist() == [
        names.index(word) if word in names else -1 for word in numbers
    ]
    vocabulary.truncate(len(names) // 2)
    assert vocabulary.names(np.arange(len(vocabulary))) == names[: len(names) // 2]
    assert vocabulary.look_up(Tokens.of_words(names), True).tolist() == list(range(len(names)))


@given(st.lists(st.text(st.sampled_from("ab\x00é中"), max_size=30), unique=True))
def test_words_are_sorted_by_their_bytes(words):
    vocabulary = Vocabulary()
    vocabulary.look_up(Tokens.of_words(words), grow=True)
    order = sorted_order(*vocabulary.blob())
    assert [words[i] for i in order] == sorted(words)


@given(st.data())
def test_rows_are_sorted_as_python_sorts(data):
    rows = data.draw(st.lists(st.dictionaries(st.integers(0, 99), st.integers(1, 2**31 - 1))))
    rank = np.array(data.draw(st.permutations(range(100))), np.int32) - 20
    rank[rank < 0] = -1
    indptr = np.cumsum([0, *map(len, rows)])
    indices = np.array([column for row in rows for column in row], np.int32)
    counts = np.array([n for row in rows for n in row.values()], np.int32)
    out_indptr = np.zeros_like(indptr)
    out_indices, out = np.empty_like(indices), np.empty_like(counts)
    sort_rows(indptr, indices, counts, rank, 2, np.empty(65, np.int32),
              *np.empty((2, 101), np.uint64), out_indptr, out_indices, out)  # fmt: skip
    for row, a, b in zip(rows, out_indptr[:-1], out_indptr[1:], strict=True):
        expected = sorted((int(rank[column]), n) for column, n in row.items() if rank[column] >= 0)
        assert list(zip(out_indices[a:b].tolist(), out[a:b].tolist(), strict=True)) == expected


# -- the hash, for ever


GOLDEN = {
    "": 0x0,
    "a": 0x6CB5304ED4D6B384,
    "rose": 0x29B2D011715A82D6,
    "antidisestablishmentarianism": 0xAFF3664EC31E769,
    "naïve": 0x915F30010A6E1F82,
    "日本語": 0xFCE0805DE1E0BEDC,
    "\x00": 0x873E6848283318EB,
}


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=40)))
def test_hash_is_its_twin(words):
    assert hash_words(Tokens.of_words(words)).tolist() == list(map(naive.hash_word, words))


def test_hash_never_changes():
    assert hash_words(Tokens.of_words(list(GOLDEN))).tolist() == list(GOLDEN.values())
    triples = TextCounter(hashing_bits=24, ngram_range=(3, 3)).count(["one rose is one rose"])
    assert triples.indices.tolist() == [n % 2**24 for n in (1061340868, 264795991, 39079910)]
    gapped = TextCounter(hashing_bits=24, ngram_range=(3, 3), gaps=True).count(["one rose is one"])
    hashes = 1061340868, 267815923, 264795991, 336713018
    assert gapped.indices.tolist() == [n % 2**24 for n in hashes]


def test_runs_with_gaps_by_hand():
    counter = TextCounter(ngram_range=(1, 3), gaps=True)
    counter.count(["crude oil prices"])
    assert counter.feature_names() == [
        "crude", "oil", "crude oil", "prices", "oil prices", "crude oil prices", "crude _ prices"
    ]  # fmt: skip
    assert counter.blocks.tolist() == [0, 0, 1, 0, 1, 1, 1]
    # A word that was never met fills a gap as any other does; none fills it from outside.
    assert dicts(counter.count(["crude tin prices"], grow=False)) == [{0: 1, 3: 1, 6: 1}]
    assert dicts(counter.count(["crude prices", "prices"], grow=False)) == [{0: 1, 3: 1}, {3: 1}]
    longer = TextCounter(ngram_range=(4, 4), gaps=True)
    longer.count(["aa bb cc dd"])
    assert longer.feature_names() == ["aa bb cc dd", "aa bb _ dd", "aa _ cc dd", "aa _ _ dd"]


def test_a_gap_is_no_word():
    counter = TextCounter(ngram_range=(3, 3), gaps=True, min_length=1)
    rows = counter.count(["a _ b"])
    assert counter.feature_names() == ["a _ b", "a _ b"] and rows.values.tolist() == [1, 1]
    hashed = TextCounter(ngram_range=(3, 3), gaps=True, min_length=1, hashing_bits=24)
    assert len(hashed.count(["a _ b"]).indices) == 2


def test_a_run_with_a_gap_belongs_to_its_words():
    counter = TextCounter(ngram_range=(3, 3), gaps=True)
    counter.count(["crude oil prices"])
    places = counter.places("crude tin prices")
    assert places.runs.tolist() == [[0, 3, -1, 0b111], [0, 3, 1, 0b101]]
    assert [(entry.piece, entry.weight) for entry in places.belonging()[1]] == [(0, 0.5), (2, 0.5)]
    assert counter.spans("crude tin prices") == [(0, 16, -1), (0, 16, 1)]


@pytest.mark.parametrize("ngram_range", [(1, 1), (1, 2), (1, 6), (6, 9)])
def test_gaps_need_runs_that_can_have_them(ngram_range):
    sentence = r"gaps=True is given with ngram_range=.*give ngram_range=\(1, 3\), say, or up to 5"
    with pytest.raises(ParameterError, match=sentence):
        TextCounter(ngram_range=ngram_range, gaps=True)
    with pytest.raises(ParameterError, match="with ngram_range=None"):
        TextCounter(ngram_range=None, char_ngram_range=(3, 3), gaps=True)


def test_models_without_a_word_on_gaps_have_none():
    counter = TextCounter(ngram_range=(1, 3))
    counter.count(["crude oil prices"])
    header, tensors = counter.state()
    assert header.pop("gaps") is False
    again = TextCounter.from_state(header, tensors)
    assert not again.gaps and same_states(counter, again)


def test_a_damaged_gap_is_refused():
    counter = TextCounter(ngram_range=(1, 3), gaps=True)
    counter.count(["crude oil prices"])
    header, tensors = counter.state()
    with pytest.raises(ModelError, match="runs that it lacks"):  # in a model without gaps
        TextCounter.from_state(header | {"gaps": False}, tensors)
    open_end = np.flatnonzero(tensors["pairs"][:, 1] == -1)[0]
    columns = np.where(tensors["blocks"] == 1, open_end, tensors["columns"]).astype(np.int32)
    with pytest.raises(ModelError, match="lengths that it counts"):  # a run that ends with a gap
        TextCounter.from_state(header, tensors | {"columns": columns})
    below = np.where(tensors["pairs"] == -1, -2, tensors["pairs"])
    with pytest.raises(ModelError, match="runs that it lacks"):
        TextCounter.from_state(header, tensors | {"pairs": below})


def test_hashes_spread_evenly():
    words = [f"{prefix}{n}" for prefix in ("", "w", "aaaaaaaaaaaa") for n in range(20_000)]
    hashes = hash_words(Tokens.of_words(words))
    assert len(np.unique(hashes)) == len(words)
    for shift in (0, 20, 54):  # low, middle and high bits
        load = np.bincount((hashes >> np.uint64(shift)).astype(np.int64) & 1023, minlength=1024)
        chi_square = np.sum((load - load.mean()) ** 2 / load.mean())
        assert 850 < chi_square < 1220  # within four standard deviations of 1023


# -- against scikit-learn


def assert_same_as_sklearn(ours, theirs, texts, others):
    try:
        expected = theirs.fit_transform(texts)
    except ValueError:
        with pytest.raises(ValueError):
            ours.fit_transform(texts)
        return
    counts = ours.fit_transform(texts)
    assert ours.get_feature_names_out().tolist() == theirs.get_feature_names_out().tolist()
    assert ours.vocabulary_ == {
        name: column for column, name in enumerate(theirs.get_feature_names_out())
    }
    assert counts.dtype == expected.dtype
    assert counts.has_sorted_indices
    assert counts.toarray().tolist() == expected.toarray().tolist()
    assert ours.transform(others).toarray().tolist() == theirs.transform(others).toarray().tolist()
    assert clone(ours).fit(texts).transform(others).toarray().tolist() == (
        theirs.transform(others).toarray().tolist()
    )


def plain(texts):
    """Return texts without what scikit-learn cuts otherwise: marks, and scripts without spaces."""
    texts = [unicodedata.normalize("NFC", text.replace("İ", "i")) for text in texts]
    return [
        "".join(one for one in text if not naive.extends(one) and not naive.is_unspaced(one))
        for text in texts
    ]


def composed(text):
    return unicodedata.normalize("NFC", text).lower()


def count_vectorizer(ngram_range, lowercase=True):
    """Return one that cuts as the slow twin does."""
    unspaced = "characters" if ngram_range[1] > 1 else "pairs"
    cut = partial(naive.tokenize, lowercase=lowercase, unspaced=unspaced)
    return CountVectorizer(
        ngram_range=ngram_range, lowercase=False, tokenizer=cut, token_pattern=None
    )


@pytest.mark.parametrize("lowercase", [True, False])
@pytest.mark.parametrize("ngram_range", [(1, 1), (1, 2), (2, 3)])
@given(texts=texts_lists, others=texts_lists)
def test_equal_to_count_vectorizer(ngram_range, lowercase, texts, others):
    options = {"ngram_range": ngram_range, "lowercase": lowercase}
    ours, theirs = TextVectorizer(**options), CountVectorizer(**options)
    assert_same_as_sklearn(ours, theirs, plain(texts), plain(others))
    theirs = count_vectorizer(**options)
    assert_same_as_sklearn(ours, theirs, texts, others)


@pytest.mark.parametrize("char_range", [(1, 1), (2, 4), (5, 6)])
@given(texts=texts_lists, others=texts_lists)
def test_equal_to_char_wb(char_range, texts, others):
    ours = TextVectorizer(ngram_range=None, char_ngram_range=char_range)
    theirs = CountVectorizer(analyzer="char_wb", ngram_range=char_range, preprocessor=composed)
    assert_same_as_sklearn(ours, theirs, texts, others)


@pytest.mark.parametrize("char_range", [(1, 1), (3, 5)])
@pytest.mark.parametrize("ngram_range", [(1, 1), (1, 2)])
@given(texts=texts_lists, others=texts_lists)
def test_equal_to_a_union_of_words_and_char_wb(ngram_range, char_range, texts, others):
    ours = TextVectorizer(ngram_range=ngram_range, char_ngram_range=char_range)
    words = count_vectorizer(ngram_range)
    parts = CountVectorizer(analyzer="char_wb", ngram_range=char_range, preprocessor=composed)
    union = FeatureUnion([("words", words), ("parts", parts)])
    assume(any(naive.tokenize(text) for text in texts))
    assert_same_as_sklearn(ours, union, texts, others)


@pytest.mark.parametrize("pattern", [r"(?u)\b\w\w+\b", r"\S", r"(\w)\w", r"x*"])
@given(texts=texts_lists, others=texts_lists)
def test_equal_with_a_token_pattern(pattern, texts, others):
    ours, theirs = TextVectorizer(token_pattern=pattern), CountVectorizer(token_pattern=pattern)
    assert_same_as_sklearn(ours, theirs, texts, others)


@given(
    texts=st.lists(sentences, min_size=1, max_size=20),
    min_df=st.one_of(st.integers(1, 3), st.floats(0, 0.5)),
    max_df=st.one_of(st.integers(2, 5), st.floats(0.3, 1.0)),
    max_features=st.one_of(st.none(), st.integers(1, 4)),
)
def test_equal_with_limits(texts, min_df, max_df, max_features):
    options = {"min_df": min_df, "max_df": max_df, "max_features": max_features}
    ours, theirs = TextVectorizer(**options), CountVectorizer(**options)
    assert_same_as_sklearn(ours, theirs, texts, texts)


@pytest.mark.corpus
@needs_jit
def test_equal_on_a_corpus(data_dir):
    import tarfile

    with tarfile.open(data_dir / "20newsgroups" / "20news-bydate.tar.xz") as archive:
        files = (archive.extractfile(one) for one in archive if one.isfile())
        texts = [next(files).read().decode("latin-1") for _ in range(1500)]
    ours, theirs = TextVectorizer(max_features=9999), CountVectorizer(max_features=9999)
    expected, counts = theirs.fit_transform(texts), ours.fit_transform(texts)
    assert ours.get_feature_names_out().tolist() == theirs.get_feature_names_out().tolist()
    assert (counts != expected).nnz == 0
    assert (ours.transform(texts[::7]) != expected[::7]).nnz == 0


def test_only_two_letters_need_their_neighbours_to_become_lower_case():
    for number in range(sys.maxunicode + 1):
        letter = chr(number)
        lowered = letter.lower()
        if unicodedata.category(letter) != "Cs" and letter not in scripts.CONTEXTUAL:
            assert len(lowered) == 1
            assert lowered.lower() == lowered
            if lowered != letter:
                assert f"a{letter}b {letter}".lower() == f"a{lowered}b {lowered}"


# -- as part of scikit-learn


def test_in_a_pipeline_and_a_grid():
    texts = ["wheat and corn", "gold ore", "corn harvest", "gold price"] * 5
    y = [0, 1, 0, 1] * 5
    grid = GridSearchCV(
        make_pipeline(TextVectorizer(), Perceptron()),
        {"textvectorizer__ngram_range": [(1, 1), (1, 2)], "textvectorizer__min_df": [1, 2]},
        cv=2,
    ).fit(texts, y)
    assert grid.best_score_ == 1.0
    assert grid.predict(["corn", "gold"]).tolist() == [0, 1]
    names = grid.best_estimator_[:-1].get_feature_names_out()
    assert "corn" in names


def test_vectorizer_can_be_cloned_copied_and_pickled():
    vectorizer = TextVectorizer(ngram_range=(1, 2), linguistics=Linguistics(stem=True), min_df=1)
    again = clone(vectorizer)
    assert again.get_params(deep=False).keys() == vectorizer.get_params(deep=False).keys()
    assert again.ngram_range == (1, 2)
    expected = vectorizer.fit_transform(["roses rose", "a rose"]).toarray()
    for other in (copy.deepcopy(vectorizer), pickle.loads(pickle.dumps(vectorizer))):
        assert np.array_equal(other.transform(["roses rose", "a rose"]).toarray(), expected)


def test_tags_and_state_before_fitting():
    from sklearn.exceptions import NotFittedError
    from sklearn.utils import get_tags
    from sklearn.utils.validation import check_is_fitted

    vectorizer = TextVectorizer()
    assert get_tags(vectorizer).input_tags.string
    assert not get_tags(vectorizer).input_tags.two_d_array
    for use in (lambda: vectorizer.transform(["a"]), lambda: check_is_fitted(vectorizer)):
        with pytest.raises(NotFittedError):
            use()
    check_is_fitted(vectorizer.fit(["a rose"]))


def test_hashing_vectorizer_needs_no_vocabulary():
    vectorizer = TextVectorizer(hashing_bits=6, dtype=np.float32)
    counts = vectorizer.fit_transform(["a rose is a rose"])
    assert counts.shape == (1, 64)
    assert counts.dtype == np.float32
    assert (vectorizer.transform(["rose is rose"]) != counts).nnz == 0
    assert vectorizer.get_feature_names_out()[3] == "#3"


def test_counting_imports_neither_scikit_learn_nor_scipy_sparse():
    program = (
        "import sys; from thresher.text import TextCounter; TextCounter().count(['a rose']);"
        "print([name for name in ('sklearn', 'scipy.sparse', 'pandas') if name in sys.modules])"
    )
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert run.stdout == "[]\n", run.stderr


# -- Arrow


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string()])
@given(texts=texts_lists, cut=st.integers(0, 3))
def test_arrow_arrays_count_as_lists(kind, texts, cut):
    array = pa.array(["before", *texts, "after"], kind).slice(1, len(texts))
    assert same_rows(TextCounter().count(array), TextCounter().count(texts))
    assert same_rows(TextCounter().count(array[cut:]), TextCounter().count(texts[cut:]))
    chunked = pa.chunked_array([array[:cut], array[cut:]])
    assert same_rows(TextCounter().count(chunked), TextCounter().count(texts))
    pattern = TextCounter(token_pattern=r"\w")
    assert same_counts(pattern, TextCounter(token_pattern=r"\w"), texts)
    assert dicts(pattern.count(array)) == dicts(pattern.count(texts))


def test_plain_arrow_arrays_are_not_copied():
    array = pa.array(["before", "a rose", "is"])
    texts, _ = tokens_module.checked_texts(array[1:])
    characters = tokens_module.characters_of(texts, True, compose=True)
    assert np.shares_memory(characters.data, np.frombuffer(array.buffers()[2], np.uint8))
    assert characters.data.tobytes() == b"a roseis"


def test_missing_texts_of_an_arrow_array_are_empty():
    # A null may hide bytes that are not to be counted.
    data, offsets = pa.py_buffer(b"hiddenrose"), pa.py_buffer(np.array([0, 6, 10], np.int32))
    array = pa.Array.from_buffers(pa.string(), 2, [pa.py_buffer(b"\x02"), offsets, data])
    assert array.to_pylist() == [None, "rose"]
    counter = TextCounter()
    assert dicts(counter.count(array)) == [{}, {0: 1.0}]
    assert counter.feature_names() == ["rose"]
    assert counter.count(pa.nulls(3)).n_rows == 3


def test_invalid_arrow_arrays_are_refused():
    buffers = [None, pa.py_buffer(np.array([0, 2], np.int32)), pa.py_buffer(b"a\xff")]
    with pytest.raises(DocumentError, match="UTF"):
        TextCounter().count(pa.Array.from_buffers(pa.string(), 1, buffers))
    with pytest.raises(DocumentError, match="Arrow array of int64; it must be one of strings"):
        TextCounter().count(pa.array([1, 2]))


# -- large and many


@needs_jit
def test_a_document_of_50_megabytes():
    counter = TextCounter(ngram_range=(1, 2))
    (indptr, _, counts), _ = counter.count_exactly(["ab " * 17_000_000, "ab"])
    assert counts.tolist() == [17_000_000, 16_999_999, 1]
    assert indptr.tolist() == [0, 2, 3]


@needs_jit
def test_a_word_of_50_megabytes():
    counter = TextCounter()
    rows = counter.count(["x" * 50_000_000 + " yy", "X" * 50_000_000])
    assert dicts(rows) == [{0: 1.0, 1: 1.0}, {0: 1.0}]
    assert [len(name) for name in counter.feature_names()] == [50_000_000, 2]


def test_a_word_of_more_than_is_possible(monkeypatch):
    cut_into(monkeypatch, 8)
    monkeypatch.setattr(tokens_module, "MOST_TOKEN_CHARACTERS", 64)
    assert TextCounter().count(["x" * 50]).values.tolist() == [1.0]
    with pytest.raises(DocumentError, match="more than 64 characters without a separator"):
        TextCounter().count(["x" * 100])


@needs_jit
def test_a_million_empty_documents():
    rows = TextCounter().count([""] * 1_000_000)
    assert rows.n_rows == 1_000_000
    assert rows.indptr[-1] == 0


@pytest.mark.parametrize("options", [{}, {"ngram_range": (1, 2)}, {"hashing_bits": 8}], ids=name_of)
@pytest.mark.parametrize("texts", [[], [""], ["", " \n", "?!"], ["", "rose", ""]])
def test_empty_documents(options, texts):
    rows = TextCounter(**options).count(texts)
    assert rows.n_rows == len(texts)
    assert rows.values.sum() == ("rose" in texts)


def test_halves_of_surrogate_pairs_separate():
    counter = TextCounter()
    counter.count(["rose\ud800bush"])
    assert counter.feature_names() == ["rose", "bush"]
    assert counter.spans("\ud800rose") == [(1, 5, 0)]


@pytest.mark.parametrize("options", OPTIONS, ids=name_of)
def test_halves_of_surrogate_pairs_are_replaced_as_in_files(options):
    texts = ["a \ud800 rose\udfff", "\ud83d\n\ude00é", "中\ud800文 Σ\udc00", "plain"]
    replaced = [re.sub("[\ud800-\udfff]", "\ufffd", text) for text in texts]
    counter, other = TextCounter(**options), TextCounter(**options)
    assert same_rows(counter.count(texts), other.count(replaced))
    assert counter.feature_names() == other.feature_names()
    assert [counter.spans(text) for text in texts] == [other.spans(text) for text in replaced]


# -- threads


@pytest.mark.parametrize("options", OPTIONS + FOLDED, ids=name_of)
def test_any_number_of_threads_counts_alike(options):
    texts = [f"A rose is word{n % 37} a Rose, is it? {n}" * (n % 5) for n in range(200)]
    counter = TextCounter(**options)
    counter.count(texts[::2])
    expected = counter.count(texts, grow=False)
    for threads in (2, 3, 7):
        assert same_rows(counter.count(texts, grow=False, n_jobs=threads), expected)
    assert counter.count([], grow=False, n_jobs=2).n_rows == 0
    array = pa.array(texts)
    assert same_rows(counter.count(array, grow=False, n_jobs=2), expected)


@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize("options", [{}, {"hashing_bits": 8}], ids=name_of)
def test_what_is_no_text_is_named_by_its_place_among_all(options, threads):
    with pytest.raises(DocumentError, match=r"texts\[3\] is 7"):
        TextCounter(**options).count(["a", "b", "c", 7], n_jobs=threads)


@pytest.mark.slow
@pytest.mark.parametrize("options", OPTIONS + FOLDED, ids=name_of)
@pytest.mark.parametrize("least", [(1, 1, 1, 1), (1, 2, 3, 2)])
@pytest.mark.parametrize("chunk", [1, 150])
def test_any_number_of_threads_learns_alike(monkeypatch, options, least, chunk):
    """Short switches, so that threads come between whatever they can come between."""
    switch = sys.getswitchinterval()
    cut_into(monkeypatch, chunk)
    texts = [
        f"A rose\nis word{n * n % 37} a Rose{n % 13}, is it? {n}" * (n % 5) for n in range(120)
    ]
    batches = texts[:70], pa.array(texts[70:]), [], [""], ["Σίσυφος 中文"], texts[::-3]
    alone, *others = counters = [TextCounter(**options) for _ in range(4)]
    undo = [counter.checkpoint() for counter in counters]
    sys.setswitchinterval(1e-6)
    try:
        for turn in range(2):
            for batch in batches:
                expected = alone.count(batch, least=least)
                for n, counter in enumerate(others, 1):
                    assert same_rows(counter.count(batch, least=least, n_jobs=n**2 + 1), expected)
            assert all(same_tensors(alone, counter) for counter in others)
            if not turn:
                for one in undo:
                    one()
    finally:
        sys.setswitchinterval(switch)


def test_threads_forget_alike(monkeypatch):
    cut_into(monkeypatch, 60)
    monkeypatch.setattr(space_module, "MOST_CANDIDATES", 50)
    texts = [f"rose {n} {n * n % 17} {n % 5} {n % 29}" for n in range(200)]
    alone, beside = (TextCounter(ngram_range=(1, 2), min_length=1) for _ in range(2))
    for n_jobs, counter in ((1, alone), (3, beside)):
        for batch in (texts, texts[::2]):
            counter.count(batch, least=(2, 3, 1, 1), n_jobs=n_jobs)
    assert 0 < alone.n_features < 500
    assert same_tensors(alone, beside)


def test_where_one_thread_fails_all_is_undone(monkeypatch):
    cut_into(monkeypatch, 40)
    monkeypatch.setattr(tokens_module, "MOST_TOKEN_CHARACTERS", 64)
    texts = [f"rose {n} is {n * n}" for n in range(60)]
    for place in (0, 1, 30, 59):
        counter, other = TextCounter(ngram_range=(1, 2)), TextCounter(ngram_range=(1, 2))
        for one in (counter, other):
            one.count(texts[:5])
        undo, before = counter.checkpoint(), threading.active_count()
        with pytest.raises(DocumentError, match="more than 64 characters"):
            counter.count([*texts[:place], "x" * 100, *texts[place:]], n_jobs=3)
        assert are_gone(before)
        undo()
        same_after_undoing(counter, other, texts, (1, 2, 2, 2))


# -- turns


@pytest.mark.parametrize("n_jobs", [1, 2, 5, 40])
def test_turns_are_taken_in_order_and_alone(n_jobs):
    inside, seen, random = [], {0: [], 7: []}, np.random.default_rng(0)
    pauses = random.random((30, 3)) / 1000

    def work(number, turns):
        for station, pause in zip((0, 7), pauses[number], strict=False):
            time.sleep(pause)
            with turns.at(number, station):
                inside.append(number)
                time.sleep(pause / 3)
                assert inside == [number]
                seen[station].append(number)
                inside.clear()
        return -number

    assert in_turns(work, 30, n_jobs) == [-number for number in range(30)]
    assert seen[0] == seen[7] == list(range(30))
    assert in_turns(work, 0, n_jobs) == []


@pytest.mark.parametrize("where", ["before", "within", "after"])
@pytest.mark.parametrize("kind", [ValueError, KeyboardInterrupt])
def test_who_fails_ends_the_others(where, kind):
    """No thread is left waiting, and nobody has a turn who comes after it."""
    had_turn = []

    def work(number, turns):
        if number == 4 and where == "before":
            raise kind("four")
        with turns.at(number, 0):
            had_turn.append(number)
            if number == 4 and where == "within":
                raise kind("four")
        if number == 4:
            raise kind("four")

    before = threading.active_count()
    with pytest.raises(kind, match="four"):
        in_turns(work, 1000, 3)
    assert are_gone(before)
    assert len(had_turn) < 1000 and had_turn == list(range(len(had_turn)))
    assert where != "before" or len(had_turn) == 4


@pytest.mark.usefixtures("interruptible")
@pytest.mark.slow
@pytest.mark.parametrize("n_times", [1, 3])
def test_an_interrupt_of_the_caller_ends_all_threads(n_times):
    """A second one while it waits for them changes nothing."""
    had_turn = []

    def work(number, turns):
        with turns.at(number, 0):
            had_turn.append(number)
            for _ in range(n_times if number == 3 else 0):
                os.kill(os.getpid(), signal.SIGINT)  # which the main thread hears
                time.sleep(0.05)
            time.sleep(0.001)

    before = threading.active_count()
    with pytest.raises(KeyboardInterrupt):
        in_turns(work, 20_000, 2)
    n_turns = len(had_turn)
    time.sleep(0.02)
    assert 3 in had_turn and n_turns == len(had_turn) < 20_000
    assert are_gone(before)


def test_threads_that_cannot_be_started_are_said_and_the_others_end(monkeypatch):
    started, start = [], threading.Thread.start

    def refuse(thread):
        if started:
            raise RuntimeError("can't start new thread")
        started.append(thread)
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", refuse)
    before = threading.active_count()
    with pytest.raises(RuntimeError, match="can't start"):
        in_turns(lambda number, turns: time.sleep(0.001), 20_000, 3)
    assert are_gone(before)


THREADED = """
import sys, threading
import numpy as np
from thresher import Linguistics
from thresher.text import TextCounter

sys.setswitchinterval(1e-5)
texts = [f"Roses are word{n % 37} a Rose, tree{n % 11}s is it? {n}" * (n % 4) for n in range(60)]
for options in (
    {}, {"linguistics": Linguistics(stem=True, stop_words="language")}, {"ngram_range": (1, 2)},
    {"ngram_range": None, "char_ngram_range": (2, 4)}, {"char_ngram_range": (3, 3)},
    {"linguistics": Linguistics(stem=True), "ngram_range": (1, 2), "char_ngram_range": (3, 3),
     "char_ngram_tokens": "words"},
    {"hashing_bits": 12}, {"hashing_bits": 12, "ngram_range": (1, 2), "char_ngram_range": (3, 4)},
    {"fields": "first-line", "ngram_range": (1, 2)}, {"fields": "first-line", "hashing_bits": 12},
    {"fields": "lead", "char_ngram_range": (3, 3)},
):
    counter = TextCounter(**options)
    for grown in range(3):
        counter.count(texts[20 * grown : 20 * grown + 10], least=(1, 2, 2, 2))
        expected = [counter.count([text], grow=False) for text in texts]
        spans, names = [counter.spans(text) for text in texts], counter.feature_names()
        before = dict(vars(counter)), dict(vars(counter._space))
        del before[0]["_pool"]
        fresh = TextCounter.from_state(*counter.state())  # whose readers know no word yet
        wrong = []

        def read(start):
            for i in np.random.default_rng(start).permutation(len(texts)):
                one = (counter, fresh)[i % 2]
                rows = one.count([texts[i]], grow=False)
                same = all(np.array_equal(a, b) for a, b in zip(rows, expected[i]))
                if not same or one.spans(texts[i]) != spans[i]:
                    wrong.append(texts[i])
                if one.names([0, len(names) - 1]) != [names[0], names[-1]]:
                    wrong.append(names)

        threads = [threading.Thread(target=read, args=(n,)) for n in range(4)]
        [thread.start() for thread in threads]
        [thread.join() for thread in threads]
        assert not wrong, (options, wrong[:3])
        after = dict(vars(counter)), dict(vars(counter._space))
        del after[0]["_pool"]
        assert all(a[k] is b[k] for a, b in zip(before, after) for k in a), options
print("the same")
"""


@pytest.mark.slow
@needs_jit
def test_readers_in_threads_count_alike_and_change_nothing():
    for _ in range(2):
        run = subprocess.run([sys.executable, "-c", THREADED], capture_output=True, text=True)
        assert run.stdout == "the same\n", run.stderr


@pytest.mark.parametrize("options", OPTIONS + FOLDED, ids=name_of)
@given(first=texts_lists, second=texts_lists, read=texts_lists)
def test_reading_changes_nothing(options, first, second, read):
    counter, other = TextCounter(**options), TextCounter(**options)
    for texts in (first, second):
        assert same_counts(counter, other, texts)
        before = copy.deepcopy(vars(counter._space))
        for text in read:
            counter.count([text], grow=False)
            counter.spans(text)
        after = vars(counter._space)
        assert all(np.array_equal(before[name], after[name])
                   for name in ("sizes", "blocks", "items", "queue", "log"))  # fmt: skip
        assert [len(after[name]) for name in ("words", "runs", "parts")] == [
            len(before[name]) for name in ("words", "runs", "parts")
        ]
    assert same_counts(counter, other, read)


# -- undoing


def same_after_undoing(counter, other, texts, least):
    assert same_tensors(counter, other)
    for one in (texts, texts[::-1]):
        assert same_counts(counter, other, one, grow=False)
        assert same_counts(counter, other, one, least=least)
    assert same_tensors(counter, other)


def same_tensors(first, second):
    ours, others = first._space.tensors(), second._space.tensors()
    return ours.keys() == others.keys() and all(
        ours[name].dtype == others[name].dtype and np.array_equal(ours[name], others[name])
        for name in ours
    )


@pytest.mark.parametrize("options", GROWING + FOLDED[:-1], ids=name_of)
@given(
    before=texts_lists,
    batches=st.lists(texts_lists, max_size=3),
    least=st.sampled_from([None, (2, 2, 2, 2), (1, 2, 3, 2)]),
    most=st.sampled_from([1, 7, 1000]),
)
def test_what_was_counted_can_be_undone(options, before, batches, least, most):
    counter, other = TextCounter(**options), TextCounter(**options)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(space_module, "MOST_CANDIDATES", most)
        assert same_counts(counter, other, before, least=least)
        undo = counter.checkpoint()
        for number, texts in enumerate(batches):
            inner = counter.checkpoint()
            counter.count(texts, least=(2, 1, 2, 1) if number % 2 else least)
            if number == 1:
                inner()
        undo()
        same_after_undoing(counter, other, sum(batches, before), least)


KERNELS = {  # by the module where they are called by name
    "text.tokens": ["scan"],
    "text.counter": ["count"],
    "_kernels.text": [
        "look_up", "fill_slots", "char_grams", "expand", "spread_rows", "ngrams", "settle",
        "forget", "fill_pair_slots",
    ],
}  # fmt: skip


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize(
    "options",
    [{}, {"ngram_range": (1, 3)}, {"ngram_range": (1, 2), "char_ngram_range": (3, 4)}, FOLDED[3],
     {"ngram_range": (1, 2), "fields": "first-line"}],
    ids=name_of,
)  # fmt: skip
def test_what_was_interrupted_can_be_undone(options, after, monkeypatch):
    monkeypatch.setattr(space_module, "MOST_CANDIDATES", 40)
    cut_into(monkeypatch, 3000)
    rng = np.random.default_rng(0)
    texts = [" ".join(f"w{n}" for n in rng.zipf(1.4, 60).clip(0, 3000)) for _ in range(60)]
    calls, last = 0, None

    def interrupted(kernel):
        def call(*arguments):
            nonlocal calls
            calls += 1
            if calls == last and not after:
                raise KeyboardInterrupt
            result = kernel(*arguments)
            if calls == last:
                raise KeyboardInterrupt
            return result

        return call

    for module, names in KERNELS.items():
        owner = sys.modules[f"thresher.{module}"]
        for name in names:
            monkeypatch.setattr(owner, name, interrupted(getattr(owner, name)))
    counter, other = TextCounter(**options), TextCounter(**options)
    assert same_counts(counter, other, texts[:20], least=(2, 2, 2, 2))
    n_tried, stop, least = 0, 1, (2, 3, 3, 2)
    while True:
        undo, calls, last = counter.checkpoint(), 0, stop
        try:
            counter.count(texts[20:50], least=least)
        except KeyboardInterrupt:
            last = None
            undo()
            assert same_tensors(counter, other)
            n_tried, stop = n_tried + 1, stop + 1 + stop // 8
            continue
        break
    last = None
    undo()
    assert n_tried > 8
    same_after_undoing(counter, other, texts[15:], least)


def test_going_back_costs_what_was_added():
    counter = TextCounter(ngram_range=(1, 2), char_ngram_range=(3, 3))
    counter.count([" ".join(f"word{n}" for n in range(3000))], least=(1, 2, 2, 2))
    space = counter._space
    tables = [space.words.slots, space.runs.slots, space.parts.slots]
    undo = counter.checkpoint()
    counter.count(["a new rose"], least=(1, 2, 2, 2))
    assert len(space.log) < 100
    undo()
    assert counter.blocks.tolist().count(1) == 0  # no run was in two documents
    still = [space.words.slots, space.runs.slots, space.parts.slots]
    assert all(one is other for one, other in zip(tables, still, strict=True))
    del undo
    counter.count(["another rose"], least=(1, 2, 2, 2))
    assert space.sizes[-1] == 0  # nothing is noted when nobody can ask for it


@pytest.mark.parametrize("options", [*OPTIONS, *FOLDED], ids=name_of)
@pytest.mark.parametrize("again", [copy.deepcopy, lambda one: pickle.loads(pickle.dumps(one))])
def test_a_copy_goes_on_by_itself(options, again):
    counter, other = TextCounter(**options), TextCounter(**options)
    for one in (counter, other):
        one.count(["a red rose", "the rose"], least=(1, 2, 2, 2))
    twin = again(counter)
    for _ in range(2):
        assert same_counts(twin, other, ["a red rose is red", "a tree"], least=(1, 2, 2, 2))
    assert twin.feature_names() == other.feature_names()
    counter.count(["quite another rose"])
    assert twin.feature_names() == other.feature_names()
    assert same_counts(twin, other, ["quite another rose"])


# -- merging


@pytest.mark.parametrize("options", OPTIONS + FOLDED, ids=name_of)
@given(
    shards=st.lists(texts_lists, min_size=1, max_size=4), last=texts_lists, seed=st.integers(0, 99)
)
def test_merged_shards_equal_one_count(options, shards, last, seed):
    whole, merged = TextCounter(**options), TextCounter(**options)
    expected, rows = whole.count([text for texts in shards for text in texts]), []
    for texts in shards:
        shard = TextCounter(**options)
        counts = dicts(shard.count(texts))
        columns = merged.merge(shard).tolist()
        rows += [{columns[column]: n for column, n in row.items()} for row in counts]
    assert [list(row.items()) for row in rows] == [list(row.items()) for row in dicts(expected)]
    assert same_tensors(whole, merged)
    if "hashing_bits" in options:
        return
    assert whole.feature_names() == merged.feature_names()
    keep = np.random.default_rng(seed).random(whole.n_features) < 0.5
    for counter in (whole, merged):
        counter.prune(keep)
    undo, shard = merged.checkpoint(), TextCounter(**options)
    shard.count(last)
    merged.merge(shard)
    undo()
    assert same_tensors(whole, merged)
    merged.merge(shard)
    whole.count(last)
    assert same_tensors(whole, merged)
    assert same_counts(whole, merged, last + shards[0])


@pytest.mark.parametrize(
    ("options", "least", "sentence"),
    [
        ({"ngram_range": (1, 2)}, None, r"as ngram_range is \(1, 1\) in one and \(1, 2\) in"),
        ({"hashing_bits": 4}, None, "as hashing_bits is None in one and 4 in the other"),
        ({"linguistics": Linguistics(stem=True)}, None, "as linguistics is None in one"),
        ({}, (2, 2, 2, 2), "as features wait for a column; count the shards without `least`"),
    ],
    ids=str,
)  # fmt: skip
def test_counters_that_cannot_be_merged(options, least, sentence):
    counter, other = TextCounter(), TextCounter(**options)
    other.count(["a red rose"], least=least)
    with pytest.raises(ParameterError, match=sentence):
        counter.merge(other)
    assert counter.n_features == 0


# -- pruning


@pytest.mark.parametrize("options", GROWING + FOLDED[:-1], ids=name_of)
@given(texts=texts_lists, seed=st.integers(0, 99))
def test_pruned_columns_are_those_that_were_kept(options, texts, seed):
    counter = TextCounter(**options)
    before = dicts(counter.count(texts))
    names = counter.feature_names()
    keep = np.random.default_rng(seed).random(len(names)) < 0.5
    counter.prune(keep)
    kept = [name for name, one in zip(names, keep, strict=True) if one]
    new = {old: number for number, old in enumerate(np.flatnonzero(keep).tolist())}
    assert counter.feature_names() == kept
    after = [{new[c]: n for c, n in row.items() if c in new} for row in before]
    assert dicts(counter.count(texts, grow=False)) == after
    # What was forgotten comes back at the end, and what was kept stays.
    counter.count(texts)
    assert counter.feature_names()[: len(kept)] == kept
    assert sorted(counter.feature_names()) == sorted(names)


def test_pruning_forgets_what_nothing_is_made_of():
    counter = TextCounter(ngram_range=(3, 3))
    counter.count(["one two three four five", "six seven eight"])
    counter.prune(np.array([True, False, False, False]))
    _, tensors = counter.state()
    assert bytes(tensors["words"]) == b"onetwothree"
    assert tensors["pairs"].tolist() == [[0, 1], [-1, 2]]
    counter.prune(np.array([False]))
    assert counter.n_features == 0
    assert counter.state()[1]["words"].size == 0


@pytest.mark.parametrize("keep", [[True], [1, 0], np.ones((1, 2), bool)])
def test_a_mask_that_does_not_fit_is_refused(keep):
    counter = TextCounter()
    counter.count(["a rose is"])
    with pytest.raises(ParameterError, match="one bool for each of the 2 columns"):
        counter.prune(keep)


def test_hashed_columns_cannot_be_pruned():
    with pytest.raises(ParameterError, match="leave hashing_bits out"):
        TextCounter(hashing_bits=3).prune(np.ones(8, bool))


# -- state

LANGUAGE = {"linguistics": Linguistics(stop_words=["is"], stem=True), "ngram_range": (1, 2)}


@pytest.mark.parametrize("options", [*OPTIONS, LANGUAGE], ids=name_of)
@given(first=texts_lists, second=texts_lists)
def test_a_saved_counter_goes_on_as_it_was(options, first, second):
    counter = TextCounter(**options)
    counter.count(first)
    if "hashing_bits" not in options:
        counter.prune(np.arange(counter.n_features) % 3 != 1)
    header, tensors = counter.state()
    again = TextCounter.from_state(json.loads(json.dumps(header)), tensors)
    assert same_counts(again, counter, first + second, grow=False)
    assert same_counts(again, counter, second + first)
    assert same_states(again, counter)


def same_states(first, second):
    (header, tensors), (other_header, other_tensors) = first.state(), second.state()
    same = [np.array_equal(tensors[name], other_tensors[name]) for name in tensors]
    return header == other_header and tensors.keys() == other_tensors.keys() and all(same)


@pytest.mark.parametrize("fields", [None, "first-line", "lead", ("subject", "body")])
def test_the_same_history_gives_the_same_state(fields):
    texts = ["a rose is a rose", "is it", "Ein Röslein, Röslein", "\x1eit is\x1ea rose"]
    first, second = (TextCounter(ngram_range=(1, 3), fields=fields) for _ in range(2))
    first.count(texts)
    for text in texts:
        second.count([text])
    assert same_states(first, second)


def damaged(name, change):
    return lambda header, tensors: tensors.__setitem__(name, change(tensors[name]))


def changed(name, value):
    return lambda header, tensors: header.__setitem__(name, value)


def at(place, value):
    def change(array):
        array = array.copy()
        array[place] = value
        return array

    return change


DAMAGES = {
    "words too short": (damaged("words", lambda a: a[:-1]), "do not span"),
    "offset too high": (damaged("word_offsets", at(-1, 99)), "do not span"),
    "offset falls": (damaged("word_offsets", at(1, 11)), "do not rise"),
    "offset below zero": (damaged("word_offsets", at(1, -3)), "do not rise"),
    "no offset": (damaged("word_offsets", lambda a: a[:0]), "do not span"),
    "offset type": (damaged("word_offsets", lambda a: a.astype(np.int32)), "int64 belongs"),
    "not UTF-8": (damaged("words", at(0, 0xFF)), "not valid UTF-8"),
    "half a letter": (damaged("word_offsets", at(1, 3)), "not valid UTF-8"),
    "word twice": (damaged("words", lambda a: np.tile(a[:5], 2)), "twice"),
    "pair of no word": (damaged("pairs", at((0, 1), 2)), "runs that it lacks"),
    "pair of no pair": (damaged("pairs", at((0, 0), -1)), "runs that it lacks"),
    "pair with a pair": (damaged("pairs", at((0, 1), -1)), "runs that it lacks"),
    "pair too long": (damaged("pairs", lambda a: np.int32([[0, 1], [-1, 1]])), "more than 2"),
    "pair twice": (damaged("pairs", lambda a: np.tile(a, (2, 1))), "twice"),
    "column of nothing": (damaged("columns", at(0, 7)), "words number 7, and 2 words"),
    "column below zero": (damaged("columns", at(0, -9)), "values from"),
    "column twice": (damaged("columns", at(0, 1)), "not all different"),
    "block of nothing": (damaged("blocks", at(0, 4)), "values up to 3"),
    "block without items": (damaged("blocks", at(0, 2)), "parts number 0, and 0 parts"),
    "block without fields": (damaged("blocks", at(0, 3)), "fields number 0, and 0 fields"),
    "columns without block": (damaged("blocks", lambda a: a[1:]), "shape"),
    "candidate with a column": (damaged("candidates", lambda a: np.int32([[0, 0, 1]])), "differ"),
    "candidate never seen": (damaged("candidates", lambda a: np.int32([[1, 1, 0]])), "number 1"),
    "candidate of nothing": (damaged("candidates", lambda a: np.int32([[4, 0, 1]])), "are none"),
    "no words": (lambda header, tensors: tensors.pop("words"), "lacks the tensor 'words'"),
    "no columns": (lambda header, tensors: tensors.pop("columns"), "lacks the tensor 'columns'"),
    "newer format": (changed("version", 4), "version 4"),
    "newer hash": (changed("hash_version", 9), "hash_version 9"),
    "no rule": (changed("tokens", "syllables"), "make no sense"),
    "no range": (changed("ngram_range", [2, 1]), "make no sense"),
    "other range": (changed("ngram_range", [2, 2]), "lengths that it counts"),
    "half a range": (changed("char_ngram_range", [2]), "make no sense"),
    "no lowercase": (lambda header, tensors: header.pop("lowercase"), "lacks 'lowercase'"),
    "no pattern": (changed("token_pattern", "("), "make no sense"),
    "no language": (changed("linguistics", {}), "language"),
}  # fmt: skip


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_state_is_refused(damage):
    counter = TextCounter(ngram_range=(1, 2))
    counter.count(["éééé éé" if damage == "half a letter" else "roses rosen"])
    header, tensors = counter.state()
    change, sentence = DAMAGES[damage]
    change(header, tensors)
    with pytest.raises(ModelError, match=sentence):
        TextCounter.from_state(header, tensors)


def test_linguistics_without_a_state_cannot_be_saved():
    with pytest.raises(ModelError, match="has no `state`"):
        TextCounter(linguistics=Shortening()).state()


# -- spans


def columns_of(counter, text):
    return naive.count([column for _, _, column in counter.spans(text)])


@pytest.mark.parametrize("options", OPTIONS + FOLDED, ids=name_of)
@given(text=st.one_of(anything, familiar, sentences), known=texts_lists)
def test_spans_are_what_is_counted(options, text, known):
    counter = TextCounter(**options)
    counter.count(known)
    assert columns_of(counter, text) == dicts(counter.count([text], grow=False))[0]
    assert all(0 <= start <= end <= len(text) for start, end, _ in counter.spans(text))


@pytest.mark.parametrize("tokens", ["words", "book", "whitespace"])
@given(text=st.one_of(anything, familiar, sentences))
def test_a_span_holds_its_word(tokens, text):
    if "Σ" in text:  # whose lower case, torn from its word, is another
        text = text.replace("Σ", "σ")
    counter = TextCounter(tokens=tokens, min_length=1)
    counter.count([text])
    names = counter.feature_names()
    for start, end, column in counter.spans(text):
        assert names[column] in composed(text[start:end])
        assert len(composed(text[start:end])) - len(names[column]) <= 2  # half of an İ at each end


@pytest.mark.parametrize(
    ("options", "text", "expected"),
    [
        ({}, "My ROSE!", [("My", -1), ("ROSE", 0)]),
        ({}, "İstanbul ROSE", [("İstanbul", -1), ("ROSE", 0)]),
        ({"min_length": 1}, "İ ROSE", [("İ", -1), ("ROSE", 0)]),
        ({"ngram_range": (1, 2)}, "my rose is", [("my", -1), ("rose", 0), ("my rose", -1),
                                                 ("is", 1), ("rose is", 2)]),
        ({"ngram_range": (2, 2)}, "Rose,\nis it", [("Rose,\nis", 0), ("is it", -1)]),
        ({"linguistics": Shortening(), "ngram_range": (2, 2)}, "a ROSE is a rosy rose",
         [("ROSE is a rosy", 0), ("rosy rose", 0)]),
        ({"ngram_range": None, "char_ngram_range": (5, 5)}, "ROSE, is",
         [("ROSE", 0), ("ROSE,", -1), ("OSE,", -1), ("is", 2)]),
        ({"char_ngram_range": (3, 4), "min_length": 4}, "ßİ Rose",
         [("Rose", 0), ("ßİ", -1), ("ßİ", -1), ("İ", -1), ("ßİ", -1), ("ßİ", -1), ("Ro", 1),
          ("Ros", 2), ("ose", 3), ("se", 4), ("Ros", 5), ("Rose", 6), ("ose", 7)]),
        ({"ngram_range": None, "char_ngram_range": (3, 3), "char_ngram_tokens": "words",
          "linguistics": Shortening()}, "ROSE tree",
         [("ROSE", 0), ("ROSE", 1), ("tree", -1), ("tree", -1)]),
        ({"token_pattern": r"r(os)e"}, "a ROSE", [("OS", 0)]),
        ({"fields": "first-line"}, " \n My İ ROSE\nis",
         [("My", -1), ("İ", -1), ("ROSE", 0), ("is", 1), ("My", -1), ("İ", -1), ("ROSE", 2)]),
        ({"fields": "lead"}, " \n My İ ROSE\n\x1eİ\u2003is, rose " + "_ " * 37 + "Rose",
         [("My", -1), ("İ", -1), ("ROSE", 0), ("İ", -1), ("is", 1), ("rose", 0), ("Rose", 0),
          ("My", -1), ("İ", -1), ("ROSE", 2), ("İ", -1), ("is", -1), ("rose", -1)]),
        ({"fields": ("subject", "body"), "ngram_range": (1, 2)}, "a\x1eRose\x1eis it\x1erose",
         [("Rose", 0), ("is", 1), ("Rose\x1eis", 2), ("it", -1), ("is it", -1), ("rose", 0),
          ("it\x1erose", -1), ("Rose", -1), ("is", -1), ("it", -1)]),
    ],
)  # fmt: skip
def test_spans_stand_in_the_original_text(options, text, expected):
    counter = TextCounter(**options)
    counter.count(["rose is rose"])
    assert [(text[start:end], column) for start, end, column in counter.spans(text)] == expected


def test_hashed_columns_can_be_named_from_the_text():
    counter = TextCounter(hashing_bits=22)
    text = "A Rose is a rose"
    names = {column: text[start:end].lower() for start, end, column in counter.spans(text)}
    rows = counter.count([text])
    assert sorted(names[column] for column in rows.indices.tolist()) == ["is", "rose"]


# -- what is refused


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"tokens": "syllables"}, "tokens is 'syllables'; it must be one of 'words'"),
        ({"min_length": 0}, "min_length is 0; it must be a whole number from 1"),
        ({"min_length": 1.5}, "min_length is 1.5"),
        ({"ngram_range": (2, 1)}, r"ngram_range is \(2, 1\)"),
        ({"ngram_range": (0, 1)}, r"ngram_range is \(0, 1\)"),
        ({"ngram_range": 2}, "ngram_range is 2"),
        ({"char_ngram_range": (1, 2, 3)}, "char_ngram_range"),
        ({"char_ngram_range": (2, 65)}, "whole numbers from 1 to 64"),
        ({"ngram_range": (1, 2**63)}, "whole numbers from 1 to 16"),
        ({"ngram_range": None}, "give one of them"),
        ({"char_ngram_tokens": "syllables"}, "char_ngram_tokens is 'syllables'"),
        ({"hashing_bits": 31}, "hashing_bits is 31; it must be a whole number from 1 to 24"),
        ({"token_pattern": "("}, "not a regular expression"),
        ({"token_pattern": "(a)(b)"}, "2 capturing groups"),
        ({"linguistics": "english"}, "have a method `fold`"),
        ({"fields": ()}, r"fields is \(\); it must be up to 8 different names of columns"),
        ({"fields": ("subject", "subject")}, "different names"),
        ({"fields": ("subject", 3)}, "names of columns, 'first-line', 'lead' or None"),
        ({"fields": tuple("abcdefghi")}, "up to 8"),
        ({"fields": "first-line", "hashing_bits": 1}, "too few columns for words and fields"),
    ],
)
def test_parameters_that_make_no_sense(options, sentence):
    with pytest.raises(ParameterError, match=sentence):
        TextCounter(**options)
    with pytest.raises(ParameterError, match=sentence):
        TextVectorizer(**options).fit(["a rose"])


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"min_df": 0}, "min_df is 0"),
        ({"max_df": 1.5}, "max_df is 1.5"),
        ({"max_features": 0}, "max_features is 0"),
        ({"min_df": 3, "max_df": 1}, "at most 1 and at least 3 of 2 texts"),
        ({"min_df": 2, "hashing_bits": 8}, "no feature can be left out"),
    ],
)
def test_limits_that_make_no_sense(options, sentence):
    with pytest.raises(ParameterError, match=sentence):
        TextVectorizer(**options).fit(["a rose", "a rose"])


@pytest.mark.parametrize(
    ("texts", "error", "sentence"),
    [
        ("a rose", ParameterError, "texts is one str, 'a rose'; it must be a list of texts"),
        (b"a rose", ParameterError, "texts is one bytes"),
        (["a rose", None], DocumentError, r"texts\[1\] is None, of type NoneType"),
        ([b"a rose"], DocumentError, r"texts\[0\] is b'a rose', of type bytes"),
        (["a", float("nan")], DocumentError, r"texts\[1\] is nan"),
    ],
)
def test_texts_that_are_none(texts, error, sentence):
    for count in (TextCounter().count, TextVectorizer().fit, TextCounter(token_pattern="a").count):
        with pytest.raises(error, match=sentence):
            count(texts)
    with pytest.raises(DocumentError, match=r"texts\[0\] is None"):
        TextCounter().spans(None)


def test_nothing_to_learn_from():
    with pytest.raises(DocumentError, match="No token was found in 2 texts"):
        TextVectorizer().fit(["?", ""])
    with pytest.raises(DocumentError, match="None of 2 features"):
        TextVectorizer(min_df=2).fit(["rose", "bush"])
    with pytest.raises(ParameterError, match="n_jobs is 0"):
        TextCounter().count(["a"], n_jobs=0)


def test_linguistics_that_fail_leave_the_counter_whole():
    class Failing(Shortening):
        fails = True

        def fold(self, words):
            if self.fails:
                raise KeyboardInterrupt
            return super().fold(words)

    failing = Failing()
    counter = TextCounter(linguistics=failing)
    with pytest.raises(KeyboardInterrupt):
        counter.count(["a rose is"])
    failing.fails = False
    assert dicts(counter.count(["a rose is"])) == [{0: 1.0}]
