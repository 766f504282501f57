"""Decision trees as indented text and as SVG."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from thresher.errors import counted, escaped
from thresher.report.markup import attributes, escape, short

if TYPE_CHECKING:
    from thresher.learners.tree import Tree

__all__ = ["tree_svg", "tree_text"]

Names = Mapping[int, str] | Sequence[str]

LONGEST_NAME = 18  # characters of a feature's name
GAP, STEP, MARGIN = 18, 64, 16  # between boxes, between levels, around all; pixels
DOWN = 0.6  # position of an answer on the line to a child
LINE, LETTER = 16, 6.9  # height of a line of text, average width of a letter
STYLE = """
.thresher-tree { --paper: #fffdf8; --ink: #26221b; --soft: #5a5347; --yes: #2e8b57; --no: #b4593f;
  font: 12px system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", sans-serif; }
@media (prefers-color-scheme: dark) {
  .thresher-tree { --paper: #161512; --ink: #ebe6da; --soft: #c4bdae; --yes: #74c98a;
    --no: #ff9c8f; } }
.thresher-tree .paper { fill: var(--paper); }
.thresher-tree .box { stroke: var(--soft); }
.thresher-tree .yes { fill: var(--yes); } .thresher-tree .no { fill: var(--no); }
.thresher-tree .under { fill: var(--paper); stroke: none; }
.thresher-tree text { fill: var(--ink); text-anchor: middle; }
.thresher-tree .number { fill: var(--soft); } .thresher-tree .asked { font-weight: 600; }
.thresher-tree .edge { stroke: var(--soft); fill: none; }
.thresher-tree .answer { paint-order: stroke; stroke: var(--paper); stroke-width: 5px; }
"""


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
    shift = MARGIN - min(centres[node] - box.width / 2 for node, box in boxes.items())
    edges, drawn = [], []
    for node, box in boxes.items():
        x, top = centres[node] + shift, tops[box.depth]
        drawn.append(box.draw(x, top, float(tree.probability[node])))
        if box.is_open:
            for child, answer in zip((tree.left, tree.right), _answers(tree, node, names),
                                     strict=True):  # fmt: skip
                to = centres[int(child[node])] + shift
                edges.append(_edge(x, top + box.height, to, tops[box.depth + 1], answer))
    width = max(centres[node] + box.width / 2 for node, box in boxes.items()) + shift + MARGIN
    height = tops[-1] + heights[-1] + MARGIN
    size = f'width="{width:.0f}" height="{height:.0f}" viewBox="0 0 {width:.0f} {height:.0f}"'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="thresher-tree" {size} role="img"'
        f'{attributes(aria_label=title)}><style>{STYLE}</style><rect class="paper" width="100%" '
        f'height="100%"/>{"".join(edges)}{"".join(drawn)}</svg>'
    )


class _Box(NamedTuple):
    """A node to draw."""

    depth: int
    is_open: bool  # whether its children are drawn
    lines: list[tuple[str, str]]  # kinds and texts
    answer_length: int  # letters

    @property
    def width(self) -> float:
        return 22 + LETTER * max(len(text) for _, text in self.lines)

    @property
    def height(self) -> float:
        return 12.0 + LINE * len(self.lines)

    def draw(self, x: float, top: float, probability: float) -> str:
        """Return the box as SVG, coloured by its probability."""
        side = "yes" if probability > 0.5 else "no"
        position = (
            f'x="{x - self.width / 2:.1f}" y="{top:.1f}" width="{self.width:.1f}" '
            f'height="{self.height:.1f}" rx="6"'
        )
        sure = f'fill-opacity="{0.06 + 0.6 * abs(probability - 0.5):.2f}"'
        texts = "".join(
            f'<text class="{kind}" x="{x:.1f}" y="{top + 6 + LINE * (n + 0.75):.1f}">'
            f"{escape(text)}</text>"
            for n, (kind, text) in enumerate(self.lines)
        )
        return (
            f'<rect class="under" {position}/><rect class="box {side}" {position} {sure}/>{texts}'
        )


def _boxes(tree: Tree, names: Names, max_depth: int | None) -> dict[int, _Box]:
    """Return the boxes of the nodes to draw, parents first."""
    depths, sizes = tree.depths(), _sizes(tree)
    boxes = {}
    shown = np.flatnonzero(depths <= (tree.n_nodes if max_depth is None else max_depth))
    for node in shown.tolist():
        is_leaf, depth = tree.column[node] < 0, int(depths[node])
        is_open = not is_leaf and depth != max_depth
        lines = [("number", f"node {node + 1}"), ("", _documents(tree, node))]
        lines.append(("", f"P(c|n) = {tree.probability[node]:.3f}"))
        answer_length = 0
        if is_open:
            answer_length = len(_answers(tree, node, names)[0])
            name = short(names[int(tree.column[node])], LONGEST_NAME)
            lines.append(("asked", f"split: {name}"))
            lines.append(("", f"value: {tree.threshold[node]:.4g}"))
        elif not is_leaf:
            lines.append(("number", f"… {counted(int(sizes[node]) - 1, 'node')}"))
        boxes[node] = _Box(depth, is_open, lines, answer_length)
    return boxes


def _centres(tree: Tree, boxes: dict[int, _Box]) -> dict[int, float]:
    """Return the horizontal centre of each box; subtrees are as close as possible."""
    offsets: dict[int, float] = {0: 0.0}  # from the node above
    outlines: dict[
        int, list[tuple[float, float]]
    ] = {}  # left and right ends of a subtree, level by level
    for node in reversed(boxes):
        box, below = boxes[node], []
        if box.is_open:
            left, right = int(tree.left[node]), int(tree.right[node])
            outline_left, outline_right = outlines.pop(left), outlines.pop(right)
            apart = max(a[1] - b[0] for a, b in zip(outline_left, outline_right, strict=False))
            apart += GAP
            apart = max(apart, (LETTER * box.answer_length + GAP / 2) / DOWN)
            offsets[left], offsets[right] = -apart / 2, apart / 2
            for level in range(max(len(outline_left), len(outline_right))):
                ends = [
                    (start + by, end + by)
                    for outline, by in ((outline_left, -apart / 2), (outline_right, apart / 2))
                    for start, end in outline[level : level + 1]
                ]
                below.append((ends[0][0], ends[-1][1]))
        outlines[node] = [(-box.width / 2, box.width / 2), *below]
    centres: dict[int, float] = {}
    parents = tree.parents()
    for node in boxes:
        centres[node] = offsets[node] + (centres[int(parents[node])] if node else 0.0)
    return centres


def _edge(x: float, bottom: float, to: float, top: float, answer: str) -> str:
    along, down = x + DOWN * (to - x), bottom + DOWN * (top - bottom)
    return (
        f'<path class="edge" d="M{x:.1f} {bottom:.1f}L{to:.1f} {top:.1f}"/>'
        f'<text class="answer" x="{along:.1f}" y="{down + 4:.1f}">{escape(answer)}</text>'
    )


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
