"""The page: its sections, its style and its script in one file that needs nothing else."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from thresher.decisions import Decisions
from thresher.errors import counted
from thresher.evaluation import Evaluation
from thresher.evaluation.names import MEASURES, measures_of
from thresher.evaluation.significance import Interval
from thresher.report.cards import Ground, card_id, cards, linked
from thresher.report.charts import (
    corrections_chart,
    learning_chart,
    reliability_chart,
    size_chart,
)
from thresher.report.confusions import confusions
from thresher.report.curves import threshold_curves
from thresher.report.explanation import explanation_fragment
from thresher.report.markup import (
    arrow,
    attributes,
    breakable,
    count,
    escape,
    name,
    page,
    percent,
    short,
    signed,
)
from thresher.report.report import Report, with_cards
from thresher.report.verdict import (
    FEW_DOCUMENTS,
    figures,
    intervals_of,
    is_one_each,
    sentences,
)
from thresher.report.worst import WrongDecision

__all__ = ["build"]

MOST_POINTS, LEAST_POINTS, ALL_POINTS = 200, 30, 20_000  # of one curve, and of all together
MOST_ROWS = 1000  # categories in the table
FEW_ROWS = 8  # which one finds without a filter
LEAST_SPREAD = 2  # of the sizes of categories: with less, F1 against size is one column
MOST_IN_MATRIX = 16
MOST_PAIRS = 15
MOST_SHARES = 8  # of an error

PHONE_WORD = "doc<span class=wide>ument</span>s"  # a phone is narrow
COUNTS = {"positives": PHONE_WORD, "assigned": "given"}


def build(report: Report) -> str:
    """Return the page of a report."""
    ground = _ground(report)
    decisions = _decisions(report)
    intervals = report.intervals
    if intervals is None:
        intervals = intervals_of(report.evaluation)
    parts = {
        "pictures": ("At a glance", pictures(report, ground)),
        "categories": ("Categories", categories(ground)),
        "cards": ("One category", cards(ground)),
        "confusion": ("Confusions", confusion(ground)),
        "errors": ("Errors", errors(report)),
        "provenance": ("How it was made", provenance(report)),
    }
    links = "".join(f'<a href="#{key}">{title}</a>' for key, (title, part) in parts.items() if part)
    sections = "".join(part for _, part in parts.values())
    return page(
        report.title,
        f"{opening(report, intervals)}{figures(ground, decisions, intervals)}"
        f'<nav aria-label="Sections">{links}</nav><main>{sections}</main>',
    )


def _ground(report: Report) -> Ground:
    """Compute what the sections share."""
    evaluation, decisions = report.evaluation, _decisions(report)
    shown = with_cards(evaluation)
    most = min(MOST_POINTS, max(LEAST_POINTS, ALL_POINTS // max(1, len(shown))))
    by_threshold = (
        evaluation.scores is not None
        and evaluation.decisions is not None
        and decisions.mode == "multi-label"
        and len(evaluation.categories) > 1
        and np.array_equal(evaluation.decisions, evaluation.scores > decisions.thresholds)
    )
    curves = threshold_curves(evaluation, decisions, most)
    return Ground(evaluation, curves, confusions(evaluation), report.words, shown, by_threshold)


def _decisions(report: Report) -> Decisions:
    scores = report.evaluation.scores
    return report.decisions or Decisions().grow(0 if scores is None else scores.shape[1])


def opening(report: Report, intervals: dict[str, Interval]) -> str:
    """Return the title, the sentences that answer first, and the numbers behind them."""
    evaluation = report.evaluation
    plain = " ".join(sentences(evaluation, intervals))
    date = f" · {escape(report.date)}" if report.date else ""
    return (
        f'<header><p class="over">Thresher · evaluation{date}</p>'
        f"<h1>{breakable(short(report.title, 200))}</h1>"
        f'<p class="verdict">{plain}</p><p class="lead">{_counts(evaluation)}</p></header>'
    )


def _counts(evaluation: Evaluation) -> str:
    """Say what became of the documents."""
    total, n = evaluation.contingency.total(), evaluation.n_documents
    places = counted(len(evaluation.categories), "category")
    given = total.true_positives + total.false_positives
    if is_one_each(evaluation):
        nothing = f"; {count(n - given)} got no category" if given < n else ""
        wrong = f"{count(total.false_positives)} of {counted(n, 'document')}"
        return f"{wrong} went to the wrong place, in {places}{nothing}."
    labels = total.true_positives + total.false_negatives
    return (
        f"{counted(n, 'document')} with {counted(labels, 'label')} in {places}. "
        f"The model gave {count(given)}: {count(total.true_positives)} were right, "
        f"{count(total.false_positives)} wrong, and {count(total.false_negatives)} were missed. "
        f"{percent(evaluation.exact_match)} % of the documents got exactly their labels."
    )


def pictures(report: Report, ground: Ground) -> str:
    """Return the charts that are about all categories."""
    measured, names = report.evaluation.per_category, report.evaluation.categories
    figures = []
    sizes = measured["positives"][measured["positives"] > 0]
    if len(sizes) > 2 and sizes.max() >= LEAST_SPREAD * sizes.min():
        points = [
            (names[c], int(measured["positives"][c]), float(measured["f1"][c]), card_id(c))
            for c in ground.shown
        ]
        title = "F1 and size of the categories"
        note = "Each point is a category, linked to its card below."
        figures.append(_picture(size_chart(points), title, note))
    if len(report.mistakes) > 1:
        note = (
            f"{counted(len(report.mistakes), 'pass')}, rounds of learning on included; "
            f"{counted(report.mistakes[-1], 'correction')} in the last. A document is corrected in "
            "each category that it got wrong, or not surely enough."
        )
        chart = corrections_chart(report.mistakes)
        figures.append(_picture(chart, "Corrections while learning", note))
    if len(report.learning_curve) > 1:
        chart = learning_chart(report.learning_curve)
        note = "Micro-F1 after learning from so many documents, measured on others."
        figures.append(_picture(chart, "Learning curve", note))
    is_enough = report.evaluation.n_documents >= FEW_DOCUMENTS
    if is_enough and report.reliability and len(report.reliability.predicted) > 1:
        gap = percent(report.reliability.expected_error)
        note = f"On the diagonal, probabilities mean what they say; the mean distance is {gap} %."
        chart = reliability_chart(report.reliability)
        figures.append(_picture(chart, "Reliability of probabilities", note))
    drawn = f'<h2>At a glance</h2><div class="grid">{"".join(figures)}</div>'
    return f'<section id="pictures">{drawn}</section>' if figures else ""


def _picture(chart: str, title: str, note: str) -> str:
    return f"<figure><h3>{title}</h3>{chart}<figcaption>{note}</figcaption></figure>"


def categories(ground: Ground) -> str:
    """Return the table of all categories, the largest first, with the averages at its foot."""
    evaluation = ground.evaluation
    shown = [key for key in measures_of(shown=True) if key in evaluation.per_category]
    columns = COUNTS | {key: MEASURES[key].title for key in shown}
    heads = "".join(
        f'<th scope="col" aria-sort="{"descending" if key == "positives" else "none"}"'
        f"{attributes(class_=_class(key))}><button type=button>{title}</button></th>"
        for key, title in {"category": "category", **columns}.items()
    )
    rows = sorted(enumerate(evaluation.table()), key=lambda row: -row[1]["positives"])
    body = "".join(
        _row(linked(ground, c), row, list(columns), full=True) for c, row in rows[:MOST_ROWS]
    )
    averages = ("micro", "macro") if len(rows) > 1 else ()
    foot = "".join(_row(one, getattr(evaluation, one), list(columns)) for one in averages)
    hidden = len(rows) - MOST_ROWS
    note = f"<p class=soft>{counted(hidden, 'smaller one is', 'smaller ones are')} not shown.</p>"
    note = note if hidden > 0 else ""
    return f"""<section id="categories"><h2>Categories</h2>
<div class="controls needs-js"{attributes(hidden=len(rows) < FEW_ROWS)}>
<label>Find <input type="search" id="find" autocomplete="off"></label>
<label>with at least <input type="number" id="least" min="0" value="0"> documents</label>
<output id="matches" class="soft"></output></div>
<table class="sortable"><thead><tr>{heads}</tr></thead><tbody>{body}</tbody><tfoot>{foot}</tfoot>
</table><p class="needs-js"><button type="button" id="more" hidden></button></p>{note}</section>"""


def _class(key: str) -> str | None:
    is_wide = MEASURES[key].shown == "wide" if key in MEASURES else key == "assigned"
    return "f1" if key == "f1" else "wide" if is_wide else None


def _row(head: str, row: dict[str, Any], keys: list[str], full: bool = False) -> str:
    """Return a row of the table; a full one can be sorted by, and its F1 is drawn."""
    cells = []
    for key in keys:
        value, style, raw = row.get(key), None, None
        shown = "" if value is None else count(value) if key in COUNTS else percent(value)
        if full and value is not None and math.isfinite(value):
            raw = f"{value}" if key in COUNTS else f"{value:.4f}"
            style = f"--v:{value:.3f}" if key == "f1" else None
        cells.append(f"<td{attributes(class_=_class(key), data_v=raw, style=style)}>{shown}</td>")
    return f'<tr><th scope="row">{head}</th>{"".join(cells)}</tr>'


def confusion(ground: Ground) -> str:
    """Return which categories were given in the place of which."""
    pairs = ground.confused.pairs(MOST_PAIRS)
    if len(ground.evaluation.categories) < 2 or not pairs:
        return ""
    most = pairs[0][2]
    rows = "".join(
        f"<tr><td>{arrow(linked(ground, missed), linked(ground, given))}</td>"
        f'<td class="f1" style="--v:{n / most:.3f}">{count(n)}</td></tr>'
        for missed, given, n in pairs
    )
    what, head = "missed one category and were wrongly given another", "missed → given instead"
    if is_one_each(ground.evaluation):
        what, head = "belong to one category and went to another", "belongs to → went to"
    return f"""<section id="confusion"><h2>Confusions</h2><p>Documents that {what}.</p>
<div class="two uneven">{_matrix(ground)}
<table class="pairs"><thead><tr><th scope="col">{head}</th><th scope="col">documents</th></tr>
</thead><tbody>{rows}</tbody></table></div></section>"""


def _matrix(ground: Ground) -> str:
    """Return the categories that are confused most, each against each."""
    table, names = ground.evaluation.contingency, ground.evaluation.categories
    chosen = ground.confused.most_confused(MOST_IN_MATRIX)
    size = table.true_positives + table.false_negatives
    chosen.sort(key=lambda c: (-int(size[c]), names[c]))
    times = {(missed, given): n for missed, given, n in ground.confused.pairs()}
    heads = "".join(
        f'<th scope="col" title="{escape(short(names[c]))}">{i}</th>'
        for i, c in enumerate(chosen, 1)
    )
    rows = []
    for i, missed in enumerate(chosen, 1):
        cells = []
        for given in chosen:
            same = missed == given
            n = int(table.true_positives[missed]) if same else times.get((missed, given), 0)
            share = min(1.0, n / max(1, int(size[missed])))
            style = f"--v:{(share if same else min(1.0, 3 * share)):.3f}" if n else None
            shown = str(n or "") if n < 1000 else f"{n / 1000:.2g}k"
            kind = "same" if same else None
            cells.append(f"<td{attributes(class_=kind, style=style)}><span>{shown}</span></td>")
        head = f'<th scope="row"><i>{i}</i> {linked(ground, missed)}</th>'
        rows.append(f"<tr>{head}{''.join(cells)}</tr>")
    return f"""<table class="matrix"><caption>Rows: where documents belong. Columns: what they were
given, by the number of the row. Grey is right; the stronger the colour, the larger the share of the
row.</caption><thead><tr><td></td>{heads}</tr></thead>
<tbody>{"".join(rows)}</tbody></table>"""


def errors(report: Report) -> str:
    """Return the worst errors, with the reasons for them."""
    single = report.decisions is not None and report.decisions.mode == "single-label"
    titles = {
        "wrong": "In the wrong place" if single else "Wrongly given",
        "missed": "Given no category" if single else "Missed",
    }
    groups = []
    for kind, title in titles.items():
        its = [one for one in report.errors if one.kind == kind]
        items = "".join(_error(one, one is its[0]) for one in its)
        if items:
            groups.append(f"<h3>{title}</h3>{items}")
    if not groups:
        return ""
    return f"""<section id="errors"><h2>The worst errors</h2>
<p>Those furthest on the wrong side, at most a few of each category. Words in green speak for the
category, words in red against it. Some of these may be errors of the labels: look here first.</p>
{"".join(groups)}</section>"""


def _error(one: WrongDecision, is_open: bool) -> str:
    first = short(" ".join(one.text[:400].split()), 90) or "(no text)"
    place = breakable(short(one.place, 200))
    about = ", ".join(name(label) for label in one.labels[:8]) or "no category"
    given = ", ".join(name(label) for label in one.given[:8]) or "nothing"
    reasons = "".join(explanation_fragment(reason, MOST_SHARES) for reason in one.explanations)
    return (
        f'<details class="error {one.kind}"{attributes(open=is_open)}><summary>'
        f"<strong>{_from_to(one)}</strong> <bdi>{escape(first)}</bdi></summary>"
        f'<p class="soft">{place}. Belongs to {about}; was given {given}; '
        f"{signed(one.margin)} on the wrong side.</p>{reasons}</details>"
    )


def _from_to(one: WrongDecision) -> str:
    """Return where a document belongs and where it went; the category alone if that is all."""
    missed = [label for label in one.labels if label not in one.given]
    wrong = [label for label in one.given if label not in one.labels]
    others = missed if one.kind == "wrong" else wrong
    if not others:
        return name(one.category)
    more = f" and {len(others) - 1} more" if len(others) > 1 else ""
    other, its = f"{name(others[0])}{more}", name(one.category)
    return arrow(other, its) if one.kind == "wrong" else arrow(its, other)


def provenance(report: Report) -> str:
    """Return how it was made."""
    lines = "".join(
        f"<div><dt>{escape(short(what, 200))}</dt><dd>{escape(short(value, 2000))}</dd></div>"
        for what, value in report.provenance.items()
    )
    section = f'<section id="provenance"><h2>How it was made</h2><dl>{lines}</dl></section>'
    return section if lines else ""
