"""Explanations where words, runs of words and parts of words are counted together."""

import json
import re
from io import StringIO

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console
from sklearn.tree import DecisionTreeClassifier

from naive import explanation as naive
from naive.text import Counter
from thresher import Categorizer
from thresher.learners import Learner, NearestNeighbors
from thresher.report import explanation_fragment, explanation_page, explanation_text

TEXTS = [
    "Wheat exports rose; U.S.-grown wheat is cheap!!!!!",
    "the interest rate is up: $$$$ and rates rose",
    "Soviet wheat, Soviet grain (cheap grain)",
    "the dollar rate and the interest of the bank",
    "exports of grain rose and rose and rose",
    "a bank's $$$ and a dollar's rate",
] * 2
LABELS = ["grain", "money"] * 6
JOINT = {
    "ngram_range": (1, 2), "char_ngram_range": (5, 5), "min_df": {"runs": 2, "parts": 3},
    "block_weights": {"runs": 0.9, "parts": 0.6},
}  # fmt: skip
OPTIONS = [
    {},
    JOINT,
    {"ngram_range": (1, 3), "char_ngram_range": (2, 4)},
    {"ngram_range": (1, 3), "gaps": True, "char_ngram_range": None},
    {"ngram_range": (2, 4), "gaps": True, "hashing_bits": 12},
    {"ngram_range": None, "char_ngram_range": (3, 3)},
    {"ngram_range": (2, 2)},
    {"ngram_range": (2, 3), "char_ngram_range": (4, 4), "max_features": 60},
    JOINT | {"char_ngram_tokens": "words"},
    {"ngram_range": (1, 2), "char_ngram_range": (3, 3), "hashing_bits": 7},
    JOINT | {"stem": True, "stop_words": ["the", "of"]},
    JOINT | {"stem": True, "stop_words": ["the"], "char_ngram_tokens": "words"},
    JOINT | {"tokens": "book"},
    JOINT | {"tokens": "whitespace"},
    JOINT | {"token_pattern": r"[a-z]+(?:'s)?", "lowercase": True},
    JOINT | {"lowercase": False, "min_length": 1},
    *(JOINT | {"learner": name} for name in ("naive-bayes", "rocchio", "balanced-winnow")),
    *(JOINT | {"learner": name} for name in ("nearest-neighbors", "maximum-entropy")),
    *({"learner": name} for name in ("boosted-perceptrons", "multilayer-perceptron")),
    JOINT | {"learner": DecisionTreeClassifier(random_state=0)},
]
PIECES = [
    "wheat", "Wheat", "the", "interest", "rate", "rates", "u.s.-grown", "$$$$", "!!!!!", "rose",
    "a", "cheap-grain,", "(bank's)", "soviet", "grain", "é", "Straße", "\n", "12-34", "wheat/rate",
]  # fmt: skip
texts = st.lists(st.sampled_from(PIECES), max_size=14).map(" ".join)
any_texts = st.one_of(texts, st.text("İΣßa1.$ \n-wheat", max_size=30), st.text(max_size=20))


def name_of(options):
    return ",".join(f"{name}={value}" for name, value in options.items()) or "words"


@pytest.fixture(scope="module", params=OPTIONS, ids=name_of)
def categorizer(request):
    return Categorizer(**request.param).fit(TEXTS, LABELS)


@pytest.fixture(scope="module")
def joint():
    return Categorizer(**JOINT).fit(TEXTS, LABELS)


# Shares ------------------------------------------------------------------------------------------


@given(text=any_texts)
def test_shares_add_up_and_places_do_not_overlap(categorizer, text):
    score = categorizer.scores([text])[0, 0]
    explanation = categorizer.explain(text, "grain")
    assert explanation.score == pytest.approx(score, rel=1e-4, abs=1e-4)
    for one in explanation.shares:
        assert one.share == pytest.approx(one.own + one.parts + one.runs, abs=1e-12)
    names = [one.feature for one in explanation.shares]
    assert len(set(names)) == len(names)
    ends = [0, *(end for _, end, _ in explanation.spans)]
    for (start, end, _), before in zip(explanation.spans, ends, strict=False):
        assert before <= start < end <= len(text)
    always_on = categorizer.learner_.constant_name
    in_text = sum(one.share for one in explanation.shares if one.feature != always_on)
    if "İ" not in text:  # of which two words may have a half each, and one place
        assert sum(share for *_, share in explanation.spans) == pytest.approx(in_text, abs=1e-6)


@given(text=texts)
def test_shares_are_those_of_the_slow_twin(categorizer, text):
    features = categorizer.features_
    kinds = ("ngram_range", "char_ngram_range", "char_ngram_tokens", "hashing_bits", "linguistics")
    rules = ("gaps", "tokens", "token_pattern", "min_length", "lowercase")
    slow = Counter(**{name: getattr(features.counter, name) for name in kinds + rules})
    columns = {}
    if not features.is_hashed:
        named = zip(features.blocks.tolist(), features.counter.feature_names(), strict=True)
        columns = {feature: column for column, feature in enumerate(named)}

    def column_of(feature):
        block, words = feature
        name = " ".join("_" if word is None else word for word in words)
        return slow.column(feature) if features.is_hashed else columns.get((block, name))

    rows = features.apply(features.count([text]))
    added, _ = categorizer.learner_.contributions(rows, 0)
    wanted = dict(zip(rows.indices.tolist(), added.tolist(), strict=True))
    lines, at_places = naive.explain(text, slow, column_of, wanted)
    explanation = categorizer.explain(text, "grain")
    always_on = categorizer.learner_.constant_name
    shares = {one.feature: one for one in explanation.shares if one.feature != always_on}
    assert shares.keys() == lines.keys()
    for name, line in lines.items():
        own, parts, runs = shares[name].own, shares[name].parts, shares[name].runs
        assert (own, runs, parts) == pytest.approx(line, abs=1e-6)
    spans = {(start, end): share for start, end, share in explanation.spans}
    assert spans == pytest.approx({place: at_places.get(place, 0.0) for place in spans}, abs=1e-6)
    assert at_places.keys() <= spans.keys()


class Ones(Learner):
    """Every feature weighs one: a share is how often the feature stands there."""

    name = "ones"

    def fit_rows(self, examples, *, n_jobs=1, progress=None, watch=None):
        self.n_features, self.n_categories = examples.n_columns, examples.n_categories
        return self

    def score_rows(self, rows, n_jobs=1):
        numbers = np.repeat(np.arange(rows.n_rows), np.diff(rows.indptr))
        sums = np.bincount(numbers, rows.values, minlength=rows.n_rows)
        return np.tile(sums[:, None], self.n_categories).astype(np.float32)


def by_hand(text, **options):
    options = {"ngram_range": (1, 2), "char_ngram_range": (3, 3)} | options
    model = Categorizer(Ones(), strength="frequency", **options).fit([text, text], ["a", "b"])
    return model.explain(text, "a")


@pytest.mark.parametrize(
    ("text", "options", "lines"),
    [  # of each word: own, parts, runs
        ("red rose red", {}, {"red": (2, 6, 1), "rose": (1, 4, 1)}),
        ("red rose red", {"ngram_range": (1, 3)}, {"red": (2, 6, 1 + 2 / 3),
                                                   "rose": (1, 4, 1 + 1 / 3)}),
        ("red rose", {"ngram_range": (2, 2), "char_ngram_range": None},
         {"red": (0, 0, 0.5), "rose": (0, 0, 0.5)}),
        ("ab-cd", {}, {"ab": (1, 2.5, 0.5), "cd": (1, 2.5, 0.5)}),  # "b-c" is of both
        ("x-red $$$$", {"ngram_range": (1, 1)}, {"red": (1, 4, 0), "x-": (0, 1, 0),
                                                 "$$$$": (0, 4, 0)}),
        ("Abc-de", {"ngram_range": None, "char_ngram_range": (5, 5)},
         {"abc": (0, 1 + 3 / 4 + 2 / 4 + 1 / 3, 0), "de": (0, 1 / 4 + 2 / 4 + 2 / 3, 0)}),
        ("the rose", {"stop_words": ["the"]}, {"rose": (1, 4, 0), "the": (0, 3, 0)}),
        ("the rose", {"stop_words": ["the"], "char_ngram_tokens": "words"}, {"rose": (1, 4, 0)}),
    ],
)  # fmt: skip
def test_shares_by_hand(text, options, lines):
    explanation = by_hand(text, **options)
    assert {one.feature: (one.own, one.parts, one.runs) for one in explanation.shares} == {
        name: pytest.approx(line) for name, line in lines.items()
    }


def test_an_empty_text_has_no_words(joint):
    explanation = joint.explain("")
    assert [one.feature for one in explanation.shares] == ["(always on)"]
    assert explanation.spans == []


def test_a_place_has_the_share_of_that_place():
    assert by_hand("red rose Red").spans == [
        (0, 3, pytest.approx(1 + 3 + 0.5)), (4, 8, pytest.approx(6)), (9, 12, pytest.approx(4.5)),
    ]  # fmt: skip


def test_hashed_words_share_a_column_by_their_occurrences():
    explanation = by_hand("red red rose", hashing_bits=1, ngram_range=(1, 1), char_ngram_range=None)
    shares = {one.feature: one.share for one in explanation.shares}
    assert shares == {"red": pytest.approx(2), "rose": pytest.approx(1)}


# What is printed ---------------------------------------------------------------------------------


def printed(explanation):
    from rich.console import Console

    console = Console(width=100)
    with console.capture() as capture:
        console.print(explanation_text(explanation))
    return capture.get()


def test_portions_are_printed_and_said_as_data(joint):
    explanation = joint.explain("the interest rate, the wheat", "money")
    rate = next(one for one in explanation.shares if one.feature == "rate")
    assert rate.runs and rate.parts and rate.run in ("interest rate", "rate and")
    line = next(line for line in printed(explanation).splitlines() if f"in '{rate.run}'" in line)
    assert f"{rate.own:+.3f}    {rate.parts:+.3f}    {rate.runs:+.3f}" in printed(explanation)
    assert line.split()[0].startswith(("+", "-"))
    assert "share       own     parts      runs    word" in printed(explanation)
    assert f"rate  (itself {rate.own:+.3f}, parts {rate.parts:+.3f}, runs" in str(explanation)
    [data] = [one for one in explanation.to_dict()["shares"] if one["feature"] == "rate"]
    assert data == json.loads(json.dumps(data)) == {
        "feature": "rate", "share": rate.share, "own": rate.own, "parts": rate.parts,
        "runs": rate.runs, "run": rate.run, "concepts": 0.0, "concept": "",
        "strength": rate.strength, "weight": rate.weight,
    }  # fmt: skip


def test_words_alone_are_printed_with_strength_and_weight():
    model = Categorizer(preset="fast").fit(TEXTS, LABELS)
    explanation = model.explain("wheat rate", "grain")
    assert "share    strength    weight    feature" in printed(explanation)
    assert "(itself" not in str(explanation)


def test_every_place_is_coloured_once(joint):
    text = "U.S.-grown wheat & interest rate"
    fragment = explanation_fragment(joint.explain(text, "grain"))
    assert fragment.count('<span title="') == len(joint.explain(text, "grain").spans)
    assert ">wheat</span> &amp; <span" in fragment


def test_a_page_shows_shares_and_folds_away_what_they_are_made_of(joint):
    explanation = joint.explain("wheat & interest rate", "grain")
    page = explanation_page(explanation)
    shown, folded = page.split("<details>")
    assert f"<h1>Why {'' if explanation.chosen else 'not '}grain</h1>" in shown
    assert "<script" not in page
    assert shown.count('<th scope="col">') == 2 and ">share<" in shown
    assert "starting point" in shown and "(always on)" not in page
    assert "Parts of each share" in folded and ">runs<" in folded
    alone = Categorizer(preset="fast").fit(TEXTS, LABELS).explain("wheat rate", "money")
    assert "<details><summary>Strength and weight</summary>" in explanation_page(alone)
    assert "starting point" in printed(alone) and "(always on)" in str(alone)


@pytest.mark.parametrize("options", [{}, {"objective": "f1"}, {"mode": "multi-label"}], ids=str)
@pytest.mark.parametrize("most", [3, 20])
def test_the_shares_that_are_shown_add_up(most, options):
    words = [f"word{i}" for i in range(30)]
    texts, labels = [*TEXTS, " ".join(words)], [*LABELS, "grain"]
    model = Categorizer(preset="fast", **options).fit(texts, labels)
    assert model.decisions_.thresholds.any() == bool(options)
    explanation = model.explain(" ".join(words), "grain")
    n_others = len(explanation.shares) - most
    assert n_others > 10
    fragment = explanation_fragment(explanation, most)
    table = fragment[fragment.index("<tbody>") : fragment.index("</table>")]
    *shares, total = (float(one.replace("−", "-")) for one in re.findall("<td>([^<]*)</td>", table))
    shown = re.search("chosen, (?:score )?([-+.0-9]+[0-9])", explanation.verdict())
    assert total == float(shown[1]) and f"{n_others} smaller shares</th>" in table
    assert len(shares) == most + 1 + ("objective" in options)
    assert sum(shares) == pytest.approx(total, abs=5e-4 * len(shares))
    lines = str(explanation).splitlines()[1:-1]
    assert lines[10].endswith(f"from {len(explanation.shares) - 10} smaller words")
    assert sum(float(line.split()[0]) for line in lines) == pytest.approx(total, abs=6e-3)
    assert "smaller share" not in explanation_fragment(model.explain("wheat", "grain"))


def test_strongest_parts_are_marked():
    model = Categorizer(ngram_range=None, char_ngram_range=(5, 5)).fit(
        ["wheat wheat", "rate rate"], ["grain", "money"]
    )
    for_it, against_it = model.strongest("grain", 3)
    assert {name for name, _ in for_it} == {"·whea…", "…wheat…", "…heat·"}
    assert {name for name, _ in against_it} == {"·rate…", "…rate·"}


# The smallest change -----------------------------------------------------------------------------


@pytest.mark.parametrize("number", range(6))
@pytest.mark.parametrize("category", ["grain", "money"])
def test_the_smallest_change_is_made_in_the_text(joint, number, category):
    text = TEXTS[number] + "  Wheat rate."
    explanation = joint.explain(text, category)
    assert explanation.change is not None
    words, changed = explanation.change.features, text
    if explanation.change.action == "add":
        changed += "\n" + " ".join(words)
    else:
        for start, end, _ in reversed(explanation.spans):
            if text[start:end].lower() in words:
                changed = changed[:start] + " " + changed[end:]
    again = joint.explain(changed, category)
    assert again.chosen != explanation.chosen
    assert again.score == pytest.approx(explanation.change.score, abs=1e-5)


def test_words_that_become_neighbours_are_a_pair():
    """Without "not", "good" and "film" meet, and it is the pair that decides."""
    texts = ["good film", "good not film", "film", "good", "film good"]
    labels = ["yes", "no", "no", "no", "no"]
    model = Categorizer(ngram_range=(2, 2)).fit(texts * 4, labels * 4)
    explanation = model.explain("good not film", "yes")
    assert not explanation.chosen
    assert explanation.change.action == "remove" and explanation.change.features == ["not"]
    assert model.predict(["good film"]) == ["yes"]


def test_a_word_is_removed_wherever_it_stands():
    texts = ["wheat", "Wheat, wheat!", "rate"]
    model = Categorizer(**JOINT | {"min_df": 1}).fit(texts * 3, ["grain", "grain", "money"] * 3)
    change = model.explain("WHEAT: wheat-wheat rate", "grain").change
    assert change.features == ["wheat"]
    without = model.scores([" :  -  rate"])[0, model.categories_.index("grain")]
    assert change.score == pytest.approx(without, abs=1e-6)


def test_a_tree_is_explained_by_the_path_to_the_leaf():
    categorizer = Categorizer(learner="decision-tree").fit(TEXTS, LABELS)
    explanation = categorizer.explain("cheap wheat", "grain")
    tree, names = categorizer.tree("grain")
    (column,) = names
    right = int(tree.right[0])
    first, test = explanation.shares
    assert first.feature == "(the root of the tree)" and first.share == pytest.approx(0, abs=1e-6)
    answer = f"{names[column]} < {tree.threshold[0]:.3g} (0): 6 documents, P = 0.875"
    assert test.feature == answer and test.share == pytest.approx(np.log(7))
    assert explanation.score == pytest.approx(categorizer.scores(["cheap wheat"])[0, 0], abs=1e-6)
    assert f"{test.share:+.3f}  {answer}" in str(explanation)
    assert tree.n_documents[right] == 6 and explanation.unit == "test"
    with_it = categorizer.explain(f"{names[column]} " * 3, "grain")
    assert with_it.shares[1].feature.startswith(f"{names[column]} ≥ ") and not with_it.chosen
    assert sum(share for _, _, share in with_it.spans) == pytest.approx(with_it.shares[1].share)


def test_what_a_failed_test_of_a_tree_lacked_is_what_would_change_it():
    texts = ["oil rose", "oil fell", "gold rose", "gold fell", "tin rose", "tin fell"] * 3
    labels = [["oil"] if "oil" in text else [] for text in texts]
    categorizer = Categorizer(learner="decision-tree", objective=None).fit(texts, labels)
    change = categorizer.explain("rose", "oil").change
    assert change.action == "add" and change.features == ["oil"]


def test_neighbours_are_named_with_the_words_that_they_share():
    categorizer = Categorizer(NearestNeighbors(n_neighbors=1)).fit(TEXTS, LABELS)
    explanation = categorizer.explain("cheap soviet grain", "grain")
    first, second = explanation.neighbors  # the third document, which is there twice
    assert [first.document, second.document] == [3, 9]
    assert first.categories == ["grain"] and first.vote == second.vote == 0.5
    assert {word for word, _ in first.words} == {"cheap", "soviet", "grain"}
    assert sum(part for _, part in first.words) == pytest.approx(first.similarity)
    assert f"document 3 (grain): similarity {first.similarity:.3f}, vote 0.500, by" in str(
        explanation
    )
    assert json.loads(json.dumps(explanation.to_dict()))["neighbors"][1]["document"] == 9
    console = Console(width=90, file=StringIO())
    console.print(explanation_text(explanation))
    assert "shared words" in console.file.getvalue()
    assert "<li>document 9 (grain)" in explanation_fragment(explanation)
    assert categorizer.explain("zzz", "grain").neighbors[0].words == []


def test_many_neighbours_are_counted_not_listed():
    categorizer = Categorizer(NearestNeighbors(n_neighbors=12)).fit(TEXTS, LABELS)
    console = Console(width=90, file=StringIO())
    console.print(explanation_text(categorizer.explain("the rate of grain rose", "grain")))
    assert "from 2 more neighbours" in console.file.getvalue()
    fragment = explanation_fragment(categorizer.explain("the rate of grain rose", "grain"), 10)
    assert fragment.count("<li>") == 10 and "from 2 more neighbours</p>" in fragment


def test_what_is_shown_adds_up_where_one_of_several_thresholds_decides():
    texts = ["cheap pills", "lunch today", "cheap watches", "see you today"] * 3
    categorizer = Categorizer().fit(texts, ["spam", "ham"] * 6).learn(["office party"], ["social"])
    explanation = categorizer.explain("party today", "social")
    assert explanation.rival and explanation.threshold
    console = Console(width=80, file=StringIO())
    console.print(explanation_text(explanation))
    for shown in (str(explanation), console.file.getvalue()):
        numbers = re.findall(r"^ *([+-]\d\.\d{3}) ", shown, re.MULTILINE)
        assert sum(map(float, numbers)) == pytest.approx(explanation.score, abs=0.01)
        assert f"{-explanation.threshold:+.3f}" in numbers
