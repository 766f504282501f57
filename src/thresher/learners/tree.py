"""Decision trees: a sequence of tests of single features for each category."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from queue import SimpleQueue
from typing import Any, ClassVar, Literal, NamedTuple, Self, get_args

import numpy as np

from thresher.engine import engine_for
from thresher.errors import ModelError
from thresher.learners import _pruning
from thresher.learners._memory import MemoryLearner, Training
from thresher.learners._trees import (
    NO_NODES,
    Columns,
    Growth,
    concatenated,
    exact_weights,
    joined,
    leaves_in,
)
from thresher.learners._trees import Tree as Tree
from thresher.learners._trees import grow_tree as grow_tree
from thresher.learners._trees import information_gain as information_gain
from thresher.learners.capabilities import ExplainedFeatures, Line, Lines
from thresher.learners.growing import checked_mask
from thresher.learners.learner import Progress, State
from thresher.learners.scoring import ProbabilisticMixin, check_rows
from thresher.limits import LARGEST_SUM
from thresher.parameters import Choice, Number, Whole, parameter, random_seed
from thresher.rows import Rows
from thresher.state import require_tensor

Pruning = Literal["confidence", "validation", "cross-validation", "interpolation"]

Grower = Callable[[np.ndarray, np.ndarray, Growth], Tree]


class Step(NamedTuple):
    """One test on the path of a document to its leaf.

    Attributes
    ----------
    column, threshold : int, float
        The feature and the threshold that are tested.
    value : float
        The value of the feature in the document; zero if it is missing.
    is_above : bool
        Whether the value is at least the threshold.
    n_documents, probability : float
        Of the node that the test leads to: the weight of its training documents, and the
        probability that a document there belongs.
    share : float
        The change of the log-odds by the test.
    """

    column: int
    threshold: float
    value: float
    is_above: bool
    n_documents: float
    probability: float
    share: float


class DecisionTree(ProbabilisticMixin, MemoryLearner):
    r"""A tree of yes/no questions for each category, grown by information gain and then pruned.

    A node tests whether the value of a feature is at least a threshold, which is a value that
    occurs among its documents (the value of a missing feature is zero). Of all such tests, the one
    with the largest information gain is chosen, in nats,

    .. math:: G = H(t) - \left(p_L H(t_L) + p_R H(t_R)\right),

    where H is the entropy of belonging to the category among the documents of the node and of its
    two children. The tree grows until the documents of a node all belong or all do not, or are all
    equal. A test without gain is used if there is no better one, because the next may have a large
    gain. At a leaf with n documents of the category among N, the probability is (n + 1) / (N + 2),
    and the score is its log-odds.

    Notes
    -----
    Of tests with equal gain, to 1e-13, the one of the first feature is chosen, and of its
    thresholds the lowest. Gains use the weights of documents; `min_samples_split` and
    `min_samples_leaf` are plain numbers of documents. Weights are rounded to 52 bits of their sum,
    so that the tree does not depend on the order of the documents. Every category has a separate
    tree, even if categories exclude each other.

    Methods of pruning:

    "validation"
        Documents are held out. Leaves are removed two at a time, always below the node whose test
        gains least on the held-out documents (of equal ones, the one with the fewest training
        documents). Of all these trees, down to the root alone, those that decide most held-out
        documents right are compared, and the smallest is chosen.
    "cross-validation"
        The mean number of tests of such trees over `n_folds` folds is the size to which a tree of
        all documents is pruned, by the gain on the training documents themselves.
    "confidence"
        From the leaves up, a test is removed if it does not lower the expected mistakes: the upper
        limit of the binomial distribution at `confidence`, as in C4.5.
    "interpolation"
        Nothing is removed. The probability of a node is λ times its own and 1 - λ times that of its
        parent, which is interpolated likewise. Nodes with 2ᵇ to 2ᵇ⁺¹ documents share one λ, learned
        from held-out documents by expectation maximization; then the tree is grown from all.

    References
    ----------
    C. Manning and H. Schütze, Foundations of statistical natural language processing, 1999,
    section 16.1; J. R. Quinlan, C4.5: programs for machine learning, 1993 (confidence);
    D. Magerman, Natural language parsing as statistical pattern recognition, 1994 (interpolation).

    Examples
    --------
    >>> X = np.array([[0, 0], [0, 1], [1, 0], [1, 1]] * 2)
    >>> learner = DecisionTree(pruning=None).fit(X, [0, 1, 1, 0] * 2)  # one or the other, not both
    >>> learner.predict_proba(X[:2])
    array([[0.75, 0.25],
           [0.25, 0.75]])
    >>> learner.tree(0).column.tolist()
    [0, 1, -1, -1, 1, -1, -1]
    """

    name = "decision-tree"
    asks_for = "column"
    constant_name = "(absent words, and the root)"
    preferred_strength: ClassVar[dict[str, Any]] = {"kind": "book"}

    pruning: Pruning | None = parameter(
        default="confidence",
        kind=Choice((None, *get_args(Pruning))),
        words="The method against overfitting; None for no pruning.",
    )
    smoothing: float = parameter(
        default=1.0, kind=Number(1e-10), words="Added to the counts of both outcomes at a leaf."
    )
    max_depth: int | None = parameter(
        default=None,
        kind=Whole(0, optional=True),
        words="The largest number of tests from the root to a leaf.",
    )
    min_samples_split: int = parameter(
        default=2, kind=Whole(2), words="Documents that a node must have to be split."
    )
    min_samples_leaf: int = parameter(
        default=1, kind=Whole(1), words="Documents that a leaf must have."
    )
    min_gain: float = parameter(
        default=0.0,
        kind=Number(0.0),
        words="The least gain of a test, in nats; at 0, tests without gain are used too.",
    )
    confidence: float = parameter(
        default=0.25,
        kind=Number(1e-6, 0.5),
        words='The confidence of "confidence"; lower values prune more.',
    )
    validation_fraction: float = parameter(
        default=0.2,
        kind=Number(0.01, 0.9),
        words='The share of documents held out for "validation" and "interpolation".',
    )
    n_folds: int = parameter(
        default=5, kind=Whole(2, 1000), words='The folds of "cross-validation".'
    )
    random_state: int | None = random_seed("The seed for choosing held-out documents.")

    # ---- learning ----------------------------------------------------------------------------

    def _fit(self, training: Training, n_jobs: int, progress: Progress) -> None:
        """Grow and prune a tree for each category."""
        rows, labels, n = training.rows, training.labels, training.labels.n_categories
        weights, belongs = exact_weights(training.weights), labels.to_dense()
        # The first documents of a random order are held out.
        order = np.random.default_rng(self.random_state).permutation(rows.n_rows)
        columns = Columns(rows)
        growers: SimpleQueue[Grower] = SimpleQueue()
        for _ in range(min(n_jobs, max(1, n))):
            growers.put(columns.grower())

        def tree_of(category: int) -> Tree:
            known = weights if labels.known is None else weights * labels.known[:, category]
            positive = np.ascontiguousarray(belongs[:, category])
            grower = growers.get()
            try:
                return self._tree(grower, rows, positive, known, order)
            finally:
                growers.put(grower)

        trees: list[Tree] = []
        for tree in engine_for(n_jobs).map(tree_of, range(n)):
            trees.append(tree)
            if progress is not None:
                progress("trees", rows.n_rows, len(trees) / n)
        self._use_trees(trees)

    def _tree(
        self, grow: Grower, rows: Rows, positive: np.ndarray, weights: np.ndarray, order: np.ndarray
    ) -> Tree:
        """Return the tree of one category, grown and pruned."""
        growth = Growth(*(getattr(self, name) for name in Growth._fields))
        n_held = int(np.ceil(self.validation_fraction * len(order)))

        def held_out(held: np.ndarray) -> tuple[Tree, Tree]:
            """Return a tree grown without some documents, and the tree with the counts of these."""
            without = weights.copy()
            without[held] = 0.0
            tree = grow(positive, without, growth)
            return tree, tree.counts(rows.take(held), positive[held], weights[held])

        match self.pruning:
            case "validation":
                tree, counted = held_out(order[:n_held])
                nodes, n_pruned = _pruning.best_size(tree, counted)
                return _pruning.cut(tree, nodes[:n_pruned])
            case "cross-validation":
                sizes = []
                for held in np.array_split(order, self.n_folds):
                    nodes, n_pruned = _pruning.best_size(*held_out(held))
                    sizes.append(len(nodes) - n_pruned)
                tree = grow(positive, weights, growth)
                nodes = _pruning.pruning_order(tree, information_gain(tree))
                n_pruned = max(0, len(nodes) - round(float(np.mean(sizes))))
                return _pruning.cut(tree, nodes[:n_pruned])
            case "interpolation":
                shares = _pruning.learned_shares(*held_out(order[:n_held]))
                return _pruning.interpolated(grow(positive, weights, growth), shares)
            case "confidence":
                tree = grow(positive, weights, growth)
                return _pruning.pruned_by_confidence(tree, self.confidence)
        return grow(positive, weights, growth)

    def _use_trees(self, trees: list[Tree]) -> Self:
        self.n_categories, self._trees = len(trees), trees
        self._forest, self._roots = joined(trees)
        self._odds = self._forest.log_odds().astype(np.float32)
        return self

    # ---- scores and explanations -------------------------------------------------------------

    def score_rows(self, rows: Rows, n_jobs: int = 1) -> np.ndarray:
        """Return the log-odds of each category at the leaf of a document."""
        check_rows(rows, "DecisionTree", self.n_features, False)
        return np.asarray(self._odds[leaves_in(self._forest, self._roots, rows, n_jobs)])

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the probability of each class; with several labels, of each label separately."""
        probable = super().predict_proba(X)
        if self._targets.kind == "single" and len(self.classes_) > 2:
            probable /= probable.sum(1, keepdims=True)
        return probable

    def tree(self, category: int) -> Tree:
        """Return the tree of a category."""
        return self._trees[category]

    def importance(self, category: int) -> np.ndarray:
        """Return the information gain of the tests of each feature, in nats per document.

        It is negative for features whose larger values make the category less probable.
        """
        tree, total_gains = self._trees[category], np.zeros(self.n_features)
        inner = np.flatnonzero(tree.column >= 0)
        share = tree.n_documents[inner] / max(float(tree.n_documents[0]), 1.0)
        rises = tree.probability[tree.right[inner]] - tree.probability[tree.left[inner]]
        gains = np.sign(rises) * share * information_gain(tree)[inner]
        np.add.at(total_gains, tree.column[inner], gains)
        return total_gains

    def path(self, rows: Rows, category: int) -> list[Step]:
        """Return the tests that lead the first document of `rows` to its leaf.

        Their shares and the log-odds of the root add up to the score.
        """
        check_rows(rows, "DecisionTree", self.n_features, False)
        tree, odds = self._trees[category], self._trees[category].log_odds()
        columns, values = (
            array[: rows.indptr[1]].tolist() for array in (rows.indices, rows.values)
        )
        strengths = dict(zip(columns, values, strict=True))
        steps, node = [], 0
        while tree.column[node] >= 0:
            column, threshold = int(tree.column[node]), float(tree.threshold[node])
            value = strengths.get(column, 0.0)
            child = int((tree.right if value >= threshold else tree.left)[node])
            reached = float(tree.n_documents[child]), float(tree.probability[child])
            share = float(odds[child] - odds[node])
            steps.append(Step(column, threshold, value, value >= threshold, *reached, share))
            node = child
        return steps

    def explanation_lines(self, rows: Rows, category: int, features: ExplainedFeatures) -> Lines:
        """Return a line for the root of the tree, and one for each test on the path to the leaf."""
        steps = self.path(rows, category)
        names = features.readable_names(np.array([step.column for step in steps], np.int64))
        lines = []
        for step, name in zip(steps, names, strict=True):
            test = f"{name} {'≥' if step.is_above else '<'} {step.threshold:.3g}"
            documents = f"{step.n_documents:,.10g} document{'s' * (step.n_documents != 1)}"
            node = f"{documents}, P = {step.probability:.3f}"
            lines.append(Line(f"{test} ({step.value:.3g}): {node}", step.value, step.share))
        by_entry, (constant,) = self.contributions(rows, category)
        root = float(by_entry.sum()) + float(constant) - sum(line.share for line in lines)
        return Lines("test", [Line("(the root of the tree)", 1.0, root), *lines])

    def contributions(self, rows: Rows, category: int) -> tuple[np.ndarray, np.ndarray]:
        """Return what the tests of each entry add; tests of missing features are in the rest."""
        shares = np.zeros(len(rows.indices), np.float32)
        rest = np.full(rows.n_rows, self._trees[category].log_odds()[0], np.float32)
        for i in range(rows.n_rows):
            start, end = int(rows.indptr[i]), int(rows.indptr[i + 1])
            places = {int(j): start + n for n, j in enumerate(rows.indices[start:end])}
            for step in self.path(rows.take(np.array([i])), category):
                if step.column in places:
                    shares[places[step.column]] += step.share
                else:
                    rest[i] += step.share
        return shares, rest

    def summary(self) -> dict[str, Any]:
        """Return the number of nodes and the depth of the tree of each category."""
        return {
            "nodes": [tree.n_nodes for tree in self._trees],
            "depths": [int(tree.depths().max()) for tree in self._trees],
        }

    # ---- categories and files ----------------------------------------------------------------

    def drop_categories(self, keep: np.ndarray) -> Self:
        """Remove the categories where `keep` is false; the others are renumbered in order."""
        retained = np.flatnonzero(checked_mask(keep, self.n_categories, "category"))
        return self._use_trees([self._trees[k] for k in retained])

    def state(self) -> State:
        """Return all nodes, as a JSON-able header and arrays; children are numbered by tree."""
        ends = np.append(self._roots, len(self._odds)).astype(np.int64)
        return self.header(), {"ends": ends, **concatenated(self._trees)._asdict()}

    @classmethod
    def from_state(cls, header: dict[str, Any], tensors: dict[str, np.ndarray]) -> Self:
        """Return a learner from what `state` returned, checking everything."""
        learner, n_features, n_categories = cls.from_header(header)
        ends = require_tensor(tensors, "ends", np.int64, (n_categories + 1,), low=0)
        size = (int(ends[-1]),)
        counts = {"low": 0, "high": LARGEST_SUM}
        bounds: dict[str, dict[str, Any]] = {
            "column": {"low": -1, "high": max(0, n_features - 1)}, "threshold": {"finite": True},
            "left": {"low": -1}, "right": {"low": -1}, "n_documents": counts, "n_positive": counts,
            "probability": {"low": 1e-300, "high": 1 - 2.0**-53},
        }  # fmt: skip
        arrays = [
            require_tensor(tensors, name, empty.dtype, size, **bounds[name])
            for name, empty in NO_NODES._asdict().items()
        ]
        is_right = ends[0] == 0 and bool((np.diff(ends) > 0).all())
        is_right &= bool(n_features or arrays[0].max(initial=-1) < 0)
        trees = [Tree(*[array[a:b] for array in arrays]) for a, b in pairwise(ends) if is_right]
        if not (is_right and all(map(_is_whole, trees))):
            raise ModelError(
                "The learner's part of the model is damaged: the nodes of decision-tree do not fit "
                "together."
            )
        return learner._use_trees(trees)


def _is_whole(tree: Tree) -> bool:
    """Return True if every node but the root is the child of exactly one earlier node."""
    inside = np.flatnonzero(tree.column >= 0)
    children = np.concatenate([tree.left[inside], tree.right[inside]])
    leaves = np.delete(np.stack([tree.left, tree.right]), inside, axis=1)
    return bool(
        (leaves == -1).all()
        and (children > np.tile(inside, 2)).all()
        and np.array_equal(np.sort(children), np.arange(1, tree.n_nodes))
    )
