"""Section 16.1: decision trees, grown on four fifths of the documents and pruned on the rest."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from thresher_papers._result import Cells, Curve, Drawing, Figure, Table
from thresher_papers._running import Run, mean_and_spread
from thresher_papers.manning_schuetze_1999 import measures, published
from thresher_papers.manning_schuetze_1999.earnings import with_accuracy
from thresher_papers.manning_schuetze_1999.published import NAME
from thresher_papers.manning_schuetze_1999.representation import contingency_table

DIVISIONS = 10  # random ones into training and validation documents
ARTICLES = 77.0  # 1 % of 7,681
SHARE = 0.02
SIDES = {"cts < 2, net < 1": 3, "cts < 2, net ≥ 1": 4, "cts ≥ 2": 5}

Tree = dict[str, Any]


def shares(tree: Tree) -> list[float]:
    """Return the unsmoothed share of positives in each node."""
    pairs = zip(tree["positive"], tree["articles"], strict=True)
    return [positive / articles for positive, articles in pairs]


def flat(tree: Tree) -> dict[str, float]:
    """Return articles and shares of all nodes in a flat dictionary."""
    numbered = enumerate(zip(tree["articles"], shares(tree), strict=True), 1)
    return {f"{name} {node}": value for node, (articles, share) in numbered
            for name, value in (("articles", articles), ("P(c)", share))}  # fmt: skip


def by_node(cells: dict[str, float]) -> Cells:
    """Return the output of `flat` as a row for each node.

    Examples
    --------
    >>> by_node({"articles 1": 7681, "P(c) 1": 0.3})
    {'1': {'articles': 7681, 'P(c)': 0.3}}
    """
    rows: Cells = {}
    for name, value in cells.items():
        column, node = name.rsplit(" ", 1)
        rows.setdefault(node, {})[column] = value
    return rows


def books_nodes(run: Run, kind: str = "book") -> tuple[list[Tree], Cells, Cells]:
    """Return the book's tree of each division, and its nodes with their spread."""
    trees = run.cells(measures.nodes, [(kind, seed) for seed in run.seeds(DIVISIONS)])
    means, spread = mean_and_spread([flat(tree) for tree in trees])
    rounded = {
        name: round(mean) if name.startswith("articles") else mean for name, mean in means.items()
    }
    return trees, by_node(rounded), by_node(spread)


def positives(node: str) -> float:
    """Return the number of positives in a node, from the published values."""
    return published.NODES[node]["articles"] * published.NODES[node]["P(c)"]


def figure_16_1(run: Run) -> Drawing:
    """The book's tree with reproduced counts, and the grown tree."""
    trees, reproduced, spread = books_nodes(run)
    (grown,) = run.cells(measures.nodes, [("own", run.seed)])
    _, as_labelled, _ = books_nodes(run, "vs ≥ 1")
    shown = ("the book's tree, our counts", trees[0]), ("our tree, as deep", grown)

    def picture() -> Iterator[Any]:
        from thresher.report.plots import new_figure

        figure, grid = new_figure(2, height=4.2)
        figure.set_size_inches(13, 4.2)
        for axes, (title, tree) in zip(grid, shown, strict=True):
            labels = [
                f"node {node}\n{n:,} articles\nP = {share:.3f}"
                + (f"\n{question}?" if question else "")
                for node, (n, share, question) in enumerate(
                    zip(tree["articles"], shares(tree), tree["questions"], strict=True), 1
                )
            ]
            draw_tree(axes, tree, labels)
            axes.set_title(title, fontsize=10)
        yield figure

    left, right = (sum(map(positives, pair)) for pair in (("3", "4"), ("6", "7")))
    implied = (positives("2") - positives("4")) / published.NODES["3"]["articles"]
    notes = [
        f"Mean of {len(trees)} random divisions that leave 7,681 of the 9,603 training documents "
        "(one is drawn). Tolerance: 77 articles, which are 1 %, and 0.02 of P(c). On these vectors "
        f"{grown['questions'][0]} gains most at the root, {grown['gain']:.3f}; the book's "
        f"{trees[0]['questions'][0]} gains {trees[0]['gain']:.3f} (in the book "
        f"{published.GAIN['information gain']['nats']}).",
        f"Node 3's P(c) of 0.050 is a misprint: nodes 3 and 4 would have {left:.0f} documents of "
        f"earnings, and node 2 above them {positives('2'):.0f}. From the other numbers it follows "
        f"as {implied:.3f}; ours is {reproduced['3']['P(c)']:.3f}. (Nodes 6 and 7 have "
        f"{right:.0f}, node 5 {positives('5'):.0f}.)",
        f"Node 6 has {reproduced['6']['articles']:.0f} articles and P(c) "
        f"{reproduced['6']['P(c)']:.3f} here (301, 0.694). Tried: other divisions, ± "
        f"{spread.get('6', {}).get('P(c)', 0):.3f}; vs ≥ 1 for node 7, as the figure labels it, "
        f"which leaves {as_labelled['6']['articles']:.0f} and {as_labelled['6']['P(c)']:.3f}; and "
        "other readings of a story (`vectors`), none of which brings it near. The book's vectors "
        "seem to have `vs` more often.",
    ]
    title = "Figure 16.1: a decision tree"
    return Drawing(NAME, "figure-16.1", title, published.NODES, reproduced, notes, spread=spread,
                   tolerance=SHARE, tolerances={"articles": ARTICLES}, digits=3, best="none",
                   picture=picture)  # fmt: skip


def draw_tree(axes: Any, tree: Tree, labels: Sequence[str]) -> None:
    """Draw a small tree from the root down, with a text for each node."""
    depths, n_nodes = np.array(tree["depth"]), len(tree["questions"])
    leaves = [node for node, question in enumerate(tree["questions"]) if not question]
    across = np.zeros(n_nodes)
    across[leaves] = np.arange(len(leaves))
    for node in range(n_nodes)[::-1]:  # parents stand before their children
        if tree["questions"][node]:
            children = [tree["left"][node], tree["right"][node]]
            across[node] = across[children].mean()
            for child, answer in zip(children, ("no", "yes"), strict=True):
                ends = across[[node, child]], -depths[[node, child]]
                axes.plot(*ends, color="#999999", linewidth=1, zorder=1)
                axes.text(
                    *(coordinates.mean() for coordinates in ends), answer, fontsize=8, ha="center"
                )
    box = {"boxstyle": "round", "facecolor": "white", "edgecolor": "#8c5a2b"}
    for x, depth, label in zip(across, depths, labels, strict=True):
        axes.text(x, -depth, label, ha="center", va="center", fontsize=8, bbox=box, zorder=2)
    axes.set(xlim=(-0.6, len(leaves) - 0.4), ylim=(-depths.max() - 0.4, 0.4))
    axes.axis("off")


def figure_16_2(run: Run) -> Drawing:
    """The regions into which two questions divide the plane of two words."""
    _, nodes, spreads = books_nodes(run)
    reproduced, spread = (
        {name: {"P(c)": cells[str(node)]["P(c)"]} for name, node in SIDES.items() if cells}
        for cells in (nodes, spreads)
    )
    books = {name: {"P(c)": published.NODES[str(node)]["P(c)"]} for name, node in SIDES.items()
             if name != "cts ≥ 2"}  # fmt: skip

    def picture() -> Iterator[Any]:
        from thresher.report.plots import COLOURS, new_figure

        figure, (axes,) = new_figure(height=4.2)
        corners = ((0, 0, 2, 1), (0, 1, 2, 2), (2, 0, 1, 3))
        for (x, y, width, height), cells in zip(corners, reproduced.values(), strict=True):
            share = cells["P(c)"]
            rectangle = {"color": COLOURS[2], "alpha": 0.08 + 0.5 * share, "linewidth": 0}
            axes.bar(x, height, width, bottom=y, align="edge", **rectangle)
            axes.text(x + width / 2, y + height / 2, f"{share:.3f}", ha="center", va="center")
        axes.plot([2, 2], [0, 3], color="black")
        axes.plot([0, 2], [1, 1], color="black")
        axes.set(xlabel="cts", ylabel="net", xlim=(0, 3), ylim=(0, 3))
        axes.set(xticks=range(3), yticks=range(3))
        yield figure

    notes = [
        "Nodes 3 and 4 of figure 16.1 (the text has node 4 for both), tolerance 0.02. The region "
        "on the right is divided further by vs, which is not drawn; the book prints no number "
        "there."
    ]
    return Drawing(
        NAME,
        "figure-16.2",
        "Figure 16.2: the tree as regions",
        books,
        reproduced,
        notes,
        spread=spread,
        tolerance=SHARE,
        digits=3,
        best="none",
        picture=picture,
    )


def entropy(share: float) -> float:
    """Return the entropy of a yes or no, in nats.

    Examples
    --------
    >>> entropy(0.3)
    0.611
    """
    sides = (share, 1 - share)
    return float(-sum(side * np.log(side) for side in sides if side > 0))


def gain(tree: Tree) -> dict[str, float]:
    """Return the lines of table 16.4: entropies and information gain of the first question."""
    left, right = tree["left"][0], tree["right"][0]
    entropies = {node: entropy(shares(tree)[node]) for node in (0, left, right)}
    n = tree["articles"]
    below = sum(n[node] / n[0] * entropies[node] for node in (left, right))
    return dict(zip(published.GAIN, (*entropies.values(), below, entropies[0] - below),
                    strict=True))  # fmt: skip


def table_16_4(run: Run) -> Table:
    """The information gain of the book's first question."""
    trees, _, _ = books_nodes(run)
    grown = run.cells(measures.nodes, [("own", seed) for seed in run.seeds(DIVISIONS)])
    means, spread = mean_and_spread([gain(tree) for tree in trees])
    reproduced = {name: {"nats": value} for name, value in means.items()}
    question = grown[0]["questions"][0]
    reproduced[f"the best question, {question}"] = {
        "nats": float(np.mean([tree["gain"] for tree in grown]))
    }
    notes = [
        f"Mean of {len(trees)} random divisions; tolerance 0.01. The gain of the library itself: "
        f"{np.mean([tree['gain'] for tree in trees]):.3f}. {question} is the best in "
        f"{sum(tree['questions'][0] == question for tree in grown)} of the {len(grown)} divisions."
    ]
    return Table(NAME, "table-16.4", "Table 16.4: the information gain of cts ≥ 2", published.GAIN,
                 reproduced, notes,
                 spread={name: {"nats": value} for name, value in spread.items()},
                 tolerance=0.01, digits=3, best="none")  # fmt: skip


# ---- table 16.5, figures 16.4 and 16.5: pruning ----------------------------------------------

WAYS = {
    "pruned by cross-validation": "cross-validation",
    "pruned by confidence": "confidence",
    "interpolated": "interpolation",
    "not pruned": "nothing",
}


def prunings(run: Run) -> list[dict[str, Any]]:
    """Return how trees of random divisions are pruned."""
    return run.cells(measures.pruning, [(seed,) for seed in run.seeds(DIVISIONS)])


def table_16_5(run: Run) -> Table:
    """Decisions of the smallest tree that is best on the validation documents."""
    cells = prunings(run)
    row = "pruned by validation"
    means, spread = mean_and_spread([cell["decisions"] for cell in cells])
    reproduced = {row: means}
    if not run.quick:
        ways = run.cells(measures.pruned_by, [(way, run.seed) for way in WAYS.values()])
        reproduced |= dict(zip(WAYS, ways, strict=True))
    sizes = sorted(cell["chosen nodes"] for cell in cells)
    notes = [
        f"Mean of {len(cells)} random divisions into 7,681 and 1,922 documents: the trees chosen "
        f"have {sizes[0]} to {sizes[-1]} inner nodes (the book's {published.CHOSEN_NODES}). The "
        "other rows are ways of the library, which need no division."
    ]
    return contingency_table("16.5", "the decision tree", {row: with_accuracy(published.TREE)},
                             reproduced, notes, {row: spread})  # fmt: skip


def marks(cell: dict[str, Any]) -> dict[str, float]:
    """Return the best points along a pruning, with their accuracies."""
    levels = cell["accuracies"]
    best = int(np.argmax(levels["test"]))
    positions = {"nothing pruned": 0, "best on the test set": best,
              "best on the validation set": cell["pruned"]}  # fmt: skip
    return {
        f"{row}|{name}": value
        for row, position in positions.items()
        for name, value in (("pruned", 2.0 * position), *((k, levels[k][position]) for k in levels))
    }


def by_mark(cells: dict[str, float]) -> Cells:
    """Return the output of `marks` by row."""
    rows: Cells = {}
    for name, value in cells.items():
        row, column = name.split("|")
        rows.setdefault(row, {})[column] = value
    return rows


def shape(cell: dict[str, Any]) -> dict[str, float]:
    """Return whether the curves of a division have the shape that the book describes.

    A peak is in the middle where the full tree is worse, and the tree of one question as well.
    """
    levels = cell["accuracies"]
    falls = all(b <= a for a, b in pairwise(levels["training"]))
    peaks = all(max(levels[name]) > max(levels[name][0], levels[name][-2])
                for name in ("validation", "test"))  # fmt: skip
    return {"training falls|% of divisions": 100.0 * falls,
            "peaks in the middle|% of divisions": 100.0 * peaks}  # fmt: skip


def figure_16_4(run: Run) -> Drawing:
    """Accuracy as a tree is pruned node by node."""
    cells = prunings(run)
    means, spread = mean_and_spread([marks(cell) | shape(cell) for cell in cells])
    first = cells[0]
    levels, n = first["accuracies"], first["inner nodes"]

    def picture() -> Iterator[Any]:
        from thresher.report.plots import COLOURS, new_figure

        figure, (axes,) = new_figure(height=4.2)
        figure.set_size_inches(7, 4.2)
        for colour, style, (name, level) in zip(
            COLOURS, ("-", "--", "-."), levels.items(), strict=False
        ):
            n_nodes_pruned = 2 * np.arange(n)
            axes.plot(
                n_nodes_pruned, level[:-1], color=colour, linestyle=style, label=f"{name} set"
            )
        axes.axvline(2 * first["pruned"], color="#999999", linewidth=1, label="chosen")
        axes.set(xlabel="nodes pruned", ylabel="accuracy (%)")
        axes.legend(frameon=False, fontsize=8, loc="lower left")
        yield figure

    full = [2 * cell["inner nodes"] + 1 for cell in cells]
    notes = [
        f"Mean of {len(cells)} random divisions; the first is drawn, without the pruning of the "
        f"root. The full trees have {min(full):,} to {max(full):,} nodes. An inner node that is "
        "pruned takes two leaves with it: counted are single nodes, as the book's axis must, for "
        f"its 977 and the {2 * published.CHOSEN_NODES + 1} of the chosen tree with "
        f"{published.CHOSEN_NODES} inner nodes are {977 + 2 * published.CHOSEN_NODES + 1:,}. "
        "Tolerance: 10 nodes, and 1 point of accuracy. How many are pruned is chance: the "
        "accuracy hardly changes over some hundred nodes."
    ]
    return Drawing(NAME, "figure-16.4", "Figure 16.4: pruning a decision tree", published.PRUNING,
                   by_mark(means), notes, spread=by_mark(spread), tolerance=1.0,
                   tolerances={"pruned": 10.0}, digits=2, best="none",
                   picture=picture)  # fmt: skip


def figure_16_5(run: Run) -> Figure:
    """Accuracy against the number of documents that the tree is grown from."""
    n = 9603 - measures.HELD_OUT
    sizes = [*range(100, 1000, 100), *range(1000, n, 250), n]
    sizes = sizes[:: run.of(1, 8)]
    rows = {str(size): (size,) for size in sizes}
    means, spreads = run.rows(measures.learned_from, rows, DIVISIONS)
    panels = {
        panel: {
            f"{name} set": Curve(tuple(sizes), tuple(row[name] for row in cells.values()))
            for name in measures.Division._fields
        }
        for panel, cells in (("earnings", means), ("± between divisions", spreads))
        if all(cells.values())
    }
    notes = [
        f"Mean of {len(run.seeds(DIVISIONS))} random divisions: each tree is grown from the first "
        "documents of one, and pruned by the same 1,922. The book prints the drawing only, of one "
        "division."
    ]
    title = "Figure 16.5: learning curve of the decision tree"
    return Figure(NAME, "figure-16.5", title, {}, panels, notes,
                  x_label="training documents", y_label="accuracy (%)")  # fmt: skip


# ---- figure 16.6: the past tense -------------------------------------------------------------


def figure_16_6(run: Run) -> Drawing:
    """The trees of two endings of the past tense, which repeat questions."""
    (trees,) = run.cells(measures.past_tense_trees, [()])

    def asked(tree: Tree, voice: bool) -> int:
        return sum(q.startswith("voiced") == voice for q in tree["questions"] if q)

    reproduced: dict[str, dict[str, Any]] = {
        f"/{name}/": {"of voice": asked(tree, True), "of place and manner": asked(tree, False)}
        for name, tree in trees.items()
    }

    def picture() -> Iterator[Any]:
        from thresher.report.plots import new_figure

        figure, grid = new_figure(2, height=4.6)
        for axes, name in zip(grid, ("t", "d"), strict=True):
            tree = trees[name]
            labels = [
                f"+{question.split()[0]}?" if question
                else (f"/{name}/" if share == 1 else f"not /{name}/")
                for question, share in zip(tree["questions"], shares(tree), strict=True)
            ]  # fmt: skip
            draw_tree(axes, tree, labels)
            axes.set_title(f"when is it /{name}/?", fontsize=10)
        yield figure

    notes = [
        "Questions that each tree asks, grown from the rule itself: all sixteen combinations of "
        "voiced, continuant, coronal and anterior. Each ending has a tree of its own; those of /t/ "
        "and /d/ are the two halves of the book's. Voice gains most and is asked first, so that "
        "what makes /ed/ (-cont, +cor, +ant) has to be learned in each half anew; the tree of /ed/ "
        "alone needs no voice."
    ]
    title = "Figure 16.6: the past tense, learned twice"
    return Drawing(NAME, "figure-16.6", title, published.PAST_TENSE, reproduced, notes, tolerance=0,
                   best="none", picture=picture)  # fmt: skip
