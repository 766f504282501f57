"""The report: what it counts equals slow twins, and the page works in a real browser."""

import html
import json
import re
import subprocess
import sys
from html.parser import HTMLParser
from importlib.resources import files
from itertools import product

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from thresher import Categorizer, Decisions, evaluate
from thresher.cli.evaluate import show_table
from thresher.cli.main import app
from thresher.decisions.calibration import ReliabilityCurve
from thresher.documents import from_texts
from thresher.errors import OutputError
from thresher.evaluation import Contingency, read_measure
from thresher.evaluation.names import MEASURES, Measure
from thresher.evaluation.significance import bootstrap_intervals
from thresher.report import Report, charts, explanation_page, write_report
from thresher.report.confusions import confusions
from thresher.report.curves import threshold_curves
from thresher.report.markup import attributes, breakable, name, sentence, short
from thresher.report.verdict import certainty, intervals_of, is_one_each, sentences, weakest
from thresher.report.worst import LONGEST_EXCERPT, WorstErrors, excerpt

HOSTILE = [
    "<script>window.broken = 1</script>",
    "</script><script>window.broken = 2</script>",
    '"><img src=x onerror="window.broken = 3">',
    "'; window.broken = 4; //",
    "&lt;b&gt; &amp;",
    "\u202egrain\u202e and עברית",
    "🌾🚢 emoji",
    "w" * 10_000,
    "--> ]]> ${window.broken = 5} {{7*7}}",
    "\0 and \ud800",
]


def make_documents(n, n_categories=12, seed=0, names=None, labels_each=2):
    """Return texts and labels: each category has words of its own, and some are shared."""
    random = np.random.default_rng(seed)
    names = names or [f"category {c}" for c in range(n_categories)]
    texts, labels = [], []
    for _ in range(n):
        chosen = random.choice(len(names), random.integers(1, labels_each + 1), replace=False)
        words = [f"word{c}x{random.integers(6)}" for c in chosen for _ in range(4)]
        words += [f"common{random.integers(30)}" for _ in range(10)]
        words += [f"word{random.integers(len(names))}x{random.integers(6)}" for _ in range(3)]
        texts.append("\n".join(random.permutation(words)))
        labels.append([names[c] for c in chosen])
    return texts, labels


@pytest.fixture(scope="module")
def categorizer():
    return Categorizer().fit(*make_documents(400))


@pytest.fixture(scope="module")
def page(categorizer, tmp_path_factory):
    """The report of a model with twelve categories, of which documents have one or two."""
    path = tmp_path_factory.mktemp("report") / "report.html"
    texts, labels = make_documents(200, seed=1)
    labels[0] = ["never learned"]
    write_report(
        path, categorizer, texts, labels, title="Twelve", provenance={"Documents": "made up"}
    )
    return path


@pytest.fixture(scope="module")
def hostile_page(tmp_path_factory):
    """The report of a model whose categories, words and texts try to break it."""
    path = tmp_path_factory.mktemp("report") / "hostile.html"
    texts, labels = make_documents(150, names=HOSTILE)
    texts = [f"{HOSTILE[i % len(HOSTILE)]}\n{text}" for i, text in enumerate(texts)]
    model = Categorizer(tokens="whitespace").fit(texts[:100], labels[:100])
    write_report(
        path,
        model,
        texts[100:],
        labels[100:],
        title=HOSTILE[1],
        provenance=dict.fromkeys(HOSTILE, HOSTILE[2]),
    )
    return path


# What is counted --------------------------------------------------------------------------------


def random_case(seed, n=40, n_categories=4):
    random = np.random.default_rng(seed)
    scores = random.normal(size=(n, n_categories)).round(1)  # rounded, so that some are tied
    labels = random.random(scores.shape) < 0.3
    thresholds = random.normal(size=n_categories).round(2) + 0.005
    return scores, labels, thresholds


@given(st.integers(0, 10_000), st.sampled_from([8, 20, 200]))
def test_a_curve_counts_what_each_threshold_would_assign(seed, most):
    scores, labels, thresholds = random_case(seed)
    decisions = Decisions(thresholds=thresholds)
    evaluation = evaluate(scores, labels, decisions=decisions.decide(scores))
    curves = threshold_curves(evaluation, decisions, most)
    assert list(curves) == np.flatnonzero(labels.any(axis=0)).tolist()
    for c, curve in curves.items():
        above = scores[:, c] > curve.thresholds[:, None]
        assert curve.assigned.tolist() == above.sum(axis=1).tolist()
        assert curve.hits.tolist() == (above & labels[:, c]).sum(axis=1).tolist()
        assert (np.diff(curve.assigned) < 0).all() and curve.assigned[-1] == 0
        assert curve.thresholds[curve.chosen] == thresholds[c]
        assert curve.hits[0] == curve.n_positives == labels[:, c].sum()
        assert len(curve.thresholds) <= most + 2


@pytest.mark.parametrize("allow_none", [False, True])
def test_a_curve_of_one_category_each_counts_what_the_rule_decides(allow_none):
    random = np.random.default_rng(3)
    scores, thresholds = random.normal(size=(60, 3)), random.normal(size=3)
    labels = np.eye(3, dtype=bool)[random.integers(0, 3, 60)]
    decisions = Decisions("single-label", thresholds, allow_none=allow_none)
    evaluation = evaluate(scores, labels, decisions=decisions.decide(scores))
    curves = threshold_curves(evaluation, decisions)
    assert list(curves) == [0, 1, 2]
    for c, curve in curves.items():
        for threshold, assigned, hits in zip(
            curve.thresholds, curve.assigned, curve.hits, strict=True
        ):
            moved = thresholds.copy()
            moved[c] = threshold
            chosen = Decisions("single-label", moved, allow_none=allow_none).decide(scores)[:, c]
            assert (assigned, hits) == (chosen.sum(), (chosen & labels[:, c]).sum())


@given(seed=st.integers(0, 10_000))
def test_confusions_equal_a_count_by_hand(seed):
    scores, labels, thresholds = random_case(seed, n=12)
    decided = scores > thresholds
    n, expected = labels.shape[1], {}
    for item, given_ in zip(labels, decided, strict=True):
        missed = np.flatnonzero(item & ~given_).tolist() or [n]
        wrong = np.flatnonzero(given_ & ~item).tolist() or [n]
        for pair in product(missed, wrong):
            expected[pair] = expected.get(pair, 0) + 1
    expected.pop((n, n), None)
    confused = confusions(evaluate(None, labels, decisions=decided))
    counted = zip(confused.missed, confused.given, confused.documents, strict=True)
    assert {(int(m), int(g)): int(k) for m, g, k in counted} == expected
    assert (np.diff(confused.documents) <= 0).all()
    for category in range(n):
        its = {(category, other): times for other, times in confused.given_for(category)}
        assert its == {pair: k for pair, k in expected.items() if pair[0] == category}


@pytest.mark.parametrize("mode", ["multi-label", "single-label"])
def test_the_worst_errors_are_the_same_however_documents_are_cut_into_batches(mode):
    random = np.random.default_rng(5)
    names = [f"c{i}" for i in range(5)]
    scores = random.normal(size=(90, 5))
    decisions = Decisions(mode, np.zeros(5))
    labels = [[names[c]] for c in random.integers(0, 5, 90)]
    documents = [str(i) for i in range(90)]
    results = []
    for size in (90, 7):
        worst, start = WorstErrors(names, decisions, most=6), 0
        for batch in from_texts(documents, labels, batch_size=size):
            rows = scores[start : start + len(batch)]
            worst.see(batch, rows, decisions.decide(rows))
            start += len(batch)
        results.append([(item.kind, item.category, item.text, item.margin) for item in worst])
    assert results[0] == results[1]
    kinds = [kind for kind, *_ in results[0]]
    assert kinds.count("wrong") == 6
    assert kinds.count("missed") == (6 if mode == "multi-label" else 0)


def test_the_worst_errors_of_one_category_are_those_with_the_largest_margins():
    scores = np.random.default_rng(6).normal(size=(50, 1))
    belongs = np.random.default_rng(7).random(50) < 0.5
    decisions = Decisions(thresholds=[0.25])
    worst = WorstErrors(["grain"], decisions, most=5)
    texts = [str(i) for i in range(50)]
    [batch] = from_texts(texts, [["grain"] if belong else [] for belong in belongs])
    worst.see(batch, scores, decisions.decide(scores))
    margins = scores[:, 0] - 0.25
    missed = sorted(-margins[belongs & (margins <= 0)], reverse=True)[:5]
    wrong = sorted(margins[~belongs & (margins > 0)], reverse=True)[:5]
    assert [item.margin for item in worst] == pytest.approx(missed + wrong)
    for item in worst:
        assert item.margin == pytest.approx(abs(margins[int(item.text)]))


def test_a_missed_category_that_the_model_does_not_know_is_an_error():
    decisions = Decisions("multi-label", thresholds=[0.5])
    worst = WorstErrors(["grain"], decisions)
    [batch] = from_texts(["0", "1", "2"], [["grain", "oil"], ["oil"], []])
    scores = np.array([[2.0], [-1.0], [0.0]])
    worst.see(batch, scores, decisions.decide(scores))
    errors = [(error.kind, error.category, error.text, error.margin) for error in worst]
    assert errors == [("missed", "oil", "1", 1.5), ("missed", "oil", "0", 0.0)]


def test_an_excerpt_keeps_the_words_that_matter_and_the_verdict(categorizer):
    text = " ".join(["common1"] * 2000 + ["word3x1", "word3x2"] + ["common2"] * 2000)
    explanation = categorizer.explain(text, "category 3")
    cut = excerpt(explanation)
    assert len(cut.text) < 1600 and "word3x1" in cut.text
    assert cut.verdict() == explanation.verdict()
    shown = {cut.text[a:b] for a, b, _ in cut.spans}
    assert "word3x1" in shown and shown <= {"common1", "word3x1", "word3x2", "common2"}
    short_one = categorizer.explain("\n\n word3x1 common1 \n", "category 3")
    assert excerpt(short_one).text == "word3x1 common1"


def test_the_strongest_words_are_those_of_the_categorizer(categorizer, page, tmp_path):
    text = page.read_text(encoding="utf-8")
    for category in categorizer.categories_:
        for word, weight in categorizer.strongest(category, 12)[0]:
            assert f"{name(word)}<span>+{weight:.2f}</span>" in text
    hashed = Categorizer(hashing_bits=10).fit(["wheat", "oil"], ["grain", "crude"])
    write_report(tmp_path / "hashed.html", hashed, ["wheat"], ["grain"])
    assert "Words for it" in text and "Words for it" not in (tmp_path / "hashed.html").read_text()


# What comes first -------------------------------------------------------------------------------


def one_each(confusion, names=None):
    """Return the evaluation of documents of one category each, from how many went where."""
    n = len(confusion)
    pairs = [
        pair
        for pair in product(range(n), range(n + 1))
        for _ in range((*confusion[pair[0]], 0)[pair[1]])
    ]
    chosen, given_ = np.array(pairs).T
    eyes = np.vstack([np.eye(n, dtype=bool), np.zeros(n, bool)])
    return evaluate(None, eyes[chosen], names or list("abcdefgh"[:n]), decisions=eyes[given_])


def plain(evaluation):
    text = " ".join(sentences(evaluation, intervals_of(evaluation)))
    return html.unescape(re.sub("<[^>]*>", "", text))


def head(report):
    """Return the text of the page above its sections."""
    above = report.to_html().partition("<body>")[2].partition("<nav")[0]
    return " ".join(html.unescape(re.sub("<[^>]*>", " ", above)).split())


def test_two_sentences_say_how_good_it_is_and_where_it_is_weakest():
    evaluation = one_each(
        [[280, 20, 0], [10, 190, 0], [15, 2, 83]], ["Sales", "Graphics", "Support"]
    )
    assert is_one_each(evaluation)
    assert plain(evaluation) == (
        "92 % of the 600 documents got the right category (95 % interval: 89 to 95 %). The weakest "
        "category is Support, where 83 of 100 documents were found."
    )
    shown = head(Report(evaluation))
    assert "47 of 600 documents got a wrong category, of 3 categories." in shown
    assert "missed" not in shown
    assert "Sales → Graphics" in shown and "20 of 47 misclassified documents" in shown


def test_what_is_wrongly_given_can_be_what_is_weak():
    evaluation = one_each([[100, 60, 0], [0, 40, 0], [0, 0, 200]])
    assert "category is b, where 60 of 100 assigned documents do not belong." in plain(evaluation)


def test_few_documents_are_said_and_not_overclaimed():
    assert plain(one_each([[4, 0], [0, 2]])) == (
        "Only 6 documents were measured, too few to judge: 6 of 6 got the right category (95 % "
        "interval: 60 to 100 %). No category has 10 documents here, too few to judge one by itself."
    )
    right = one_each([[300, 0, 0], [0, 290, 0], [0, 0, 3]])
    assert plain(right) == (
        "All 593 documents got the right category (95 % interval: 99 to 100 %). "
        "No category with enough documents had an error; 1 of the 3 categories has fewer than 10 "
        "documents here, too few to judge."
    )
    assert "100.0 – 100.0" not in head(Report(right))  # a bootstrap without errors has no width
    nearly = one_each([[1000, 1], [0, 1000]])
    assert plain(nearly).startswith("More than 99 % of the 2,001 documents got the right category")


def test_a_model_that_is_no_better_than_none_is_called_that():
    blind = one_each([[90, 0], [10, 0]], ["ham", "spam"])
    assert (
        "Always answering ham would be right for 90 %; the weakest category is spam, where 0 of 10"
        in plain(blind)
    )
    assert "lways answering" not in plain(one_each([[90, 0], [2, 8]]))


def test_several_categories_and_one_have_sentences_of_their_own():
    truth = np.zeros((200, 2), bool)
    truth[:120, 0] = truth[100:, 1] = True
    decided = truth.copy()
    decided[:12, 0], decided[190:, 0] = False, True
    several = evaluate(None, truth, ["grain", "ship"], decisions=decided)
    assert not is_one_each(several)
    assert plain(several).startswith(
        "On 200 documents, precision is 95 % (95 % interval: 92 to 99 %) and recall 95 % (91 to "
    )
    assert "category is grain, where 108 of 120 documents were found." in plain(several)
    assert "12 were missed" in head(Report(several)) and "wrong category" not in head(
        Report(several)
    )
    single = evaluate(None, truth[:, :1], ["grain"], decisions=decided[:, :1])
    assert re.fullmatch(
        r"For grain, precision is 92 % \(95 % interval: 85 to 96 %\) and recall 90 % \(83 to "
        r"95 %\) on 200 documents.", plain(single)
    )  # fmt: skip
    for nothing, expected in ((decided[:, :1] & False, "gave no category"), (None, "No document")):
        labels = truth[:, :1] & (nothing is not None)
        decisions = decided[:, :1] if nothing is None else nothing
        assert expected in plain(evaluate(None, labels, ["grain"], decisions=decisions))


def test_the_weakest_category_is_not_one_of_a_few_documents():
    assert weakest(one_each([[60, 40, 0], [0, 100, 0], [2, 0, 1]])) == 0
    assert weakest(one_each([[50, 0], [0, 50]])) is None
    blind = head(Report(one_each([[50, 0, 0], [50, 0, 0], [0, 0, 9]])))
    assert "Weakest category b F1\xa00.0: 0 of 50 found, never assigned" in blind.replace(
        "F1 ", "F1\xa0"
    )


@pytest.mark.parametrize("block", [1, 10**6])
def test_the_least_certain_are_those_near_another_decision(monkeypatch, block):
    monkeypatch.setattr("thresher.report.verdict.SCORES_PER_BLOCK", block)
    scores = np.array([[2.0, 1.5, -1.0], [0.1, -3.0, -3.0], [1.0, -1.0, -0.5]])
    evaluation = evaluate(scores, np.eye(3))
    for decisions, expected in [
        (Decisions("single-label").grow(3), [0.5, 3.1, 1.5]),
        (Decisions("single-label", allow_none=True).grow(3), [0.5, 0.1, 1.0]),
        (Decisions().grow(3), [1.0, 0.1, 0.5]),
    ]:
        assert certainty(evaluation, decisions) == pytest.approx(expected)
    assert certainty(evaluate(None, np.eye(3), decisions=np.eye(3)), Decisions()) is None
    undecided = evaluate(np.array([[-1.0, -1.1, -3.0]]), np.eye(3)[:1])
    decisions = Decisions("single-label", allow_none=True).grow(3)
    assert certainty(undecided, decisions) == pytest.approx([1.0])  # not 0.1


def test_the_cards_tell_four_different_things():
    random = np.random.default_rng(3)
    chosen = np.repeat([0, 1, 2], 40)
    scores = np.eye(3)[chosen] + random.normal(size=(120, 3)) / 2
    decisions = Decisions("single-label").grow(3)
    evaluation = evaluate(
        scores, np.eye(3)[chosen], ["a", "b", "c"], decisions=decisions.decide(scores)
    )
    text = Report(evaluation, decisions).to_html()
    cards = re.findall(r'<div class="figure"><h2>(.*?)</h2>', text)
    assert cards == [
        "Accuracy",
        "Weakest category",
        "Most frequent confusion",
        "Least certain tenth",
    ]
    wrong = ~(evaluation.decisions == np.eye(3)[chosen]).all(axis=1)
    ranked = np.argsort(np.sort(scores)[:, 2] - np.sort(scores)[:, 1], kind="stable")
    shown = head(Report(evaluation, decisions))
    assert (
        f"{wrong[ranked[:12]].sum()} of {wrong.sum()} documents with an error are among the 12"
        in shown
    )
    decisions.allow_none, decisions.thresholds = True, np.full(3, 1.0)
    evaluation = evaluate(scores, np.eye(3)[chosen], decisions=decisions.decide(scores))
    n_open = int((~evaluation.decisions.any(axis=1)).sum())
    assert n_open > 5 and f"; {n_open} got no category." in head(Report(evaluation, decisions))
    assert f"No category assigned {n_open} of 120" in head(Report(evaluation, decisions))


@pytest.mark.parametrize(
    ("sizes", "is_drawn"), [((30, 30, 30), False), ((20, 30, 39), False), ((10, 30, 60), True)]
)
def test_a_plot_that_is_one_column_is_not_drawn(sizes, is_drawn):
    confusion = np.diag(sizes)
    text = Report(one_each(confusion), mistakes=[3], learning_curve=[(10, 0.5)]).to_html()
    assert ("F1 and size" in text) == is_drawn
    assert "Corrections while" not in text and "Learning curve" not in text


def test_errors_say_where_a_document_belongs_and_where_it_went(tmp_path):
    texts = ["wheat corn", "oil barrel", "ship port"] * 5
    model = Categorizer().fit(texts, ["grain", "crude", "ship"] * 5)
    write_report(tmp_path / "r.html", model, ["wheat corn", "oil barrel"], ["ship", "crude"])
    text = (tmp_path / "r.html").read_text(encoding="utf-8")
    heading = f"<strong>{name('ship')}&nbsp;→ {name('grain')}</strong>"
    assert heading in text


def test_how_it_was_made_names_the_second_look_and_no_threads(tmp_path, monkeypatch):
    model = Categorizer(n_jobs=2).fit(["wheat corn", "oil barrel"] * 5, ["grain", "crude"] * 5)
    assert model.summary()["options"] == "all default"
    with_look = model.summary() | {"second_look": "by trees"}
    monkeypatch.setattr(Categorizer, "summary", lambda self: with_look)
    write_report(tmp_path / "r.html", model, ["wheat"], ["grain"])
    text = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "<dt>Second look</dt><dd>by trees</dd>" in text and "n_jobs" not in text


# What is written --------------------------------------------------------------------------------


class Tags(HTMLParser):
    """Collects the tags and the text of a page, and finds tags that are not closed in order."""

    void = ("meta", "input", "wbr")

    def __init__(self):
        super().__init__()
        self.open, self.seen, self.attributes, self.text = [], [], [], []

    def handle_starttag(self, tag, attrs):
        self.seen.append(tag)
        self.attributes += attrs
        if tag not in self.void:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.seen.append(tag)
        self.attributes += attrs

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)


def parse(page):
    tags = Tags()
    tags.feed(page if isinstance(page, str) else page.read_text(encoding="utf-8"))
    assert tags.open == []
    return tags


def test_every_section_is_there_and_the_page_needs_nothing_else(page):
    text = page.read_text(encoding="utf-8")
    tags = parse(text)
    for section in ("pictures", "categories", "cards", "confusion", "errors", "provenance"):
        assert ("id", section) in tags.attributes
    assert "never learned" in text and "made up" in text and "Thresher" in text
    assert not re.search(r"https?:|url\(|@import|<link|<iframe", text)
    assert not [key for key, _ in tags.attributes if key == "src" or key.startswith("on")]


def test_equal_data_give_equal_pages(categorizer, page, tmp_path):
    texts, labels = make_documents(200, seed=1)
    labels[0] = ["never learned"]
    again = tmp_path / "again.html"
    write_report(
        again, categorizer, texts, labels, title="Twelve", provenance={"Documents": "made up"}
    )
    assert again.read_bytes() == page.read_bytes()
    assert [file.name for file in tmp_path.iterdir()] == ["again.html"]


def test_the_report_measures_as_the_categorizer_does(categorizer, tmp_path):
    texts, labels = make_documents(60, seed=2)
    evaluation = write_report(tmp_path / "report.html", categorizer, texts, labels)
    assert evaluation.to_dict() == categorizer.evaluate(texts, labels).to_dict()


def test_hostile_names_and_texts_stay_text(hostile_page):
    tags = parse(hostile_page)
    assert tags.seen.count("script") == 2 and "img" not in tags.seen
    assert not [key for key, _ in tags.attributes if key.startswith("on")]
    runs = re.findall("w+", hostile_page.read_text(encoding="utf-8"))
    assert 59 <= max(map(len, runs)) <= LONGEST_EXCERPT  # of 10,000
    assert hostile_page.stat().st_size < 1_000_000


@given(st.text())
def test_markup_never_lets_a_text_out(text):
    for markup in (name(text), breakable(text), sentence(text), f"<b{attributes(title=text)}></b>"):
        without = re.sub(
            r"</?bdi( class=whole)?( title=\"[^\"]*\")?>|<wbr>|<b title=\"[^\"<>]*\"></b>",
            "",
            markup,
        )
        assert "<" not in without and '"' not in without
    shown = text.replace("\0", "\ufffd")
    assert html.unescape(breakable(text).replace("<wbr>", "")) == html.unescape(html.escape(shown))
    assert len(short(text)) <= 60


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("wheat and corn", "wheat and…"),
        ("wheat and c orn", "wheat and c…"),
        ("wheat " + "w" * 40, "wheat wwwww…"),
        ("w" * 40, "w" * 11 + "…"),
    ],
)
def test_a_cut_is_before_a_word_unless_it_is_long(text, expected):
    assert short(text, 12) == expected


@pytest.mark.slow
@pytest.mark.parametrize("n_categories", [1, 2, 95, 1500])
def test_any_number_of_categories_fits_on_a_page(n_categories):
    random = np.random.default_rng(0)
    scores = random.normal(size=(600, n_categories)).astype(np.float32)
    labels = random.random(scores.shape) < 2 / (n_categories + 1)
    names = [f"a category called {c}" for c in range(n_categories)]
    text = Report(evaluate(scores, labels, names)).to_html()
    assert len(text.encode()) < 2_000_000
    tags = parse(text)
    assert tags.seen.count("details") == min(n_categories, 250)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("score", [1.0, -1.0])
@pytest.mark.parametrize("shape", [(1, 1), (4, 2), (3, 3)])
@pytest.mark.parametrize("belongs", [0, 1])
def test_figures_that_cannot_be_computed_are_dashes(score, shape, belongs):
    evaluation = evaluate(np.full((shape[0], min(shape[1], 2)), score), np.full(shape, belongs))
    text = Report(evaluation).to_html()
    parse(text)
    shown = re.sub("<style>.*?</style>|<script>.*?</script>", "", text, flags=re.DOTALL)
    assert "nan" not in shown and (">–<" in shown) == (not belongs)


def test_decisions_without_scores_have_a_page_too(tmp_path):
    shifted = np.roll(np.eye(3), 1, axis=1)
    evaluation = evaluate(None, np.eye(3), ["a", "b", "c"], decisions=shifted)
    Report(evaluation, title="No scores", date="2024-02-29").save(tmp_path / "report.html")
    text = (tmp_path / "report.html").read_text()
    assert (
        "Learning curve" not in text
        and "No scores" in text
        and "2024-02-29" in text
        and 'data-curve="' not in text
    )


def test_one_of_anything_is_one():
    drawn = [
        charts.size_chart([("rare", 1, 0.5, None), ("earn", 20, 0.5, None)]),
        charts.corrections_chart([2, 1]),
        charts.learning_chart([(1, 0.2), (2, 0.5)]),
        charts.reliability_chart(ReliabilityCurve(*map(np.array, ([0.5], [1.0], [1])))),
    ]
    ones = ["50.0, 1 document<", "pass 2: 1 correction<", "1 document: F1", ", 1 pair<"]
    for chart, item in zip(drawn, ones, strict=True):
        assert item in chart
    assert "20 documents<" in drawn[0] and "after 1 document and" in drawn[2]


def test_a_learning_curve_is_drawn_when_there_is_one():
    evaluation = evaluate(None, np.eye(3), decisions=np.eye(3))
    text = Report(evaluation, learning_curve=[(4000, 0.875), (500, 0.612)]).to_html()
    parse(text)
    assert "F1 is 61.2 percent after 500 documents and 87.5 after 4,000." in text


def test_probabilities_are_shown_when_there_are_some(tmp_path):
    texts, labels = make_documents(200, labels_each=1)
    model = Categorizer().fit(texts, labels)
    numbers = [model.categories_.index(item) for [item] in labels]
    model.decisions_.calibrate(model.scores(texts), np.eye(12)[numbers])
    write_report(tmp_path / "report.html", model, texts, labels)
    text = (tmp_path / "report.html").read_text()
    assert "Reliability of probabilities" in text and "Accuracy" in text


def test_a_place_that_cannot_be_written_is_told_before_the_work(categorizer, tmp_path):
    def documents():
        raise AssertionError("the documents were read")
        yield

    for place, why in ((tmp_path, "is a folder"), (tmp_path / "no" / "x.html", "does not exist")):
        with pytest.raises(OutputError, match=why):
            write_report(place, categorizer, documents())


def test_the_command_line_writes_the_page(categorizer, tmp_path):
    model, data, page = tmp_path / "m.thresher", tmp_path / "data.jsonl", tmp_path / "r.html"
    categorizer.save(model)
    texts, labels = make_documents(50, seed=4)
    lines = [json.dumps({"text": t, "labels": item}) for t, item in zip(texts, labels, strict=True)]
    data.write_text("\n".join(lines))
    command = ["evaluate", str(model), str(data), "--report", str(page), "--json"]
    result = CliRunner().invoke(app, command)
    assert result.exit_code == 0 and json.loads(result.stdout)["documents"] == 50
    assert str(page) in result.stderr
    first = parse(page).text
    assert str(data) in "".join(first)
    # From standard input, which can be read only once, the same.
    result = CliRunner().invoke(
        app, ["evaluate", str(model), "-", "--report", str(page)], input=data.read_text()
    )
    assert result.exit_code == 0 and "standard input" in "".join(parse(page).text)
    result = CliRunner().invoke(app, ["evaluate", str(model), str(data), "--report", str(tmp_path)])
    assert result.exit_code == 2 and "is a folder" in result.stderr
    result = CliRunner().invoke(app, [*command[:-1], "--title", "Tickets <May>"])
    assert result.exit_code == 0 and "<h1>Tickets &lt;May&gt;</h1>" in page.read_text()
    assert str(data) in "".join(parse(page).text)  # in how it was made
    result = CliRunner().invoke(app, ["evaluate", str(model), str(data), "--title", "Tickets"])
    assert result.exit_code == 2 and "give --report FILE too" in result.stderr


def luminance(colour):
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return float(np.dot(linear, (0.2126, 0.7152, 0.0722)))


@pytest.mark.parametrize("scheme", [0, 1], ids=["light", "dark"])
def test_text_can_be_read_on_its_ground(scheme):
    style = files("thresher.report").joinpath("page.css").read_text()
    colours = dict(
        re.findall(r"--([\w-]+): (#\w{6});", style.split("*, ::before")[0].split("@media")[scheme])
    )
    for ink, ground in [
        *product(("ink", "soft", "accent", "bad"), ("paper", "panel")),
        *product(("ink", "soft"), ("good-wash", "bad-wash")),
        ("ink", "wash"),
        ("ink", "grey"),
    ]:
        light, dark = sorted((luminance(colours[ink]), luminance(colours[ground])), reverse=True)
        assert (light + 0.05) / (dark + 0.05) >= 4.5, f"{ink} on {ground}"


def test_a_new_measure_is_one_property_and_one_line(monkeypatch, capsys):
    """It is then computed, averaged, resampled, and shown in every table."""
    specificity = property(lambda table: 1 - table.fallout)
    monkeypatch.setattr(Contingency, "specificity", specificity, raising=False)
    line = Measure("specificity", "decisions", "always", needs_positives=False)
    monkeypatch.setitem(MEASURES, "specificity", line)
    scores, labels, _ = random_case(0)
    evaluation = evaluate(scores, labels)
    assert evaluation.per_category["specificity"] == pytest.approx(
        1 - evaluation.per_category["fallout"]
    )
    value = read_measure(evaluation, "macro_specificity")
    assert 0 < value < 1 and value == pytest.approx(evaluation.per_category["specificity"].mean())
    interval = bootstrap_intervals(scores, labels, measures=["macro_specificity"], n_resamples=50)
    assert interval["macro_specificity"].low < value < interval["macro_specificity"].high
    monkeypatch.setenv("COLUMNS", "120")
    show_table(evaluation, top=20)
    for table in (str(evaluation), capsys.readouterr().out, Report(evaluation).to_html()):
        assert "specificity" in table


WITHOUT_EXTRAS = """
import sys
import warnings
warnings.simplefilter("ignore")  # it is measured on the documents that it has learned
sys.modules |= dict.fromkeys(["scipy", "sklearn", "matplotlib", "simplemma"])
from thresher import Categorizer, compare
from thresher.report import write_report
texts = ["cheap pills", "lunch today", "cheap watches", "see you today"] * 8
labels = ["spam", "ham", "spam", "ham"] * 8
model = Categorizer(objective="f1", calibrate="isotonic").fit(texts, labels)
model.tune(texts, labels, "precision=0.9", calibrate="isotonic")
model.predict_proba(texts)
evaluation = write_report(sys.argv[1], model, texts, labels)
comparison = compare({"a": model, "b": Categorizer("perceptron", objective="f1")}, texts, labels)
print(evaluation.micro["f1"], comparison.t_test("b", "macro_f1").p_value)
"""


def test_everything_but_the_extras_works_without_them(tmp_path):
    command = [sys.executable, "-c", WITHOUT_EXTRAS, str(tmp_path / "report.html")]
    finished = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (finished.stdout, finished.stderr) == ("1.0 1.0\n", "")
    assert "Reliability" in (tmp_path / "report.html").read_text()


# What is seen -----------------------------------------------------------------------------------


SIZES = pytest.mark.parametrize("width", [390, 1280])
SCHEMES = pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
FIRST = "[...document.querySelectorAll('.sortable tbody tr')].map(r => r.cells[{}].textContent)"


@SIZES
@SCHEMES
@pytest.mark.parametrize("which", ["page", "hostile_page"])
def test_the_page_fits_its_window(browser, request, which, width, dark):
    browser.open(request.getfixturevalue(which), width=width, dark=dark)
    browser.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true })")
    wide, room = browser.evaluate(
        "[document.documentElement.scrollWidth, document.documentElement.clientWidth]"
    )
    assert wide <= room == width
    # Nor does anything inside stick out or hide behind a scroll bar of its own.
    assert (
        browser.evaluate(
            "[...document.querySelectorAll('main *, header *')].filter(e => !e.closest('svg') && "
            f"e.getBoundingClientRect().right > {width} + 0.5).map(e => e.outerHTML.slice(0, 80))"
        )
        == []
    )
    paper = browser.evaluate("getComputedStyle(document.body).backgroundColor")
    assert paper == ("rgb(22, 21, 18)" if dark else "rgb(251, 250, 246)")
    assert browser.errors == [] and browser.requests == [request.getfixturevalue(which).as_uri()]


BROKEN = r"""(() => {
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT), broken = [];
  const range = document.createRange();
  for (let node; node = walk.nextNode();) {
    if (node.parentElement.closest('svg, script, style, option')) continue;
    for (const word of node.data.matchAll(/[\p{L}\p{N}.,+−–%]+/gu)) {
      if (word[0].length > 20) continue; // which may have no room on a phone
      range.setStart(node, word.index);
      range.setEnd(node, word.index + word[0].length);
      const seen = [...range.getClientRects()].filter(one => one.width > 0);
      if (new Set(seen.map(one => Math.round(one.top))).size > 1) broken.push(word[0]);
    }
  }
  return broken;
})()"""  # the words and numbers that stand on two lines
EVERYTHING = """document.querySelectorAll('details').forEach(one => { one.open = true });
document.querySelectorAll('.card').forEach(one => one.classList.add('current'))"""


def test_no_word_and_no_number_is_broken_on_a_phone(browser, tmp_path):
    names = [
        f"{first} {second}"
        for first in ("Telecommunications", "Interdepartmental", "HR.recruiting.unsolicited")
        for second in (
            "questions_about_data",
            "reimbursements/claims",
            "Rindfleischetikettierungsgesetz",
        )
    ]
    texts, labels = make_documents(300, names=names, labels_each=1)
    texts = [text.replace("common1", "pharmaceutical administration") for text in texts]
    model = Categorizer().fit(texts[:200], [item for [item] in labels[:200]])
    claimed = [labels[i if i % 4 else 499 - i][0] for i in range(200, 300)]  # a quarter is not so
    write_report(tmp_path / "r.html", model, texts[200:], claimed)
    (tmp_path / "e.html").write_text(explanation_page(model.explain(texts[0])))
    for page in ("r.html", "e.html"):
        browser.open(tmp_path / page, width=390)
        browser.evaluate(EVERYTHING)
        assert browser.evaluate("document.documentElement.scrollWidth") == 390
        assert browser.evaluate(BROKEN) == [] and browser.errors == []
        assert browser.evaluate("document.querySelectorAll('details[open] td').length") > 20


def test_a_name_goes_to_the_next_line_rather_than_in_two(browser, tmp_path):
    names = ["talk.religion.misc", "talk.politics.guns", "rec.sport.hockey", "sci.med", "rec.autos"]
    Report(one_each(9 * np.eye(5, dtype=int) + 1, names)).save(tmp_path / "r.html")
    browser.open(tmp_path / "r.html", width=390)
    browser.evaluate(EVERYTHING)
    lines = browser.evaluate(
        "[...document.querySelectorAll('bdi')].map(e => { const r = document.createRange();"
        "r.selectNodeContents(e); const tops = [...r.getClientRects()].map(one => one.top);"
        "return new Set(tops).size; })"
    )
    assert set(lines) == {1} and len(lines) > 50


def test_a_name_from_right_to_left_turns_no_sentence_round(browser, tmp_path):
    texts, labels = ["قمح ذرة", "نفط برميل"] * 5, ["الحبوب", "النفط الخام"] * 5
    model = Categorizer(mode="multi-label").fit(texts, [[label] for label in labels])
    (tmp_path / "e.html").write_text(explanation_page(model.explain("قمح", "النفط الخام")))
    browser.open(tmp_path / "e.html")
    first = "document.querySelector('.thresher-explanation b')"
    left, right, end = browser.evaluate(
        f"[...{first}.childNodes, {first}].map(e => {{ const r = document.createRange();"
        "r.selectNode(e); return r.getBoundingClientRect().x; })"
    )
    assert left == end < right  # the name, then what is said of it
    direction = "getComputedStyle(document.querySelector('[style*=pre-wrap]')).unicodeBidi"
    assert browser.evaluate(direction) == "plaintext"  # the text is read as it was written


def test_hostile_text_does_nothing_in_a_browser(browser, hostile_page):
    browser.open(hostile_page)
    assert browser.evaluate("window.broken") is None
    assert browser.evaluate("document.querySelectorAll('script').length") == 2
    shown = browser.evaluate("[...document.querySelectorAll('#pick option')].map(o => o.text)")
    assert {HOSTILE[0], HOSTILE[1], HOSTILE[2], HOSTILE[4], HOSTILE[6]} <= set(shown)
    assert max(map(len, shown)) == 60


def test_a_click_on_a_heading_sorts_and_a_second_one_turns_round(browser, page):
    browser.open(page)
    sizes = [int(n) for n in browser.evaluate(FIRST.format(1))]
    assert sizes == sorted(sizes, reverse=True)
    browser.click(".sortable th:nth-child(6) button")  # F1
    f1 = browser.evaluate(FIRST.format(5))
    values = [float(v) for v in f1 if v != "–"]
    assert values == sorted(values, reverse=True) and len(set(values)) > 3
    browser.click(".sortable th:nth-child(6) button")
    turned = [float(v) for v in browser.evaluate(FIRST.format(5)) if v != "–"]
    assert turned == values[::-1]
    assert browser.evaluate("document.querySelector('[aria-sort=ascending]').textContent") == "F1"
    browser.click(".sortable th:first-child button")
    names = browser.evaluate(FIRST.format(0))
    assert names[:3] == ["category 0", "category 1", "category 10"]
    assert browser.errors == []


def test_the_table_is_sorted_with_the_keyboard_too(browser, page):
    browser.open(page)
    browser.evaluate("document.querySelector('.sortable th button').focus()")
    browser.press("Enter")
    assert browser.evaluate(FIRST.format(0))[0] == "category 0"


def test_typing_filters_the_table(browser, page):
    browser.open(page)
    visible = "[...document.querySelectorAll('.sortable tbody tr')].filter(r => !r.hidden).length"
    assert browser.evaluate(visible) == 13
    browser.click("#find")
    browser.type("CATEGORY 1")
    assert browser.evaluate(visible) == 3
    assert (
        browser.evaluate("document.querySelector('#matches').textContent") == "3 of 13 categories"
    )


def test_the_slider_moves_the_threshold_and_the_figures_follow(browser, page):
    browser.open(page)
    card = ".card.current"
    read = f"[...document.querySelectorAll('{card} td.moved')].map(d => d.firstChild.data)"
    rows = f"[...document.querySelectorAll('{card} .figures tbody tr')]"
    decided = browser.evaluate(f"{rows}.map(r => r.cells[1].textContent)")
    before = browser.evaluate(read)
    assert before == decided
    browser.evaluate(f"document.querySelector('{card} input[type=range]').focus()")
    spot = f"document.querySelector('{card} circle.moved').getAttribute('cx')"
    place = browser.evaluate(spot)
    browser.press("ArrowRight", 8)
    after = browser.evaluate(read)
    precision, recall, f1, given_, right, wrong, missed, micro = map(float, after)
    assert given_ < float(before[3]) and recall < float(before[1])
    assert precision == pytest.approx(100 * right / given_, abs=0.06)
    assert f1 == pytest.approx(200 * right / (2 * right + wrong + missed), abs=0.06)
    assert micro != float(before[7]) and browser.evaluate(spot) != place
    browser.press("End")
    assert browser.evaluate(read)[:4] == ["–", "0.0", "0.0", "0"]
    browser.click(f"{card} .ends button")
    assert browser.evaluate(read) == before
    assert browser.errors == []


def test_a_link_shows_the_card_of_its_category(browser, page):
    browser.open(page)
    title = "document.querySelector('.card.current h3').textContent"
    first = browser.evaluate(title)
    last = browser.evaluate(
        "document.querySelector('.sortable tbody tr:nth-child(5) a').textContent"
    )
    browser.click(".sortable tbody tr:nth-child(5) a")
    assert last != first
    browser.until(f"{title} === {json.dumps(last)}")
    assert browser.evaluate("document.querySelector('#pick').selectedOptions[0].text") == last
    assert browser.evaluate("document.querySelectorAll('.card.current').length") == 1
    top = "document.querySelector('#cards').getBoundingClientRect().top"
    browser.until(f"0 <= {top} && {top} < 99")
    browser.click("#before")
    browser.until(f"!{json.dumps([first, last])}.includes({title})")


def test_many_rows_are_shown_when_they_are_asked_for(browser, tmp_path):
    random = np.random.default_rng(0)
    scores = random.normal(size=(100, 40))
    Report(evaluate(scores, random.random(scores.shape) < 0.2)).save(tmp_path / "report.html")
    browser.open(tmp_path / "report.html")
    visible = "[...document.querySelectorAll('.sortable tbody tr')].filter(r => !r.hidden).length"
    assert browser.evaluate(visible) == 25
    browser.click("#more")
    assert browser.evaluate(visible) == 40


def test_the_page_can_be_read_without_script(browser, page):
    browser.open(page, script=False)
    snapshot = browser.text()
    assert (
        "category 11" in snapshot
        and "micro" in snapshot
        and "Corrections while learning" in snapshot
    )
    assert "assign more" not in snapshot  # controls that could do nothing are not there


@pytest.mark.parametrize("n_categories", [1, 2])
def test_few_categories_make_a_sound_page(browser, tmp_path, n_categories):
    scores = np.random.default_rng(1).normal(size=(50, n_categories))
    labels = scores + np.random.default_rng(2).normal(size=scores.shape) > 0.5
    Report(evaluate(scores, labels)).save(tmp_path / "report.html")
    browser.open(tmp_path / "report.html", width=390)
    assert browser.errors == []
    assert browser.evaluate("document.querySelectorAll('.card.current').length") == 1


@pytest.mark.slow
@pytest.mark.corpus
def test_the_report_of_reuters_is_small_and_sound(browser, data_dir, tmp_path):
    from thresher.corpora import load

    corpus = load("reuters21578:modapte,categories=R90")
    model = Categorizer().fit(corpus.documents("train"))
    evaluation = write_report(tmp_path / "r.html", model, corpus.documents("test"))
    assert evaluation.n_documents == 3299 and len(evaluation.categories) == 90
    assert (tmp_path / "r.html").stat().st_size < 2_000_000
    for width in (390, 1280):
        browser.open(tmp_path / "r.html", width=width)
        assert browser.evaluate("document.documentElement.scrollWidth") == width
        assert browser.errors == []
