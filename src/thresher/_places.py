"""Where Thresher keeps what it can do without: downloads, finished cells, compiled kernels."""

from __future__ import annotations

import os
from pathlib import Path

from thresher.errors import OutputError

__all__ = ["cache_folder"]


def cache_folder() -> Path:
    """Return the folder for what can be had again: $THRESHER_CACHE, else the user's cache."""
    named = os.environ.get("THRESHER_CACHE")
    if named:
        return Path(named)
    try:
        return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "thresher"
    except RuntimeError:  # a user without a name, as many a container runs under
        raise OutputError(
            "This user has no home folder for the cache; set THRESHER_CACHE to a folder."
        ) from None
