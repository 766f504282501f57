"""Reports as HTML pages, plots, drawn explanations, concepts and trees."""

from thresher.report.concepts import concept_page, write_concept_page
from thresher.report.explanation import explanation_fragment, explanation_page, explanation_text
from thresher.report.plots import plot
from thresher.report.report import Report, write_report
from thresher.report.trees import tree_svg, tree_text

__all__ = [
    "Report", "concept_page", "explanation_fragment", "explanation_page", "explanation_text",
    "plot", "tree_svg", "tree_text", "write_concept_page", "write_report",
]  # fmt: skip
