"""Section 16.1: decision trees, grown on four fifths of the documents and pruned on the rest."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from thresher.examples import Examples
from thresher.learners._pruning import best_size, cut
from thresher.learners._trees import leaves_of
from thresher.learners.tree import DecisionTree, Tree, count_tree, grow_tree, information_gain
from thresher.papers._result import Cells, Curve, Drawing, Figure, Table
from thresher.papers._running import Documents, mean_and_spread
from thresher.papers.manning_schuetze_1999 import published
from thresher.papers.manning_schuetze_1999.earnings import (
    contingency,
    contingency_table,
    earnings,
    is_earnings,
)
from thresher.papers.manning_schuetze_1999.published import NAME, WORDS

HELD_OUT = 1922
SPLITS = 10  # random divisions into training and validation documents
CTS, NET, VS = (WORDS.index(word) for word in ("cts", "net", "vs"))
# Figure 16.1: column, least value for the right side, left side, right side.
BOOKS_TREE = (CTS, 2, (NET, 1, None, None), (VS, 2, None, None))


class Division(NamedTuple):
    """Documents to grow from, to prune by, and to test on."""

    training: Documents
    validation: Documents
    test: Documents


@lru_cache(maxsize=2)
def division(seed: int) -> Division:
    """Hold 1,922 random training documents out, which leaves 7,681."""
    train, test = earnings()
    order = np.random.default_rng(seed).permutation(train.rows.n_rows)
    held = np.split(order, [HELD_OUT])
    return Division(train.take(held[1]), train.take(held[0]), test)


class Pruning(NamedTuple):
    """A full tree and all that are cut from it, with their accuracies in percent."""

    tree: Tree
    order: np.ndarray  # inner nodes as they become leaves
    n_pruned: int  # what the validation documents choose
    accuracies: dict[str, np.ndarray]

    @property
    def chosen(self) -> Tree:
        return cut(self.tree, self.order[: self.n_pruned])

    def accuracy(self, name: str) -> float:
        """Return that of the chosen tree."""
        return float(self.accuracies[name][self.n_pruned])


def prune(parts: Division) -> Pruning:
    """Grow the full tree, and measure it on all parts as it is pruned node by node."""
    tree = grow_tree(parts.training.rows, is_earnings(parts.training))
    counted = [tree.counts(part.rows, is_earnings(part)) for part in parts]
    order, n_pruned = best_size(tree, counted[1])
    accuracies = {}
    for name, one in zip(Division._fields, counted, strict=True):
        right = np.where(tree.probability > 0.5, one.n_positive, one.n_documents - one.n_positive)
        changes = right[order] - right[tree.left[order]] - right[tree.right[order]]
        full = right[tree.column < 0].sum()
        accuracies[name] = 100 * (full + np.append(0, np.cumsum(changes))) / one.n_documents[0]
    return Pruning(tree, order, n_pruned, accuracies)


@lru_cache(maxsize=SPLITS + 1)
def pruning(seed: int) -> Pruning:
    """Return the pruning of a random division."""
    return prune(division(seed))


def decide(tree: Tree, documents: Documents) -> np.ndarray:
    """Return which documents a tree takes to be about earnings."""
    return np.asarray(tree.probability[leaves_of([tree], documents.rows)[:, 0]] > 0.5)


# ---- figures 16.1 and 16.2, table 16.4: the book's tree with our counts --------------------------


def books_tree(seed: int) -> Tree:
    """Return figure 16.1 with the counts of our 7,681 documents."""
    training = division(seed).training
    return count_tree(BOOKS_TREE, training.rows, is_earnings(training))


def shares(tree: Tree) -> np.ndarray:
    """Return the part of each node's documents that belongs; the book does not smooth it."""
    return np.asarray(tree.n_positive / tree.n_documents)


def figure_16_1(seed: int = 0, quick: bool = False) -> Drawing:
    """The book's tree with our counts, and the one that we grow."""
    training = division(seed).training
    book = books_tree(seed)
    own = grow_tree(training.rows, is_earnings(training), max_depth=2)
    ours = {
        str(node + 1): {"articles": int(n), "P(c)": float(share)}
        for node, (n, share) in enumerate(zip(book.n_documents, shares(book), strict=True))
    }
    gains = [float(information_gain(tree)[0]) for tree in (book, own)]

    def picture() -> Iterator[Any]:
        from thresher.report.plots import new_figure

        figure, grid = new_figure(2, height=4.2)
        figure.set_size_inches(13, 4.2)
        for axes, title, tree in zip(
            grid, ("the book's tree, our counts", "our tree, as deep"), (book, own), strict=True
        ):
            labels = [
                f"node {node + 1}\n{n:,.0f} articles\nP = {share:.3f}"
                + (f"\n{question}?" if question else "")
                for node, (n, share, question) in enumerate(
                    zip(tree.n_documents, shares(tree), questions(tree, WORDS), strict=True)
                )
            ]
            draw_tree(axes, tree, labels)
            axes.set_title(title, fontsize=10)
        yield figure

    root = WORDS[own.column[0]]
    notes = [
        f"Random 7,681 of the 9,603 training documents (seed {seed}). On these vectors {root} ≥ "
        f"{own.threshold[0]:.0f} gains most at the root, {gains[1]:.3f}; the book's cts ≥ 2 gains "
        f"{gains[0]:.3f} (in the book {published.GAIN['information gain']['nats']}). Node 7 is vs "
        "≥ 2, which the book misprints."
    ]
    title = "Figure 16.1: a decision tree"
    return Drawing(NAME, "figure-16.1", title, published.NODES, ours, notes, tolerance=200,
                   digits=3, best="none", picture=picture)  # fmt: skip


def questions(tree: Tree, names: Sequence[str]) -> list[str]:
    """Return what each node asks; '' for leaves."""
    return [
        f"{names[column]} ≥ {threshold:g}" if column >= 0 else ""
        for column, threshold in zip(tree.column, tree.threshold, strict=True)
    ]


def draw_tree(axes: Any, tree: Tree, labels: Sequence[str]) -> None:
    """Draw a small tree from the root down, with a text for each node."""
    depths, leaves = tree.depths(), np.flatnonzero(tree.column < 0)
    across = np.zeros(tree.n_nodes)
    across[leaves] = np.arange(len(leaves))
    for node in range(tree.n_nodes)[::-1]:  # parents stand before their children
        if tree.column[node] >= 0:
            children = tree.left[node], tree.right[node]
            across[node] = across[list(children)].mean()
            for child, answer in zip(children, ("no", "yes"), strict=True):
                ends = across[[node, child]], -depths[[node, child]]
                axes.plot(*ends, color="#999999", linewidth=1, zorder=1)
                axes.text(*(one.mean() for one in ends), answer, fontsize=8, ha="center")
    box = {"boxstyle": "round", "facecolor": "white", "edgecolor": "#8c5a2b"}
    for x, depth, label in zip(across, depths, labels, strict=True):
        axes.text(x, -depth, label, ha="center", va="center", fontsize=8, bbox=box, zorder=2)
    axes.set(xlim=(-0.6, len(leaves) - 0.4), ylim=(-depths.max() - 0.4, 0.4))
    axes.axis("off")


def figure_16_2(seed: int = 0, quick: bool = False) -> Drawing:
    """The regions into which two questions divide the plane of two words."""
    tree = books_tree(seed)
    nodes = {"cts < 2, net < 1": 2, "cts < 2, net ≥ 1": 3, "cts ≥ 2": 4}  # from 0, as in the tree
    ours = {name: {"P(c)": float(shares(tree)[node])} for name, node in nodes.items()}
    books = {name: {"P(c)": published.NODES[str(node + 1)]["P(c)"]} for name, node in nodes.items()}

    def picture() -> Iterator[Any]:
        from thresher.report.plots import COLOURS, new_figure

        figure, (axes,) = new_figure(height=4.2)
        corners = {2: (0, 0, 2, 1), 3: (0, 1, 2, 2), 4: (2, 0, 1, 3)}
        for node, (x, y, width, height) in corners.items():
            share = float(shares(tree)[node])
            rectangle = {"color": COLOURS[2], "alpha": 0.08 + 0.5 * share, "linewidth": 0}
            axes.bar(x, height, width, bottom=y, align="edge", **rectangle)
            axes.text(x + width / 2, y + height / 2, f"{share:.3f}", ha="center", va="center")
        axes.plot([2, 2], [0, 3], color="black")
        axes.plot([0, 2], [1, 1], color="black")
        axes.set(xlabel="cts", ylabel="net", xlim=(0, 3), ylim=(0, 3))
        axes.set(xticks=range(3), yticks=range(3))
        yield figure

    title = "Figure 16.2: the tree as regions"
    return Drawing(NAME, "figure-16.2", title, books, ours,
                   ["The region on the right is divided further by vs, which is not drawn."],
                   tolerance=0.2, digits=3, best="none", picture=picture)  # fmt: skip


def entropy(share: float) -> float:
    """Return the entropy of a yes or no, in nats.

    Examples
    --------
    >>> entropy(0.3)
    0.611
    """
    sides = (share, 1 - share)
    return float(-sum(side * np.log(side) for side in sides if side > 0))


def table_16_4(seed: int = 0, quick: bool = False) -> Table:
    """What the book's first question gains."""
    tree = books_tree(seed)
    top, left, right = 0, int(tree.left[0]), int(tree.right[0])
    entropies = {node: entropy(float(shares(tree)[node])) for node in (top, left, right)}
    weights = tree.n_documents / tree.n_documents[0]
    below = float(sum(weights[node] * entropies[node] for node in (left, right)))
    values = (*entropies.values(), below, entropies[top] - below)
    ours = {name: {"nats": value} for name, value in zip(published.GAIN, values, strict=True)}
    title = "Table 16.4: the information gain of cts ≥ 2"
    return Table(NAME, "table-16.4", title, published.GAIN, ours,
                 [f"The gain of the library: {information_gain(tree)[0]:.3f}."],
                 tolerance=0.05, digits=3, best="none")  # fmt: skip


# ---- table 16.5, figures 16.4 and 16.5: pruning --------------------------------------------------


def table_16_5(seed: int = 0, quick: bool = False) -> Table:
    """Decisions of the smallest tree that is best on the validation documents."""
    train, test = earnings()
    truth, seeds = is_earnings(test), range(seed, seed + (1 if quick else SPLITS))
    chosen = {one: pruning(one).chosen for one in seeds}
    counts = [contingency(decide(tree, test), truth) for tree in chosen.values()]
    means, spread = mean_and_spread(counts)
    ours: Cells = {"pruned by validation": counts[0]}
    if not quick:
        ours[f"mean of {SPLITS} divisions"] = means
        for way in ("cross-validation", "confidence", "interpolation", None):
            learner = DecisionTree(pruning=way, random_state=seed).fit_rows(Examples.of(*train))
            name = "not pruned" if way is None else f"pruned by {way}"
            name = "interpolated" if way == "interpolation" else name
            ours[name] = contingency(learner.score_rows(test.rows)[:, 0] > 0, truth)
    sizes = sorted(tree.n_internal for tree in chosen.values())
    notes = [
        f"{len(seeds)} random divisions into 7,681 and 1,922 documents: the trees chosen have "
        f"{sizes[0]} to {sizes[-1]} inner nodes (the book's 50)"
        + (f", accuracies differ by ± {spread['accuracy %']:.2f}." if spread else ".")
    ]
    return contingency_table(
        "16.5", "the decision tree", "pruned by validation", published.TREE, ours, notes
    )


def figure_16_4(seed: int = 0, quick: bool = False) -> Drawing:
    """Accuracy as a tree is pruned node by node."""
    shown = pruning(seed)
    levels, n = shown.accuracies, len(shown.order)
    best = int(levels["test"].argmax())
    ours = {
        row: {"pruned": pruned} | {name: float(levels[name][pruned]) for name in Division._fields}
        for row, pruned in (
            ("nothing pruned", 0),
            ("best on the test set", best),
            ("best on the validation set", shown.n_pruned),
        )
    }

    def picture() -> Iterator[Any]:
        from thresher.report.plots import COLOURS, new_figure

        figure, (axes,) = new_figure(height=4.2)
        figure.set_size_inches(7, 4.2)
        for colour, style, (name, level) in zip(
            COLOURS, ("-", "--", "-."), levels.items(), strict=False
        ):
            axes.plot(range(n), level[:-1], color=colour, linestyle=style, label=f"{name} set")
        axes.axvline(shown.n_pruned, color="#999999", linewidth=1, label="chosen")
        axes.set(xlabel="inner nodes pruned", ylabel="accuracy (%)")
        axes.legend(frameon=False, fontsize=8, loc="lower left")
        yield figure

    notes = [
        f"The full tree has {shown.tree.n_internal} inner nodes and {shown.tree.n_nodes} in all; "
        f"the chosen one {shown.chosen.n_internal} (the book's 50). We count inner nodes, each of "
        "which takes two leaves with it; the book's axis, which ends beyond 1,000, probably "
        "counts single nodes. The pruning of the root is not drawn."
    ]
    title = "Figure 16.4: pruning a decision tree"
    return Drawing(NAME, "figure-16.4", title, published.PRUNING, ours, notes, tolerance=1000,
                   digits=2, best="none", picture=picture)  # fmt: skip


def figure_16_5(seed: int = 0, quick: bool = False) -> Figure:
    """Accuracy against the number of documents that the tree is grown from."""
    parts = division(seed)
    n = parts.training.rows.n_rows
    sizes = [*range(100, 1000, 100), *range(1000, n, 250), n]
    sizes = sizes[:: 5 if quick else 1]
    results = [
        prune(parts._replace(training=parts.training.take(np.arange(size)))) for size in sizes
    ]
    curves = {
        f"{name} set": Curve(tuple(sizes), tuple(one.accuracy(name) for one in results))
        for name in Division._fields
    }
    notes = [
        "Each tree is grown from the first documents of one random order, and pruned by the same "
        "1,922. The book prints the drawing only; its curves too swing below 1,000 documents and "
        "level off."
    ]
    title = "Figure 16.5: learning curve of the decision tree"
    return Figure(NAME, "figure-16.5", title, {}, {"earnings": curves}, notes,
                  x_label="training documents", y_label="accuracy (%)")  # fmt: skip


# ---- figure 16.6: the past tense -----------------------------------------------------------------

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


def figure_16_6(seed: int = 0, quick: bool = False) -> Drawing:
    """The endings of the past tense: the same questions are learned twice."""
    sounds, endings = past_tense()
    learner = DecisionTree(pruning=None).fit(sounds, endings)
    trees = {str(name): learner.tree(k) for k, name in enumerate(learner.classes_)}
    ours = {
        f"/{name}/": {
            "questions": tree.n_internal,
            "of voice": int(np.count_nonzero(tree.column == 0)),
            "of place and manner": int(np.count_nonzero(tree.column > 0)),
        }
        for name, tree in trees.items()
    }

    def picture() -> Iterator[Any]:
        from thresher.report.plots import new_figure

        figure, grid = new_figure(2, height=4.6)
        for axes, name in zip(grid, ("t", "d"), strict=True):
            tree = trees[name]
            reached = tree.n_positive == tree.n_documents
            labels = [
                f"+{SOUND[column]}?" if column >= 0 else (f"/{name}/" if own else f"not /{name}/")
                for column, own in zip(tree.column, reached, strict=True)
            ]
            draw_tree(axes, tree, labels)
            axes.set_title(f"when is it /{name}/?", fontsize=10)
        yield figure

    notes = [
        "From the rule itself: all sixteen combinations of voiced, continuant, coronal and "
        "anterior. Each ending has a tree of its own; those of /t/ and /d/ are the two halves of "
        "the book's. Voice gains most and is asked first, so that what makes /ed/ (-cont, +cor, "
        "+ant) has to be learned in each half anew; the tree of /ed/ alone needs no voice."
    ]
    title = "Figure 16.6: the past tense, learned twice"
    return Drawing(NAME, "figure-16.6", title, {}, ours, notes, best="none", picture=picture)
