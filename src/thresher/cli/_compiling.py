"""Progress and problems of compilation, shown on the terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from thresher._kernels._cache import activity

ABOUT = "Compiling, once, about 15 s"

_line = ""  # the unfinished line on the terminal


def report_compiling(say: Callable[[str], None]) -> None:
    """Show problems of the kernel cache and, on a terminal, which kernel is compiled."""
    activity.tell = lambda sentence: say(f"thresher: {sentence}")
    if sys.stderr.isatty():
        activity.watch = _draw


def note() -> str:
    """Return the line to show; empty if nothing is compiled.

    It is also empty while `warm-up` compiles everything, which has its own progress bar.
    """
    is_quiet = not activity.compiling or activity.only is not None
    return "" if is_quiet else f"{ABOUT}: kernel {activity.compiled + 1}"


def _draw() -> None:
    """Replace the line; it is empty when the kernel has been compiled."""
    global _line
    erase()
    _line = note()
    sys.stderr.write(_line)
    sys.stderr.flush()


@contextmanager
def shown_by_others() -> Iterator[None]:
    """Show no line while a progress bar uses the terminal."""
    erase()
    before, activity.watch = activity.watch, lambda: None
    try:
        yield
    finally:
        activity.watch = before


def erase() -> None:
    """Remove the line from the terminal."""
    global _line
    if _line:
        blank = " " * len(_line)
        _line = ""
        sys.stderr.write(f"\r{blank}\r")
        sys.stderr.flush()
