"""One card per category: its curve, its threshold to move, its words and its confusions."""

from __future__ import annotations

import json
from typing import NamedTuple

from thresher.errors import counted
from thresher.evaluation import Contingency, Evaluation
from thresher.report.charts import precision_recall_chart, precision_recall_frame
from thresher.report.confusions import Confusions
from thresher.report.curves import ThresholdCurve
from thresher.report.markup import attributes, count, name, percent, signed
from thresher.report.report import Words

__all__ = ["Ground", "card_id", "cards"]

LONGEST_BESIDE, LONGEST_WORD = 30, 16  # characters that have room beside others on a phone
MOST_CONFUSED = 6  # categories named as given instead


class Ground(NamedTuple):
    """What the cards show, computed once for all of them."""

    evaluation: Evaluation
    curves: dict[int, ThresholdCurve]
    confused: Confusions
    words: dict[str, Words]
    shown: list[int]  # the categories that have a card, the largest first
    moves_total: bool  # whether moving one threshold leaves the other categories' decisions alone


def card_id(category: int) -> str:
    """Return the name by which a card is linked to."""
    return f"c{category}"


def cards(ground: Ground) -> str:
    """Return the section of the cards."""
    drawn = "".join(_card(ground, c) for c in ground.shown)
    left_out = len(ground.evaluation.categories) - len(ground.shown)
    note = f"<p class=soft>The {count(left_out)} smallest have no card.</p>" if left_out > 0 else ""
    return f"""<section id="cards"><h2>One category</h2>
<div class="controls needs-js"{attributes(hidden=len(ground.shown) < 2)}>
<label>Category <select id="pick"></select></label>
<span><button type="button" id="before">← larger</button>
<button type="button" id="after">smaller →</button></span></div>
{precision_recall_frame()}{drawn}{note}</section>"""


def _card(ground: Ground, c: int) -> str:
    evaluation = ground.evaluation
    table = Contingency(*(int(cell[c]) for cell in evaluation.contingency))
    curve = ground.curves.get(c)
    if curve is not None:
        figure = _moving(ground, c, curve, table)
    else:
        if evaluation.scores is None:
            why = "There are no scores"
        else:
            is_learned = c < evaluation.scores.shape[1]
            why = "No document here belongs to it" if is_learned else "It was never learned"
        figure = f"<p>{why}, so there is no curve.</p>{_figures(table, None, moves=False)}"
    positives = table.true_positives + table.false_negatives
    summary = f"F1&nbsp;{percent(table.f1)}, {counted(positives, 'document')}"
    return (
        f'<details class="card" id="{card_id(c)}"><summary><h3>'
        f"{name(evaluation.categories[c])}</h3> <span class=soft>{summary}</span></summary>"
        f"{figure}{_words(ground.words.get(evaluation.categories[c]))}{_confused(ground, c)}"
        "</details>"
    )


def _moving(ground: Ground, c: int, curve: ThresholdCurve, table: Contingency) -> str:
    """Return the chart, the slider and the figures that follow it."""
    total = ground.evaluation.contingency.total() if ground.moves_total else None
    thresholds = [float(f"{value:.4g}") for value in curve.thresholds.tolist()]
    points = {"t": thresholds, "n": curve.assigned.tolist(), "h": curve.hits.tolist()}
    points |= {"p": curve.n_positives, "at": curve.chosen}
    if total is not None:
        points["all"] = [total.true_positives, total.false_positives, total.false_negatives]
    data = attributes(data_curve=json.dumps(points, separators=(",", ":")))
    return f"""<div class="moving"{data}>
<figure>{precision_recall_chart(curve, ground.evaluation.categories[c])}</figure>
<div><div class="slider needs-js"><label>Threshold <output>{curve.thresholds[curve.chosen]:.3f}
</output><input type="range" min="0" max="{len(curve.thresholds) - 1}" value="{curve.chosen}">
</label><p class="ends soft"><span>gives more</span><button type="button">as decided</button>
<span>gives less</span></p></div>{_figures(table, total)}</div></div>"""


def _figures(table: Contingency, total: Contingency | None, *, moves: bool = True) -> str:
    """Return what was decided, with a column that is filled when the threshold is moved."""
    rows = {
        "precision": percent(table.precision),
        "recall": percent(table.recall),
        "F1": percent(table.f1),
        "given": count(table.true_positives + table.false_positives),
        "rightly": count(table.true_positives),
        "wrongly": count(table.false_positives),
        "missed": count(table.false_negatives),
    }
    if total is not None:
        rows["micro-F1 of all"] = percent(total.f1)
    cell = '<td class="moved needs-js"></td>' if moves else ""
    body = "".join(
        f'<tr><th scope="row">{what}</th><td>{value}</td>{cell}</tr>'
        for what, value in rows.items()
    )
    head = '<th scope="col" class="needs-js">moved</th>' if moves else ""
    return (
        '<table class="figures"><thead><tr><td></td><th scope="col">decided</th>'
        f"{head}</tr></thead><tbody>{body}</tbody></table>"
    )


def _words(words: Words | None) -> str:
    if not words or not any(words):
        return ""
    strongest = max(abs(weight) for side in words for _, weight in side)
    digits = 2 if strongest >= 0.1 else 3  # shares of rules are small
    columns = []
    for title, kind, side in zip(("For it", "Against it"), ("for", "against"), words, strict=True):
        items = "".join(
            f'<li style="--v:{abs(weight) / strongest:.3f}">{name(word)}'
            f"<span>{signed(weight, digits)}</span></li>"
            for word, weight in side
        )
        shown = f"<ol>{items}</ol>" if items else "<p class=soft>none</p>"
        columns.append(f'<div class="words {kind}"><h4>{title}</h4>{shown}</div>')
    every = [word for side in words for word, _ in side]
    has_room = max(map(len, every)) <= LONGEST_BESIDE  # rules are longer
    has_room &= max(len(part) for word in every for part in word.split(" ")) <= LONGEST_WORD
    kind = "two sides" if has_room else "two"
    return f'<div class="{kind}">{"".join(columns)}</div>'


def _confused(ground: Ground, c: int) -> str:
    confused, n = ground.confused, len(ground.evaluation.categories)
    parts = []
    for verb, others, nothing in (
        ("Missed; given instead", confused.given_for(c), "nothing"),
        ("Wrongly given; it was", confused.missed_for(c), "nothing that was missed"),
    ):
        if others:
            names = ", ".join(
                f"{nothing if other == n else linked(ground, other)}&nbsp;<b>{count(times)}</b>"
                for other, times in others[:MOST_CONFUSED]
            )
            more = len(others) - MOST_CONFUSED
            names += f" and {counted(more, 'other')}" if more > 0 else ""
            parts.append(f"<div><h4>{verb}</h4><p>{names}</p></div>")
    return f'<div class="two">{"".join(parts)}</div>' if parts else ""


def linked(ground: Ground, category: int) -> str:
    """Return a category's name, linked to its card if it has one."""
    shown = name(ground.evaluation.categories[category])
    return f'<a href="#{card_id(category)}">{shown}</a>' if category in ground.shown else shown
