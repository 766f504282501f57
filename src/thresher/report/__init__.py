"""The report: one page, for a browser, that shows what a model does well, what not, and why."""

from thresher.report.report import Report, write_report

__all__ = ["Report", "write_report"]
