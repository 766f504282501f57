"""The one line from texts to strengths: words, runs of words and parts of words in one space."""

import math
import re
from collections import Counter
from itertools import pairwise

import numpy as np
import pytest

from thresher import Categorizer, DocumentError, ModelError, ParameterError, TextCounter
from thresher.features import FeatureParameters, Features
from thresher.storage import read_model, write_model
from thresher.text import BLOCKS

TEXTS = [
    "Wheat prices rose; wheat exports fell.",
    "Crude oil prices fell again",
    "The port of Rotterdam: ships, oil and wheat!",
    "Oil prices rose, crude prices fell",
    "ships and ports",
    "",
] * 2
LABELS = ["grain", "oil", "sea", "oil", "sea", "grain"] * 2
SPACE = {
    "ngram_range": (1, 2),
    "char_ngram_range": (4, 4),
    "min_df": {"words": 1, "runs": 3, "parts": 3},
    "block_weights": {"runs": 0.9, "parts": 0.6},
}


def items(text):
    """Return the words, runs and parts of a text as (block, name), in plain Python."""
    words = re.findall(r"\b\w\w+\b", text.lower())
    parts = []
    for token in text.lower().split():
        padded = f" {token} "
        parts += [padded[i : i + 4] for i in range(max(1, len(padded) - 3))]
    yield from (("words", word) for word in words)
    yield from (("runs", f"{a} {b}") for a, b in pairwise(words))
    yield from (("parts", part) for part in parts)


def naive_strengths(texts, least, weights):
    """Return the strengths of each text as the recipe has them, by name."""
    counts = [Counter(items(text)) for text in texts]
    df = Counter(item for one in counts for item in one)
    kept = {item for item, n in df.items() if n >= least[item[0]]}
    vectors = []
    for one in counts:
        raw = {
            item: (1 + math.log(n))
            * (math.log((1 + len(texts)) / (1 + df[item])) + 1)
            * weights[item[0]]
            for item, n in one.items()
            if item in kept
        }
        norm = math.sqrt(sum(value**2 for value in raw.values())) or 1.0
        vectors.append({item: value / norm for item, value in raw.items()})
    return vectors


def by_name(model, texts):
    """Return the strengths that a model gives each text, by block and name."""
    rows, features = model.strengths(texts), model.features_
    names = features.names(rows.indices)
    blocks = [BLOCKS[block] for block in features.blocks[rows.indices]]
    entries = list(zip(blocks, names, rows.values.tolist(), strict=True))
    return [
        {(block, name): value for block, name, value in entries[start:end]}
        for start, end in zip(rows.indptr[:-1], rows.indptr[1:], strict=True)
    ]


def test_one_space_equals_the_recipe_in_plain_python():
    model = Categorizer(**SPACE).fit(TEXTS, LABELS)
    expected = naive_strengths(
        TEXTS, {"words": 1, "runs": 3, "parts": 3}, {"words": 1, "runs": 0.9, "parts": 0.6}
    )
    for got, wanted in zip(by_name(model, TEXTS), expected, strict=True):
        assert got.keys() == wanted.keys()
        for item, value in wanted.items():
            assert got[item] == pytest.approx(value, rel=1e-5)
    assert {block for one in expected for block, _ in one} == set(BLOCKS)


def test_later_words_come_at_once_and_runs_and_parts_when_they_are_due():
    model = Categorizer(**SPACE).fit(TEXTS, LABELS)
    names = []
    for _ in range(3):
        model.learn(["zebra quagga"], ["sea"])
        names.append(set(model.features_.names(np.arange(model.n_features))))
    assert all({"zebra", "quagga"} <= one for one in names)
    assert ["zebra quagga" in one for one in names] == [False, False, True]
    assert [" zeb" in one for one in names] == [False, False, True]
    assert model.scores(["zebra quagga"]).shape == (1, 3)


def test_a_model_that_waits_for_candidates_waits_on_after_loading(tmp_path):
    model = Categorizer(**SPACE).fit(TEXTS, LABELS).learn(["zebra quagga"] * 2, ["sea"] * 2)
    model.save(tmp_path / "m")
    loaded = Categorizer.load(tmp_path / "m")
    for one in (model, loaded):
        one.learn(["zebra quagga"], ["sea"])
        assert "zebra quagga" in one.features_.names(np.arange(one.n_features))
    np.testing.assert_array_equal(model.scores(TEXTS), loaded.scores(TEXTS))


def test_hashing_keeps_the_blocks_apart():
    model = Categorizer(**(SPACE | {"hashing_bits": 16, "min_df": 1})).fit(TEXTS, LABELS)
    assert model.n_features == 2**16
    rows, blocks = model.strengths(TEXTS[:1]), model.features_.blocks
    n_parts = len({name for block, name in items(TEXTS[0]) if block == "parts"})
    assert np.count_nonzero(blocks[rows.indices] == 2) == n_parts
    assert model.score(TEXTS, LABELS) > 0.6


def test_words_can_be_left_out():
    model = Categorizer(ngram_range=None, char_ngram_range=(3, 3)).fit(TEXTS, LABELS)
    assert set(model.features_.blocks.tolist()) == {2}
    with pytest.raises(ParameterError, match="char_ngram_range"):
        Categorizer(ngram_range=None, char_ngram_range=None).fit(TEXTS, LABELS)


def test_hashed_columns_that_were_left_out_stay_out(tmp_path):
    model = Categorizer(preset="fast", hashing_bits=12, min_df=4).fit(TEXTS, LABELS)
    assert len(model.strengths(["exports"]).indices) == 0  # in two documents only
    assert len(model.strengths(["prices"]).indices) == 1
    model.save(tmp_path / "m")
    np.testing.assert_array_equal(
        Categorizer.load(tmp_path / "m").scores(TEXTS), model.scores(TEXTS)
    )


def test_tf_idf_by_name_is_the_tf_idf_of_the_default():
    named, default = Categorizer(strength="tf-idf"), Categorizer()
    np.testing.assert_array_equal(
        named.fit(TEXTS, LABELS).scores(TEXTS), default.fit(TEXTS, LABELS).scores(TEXTS)
    )


def test_max_features_has_one_meaning():
    """Those with the highest counts in all, as in scikit-learn and in TextVectorizer."""
    texts = ["aa aa aa bb", "bb cc", "bb cc", "cc dd"]
    model = Categorizer(preset="fast", max_features=2).fit(texts, ["x", "y", "x", "y"])
    assert set(model.features_.names(np.arange(2))) == {"aa", "bb"}


def test_the_books_strength_knows_the_length_of_the_whole_document():
    """Words that were left out still make a document long."""
    texts = [
        "wheat wheat " + "rare" + str(i) + " other" + str(i) + " more" + str(i) for i in range(4)
    ]
    model = Categorizer(preset="fast", strength="book", min_df=2).fit(texts, ["x", "y"] * 2)
    (value,) = model.strengths(texts[:1]).values
    assert value == round(10 * (1 + math.log(2)) / (1 + math.log(5)))


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"min_df": {"pairs": 2}}, "words, runs, parts"),
        ({"min_df": -1}, "min_df is -1"),
        ({"min_df": 1.5}, "min_df is 1.5"),
        ({"block_weights": {"runs": 0}}, "block_weights is"),
        ({"block_weights": float("inf")}, "block_weights is inf"),
        ({"char_ngram_range": (2**63, 2**63)}, "char_ngram_range is"),
        ({"ngram_range": (0, 2)}, "ngram_range is"),
        ({"n_jobs": 10**5}, "n_jobs is"),
        ({"n_selected": 0}, "n_selected is 0"),
        ({"objective": "fame"}, "objective is 'fame'"),
        ({"hashing_bits": 31}, "hashing_bits is 31"),
    ],
)
def test_a_number_out_of_bounds_is_a_sentence(options, sentence):
    with pytest.raises(ParameterError, match=sentence):
        Categorizer(**options).fit(TEXTS, LABELS)


def test_nothing_left_is_a_sentence():
    with pytest.raises(DocumentError, match="No feature is left"):
        Categorizer(min_df=100).fit(TEXTS, LABELS)


@pytest.mark.parametrize(
    "place",
    [
        ("features", "text", "char_ngram_range", [2**63, 2**63]),
        ("features", "text", "min_length", 10**9),
        ("features", "parameters", "min_df", {"runs": -2}),
        ("features", "parameters", "select_by", 7),
        ("parameters", None, "ngram_range", [10**7, 10**8]),
        ("parameters", None, "unheard_of", 1),
        ("learner", "params", "max_iter", 2**70),
        ("learner", "params", "aggressiveness", "much"),
    ],
)
def test_a_header_out_of_bounds_is_refused(place, tmp_path):
    Categorizer(**SPACE).fit(TEXTS, LABELS).save(tmp_path / "m")
    header, tensors = read_model(tmp_path / "m")
    part, inner, name, value = place
    (header[part] if inner is None else header[part][inner])[name] = value
    write_model(tmp_path / "m", header, tensors)
    with pytest.raises(ModelError):
        Categorizer.load(tmp_path / "m")


def test_features_stand_alone():
    features = Features(FeatureParameters(min_df={"runs": 2}), {"kind": "binary"}, TextCounter())
    counts = features.count(["a rose is a rose"], grow=True)
    assert features.apply(counts).values.tolist() == [1.0, 1.0] and counts.lengths.tolist() == [3]
