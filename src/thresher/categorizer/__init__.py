"""The assembled thing: from documents to decisions, and back to the reasons."""

from thresher.categorizer.categorizer import Categorizer
from thresher.categorizer.options import Options

__all__ = ["Categorizer", "Options"]
