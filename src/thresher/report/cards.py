"""One card per category: its curve, a slider for its threshold, its words and confusions."""

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

MAX_NAME_IN_TWO_COLUMNS, MAX_WORD_IN_TWO_COLUMNS = 30, 16  # characters, on a phone
MOST_CONFUSED = 6  # categories listed for each kind of error


class Ground(NamedTuple):
    """Data that the sections of the report share."""

    evaluation: Evaluation
    curves: dict[int, ThresholdCurve]
    confused: Confusions
    words: dict[str, Words]
    shown: list[int]  # the categories that have a card, the largest first
    moves_total: bool  # whether a threshold changes only the decisions of its category


def card_id(category: int) -> str:
    """Return the id of a card, for links."""
    return f"c{category}"


def cards(ground: Ground) -> str:
    """Return the section of the cards."""
    drawn = "".join(_card(ground, c) for c in ground.shown)
    left_out = len(ground.evaluation.categories) - len(ground.shown)
    note = (
        f"<p class=soft>The {count(left_out)} smallest categories have no card.</p>"
        if left_out > 0
        else ""
    )
    return f"""<section id="cards"><h2>Category details</h2>
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
            why = "No document here belongs to it" if is_learned else "The model does not know it"
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
    """Return the chart, the slider of the threshold, and the figures that depend on it."""
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
</label><p class="ends soft"><span>assign more</span><button type="button">reset</button>
<span>assign fewer</span></p></div>{_figures(table, total)}</div></div>"""


def _figures(table: Contingency, total: Contingency | None, *, moves: bool = True) -> str:
    """Return the figures at the current threshold, with an empty column for the moved threshold."""
    rows = {
        "precision": percent(table.precision),
        "recall": percent(table.recall),
        "F1": percent(table.f1),
        "assigned": count(table.true_positives + table.false_positives),
        "right": count(table.true_positives),
        "wrong": count(table.false_positives),
        "missed": count(table.false_negatives),
    }
    if total is not None:
        rows["micro-F1, all"] = percent(total.f1)
    cell = '<td class="moved needs-js"></td>' if moves else ""
    body = "".join(
        f'<tr><th scope="row">{what}</th><td>{value}</td>{cell}</tr>'
        for what, value in rows.items()
    )
    head = '<th scope="col" class="needs-js">moved</th>' if moves else ""
    return (
        '<table class="figures"><thead><tr><td></td><th scope="col">current</th>'
        f"{head}</tr></thead><tbody>{body}</tbody></table>"
    )


def _words(words: Words | None) -> str:
    if not words or not any(words):
        return ""
    strongest = max(abs(weight) for side in words for _, weight in side)
    digits = 2 if strongest >= 0.1 else 3  # shares of rules are small
    columns = []
    for title, kind, side in zip(
        ("Words for it", "Words against it"), ("for", "against"), words, strict=True
    ):
        items = "".join(
            f'<li style="--v:{abs(weight) / strongest:.3f}">{name(word)}'
            f"<span>{signed(weight, digits)}</span></li>"
            for word, weight in side
        )
        shown = f"<ol>{items}</ol>" if items else "<p class=soft>none</p>"
        columns.append(f'<div class="words {kind}"><h4>{title}</h4>{shown}</div>')
    names = [word for side in words for word, _ in side]  # or rules, which are longer
    has_room = max(map(len, names)) <= MAX_NAME_IN_TWO_COLUMNS
    has_room &= (
        max(len(word) for name_ in names for word in name_.split(" ")) <= MAX_WORD_IN_TWO_COLUMNS
    )
    kind = "two sides" if has_room else "two"
    return f'<div class="{kind}">{"".join(columns)}</div>'


def _confused(ground: Ground, c: int) -> str:
    confused, n = ground.confused, len(ground.evaluation.categories)
    columns = []
    for title, what, others in (
        ("False negatives", "assigned instead", confused.given_for(c)),
        ("False positives", "true label", confused.missed_for(c)),
    ):
        if others:
            names = ", ".join(
                f"{'none' if other == n else linked(ground, other)}&nbsp;<b>{count(times)}</b>"
                for other, times in others[:MOST_CONFUSED]
            )
            more = len(others) - MOST_CONFUSED
            names += f" and {counted(more, 'other')}" if more > 0 else ""
            columns.append(f"<div><h4>{title}</h4><p>{what}: {names}</p></div>")
    return f'<div class="two">{"".join(columns)}</div>' if columns else ""


def linked(ground: Ground, category: int) -> str:
    """Return a category's name, linked to its card if it has one."""
    shown = name(ground.evaluation.categories[category])
    return f'<a href="#{card_id(category)}">{shown}</a>' if category in ground.shown else shown
