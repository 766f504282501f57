"""Thresher sorts text into categories, fast and exactly, and says why."""

from thresher._version import __version__

__all__ = ["__version__"]
