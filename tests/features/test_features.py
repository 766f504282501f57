"""The one line from texts to strengths: words, runs, parts and fields in one space."""

import math
import re
from collections import Counter
from copy import deepcopy
from itertools import pairwise

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from thresher import Categorizer, DocumentError, ModelError, ParameterError, TextCounter
from thresher.documents import read_documents
from thresher.experiments.progressive import progressive_validation
from thresher.experiments.protocols import CountedDocuments, cross_validate
from thresher.features import FeatureParameters, Features
from thresher.learners import make_learner
from thresher.model.storage import read_model, write_model
from thresher.model.train import fold_features
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
LONG = [text.replace(" ", "\n", 1) + 19 * " tonnes of" + " wheat\nand oil" for text in TEXTS]
SPACE = {
    "ngram_range": (1, 2),
    "char_ngram_range": (4, 4),
    "min_df": {"words": 1, "runs": 3, "parts": 3},
    "block_weights": {"runs": 0.9, "parts": 0.6},
}


ROWS = [
    {"subject": "Wheat up", "body": "Prices rose; exports of wheat fell."},
    {"subject": "Crude oil", "body": "Oil prices fell again"},
    {"subject": "Rotterdam", "body": "The port: ships, oil\nand wheat!"},
    {"subject": "", "body": "Crude \x1e prices fell"},
    {"subject": "Ships", "body": None},
    {"body": "wheat"},
] * 2
FIELDS = ("subject", "body")


def items(document, fields=()):
    """Return words, runs, parts and fields of a document as (block, name), in plain Python."""
    is_row = isinstance(document, dict)
    texts = [document.get(name) or "" for name in fields] if is_row else []
    text = "\n".join(texts) if is_row else document
    if fields == "first-line":
        texts, fields = [next((one for one in text.split("\n") if one.strip()), "")], [fields]
    if fields == "lead":
        line, *lines = [one for one in text.split("\n") if one.strip()]
        texts = [line, " ".join(" ".join(lines).split()[:40])]
        fields = ["first-line", "lead"]
    words = re.findall(r"\b\w\w+\b", text.lower())
    for field, one in zip(fields, texts, strict=False):
        for word in re.findall(r"\b\w\w+\b", one.lower()):
            yield "fields", f"{field}:{word}"
    parts = []
    for token in text.lower().split():
        padded = f" {token} "
        parts += [padded[i : i + 4] for i in range(max(1, len(padded) - 3))]
    yield from (("words", word) for word in words)
    yield from (("runs", f"{a} {b}") for a, b in pairwise(words))
    yield from (("parts", part) for part in parts)


def naive_strengths(texts, least, weights, fields=()):
    """Return the strengths of each text as the recipe has them, by name."""
    counts = [Counter(items(text, fields)) for text in texts]
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
    """Return the strengths that a model gives each text or row, by block and name."""
    rows, features = model.strengths(texts), model.features_
    names = features.names(rows.indices)
    blocks = [BLOCKS[block] for block in features.blocks[rows.indices]]
    entries = list(zip(blocks, names, rows.values.tolist(), strict=True))
    return [
        {(block, name): value for block, name, value in entries[start:end]}
        for start, end in zip(rows.indptr[:-1], rows.indptr[1:], strict=True)
    ]


@pytest.mark.parametrize(
    ("documents", "fields"),
    [(TEXTS, None), (TEXTS, "first-line"), (LONG, "lead"), (ROWS, FIELDS)],
)
def test_one_space_equals_the_recipe_in_plain_python(documents, fields):
    least = SPACE["min_df"] | {"fields": 3}
    weights = SPACE["block_weights"] | {"fields": 0.7}
    model = Categorizer(**SPACE | {"min_df": least, "block_weights": weights}, fields=fields)
    model.fit(documents, LABELS)
    expected = naive_strengths(documents, least, weights | {"words": 1}, fields or ())
    for got, wanted in zip(by_name(model, documents), expected, strict=True):
        assert got.keys() == wanted.keys()
        for item, value in wanted.items():
            assert got[item] == pytest.approx(value, rel=1e-5)
    blocks = {block for one in expected for block, _ in one}
    assert blocks == set(BLOCKS if fields else BLOCKS[:3])


# -- fields


@pytest.fixture
def tables(tmp_path):
    """Return the same rows in all the forms that have columns."""
    columns = {name: [row.get(name) for row in ROWS] for name in (*FIELDS, "more")}
    frame = pd.DataFrame(columns | {"team": LABELS})
    whole = frame.fillna("")
    whole.to_csv(tmp_path / "t.csv", index=False)
    whole.to_parquet(tmp_path / "t.parquet")
    frame.drop(columns="more").to_json(tmp_path / "t.jsonl", orient="records", lines=True)
    paths = [str(tmp_path / f"t.{suffix}") for suffix in ("csv", "parquet", "jsonl")]
    large = pa.table(columns).set_column(
        0, "subject", pa.array(columns["subject"], pa.large_string())
    )
    return [frame, pa.table(columns), large, *paths]


@pytest.mark.parametrize("hashing_bits", [None, 12])
def test_fields_are_the_same_from_rows_and_from_any_table(hashing_bits, tables):
    options = {"fields": FIELDS, "ngram_range": (1, 2), "hashing_bits": hashing_bits}
    model = Categorizer(**options).fit(ROWS, LABELS)
    expected = model.scores(ROWS)
    for table in tables:
        np.testing.assert_array_equal(model.scores(table), expected)
        is_path = isinstance(table, str)
        labelled = (read_documents(table, labels="team"),) if is_path else (table, LABELS)
        learned = Categorizer(**options).fit(*labelled)
        np.testing.assert_array_equal(learned.scores(ROWS), expected)
        assert learned.predict(table) == model.predict(ROWS)
        assert learned.score(*labelled) == model.score(ROWS, LABELS)


def test_a_column_can_be_common_text_and_no_field(tables, tmp_path):
    source = read_documents(tables[3], text=["body", "subject"], labels="team")
    model = Categorizer(preset="fast", fields="subject").fit(source)
    names = model.features_.names(np.arange(model.n_features))
    assert {"prices", "subject:wheat"} <= set(names) and "body:prices" not in names
    model.save(tmp_path / "m")
    model = Categorizer.load(tmp_path / "m")
    assert model.fields == "subject" and model.columns_.text == ("subject", "body")
    np.testing.assert_array_equal(model.scores(tables[3]), model.scores(ROWS))
    assert list(by_name(model, [ROWS[1]["body"]])[0]) == [
        ("words", word) for word in ("oil", "prices", "fell", "again")
    ]  # a plain text is common text


def test_the_words_of_a_field_tell_what_the_common_ones_cannot():
    pairs = [("wheat", "oil"), ("oil", "wheat")] * 4
    rows = [{"subject": subject, "body": body} for subject, body in pairs]
    labels = [subject for subject, _ in pairs]
    assert Categorizer(fields=FIELDS).fit(rows, labels).score(rows, labels) == 1.0
    texts = [f"{subject}\n{body}" for subject, body in pairs]
    assert Categorizer(preset="fast").fit(texts, labels).score(texts, labels) == 0.5
    assert Categorizer(fields="first-line").fit(texts, labels).score(texts, labels) == 1.0


def check_fields(features):
    """Check that the fields of columns are those in their names."""
    fields, numbers = features.fields(), {"first-line": 1, "lead": 2}
    names = features.names(np.arange(features.n_columns))
    assert fields.tolist() == [numbers.get(name.partition(":")[0], 0) for name in names]
    assert fields.dtype == np.uint8 and set(fields.tolist()) == {0, 1, 2}


LINES = [{}, {"concepts": [2, 3]}, {"n_selected": 40}, {"min_df": 2}]


@pytest.mark.parametrize("options", [*LINES, {"n_selected": 40, "concepts": 2}], ids=str)
def test_each_column_knows_its_field(options, tmp_path):
    model = Categorizer(ngram_range=(1, 2), fields="lead", **options).fit(LONG, LABELS)
    check_fields(model.features_)
    model.learn(["zebra quagga\nzebra ships"] * 3, ["sea"] * 3)
    check_fields(model.features_)
    features = deepcopy(model.features_)
    keep = np.arange(features.n_columns) % 3 > 0
    keep |= features.are_for_concepts()
    features.prune(keep)
    check_fields(features)
    np.testing.assert_array_equal(model.features_.narrowed(keep).fields(), features.fields())
    model.save(tmp_path / "m")
    loaded = Categorizer.load(tmp_path / "m").learn(["okapi\nokapi ports"] * 3, ["sea"] * 3)
    check_fields(loaded.features_)
    assert loaded.features_.n_columns > model.features_.n_columns


@pytest.mark.parametrize("options", [{}, {"hashing_bits": 9}], ids=str)
@pytest.mark.parametrize("more", LINES, ids=str)
@pytest.mark.parametrize("fields", ["first-line", "lead"])
def test_the_columns_of_a_fold_know_their_fields(fields, more, options):
    model = Categorizer(ngram_range=(1, 2), fields=fields, **options, **more)
    counted = CountedDocuments.read(model, LONG, LABELS)
    chosen = np.array([7, 1, 2, 0, 3, 9, 8])
    texts, labels = ([of_all[i] for i in chosen] for of_all in (LONG, LABELS))
    own = model.fit(texts, labels).features_
    part = counted.fit(model, chosen).model.features
    np.testing.assert_array_equal(part.fields(), own.fields())
    np.testing.assert_array_equal(part.blocks, own.blocks)


@pytest.mark.parametrize("n_concepts", [0, 3])
def test_a_part_of_a_fold_knows_its_fields_as_its_own_counter_does(n_concepts):
    options = {"ngram_range": (1, 2), "fields": "lead"}
    counted = CountedDocuments.read(Categorizer(preset="fast", **options), LONG, LABELS)
    whole, counts = counted.features, counted.counts
    for chosen in (np.arange(1, 10), np.arange(1, 6)):  # a fold, and one of its own folds
        counts = counts.take(chosen)
        whole = fold_features(FeatureParameters(), whole, make_learner("arow"), counts)
    counter = TextCounter(**options)
    counter.count(LONG[2:7])
    for ours, its in ((whole.blocks, counter.blocks), (whole.fields(), counter.field_numbers())):
        np.testing.assert_array_equal(ours, its)
    columns = whole.columns.after_concepts(n_concepts)
    blocks, fields = columns.of_counts()
    met = columns.numbers >= 0
    for ours, its in ((columns.blocks, blocks), (columns.fields, fields)):
        np.testing.assert_array_equal(ours[columns.numbers[met]], its[met])
        assert not its[~met].any()
    assert not columns.fields[:n_concepts].any()


def test_a_stream_of_rows_is_learned_as_a_table_is(tables):
    model, other = (Categorizer(fields=FIELDS, ngram_range=(1, 2)) for _ in range(2))
    for row, label in zip(ROWS, LABELS, strict=True):
        model.learn([row], [label])
    progressive_validation(other, tables[0], LABELS, batch_size=1)
    np.testing.assert_array_equal(model.scores(ROWS), other.scores(ROWS))
    assert cross_validate(other, ROWS, LABELS, folds=2).mean("micro_f1") > 0


def test_later_words_of_a_field_come_when_they_are_due(tmp_path):
    model = Categorizer(fields=FIELDS, min_df={"fields": 2}).fit(ROWS, LABELS)
    row, sides = {"subject": "zebra"}, []
    for path in ("first", "second"):
        model.learn([row], ["sea"]).save(tmp_path / path)
        model = Categorizer.load(tmp_path / path)
        sides.append(set(model.features_.names(np.arange(model.n_features))))
    assert [{"zebra", "subject:zebra"} & side for side in sides] == [
        {"zebra"},
        {"zebra", "subject:zebra"},
    ]


def test_linguistics_apply_to_fields():
    model = Categorizer(fields=FIELDS, stem=True, stop_words=True).fit(ROWS, LABELS)
    names = model.features_.names(np.arange(model.n_features))
    assert "subject:ship" in names and "body:price" in names and "body:the" not in names


def test_an_explanation_finds_the_words_of_a_field():
    model = Categorizer(preset="fast", fields=FIELDS).fit(ROWS, LABELS)
    explanation = model.explain({"subject": "Wheat", "body": "oil"}, "grain")
    shares = {one.feature: one for one in explanation.shares}
    rows = model.strengths([{"subject": "Wheat", "body": "oil"}])
    added, rest = model.learner_.contributions(rows, model.categories_.index("grain"))
    names = dict(zip(model.features_.names(rows.indices), added.tolist(), strict=True))
    own = names["wheat"] + names["subject:wheat"]  # a word in a field is that word
    assert shares["wheat"].own == pytest.approx(own) and names["subject:wheat"] != 0
    assert explanation.total == pytest.approx(float(added.sum() + rest[0]))
    places = [(explanation.text[start:end], share) for start, end, share in explanation.spans]
    assert ("Wheat", shares["wheat"].share) in places and ("oil", shares["oil"].share) in places
    assert explanation.text.split() == ["Wheat", "oil"]


@pytest.mark.parametrize("is_folder", [False, True])
def test_mail_has_fields(is_folder, tmp_path):
    message = "Subject: {subject}\nDate: today\n\n{body}\n"
    for number, row in enumerate(ROWS[:4]):
        folder = tmp_path / "mail" / LABELS[number]
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{number}.eml").write_text(message.format(**row), encoding="utf-8")
    model = Categorizer(fields="subject").fit(str(tmp_path / "mail"))
    assert model.columns_.text == ("subject", "body")
    source = str(tmp_path / "mail" / "oil" / ("" if is_folder else "1.eml"))
    rows = [ROWS[1], ROWS[3]] if is_folder else [ROWS[1]]
    np.testing.assert_array_equal(model.scores(source), model.scores(rows))


@pytest.mark.parametrize(
    ("documents", "sentence"),
    [
        ([{"title": "wheat"}], "a dict with 'title'; it must have 'subject' or 'body'"),
        ([{"subject": 3}], "'subject' of a document is 3, of type int"),
        (pa.table({"subject": ["a"], "text": ["b"]}), 'no column "body"; its columns are'),
        (pd.DataFrame({"Subject": ["a"], "body": ["b"]}), 'did you mean "Subject"'),
    ],
)
def test_documents_that_lack_a_field_get_a_sentence(documents, sentence):
    model = Categorizer(fields=FIELDS).fit(ROWS, LABELS)
    with pytest.raises(DocumentError, match=sentence):
        model.predict(documents)


def test_a_model_without_fields_refuses_rows():
    with pytest.raises(DocumentError):
        Categorizer().fit(TEXTS, LABELS).predict([{"subject": "wheat"}])


# -- growing, hashing, bounds


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
        ("features", "text", "char_ngram_range", [2**62, 2**62]),
        ("features", "text", "min_length", 10**9),
        ("features", "text", "fields", ["subject", 7]),
        ("features", "parameters", "min_df", {"runs": -2}),
        ("features", "parameters", "select_by", 7),
        ("parameters", None, "ngram_range", [10**7, 10**8]),
        ("parameters", None, "unheard_of", 1),
        ("learner", "params", "max_iter", 2**62),
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
