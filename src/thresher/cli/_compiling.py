"""What the command line says of compiling: how far it is, on a terminal, and what went wrong."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from thresher._kernels._cache import activity

__all__ = ["erase", "note", "report_compiling", "shown_by_others"]

ABOUT = "Compiling, once, about 15 s"

_line = ""  # what stands on the terminal, without an end of line


def report_compiling(say: Callable[[str], None]) -> None:
    """Have the caches say what they cannot do, and show on a terminal that they compile."""
    activity.tell = lambda sentence: say(f"thresher: {sentence}")
    if sys.stderr.isatty():
        activity.watch = _draw


def note() -> str:
    """Return the line for now, which is empty where nothing is compiled.

    And where everything is: that takes longer, and has a bar of its own.
    """
    is_quiet = not activity.compiling or activity.only is not None
    return "" if is_quiet else f"{ABOUT}: kernel {activity.compiled + 1}"


def _draw() -> None:
    """Write the line over the one before; it goes when the kernel is compiled."""
    global _line
    erase()
    _line = note()
    sys.stderr.write(_line)
    sys.stderr.flush()


@contextmanager
def shown_by_others() -> Iterator[None]:
    """Leave the line to a bar, which has the terminal to itself."""
    erase()
    before, activity.watch = activity.watch, lambda: None
    try:
        yield
    finally:
        activity.watch = before


def erase() -> None:
    """Take the line off the terminal, for others to write."""
    global _line
    if _line:
        blank = " " * len(_line)
        _line = ""
        sys.stderr.write(f"\r{blank}\r")
        sys.stderr.flush()
