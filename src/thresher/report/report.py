"""The data of a report, collected in one pass over the documents."""

from __future__ import annotations

import copy
import os
import platform
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import numpy as np

from thresher import __version__
from thresher.decisions import Decisions, ReliabilityCurve, reliability_curve
from thresher.evaluation import Evaluation
from thresher.evaluation.significance import Interval
from thresher.files import check_writable, write_text
from thresher.model.source import no_progress
from thresher.report.worst import WorstErrors, WrongDecision

if TYPE_CHECKING:
    from thresher.categorizer import Categorizer

MOST_CARDS = 250  # categories with a card
MOST_WORDS = 12  # for a category, and against it

# The strongest words for a category and against it, with their weights.
Words = tuple[list[tuple[str, float]], list[tuple[str, float]]]


@dataclass(frozen=True)
class Report:
    """The data of a report; everything but the evaluation is optional.

    Parameters
    ----------
    evaluation : Evaluation
        The figures.
    decisions : Decisions, optional
        The decision rule and thresholds. Default: multi-label, thresholds of zero.
    title : str, default="Evaluation"
        The title of the page.
    date : str, optional
        The date to print. Default: none, so that equal data give equal pages.
    errors : sequence of WrongDecision
        The worst errors.
    words : dict of str to Words
        The strongest words of each category.
    mistakes : sequence of int
        Corrections of the learner in each pass over the training documents: decisions that were
        wrong or within the margin.
    learning_curve : sequence of (int, float)
        Numbers of training documents, each with the micro-F1 on held-out documents.
    reliability : ReliabilityCurve, optional
        Observed frequencies against predicted probabilities.
    intervals : dict of str to Interval, optional
        95 % intervals of the headline figures, as `bootstrap_intervals` returns them. Default: they
        are computed; an empty dict for none.
    provenance : dict of str to str
        Lines on the model and the data: a name and a value each.

    Examples
    --------
    >>> from thresher.evaluation import evaluate
    >>> evaluation = evaluate([[2.0], [-1.0], [1.0]], [[1], [0], [0]], ["grain"])
    >>> page = Report(evaluation, title="Grain").to_html()
    >>> page.count("<h1"), "grain" in page
    (1, True)
    """

    evaluation: Evaluation
    decisions: Decisions | None = None
    title: str = "Evaluation"
    date: str | None = None
    errors: Sequence[WrongDecision] = ()
    words: dict[str, Words] = field(default_factory=dict)
    mistakes: Sequence[int] = ()
    learning_curve: Sequence[tuple[int, float]] = ()
    reliability: ReliabilityCurve | None = None
    intervals: dict[str, Interval] | None = None
    provenance: dict[str, str] = field(default_factory=dict)

    def to_html(self) -> str:
        """Return the report as a self-contained HTML page."""
        from thresher.report.page import build

        return build(self)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the report to a file; an existing file is replaced atomically."""
        write_text(path, self.to_html())


def write_report(
    path: str | os.PathLike[str],
    categorizer: Categorizer,
    documents: Any,
    labels: Any = None,
    *,
    title: str = "Evaluation",
    date: str | None = None,
    provenance: dict[str, str] | None = None,
    learning_curve: Sequence[tuple[int, float]] = (),
    most_errors: int = 12,
    progress: Any = None,
) -> Evaluation:
    """Evaluate a categorizer on labelled documents and write the results as an HTML page.

    The documents are read once. Memory holds their scores and labels, and the texts of the worst
    errors.

    Parameters
    ----------
    path : path
        The HTML file to write.
    categorizer : Categorizer
        A trained model; its training documents should not be among `documents`.
    documents, labels, progress
        As for `cross_validate`.
    title, date, learning_curve
        As for `Report`.
    provenance : dict of str to str, optional
        Further lines on the model and the data, such as the names of the files.
    most_errors : int, default=12
        The largest number of false negatives and of false positives to show.

    Returns
    -------
    evaluation : Evaluation
        The same as `Categorizer.evaluate` returns.

    Examples
    --------
    >>> import tempfile
    >>> from thresher import Categorizer
    >>> texts = ["cheap pills", "lunch today?", "cheap watches", "see you today"]
    >>> categorizer = Categorizer().fit(texts, ["spam", "ham", "spam", "ham"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = f"{folder}/report.html"
    ...     evaluation = write_report(path, categorizer, texts[:2], ["spam", "ham"])
    >>> evaluation.micro["f1"]
    1.0
    """
    check_writable(path)
    decisions = copy.deepcopy(categorizer.decisions_)
    worst = WorstErrors(categorizer.model_.categories, decisions, most_errors)
    evaluation = categorizer.tested(
        documents, labels, progress or no_progress, lambda scored: worst.see(*scored)
    ).evaluate()
    report = Report(
        evaluation, decisions, title, date, learning_curve=learning_curve,
        errors=worst.explain(categorizer),
        words=_words(categorizer, evaluation),
        mistakes=[int(n) for n in getattr(categorizer.learner_, "mistakes_", ())],
        reliability=_reliability(categorizer, decisions, evaluation),
        provenance=(provenance or {}) | _provenance(categorizer, evaluation),
    )  # fmt: skip
    report.save(path)
    return evaluation


def with_cards(evaluation: Evaluation) -> list[int]:
    """Return the largest categories, which have a card on the page."""
    sizes = evaluation.per_category["positives"]
    return np.argsort(-sizes, kind="stable")[:MOST_CARDS].tolist()  # type: ignore[no-any-return]


def _words(categorizer: Categorizer, evaluation: Evaluation) -> dict[str, Words]:
    """Return the strongest words of the categories with cards; none if features are hashed."""
    learned = set() if categorizer.hashing_bits is not None else set(categorizer.categories_)
    names = (evaluation.categories[c] for c in with_cards(evaluation))
    return {name: categorizer.strongest(name, MOST_WORDS) for name in names if name in learned}


def _reliability(
    categorizer: Categorizer, decisions: Decisions, evaluation: Evaluation
) -> ReliabilityCurve | None:
    probabilities = categorizer.model_.learner_probabilities()
    if (decisions.calibration is None and probabilities is None) or evaluation.scores is None:
        return None
    chances = decisions.probabilities(evaluation.scores, probabilities)
    return reliability_curve(chances, evaluation.labels())


def _provenance(categorizer: Categorizer, evaluation: Evaluation) -> dict[str, str]:
    """Return lines on the model, its training, and the versions used."""
    summary, python = categorizer.summary(), f"Python {platform.python_version()}"
    optional = {"Second look": "second_look", "Concepts": "concepts", "Left out": "compacted"}
    return {
        "Documents evaluated": f"{evaluation.n_documents:,}",
        "Training documents": f"{summary['documents_seen']:,}",
        "Categories": f"{summary['categories']:,}",
        "Features": f"{summary['features']:,}",
        "Learner": summary["learner"],
        "Strengths": summary["strength"],
        "Options": summary["options"],
        **{what: summary[key] for what, key in optional.items() if key in summary},
        "Seed": str(categorizer.seed_),
        "Decisions": f"{summary['mode']}, thresholds {summary['thresholds']}",
        "Versions": f"Thresher {__version__}, {python}, NumPy {version('numpy')}",
    }
