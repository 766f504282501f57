"""The head of the report: a summary in sentences, and four cards with the headline figures."""

from __future__ import annotations

import math

import numpy as np

from thresher.decisions import Decisions
from thresher.errors import counted
from thresher.evaluation import Evaluation, measure_title, read_measure
from thresher.evaluation.measures import exactly_right
from thresher.evaluation.significance import Interval, bootstrap_intervals, share_interval
from thresher.report.cards import Ground, linked
from thresher.report.curves import deciding_scores
from thresher.report.markup import arrow, count, name, percent

FEWEST_RESAMPLES, MOST_RESAMPLES = 100, 1000  # of the bootstrap
MOST_RESAMPLED_DOCUMENTS = 20_000_000  # in all resamples together
MIN_DOCUMENTS, MAX_INTERVAL_WIDTH = 30, 0.2  # otherwise there are too few documents to judge
MIN_CATEGORY_DOCUMENTS = 10  # with fewer, a category is not judged
SCORES_PER_BLOCK = 4_000_000
LEAST_CERTAIN, FEWEST_LEAST_CERTAIN = 10, 2  # one document in ten, and at least two

ABOUT_RANGES = (
    " Ranges are 95&nbsp;% confidence intervals: how much a figure would vary with other "
    "documents of the same kind."
)
# The measure on the first card, and those listed below the cards.
HEADLINES = {
    "one category": ["micro_f1", "micro_precision", "micro_recall", "exact_match"],
    "one each": ["exact_match", "macro_f1", "macro_precision", "macro_recall"],
    "several": ["micro_f1", "micro_precision", "micro_recall", "macro_f1", "exact_match"],
}


def is_one_each(evaluation: Evaluation) -> bool:
    """Return True if each document has exactly one category and was assigned at most one."""
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
    """Return 95 % intervals of the headline figures: Wilson's for shares, otherwise bootstrap."""
    if evaluation.decisions is None or not evaluation.n_documents:
        return {}
    kind, n = _kind(evaluation), evaluation.n_documents
    total = evaluation.contingency.total()
    shares = {
        "exact_match": share_interval(round(evaluation.exact_match * n), n),
        "micro_precision": share_interval(total.true_positives, total.assigned),
        "micro_recall": share_interval(total.true_positives, total.positives),
    }
    measures = [key for key in HEADLINES[kind] if math.isfinite(read_measure(evaluation, key))]
    resampled: dict[str, Interval] = {}
    if n >= MIN_DOCUMENTS:
        resamples = max(FEWEST_RESAMPLES, min(MOST_RESAMPLES, MOST_RESAMPLED_DOCUMENTS // n))
        are_shares = "exact_match", *(HEADLINES[kind] if kind == "one category" else ())
        resampled = bootstrap_intervals(
            None, evaluation.labels(), evaluation.decisions, n_resamples=resamples,
            measures=[key for key in measures if key == "micro_f1" or key not in are_shares],
        )  # fmt: skip
        # Without any error, all resamples are equal; an interval of no width would mislead.
        resampled = {key: value for key, value in resampled.items() if value.low < value.high}
    return {key: value for key, value in (shares | resampled).items() if key in measures}


def weakest(evaluation: Evaluation) -> int | None:
    """Return the category with the lowest F1 below 1, of those with enough documents, or None."""
    f1, sizes = evaluation.per_category["f1"], evaluation.per_category["positives"]
    candidates = np.flatnonzero((sizes >= MIN_CATEGORY_DOCUMENTS) & (f1 < 1))
    return int(candidates[np.argmin(f1[candidates])]) if len(candidates) else None


def certainty(evaluation: Evaluation, decisions: Decisions) -> np.ndarray | None:
    """Return the smallest change of scores that would change the decision on each document."""
    scores = evaluation.scores
    if scores is None or not scores.size:
        return None
    step = max(1, SCORES_PER_BLOCK // scores.shape[1])
    blocks = (scores[start : start + step] for start in range(0, len(scores), step))
    margins = (deciding_scores(block, decisions) - decisions.thresholds for block in blocks)
    return np.concatenate([np.abs(block).min(axis=1) for block in margins])


# The sentences -----------------------------------------------------------------------------------


def sentences(evaluation: Evaluation, intervals: dict[str, Interval]) -> list[str]:
    """Return sentences on how good the model is, how certain that is, and where it is weakest."""
    total = evaluation.contingency.total()
    if not total.positives:
        return ["No document here has a label, so nothing can be measured."]
    if not total.assigned:
        documents = counted(evaluation.n_documents, "document")
        return [f"The model gave no category to any of the {documents}."]
    if len(evaluation.categories) == 1:
        return [_precision_and_recall(evaluation, intervals)]
    first = _accuracy if is_one_each(evaluation) else _precision_and_recall
    return [first(evaluation, intervals), _weak_points(evaluation, intervals)]


def _accuracy(evaluation: Evaluation, intervals: dict[str, Interval]) -> str:
    n, interval = evaluation.n_documents, intervals.get("exact_match")
    right = round(evaluation.exact_match * n)
    share = f"{_whole_percent(evaluation.exact_match)} of the {count(n)} documents"
    if _is_few(n, [interval]):
        share = f"{_only(n)}: {right} of {n}"
    elif right == n:
        share = f"all {counted(n, 'document')}"
    return f"{_capitalized(share)} got the right category{_range(interval)}."


def _precision_and_recall(evaluation: Evaluation, intervals: dict[str, Interval]) -> str:
    """Return a sentence on precision and recall of a single category, or of all together."""
    n, total = evaluation.n_documents, evaluation.contingency.total()
    single = name(evaluation.categories[0]) if len(evaluation.categories) == 1 else None
    precision, recall = intervals.get("micro_precision"), intervals.get("micro_recall")
    n_judged = min(total.assigned, total.positives) if single else n
    if not _is_few(n_judged, [precision, recall]):
        shares = (
            f"precision is {_whole_percent(total.precision)}{_range(precision)} and recall "
            f"{_whole_percent(total.recall)}{_range(recall, is_first=precision is None)}"
        )
        documents = f"{count(n)} documents"
        return f"For {single}, {shares} on {documents}." if single else f"On {documents}, {shares}."
    if single is None:
        labels = counted(total.assigned, "assigned label")
        right = f"{labels} are right, of {total.positives} true ones."
    else:
        documents = counted(total.assigned, "document")
        right = f"{documents} assigned to {single} belong to it, of {total.positives} that do."
    few = f"Too few documents of {single} to judge" if single and n >= MIN_DOCUMENTS else _only(n)
    return f"{few}: {total.true_positives} of {right}"


def _weak_points(evaluation: Evaluation, intervals: dict[str, Interval]) -> str:
    """Compare with a constant answer; name the weakest category and those not judged."""
    sizes = evaluation.per_category["positives"]
    n_few = int(np.count_nonzero(sizes < MIN_CATEGORY_DOCUMENTS))
    if n_few == len(sizes):
        least = MIN_CATEGORY_DOCUMENTS
        return f"No category has {least} documents here, too few to judge one by itself."
    clauses = []
    interval = intervals.get("exact_match")
    largest, share = int(sizes.argmax()), float(sizes.max()) / evaluation.n_documents
    if is_one_each(evaluation) and interval and interval.low <= share:
        always = name(evaluation.categories[largest])
        clauses.append(f"always answering {always} would be right for {_whole_percent(share)}")
    if (c := weakest(evaluation)) is None:
        clauses.append("no category with enough documents had an error")
    else:
        weak = name(evaluation.categories[c])
        clauses.append(f"the weakest category is {weak}, {_weakness(evaluation, c)}")
    if n_few:
        have = "has" if n_few == 1 else "have"
        clauses.append(
            f"{count(n_few)} of the {count(len(sizes))} categories {have} fewer than "
            f"{MIN_CATEGORY_DOCUMENTS} documents here, too few to judge"
        )
    return f"{_capitalized('; '.join(clauses))}."


def _weakness(evaluation: Evaluation, c: int) -> str:
    """Return the more frequent kind of error in a category as a clause."""
    table = evaluation.contingency
    hits, wrong, missed = (int(cell[c]) for cell in table[:3])
    if missed >= wrong:
        return f"where {count(hits)} of {counted(hits + missed, 'document')} were found"
    return f"where {count(wrong)} of {counted(hits + wrong, 'assigned document')} do not belong"


def _capitalized(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}"


def _is_few(n: int, intervals: list[Interval | None]) -> bool:
    widths = [interval.high - interval.low for interval in intervals if interval]
    return n < MIN_DOCUMENTS or max(widths, default=0.0) > MAX_INTERVAL_WIDTH


def _only(n: int) -> str:
    return f"Only {counted(n, 'document was', 'documents were')} measured, too few to judge"


def _whole_percent(value: float) -> str:
    """Return a share in whole percent; only 0 and 1 are shown as 0 % and 100 %."""
    if 0.995 <= value < 1:
        return "more than 99 %"
    if 0 < value < 0.005:
        return "less than 1 %"
    return f"{round(100 * value)} %"


def _range(interval: Interval | None, *, is_first: bool = True) -> str:
    """Return an interval in brackets, in whole percent, never narrower than it is."""
    if interval is None:
        return ""
    low, high = math.floor(100 * interval.low + 1e-9), math.ceil(100 * interval.high - 1e-9)
    return f" ({'95 % interval: ' if is_first else ''}{low} to {high} %)"


# The cards ---------------------------------------------------------------------------------------


def figures(ground: Ground, decisions: Decisions, intervals: dict[str, Interval]) -> str:
    """Return the cards, and a line with the averages that have no card."""
    evaluation = ground.evaluation
    first, *others = HEADLINES[_kind(evaluation)]
    cards = _overall(evaluation, first, intervals.get(first))
    if len(evaluation.categories) == 1:
        cards += _two_errors(evaluation, intervals)
        others = others[2:]
    else:
        cards += _weakest(ground) + _confusion(ground)
    cards += _least_certain(evaluation, decisions)
    listed = ", ".join(
        f"<span>{measure_title(key)} {percent(read_measure(evaluation, key))}"
        f"{_bracket(intervals.get(key))}</span>"
        for key in others
    )
    return (
        f'<section class="headline" aria-label="Headline figures">{cards}</section>'
        f'<p class="soft below">Also: {listed}.{ABOUT_RANGES if intervals else ""}</p>'
    )


def _figure(
    title: str, value: str, note: str, interval: Interval | None = None, kind: str = "value"
) -> str:
    """Return a card: a number or a name, its interval, and a note that explains it."""
    bar = ""
    if interval is not None:
        style = f"--v:{interval.value:.4f};--low:{interval.low:.4f};--high:{interval.high:.4f}"
        bar = (
            f'<div class="track" style="{style}" aria-hidden=true><i></i><b></b></div>'
            f'<p class="interval">{percent(interval.low)} – {percent(interval.high)}</p>'
        )
    return (
        f'<div class="figure"><h2>{title}</h2><p class="{kind}">{value}</p>{bar}'
        f'<p class="soft">{note}</p></div>'
    )


def _overall(evaluation: Evaluation, measure: str, interval: Interval | None) -> str:
    n = evaluation.n_documents
    if measure == "exact_match":
        right = round(evaluation.exact_match * n)
        title, note = "Accuracy", f"{count(right)} of {counted(n, 'document')} are right"
    else:
        precision, recall = evaluation.micro["precision"], evaluation.micro["recall"]
        title = "F1" if len(evaluation.categories) == 1 else "Micro-F1"
        note = f"all decisions: precision&nbsp;{percent(precision)}, recall&nbsp;{percent(recall)}"
    value = percent(read_measure(evaluation, measure))
    return _figure(title, f"{value}<small> %</small>", note, interval)


def _two_errors(evaluation: Evaluation, intervals: dict[str, Interval]) -> str:
    total = evaluation.contingency.total()
    return "".join(
        _figure(
            title,
            f"{count(wrong)}<small> of {count(n)}</small>",
            f"{key} {percent(evaluation.micro[key])}{_bracket(intervals.get(f'micro_{key}'))}",
        )
        for title, key, wrong, n in (
            ("False positives", "precision", total.false_positives, total.assigned),
            ("False negatives", "recall", total.false_negatives, total.positives),
        )
    )


def _weakest(ground: Ground) -> str:
    c = weakest(ground.evaluation)
    if c is None:
        return ""
    table = ground.evaluation.contingency
    hits, wrong, missed = (int(cell[c]) for cell in table[:3])
    false_positives = f"{counted(wrong, 'false positive')} of {count(hits + wrong)}"
    note = (
        f"F1&nbsp;{percent(table.f1[c])}: {count(hits)} of {count(hits + missed)} found, "
        f"{false_positives if hits + wrong else 'never assigned'}"
    )
    return _figure("Weakest category", linked(ground, c), note, kind="value name")


def _confusion(ground: Ground) -> str:
    pairs = ground.confused.pairs(1)
    if not pairs:
        return ""
    missed, given, n = pairs[0]
    note = f"{counted(n, 'document')} with the first missed and the second assigned"
    if is_one_each(ground.evaluation):
        wrong = int(ground.evaluation.contingency.false_positives.sum())
        errors = counted(wrong, "misclassified document")
        note = f"{count(n)} of {errors}" if n < wrong or n == 1 else f"all {errors}"
    value = arrow(linked(ground, missed), linked(ground, given))
    return _figure("Most frequent confusion", value, note, kind="value name")


def _least_certain(evaluation: Evaluation, decisions: Decisions) -> str:
    """Return the number of undecided documents, or else of errors among the least certain."""
    if evaluation.positives is None or evaluation.decisions is None:
        return ""
    n, is_right = evaluation.n_documents, exactly_right(evaluation.decisions, evaluation.positives)
    decided = evaluation.decisions.any(axis=1)
    n_open = n - int(np.count_nonzero(decided))
    if n_open and (is_one_each(evaluation) or decisions.abstain_below is not None):
        right = percent(is_right[decided].mean() if n_open < n else None)
        value = f"{count(n_open)}<small> of {count(n)}</small>"
        note = f"documents; {right} % of the others are right"
        return _figure("No category assigned", value, note)
    distances, n_errors = certainty(evaluation, decisions), int((~is_right).sum())
    n_least = -(-n // LEAST_CERTAIN)
    if distances is None or not n_errors or n_least < FEWEST_LEAST_CERTAIN:
        return ""
    least = np.argsort(distances, kind="stable")[:n_least]
    value = f"{count((~is_right)[least].sum())}<small> of {count(n_errors)}</small>"
    note = f"documents with an error are among the {count(n_least)} closest to another decision"
    return _figure("Least certain tenth", value, note)


def _bracket(interval: Interval | None) -> str:
    return f" ({percent(interval.low)} – {percent(interval.high)})" if interval else ""
