"""A model that stays as it is reads a few texts in one call, with the bits of the batches."""

import copy
import pickle
import random
import re
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from thresher import Categorizer, DocumentError, Perceptron
from thresher.decisions import Objective
from thresher.model import model as model_module
from thresher.model import single
from thresher.model.single import MOST_CHARACTERS

WORDS = ["wheat", "oil", "corn", "price", "prices", "rise", "fall", "say", "the", "of", "12", "7th"]
ODD = [
    "Ärger",
    "ÖL-preis",
    "İstanbul",
    "ΣΟΦΟΣ",
    "naïve",
    "e\u0301te\u0301",
    "日本語",
    "ไทย",
    "😀😀",
    "\ud800",
]
TOPICS = {"grain": "wheat corn farmers", "oil": "crude oil traders", "talk": "say the of 日本語"}


def documents(n, seed=0):
    """Return texts of few words and odd ones, and the topic of each."""
    chance, texts, labels = random.Random(seed), [], []
    for _ in range(n):
        topic = chance.choice(sorted(TOPICS))
        pool = WORDS + ODD + 4 * TOPICS[topic].split()
        glue = chance.choice([" ", ", ", "\n", " - ", "\x1e"])
        words = chance.choices(pool, k=chance.randrange(1, 40))
        texts.append(glue.join(chance.choice([str, str.upper, str.title])(word) for word in words))
        labels.append(topic)
    return texts, labels


TEXTS, LABELS = documents(60)
PROBES = [
    *documents(40, seed=1)[0], "", " ", "a", "unheard-of things", "!?", "wheat " * 1500,
    "x" * 3000, "oil " * (MOST_CHARACTERS // 3), " ".join(map(str, range(2000))), "Ölpreis " * 700,
    "日本語のテキスト、" * 400, "e\u0301te\u0301 日本ไทย " * 300,
    "\n", "\n\n Wheat\n", "oil\n\u0301corn", "\u0301oil\n日本" + "日本語\n" * 70, "ΣΟΦΟΣ\nΣ",
    "\x1eoil prices\x1ewheat\x1ecorn", "the\x1e\x1eoil", "oil\x1ewheat\x1ecorn\x1eof\x1ethe",
    "日本\x1e日本語", "e\x1e\u0301te\x1eΣΟΦΟΣ\x1e", "\x1e" * 9,
]  # fmt: skip

PLAIN = {"learner": "arow"}
OPTIONS = {
    "best": {"tune_folds": 0},
    "fast": {"preset": "fast"},
    "runs of three": PLAIN | {"ngram_range": (1, 3)},
    "pairs alone": PLAIN | {"ngram_range": (2, 2)},
    "gaps": PLAIN | {"ngram_range": (1, 3), "gaps": True},
    "parts alone": PLAIN | {"ngram_range": None, "char_ngram_range": (2, 4)},
    "parts of counted words": PLAIN
    | {"char_ngram_range": (1, 3), "char_ngram_tokens": "words", "ngram_range": (1, 2)},
    "frequent ones": PLAIN | {"ngram_range": (1, 2), "min_df": {"runs": 3}, "max_features": 40},
    "hashed": PLAIN | {"hashing_bits": 6},
    "hashed pairs": PLAIN | {"hashing_bits": 9, "ngram_range": (1, 2)},
    "hashed space": PLAIN | {"hashing_bits": 9, "ngram_range": (1, 2), "char_ngram_range": (3, 3)},
    "hashed parts": PLAIN | {"hashing_bits": 7, "ngram_range": None, "char_ngram_range": (2, 2)},
    "hashed and selected": PLAIN
    | {"hashing_bits": 9, "n_selected": 20, "block_weights": {"runs": 0.5}, "ngram_range": (1, 2)},
    "selected": PLAIN | {"n_selected": 15, "ngram_range": (1, 2)},
    "book tokens": PLAIN | {"tokens": "book"},
    "whitespace": PLAIN | {"tokens": "whitespace", "lowercase": False},
    "long words": PLAIN | {"min_length": 4},
    "pattern": PLAIN | {"token_pattern": r"[a-z]+"},
    "stems": PLAIN | {"stem": True, "stop_words": True},
    "fast stems": {"preset": "fast", "stem": True},
    "pairs of stems": PLAIN | {"stem": True, "stop_words": True, "ngram_range": (1, 2)},
    "stems and parts": PLAIN | {"stem": True, "char_ngram_range": (3, 3)},
    "stems in fields": PLAIN
    | {"stem": True, "stop_words": True, "fields": "lead", "ngram_range": (1, 2)},
    "hashed stems": PLAIN | {"stem": True, "stop_words": True, "hashing_bits": 9},
    "hashed stems in fields": PLAIN
    | {"stem": True, "hashing_bits": 9, "fields": "lead", "ngram_range": (1, 2)},
    "parts of stems": PLAIN
    | {"stem": True, "char_ngram_range": (2, 3), "char_ngram_tokens": "words"},
    "first line": PLAIN | {"fields": "first-line"},
    "lead": {"fields": "lead", "tune_folds": 0},
    "columns": PLAIN | {"fields": ("title", "text")},
    "pairs in fields": PLAIN | {"fields": ("title", "text", "notes"), "ngram_range": (2, 2)},
    "fields alone": PLAIN | {"fields": "lead", "ngram_range": None, "char_ngram_range": (3, 3)},
    "frequent ones in fields": PLAIN
    | {"fields": "lead", "min_df": {"fields": 3}, "max_features": 40, "ngram_range": (1, 2)},
    "selected in fields": PLAIN
    | {"fields": "lead", "n_selected": 20, "block_weights": {"fields": 0.5}},
    "hashed fields": PLAIN | {"fields": "lead", "hashing_bits": 9, "ngram_range": (1, 2)},
    "hashed field and parts": PLAIN
    | {"fields": "first-line", "hashing_bits": 9, "n_selected": 30, "char_ngram_range": (2, 3)},
    "hashed fields and parts alone": PLAIN
    | {"fields": "lead", "hashing_bits": 8, "ngram_range": None, "char_ngram_range": (2, 2)},
    "concepts and fields": PLAIN | {"concepts": 2, "fields": "lead"},
    "concepts": PLAIN | {"concepts": 2},
    "concepts of hashed columns": PLAIN | {"concepts": 2, "hashing_bits": 9, "n_selected": 20},
    "weighted blocks": PLAIN | {"char_ngram_range": (3, 3), "block_weights": {"parts": 0.3}},
    **{
        f"{kind}, {normalize}": PLAIN | {"strength": kind, "normalize": normalize}
        for kind, normalize in [
            ("binary", "none"), ("frequency", "sum"), ("sqrt", "sum"), ("log", "l2"),
            ("tf-idf", "none"), ("book", None),
        ]
    },
    "winnow": {"learner": "balanced-winnow"},
    "averaged": {"learner": Perceptron(average="examples", always_on=0.5)},
    "always on": {"learner": Perceptron(always_on=0.5)},
    "above a bar": {"learner": Perceptron(threshold=0.5)},
    "naive Bayes": {"learner": "naive-bayes"},
    "boosting": {"learner": "stump-boosting"},
    "calibrated": {"preset": "fast", "calibrate": "sigmoid", "tune_folds": 2},
}  # fmt: skip


@pytest.fixture(autouse=True)
def at_once(monkeypatch):
    """Build the compiled reader at the first text, small as the models are."""
    monkeypatch.setattr(model_module, "TEXTS_BEFORE_READER", 1)


def by_batches(model, texts):
    """Return scores and categories as they are for a batch."""
    features = model.model_.features
    scores = model.model_.score_rows(features.apply(features.count(texts)))
    decided = model.decide(scores)
    if model.decisions_.mode == "single-label":
        decided = [one[0] if one else None for one in decided]
    return scores, decided


def agree(model, texts=PROBES):
    """Check that texts one by one have the same bits and categories as all together."""
    scores, decided = by_batches(model, texts)
    one_by_one = np.concatenate([model.scores([text]) for text in texts])
    assert one_by_one.dtype == scores.dtype and one_by_one.tobytes() == scores.tobytes()
    assert [model.predict([text])[0] for text in texts] == decided
    assert model.predict(texts[:5]) == decided[:5]
    assert model.scores(texts[:5]).tobytes() == scores[:5].tobytes()


def is_frozen(model):
    return model.model_._reader is not None


@pytest.mark.parametrize("name", OPTIONS)
def test_the_bits_are_those_of_the_batches(name):
    model = Categorizer(**OPTIONS[name]).fit(TEXTS, LABELS)
    agree(model)
    assert is_frozen(model) == (name not in ("pattern", "parts of stems"))


def test_what_words_count_as_may_be_forgotten(monkeypatch):
    model = Categorizer(**OPTIONS["pairs of stems"]).fit(TEXTS, LABELS)
    monkeypatch.setattr(single, "MOST_SURFACE_FORMS", 5)
    agree(model)
    agree(model, PROBES[::-1])
    assert is_frozen(model)


def test_readers_in_threads_learn_words_by_themselves():
    model = Categorizer(**OPTIONS["pairs of stems"]).fit(TEXTS, LABELS)
    expected = {text: by_batches(model, [text])[0] for text in PROBES}
    expected = {text: scores.tobytes() for text, scores in expected.items()}

    def read(seed):
        texts = random.Random(seed).sample(PROBES, len(PROBES))
        return all(model.scores([text]).tobytes() == expected[text] for text in texts)

    for _ in range(8):  # each with a new reader, for which all has to be looked up
        model.model_.forget_reader()
        with ThreadPoolExecutor(4) as pool:
            assert all(pool.map(read, range(12)))
        assert is_frozen(model)


@pytest.mark.parametrize("name", ["best", "fast", "hashed space", "naive Bayes"])
def test_so_they_are_with_several_labels(name):
    labels = [
        [one, "short"] if len(text) < 60 else [one] for text, one in zip(TEXTS, LABELS, strict=True)
    ]
    model = Categorizer(**(OPTIONS[name] | {"mode": "multi-label", "tune_folds": 2})).fit(
        TEXTS, labels
    )
    agree(model)
    for limits in ({"at_least": 1}, {"at_least": 2, "at_most": 2}, {"at_least": 0, "at_most": 1}):
        agree(model.limit(**limits), PROBES[:20])
    assert model.rank([PROBES[0]], top=2) == [model.rank(PROBES)[0][:2]]


SEVERAL = [
    [one, "short", f"{i % 15}"] if len(text) < 60 else [one]
    for i, (text, one) in enumerate(zip(TEXTS, LABELS, strict=True))
]
LOOKS = {
    "best": {},
    "lead": {"fields": "lead"},
    "columns": {"fields": ("title", "text")},
    "words": {"preset": "fast"},
    "hashed": PLAIN | {"hashing_bits": 9, "fields": "first-line"},
    "selected": PLAIN | {"n_selected": 20, "fields": "lead"},
    "concepts": PLAIN | {"concepts": 2},
    "no weights": {"learner": "naive-bayes"},
    "above a bar": {"learner": Perceptron(threshold=0.5)},
}


@pytest.fixture
def looking(monkeypatch):
    """Return what trains a model with a second look, whether that is worth it or not."""
    monkeypatch.setattr(Objective, "is_worse", lambda *_: False)

    def train(**options):
        options = {"second_look": "trees", "mode": "multi-label", "tune_folds": 2} | options
        model = Categorizer(**options).fit(4 * TEXTS, 4 * SEVERAL)
        assert model.model_.second_look is not None
        return model

    return train


@pytest.mark.parametrize("judge", ["trees", "linear"])
@pytest.mark.parametrize("name", LOOKS)
def test_so_they_are_after_a_second_look(name, judge, looking):
    model = looking(**LOOKS[name], second_look=judge)
    agree(model)
    assert is_frozen(model)
    agree(model.limit(at_least=1, at_most=2), PROBES[:20])
    model.learn(["gold silver\nwheat", "gold silver"], [["metal"], ["metal", "grain"]])
    agree(model, PROBES[:20])
    model.delete_category("oil")
    agree(model, PROBES[:20])


def test_a_look_that_has_changed_is_noticed(looking):
    model, other = looking(), looking(second_look="linear")
    agree(model, PROBES[:12])
    for look in (other.model_.second_look, None):
        with model.shared_.changing() as inner:
            inner.second_look = look
        agree(model, PROBES[:12])
        assert is_frozen(model)


def test_many_threads_look_at_once(looking):
    model = looking(fields="lead")
    scores, decided = by_batches(model, PROBES)
    with ThreadPoolExecutor(4) as pool:
        read = list(
            pool.map(lambda text: (model.scores([text]), model.predict([text])), 5 * PROBES)
        )
    one_by_one, theirs = zip(*read, strict=True)
    assert np.concatenate(one_by_one).tobytes() == np.tile(scores, (5, 1)).tobytes()
    assert [one for (one,) in theirs] == 5 * decided
    assert is_frozen(model)


def test_decisions_of_one_label():
    model = Categorizer(preset="fast", calibrate="sigmoid", tune_folds=2).fit(TEXTS, LABELS)
    agree(model)
    agree(model.limit(allow_none=True))
    probable = np.concatenate([model.predict_proba([text]) for text in PROBES[:9]])
    assert probable.tobytes() == model.predict_proba(PROBES[:9]).tobytes()
    agree(model.limit(abstain_below=0.9))
    model.decisions_.thresholds[0] += 0.25
    agree(model)


def test_whatever_changes_the_model_shows_at_once():
    model = Categorizer(preset="fast").fit(TEXTS, LABELS)
    changes = [
        lambda: model.learn(["gold silver wheat", "gold silver"], ["metal", "metal"]),
        lambda: model.learn(["oil " * 3], ["oil"]),
        lambda: model.tune(TEXTS, LABELS, "f1"),
        lambda: model.rename_category("oil", "crude"),
        lambda: model.merge_categories("talk", "grain"),
        lambda: model.delete_category("metal"),
        lambda: model.forget(TEXTS[:1]),
        lambda: model.learn(TEXTS * 20, ["crude"] * 20 * len(TEXTS)),
        lambda: model.fit(TEXTS[:30], LABELS[:30]),
        lambda: model.fit(*documents(9, 5)),
    ]
    for change in changes:
        agree(model, PROBES[:12])
        assert is_frozen(model)
        change()
        agree(model, PROBES[:12])


def test_what_is_refused_leaves_the_model_as_it_was():
    model = Categorizer(preset="fast").fit(TEXTS, LABELS)
    before = model.scores([PROBES[0]])
    with pytest.raises(DocumentError, match="only"):
        model.learn(["gold"], [["metal"]], about=["oil"])
    assert model.scores([PROBES[0]]).tobytes() == before.tobytes()
    agree(model, PROBES[:12])


def test_one_category_and_a_matrix_of_zeros_and_ones():
    agree(Categorizer(preset="fast").fit(TEXTS, [[one] * (one == "oil") for one in LABELS]))
    matrix = np.array([[one == "oil", one == "grain"] for one in LABELS]).astype(int)
    model = Categorizer(preset="fast").fit(TEXTS, matrix)
    together = model.decisions_.decide(by_batches(model, PROBES)[0]).astype(np.int64)
    assert np.array_equal(np.concatenate([model.predict([text]) for text in PROBES]), together)


def test_a_model_is_frozen_when_it_has_stayed_as_it_is(monkeypatch):
    monkeypatch.setattr(model_module, "TEXTS_BEFORE_READER", 5)
    model = Categorizer(preset="fast").fit(TEXTS, LABELS)
    for _ in range(2):
        model.predict(["oil"])
    assert not is_frozen(model)
    model.learn(["oil"], ["oil"]).predict(["oil"])
    assert not is_frozen(model)
    model.rank(["oil", "corn", "wheat", "rye"])
    assert is_frozen(model)
    assert not is_frozen(model.limit(allow_none=True))


def test_copies_are_models_of_their_own():
    model = Categorizer(preset="fast").fit(TEXTS, LABELS)
    agree(model, PROBES[:5])
    for other in (copy.deepcopy(model), copy.copy(model), pickle.loads(pickle.dumps(model))):
        assert not is_frozen(other)
        assert other.scores([PROBES[0]]).tobytes() == model.scores([PROBES[0]]).tobytes()
        other.learn(["gold"], ["metal"])
        assert other.scores([PROBES[0]]).shape == (1, 4)
    agree(model, PROBES[:5])


def test_what_is_no_short_list_of_texts_goes_its_own_way(tmp_path):
    model = Categorizer(preset="fast").fit(TEXTS, LABELS)
    (tmp_path / "one.txt").write_text("crude oil")
    for given in (TEXTS, tuple(TEXTS[:2]), [], str(tmp_path)):
        model.scores(given)
    assert not is_frozen(model)
    with pytest.raises(DocumentError, match="int"):
        model.scores([7])


def test_room_is_used_again_and_has_an_end():
    model = Categorizer(tune_folds=0).fit(TEXTS, LABELS)
    for _ in range(3):
        agree(model)
    reader = model.model_._reader
    assert len(reader._workspaces) == 1
    assert reader._workspaces[0].size <= MOST_CHARACTERS


def test_many_categories_are_put_in_order_by_the_stations():
    names = [f"c{i}" for i in range(50)]
    labels = [names if i % 2 else names[:1] for i in range(len(TEXTS))]
    model = Categorizer(preset="fast", objective=None).fit(TEXTS, labels).limit(at_least=40)
    agree(model, PROBES[:10])
    assert len(model.predict([PROBES[0]])[0]) >= 40


@pytest.mark.parametrize("name", ["best", "fast", "book", "pattern"])
def test_lone_surrogates_score_alike_in_lists_of_any_length(name):
    options = {"book": PLAIN | {"tokens": "book"}, "pattern": PLAIN | {"token_pattern": r"\S+"}}
    model = Categorizer(**(options.get(name) or OPTIONS[name])).fit(TEXTS, LABELS)
    probes = ["\ud800 oil", "\ud83d", "ö\udc00 wheat\ud800", "日本\ud800語 corn"]
    expected = model.scores([re.sub("[\ud800-\udfff]", "\ufffd", text) for text in probes])
    for n in (1, 5, 20, 1001, 3000):
        for text, scores in zip(probes, expected, strict=True):
            for few in (model.scores([text] * n), model.scores([*["oil corn"] * (n - 1), text])):
                assert few[-1].tobytes() == scores.tobytes()
    model.model_.forget_reader()
    assert model.scores(["oil"] * 1001 + probes)[1001:].tobytes() == expected.tobytes()
