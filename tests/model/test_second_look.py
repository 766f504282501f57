"""A second look at documents with the categories that they may have."""

import copy
import json
import math
import threading

import numpy as np
import pytest
from click.testing import CliRunner

from interrupts import interrupted_at
from thresher import Categorizer, ModelError, ParameterError
from thresher.cli.main import app
from thresher.errors import DocumentError
from thresher.model import learn as learning
from thresher.model import train
from thresher.model.second_look import Candidates, SecondLook, Unseen, candidates_of
from thresher.model.second_look.pairs import Pairs
from thresher.rows import Labels, Rows

NAMES = ["corn", "crude", "earn", "grain", "ship", "wheat"]


def documents(n=500, seed=0, names=NAMES):
    """Texts and labels: wheat and corn come with grain, of which the words say little."""
    random = np.random.default_rng(seed)
    texts, labels = [], []
    for _ in range(n):
        mine = set(random.choice(names, random.integers(1, 3), replace=False).tolist())
        if mine & {"wheat", "corn"} and random.random() < 0.8:
            mine.add("grain")
        words = [f"word{random.integers(60)}" for _ in range(12)]
        for name in sorted(mine):
            low, high = (0, 2) if name == "grain" else (1, 4)
            words += [f"{name}{random.integers(6)}" for _ in range(random.integers(low, high))]
        random.shuffle(words)
        texts.append(f"{' '.join(words[:4])}\n{' '.join(words[4:])}")
        labels.append(sorted(mine))
    return texts, labels


@pytest.fixture(scope="module")
def corpus():
    return documents()


@pytest.fixture(scope="module")
def model(corpus):
    return Categorizer(second_look="trees", fields="lead").fit(*corpus)


@pytest.fixture(scope="module")
def plain(corpus):
    return Categorizer(fields="lead", second_look=None).fit(*corpus)


# What is known of a pair --------------------------------------------------------------------------


class Weights:
    """As much of a learner as is asked for."""

    def __init__(self, weights):
        self.weights = weights

    def plain_weights(self):
        return self.weights, np.float32(1)


def drawn(seed, n=40, n_columns=25, n_categories=15, n_fields=2):
    random = np.random.default_rng(seed)
    dense = random.random((n, n_columns)) * (random.random((n, n_columns)) < 0.3)
    indices = [np.flatnonzero(row) for row in dense]
    rows = Rows(
        np.cumsum([0, *map(len, indices)]),
        np.concatenate(indices).astype(np.int32),
        dense[dense > 0].astype(np.float32),
        n_columns,
    )
    weights = random.normal(size=(1 + n_columns, n_categories)).astype(np.float32)
    fields = random.integers(0, n_fields + 1, n_columns).astype(np.uint8)
    scores = random.normal(size=(n, n_categories)).round(1).astype(np.float32)  # some are equal
    lists = [np.flatnonzero(random.random(n_categories) < 0.2).tolist() for _ in range(n)]
    return rows, weights, fields, scores, Labels.from_lists(lists, n_categories)


def naive_candidates(rows, weights, fields, scores, own, n_fields=2):
    """The same by loops over documents, candidates and words."""
    numbers = np.argsort(-scores, axis=1, kind="stable")[:, :12]
    evidence = np.zeros((*numbers.shape, 2 + n_fields))
    for i in range(rows.n_rows):
        mine = slice(rows.indptr[i], rows.indptr[i + 1])
        size = sum(float(value) ** 2 for value in rows.values[mine])
        for c, k in enumerate(numbers[i]):
            for column, value in zip(rows.indices[mine], rows.values[mine], strict=True):
                share = value * weights[1 + column, k] - own[i, k] * value**2 / size
                evidence[i, c, 0] += max(share, 0)
                evidence[i, c, 1] = max(evidence[i, c, 1], share)
                if fields[column]:
                    evidence[i, c, 1 + fields[column]] += share
    return numbers, evidence


@pytest.mark.parametrize("seed", range(5))
def test_candidates_and_their_evidence_are_those_of_the_twin(seed):
    rows, weights, fields, scores, _ = drawn(seed)
    own = np.random.default_rng(seed).normal(size=scores.shape).astype(np.float32)
    for mine in (own, np.zeros_like(own)):
        candidates = candidates_of(scores, rows, Weights(weights), fields, 2, contributions=mine)
        numbers, evidence = naive_candidates(rows, weights, fields, scores, mine)
        assert np.array_equal(candidates.numbers, numbers)
        assert candidates.evidence == pytest.approx(evidence, abs=1e-4)


def test_categories_that_came_later_are_no_candidates():
    rows, weights, fields, scores, _ = drawn(0)
    scores[:, 9:] += 10
    candidates = candidates_of(scores, rows, Weights(weights), fields, 2, n_known=9)
    assert candidates.numbers.shape == (40, 9) and candidates.numbers.max() == 8


def naive_description(pairs, scores, labels, weights, numbers, evidence, i, c):
    """What is known of a pair, from the labels of all documents, as the documentation has it."""
    k, total = numbers[i, c], sum(weights)
    lists = [np.flatnonzero(row).tolist() for row in labels.to_dense()]

    def count(*wanted):
        theirs = zip(lists, weights, strict=True)
        return sum(weight for own, weight in theirs if set(wanted) <= set(own))

    def probability(j):
        return 1 / (1 + math.exp(-(pairs.slope * scores[i, j] / pairs.scale + pairs.offsets[j])))

    def given(one, other):
        return (count(one, other) + 2 * (count(one) + 0.5) / (total + 1)) / (count(other) + 2)

    others = [j for j in numbers[i] if j != k]
    rival = others[0] if len(others) else k
    return [
        scores[i, k] / pairs.scale,
        *(evidence[i, c] / pairs.scale),
        probability(k),
        c,
        (scores[i, k] - scores[i, rival]) / pairs.scale,
        math.log(1 + count(k)),
        max([probability(j) * given(k, j) for j in others], default=0),
        max([probability(j) * given(j, k) for j in others], default=0),
        sum(
            probability(j) * math.log(given(k, j) / ((count(k) + 0.5) / (total + 1)))
            for j in others
        ),
    ]


@pytest.mark.parametrize("n_categories", [1, 2, 15])
def test_the_description_of_a_pair_is_that_of_the_twin(n_categories):
    rows, weights, fields, scores, labels = drawn(3, n=20, n_categories=n_categories)
    each = np.random.default_rng(3).random(20) + 0.5
    numbers, evidence = candidates_of(scores, rows, Weights(weights), fields, 2)
    pairs = Pairs.fit(scores, numbers, labels, each)
    facts = pairs.describe(scores, Candidates(numbers, evidence))
    assert facts.shape[2] == Pairs.n_facts(2)
    for i, c in np.ndindex(*numbers.shape):
        wanted = naive_description(pairs, scores, labels, each, numbers, evidence, i, c)
        assert facts[i, c] == pytest.approx(wanted, rel=1e-4, abs=1e-4)


def test_odds_are_right_on_the_whole():
    random = np.random.default_rng(0)
    scores = random.normal(size=(2000, 4)).astype(np.float32)
    truth = random.random(scores.shape) < 1 / (1 + np.exp(-(2 * scores + [-2, -1, 0, 1])))
    labels = Labels.from_lists([np.flatnonzero(row).tolist() for row in truth], 4)
    numbers = np.argsort(-scores, axis=1).astype(np.int32)
    pairs = Pairs.fit(scores, numbers, labels, np.ones(2000))
    assert pairs.slope / pairs.scale == pytest.approx(2, abs=0.15)
    assert pairs.offsets == pytest.approx([-2, -1, 0, 1], abs=0.2)


def test_counts_follow_categories_that_go_and_merge():
    labels = Labels.from_lists([[0, 1], [1, 2], [0, 1, 2], [3]], 4)
    scores = np.random.default_rng(0).normal(size=(4, 4)).astype(np.float32)
    numbers = np.tile(np.arange(4, dtype=np.int32), (4, 1))
    pairs = Pairs.fit(scores, numbers, labels, np.ones(4))
    assert (pairs.given(1, 0), pairs.given(0, 1), pairs.given(3, 0)) == (1.0, 2 / 3, 0.0)
    without = pairs.renumbered(np.array([0, -1, 1, 2]), 3)
    assert without.positives.tolist() == [2, 2, 1] and without.given(1, 0) == 0.5
    assert without.offsets.tolist() == pairs.offsets[[0, 2, 3]].tolist()
    merged = pairs.renumbered(np.array([0, 1, 1, 2]), 3)
    assert merged.positives.tolist() == [2, 5, 1] and merged.given(0, 1) == 3 / 5


# Learning it --------------------------------------------------------------------------------------


def test_it_sees_what_comes_together(model, plain):
    assert model.model_.second_look is not None
    before, after = plain.tuning_.after, model.tuning_.after
    assert after.micro["f1"] > before.micro["f1"] + 0.003
    unseen = documents(seed=1)
    assert model.evaluate(*unseen).micro["f1"] > plain.evaluate(*unseen).micro["f1"]


def test_a_line_judges_too(corpus, plain):
    linear = Categorizer(second_look="linear", fields="lead").fit(*corpus)
    assert linear.tuning_.after.micro["f1"] > plain.tuning_.after.micro["f1"]


def unseen_of(labels, texts):
    """Return what the second look is learned from, by five folds."""
    results = []

    def recorded(*arguments, **options):
        results.append(held_out_scores(*arguments, **options))
        return results[-1]

    held_out_scores = train.held_out_scores
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(train, "held_out_scores", recorded)
        Categorizer(second_look="trees", fields="lead").fit(texts, labels)
    return results[0][0]


def test_where_labels_are_random_nothing_is_learned(corpus):
    """Nothing leaks from the documents that are judged: by chance, knowing nothing is better."""
    texts, labels = corpus
    order = np.random.default_rng(5).permutation(len(labels))
    unseen = unseen_of([labels[i] for i in order], texts)
    for kind in ("trees", "linear"):
        _, scores = SecondLook.fit(kind, unseen, len(texts))
        shares = unseen.labels.to_dense().mean(0)
        chance = -(shares * np.log(shares) + (1 - shares) * np.log(1 - shares)).sum()
        assert unseen.loss(scores, len(NAMES)) > 0.99 * chance
    right = unseen_of(labels, texts)
    _, scores = SecondLook.fit("trees", right, len(texts))
    assert right.loss(scores, len(NAMES)) < 0.8 * chance


def test_what_promises_nothing_is_left_out():
    texts, labels = documents(60)
    fitted = Categorizer(second_look="trees").fit(texts, labels)
    assert fitted.model_.second_look is None
    assert "The second look is left out: it promises no better decisions." in fitted.assumptions_


def test_for_one_label_it_stays_out_of_the_way(corpus):
    texts, labels = corpus
    single = [one[0] for one in labels]
    asked, other = (Categorizer(second_look=look).fit(texts, single) for look in ("trees", None))
    assert "The second look is left out: documents have one label each." in asked.assumptions_
    assert np.array_equal(asked.scores(texts), other.scores(texts))


def test_threads_and_batches_change_no_bit(corpus, model):
    texts, labels = corpus
    twin = Categorizer(second_look="trees", fields="lead", n_jobs=3).fit(texts, labels)
    scores = model.scores(texts)
    assert np.array_equal(twin.scores(texts), scores)
    assert np.array_equal(
        np.concatenate([model.scores([text]) for text in texts[:50]]), scores[:50]
    )


def test_without_weights_it_goes_by_scores(corpus):
    fitted = Categorizer("nearest-neighbors", second_look="trees").fit(*corpus)
    assert not fitted.model_.second_look.has_evidence
    assert fitted.explain(corpus[0][0]).neighbors
    rows, _, fields, scores, labels = drawn(1, n=300, n_categories=5)
    candidates = candidates_of(scores, rows, Weights(None), fields, 2)
    assert candidates.evidence.shape == (300, 5, 0)
    unseen = Unseen(scores, candidates, labels, np.arange(300) % 5, np.ones(300))
    look, _ = SecondLook.fit("trees", unseen, 300)
    assert look.apply(scores, rows, Weights(None)).shape == scores.shape


def test_of_very_many_documents_some_are_looked_at(corpus, monkeypatch):
    monkeypatch.setattr(train, "MOST_LOOKED", 300)
    fitted = Categorizer(second_look="trees", fields="lead").fit(*corpus)
    assert fitted.model_.second_look.pairs.total == 300
    assert (fitted.tuning_.n_documents, fitted.tuning_.n_available) == (300, 500)


def test_what_goes_wrong_in_a_thread_is_raised(corpus, monkeypatch):
    def fail(*arguments, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr("thresher.model.second_look.look.Pairs.fit", fail)
    for n_jobs in (1, 2):
        with pytest.raises(KeyboardInterrupt):
            Categorizer(second_look="trees", n_jobs=n_jobs).fit(*corpus)


def test_folds_are_needed(corpus):
    with pytest.raises(ParameterError, match="tune_folds is 0, and a second look is learned"):
        Categorizer(second_look="trees", tune_folds=0).fit(*corpus)
    assert Categorizer(second_look="trees", preset="fast").resolved().tune_folds == 5
    with pytest.raises(ParameterError, match="second_look"):
        Categorizer(second_look="forest").fit(*corpus)


# Using it -----------------------------------------------------------------------------------------


def test_what_is_not_among_the_likeliest_is_below_all_that_is():
    names = [*NAMES, *(f"topic{i:02}" for i in range(14))]
    texts, labels = documents(1200, names=names)
    fitted = Categorizer(second_look="trees").fit(texts, labels)
    assert fitted.model_.second_look is not None
    first = fitted.learner_.score_rows(fitted.strengths(texts))
    scores = np.sort(fitted.scores(texts), axis=1)[:, ::-1]
    numbers = fitted.model_.second_look.candidates(first, fitted.strengths(texts), fitted.learner_)
    chosen = np.take_along_axis(fitted.scores(texts), numbers.numbers, 1)
    assert np.array_equal(np.sort(chosen, axis=1)[:, ::-1], scores[:, :12])
    assert (scores[:, 12:].max(1) < scores[:, :12].min(1)).all()


def test_the_file_keeps_it(corpus, model, tmp_path):
    texts, _ = corpus
    model.save(tmp_path / "model")
    again = Categorizer.load(tmp_path / "model")
    assert np.array_equal(again.scores(texts), model.scores(texts))
    again.save(tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == (tmp_path / "model").read_bytes()
    assert "by trees, at the 6 likeliest categories" in again.summary()["second_look"]


DAMAGES = {
    "kind": lambda header, tensors: header.update(kind="forest"),
    "fields": lambda header, tensors: tensors.update(fields=tensors["fields"][1:]),
    "field": lambda header, tensors: tensors["fields"].__setitem__(0, 9),
    "categories": lambda header, tensors: tensors.update(
        {"pairs.positives": np.append(tensors["pairs.positives"], 1.0)}
    ),
    "others": lambda header, tensors: tensors["pairs.others"].__setitem__(0, 77),
    "scale": lambda header, tensors: header["pairs"].update(scale=0.0),
    "order": lambda header, tensors: tensors["pairs.indptr"].__setitem__(1, 10**6),
    "facts": lambda header, tensors: header.update(n_fields=0),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_file_is_refused(model, damage):
    look = model.model_.second_look
    header, tensors = copy.deepcopy(look.state())
    DAMAGES[damage](header, tensors)
    shape = model.n_features, len(NAMES)
    if damage == "facts":  # other fields could be of another model: only the trees know
        tensors["fields"][:] = 0
        tensors["judge.feature"][tensors["judge.feature"] >= 0] = 11
    with pytest.raises(ModelError):
        SecondLook.from_state(header, tensors, shape, model.learner_)


@pytest.mark.parametrize("kind", ["trees", "linear"])
def test_shares_add_up_to_the_score(corpus, kind):
    texts, labels = corpus
    fitted = Categorizer(second_look=kind, fields="lead").fit(texts, labels)
    assert fitted.model_.second_look is not None
    scores = fitted.scores(texts[:12])
    for text, row in zip(texts[:12], scores, strict=True):
        for name, score in zip(NAMES, row, strict=True):
            explanation = fitted.explain(text, name)
            assert explanation.total == pytest.approx(float(score), abs=1e-4)
            assert explanation.chosen == (explanation.score > 0)
    text = next(t for t, own in zip(texts, labels, strict=True) if "wheat" in own)
    lines = [one.feature for one in fitted.explain(text, "grain").shares]
    assert any("of its likeliest categories" in line for line in lines)
    assert any("training documents)" in line for line in lines)
    assert any("% of whose documents have grain)" in line for line in lines)


def test_a_learner_with_probabilities_has_those_of_the_second_look(corpus):
    options = {"fields": "lead", "second_look": "trees"}
    fitted = Categorizer("maximum-entropy", **options).fit(*corpus)
    assert fitted.model_.second_look is not None
    scores = fitted.scores(corpus[0][:50])
    chances = fitted.predict_proba(corpus[0][:50])
    assert chances == pytest.approx(1 / (1 + np.exp(-scores.astype(float))))
    unseen = documents(400, seed=4)
    truth = np.array([[name in own for name in NAMES] for own in unseen[1]])
    right = fitted.predict_proba(unseen[0])
    assert abs(right.mean() - truth.mean()) < 0.02  # they are as sure as they may be
    with pytest.raises(ModelError, match="no probabilities"):
        Categorizer(**options).fit(*corpus).predict_proba(corpus[0])


def test_threads_ask_while_it_learns(corpus):
    texts, labels = corpus
    fitted = Categorizer(second_look="trees", fields="lead").fit(texts, labels)
    problems = []

    def ask():
        try:
            for _ in range(30):
                assert np.isfinite(fitted.scores(texts[:20])).all()
        except BaseException as problem:
            problems.append(problem)

    threads = [threading.Thread(target=ask) for _ in range(3)]
    for thread in threads:
        thread.start()
    for text, own in zip(*documents(20, seed=7), strict=True):
        fitted.learn([text + " quite new words"], [own])
    for thread in threads:
        thread.join()
    assert not problems


# Learning on --------------------------------------------------------------------------------------


def test_corrections_are_learned_and_harm_nothing(corpus, model):
    fitted = copy.deepcopy(model)
    unseen = documents(400, seed=2)
    before = fitted.evaluate(*unseen).micro["f1"]
    decided = fitted.predict(unseen[0])
    wrong = [i for i, own in enumerate(decided) if sorted(own) != unseen[1][i]][:5]
    fitted.learn([unseen[0][i] for i in wrong], [unseen[1][i] for i in wrong])
    assert fitted.learned_.right >= 4
    assert fitted.evaluate(*unseen).micro["f1"] > before - 0.01


def test_a_new_category_works_at_once(model):
    fitted = copy.deepcopy(model)
    texts = [f"tin ore number{i}\nthe tin mine of malaysia{i % 3}" for i in range(8)]
    fitted.learn(texts, [["tin"]] * 8)
    assert fitted.model_.second_look.n_known == len(NAMES)
    assert "tin" in fitted.predict(["tin ore\nanother tin mine of malaysia1"])[0]
    explanation = fitted.explain("tin ore\nanother tin mine", "tin")
    assert explanation.total == pytest.approx(
        float(fitted.scores(["tin ore\nanother tin mine"])[0, -1]), abs=1e-4
    )


def test_what_is_interrupted_leaves_it_as_it_was(corpus, model):
    fitted = copy.deepcopy(model)
    before, look = fitted.scores(corpus[0]), fitted.model_.second_look
    with pytest.raises(DocumentError):
        fitted.learn(["new words here", "more"], [["wheat"]])
    for line in (30, 60, 90, 120, 150, 180):
        with interrupted_at(line, learning) as came:
            fitted.learn(["new words here"], [["wheat"]])
        if not came:
            break
        assert fitted.model_.second_look is look
        assert np.array_equal(fitted.scores(corpus[0]), before)
    assert line > 100


def test_it_is_learned_anew_from_what_is_remembered(corpus):
    """Corn has come with grain; now it never does, and wheat always."""
    texts, labels = corpus
    fitted = Categorizer(second_look="trees", fields="lead").fit(texts, labels)
    later, theirs = documents(1500, seed=3)
    theirs = [sorted(set(own) - {"grain"} if "corn" in own else set(own)) for own in theirs]
    fitted.learn(later, theirs)
    assert fitted.learned_.looked_anew is True
    assert "The second look was learned again" in str(fitted.learned_)
    look = fitted.model_.second_look
    assert look.n_learned == 2000 and look.pairs.total > 1500
    assert look.pairs.given(3, 0) < 0.5
    fitted.learn(later[:5], theirs[:5])
    assert fitted.learned_.looked_anew is None and fitted.learned_.to_dict()["looked_anew"] is None


def test_categories_can_go_and_merge(corpus, model):
    texts, _ = corpus
    fitted = copy.deepcopy(model)
    fitted.delete_category("crude")
    assert fitted.scores(texts).shape == (len(texts), 5)
    assert fitted.model_.second_look.n_known == 5
    assert fitted.predict(texts).count(["earn"]) > 0
    fitted.learn(["tin ore"], [["tin"]])
    fitted.merge_categories("corn", "tin")
    assert fitted.categories_ == ["earn", "grain", "ship", "wheat", "tin"]
    assert fitted.model_.second_look.n_known == 4
    fitted.merge_categories("tin", "earn")
    assert fitted.model_.second_look.n_known == 4 and np.isfinite(fitted.scores(texts)).all()
    fitted.rename_category("wheat", "Weizen")
    assert "Weizen" in fitted.explain(texts[0], "Weizen").verdict()


def test_it_can_be_made_smaller(corpus, model, tmp_path):
    texts, _ = corpus
    small = copy.deepcopy(model).compact()
    assert small.n_features < model.n_features
    assert len(small.model_.second_look.fields) == small.n_features
    same = sum(a == b for a, b in zip(small.predict(texts), model.predict(texts), strict=True))
    assert same > 0.95 * len(texts)
    small.save(tmp_path / "small")
    assert np.array_equal(Categorizer.load(tmp_path / "small").scores(texts), small.scores(texts))


def test_on_the_command_line(corpus, tmp_path):
    data, model = tmp_path / "data.jsonl", tmp_path / "model"
    lines = (json.dumps({"text": t, "labels": own}) for t, own in zip(*corpus, strict=True))
    data.write_text("\n".join(lines))
    run = CliRunner().invoke
    options = ["--second-look", "trees", "--fields", "lead"]
    result = run(app, ["train", str(data), "-o", str(model), *options])
    assert result.exit_code == 0, result.output
    assert "second look" in run(app, ["inspect", str(model)]).output.replace("_", " ")
    result = run(app, ["explain", str(model), f"{data}:3", "--category", "grain"])
    assert "of its likeliest categories" in result.output, result.output
    assert run(app, ["evaluate", str(model), str(data)]).exit_code == 0
    result = run(app, ["train", str(data), "-o", str(model), "--second-look", "forest"])
    assert result.exit_code == 2 and "forest" in result.output


@pytest.mark.slow
def test_after_warm_up_nothing_of_it_is_compiled(corpus):
    """What warm-up does by hand is what `fit`, `predict`, `explain` and `learn` come to."""
    from thresher._kernels._cache import activity
    from thresher.cli import warm_up

    def use(**options):
        fitted = Categorizer(**options).fit(*corpus)
        fitted.explain(corpus[0][0])
        fitted.learn(corpus[0][:3], corpus[1][:3])
        fitted.predict(corpus[0])

    use(fields="lead")
    use()
    warm_up._use_others()
    before = activity.compiled
    use(fields="lead", second_look="trees")
    use(second_look="trees")
    assert activity.compiled == before
