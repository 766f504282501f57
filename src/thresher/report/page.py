"""The page: its sections, its style and its script in one file that needs nothing else."""

from __future__ import annotations

from importlib.resources import files

import numpy as np

from thresher.decisions import Decisions
from thresher.report import sections
from thresher.report.cards import Ground, cards
from thresher.report.confusions import confusions
from thresher.report.curves import threshold_curves
from thresher.report.markup import escape, short
from thresher.report.report import Report, with_cards

__all__ = ["build"]

MOST_POINTS, LEAST_POINTS, ALL_POINTS = 200, 30, 20_000  # of one curve, and of all together


def build(report: Report) -> str:
    """Return the page of a report."""
    ground = _ground(report)
    parts = {
        "pictures": ("At a glance", sections.pictures(report, ground)),
        "categories": ("Categories", sections.categories(ground)),
        "cards": ("One category", cards(ground)),
        "confusion": ("Confusions", sections.confusion(ground)),
        "errors": ("Errors", sections.errors(report)),
        "provenance": ("How it was made", sections.provenance(report)),
    }
    links = "".join(f'<a href="#{key}">{title}</a>' for key, (title, part) in parts.items() if part)
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; \
script-src 'unsafe-inline'; img-src data:">
<title>{escape(short(report.title))}</title>
<style>{_resource("page.css")}</style>
<script>document.documentElement.classList.add("js")</script></head>
<body>{sections.opening(report)}{sections.headline(report)}
<nav aria-label="Sections">{links}</nav>
<main>{"".join(part for _, part in parts.values())}</main>
<script>{_resource("page.js")}</script></body></html>
"""


def _ground(report: Report) -> Ground:
    """Compute what the sections share."""
    evaluation = report.evaluation
    n = len(evaluation.categories)
    n_scored = 0 if evaluation.scores is None else evaluation.scores.shape[1]
    decisions = report.decisions or Decisions().grow(n_scored)
    shown = with_cards(evaluation)
    most = min(MOST_POINTS, max(LEAST_POINTS, ALL_POINTS // max(1, len(shown))))
    by_threshold = (
        evaluation.scores is not None
        and evaluation.decisions is not None
        and decisions.mode == "multi-label"
        and n > 1
        and np.array_equal(evaluation.decisions, evaluation.scores > decisions.thresholds)
    )
    return Ground(
        evaluation,
        threshold_curves(evaluation, decisions, most),
        confusions(evaluation),
        report.words,
        shown,
        moves_total=by_threshold,
    )


def _resource(file: str) -> str:
    return files("thresher.report").joinpath(file).read_text(encoding="utf-8")
