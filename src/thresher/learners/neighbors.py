"""Nearest neighbours: the most similar training documents vote on the categories."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any, Literal, NamedTuple, Self, get_args

import numpy as np

from thresher.examples import Examples
from thresher.learners._collection import Collection
from thresher.learners._columns import ordered, squares_of
from thresher.learners._differences import MOST_VALUES, Differences
from thresher.learners.growing import GrowingLearner, checked_mask
from thresher.learners.learner import Progress, State, Watch
from thresher.learners.scoring import ProbabilisticMixin, check_rows, run_cache_line_blocks
from thresher.parameters import N_JOBS, Choice, Whole, parameter
from thresher.rows import Labels, Rows

Vote = Literal["uniform", "similarity"]

TIED = 1e-9  # as in the kernels, which are imported when used
NO_TABLES = np.zeros(1, np.int64), np.zeros((1, 1)), np.zeros(1), np.zeros(1)
Metric = Literal["cosine", "euclidean", "value-difference"]
METRICS = get_args(Metric)  # the position is the kernel's code


class Neighbor(NamedTuple):
    """A training document that votes on another document.

    Attributes
    ----------
    number : int
        Its position in training order, from 0; documents of weight 0 are not counted.
    similarity : float
        The cosine, or minus the distance.
    labels : tuple of int
        Its categories.
    vote : float
        Its share of all votes.
    shared : tuple of (int, float)
        The columns that both have, and what each adds to the cosine, largest first. For the
        Euclidean distance it is what it adds to the inner product, for the value difference by how
        much it reduces the difference.
    """

    number: int
    similarity: float
    labels: tuple[int, ...]
    vote: float
    shared: tuple[tuple[int, float], ...]


class NearestNeighbors(ProbabilisticMixin, GrowingLearner):
    r"""Exact k nearest neighbours: the k most similar documents vote on the categories.

    Every neighbour votes for each of its categories. Documents as near as the k-th vote too. The
    score is the share of the votes less one half,

    .. math:: \frac{\sum_{i \in N} v_i [c \in y_i]}{\sum_{i \in N} v_i} - \frac12,

    so that a category is chosen if it is more probable than not, and not on a tie. :math:`v_i` is
    1. With `weights="similarity"` it is the cosine (documents with cosine 0 have no vote, unless
    all have), or one over the distance (if there are documents at distance 0, only these vote).
    A document of weight w counts as w documents. Learning on is exact: learning all documents at
    once or one by one gives the same. The cost of a document depends on its words only, except
    with the value difference, which is computed again each time.

    Notes
    -----
    Cosines that differ by less than 1e-9 are equal, so that ties do not depend on rounding. So are
    distances (Euclidean: their squares) that differ by less than 1e-9 of the distance (squared) of
    either document from an empty one. The cosine with an empty document is 0. If a document shares
    nothing with any other, all documents are tied and the score is the share of all of them.

    The value difference of two documents is :math:`\sum_j \sum_c |P(c|x_j) - P(c|z_j)|`, over all
    features and categories, without the weights of its authors. A missing feature is a value too; a
    feature may have 64 values. A value never seen before is uninformative: its categories are those
    of all documents.

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

    n_neighbors: int = parameter(
        default=10, kind=Whole(1), words="k, the number of documents that vote."
    )
    weights: Vote = parameter(
        default="similarity",
        kind=Choice(get_args(Vote)),
        words="Whether all votes are equal, or larger for more similar documents.",
    )
    metric: Metric = parameter(
        default="cosine",
        kind=Choice(METRICS),
        words='How similarity is measured: "cosine", "euclidean", or "value-difference", by the '
        "categories of values.",
    )
    n_jobs: int = N_JOBS

    # ---- learning ----------------------------------------------------------------------------

    def start(self, n_features: int, n_categories: int, mean_active: float = 1.0) -> Self:
        """Forget everything and begin with `n_features` and `n_categories`."""
        self.check_parameters()
        return self._use_documents(Collection(), n_features, n_categories)

    def fit_rows(
        self, examples: Examples, *, n_jobs: int = 1, progress: Progress = None, watch: Watch = None
    ) -> Self:
        """Store all documents and index their words; there are no mistakes to watch."""
        self.check_parameters()
        collection = Collection()
        self.n_features, self.n_categories = examples.n_columns, examples.n_categories
        for block in self._checked_blocks(examples, "indexing", progress):
            collection.append(*block)
        return self._use_documents(collection, self.n_features, self.n_categories)

    def _use_documents(self, collection: Collection, n_features: int, n_categories: int) -> Self:
        """Use and index these documents."""
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
        """Store more documents; mistakes are not counted."""
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
        """Index the latest documents if due; recompute the value differences."""
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
        """Return a function that undoes all learning and growing from now on; it is cheap."""
        put_back = self._collection.checkpoint()
        names = ("_collection", "_differences", "_n_features", "_n_categories")
        before = {name: getattr(self, name) for name in names}

        def restore() -> None:
            put_back()
            self.__dict__ |= before

        return restore

    # ---- fewer features and categories -------------------------------------------------------

    def prune(self, keep: np.ndarray) -> Self:
        """Remove the features where `keep` is false, as if they had never been seen."""
        keep = checked_mask(keep, self.n_features, "feature")
        rows = self._collection.rows(self.n_features).keep(keep)
        collection = self._collection.replaced(rows, self._labels())
        return self._use_documents(collection, rows.n_columns, self.n_categories)

    def drop_categories(self, keep: np.ndarray) -> Self:
        """Remove the categories where `keep` is false; their documents then have no category."""
        keep = checked_mask(keep, self.n_categories, "category")
        labels = self._labels()
        rows = Rows(*labels[:2], np.ones(len(labels.indices)), labels.n_categories).keep(keep)
        return self._relabel(Labels(rows.indptr, rows.indices, rows.n_columns))

    def _merge_columns(self, source: int, target: int) -> None:
        labels = self._labels()
        categories = np.where(labels.indices == source, target, labels.indices).astype(np.int32)
        self._relabel(labels._replace(indices=categories))

    def _open_second_column(self) -> None:
        counts = np.diff(self._labels().indptr)  # 1 for `classes_[1]`, else 0
        indptr = np.arange(len(counts) + 1)
        self._relabel(Labels(indptr, counts.astype(np.int32), 2))

    def _relabel(self, labels: Labels) -> Self:
        collection = self._collection.replaced(self._collection.rows(self.n_features), labels)
        return self._use_documents(collection, self.n_features, labels.n_categories)

    def _labels(self) -> Labels:
        return self._collection.all_labels(self.n_categories)

    # ---- scoring -----------------------------------------------------------------------------

    def score_rows(self, rows: Rows, n_jobs: int = 1) -> np.ndarray:
        """Return each category's share of the votes, less one half."""
        from thresher._kernels.neighbors import score_documents

        queries, arrays = self._arrays(rows)
        collection = self._collection
        labels = collection["label_indptr"], collection["labels"].view(np.uint32)
        scores = np.empty((rows.n_rows, self.n_categories), np.float32)

        def score(first: int, end: int) -> None:
            score_documents(*arrays, labels, self._scratch(), scores, first, end)

        run_cache_line_blocks(score, queries.n_rows, n_jobs)
        return scores

    def probabilities(self, scores: np.ndarray) -> np.ndarray:
        """Return the share of the votes that each score of `score_rows` stands for."""
        return np.clip(scores.astype(np.float64) + 0.5, 0.0, 1.0)  # outside only by rounding

    def _arrays(self, rows: Rows) -> tuple[Rows, tuple[Any, ...]]:
        """Return the queries with ascending columns, and the kernels' arguments besides scratch."""
        check_rows(rows, type(self).__name__, self.n_features, self.non_negative)
        queries, collection, n = ordered(rows), self._collection, self._collection.n_documents
        squares = collection["squares"]
        scales, sizes = np.ones(n), np.zeros(n)
        tables: tuple[np.ndarray, ...] = NO_TABLES
        if self._differences is not None:
            codes = self._differences.codes(queries)
            query_sizes = self._differences.sizes(queries, codes)
            queries = queries._replace(values=codes)
            sizes, tables = self._differences.learned_sizes, self._differences.tables
        else:
            query_sizes = squares_of(queries)
            if self.metric == "cosine":
                query_sizes = np.sqrt(query_sizes)
                np.divide(1.0, np.sqrt(squares), out=scales, where=squares > 0)
            else:
                scales, sizes = 2.0 * scales, squares
        rules = METRICS.index(self.metric), int(self.weights == "similarity"), self.n_neighbors
        contents = (
            collection["indptr"],
            collection["columns"].view(np.uint32),
            collection["values"],
            collection.n_indexed,
        )
        query = queries.indptr, queries.indices.view(np.uint32), queries.values, query_sizes
        stored = scales, sizes, collection["weights"]
        return queries, (rules, query, collection.index, collection.short, contents, stored, tables)

    def _scratch(self) -> Any:
        """Return the working memory of a kernel."""
        from thresher._kernels.neighbors import DOCUMENTS_PER_BLOCK, Scratch

        n = self._collection.n_documents
        sums, heap, keys, votes = np.empty((4, n))
        members, numbers = np.empty((2, n), np.int64)
        rough, bounds = np.empty((2, n), np.float32)
        peaks = np.empty(1 + n // DOCUMENTS_PER_BLOCK, np.float32)
        return Scratch(
            query=np.zeros(max(self.n_features, MOST_VALUES)),
            sums=sums, heap=heap, members=members, numbers=numbers, keys=keys, votes=votes,
            rough=rough, frequent=np.zeros(self.n_features, np.float32), bounds=bounds, peaks=peaks,
            every=np.arange(n), totals=np.empty(self.n_categories),
        )  # fmt: skip

    # ---- explanations ------------------------------------------------------------------------

    def neighbors(self, rows: Rows, n: int | None = None) -> list[list[Neighbor]]:
        """Return the documents that vote on each document, the nearest first.

        Parameters
        ----------
        rows : Rows
            The documents.
        n : int, optional
            The largest number to return for each; by default all that vote.
        """
        labels, answers = self._labels(), []
        for queries, ballot in self._ballots(rows):
            order = np.lexsort([ballot.voters, -ballot.similarities])[:n]
            voters, similarities, votes = (values[order] for values in ballot)
            shared, parts = self._shared(queries, voters)
            words = list(zip(shared.indices.tolist(), parts.tolist(), strict=True))
            lists = voters.tolist(), similarities.tolist(), votes.tolist()
            answer = []
            ends = pairwise(shared.indptr.tolist())
            for voter, similarity, vote, (start, end) in zip(*lists, ends, strict=True):
                categories = labels.indices[slice(*labels.indptr[voter : voter + 2])].tolist()
                largest_first = tuple(sorted(words[start:end], key=lambda word: -word[1]))
                answer.append(Neighbor(voter, similarity, tuple(categories), vote, largest_first))
            answers.append(answer)
        return answers

    def contributions(self, rows: Rows, category: int) -> tuple[np.ndarray, np.ndarray]:
        """Return what each entry of `rows` adds to the score of a category, and the rest of it.

        Each vote for the category is divided among the words that the neighbour shares with the
        document, in proportion to what they add to the similarity (see `Neighbor.shared`). The rest
        is the votes of neighbours that share nothing, less one half.
        """
        shares, rest = np.zeros(len(rows.indices), np.float32), np.full(rows.n_rows, -0.5)
        labels = self._labels()
        has = np.zeros(self._collection.n_documents, bool)
        has[np.repeat(np.arange(len(has)), np.diff(labels.indptr))[labels.indices == category]] = 1
        for i, (queries, ballot) in enumerate(self._ballots(rows)):
            agree = has[ballot.voters]
            votes = ballot.votes[agree]
            shared, parts = self._shared(queries, ballot.voters[agree])
            voters = np.repeat(np.arange(len(votes)), np.diff(shared.indptr))
            sums, sizes = [np.bincount(voters, p, len(votes)) for p in (parts, np.abs(parts))]
            is_near = sums > TIED * sizes
            rest[i] += votes[~is_near].sum()
            vote_per_sum = np.divide(votes, sums, out=np.zeros(len(votes)), where=is_near)
            entries = slice(*rows.indptr[i : i + 2])
            columns, positions = np.unique(rows.indices[entries], return_inverse=True)
            column_numbers = np.searchsorted(columns, shared.indices)
            sums = np.bincount(column_numbers, parts * vote_per_sum[voters], len(columns))
            shares[entries] = sums[positions]
        return shares, rest.astype(np.float32)

    def _ballots(self, rows: Rows) -> Iterator[tuple[Rows, _Ballot]]:
        """Yield each document as the kernels take it, and its voters."""
        from thresher._kernels.neighbors import vote

        queries, arrays = self._arrays(rows)
        scratch = self._scratch()
        voters, keys, votes = scratch.numbers, scratch.keys, scratch.votes
        for i in range(queries.n_rows):
            n = vote(i, *arrays, scratch)
            size, key = arrays[1][3][i], keys[:n].copy()
            if self.metric == "cosine":
                similarities = np.minimum(key / size, 1.0) if size else key
            else:
                gaps = size - key
                gaps[gaps <= TIED * np.maximum(size, np.abs(key))] = 0.0
                similarities = 0.0 - (np.sqrt(gaps) if self.metric == "euclidean" else gaps)
            ballot = _Ballot(voters[:n].copy(), similarities, votes[:n].copy())
            yield queries.take(np.array([i])), ballot

    def _shared(self, queries: Rows, numbers: np.ndarray) -> tuple[Rows, np.ndarray]:
        """Return what stored documents share with a query, and the contribution of each entry."""
        rows, differences = self._collection.rows(self.n_features), self._differences
        if differences is not None:
            rows = rows._replace(values=differences.learned_codes)
        is_queried = np.zeros(self.n_features, bool)
        is_queried[queries.indices] = True
        shared = rows.take(numbers).keep(is_queried, renumber=False)
        entries = np.searchsorted(queries.indices, shared.indices)
        if differences is not None:
            query = queries._replace(indices=shared.indices, values=queries.values[entries])
            return shared, differences.saved(query, shared)
        parts = queries.values[entries].astype(np.float64) * shared.values
        if self.metric == "cosine":
            lengths = np.sqrt(self._collection["squares"][numbers])
            parts /= np.repeat(lengths, np.diff(shared.indptr)) * np.sqrt(squares_of(queries))
        return shared, parts

    # ---- the model file ----------------------------------------------------------------------

    def summary(self) -> dict[str, Any]:
        """Return the numbers of stored documents and of their entries."""
        collection = self._collection
        return {"documents": collection.n_documents, "entries": len(collection["columns"])}

    def state(self) -> State:
        """Return the whole learner, as a JSON-able header and arrays."""
        return self.header(), self._collection.tensors()

    @classmethod
    def from_state(cls, header: dict[str, Any], tensors: dict[str, np.ndarray]) -> Self:
        """Return a learner from what `state` returned, checking every document."""
        learner, n_features, n_categories = cls.from_header(header)
        collection = Collection.read(tensors, n_features, n_categories)
        return learner._use_documents(collection, n_features, n_categories)


class _Ballot(NamedTuple):
    """The voters on a document, their similarities, and their shares of the votes."""

    voters: np.ndarray
    similarities: np.ndarray
    votes: np.ndarray
