"""One card per category: its curve, a slider for its threshold, its words and confusions."""

from __future__ import annotations

import json
from typing import NamedTuple

from thresher.errors import counted
from thresher.evaluation import Contingency, Evaluation
from thresher.report import markup as html
from thresher.report.charts import precision_recall_chart, precision_recall_frame
from thresher.report.confusions import Confusions
from thresher.report.curves import ThresholdCurve
from thresher.report.markup import count, name, percent
from thresher.report.report import Words

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
    note = f"The {count(left_out)} smallest categories have no card."
    return (
        f"<h2>Category details</h2>{html.picker('Category', hidden=len(ground.shown) < 2)}"
        f"{precision_recall_frame()}{drawn}{html.tag('p', note, class_='soft') if left_out else ''}"
    )


def _card(ground: Ground, c: int) -> str:
    evaluation = ground.evaluation
    counts = Contingency(*(int(cell[c]) for cell in evaluation.contingency))
    curve = ground.curves.get(c)
    if curve is not None:
        figure = _moving(ground, c, curve, counts)
    else:
        why = "No document here belongs to it"
        if evaluation.scores is None:
            why = "There are no scores"
        elif c >= evaluation.scores.shape[1]:
            why = "The model does not know it"
        figure = f"<p>{why}, so there is no curve.</p>{_figures(counts, None, moves=False)}"
    title, summary = evaluation.categories[c], counted(counts.positives, "document")
    return (
        f'<details class="card" id="{card_id(c)}"><summary><h3>{name(title)}</h3> '
        f'<span class="soft">F1&nbsp;{percent(counts.f1)}, {summary}</span></summary>'
        f"{figure}{_words(ground.words.get(title))}{_confused(ground, c)}</details>"
    )


def _moving(ground: Ground, c: int, curve: ThresholdCurve, counts: Contingency) -> str:
    """Return the chart, the slider of the threshold, and the figures that depend on it."""
    total = ground.evaluation.contingency.total() if ground.moves_total else None
    thresholds = [float(f"{value:.4g}") for value in curve.thresholds.tolist()]
    points = {"t": thresholds, "n": curve.assigned.tolist(), "h": curve.hits.tolist()}
    points |= {"p": curve.n_positives, "at": curve.chosen}
    if total is not None:
        points["all"] = [total.true_positives, total.false_positives, total.false_negatives]
    data = html.attributes(data_curve=json.dumps(points, separators=(",", ":")))
    return f"""<div class="moving"{data}>
<figure>{precision_recall_chart(curve, ground.evaluation.categories[c])}</figure>
<div><div class="slider needs-js"><label>Threshold <output>{curve.thresholds[curve.chosen]:.3f}
</output><input type="range" min="0" max="{len(curve.thresholds) - 1}" value="{curve.chosen}">
</label><p class="ends soft"><span>assign more</span><button type="button">reset</button>
<span>assign fewer</span></p></div>{_figures(counts, total)}</div></div>"""


def _figures(counts: Contingency, total: Contingency | None, *, moves: bool = True) -> str:
    """Return the figures at the current threshold, with an empty column for the moved threshold."""
    values = {
        "precision": percent(counts.precision),
        "recall": percent(counts.recall),
        "F1": percent(counts.f1),
        "assigned": count(counts.assigned),
        "right": count(counts.true_positives),
        "wrong": count(counts.false_positives),
        "missed": count(counts.false_negatives),
    }
    if total is not None:
        values["micro-F1, all"] = percent(total.f1)
    moved = [html.tag("td", class_="moved needs-js")] if moves else []
    rows = [html.row(what, [html.tag("td", value), *moved]) for what, value in values.items()]
    headings = ["<td></td>", html.heading("current")]
    headings += [html.heading("moved", class_="needs-js")] if moves else []
    return html.table(headings, rows, class_="figures")


def _words(words: Words | None) -> str:
    if not words or not any(words):
        return ""
    strongest = max(abs(weight) for side in words for _, weight in side)
    digits = 2 if strongest >= 0.1 else 3  # shares of rules are small
    columns = ""
    for title, kind, side in zip(
        ("Words for it", "Words against it"), ("for", "against"), words, strict=True
    ):
        items = html.bars(side, strongest, lambda weight: html.signed(weight, digits))
        shown = html.tag("ol", items) if items else '<p class="soft">none</p>'
        columns += f'<div class="words {kind}"><h4>{title}</h4>{shown}</div>'
    names = [word for side in words for word, _ in side]  # or rules, which are longer
    longest = max(len(word) for name_ in names for word in name_.split(" "))
    has_room = (
        max(map(len, names)) <= MAX_NAME_IN_TWO_COLUMNS and longest <= MAX_WORD_IN_TWO_COLUMNS
    )
    return html.tag("div", columns, class_="two sides" if has_room else "two")


def _confused(ground: Ground, c: int) -> str:
    def names(what: str, others: list[tuple[int, int]]) -> str:
        items = [
            f"{linked(ground, other) if other < n else 'none'}&nbsp;<b>{count(times)}</b>"
            for other, times in others
        ]
        return f"{what}: {html.listed(items, MOST_CONFUSED)}" if items else ""

    n = len(ground.evaluation.categories)
    return html.side_by_side(
        {
            "False negatives": names("assigned instead", ground.confused.given_for(c)),
            "False positives": names("true label", ground.confused.missed_for(c)),
        }
    )


def linked(ground: Ground, category: int) -> str:
    """Return a category's name, linked to its card if it has one."""
    shown = name(ground.evaluation.categories[category])
    return f'<a href="#{card_id(category)}">{shown}</a>' if category in ground.shown else shown
