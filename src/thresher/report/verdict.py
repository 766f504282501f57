"""What comes first: sentences for whoever asks only whether it is good enough, and four cards."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from thresher.decisions import Decisions
from thresher.errors import counted
from thresher.evaluation import Evaluation, measure_title, read_measure
from thresher.evaluation.measures import exactly_right
from thresher.evaluation.significance import Interval, bootstrap_intervals, share_interval
from thresher.report.cards import Ground, linked
from thresher.report.markup import arrow, count, name, percent

__all__ = ["certainty", "figures", "intervals_of", "is_one_each", "sentences", "weakest"]

FEWEST_DRAWS, MOST_DRAWS, ALL_DRAWN = 100, 1000, 20_000_000  # of the bootstrap; documents in all
FEW_DOCUMENTS, WIDE = 30, 0.2  # fewer, or an interval wider than this, are too few to judge by
FEW_OF_CATEGORY = 10  # too few to judge a category by
_BLOCK = 4_000_000  # scores that are looked at together
PART, FEWEST_IN_PART = 10, 2  # a tenth of the documents is looked at, if it is at least two

# The measure on the first card, and those that are told below the cards.
HEADLINES = {
    "one category": ["micro_f1", "micro_precision", "micro_recall", "exact_match"],
    "one each": ["exact_match", "macro_f1", "macro_precision", "macro_recall"],
    "several": ["micro_f1", "micro_precision", "micro_recall", "macro_f1", "exact_match"],
}


def is_one_each(evaluation: Evaluation) -> bool:
    """Return whether each document belongs to one category and got one, or none."""
    positives, decisions = evaluation.positives, evaluation.decisions
    if positives is None or decisions is None or len(evaluation.categories) < 2:
        return False
    labels = np.bincount(positives.rows, minlength=evaluation.n_documents)
    return bool((labels == 1).all() and (np.count_nonzero(decisions, axis=1) <= 1).all())


def _kind(evaluation: Evaluation) -> str:
    if len(evaluation.categories) == 1:
        return "one category"
    return "one each" if is_one_each(evaluation) else "several"


def intervals_of(evaluation: Evaluation) -> dict[str, Interval]:
    """Return the intervals of the headline figures: Wilson's of a share of documents."""
    if evaluation.decisions is None or not evaluation.n_documents:
        return {}
    kind, n = _kind(evaluation), evaluation.n_documents
    total = evaluation.contingency.total()
    hits = total.true_positives
    shares = {
        "exact_match": share_interval(round(evaluation.exact_match * n), n),
        "micro_precision": share_interval(hits, hits + total.false_positives),
        "micro_recall": share_interval(hits, hits + total.false_negatives),
    }
    known = [one for one in HEADLINES[kind] if math.isfinite(read_measure(evaluation, one))]
    drawn: dict[str, Interval] = {}
    if n >= FEW_DOCUMENTS:
        draws = max(FEWEST_DRAWS, min(MOST_DRAWS, ALL_DRAWN // n))
        are_documents = "exact_match", *(HEADLINES[kind] if kind == "one category" else ())
        drawn = bootstrap_intervals(
            None, evaluation.labels(), evaluation.decisions, n_resamples=draws,
            measures=[one for one in known if one == "micro_f1" or one not in are_documents],
        )  # fmt: skip
        # Where nothing was wrong, no draw is: an interval without width would promise too much.
        drawn = {one: its for one, its in drawn.items() if its.low < its.high}
    return {one: its for one, its in (shares | drawn).items() if one in known}


def weakest(evaluation: Evaluation) -> int | None:
    """Return the category with the lowest F1 of those with enough documents; None if it is 1."""
    f1, sizes = evaluation.per_category["f1"], evaluation.per_category["positives"]
    able = np.flatnonzero((sizes >= FEW_OF_CATEGORY) & (f1 < 1))
    return int(able[np.argmin(f1[able])]) if len(able) else None


def certainty(evaluation: Evaluation, decisions: Decisions) -> np.ndarray | None:
    """Return how far the scores of each document are from another decision."""
    scores = evaluation.scores
    if scores is None or not scores.size:
        return None
    step = max(1, _BLOCK // scores.shape[1])
    parts = (scores[start : start + step] for start in range(0, len(scores), step))
    return np.concatenate([_distance(part, decisions) for part in parts])


def _distance(scores: np.ndarray, decisions: Decisions) -> np.ndarray:
    margins = scores - decisions.thresholds
    if decisions.mode == "single-label" and margins.shape[1] > 1:
        second, first = np.partition(margins, -2, axis=1)[:, -2:].T
        ahead = first - second
        return np.asarray(np.minimum(ahead, np.abs(first)) if decisions.allow_none else ahead)
    return np.asarray(np.abs(margins).min(axis=1))


# The sentences -----------------------------------------------------------------------------------


def sentences(evaluation: Evaluation, intervals: dict[str, Interval]) -> list[str]:
    """Say in plain words how good it is, how sure that is, and where it is weakest."""
    total = evaluation.contingency.total()
    given = total.true_positives + total.false_positives
    labels = total.true_positives + total.false_negatives
    if not labels:
        return ["No document here belongs to any category, so nothing can be told."]
    if not given:
        them = counted(evaluation.n_documents, "document")
        return [f"It gave no category to any of the {them}."]
    kind = _kind(evaluation)
    if kind == "one category":
        return _of_one_category(evaluation, intervals)
    first = _of_one_each if kind == "one each" else _of_several
    return [first(evaluation, intervals), _where(evaluation, intervals)]


def _of_one_each(evaluation: Evaluation, intervals: dict[str, Interval]) -> str:
    n, interval = evaluation.n_documents, intervals.get("exact_match")
    right = round(evaluation.exact_match * n)
    if _is_few(n, [interval]):
        fits = f", and anything from {_range(interval)} of 100 would fit" if interval else ""
        return f"{_only(n)}: {right} of {n} went to the right place{fits}."
    if right == n:
        return f"All {counted(n, 'document')} went to the right place{_expect(n, interval)}."
    share = _of_100(evaluation.exact_match, "documents").capitalize()
    return f"{share} go to the right place{_expect(n, interval)}."


def _of_several(evaluation: Evaluation, intervals: dict[str, Interval]) -> str:
    n, total = evaluation.n_documents, evaluation.contingency.total()
    given = total.true_positives + total.false_positives
    labels = total.true_positives + total.false_negatives
    precision, recall = intervals.get("micro_precision"), intervals.get("micro_recall")
    if _is_few(n, [precision, recall]):
        return (
            f"{_only(n)}: {total.true_positives} of the {counted(given, 'label')} that it gave "
            f"were right, of {labels} that belong."
        )
    expect = ""
    if precision and recall:
        ranges = f"{_range(precision)}, and {_range(recall)}"
        expect = f"; on others like these {count(n)} documents, expect {ranges}"
    return (
        f"{_of_100(evaluation.micro['precision'], 'labels').capitalize()} that it gives are right, "
        f"and it finds {_of_100(evaluation.micro['recall'], '')} that belong{expect}."
    )


def _of_one_category(evaluation: Evaluation, intervals: dict[str, Interval]) -> list[str]:
    n, total = evaluation.n_documents, evaluation.contingency.total()
    hits, its = total.true_positives, name(evaluation.categories[0])
    given, own = hits + total.false_positives, hits + total.false_negatives
    precision, recall = intervals.get("micro_precision"), intervals.get("micro_recall")
    if _is_few(min(given, own), [precision, recall]):
        return [
            f"{_only(n) if n < FEW_DOCUMENTS else 'There is too little of it to judge'}: "
            f"{hits} of {given} that it calls {its} are, of {own} that there are."
        ]
    return [
        f"{_of_100(hits / given, 'documents').capitalize()} that it calls {its} are"
        f"{_expect(n, precision)}.",
        f"Of those that are, it finds {_of_100(hits / own, '')}"
        f"{f' (expect {_range(recall)})' if recall else ''}.",
    ]


def _where(evaluation: Evaluation, intervals: dict[str, Interval]) -> str:
    """Say whether it is better than no model, where it is weakest, and what cannot be judged."""
    sizes = evaluation.per_category["positives"]
    n_few = int(np.count_nonzero(sizes < FEW_OF_CATEGORY))
    if n_few == len(sizes):
        return f"No category has {FEW_OF_CATEGORY} documents here, so none can be judged by itself."
    parts = []
    interval = intervals.get("exact_match")
    largest, share = int(sizes.argmax()), float(sizes.max()) / evaluation.n_documents
    if is_one_each(evaluation) and interval and interval.low <= share:
        always = name(evaluation.categories[largest])
        parts.append(f"always answering {always} would get {round(100 * share)}")
    if (c := weakest(evaluation)) is None:
        parts.append("no category with enough documents had an error")
    else:
        parts.append(f"it is weakest in {name(evaluation.categories[c])}, {_why(evaluation, c)}")
    if n_few:
        have = "has" if n_few == 1 else "have"
        parts.append(
            f"{count(n_few)} of the {count(len(sizes))} categories {have} fewer than "
            f"{FEW_OF_CATEGORY} documents here, too few to judge"
        )
    sentence = "; ".join(parts)
    return f"{sentence[0].upper()}{sentence[1:]}."


def _why(evaluation: Evaluation, c: int) -> str:
    """Say what is worse in a category: what it missed, or what it was wrongly given to."""
    table = evaluation.contingency
    hits, wrong, missed = (int(cell[c]) for cell in table[:3])
    if missed >= wrong:
        return f"where it found {count(hits)} of {counted(hits + missed, 'document')}"
    return (
        f"where {count(wrong)} of the {counted(hits + wrong, 'document')} that got it do not belong"
    )


def _is_few(n: int, intervals: list[Interval | None]) -> bool:
    return n < FEW_DOCUMENTS or any(one and one.high - one.low > WIDE for one in intervals)


def _only(n: int) -> str:
    return f"Only {counted(n, 'document was', 'documents were')} measured, too few to judge"


def _of_100(value: float, what: str) -> str:
    """Say a share as so many of a hundred; what is not all is never called all."""
    of = f"of 100 {what}".rstrip()
    if 0.995 <= value < 1:
        return f"more than 99 {of}"
    if 0 < value < 0.005:
        return f"fewer than 1 {of}"
    return f"{'about ' if 0 < value < 1 else ''}{round(100 * value)} {of}"


def _range(interval: Interval) -> str:
    """Say an interval in whole hundredths, never narrower than it is."""
    low, high = math.floor(100 * interval.low + 1e-9), math.ceil(100 * interval.high - 1e-9)
    return f"{low}" if low == high else f"{low} to {high}"


def _expect(n: int, interval: Interval | None) -> str:
    if interval is None:
        return ""
    return f"; on others like these {count(n)}, expect {_range(interval)}"


# The cards ---------------------------------------------------------------------------------------


class Figure(NamedTuple):
    """A card: a number or a name, and what it means."""

    title: str
    value: str
    note: str
    interval: Interval | None = None
    is_name: bool = False

    def html(self) -> str:
        """Return it as a part of the page."""
        bar = ""
        if self.interval is not None:
            value, low, high = self.interval
            bar = (
                f'<div class="track" style="--v:{value:.4f};--low:{low:.4f};--high:{high:.4f}" '
                f'aria-hidden=true><i></i><b></b></div><p class="interval">'
                f"{percent(low)} – {percent(high)}</p>"
            )
        kind = "value name" if self.is_name else "value"
        return (
            f'<div class="figure"><h2>{self.title}</h2><p class="{kind}">{self.value}</p>{bar}'
            f"<p class=soft>{self.note}</p></div>"
        )


def figures(ground: Ground, decisions: Decisions, intervals: dict[str, Interval]) -> str:
    """Return the cards, which tell different things, and the other averages in a line."""
    evaluation = ground.evaluation
    first, *others = HEADLINES[_kind(evaluation)]
    cards: list[Figure | None] = [_overall(evaluation, first, intervals.get(first))]
    if len(evaluation.categories) == 1:
        cards += _two_errors(evaluation, intervals)
        others = others[2:]
    else:
        cards += [_weakest(ground), _confusion(ground)]
    cards.append(_least_certain(evaluation, decisions))
    drawn = "".join(one.html() for one in cards if one is not None)
    return (
        f'<section class="headline" aria-label="Headline figures">{drawn}</section>'
        f"{_below(evaluation, others, intervals)}"
    )


def _overall(evaluation: Evaluation, measure: str, interval: Interval | None) -> Figure:
    n = evaluation.n_documents
    if measure == "exact_match":
        right = round(evaluation.exact_match * n)
        title, note = "Accuracy", f"{count(right)} of {counted(n, 'document')} in the right place"
    else:
        precision, recall = evaluation.micro["precision"], evaluation.micro["recall"]
        title = "F1" if len(evaluation.categories) == 1 else "Micro-F1"
        note = f"all decisions: precision&nbsp;{percent(precision)}, recall&nbsp;{percent(recall)}"
    value = read_measure(evaluation, measure)
    return Figure(title, f"{percent(value)}<small> %</small>", note, interval)


def _two_errors(evaluation: Evaluation, intervals: dict[str, Interval]) -> list[Figure]:
    hits, wrong, missed, _ = (int(cell) for cell in evaluation.contingency.total())
    return [
        Figure("Wrongly given", f"{count(wrong)}<small> of {count(hits + wrong)}</small>",
               f"precision {percent(evaluation.micro['precision'])}"
               f"{_bracket(intervals.get('micro_precision'))}"),
        Figure("Missed", f"{count(missed)}<small> of {count(hits + missed)}</small>",
               f"recall {percent(evaluation.micro['recall'])}"
               f"{_bracket(intervals.get('micro_recall'))}"),
    ]  # fmt: skip


def _weakest(ground: Ground) -> Figure | None:
    c = weakest(ground.evaluation)
    if c is None:
        return None
    measured, table = ground.evaluation.per_category, ground.evaluation.contingency
    hits, wrong, missed = (int(cell[c]) for cell in table[:3])
    wrongly = f"{count(wrong)} of {count(hits + wrong)} wrongly given"
    note = (
        f"F1&nbsp;{percent(measured['f1'][c])}: {count(hits)} of {count(hits + missed)} found, "
        f"{wrongly if hits + wrong else 'never given'}"
    )
    return Figure("Weakest category", linked(ground, c), note, is_name=True)


def _confusion(ground: Ground) -> Figure | None:
    pairs = ground.confused.pairs(1)
    if not pairs:
        return None
    missed, given, n = pairs[0]
    note = f"{counted(n, 'document')} missed the first and got the second"
    if is_one_each(ground.evaluation):
        wrong = int(ground.evaluation.contingency.false_positives.sum())
        part = f"{count(n)} of {count(wrong)}" if n < wrong or n == 1 else f"all {count(n)}"
        note = f"{part} that went to the wrong place"
    value = arrow(linked(ground, missed), linked(ground, given))
    return Figure("Commonest confusion", value, note, is_name=True)


def _least_certain(evaluation: Evaluation, decisions: Decisions) -> Figure | None:
    """Tell what was left undecided, or else how many errors hide where the model is unsure."""
    if evaluation.positives is None or evaluation.decisions is None:
        return None
    n, is_right = evaluation.n_documents, exactly_right(evaluation.decisions, evaluation.positives)
    decided = evaluation.decisions.any(axis=1)
    n_open = n - int(np.count_nonzero(decided))
    if n_open and (is_one_each(evaluation) or decisions.abstain_below is not None):
        right = percent(is_right[decided].mean() if n_open < n else None)
        note = f"documents; of the others {right} % are right"
        return Figure("Given no category", f"{count(n_open)}<small> of {count(n)}</small>", note)
    sure, n_wrong, part = certainty(evaluation, decisions), int((~is_right).sum()), -(-n // PART)
    if sure is None or not n_wrong or part < FEWEST_IN_PART:
        return None
    there = int((~is_right)[np.argsort(sure, kind="stable")[:part]].sum())
    note = f"documents with an error are among the {count(part)} that it is least sure of"
    return Figure("Least certain tenth", f"{count(there)}<small> of {count(n_wrong)}</small>", note)


def _bracket(interval: Interval | None) -> str:
    return f" ({percent(interval.low)} – {percent(interval.high)})" if interval else ""


def _below(evaluation: Evaluation, measures: list[str], intervals: dict[str, Interval]) -> str:
    """Return the averages that have no card, and what a range means."""
    listed = ", ".join(
        f"<span>{measure_title(one)} {percent(read_measure(evaluation, one))}"
        f"{_bracket(intervals.get(one))}</span>"
        for one in measures
    )
    means = (
        " A range is a 95&nbsp;% interval: how far a figure would vary if other documents of the "
        "same kind had been drawn."
    )
    return f'<p class="soft below">Also: {listed}.{means if intervals else ""}</p>'
