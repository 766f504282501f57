"""Everything that is drawn: the page that shows what a model does well, plots, explanations."""

from thresher.report.explanation import explanation_fragment, explanation_page, explanation_text
from thresher.report.plots import plot
from thresher.report.report import Report, write_report

__all__ = [
    "Report", "explanation_fragment", "explanation_page", "explanation_text", "plot",
    "write_report",
]  # fmt: skip
