"""Decision trees as indented text and as SVG."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from thresher.errors import counted, escaped
from thresher.report.markup import attributes, escape, resource, short, tag

if TYPE_CHECKING:
    from thresher.learners._trees import Tree

Names = Mapping[int, str] | Sequence[str]

LONGEST_NAME = 18  # characters of a feature's name
GAP, STEP, MARGIN = 18, 64, 16  # between boxes, between levels, around all; pixels
DOWN = 0.6  # position of an answer on the line to a child
LINE, LETTER = 16, 6.9  # height of a line of text, average width of a letter


def tree_text(
    tree: Tree, names: Names, *, title: str = "node 1", max_depth: int | None = None
) -> str:
    """Return a tree as lines of text, each with its documents and the probability there.

    Parameters
    ----------
    tree : Tree
        The tree, as `DecisionTree.tree` has it.
    names : mapping or sequence of str
        The names of its columns.
    title : str, default="node 1"
        The name of the root.
    max_depth : int, optional
        The largest depth shown; all by default.

    Examples
    --------
    >>> from thresher.learners.tree import grow_tree
    >>> from thresher.rows import Rows
    >>> rows = Rows(np.array([0, 1, 2]), np.zeros(2, np.int32), np.array([1, 2], np.float32), 1)
    >>> tree = grow_tree(rows, np.array([False, True]))
    >>> print(tree_text(tree, ["cts"], title="earn"))
    earn: 2 documents, P = 0.500
    ├─ cts < 2: 1 document, P = 0.333
    └─ cts ≥ 2: 1 document, P = 0.667
    """
    lines, sizes = [], _sizes(tree)
    waiting = [(0, title, "", "", 0)]
    while waiting:
        node, name, before, below, depth = waiting.pop()
        lines.append(
            f"{before}{escaped(name)}: {_documents(tree, node)}, P = {tree.probability[node]:.3f}"
        )
        if tree.column[node] < 0:
            continue
        if depth == max_depth:
            lines.append(f"{below}└─ … {counted(int(sizes[node]) - 1, 'node')} more")
            continue
        less, more = _answers(tree, node, names)
        left, right = int(tree.left[node]), int(tree.right[node])
        waiting.append((right, more, f"{below}└─ ", f"{below}   ", depth + 1))
        waiting.append((left, less, f"{below}├─ ", f"{below}│  ", depth + 1))
    return "\n".join(lines)


def tree_svg(
    tree: Tree, names: Names, *, title: str = "A decision tree", max_depth: int | None = 4
) -> str:
    """Return a tree as SVG: a box for each node with its number, documents and probability.

    Boxes are greener for higher probabilities and redder for lower ones. The colours follow the
    light or dark mode of the reader.

    Parameters
    ----------
    tree, names
        As for `tree_text`.
    title : str, default="A decision tree"
        The text alternative of the picture.
    max_depth : int, optional
        The largest depth drawn; an ellipsis stands for the nodes below. None: all nodes.

    Examples
    --------
    >>> from thresher.learners.tree import grow_tree
    >>> from thresher.rows import Rows
    >>> rows = Rows(np.array([0, 1, 2]), np.zeros(2, np.int32), np.array([1, 2], np.float32), 1)
    >>> tree = grow_tree(rows, np.array([False, True]))
    >>> tree_svg(tree, ["cts"]).count('class="box')
    3
    """
    boxes = _boxes(tree, names, max_depth)
    heights = [0.0] * (1 + max(box.depth for box in boxes.values()))
    for box in boxes.values():
        heights[box.depth] = max(heights[box.depth], box.height)
    tops = [MARGIN + sum(heights[:depth]) + STEP * depth for depth in range(len(heights))]
    centres = _centres(tree, boxes)
    edges, drawn = "", ""
    for node, box in boxes.items():
        x, top = centres[node], tops[box.depth]
        drawn += box.draw(x, top, float(tree.probability[node]))
        children = (int(tree.left[node]), int(tree.right[node])) if box.answers else ()
        for child, answer in zip(children, box.answers, strict=True):
            edges += _edge(x, top + box.height, centres[child], tops[box.depth + 1], answer)
    width = max(centres[node] + box.width / 2 for node, box in boxes.items()) + MARGIN
    height = tops[-1] + heights[-1] + MARGIN
    paper = tag("rect", class_="paper", width="100%", height="100%")
    size = f'width="{width:.0f}" height="{height:.0f}" viewBox="0 0 {width:.0f} {height:.0f}"'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="thresher-tree" {size} role="img"'
        f"{attributes(aria_label=title)}><style>\n{resource('tree.css')}</style>"
        f"{paper}{edges}{drawn}</svg>"
    )


class _Box(NamedTuple):
    """A node to draw."""

    depth: int
    lines: list[tuple[str, str]]  # CSS classes and texts
    answers: tuple[str, ...]  # to its question, if its children are drawn

    @property
    def width(self) -> float:
        return 22 + LETTER * max(len(text) for _, text in self.lines)

    @property
    def height(self) -> float:
        return 12.0 + LINE * len(self.lines)

    def draw(self, x: float, top: float, probability: float) -> str:
        """Return the box as SVG, coloured by its probability."""
        frame = {"x": f"{x - self.width / 2:.1f}", "y": f"{top:.1f}", "rx": 6}
        frame |= {"width": f"{self.width:.1f}", "height": f"{self.height:.1f}"}
        side = "yes" if probability > 0.5 else "no"
        sure = f"{0.06 + 0.6 * abs(probability - 0.5):.2f}"
        texts = "".join(
            _text(kind, x, top + 6 + LINE * (n + 0.75), text)
            for n, (kind, text) in enumerate(self.lines)
        )
        colour = tag("rect", class_=f"box {side}", fill_opacity=sure, **frame)
        return f"{tag('rect', class_='under', **frame)}{colour}{texts}"


def _text(kind: str, x: float, y: float, text: str) -> str:
    return tag("text", escape(text), class_=kind, x=f"{x:.1f}", y=f"{y:.1f}")


def _boxes(tree: Tree, names: Names, max_depth: int | None) -> dict[int, _Box]:
    """Return the boxes of the nodes to draw, parents first."""
    depths, sizes = tree.depths(), _sizes(tree)
    boxes = {}
    shown = np.flatnonzero(depths <= (tree.n_nodes if max_depth is None else max_depth))
    for node in shown.tolist():
        depth, answers = int(depths[node]), tuple[str, ...]()
        lines = [("number", f"node {node + 1}"), ("", _documents(tree, node))]
        lines.append(("", f"P(c|n) = {tree.probability[node]:.3f}"))
        if tree.column[node] >= 0 and depth != max_depth:
            answers = _answers(tree, node, names)
            name = short(names[int(tree.column[node])], LONGEST_NAME)
            lines += [("asked", f"split: {name}"), ("", f"value: {tree.threshold[node]:.4g}")]
        elif tree.column[node] >= 0:
            lines.append(("number", f"… {counted(int(sizes[node]) - 1, 'node')}"))
        boxes[node] = _Box(depth, lines, answers)
    return boxes


def _centres(tree: Tree, boxes: dict[int, _Box]) -> dict[int, float]:
    """Return the horizontal centre of each box; subtrees are as close as possible."""
    offsets: dict[int, float] = {}  # from the node above
    outlines: dict[int, list[tuple[float, float]]] = {}  # ends of a subtree, level by level
    for node in reversed(boxes):
        box, below = boxes[node], []
        if box.answers:
            left, right = int(tree.left[node]), int(tree.right[node])
            pair = outlines.pop(left), outlines.pop(right)
            apart = GAP + max(a[1] - b[0] for a, b in zip(*pair, strict=False))
            apart = max(apart, (LETTER * len(box.answers[0]) + GAP / 2) / DOWN)
            offsets[left], offsets[right] = -apart / 2, apart / 2
            for levels in zip_longest(*pair):
                ends = [
                    (level[0] + by, level[1] + by)
                    for level, by in zip(levels, (-apart / 2, apart / 2), strict=True)
                    if level
                ]
                below.append((ends[0][0], ends[-1][1]))
        outlines[node] = [(-box.width / 2, box.width / 2), *below]
    parents = tree.parents()
    centres = {0: 0.0}
    for node in list(boxes)[1:]:
        centres[node] = offsets[node] + centres[int(parents[node])]
    shift = MARGIN - min(centres[node] - box.width / 2 for node, box in boxes.items())
    return {node: centre + shift for node, centre in centres.items()}


def _edge(x: float, bottom: float, to: float, top: float, answer: str) -> str:
    path = tag("path", class_="edge", d=f"M{x:.1f} {bottom:.1f}L{to:.1f} {top:.1f}")
    return path + _text("answer", x + DOWN * (to - x), bottom + DOWN * (top - bottom) + 4, answer)


def _answers(tree: Tree, node: int, names: Names) -> tuple[str, str]:
    """Return the two answers to a node's question."""
    name, threshold = short(names[int(tree.column[node])], LONGEST_NAME), tree.threshold[node]
    return f"{name} < {threshold:.4g}", f"{name} ≥ {threshold:.4g}"


def _documents(tree: Tree, node: int) -> str:
    """Return the number of documents of a node, which may be a sum of weights."""
    n = float(tree.n_documents[node])
    return counted(int(n), "document") if n == int(n) else f"{n:,.4g} documents"


def _sizes(tree: Tree) -> np.ndarray:
    """Return the number of nodes in each subtree."""
    sizes = np.ones(tree.n_nodes, np.int64)
    for node in np.flatnonzero(tree.column >= 0)[::-1]:
        sizes[node] += sizes[tree.left[node]] + sizes[tree.right[node]]
    return sizes
