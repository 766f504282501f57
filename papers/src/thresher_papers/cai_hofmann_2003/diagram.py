"""Figure 1: pLSA as a bottleneck, drawn from a small model of four topics."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from thresher.features.concepts import Concepts
from thresher_papers._result import Cells, Drawing
from thresher_papers._running import Run
from thresher_papers.cai_hofmann_2003.measuring import MOST_ITERATIONS, Texts, read

NAME = "cai-hofmann-2003"
TOPICS = ("coffee", "crude", "gold", "interest")
TEXTS = Texts("reuters21578:modapte", (9_603, 0, 0), 10)
SMALL_TEXTS = TEXTS._replace(most=(4_000, 0, 0))
N_DOCUMENTS, N_WORDS = 2, 4  # of each topic, of each concept


def bottleneck(texts: Texts, topics: tuple[str, ...], seed: int, *, n_jobs: int = 1) -> Any:
    """Fit as many concepts as topics to the documents with a single topic; return examples.

    Returns
    -------
    dict
        The first documents of each topic with their P(z|d), the most telling words of each concept
        with their P(w|z), and of how many documents they are.
    """
    documents = read(texts)
    chosen = [
        i for i, labels in enumerate(documents.topics) if len(labels) == 1 and labels[0] in topics
    ]
    concepts = Concepts(len(topics), max_iter=MOST_ITERATIONS, random_state=seed)
    concepts.fit_rows(documents.rows.take(np.array(chosen)), n_jobs=n_jobs)
    shown = {}
    for topic in topics:
        rows = [row for row, i in enumerate(chosen) if documents.topics[i] == [topic]]
        for number, row in enumerate(rows[:N_DOCUMENTS], 1):
            shown[f"{topic} {number}"] = concepts.memberships_[row].tolist()
    telling = [concepts.words(k, N_WORDS)[0] for k in range(len(topics))]
    columns = np.array(list(dict.fromkeys(np.concatenate(telling).tolist())))
    chances = concepts.word_probabilities_[0][np.searchsorted(concepts.columns_, columns)]
    words = {
        documents.words[j]: word_chances
        for j, word_chances in zip(columns, chances.tolist(), strict=True)
    }
    return {"documents": shown, "words": words, "n_documents": len(chosen)}


def figure_1(run: Run) -> Drawing:
    """Draw documents, concepts and words, joined by lines as wide as the probabilities."""
    texts = run.of(TEXTS, SMALL_TEXTS)
    (model,) = run.cells(bottleneck, [(texts, TOPICS, run.seed)], inside=True)
    names = [f"z{k}" for k in range(1, len(TOPICS) + 1)]
    reproduced: Cells = {
        f"{kind} {row}": {name: 100 * x for name, x in zip(names, row_chances, strict=True)}
        for kind, rows in (("document", model["documents"]), ("word", model["words"]))
        for row, row_chances in rows.items()
    }
    notes = [
        f"{len(TOPICS)} concepts of {model['n_documents']:,} documents of Reuters-21578 that have "
        f"one of {', '.join(TOPICS)} alone: the first documents of each topic with P(z|d), and the "
        f"{N_WORDS} most telling words of each concept with P(w|z), in percent. The paper's "
        "figure is a drawing without numbers."
    ]
    return Drawing(NAME, "figure-1", "Figure 1: pLSA as a bottleneck", {}, reproduced, notes,
                   best="none", picture=lambda: _picture(model, names))  # fmt: skip


def _picture(model: dict[str, dict[str, list[float]]], names: list[str]) -> Iterator[Any]:
    from thresher.report.plots import COLOURS, new_figure

    figure, (axes,) = new_figure(height=5.0)
    middle = np.linspace(0.85, 0.15, len(names))
    columns = ((0.25, "right", model["documents"]), (0.75, "left", model["words"]))
    for x, side, nodes in columns:
        widest = max(max(node_chances) for node_chances in nodes.values())
        for y, (name, node_chances) in zip(
            np.linspace(1, 0, len(nodes)), nodes.items(), strict=True
        ):
            axes.text(x + (-0.02 if side == "right" else 0.02), y, name, ha=side, va="center")
            for k, chance in enumerate(node_chances):
                look = {"color": COLOURS[k % len(COLOURS)], "linewidth": 5 * chance / widest}
                axes.plot([x, 0.5], [y, middle[k]], alpha=0.7, solid_capstyle="butt", **look)
    for k, name in enumerate(names):
        circle = {"s": 500, "color": COLOURS[k % len(COLOURS)], "zorder": 3}
        axes.scatter([0.5], [middle[k]], **circle)
        axes.text(0.5, middle[k], name, ha="center", va="center", color="white", zorder=4)
    for x, head in ((0.2, "documents d"), (0.5, "concepts z"), (0.8, "words w")):
        axes.text(x, 1.1, head, ha="center", weight="bold")
    for x, head in ((0.37, "P(z|d)"), (0.63, "P(w|z)")):
        axes.text(x, -0.1, head, ha="center", style="italic")
    axes.set(xlim=(0, 1), ylim=(-0.15, 1.18))
    axes.axis("off")
    yield figure
