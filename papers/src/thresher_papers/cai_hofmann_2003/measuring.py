"""Experiments: concepts, boosting over words and concepts, the measures of section 6.

Apart from the words about it, so that kept cells outlast a change of these.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from copy import copy
from functools import lru_cache
from typing import Any, Literal, NamedTuple

import numpy as np

from thresher.corpora import load
from thresher.evaluation.measures import Evaluation, evaluate
from thresher.examples import Examples
from thresher.features.concepts import Concepts
from thresher.learners.boosting import StumpBoosting
from thresher.rows import Labels, Rows
from thresher.text.counter import TextCounter
from thresher.text.linguistics import Linguistics

MOST_ITERATIONS = 500  # of expectation maximisation; what is held out ends it before
LEAST_MEMBERSHIP = 0.01  # a P(z|d) below counts as none
LEAST_KEPT = 1e-4  # lower limits are not asked for, and far more memberships lie below
PARTS = ("train", "test", "unused")

# Each column of tables 1 and 2 with its macro and its micro average.
MEASURES: dict[str, tuple[str, str | None]] = {
    "p": ("precision", "precision"),
    "r": ("recall", "recall"),
    "F1": ("f1_of_means", "f1"),
    "Err": ("error", None),
    "MaxF1": ("maximal_f1", None),
    "BEP": ("break_even", "break_even"),
    "AvgP": ("average_precision", "average_precision"),
    "AdF1": ("adjusted_f1_of_means", "adjusted_f1"),
    "AdErr": ("adjusted_error", None),
}


class Texts(NamedTuple):
    """A corpus, and how its words are counted."""

    corpus: str  # as `load` takes it
    most: tuple[int, ...] = ()  # documents of each part at most; none given: all
    least_documents: int = 1  # in which a word must be
    pattern: str = "[a-z]+"
    without_function_words: bool = True


class Sample(NamedTuple):
    """A corpus, the number of its topics, and its division into training and test documents."""

    texts: Texts
    n_topics: int = 50
    topics_of: str = "train"  # the documents that say which topics are most frequent, or "all"
    division: str = "corpus"  # by the corpus, or "random", a tenth to test; or "rehearsal":
    # learn the last quarter of the training documents from the others


class Documents(NamedTuple):
    """Counts and topics of all documents, split after split."""

    rows: Rows
    topics: list[list[str]]
    ends: np.ndarray  # of the parts
    words: list[str]


@lru_cache(maxsize=4)
def read(texts: Texts) -> Documents:
    """Return the documents of a corpus as counts of words."""
    corpus = load(texts.corpus)
    names = [name for name in PARTS if name in corpus.splits] or ["all"]
    limits = texts.most or (None,) * len(names)
    splits = [
        (split.texts[:n], split.labels[:n])
        for split, n in zip(map(corpus.split, names), limits, strict=True)
    ]
    words = Linguistics(stop_words=texts.without_function_words)
    counter = TextCounter(token_pattern=texts.pattern, linguistics=words)
    rows = counter.count([text for texts_of_split, _ in splits for text in texts_of_split])
    is_frequent = np.bincount(rows.indices, minlength=rows.n_columns) >= texts.least_documents
    return Documents(
        rows.keep(is_frequent),
        [topics for _, topics_of_split in splits for topics in topics_of_split],
        np.cumsum([len(texts_of_split) for texts_of_split, _ in splits]),
        counter.names(np.flatnonzero(is_frequent)),
    )


class Problem(NamedTuple):
    """Training and test documents, the topics, and the labels."""

    train: np.ndarray
    test: np.ndarray
    topics: list[str]
    labels: Labels  # of all documents

    @classmethod
    def of(cls, sample: Sample, seed: int) -> Problem:
        """Divide the documents, and select the most frequent topics."""
        _, topics, ends, _ = read(sample.texts)
        train, test = np.split(np.arange(len(topics)), ends)[:2] if len(ends) > 1 else ((), ())
        if sample.division == "random":
            order = np.random.default_rng(seed).permutation(len(topics))
            test, train = map(np.sort, np.split(order, [len(order) // 10]))
        elif sample.division == "rehearsal":
            train, test = np.split(train, [len(train) - len(train) // 4])
        counted = range(len(topics)) if sample.topics_of == "all" else train
        counts = Counter(name for i in counted for name in topics[i])
        chosen = sorted(counts, key=lambda name: (-counts[name], name))[: sample.n_topics]
        number = {name: i for i, name in enumerate(chosen)}
        lists = [
            [number[name] for name in document_topics if name in number]
            for document_topics in topics
        ]
        return cls(
            np.asarray(train), np.asarray(test), chosen, Labels.from_lists(lists, len(chosen))
        )


class Model(NamedTuple):
    """The P(z|d) of all documents, with the iterations and perplexity of the fit."""

    memberships: Rows
    n_iterations: int
    perplexity: float  # of the occurrences held out


@lru_cache(maxsize=64)
def find_concepts(texts: Texts, size: int, seed: int, is_folded: bool, n_jobs: int) -> Model:
    """Fit `size` concepts to all documents, labelled or not.

    P(z|d) is what expectation maximisation leaves, or is folded in from all occurrences.
    """
    rows = read(texts).rows
    concepts = Concepts(size, max_iter=MOST_ITERATIONS, random_state=seed)
    concepts.fit_rows(rows, n_jobs=n_jobs)
    memberships = concepts.memberships(rows, n_jobs) if is_folded else concepts.memberships_
    n = int(concepts.n_iter_[0])
    return Model(as_rows(memberships), n, float(concepts.perplexities_[0][n - 1]))


def as_rows(memberships: np.ndarray) -> Rows:
    """Return memberships as sparse rows, without values below `LEAST_KEPT`.

    Examples
    --------
    >>> as_rows(np.array([[0.25, 0.75], [1.0, 1e-9]], np.float32)).indices
    array([0, 1, 0], dtype=int32)
    """
    is_in = memberships >= LEAST_KEPT
    indptr = np.append(0, np.cumsum(is_in.sum(1)))
    columns = np.nonzero(is_in)[1].astype(np.int32)
    return Rows(indptr, columns, memberships[is_in], memberships.shape[1])


def at_least(rows: Rows, limit: float) -> Rows:
    """Return the rows without entries below a limit.

    Examples
    --------
    >>> at_least(as_rows(np.array([[0.25, 0.75], [1.0, 1e-9]], np.float32)), 0.5).indices
    array([1, 0], dtype=int32)
    """
    is_in = rows.values >= np.float32(limit)
    indptr = np.append(0, np.cumsum(is_in))[rows.indptr]
    return Rows(indptr, rows.indices[is_in], rows.values[is_in], rows.n_columns)


def staged_scores(
    learner: StumpBoosting, rows: Rows, stages: Sequence[int], n_jobs: int = 1
) -> Iterator[np.ndarray]:
    """Yield the normalised scores after these numbers of rounds, without the offset of MR."""
    for n in stages:
        first = [rounds.first(n) for rounds in learner._rounds]
        stage = copy(learner)._use_rounds(first, 0 * learner._offsets, learner._n_thresholds)
        yield stage.score_rows(rows, n_jobs)


def beside(blocks: Sequence[Rows]) -> Rows:
    """Return blocks of columns for the same documents as one block.

    Examples
    --------
    >>> words = Rows(np.array([0, 1, 2]), np.array([1, 0], np.int32), np.ones(2, np.float32), 2)
    >>> beside([as_rows(np.array([[0.25, 0.75], [1.0, 0.0]], np.float32)), words])[:2]
    (array([0, 3, 5]), array([0, 1, 3, 0, 2], dtype=int32))
    """
    ends = np.cumsum([block.n_columns for block in blocks])
    shifted = [
        Rows(block.indptr, block.indices + np.int32(end - block.n_columns), block.values, int(end))
        for block, end in zip(blocks, ends, strict=True)
    ]
    n, stacked = blocks[0].n_rows, Rows.concatenate(shifted)
    order = np.arange(len(blocks) * n).reshape(len(blocks), n).T.ravel()  # document by document
    mixed = stacked.take(order)
    return Rows(mixed.indptr[:: len(blocks)], mixed.indices, mixed.values, mixed.n_columns)


def boost(
    sample: Sample,
    variant: Literal["MH", "MR"],
    sizes: tuple[int, ...],
    stages: tuple[int, ...],
    seed: int,
    limit: float = LEAST_MEMBERSHIP,
    is_folded: bool = False,
    *,
    n_jobs: int = 1,
) -> dict[str, Any]:
    """Boost rules over words and concepts, and measure on the test documents.

    Scores are those of the rounds as they are: of MR too, zero divides where α h adds up to zero.

    Parameters
    ----------
    sample : Sample
        The problem.
    variant : {"MH", "MR"}
        What is boosted.
    sizes : tuple of int
        How many concepts each model has; without any, words are all there is.
    stages : tuple of int
        After how many rounds to measure. The first rounds of many are those of few.
    seed : int
        Of the division, if it is random, and of the concepts.
    limit : float
        A P(z|d) below this counts as none.
    is_folded : bool
        Whether P(z|d) is folded in from all occurrences.
    n_jobs : int
        Threads.

    Returns
    -------
    dict
        What is measured after each of the `stages`; of the last, `topics` with test documents, each
        with its training documents and average precision; the mean share of Σ|α| on concepts after
        each round (`shares`); of each model of concepts, iterations and perplexity (`models`); and
        the `size` of it all.
    """
    documents, problem = read(sample.texts), Problem.of(sample, seed)
    models = [find_concepts(sample.texts, size, seed, is_folded, n_jobs) for size in sizes]
    blocks = [at_least(model.memberships, limit) for model in models]
    rows = beside([*blocks, documents.rows._replace(lengths=None)])
    train, test = rows.take(problem.train), rows.take(problem.test)
    labels, truth = problem.labels.take(problem.train), problem.labels.take(problem.test)
    learner = StumpBoosting(variant=variant, max_iter=max(stages), n_thresholds=sum(sizes))
    learner.fit_rows(Examples.of(train, labels), n_jobs=n_jobs)
    evaluations = [
        evaluate(scores, truth, training_scores=learned, training_labels=labels)
        for learned, scores in zip(
            staged_scores(learner, train, stages, n_jobs),
            staged_scores(learner, test, stages, n_jobs),
            strict=True,
        )
    ]
    counts = np.bincount(labels.indices, minlength=len(problem.topics)).tolist()
    precisions = (100 * evaluations[-1].per_category["average_precision"]).tolist()
    shares = 100 * learner.threshold_share(range(1, max(stages) + 1))
    return {
        "stages": [
            {name: cells_of(evaluation, name) for name in ("macro", "micro")}
            for evaluation in evaluations
        ],
        "topics": {
            name: [n, precision]
            for name, n, precision in zip(problem.topics, counts, precisions, strict=True)
            if precision == precision  # NaN where there are no test documents
        },
        "shares": np.nanmean(shares, axis=0).round(4).tolist() if sizes else [],
        "models": [[model.n_iterations, model.perplexity] for model in models],
        "size": {
            "documents": documents.rows.n_rows,
            "train": train.n_rows,
            "test": test.n_rows,
            "words": documents.rows.n_columns,
            "topics": len(problem.topics),
            "positives": 100
            * len(problem.labels.indices)
            / (problem.labels.n_rows * len(problem.topics)),
        },
    }


def cells_of(evaluation: Evaluation, average: str) -> dict[str, float]:
    """Return all columns of the tables for an average, in percent.

    Examples
    --------
    >>> scores, truth = np.array([[2.0], [1.0], [-1.0]]), np.array([[1], [0], [1]])
    >>> evaluation = evaluate(scores, truth, training_scores=scores, training_labels=truth)
    >>> cells_of(evaluation, "micro")
    {'p': 50.0, 'r': 50.0, 'F1': 50.0, 'BEP': 50.0, 'AvgP': 83.3, 'AdF1': 80.0}
    """
    means = evaluation.macro if average == "macro" else evaluation.micro
    position = ("macro", "micro").index(average)
    names = ((column, columns[position]) for column, columns in MEASURES.items())
    return {column: 100 * float(means[name]) for column, name in names if name}
