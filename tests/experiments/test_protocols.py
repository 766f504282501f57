"""Protocols: who is tested on what, and that nothing of it was learned from."""

import json
import sys

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from thresher import Categorizer, DocumentError, OutputError, ParameterError
from thresher.cli.main import app
from thresher.corpora.standard_library import standard_library
from thresher.errors import MissingExtra
from thresher.evaluation.folds import hold_out, k_fold, stratified_k_fold
from thresher.experiments.comparison import compare
from thresher.experiments.curves import feature_curve, learning_curve
from thresher.experiments.progressive import progressive_validation
from thresher.experiments.protocols import CountedDocuments, cross_validate
from thresher.learners.online import PassiveAggressive
from thresher.report import plot
from thresher.rows import Labels

FAST = PassiveAggressive(max_iter=2)


@pytest.fixture(scope="module")
def library():
    """Texts and labels, shuffled, of a part of the standard library's documentation."""
    wanted = {"asyncio", "email", "logging", "http", "tkinter", "xml"}
    documents = [e for e in standard_library()[0] if e.labels[0] in wanted]
    order = np.random.default_rng(0).permutation(len(documents))[:400]
    return [documents[i].text for i in order], [documents[i].labels for i in order]


def part(lists, chosen):
    return [lists[i] for i in chosen]


# Folds -------------------------------------------------------------------------------------------

LABELS = st.lists(st.lists(st.integers(0, 5), max_size=3, unique=True), min_size=4, max_size=40)


@given(LABELS, st.integers(2, 4), st.integers(0, 3), st.booleans())
def test_folds_divide_the_documents(lists, n_folds, seed, stratified):
    labels = Labels.from_lists(lists, 6)
    if stratified:
        splits = stratified_k_fold(labels, n_folds, random_state=seed)
    else:
        splits = k_fold(len(lists), n_folds, random_state=seed)
    tested = np.concatenate([split.test for split in splits])
    assert sorted(tested) == list(range(len(lists)))
    sizes = [len(split.test) for split in splits]
    assert max(sizes) - min(sizes) <= 1
    for train, test in splits:
        assert sorted([*train, *test]) == list(range(len(lists)))


@given(st.lists(st.integers(0, 4), min_size=8, max_size=60), st.integers(2, 5))
def test_with_one_category_each_folds_are_stratified_exactly(categories, n_folds):
    splits = stratified_k_fold(Labels.from_lists([[c] for c in categories], 5), n_folds)
    for category in range(5):
        counts = [sum(categories[i] == category for i in split.test) for split in splits]
        assert max(counts) - min(counts) <= 1


@given(LABELS, st.integers(2, 4))
def test_documents_are_spread_by_their_rarest_category(lists, n_folds):
    counts = np.bincount([c for one in lists for c in one], minlength=6)
    rarest = [min(one, key=lambda c: (counts[c], c)) if one else None for one in lists]
    splits = stratified_k_fold(Labels.from_lists(lists, 6), n_folds)
    for category in set(rarest):
        spread = [sum(rarest[i] == category for i in split.test) for split in splits]
        assert max(spread) - min(spread) <= 1


@given(st.lists(st.integers(0, 3), min_size=4, max_size=60), st.integers(0, 3))
def test_hold_out_takes_its_share_of_every_category(categories, seed):
    labels = Labels.from_lists([[c] for c in categories], 4)
    [(train, test)] = hold_out(labels, 0.25, random_state=seed)
    assert len(test) == round(len(categories) / 4)
    assert sorted([*train, *test]) == list(range(len(categories)))
    for category in range(4):
        n = sum(categories[i] == category for i in test)
        assert abs(n - len(test) / len(categories) * categories.count(category)) <= 1


def test_training_documents_are_shuffled_and_the_seed_decides():
    labels = Labels.from_lists([[0]] * 50 + [[1]] * 50, 2)
    train = stratified_k_fold(labels)[0].train
    assert 12 <= np.count_nonzero(train[:40] < 50) <= 28  # neither category comes first
    again, other = (
        stratified_k_fold(labels)[0].train,
        stratified_k_fold(labels, random_state=1)[0].train,
    )
    assert (train == again).all() and not np.array_equal(train, other)


@pytest.mark.parametrize("n_folds", [0, 1, 11])
def test_a_number_of_folds_that_makes_no_sense(n_folds):
    with pytest.raises(ParameterError, match=f"into {n_folds} folds"):
        k_fold(10, n_folds)


@pytest.mark.parametrize("share", [0, 1, 0.01, -1])
def test_a_share_that_leaves_nothing(share):
    with pytest.raises(ParameterError, match="share to hold out"):
        hold_out(Labels.from_lists([[0]] * 10, 1), share)


# Counted once, learned anew ----------------------------------------------------------------------

OPTIONS = [
    {},
    {"ngram_range": (1, 2), "min_df": {"runs": 2}, "block_weights": {"runs": 0.5}},
    {"char_ngram_range": (3, 3)},
    {"ngram_range": None, "char_ngram_range": (2, 3), "min_df": 2},
    {"hashing_bits": 10, "min_df": 2},
    {"stem": True, "stop_words": True},
    {"n_selected": 200},
    {"max_df": 0.5, "max_features": 300},
    {"learner": "balanced-winnow"},
    {"learner": "naive-bayes"},
    {"strength": "tf-idf"},
    {"objective": "f1", "tune_folds": 2},
]


@pytest.mark.slow
@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_learning_from_counts_is_learning_from_texts_to_the_last_bit(library, options):
    texts, labels = library
    categorizer = Categorizer(**{"learner": FAST} | options)
    counted = CountedDocuments.read(categorizer, texts, labels)
    train, test = stratified_k_fold(counted.labels, 3)[1]
    fitted = counted.fit(categorizer, train)
    fresh = Categorizer(**{"learner": FAST} | options).fit(part(texts, train), part(labels, train))
    np.testing.assert_array_equal(fitted.score(counted, test), fresh.scores(part(texts, test)))
    np.testing.assert_array_equal(fitted.model.decisions.thresholds, fresh.decisions_.thresholds)
    assert not categorizer.is_fitted


@pytest.mark.parametrize("protocol", ["stratified", "k-fold", "hold-out"])
def test_cross_validation_is_its_definition(library, protocol):
    texts, labels = library
    labels = [[*one, "rare"] if i == 7 else one for i, one in enumerate(labels)]
    categorizer = Categorizer(FAST)
    result = cross_validate(categorizer, texts, labels, protocol=protocol, folds=3, random_state=5)
    numbers = {name: i for i, name in enumerate(sorted({n for one in labels for n in one}))}
    truth = Labels.from_lists([[numbers[n] for n in one] for one in labels], len(numbers))
    splits = {
        "stratified": lambda: stratified_k_fold(truth, 3, random_state=5),
        "k-fold": lambda: k_fold(len(texts), 3, random_state=5),
        "hold-out": lambda: hold_out(truth, random_state=5),
    }[protocol]()
    decided = []
    for evaluation, split in zip(result.evaluations, splits, strict=True):
        model = Categorizer(FAST).fit(part(texts, split.train), part(labels, split.train))
        expected = model.evaluate(part(texts, split.test), part(labels, split.test))
        assert evaluation.micro == pytest.approx(expected.micro)
        # The macro error counts categories that occur nowhere in the fold; `evaluate` knows none.
        for name in ("f1", "precision", "recall", "break_even", "average_precision"):
            assert evaluation.macro[name] == pytest.approx(expected.macro[name])
        decided += model.predict(part(texts, split.test))
    assert result.categories == list(numbers)
    assert [sorted(one) for one in decided] == [
        [result.categories[c] for c in np.flatnonzero(row)] for row in result.decided.to_dense()
    ]
    np.testing.assert_array_equal(result.truth.to_dense(), truth.to_dense()[result.tested])


def test_any_number_of_threads_gives_the_same(library):
    one, two = (
        cross_validate(Categorizer(FAST, n_jobs=threads), *library, folds=3) for threads in (1, 3)
    )
    assert [e.to_dict() for e in one.evaluations] == [e.to_dict() for e in two.evaluations]


def test_means_and_errors_are_those_of_the_folds(library):
    result = cross_validate(Categorizer(FAST), *library, folds=4)
    figures = [e.macro["f1"] for e in result.evaluations]
    assert result.mean("macro_f1") == pytest.approx(np.mean(figures))
    assert result.standard_error("macro_f1") == pytest.approx(np.std(figures, ddof=1) / 2)
    plain = json.loads(json.dumps(result.to_dict()))
    assert plain["measures"]["macro_f1"]["figures"] == pytest.approx(figures)
    assert f"{100 * result.mean('macro_f1'):.2f}" in str(result)
    alone = cross_validate(Categorizer(FAST), *library, protocol="hold-out")
    assert np.isnan(alone.standard_error("micro_f1"))
    assert alone.to_dict()["measures"]["micro_f1"]["standard_error"] is None
    assert "±" not in str(alone)
    assert result.whole().micro["f1"] == pytest.approx(result.mean("micro_f1"), abs=0.02)


def test_progress_is_told(library):
    reports = []
    cross_validate(Categorizer(FAST), *library, folds=2, progress=lambda *one: reports.append(one))
    assert {stage for stage, _, _ in reports} == {"reading", "cross-validating"}
    assert reports[-1] == ("cross-validating", 400, 1.0)


@pytest.mark.parametrize(
    ("how", "sentence"),
    [
        ({"protocol": "leave-one"}, "protocol is 'leave-one'"),
        ({"folds": 1}, "into 1 folds"),
        ({"protocol": "hold-out", "share": 2.0}, "share to hold out"),
    ],
)
def test_a_protocol_that_makes_no_sense(library, how, sentence):
    with pytest.raises(ParameterError, match=sentence):
        cross_validate(Categorizer(), *library, **how)


def test_nothing_to_validate():
    with pytest.raises(DocumentError, match="no documents"):
        cross_validate(Categorizer(), [], [])
    with pytest.raises(DocumentError, match="no labels"):
        cross_validate(Categorizer(), ["a text", "another"])


# Streams -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("batch_size", [30, 1000])
def test_each_batch_is_tested_before_it_is_learned(library, batch_size):
    texts, labels = library
    stream = progressive_validation(Categorizer(FAST), texts, labels, batch_size=batch_size)
    model, f1s, mistakes = Categorizer(FAST), [], 0
    hits = assigned = belonging = 0
    for start in range(0, len(texts), batch_size):
        some, own = texts[start : start + batch_size], labels[start : start + batch_size]
        decided = model.predict(some) if start else [[]] * len(some)
        for one, true in zip(decided, own, strict=True):
            hits += len(set(one) & set(true))
            assigned, belonging = assigned + len(one), belonging + len(true)
            mistakes += set(one) != set(true)
        f1s.append(2 * hits / (assigned + belonging))
        model.learn(some, own)
    assert stream.f1 == pytest.approx(f1s)
    assert stream.mistakes[-1] == mistakes
    assert stream.error[-1] == pytest.approx(mistakes / len(texts))
    assert stream.n_documents[-1] == len(texts)
    assert str(mistakes) in str(stream)
    json.dumps(stream.to_dict())


def test_a_stream_is_learned_and_gets_easier(library):
    texts, labels = library
    categorizer = Categorizer()
    stream = progressive_validation(categorizer, texts, labels, batch_size=50)
    assert categorizer.documents_seen_ == len(texts)
    assert stream.batch_f1[-1] > stream.batch_f1[1] > stream.batch_f1[0] == 0
    going_on = progressive_validation(categorizer, texts, labels, batch_size=50)
    assert going_on.batch_f1[0] > 0.8


def test_a_stream_that_makes_no_sense(library):
    with pytest.raises(ParameterError, match="batch_size is 0"):
        progressive_validation(Categorizer(), *library, batch_size=0)
    with pytest.raises(DocumentError, match="no documents"):
        progressive_validation(Categorizer(), [], [])
    with pytest.raises(DocumentError, match="no labels"):
        progressive_validation(Categorizer(), ["a text"])


# Curves ------------------------------------------------------------------------------------------


def test_learning_curve_ends_where_cross_validation_is(library):
    curve = learning_curve(Categorizer(FAST, n_jobs=2), *library, sizes=(1.0, 0.1), folds=3)
    whole = cross_validate(Categorizer(FAST), *library, folds=3)
    assert curve.numbers.tolist() == [27, 267]
    for measure in ("micro_f1", "macro_f1", "exact_match"):
        np.testing.assert_allclose(curve.measures[measure][1], whole.figures(measure))
    assert curve.mean("micro_f1")[0] < curve.mean("micro_f1")[1]
    assert curve.mean("training_error")[1] < curve.mean("micro_error")[1]
    assert [len(passes) for passes in curve.mistakes] == [2, 2, 2]
    assert all(later < first for first, later in curve.mistakes)
    json.dumps(curve.to_dict())
    assert "267" in str(curve)


def test_feature_curve_selects_within_the_training_documents(library):
    categorizer = Categorizer(FAST, select_by="information-gain")
    curve = feature_curve(categorizer, *library, numbers=(1_000_000, 50), folds=3)
    few = cross_validate(
        Categorizer(FAST, select_by="information-gain", n_selected=50), *library, folds=3
    )
    np.testing.assert_allclose(curve.measures["macro_f1"][0], few.figures("macro_f1"))
    assert curve.numbers[0] == 50 and 1_000 < curve.numbers[1] < 10_000
    assert curve.mean("micro_f1")[0] < curve.mean("micro_f1")[1]


@pytest.mark.parametrize("sizes", [(), (0.0, 1.0), (2.0,)])
def test_sizes_that_make_no_sense(library, sizes):
    with pytest.raises(ParameterError, match="sizes is"):
        learning_curve(Categorizer(), *library, sizes=sizes)


# Comparison --------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def compared(library):
    learners = {
        "good": Categorizer("passive-aggressive"),
        "poor": Categorizer(PassiveAggressive(max_iter=1, aggressiveness=0.001)),
        "same": Categorizer("passive-aggressive"),
    }
    return compare(learners, *library, folds=4)


def test_compared_are_cross_validated_on_the_same_folds(library, compared):
    alone = cross_validate(Categorizer("passive-aggressive"), *library, folds=4)
    np.testing.assert_array_equal(
        compared.results["good"].figures("micro_f1"), alone.figures("micro_f1")
    )
    assert compared.against == "good"
    assert compared.best["micro_f1"] == "good"


def test_differences_are_tested(compared):
    assert compared.t_test("poor", "micro_f1").stars == "**"
    assert compared.t_test("poor", "micro_f1").difference < 0
    assert compared.t_test("same", "micro_f1").p_value == 1
    assert compared.sign_test("poor").p_value < 0.01 and compared.sign_test("same").n == 0
    assert compared.category_t_test("poor").difference < 0
    plain = json.loads(json.dumps(compared.to_dict()))
    assert plain["learners"]["poor"]["tests"]["t_test_micro_f1"]["stars"] == "**"
    assert "tests" not in plain["learners"]["good"]


@pytest.mark.parametrize(
    ("learners", "how", "sentence"),
    [
        ({}, {}, "nothing to compare"),
        ({"a": Categorizer()}, {"against": "b"}, "against is 'b'.* compared: a"),
        ({"a": Categorizer()}, {"protocol": "hold-out"}, "over folds"),
    ],
)
def test_what_cannot_be_compared(library, learners, how, sentence):
    with pytest.raises(ParameterError, match=sentence):
        compare(learners, *library, **how)
    counted = CountedDocuments.read(Categorizer(FAST), *library)
    with pytest.raises(ParameterError, match="counted already"):
        compare({"a": Categorizer(FAST), "b": Categorizer(FAST, stem=True)}, counted)


# Pictures ----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def pictured(library, compared):
    stream = progressive_validation(Categorizer(FAST), *library)
    curve = learning_curve(Categorizer(FAST), *library, sizes=(0.5, 1), folds=2)
    features = feature_curve(Categorizer(FAST), *library, numbers=(9, 99), protocol="hold-out")
    return {"compared": compared, "stream": stream, "curve": curve, "features": features}


@pytest.mark.parametrize("name", ["compared", "stream", "curve", "features"])
def test_pictures_are_drawn(pictured, tmp_path, name):
    plot(pictured[name], tmp_path / "plot.png")
    assert (tmp_path / "plot.png").read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"
    with pytest.raises(ParameterError, match=r"plot\.docx"):
        plot(pictured[name], tmp_path / "plot.docx")
    with pytest.raises(OutputError, match="does not exist; make it first"):
        plot(pictured[name], tmp_path / "nowhere" / "plot.png")


def test_what_has_no_picture_is_told(tmp_path):
    with pytest.raises(ParameterError, match=r"A list cannot be drawn.*LearningCurve"):
        plot([], tmp_path / "plot.png")


def test_without_matplotlib_a_sentence_says_what_to_install(pictured, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(MissingExtra, match=r"thresher\[plots\]"):
        plot(pictured["stream"], tmp_path / "plot.png")


# The command line --------------------------------------------------------------------------------

runner = CliRunner()


def run(*words, status=0):
    result = runner.invoke(app, [str(word) for word in words])
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == status, result.stderr + result.stdout
    return result.stdout if status == 0 else result.stderr


@pytest.fixture
def data(library, tmp_path):
    path = tmp_path / "data.jsonl"
    lines = ({"text": t, "labels": one} for t, one in zip(*library, strict=True))
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def test_compare_prints_a_table_and_draws(data, tmp_path):
    words = ("compare", data, "--folds", 3, "--passes", 2, "--threads", 2)
    learners = "passive-aggressive:aggressiveness=0.001,perceptron"
    printed = run(*words, "--learners", learners, "--plot", tmp_path / "plot.svg")
    assert "macro-F1" in printed and "±" in printed and "**" in printed
    assert (tmp_path / "plot.svg").read_text().startswith("<?xml")


def test_compare_as_json(library, data):
    words = ("compare", data, "--folds", 3, "--learners", "perceptron,balanced-winnow", "--json")
    plain = json.loads(run(*words, "--against", "first", "--stem", "--ngrams", "1-2"))
    assert plain["against"] == "perceptron"
    expected = cross_validate(
        Categorizer("balanced-winnow", stem=True, ngram_range=(1, 2)), *library, folds=3
    )
    measures = plain["learners"]["balanced-winnow"]["measures"]
    assert measures["micro_f1"]["mean"] == pytest.approx(expected.mean("micro_f1"))


def test_compare_tunes_within_the_training_folds(library, data):
    words = ("compare", data, "--folds", 3, "--learners", "perceptron", "--objective", "f1")
    printed = run(*words, "--json")
    macro_f1 = json.loads(printed)["learners"]["perceptron"]["measures"]["macro_f1"]
    expected = cross_validate(Categorizer("perceptron", objective="f1"), *library, folds=3)
    assert macro_f1["figures"] == pytest.approx(expected.figures("macro_f1").tolist())


@pytest.mark.slow
def test_compare_takes_all_learners_by_default(data):
    from thresher.learners import LEARNERS

    plain = json.loads(run("compare", data, "--folds", 2, "--passes", 1, "--json"))
    assert list(plain["learners"]) == list(LEARNERS)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--learners", "magic"], "no learner 'magic'"),
        (["--learners", "perceptron", "--against", "magic"], "against is 'magic'"),
        (["--learners", "perceptron:beauty=1"], "beauty"),
        (["--beauty", "1"], "No such option: --beauty"),
        (["--ngrams", "two"], "--ngrams is 'two'"),
    ],
)
def test_bad_wishes_are_sentences(data, words, sentence):
    assert sentence in run("compare", data, *words, status=2)
