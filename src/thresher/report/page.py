"""The HTML report: its sections, style and script in one self-contained file."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np

from thresher.decisions import Decisions
from thresher.errors import counted
from thresher.evaluation import Evaluation
from thresher.evaluation.names import MEASURES, measures_of
from thresher.report import charts
from thresher.report import markup as html
from thresher.report.cards import Ground, card_id, cards, linked
from thresher.report.confusions import confusions
from thresher.report.curves import threshold_curves
from thresher.report.explanation import explanation_fragment
from thresher.report.markup import count, escape, name, percent, short
from thresher.report.report import Report, with_cards
from thresher.report.verdict import MIN_DOCUMENTS, figures, intervals_of, is_one_each, sentences
from thresher.report.worst import WrongDecision

MOST_POINTS, FEWEST_POINTS, ALL_POINTS = 200, 30, 20_000  # of a curve, and of all together
MOST_ROWS = 1000  # categories in the table
MIN_ROWS_TO_FILTER = 8
MIN_SIZE_RATIO = 2  # of the largest to the smallest category, for the chart of F1 against size
MOST_IN_MATRIX = 16
MOST_PAIRS = 15
MOST_SHARES = 8  # listed for an error

PHONE_WORD = "doc<span class=wide>ument</span>s"  # a phone is narrow
MATRIX_CAPTION = """Rows: true categories. Columns: assigned categories, numbered like the rows.
Grey cells are right; a stronger colour is a larger share of the row."""
ABOUT_ERRORS = """The errors with the largest margins, at most a few per category. Green words count
for the category, red words against it. Some may be wrong labels in the data, so check these
first."""
COUNTS = {"positives": PHONE_WORD, "assigned": "assigned"}


def build(report: Report) -> str:
    """Return a report as an HTML page."""
    ground, intervals = _ground(report), report.intervals
    if intervals is None:
        intervals = intervals_of(report.evaluation)
    contents = {
        "pictures": ("At a glance", pictures(report, ground)),
        "categories": ("Categories", categories(ground)),
        "cards": ("Category details", cards(ground)),
        "confusion": ("Confusions", confusion(ground)),
        "errors": ("Errors", errors(report)),
        "provenance": ("Model and data", provenance(report)),
    }
    kind = "evaluation" + (f" · {escape(report.date)}" if report.date else "")
    summary = html.tag("p", " ".join(sentences(report.evaluation, intervals)), class_="verdict")
    lead = f'{summary}<p class="lead">{_counts(report.evaluation)}</p>'
    top = figures(ground, _decisions(report), intervals)
    return html.page(report.title, kind, lead, f"{top}{html.sections(contents)}")


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


def _counts(evaluation: Evaluation) -> str:
    """Return the numbers of documents, labels and errors as sentences."""
    total, n = evaluation.contingency.total(), evaluation.n_documents
    categories = counted(len(evaluation.categories), "category")
    if is_one_each(evaluation):
        n_open = n - total.assigned
        nothing = f"; {count(n_open)} got no category" if n_open > 0 else ""
        wrong = f"{count(total.false_positives)} of {counted(n, 'document')}"
        return f"{wrong} got a wrong category, of {categories}{nothing}."
    return (
        f"{counted(n, 'document')} with {counted(total.positives, 'label')} in {categories}. "
        f"The model assigned {count(total.assigned)}: {count(total.true_positives)} were right, "
        f"{count(total.false_positives)} wrong, and {count(total.false_negatives)} were missed. "
        f"{percent(evaluation.exact_match)} % of the documents got exactly their labels."
    )


def pictures(report: Report, ground: Ground) -> str:
    """Return the charts of all categories together."""
    measured, names = report.evaluation.per_category, report.evaluation.categories
    drawn: list[tuple[str, str, str]] = []  # titles, charts and notes
    sizes = measured["positives"][measured["positives"] > 0]
    if len(sizes) > 2 and sizes.max() >= MIN_SIZE_RATIO * sizes.min():
        points = [
            (names[c], int(measured["positives"][c]), float(measured["f1"][c]), card_id(c))
            for c in ground.shown
        ]
        note = "Each point is a category, linked to its card below."
        drawn.append(("F1 and size of the categories", charts.size_chart(points), note))
    if len(report.mistakes) > 1:
        note = (
            f"{counted(len(report.mistakes), 'pass')}, later updates included; "
            f"{counted(report.mistakes[-1], 'correction')} in the last. The learner corrects each "
            "decision that is wrong or within the margin."
        )
        chart = charts.corrections_chart(report.mistakes)
        drawn.append(("Corrections while learning", chart, note))
    if len(report.learning_curve) > 1:
        note = "Micro-F1 on held-out documents, by the number of training documents."
        drawn.append(("Learning curve", charts.learning_chart(report.learning_curve), note))
    is_enough = report.evaluation.n_documents >= MIN_DOCUMENTS
    if is_enough and report.reliability and len(report.reliability.predicted) > 1:
        note = (
            "On the diagonal, predicted probabilities equal observed frequencies; "
            f"the mean difference is {percent(report.reliability.expected_error)} %."
        )
        chart = charts.reliability_chart(report.reliability)
        drawn.append(("Reliability of probabilities", chart, note))
    figures = "".join(
        f"<figure><h3>{title}</h3>{chart}<figcaption>{note}</figcaption></figure>"
        for title, chart, note in drawn
    )
    return f'<h2>At a glance</h2><div class="grid">{figures}</div>' if drawn else ""


def categories(ground: Ground) -> str:
    """Return the table of all categories, the largest first, with averages in the last rows."""
    evaluation = ground.evaluation
    shown = [key for key in measures_of(shown=True) if key in evaluation.per_category]
    columns = COUNTS | {key: MEASURES[key].title for key in shown}
    largest = sorted(enumerate(evaluation.table()), key=lambda entry: -entry[1]["positives"])
    averages = ("micro", "macro") if len(largest) > 1 else ()
    drawn = html.sortable_table(
        {"category": None, **{title: _class(key) for key, title in columns.items()}},
        [_row(linked(ground, c), values, columns, full=True) for c, values in largest[:MOST_ROWS]],
        sorted_by=PHONE_WORD,
        least="documents",
        foot="".join(_row(key, getattr(evaluation, key), columns) for key in averages),
        fewest=MIN_ROWS_TO_FILTER,
    )
    return f"<h2>Categories</h2>{drawn}{html.not_shown(len(largest) - MOST_ROWS)}"


def _class(key: str) -> str | None:
    is_wide = MEASURES[key].shown == "wide" if key in MEASURES else key == "assigned"
    return "f1" if key == "f1" else "wide" if is_wide else None


def _row(head: str, measures: dict[str, Any], keys: Iterable[str], full: bool = False) -> str:
    """Return a row of the table; a full row can be sorted and has a bar for F1."""
    cells = []
    for key in keys:
        value, style, raw = measures.get(key), None, None
        shown = "" if value is None else count(value) if key in COUNTS else percent(value)
        if full and value is not None and math.isfinite(value):
            raw = f"{value}" if key in COUNTS else f"{value:.4f}"
            style = f"--v:{value:.3f}" if key == "f1" else None
        cells.append(html.tag("td", shown, class_=_class(key), data_v=raw, style=style))
    return html.row(head, cells)


def confusion(ground: Ground) -> str:
    """Return the most frequent confusions of two categories as a matrix and as a list."""
    pairs = ground.confused.pairs(MOST_PAIRS)
    if len(ground.evaluation.categories) < 2 or not pairs:
        return ""
    rows = []
    for missed, given, n in pairs:
        cell = html.tag("td", count(n), class_="f1", style=f"--v:{n / pairs[0][2]:.3f}")
        both = html.arrow(linked(ground, missed), linked(ground, given))
        rows.append(f"<tr><td>{both}</td>{cell}</tr>")
    what, head = "with one category missed and another wrongly assigned", "missed → assigned"
    if is_one_each(ground.evaluation):
        what, head = "of one category that were assigned to another", "true → assigned"
    listing = html.table([html.heading(head), html.heading("documents")], rows, class_="pairs")
    return f"""<h2>Confusions</h2><p>Documents {what}.</p>
<div class="two uneven">{_matrix(ground)}{listing}</div>"""


def _matrix(ground: Ground) -> str:
    """Return the confusion matrix of the categories that are confused most."""
    counts, names = ground.evaluation.contingency, ground.evaluation.categories
    chosen = ground.confused.most_confused(MOST_IN_MATRIX)
    chosen.sort(key=lambda c: (-int(counts.positives[c]), names[c]))
    times = {(missed, given): n for missed, given, n in ground.confused.pairs()}
    headings, rows = ["<td></td>"], []
    for i, missed in enumerate(chosen, 1):
        cells = []
        for given in chosen:
            same = missed == given
            n = int(counts.true_positives[missed]) if same else times.get((missed, given), 0)
            share = min(1.0, n / max(1, int(counts.positives[missed])))
            style = f"--v:{(share if same else min(1.0, 3 * share)):.3f}" if n else None
            shown = str(n or "") if n < 1000 else f"{n / 1000:.2g}k"
            kind = "same" if same else None
            cells.append(html.tag("td", f"<span>{shown}</span>", class_=kind, style=style))
        rows.append(html.row(f"<i>{i}</i> {linked(ground, missed)}", cells))
        headings.append(html.heading(str(i), title=short(names[missed])))
    return html.table(headings, rows, caption=MATRIX_CAPTION, class_="matrix")


def errors(report: Report) -> str:
    """Return the worst errors with their explanations."""
    single = report.decisions is not None and report.decisions.mode == "single-label"
    titles = {
        "wrong": "Wrong category" if single else "False positives",
        "missed": "No category assigned" if single else "False negatives",
    }
    groups = ""
    for kind, title in titles.items():
        of_kind = [error for error in report.errors if error.kind == kind]
        items = "".join(_error(error, error is of_kind[0]) for error in of_kind)
        groups += f"<h3>{title}</h3>{items}" if items else ""
    return f"<h2>The worst errors</h2><p>{ABOUT_ERRORS}</p>{groups}" if groups else ""


def _error(error: WrongDecision, is_open: bool) -> str:
    beginning = short(" ".join(error.text[:400].split()), 90) or "(no text)"
    location = html.breakable(short(error.location, 200))
    labels = ", ".join(map(name, error.labels[:8])) or "none"
    given = ", ".join(map(name, error.given[:8])) or "none"
    reasons = "".join(explanation_fragment(reason, MOST_SHARES) for reason in error.explanations)
    return html.tag(
        "details",
        f"<summary><strong>{_from_to(error)}</strong> <bdi>{escape(beginning)}</bdi></summary>"
        f'<p class="soft">{location}. True: {labels}; assigned: {given}; '
        f"wrong by a margin of {error.margin:.2f}.</p>{reasons}",
        class_=f"error {error.kind}",
        open=is_open,
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
    return html.arrow(other, category) if error.kind == "wrong" else html.arrow(category, other)


def provenance(report: Report) -> str:
    """Return the section on the model, its training and the data."""
    lines = "".join(
        f"<div><dt>{escape(short(what, 200))}</dt><dd>{escape(short(value, 2000))}</dd></div>"
        for what, value in report.provenance.items()
    )
    return f"<h2>Model and data</h2><dl>{lines}</dl>" if lines else ""
