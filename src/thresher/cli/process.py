"""The process of the command line: its standard streams and signals.

This module is imported before all others, so it imports nothing that takes long.
"""

from __future__ import annotations

import io
import os
import signal
import sys
import time
from contextlib import contextmanager, suppress

from thresher.errors import OutputError

TYPE_CHECKING = False  # importing `typing` takes longer than this module
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any, NoReturn

STOPPED = "thresher: stopped; no file is half-written.\n"
SIGNALS = (signal.SIGINT, signal.SIGTERM)
PATIENCE = 1.0  # seconds in which a second signal is ignored, while the first one cleans up
GRACE = 5.0  # seconds after a signal until the process ends, even if machine code still runs

_stopped_by = 0  # the number of the signal that was received
_stopped_at = 0.0
_is_at_work = False


def begin() -> None:
    """Install signal handlers and standard streams; called once, when the process starts."""
    for number in SIGNALS:  # a signal that is ignored, as by nohup, stays ignored
        if signal.getsignal(number) in (signal.default_int_handler, signal.SIG_DFL):
            signal.signal(number, _stop)
    sys.unraisablehook = _show_unless_stopped
    _watch_signals()
    for descriptor in range(3):  # if closed, the next opened file would get its number
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
    sys.stderr = _wrapped(sys.stderr, 2, _Errors)
    if sys.stdout is None:
        leave(2, "thresher: standard output is closed; send it to a file, or to /dev/null.\n")
    sys.stdout = _wrapped(sys.stdout, 1, _Output)


@contextmanager
def at_work() -> Iterator[None]:
    """Let a signal raise KeyboardInterrupt within the block; later signals are ignored.

    Before the block, there is nothing to clean up, and a signal ends the process immediately.
    """
    global _is_at_work
    _is_at_work = True
    try:
        yield
    finally:
        _is_at_work = False
        end()


def end() -> None:
    """Ignore signals from now on, while Python ends."""
    for number in SIGNALS:
        if signal.getsignal(number) is _stop:
            signal.signal(number, signal.SIG_IGN)


def is_deserted() -> bool:
    """Return True if the reader of the output has ended."""
    return _Output.is_deserted


def stopped_status() -> int:
    """Return the exit status after a signal, or 0 if there was none."""
    return 128 + _stopped_by if _stopped_by else 0


def stop_if_asked() -> None:
    """Raise KeyboardInterrupt if a signal was received; compilation can lose the first one."""
    if _stopped_by:
        raise KeyboardInterrupt


def leave(status: int, sentence: str = STOPPED) -> NoReturn:
    """End the process immediately, after printing a sentence."""
    streams: tuple[Any, ...] = (sys.stdout, sys.stderr)
    for stream in streams:
        with suppress(Exception):  # such as an interrupted write
            if not stream.buffer.raw.is_in_doubt:
                stream.flush()
    with suppress(OSError):
        os.write(2, sentence.encode())
    os._exit(status)


def _stop(number: int, frame: object) -> None:
    global _stopped_by, _stopped_at
    now = time.monotonic()
    if _stopped_by and now - _stopped_at < PATIENCE:
        return
    _stopped_by, _stopped_at = number, now
    if _is_at_work:
        raise KeyboardInterrupt
    leave(stopped_status())


def _watch_signals() -> None:
    """Start a thread that ends the process if machine code delays the signal handler."""
    import threading

    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    signal.set_wakeup_fd(writer, warn_on_full_buffer=False)

    def watch() -> None:
        while True:
            number = next((n for n in os.read(reader, 64) if n in SIGNALS), 0)
            if number and signal.getsignal(number) is _stop:
                time.sleep(GRACE)
                if signal.getsignal(number) is _stop:  # still running
                    leave(128 + number)

    threading.Thread(target=watch, daemon=True).start()


def _show_unless_stopped(problem: Any) -> None:
    """Print exceptions that Python ignored, unless they result from an interrupt."""
    if not (_stopped_by or problem.exc_type is KeyboardInterrupt):
        sys.__unraisablehook__(problem)


class _Stream(io.FileIO):
    """A standard stream that notes when it is unknown how much has been written."""

    is_in_doubt = False  # buffered data may have been written; it must not be written again

    def write(self, data: Any) -> int:
        try:
            return super().write(data) or 0
        except KeyboardInterrupt:  # perhaps after the data was written
            self.is_in_doubt = True
            raise
        except OSError as error:
            return self.fail(error, data)

    def fail(self, error: OSError, data: Any) -> int:
        raise NotImplementedError


class _Output(_Stream):
    """Standard output; a failed write is an `OutputError`."""

    is_deserted = False  # the reader has ended

    def fail(self, error: OSError, data: Any) -> int:
        if isinstance(error, BrokenPipeError):  # the reader has ended, such as `head`
            _Output.is_deserted = True
            raise error
        raise OutputError(f"standard output cannot be written: {error.strerror}.") from None


class _Errors(_Stream):
    """Standard error; a failed write is ignored."""

    def fail(self, error: OSError, data: Any) -> int:
        return len(data)


def _wrapped(stream: Any, descriptor: int, kind: type[io.FileIO]) -> io.TextIOWrapper:
    """Return a text stream of this kind; characters outside its encoding are escaped."""
    buffer = io.BufferedWriter(kind(descriptor, "w", closefd=False))
    is_unbuffered = getattr(stream, "write_through", False)  # PYTHONUNBUFFERED is set
    return io.TextIOWrapper(
        buffer,
        encoding=getattr(stream, "encoding", "utf-8"),
        errors="backslashreplace",
        line_buffering=is_unbuffered or getattr(stream, "line_buffering", True),
    )
