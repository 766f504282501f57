"""Cells of sections 16.1, 16.2 and 16.4: trees, maximum entropy and nearest neighbours."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from thresher.corpora import load
from thresher.errors import ParameterError
from thresher.evaluation.measures import evaluate
from thresher.examples import Examples
from thresher.learners._pruning import best_size, cut
from thresher.learners._trees import Tree, grow_tree, information_gain, leaves_of, smoothed
from thresher.learners.maxent import MaximumEntropy
from thresher.learners.neighbors import NearestNeighbors
from thresher.learners.tree import DecisionTree
from thresher.rows import Rows
from thresher.text import TextCounter
from thresher_papers._running import Documents, numbered
from thresher_papers.manning_schuetze_1999.earnings import (
    CORPUS,
    DOCUMENT_11,
    LOADING,
    READINGS,
    WORDS,
    contingency,
    dense,
    earnings,
    is_earnings,
)
from thresher_papers.manning_schuetze_1999.loglinear import LogLinear, fit_loglinear

HELD_OUT = 1922
CTS, NET, VS = (WORDS.index(word) for word in ("cts", "net", "vs"))


def books_tree(vs: int = 2) -> tuple[Any, ...]:
    """Return figure 16.1: column, least value for the right side, left side, right side."""
    return (CTS, 2, (NET, 1, None, None), (VS, vs, None, None))


def trivial() -> dict[str, float]:
    """Return the decisions of a tree with a single leaf, which are all negative."""
    truth = is_earnings(earnings().test)
    return contingency(np.zeros(len(truth), bool), truth)


def both_labels() -> dict[str, float]:
    """Return the number of training vectors with both labels, and the best possible accuracy."""
    train = earnings().train
    _, vector = np.unique(dense(train.rows), axis=0, return_inverse=True)
    counts = np.bincount(2 * vector.ravel() + is_earnings(train), minlength=2 * (vector.max() + 1))
    sides = counts.reshape(-1, 2)
    mixed = sides.min(1) > 0
    best = 100 * sides.max(1).sum() / sides.sum()
    return {"vectors": int(mixed.sum()), "documents": int(sides[mixed].sum()), "best": float(best)}


def document_11() -> dict[str, Any]:
    """Return the text of document 11 as it stands in the collection, and its vector."""
    with LOADING:
        text = load(CORPUS).split("train").texts[DOCUMENT_11]
    row = earnings().train.rows.take(np.array([DOCUMENT_11]))
    return {"text": text, "weights": dense(row)[0].tolist()}


def chi_square() -> dict[str, Any]:
    """Return the twenty tokens with the highest chi-square, by presence and by occurrences."""
    with LOADING:
        texts = load(CORPUS).split("train").texts
    counter = TextCounter(tokens="book")
    rows, positive = counter.count(texts), is_earnings(earnings().train)
    sides = np.repeat(positive, np.diff(rows.indptr))
    ranked = {}
    for way, values in (("presence", np.ones(len(rows.indices))), ("occurrences", rows.values)):
        yes, no = (np.bincount(rows.indices[sides == side], values[sides == side], rows.n_columns)
                   for side in (True, False))  # fmt: skip
        totals = (positive.sum(), (~positive).sum()) if way == "presence" else (yes.sum(), no.sum())
        n, counts, (of_yes, of_no) = sum(totals), yes + no, totals
        squares = n * (yes * (of_no - no) - no * (of_yes - yes)) ** 2
        below = of_yes * of_no * counts * (n - counts)
        # What every document has is 0/0, and says nothing.
        squares = np.divide(squares, below, where=below > 0, out=np.zeros(len(below)))
        highest = np.argsort(-squares, kind="stable")[:20]
        ranked[way] = counter.names(highest)
    return ranked


# ---- trees -----------------------------------------------------------------------------------


class Division(NamedTuple):
    """Training, validation and test documents of a tree."""

    training: Documents
    validation: Documents
    test: Documents


@lru_cache(maxsize=2)
def division(seed: int) -> Division:
    """Return a random division: 1,922 training documents are held out, 7,681 remain."""
    train, test = earnings()
    order = np.random.default_rng(seed).permutation(train.rows.n_rows)
    held = np.split(order, [HELD_OUT])
    return Division(train.take(held[1]), train.take(held[0]), test)


class Pruning(NamedTuple):
    """A full tree, the order of its pruning, and accuracies in percent along it."""

    tree: Tree
    order: np.ndarray  # inner nodes as they become leaves
    n_pruned: int  # what the validation documents choose
    accuracies: dict[str, np.ndarray]

    @property
    def chosen(self) -> Tree:
        return cut(self.tree, self.order[: self.n_pruned])


def prune(documents: Division) -> Pruning:
    """Grow the full tree, and measure it on all three sets as it is pruned node by node."""
    tree = grow_tree(documents.training.rows, is_earnings(documents.training))
    counted = [tree.counts(sample.rows, is_earnings(sample)) for sample in documents]
    order, n_pruned = best_size(tree, counted[1])
    accuracies = {}
    for name, counts in zip(Division._fields, counted, strict=True):
        right = np.where(
            tree.probability > 0.5, counts.n_positive, counts.n_documents - counts.n_positive
        )
        changes = right[order] - right[tree.left[order]] - right[tree.right[order]]
        full = right[tree.column < 0].sum()
        accuracies[name] = 100 * (full + np.append(0, np.cumsum(changes))) / counts.n_documents[0]
    return Pruning(tree, order, n_pruned, accuracies)


def decide(tree: Tree, documents: Documents) -> np.ndarray:
    """Return which documents a tree assigns to earnings."""
    return np.asarray(tree.probability[leaves_of([tree], documents.rows)[:, 0]] > 0.5)


def pruning(seed: int) -> dict[str, Any]:
    """Return accuracies along the pruning of a division, and what the chosen tree decides."""
    documents = division(seed)
    pruned = prune(documents)
    return {
        "accuracies": {name: values.tolist() for name, values in pruned.accuracies.items()},
        "pruned": int(pruned.n_pruned),
        "inner nodes": int(pruned.tree.n_internal),
        "chosen nodes": int(pruned.chosen.n_internal),
        "decisions": contingency(
            decide(pruned.chosen, documents.test), is_earnings(documents.test)
        ),
    }


def learned_from(size: int, seed: int) -> dict[str, float]:
    """Return accuracies of the tree grown from the first documents of a division and pruned."""
    documents = division(seed)
    first = documents._replace(training=documents.training.take(np.arange(size)))
    pruned = prune(first)
    return {name: float(values[pruned.n_pruned]) for name, values in pruned.accuracies.items()}


def pruned_by(way: str, seed: int) -> dict[str, float]:
    """Return the decisions of the library's learner, trained on all training documents."""
    train, test = earnings()
    pruning: Any = None if way == "nothing" else way
    learner = DecisionTree(pruning=pruning, random_state=seed).fit_rows(Examples.of(*train))
    return contingency(learner.score_rows(test.rows)[:, 0] > 0, is_earnings(test))


def nodes(kind: str, seed: int) -> dict[str, Any]:
    """Return the nodes of the book's tree with the counts of a division, or of a grown tree.

    Kinds are "book", "own", as deep, and "vs ≥ 1", the book's as its figure labels node 7.
    """
    training = division(seed).training
    rows, positive = training.rows, is_earnings(training)
    if kind == "own":
        tree = grow_tree(rows, positive, max_depth=2)
    else:
        tree = count_tree(books_tree(1 if kind == "vs ≥ 1" else 2), rows, positive)
    return described(tree, WORDS) | {"gain": float(information_gain(tree)[0])}


def count_tree(
    splits: Any,
    rows: Rows,
    positive: np.ndarray,
    weights: np.ndarray | None = None,
    smoothing: float = 1.0,
) -> Tree:
    """Return a tree of given tests with the counts of some documents.

    Parameters
    ----------
    splits : tuple or None
        A test as (column, threshold, left, right), the last two being tests or None for a leaf.
    rows, positive, weights, smoothing
        As for `grow_tree`.

    Examples
    --------
    >>> rows = Rows(np.array([0, 1, 2]), np.zeros(2, np.int32), np.array([1, 2], np.float32), 1)
    >>> count_tree((0, 2, None, None), rows, np.array([False, True])).n_documents.tolist()
    [2.0, 1.0, 1.0]
    """
    columns: list[int] = []
    thresholds: list[float] = []
    children: list[list[int]] = []
    waiting: list[tuple[Any, int, int]] = [(splits, -1, 0)]
    while waiting:
        test, parent, side = waiting.pop()
        node = len(columns)
        if parent >= 0:
            children[parent][side] = node
        column, threshold, left, right = (-1, 0.0, None, None) if test is None else test
        if not -1 <= column < rows.n_columns:
            raise ParameterError(f"Column {column} is tested, and there are {rows.n_columns}.")
        columns.append(column)
        thresholds.append(threshold)
        children.append([-1, -1])
        if test is not None:
            waiting += [(right, node, 1), (left, node, 0)]
    sides = np.array(children, np.int32).T.copy()
    nothing = np.zeros(len(columns))
    tree = Tree(
        np.array(columns, np.int32), np.array(thresholds, np.float32), *sides, *[nothing] * 3
    ).counts(rows, np.asarray(positive, bool), weights)
    return tree._replace(probability=smoothed(tree.n_positive, tree.n_documents, smoothing))


def described(tree: Tree, names: Sequence[str]) -> dict[str, Any]:
    """Return a tree as lists: question, children, documents and positives of each node."""
    questions = [
        f"{names[column]} ≥ {threshold:g}" if column >= 0 else ""
        for column, threshold in zip(tree.column, tree.threshold, strict=True)
    ]
    numbers = {"left": tree.left, "right": tree.right, "depth": tree.depths()}
    numbers |= {"articles": tree.n_documents, "positive": tree.n_positive}
    return {"questions": questions} | {
        name: [int(number) for number in values] for name, values in numbers.items()
    }


SOUND = ("voiced", "cont", "cor", "ant")


def past_tense() -> tuple[np.ndarray, list[str]]:
    """Return every combination of four features of a sound, and the ending that follows it.

    Examples
    --------
    >>> sounds, endings = past_tense()
    >>> endings.count("ed"), endings[sounds.tolist().index([0, 1, 1, 1])]
    (2, 't')
    """
    sounds = np.array(list(product((0, 1), repeat=len(SOUND))))
    voiced, cont, cor, ant = sounds.T.astype(bool)
    endings = np.where(~cont & cor & ant, "ed", np.where(voiced, "d", "t"))
    return sounds, [str(ending) for ending in endings]


def past_tense_trees() -> dict[str, dict[str, Any]]:
    """Return the tree of each ending."""
    sounds, endings = past_tense()
    learner = DecisionTree(pruning=None).fit(sounds, endings)
    return {str(name): described(learner.tree(k), SOUND) for k, name in enumerate(learner.classes_)}


# ---- maximum entropy -------------------------------------------------------------------------

# Table 16.7: without and with `profit`; "no" and "yes".
COUNTS = np.array([[13.0, 8.0], [9.0, 20.0]])
BOOK = {"method": "gis", "features": "presence", "constant": 20.0, "max_iter": 500}
JOINT, CONDITIONAL = "joint", "conditional"
ENTROPIES: dict[str, dict[str, Any]] = {
    JOINT: BOOK | {"event_space": JOINT},
    "joint, C = 18": BOOK | {"event_space": JOINT, "constant": 18.0},
    "joint, 100 iterations": BOOK | {"event_space": JOINT, "max_iter": 100},
    "joint, 5,000 iterations": BOOK | {"event_space": JOINT, "max_iter": 5000},
    CONDITIONAL: BOOK | {"event_space": CONDITIONAL},
    "conditional, L-BFGS": {"features": "presence"},
    "conditional, L-BFGS, weights of words": {},
}


def profit(space: str = JOINT, max_iter: int = 500, counts: Any = COUNTS) -> LogLinear:
    """Fit the model of table 16.6: one feature, `profit` in a document of earnings.

    Examples
    --------
    >>> profit().probabilities()
    array([[0.2, 0.2],
           [0.2, 0.4]])
    """
    features = np.zeros((2, 2, 1))
    features[1, 1] = 1
    return fit_loglinear(features, counts, space=space, max_iter=max_iter)


def profit_model(space: str) -> dict[str, Any]:
    """Return the distribution of table 16.6, with the means and weights of its features."""
    model = profit(space)
    return {
        "probabilities": model.probabilities().tolist(),
        "empirical": model.empirical.tolist(),
        "expected": model.expected.tolist(),
        "alphas": np.exp(model.log_alphas).tolist(),
        "iterations": int(model.n_iter),
    }


def entropy(version: str, reading: str) -> dict[str, Any]:
    """Return log α of words and filler, where scaling was used, and the decisions of a model."""
    train, test = earnings(READINGS[reading])
    options = ENTROPIES[version]
    learner = MaximumEntropy(**options).fit_rows(Examples.of(*train))
    decisions = contingency(learner.score_rows(test.rows)[:, 0] > 0, is_earnings(test))
    if options.get("method") != "gis":
        return {"decisions": decisions}
    words, filler = learner.log_alphas(0)
    weights = [float(weight) for weight in (*words, filler)]
    return {"decisions": decisions, "log alphas": weights}


# ---- neighbours ------------------------------------------------------------------------------

NEIGHBORS: dict[str, dict[str, Any]] = {
    "1 neighbour": {"n_neighbors": 1, "weights": "uniform"},
    "5 neighbours": {"n_neighbors": 5, "weights": "uniform"},
    "5 neighbours, by similarity": {"n_neighbors": 5, "weights": "similarity"},
    "1 neighbour, Euclidean": {"n_neighbors": 1, "weights": "uniform", "metric": "euclidean"},
}


def nearest(version: str, reading: str) -> dict[str, Any]:
    """Return the decisions of nearest neighbours, and how many documents have several, or one
    that is the same vector."""
    train, test = earnings(READINGS[reading])
    learner = NearestNeighbors(**NEIGHBORS[version]).fit_rows(Examples.of(*train))
    decisions = contingency(learner.score_rows(test.rows)[:, 0] > 0, is_earnings(test))
    n_nearest = [len(voters) for voters in learner.neighbors(test.rows)]
    training_vectors = {tuple(vector) for vector in dense(train.rows).tolist()}
    identical = sum(tuple(vector) in training_vectors for vector in dense(test.rows).tolist())
    several = sum(n > 1 for n in n_nearest)
    return {"decisions": decisions, "several": several, "most": max(n_nearest),
            "identical": identical}  # fmt: skip


def all_topics() -> dict[str, dict[str, float]]:
    """Return micro and macro averages of one neighbour's decisions on all topics of Reuters."""
    with LOADING:
        corpus = load("reuters21578:modapte,categories=R90")
    (rows, _), (test, _) = earnings()
    topics = sorted(
        {name for document_labels in corpus.split("train").labels for name in document_labels}
    )
    labels, truth = (numbered(corpus.split(name).labels, topics) for name in ("train", "test"))
    learner = NearestNeighbors(**NEIGHBORS["1 neighbour"]).fit_rows(Examples.of(rows, labels))
    measured = evaluate(learner.score_rows(test), truth)
    return {
        average: {
            name: 100 * float(averaged[name])
            for name in ("accuracy", "precision", "recall", "fallout")
        }
        for average, averaged in (("micro", measured.micro), ("macro", measured.macro))
    }


# ---- other readings --------------------------------------------------------------------------


def vectors(
    reading: str, entropies: tuple[float, ...], perceptron: tuple[float, ...]
) -> dict[str, Any]:
    """Return document 11 under a reading, and what the book's own weights decide on its vectors.

    `entropies` are log α of the words and of the filler, `perceptron` weights and threshold.
    """
    train, test = earnings(READINGS[reading])
    table, truth = dense(test.rows), is_earnings(test)
    *words, filler = entropies
    *weights, threshold = perceptron
    by_entropy = (table > 0) @ (np.array(words) - filler) > 0
    by_perceptron = table @ np.array(weights) > threshold
    right = dense(train.rows)[:, CTS] >= 2
    rare = right & (dense(train.rows)[:, VS] < 2)
    return {
        "document 11": dense(train.rows.take(np.array([DOCUMENT_11])))[0].tolist(),
        "by entropy": contingency(by_entropy, truth),
        "by perceptron": contingency(by_perceptron, truth),
        "node 6": float(is_earnings(train)[rare].mean()),
    }
