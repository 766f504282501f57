"""Nearest neighbours: the documents most like this one vote on what it is."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any, Literal, NamedTuple, Self, get_args

import numpy as np

from thresher.examples import Examples
from thresher.learners._collection import Collection, ordered, squares_of
from thresher.learners._differences import MOST_VALUES, Differences
from thresher.learners.growing import GrowingLearner, checked_mask
from thresher.learners.learner import Progress, State, Watch
from thresher.learners.scoring import ProbabilisticMixin, check_rows, run_cache_line_blocks
from thresher.parameters import THREADS, Choice, Whole, parameter
from thresher.rows import Labels, Rows

__all__ = ["NearestNeighbors", "Neighbor"]

Vote = Literal["uniform", "similarity"]

TIED = 1e-9  # as in the kernels, which are imported when they are used
NO_TABLES = np.zeros(1, np.int64), np.zeros((1, 1)), np.zeros(1), np.zeros(1)
Metric = Literal["cosine", "euclidean", "value-difference"]
METRICS = get_args(Metric)  # by their numbers in the kernels


class Neighbor(NamedTuple):
    """A document that votes on another.

    Attributes
    ----------
    number : int
        The how-manieth document learned it is, from 0 on; those of weight 0 do not count.
    similarity : float
        The cosine, or minus the distance.
    labels : tuple of int
        Its categories.
    vote : float
        Its share of all votes.
    shared : tuple of (int, float)
        The columns that both have, and what each adds to the cosine (to the product of the two for
        the Euclidean distance; how much it lessens the value difference), the largest first.
    """

    number: int
    similarity: float
    labels: tuple[int, ...]
    vote: float
    shared: tuple[tuple[int, float], ...]


class NearestNeighbors(ProbabilisticMixin, GrowingLearner):
    r"""k nearest neighbours, exactly: the k documents most similar to one vote on its categories.

    Every neighbour votes for each of its categories, and all that are as near as the k-th vote too.
    The score is the share of the votes less one half,

    .. math:: \frac{\sum_{i \in N} v_i [c \in y_i]}{\sum_{i \in N} v_i} - \frac12,

    so that a category is chosen where it is more probable than not, and not on a tie. :math:`v_i`
    is 1, or with `weights="similarity"` the cosine (what is not similar at all has no vote, unless
    all are so) or one over the distance (at no distance, only those vote that are there too).
    A document of weight w counts as w documents. Learning on is exact: all at once or one by one
    gives the same, and one document costs its words, except with the value difference, whose
    figures are counted anew each time.

    Notes
    -----
    Cosines that differ by less than 1e-9 are the same, so that ties do not depend on rounding; so
    are distances (Euclidean: their squares) that differ by less than 1e-9 of the distance (squared)
    of either document from an empty one. The cosine with an empty document is 0. Where nothing is
    shared with anyone, all documents are tied and the score is the share of all of them.

    The value difference of two documents is :math:`\sum_j \sum_c |P(c|x_j) - P(c|z_j)|`, over all
    features and categories, without the weights that its authors put before it. Not to have a
    feature is a value too; there may be 64 values of each. A value never seen before says nothing:
    it has the categories of all documents.

    References
    ----------
    C. Manning and H. Schütze, Foundations of Statistical Natural Language Processing, 1999,
    section 16.4. C. Stanfill and D. Waltz, Toward memory-based reasoning, 1986.

    Examples
    --------
    >>> X = np.array([[2, 1, 0], [1, 0, 0], [0, 1, 1], [0, 2, 1]])
    >>> learner = NearestNeighbors(n_neighbors=1).fit(X, [1, 1, 0, 0])
    >>> learner.predict([[4, 2, 0], [0, 1, 3], [0, 0, 0]]).tolist()
    [1, 0, 0]
    >>> learner.decision_function([[4, 2, 0], [0, 1, 3], [0, 0, 0]]).tolist()
    [0.5, -0.5, 0.0]
    """

    name = "nearest-neighbors"
    constant_name = "(half of all votes)"

    n_neighbors: int = parameter(default=10, kind=Whole(1), words="k, how many vote.")
    weights: Vote = parameter(
        default="similarity",
        kind=Choice(get_args(Vote)),
        words="Whether all votes count the same, or the more the nearer.",
    )
    metric: Metric = parameter(
        default="cosine",
        kind=Choice(METRICS),
        words='What is near: "cosine", "euclidean", or by the categories of values, "value-'
        'difference".',
    )
    n_jobs: int = parameter(
        default=1, kind=THREADS, words="Threads; the result does not depend on how many."
    )

    # ---- learning ----------------------------------------------------------------------------

    def start(self, n_features: int, n_categories: int, mean_active: float = 1.0) -> Self:
        """Forget everything and begin with `n_features` and `n_categories`."""
        self.check_parameters()
        return self._take_over(Collection(), n_features, n_categories)

    def fit_rows(
        self, examples: Examples, *, n_jobs: int = 1, progress: Progress = None, watch: Watch = None
    ) -> Self:
        """Keep all documents and index their words; nothing is watched, as there are no mistakes.

        Parameters are those of `Learner.fit_rows`.
        """
        self.check_parameters()
        collection = Collection()
        self.n_features, self.n_categories = examples.n_columns, examples.n_categories
        for block in self._checked_blocks(examples, "indexing", progress):
            collection.append(*block)
        return self._take_over(collection, self.n_features, self.n_categories)

    def _take_over(self, collection: Collection, n_features: int, n_categories: int) -> Self:
        """Let these be the documents, and index them."""
        if self.metric != "value-difference":
            collection.index_all(collection["values"], n_features)
        self._collection = collection
        self._differences: Differences | None = None
        self.n_features, self.n_categories = n_features, n_categories
        self._recompute()
        return self

    def _learn(
        self, rows: Rows, labels: Labels, order: np.ndarray | None, weights: np.ndarray, n_jobs: int
    ) -> np.ndarray:
        """Keep the documents too; mistakes are not counted."""
        if order is not None:
            rows, labels, weights = rows.take(order), labels.take(order), weights[order]
        restore = self.checkpoint(rows.indices)
        try:
            self._collection.append(rows, labels, weights)
            self._recompute()
        except BaseException:
            restore()
            raise
        return np.zeros(self.n_categories, np.int64)

    def merge(
        self,
        other: Self,
        features: np.ndarray | None = None,
        categories: np.ndarray | None = None,
    ) -> Self:
        """Add the documents of `other` after those learned here; see `SummingLearner.merge`."""
        features, categories = self._prepare_merge(other, features, categories)
        rows = other._collection.rows(other.n_features).renumbered(
            features.astype(np.int32), self.n_features
        )
        labels = other._labels()
        indices = categories[labels.indices].astype(np.int32)
        labels = Labels(labels.indptr, indices, self.n_categories)
        self._learn(rows, labels, None, other._collection["weights"], 1)
        return self

    def _recompute(self) -> None:
        """Index the latest documents where that is due; count the values of features anew."""
        collection = self._collection
        if self.metric != "value-difference":
            collection.index_if_due(self.n_features)
            return
        labels = collection.all_labels(self.n_categories)
        rows = collection.rows(self.n_features)
        self._differences = Differences(rows, labels, collection["weights"])
        collection.index_all(self._differences.learned_codes, self.n_features)

    def _enlarge(self, n_features: int, n_categories: int) -> None:
        self.n_features, self.n_categories = n_features, n_categories
        self._recompute()

    def checkpoint(self, columns: np.ndarray) -> Callable[[], None]:
        """Return a function that takes back what is learned from now on, and what has grown.

        It costs next to nothing, whatever the `columns` of the documents to come.
        """
        put_back = self._collection.checkpoint()
        names = ("_collection", "_differences", "_n_features", "_n_categories")
        before = {name: getattr(self, name) for name in names}

        def restore() -> None:
            put_back()
            self.__dict__ |= before

        return restore

    # ---- what becomes of features and categories ---------------------------------------------

    def prune(self, keep: np.ndarray) -> Self:
        """Remove the features where `keep` is false, as if they had never been there."""
        keep = checked_mask(keep, self.n_features, "feature")
        rows = self._collection.rows(self.n_features).keep(keep)
        collection = self._collection.replaced(rows, self._labels())
        return self._take_over(collection, rows.n_columns, self.n_categories)

    def drop_categories(self, keep: np.ndarray) -> Self:
        """Remove the categories where `keep` is false; their documents are then of no category."""
        keep = checked_mask(keep, self.n_categories, "category")
        labels = self._labels()
        rows = Rows(*labels[:2], np.ones(len(labels.indices)), labels.n_categories).keep(keep)
        return self._relabel(Labels(rows.indptr, rows.indices, rows.n_columns))

    def _merge_columns(self, source: int, target: int) -> None:
        labels = self._labels()
        categories = np.where(labels.indices == source, target, labels.indices).astype(np.int32)
        self._relabel(labels._replace(indices=categories))

    def _open_second_column(self) -> None:
        counts = np.diff(self._labels().indptr)  # 1 where it is of `classes_[1]`, else 0
        indptr = np.arange(len(counts) + 1)
        self._relabel(Labels(indptr, counts.astype(np.int32), 2))

    def _relabel(self, labels: Labels) -> Self:
        collection = self._collection.replaced(self._collection.rows(self.n_features), labels)
        return self._take_over(collection, self.n_features, labels.n_categories)

    def _labels(self) -> Labels:
        return self._collection.all_labels(self.n_categories)

    # ---- scoring -----------------------------------------------------------------------------

    def score_rows(self, rows: Rows, n_jobs: int = 1) -> np.ndarray:
        """Return each category's share of the votes, less one half."""
        from thresher._kernels.neighbors import score_documents

        asking, arrays = self._arrays(rows)
        collection = self._collection
        labels = collection["label_indptr"], collection["labels"].view(np.uint32)
        scores = np.empty((rows.n_rows, self.n_categories), np.float32)

        def score(first: int, end: int) -> None:
            score_documents(*arrays, labels, self._scratch(), scores, first, end)

        run_cache_line_blocks(score, asking.n_rows, n_jobs)
        return scores

    def probabilities(self, scores: np.ndarray) -> np.ndarray:
        """Return the share of the votes that each score of `score_rows` stands for."""
        return np.clip(scores.astype(np.float64) + 0.5, 0.0, 1.0)  # but for rounding

    def _arrays(self, rows: Rows) -> tuple[Rows, tuple[Any, ...]]:
        """Return documents that ask, in order, and what the kernels want to know beside scratch."""
        check_rows(rows, type(self).__name__, self.n_features, self.non_negative)
        asking, collection, n = ordered(rows), self._collection, self._collection.n_documents
        squares = collection["squares"]
        scales, sizes = np.ones(n), np.zeros(n)
        tables: tuple[np.ndarray, ...] = NO_TABLES
        if self._differences is not None:
            codes = self._differences.codes(asking)
            own = self._differences.sizes(asking, codes)
            asking = asking._replace(values=codes)
            sizes, tables = self._differences.learned_sizes, self._differences.tables
        else:
            own = squares_of(asking)
            if self.metric == "cosine":
                own = np.sqrt(own)
                np.divide(1.0, np.sqrt(squares), out=scales, where=squares > 0)
            else:
                scales, sizes = 2.0 * scales, squares
        rules = METRICS.index(self.metric), int(self.weights == "similarity"), self.n_neighbors
        kept = (
            collection["indptr"],
            collection["columns"].view(np.uint32),
            collection["values"],
            collection.n_indexed,
        )
        query = asking.indptr, asking.indices.view(np.uint32), asking.values, own
        stored = scales, sizes, collection["weights"]
        return asking, (rules, query, collection.index, collection.short, kept, stored, tables)

    def _scratch(self) -> Any:
        """Return room for what a kernel is at."""
        from thresher._kernels.neighbors import LANES, Scratch

        n = self._collection.n_documents
        sums, heap, keys, votes = np.empty((4, n))
        members, numbers = np.empty((2, n), np.int64)
        rough, bounds = np.empty((2, n), np.float32)
        peaks = np.empty(1 + n // LANES, np.float32)
        return Scratch(
            query=np.zeros(max(self.n_features, MOST_VALUES)),
            sums=sums, heap=heap, members=members, numbers=numbers, keys=keys, votes=votes,
            rough=rough, rough_bits=rough.view(np.int32),
            frequent=np.zeros(self.n_features, np.float32),
            bounds=bounds, bound_bits=bounds.view(np.int32),
            peaks=peaks, peak_bits=peaks.view(np.int32),
            every=np.arange(n), totals=np.empty(self.n_categories),
        )  # fmt: skip

    # ---- why ---------------------------------------------------------------------------------

    def neighbors(self, rows: Rows, n: int | None = None) -> list[list[Neighbor]]:
        """Return the documents that vote on each document, the nearest first.

        Parameters
        ----------
        rows : Rows
            The documents.
        n : int, optional
            How many to name of each at most; all that vote by default.
        """
        labels, answers = self._labels(), []
        for asking, ballot in self._ballots(rows):
            order = np.lexsort([ballot.voters, -ballot.similarities])[:n]
            voters, similarities, votes = (one[order] for one in ballot)
            shared, parts = self._shared(asking, voters)
            words = zip(shared.indices.tolist(), parts.tolist(), strict=True)
            lists = [list(islice(words, count)) for count in np.diff(shared.indptr).tolist()]
            own = labels.take(voters)
            given = iter(own.indices.tolist())
            answers.append(
                [
                    Neighbor(
                        number,
                        similarity,
                        tuple(islice(given, n_labels)),
                        vote,
                        tuple(sorted(pairs, key=lambda pair: -pair[1])),
                    )
                    for number, similarity, n_labels, vote, pairs in zip(
                        voters.tolist(),
                        similarities.tolist(),
                        np.diff(own.indptr).tolist(),
                        votes.tolist(),
                        lists,
                        strict=True,
                    )
                ]
            )
        return answers

    def contributions(self, rows: Rows, category: int) -> tuple[np.ndarray, np.ndarray]:
        """Return what each entry of `rows` adds to the score of a category, and the rest of it.

        Each vote for the category is divided among the words that the neighbour shares with the
        document, in proportion to what they add to the similarity (see `Neighbor.shared`). The rest
        is minus one half, and the votes of those that share nothing.
        """
        shares, rest = np.zeros(len(rows.indices), np.float32), np.full(rows.n_rows, -0.5)
        labels = self._labels()
        has = np.zeros(self._collection.n_documents, bool)
        has[np.repeat(np.arange(len(has)), np.diff(labels.indptr))[labels.indices == category]] = 1
        for i, (asking, ballot) in enumerate(self._ballots(rows)):
            agree = has[ballot.voters]
            votes = ballot.votes[agree]
            shared, parts = self._shared(asking, ballot.voters[agree])
            voters = np.repeat(np.arange(len(votes)), np.diff(shared.indptr))
            sums, sizes = (np.bincount(voters, one, len(votes)) for one in (parts, np.abs(parts)))
            is_near = sums > TIED * sizes
            rest[i] += votes[~is_near].sum()
            each = np.divide(votes, sums, out=np.zeros(len(votes)), where=is_near)
            here = slice(*rows.indptr[i : i + 2])
            columns, places = np.unique(rows.indices[here], return_inverse=True)
            own = np.searchsorted(columns, shared.indices)
            shares[here] = np.bincount(own, parts * each[voters], len(columns))[places]
        return shares, rest.astype(np.float32)

    def _ballots(self, rows: Rows) -> Iterator[tuple[Rows, _Ballot]]:
        """Yield each document as the kernels take it, and who votes on it."""
        from thresher._kernels.neighbors import vote

        asking, arrays = self._arrays(rows)
        scratch = self._scratch()
        voters, keys, votes = scratch.numbers, scratch.keys, scratch.votes
        for i in range(asking.n_rows):
            n = vote(i, *arrays, scratch)
            size, own = arrays[1][3][i], keys[:n].copy()
            if self.metric == "cosine":
                similarities = np.minimum(own / size, 1.0) if size else own
            else:
                gaps = size - own
                gaps[gaps <= TIED * np.maximum(size, np.abs(own))] = 0.0
                similarities = 0.0 - (np.sqrt(gaps) if self.metric == "euclidean" else gaps)
            ballot = _Ballot(voters[:n].copy(), similarities, votes[:n].copy())
            yield asking.take(np.array([i])), ballot

    def _shared(self, asking: Rows, numbers: np.ndarray) -> tuple[Rows, np.ndarray]:
        """Return what some documents share with one that asks, and what each entry is worth."""
        rows, differences = self._collection.rows(self.n_features), self._differences
        if differences is not None:
            rows = rows._replace(values=differences.learned_codes)
        mine = np.zeros(self.n_features, bool)
        mine[asking.indices] = True
        shared = rows.take(numbers).keep(mine, renumber=False)
        places = np.searchsorted(asking.indices, shared.indices)
        if differences is not None:
            own = asking._replace(indices=shared.indices, values=asking.values[places])
            return shared, differences.saved(own, shared)
        parts = asking.values[places].astype(np.float64) * shared.values
        if self.metric == "cosine":
            lengths = np.sqrt(self._collection["squares"][numbers])
            parts /= np.repeat(lengths, np.diff(shared.indptr)) * np.sqrt(squares_of(asking))
        return shared, parts

    # ---- the model file ----------------------------------------------------------------------

    def summary(self) -> dict[str, Any]:
        """Return how many documents are kept, and how many words of them."""
        collection = self._collection
        return {"documents": collection.n_documents, "entries": len(collection["columns"])}

    def state(self) -> State:
        """Return all that is needed to go on, as a JSON-able header and arrays."""
        return self.header(), self._collection.tensors()

    @classmethod
    def from_state(cls, header: dict[str, Any], tensors: dict[str, np.ndarray]) -> Self:
        """Rebuild a learner from what `state` returned, checking every document."""
        learner, n_features, n_categories = cls.from_header(header)
        collection = Collection.read(tensors, n_features, n_categories)
        return learner._take_over(collection, n_features, n_categories)


class _Ballot(NamedTuple):
    """Who votes on a document, how near each is, and each one's share of the votes."""

    voters: np.ndarray
    similarities: np.ndarray
    votes: np.ndarray
