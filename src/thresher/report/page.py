"""The HTML report: its sections, style and script in one self-contained file."""

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
)
from thresher.report.report import Report, with_cards
from thresher.report.verdict import (
    MIN_DOCUMENTS,
    figures,
    intervals_of,
    is_one_each,
    sentences,
)
from thresher.report.worst import WrongDecision

__all__ = ["build"]

MOST_POINTS, FEWEST_POINTS, ALL_POINTS = 200, 30, 20_000  # of a curve, and of all together
MOST_ROWS = 1000  # categories in the table
MIN_ROWS_TO_FILTER = 8
MIN_SIZE_RATIO = 2  # of the largest to the smallest category, for the chart of F1 against size
MOST_IN_MATRIX = 16
MOST_PAIRS = 15
MOST_SHARES = 8  # listed for an error

PHONE_WORD = "doc<span class=wide>ument</span>s"  # a phone is narrow
COUNTS = {"positives": PHONE_WORD, "assigned": "assigned"}


def build(report: Report) -> str:
    """Return a report as an HTML page."""
    ground = _ground(report)
    decisions = _decisions(report)
    intervals = report.intervals
    if intervals is None:
        intervals = intervals_of(report.evaluation)
    sections = {
        "pictures": ("At a glance", pictures(report, ground)),
        "categories": ("Categories", categories(ground)),
        "cards": ("Category details", cards(ground)),
        "confusion": ("Confusions", confusion(ground)),
        "errors": ("Errors", errors(report)),
        "provenance": ("Model and data", provenance(report)),
    }
    links = "".join(
        f'<a href="#{key}">{title}</a>' for key, (title, html) in sections.items() if html
    )
    main = "".join(html for _, html in sections.values())
    return page(
        report.title,
        f"{opening(report, intervals)}{figures(ground, decisions, intervals)}"
        f'<nav aria-label="Sections">{links}</nav><main>{main}</main>',
    )


def _ground(report: Report) -> Ground:
    """Return the data that several sections show."""
    evaluation, decisions = report.evaluation, _decisions(report)
    shown = with_cards(evaluation)
    most = min(MOST_POINTS, max(FEWEST_POINTS, ALL_POINTS // max(1, len(shown))))
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
    """Return the title, the summary in sentences, and the counts."""
    evaluation = report.evaluation
    summary = " ".join(sentences(evaluation, intervals))
    date = f" · {escape(report.date)}" if report.date else ""
    return (
        f'<header><p class="over">Thresher · evaluation{date}</p>'
        f"<h1>{breakable(short(report.title, 200))}</h1>"
        f'<p class="verdict">{summary}</p><p class="lead">{_counts(evaluation)}</p></header>'
    )


def _counts(evaluation: Evaluation) -> str:
    """Return the numbers of documents, labels and errors as sentences."""
    total, n = evaluation.contingency.total(), evaluation.n_documents
    categories = counted(len(evaluation.categories), "category")
    given = total.true_positives + total.false_positives
    if is_one_each(evaluation):
        nothing = f"; {count(n - given)} got no category" if given < n else ""
        wrong = f"{count(total.false_positives)} of {counted(n, 'document')}"
        return f"{wrong} got a wrong category, of {categories}{nothing}."
    labels = total.true_positives + total.false_negatives
    return (
        f"{counted(n, 'document')} with {counted(labels, 'label')} in {categories}. "
        f"The model assigned {count(given)}: {count(total.true_positives)} were right, "
        f"{count(total.false_positives)} wrong, and {count(total.false_negatives)} were missed. "
        f"{percent(evaluation.exact_match)} % of the documents got exactly their labels."
    )


def pictures(report: Report, ground: Ground) -> str:
    """Return the charts of all categories together."""
    measured, names = report.evaluation.per_category, report.evaluation.categories
    figures = []
    sizes = measured["positives"][measured["positives"] > 0]
    if len(sizes) > 2 and sizes.max() >= MIN_SIZE_RATIO * sizes.min():
        points = [
            (names[c], int(measured["positives"][c]), float(measured["f1"][c]), card_id(c))
            for c in ground.shown
        ]
        title = "F1 and size of the categories"
        note = "Each point is a category, linked to its card below."
        figures.append(_picture(size_chart(points), title, note))
    if len(report.mistakes) > 1:
        note = (
            f"{counted(len(report.mistakes), 'pass')}, later updates included; "
            f"{counted(report.mistakes[-1], 'correction')} in the last. The learner corrects each "
            "decision that is wrong or within the margin."
        )
        chart = corrections_chart(report.mistakes)
        figures.append(_picture(chart, "Corrections while learning", note))
    if len(report.learning_curve) > 1:
        chart = learning_chart(report.learning_curve)
        note = "Micro-F1 on held-out documents, by the number of training documents."
        figures.append(_picture(chart, "Learning curve", note))
    is_enough = report.evaluation.n_documents >= MIN_DOCUMENTS
    if is_enough and report.reliability and len(report.reliability.predicted) > 1:
        gap = percent(report.reliability.expected_error)
        note = (
            "On the diagonal, predicted probabilities equal observed frequencies; "
            f"the mean difference is {gap} %."
        )
        chart = reliability_chart(report.reliability)
        figures.append(_picture(chart, "Reliability of probabilities", note))
    drawn = f'<h2>At a glance</h2><div class="grid">{"".join(figures)}</div>'
    return f'<section id="pictures">{drawn}</section>' if figures else ""


def _picture(chart: str, title: str, note: str) -> str:
    return f"<figure><h3>{title}</h3>{chart}<figcaption>{note}</figcaption></figure>"


def categories(ground: Ground) -> str:
    """Return the table of all categories, the largest first, with averages in the last rows."""
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
    foot = "".join(_row(key, getattr(evaluation, key), list(columns)) for key in averages)
    hidden = len(rows) - MOST_ROWS
    note = f"<p class=soft>{counted(hidden, 'smaller one is', 'smaller ones are')} not shown.</p>"
    note = note if hidden > 0 else ""
    return f"""<section id="categories"><h2>Categories</h2>
<div class="controls needs-js"{attributes(hidden=len(rows) < MIN_ROWS_TO_FILTER)}>
<label>Find <input type="search" id="find" autocomplete="off"></label>
<label>with at least <input type="number" id="least" min="0" value="0"> documents</label>
<output id="matches" class="soft"></output></div>
<table class="sortable"><thead><tr>{heads}</tr></thead><tbody>{body}</tbody><tfoot>{foot}</tfoot>
</table><p class="needs-js"><button type="button" id="more" hidden></button></p>{note}</section>"""


def _class(key: str) -> str | None:
    is_wide = MEASURES[key].shown == "wide" if key in MEASURES else key == "assigned"
    return "f1" if key == "f1" else "wide" if is_wide else None


def _row(head: str, row: dict[str, Any], keys: list[str], full: bool = False) -> str:
    """Return a row of the table; a full row can be sorted and has a bar for F1."""
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
    """Return the most frequent confusions of two categories as a matrix and as a list."""
    pairs = ground.confused.pairs(MOST_PAIRS)
    if len(ground.evaluation.categories) < 2 or not pairs:
        return ""
    most = pairs[0][2]
    rows = "".join(
        f"<tr><td>{arrow(linked(ground, missed), linked(ground, given))}</td>"
        f'<td class="f1" style="--v:{n / most:.3f}">{count(n)}</td></tr>'
        for missed, given, n in pairs
    )
    what, head = "with one category missed and another wrongly assigned", "missed → assigned"
    if is_one_each(ground.evaluation):
        what, head = "of one category that were assigned to another", "true → assigned"
    return f"""<section id="confusion"><h2>Confusions</h2><p>Documents {what}.</p>
<div class="two uneven">{_matrix(ground)}
<table class="pairs"><thead><tr><th scope="col">{head}</th><th scope="col">documents</th></tr>
</thead><tbody>{rows}</tbody></table></div></section>"""


def _matrix(ground: Ground) -> str:
    """Return the confusion matrix of the categories that are confused most."""
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
    return f"""<table class="matrix"><caption>Rows: true categories. Columns: assigned categories,
numbered like the rows. Grey cells are right; a stronger colour is a larger share of the row.
</caption><thead><tr><td></td>{heads}</tr></thead>
<tbody>{"".join(rows)}</tbody></table>"""


def errors(report: Report) -> str:
    """Return the worst errors with their explanations."""
    single = report.decisions is not None and report.decisions.mode == "single-label"
    titles = {
        "wrong": "Wrong category" if single else "False positives",
        "missed": "No category assigned" if single else "False negatives",
    }
    groups = []
    for kind, title in titles.items():
        of_kind = [error for error in report.errors if error.kind == kind]
        items = "".join(_error(error, error is of_kind[0]) for error in of_kind)
        if items:
            groups.append(f"<h3>{title}</h3>{items}")
    if not groups:
        return ""
    return f"""<section id="errors"><h2>The worst errors</h2>
<p>The errors with the largest margins, at most a few per category. Green words count for the
category, red words against it. Some may be wrong labels in the data, so check these first.</p>
{"".join(groups)}</section>"""


def _error(error: WrongDecision, is_open: bool) -> str:
    beginning = short(" ".join(error.text[:400].split()), 90) or "(no text)"
    location = breakable(short(error.location, 200))
    labels = ", ".join(name(label) for label in error.labels[:8]) or "none"
    given = ", ".join(name(label) for label in error.given[:8]) or "none"
    reasons = "".join(explanation_fragment(reason, MOST_SHARES) for reason in error.explanations)
    return (
        f'<details class="error {error.kind}"{attributes(open=is_open)}><summary>'
        f"<strong>{_from_to(error)}</strong> <bdi>{escape(beginning)}</bdi></summary>"
        f'<p class="soft">{location}. True: {labels}; assigned: {given}; '
        f"wrong by a margin of {error.margin:.2f}.</p>{reasons}</details>"
    )


def _from_to(error: WrongDecision) -> str:
    """Return the true and the assigned category, or the category alone if there is no other."""
    missed = [label for label in error.labels if label not in error.given]
    wrong = [label for label in error.given if label not in error.labels]
    others = missed if error.kind == "wrong" else wrong
    if not others:
        return name(error.category)
    more = f" and {len(others) - 1} more" if len(others) > 1 else ""
    other, category = f"{name(others[0])}{more}", name(error.category)
    return arrow(other, category) if error.kind == "wrong" else arrow(category, other)


def provenance(report: Report) -> str:
    """Return the section on the model, its training and the data."""
    lines = "".join(
        f"<div><dt>{escape(short(what, 200))}</dt><dd>{escape(short(value, 2000))}</dd></div>"
        for what, value in report.provenance.items()
    )
    section = f'<section id="provenance"><h2>Model and data</h2><dl>{lines}</dl></section>'
    return section if lines else ""
