"""One process of the command line: its standard streams, and the signals that stop it.

Nothing heavy is imported here: this must stand before anything else is imported.
"""

from __future__ import annotations

import io
import os
import signal
import sys
import time
from contextlib import contextmanager, suppress

from thresher.errors import OutputError

TYPE_CHECKING = False  # `typing` itself takes longer than all of these
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any, NoReturn

__all__ = ["at_work", "begin", "end", "is_deserted", "leave", "stop_if_asked", "stopped_status"]

STOPPED = "thresher: stopped; no file is half-written.\n"
SIGNALS = (signal.SIGINT, signal.SIGTERM)
PATIENCE = 1.0  # seconds for which a second signal waits: what was begun is just being put back
GRACE = 5.0  # seconds after which we leave, whatever machine code is still running

_stopped_by = 0  # the number of the signal that stops us, once one came
_stopped_at = 0.0
_is_at_work = False


def begin() -> None:
    """Take signals and standard streams in hand; called once, by the command line's own process."""
    for number in SIGNALS:  # what is ignored, as by nohup, stays ignored
        if signal.getsignal(number) in (signal.default_int_handler, signal.SIG_DFL):
            signal.signal(number, _stop)
    sys.unraisablehook = _show_unless_stopped
    _watch_signals()
    for descriptor in range(3):  # closed: no file that we open must come by its number
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
    sys.stderr = _wrapped(sys.stderr, 2, _Forgiving)
    if sys.stdout is None:
        leave(2, "thresher: standard output is closed; send it to a file, or to /dev/null.\n")
    sys.stdout = _wrapped(sys.stdout, 1, _Output)


@contextmanager
def at_work() -> Iterator[None]:
    """Let a signal raise KeyboardInterrupt within; what comes after it is too late.

    Before, there is nothing to put back, and a signal ends the process where it is.
    """
    global _is_at_work
    _is_at_work = True
    try:
        yield
    finally:
        _is_at_work = False
        end()


def end() -> None:
    """Let no signal change the outcome any more: Python would be ended by it without a word."""
    for number in SIGNALS:
        if signal.getsignal(number) is _stop:
            signal.signal(number, signal.SIG_IGN)


def is_deserted() -> bool:
    """Tell whether the reader of our output went away, which Rich makes an exit status of 1."""
    return _Output.is_deserted


def stopped_status() -> int:
    """Return the exit status of a process that a signal stops, 0 where none came."""
    return 128 + _stopped_by if _stopped_by else 0


def stop_if_asked() -> None:
    """Raise KeyboardInterrupt again if it was lost, as it is while machine code is compiled."""
    if _stopped_by:
        raise KeyboardInterrupt


def leave(status: int, sentence: str = STOPPED) -> NoReturn:
    """End the process now: nothing is waited for, and nothing more is printed."""
    streams: tuple[Any, ...] = (sys.stdout, sys.stderr)
    for stream in streams:
        with suppress(Exception):  # such as that it is in the midst of writing
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
    """Have a thread hear of signals too: Python itself acts only between two lines of Python."""
    import threading

    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    signal.set_wakeup_fd(writer, warn_on_full_buffer=False)

    def watch() -> None:
        while True:
            number = next((n for n in os.read(reader, 64) if n in SIGNALS), 0)
            if number and signal.getsignal(number) is _stop:
                time.sleep(GRACE)
                if signal.getsignal(number) is _stop:  # it is not over yet
                    leave(128 + number)

    threading.Thread(target=watch, daemon=True).start()


def _show_unless_stopped(problem: Any) -> None:
    """Keep quiet about a lost KeyboardInterrupt, which is raised again, and its wreckage."""
    if not (_stopped_by or problem.exc_type is KeyboardInterrupt):
        sys.__unraisablehook__(problem)


class _Stream(io.FileIO):
    """A standard stream that knows when nobody can tell what has been written."""

    is_in_doubt = False  # whether what Python still holds may be written already: not again, then

    def write(self, data: Any) -> int:
        try:
            return super().write(data) or 0
        except KeyboardInterrupt:  # which comes between the writing and its answer, too
            self.is_in_doubt = True
            raise
        except OSError as error:
            return self.fail(error, data)

    def fail(self, error: OSError, data: Any) -> int:
        raise NotImplementedError


class _Output(_Stream):
    """Standard output; what cannot be written is a sentence."""

    is_deserted = False  # whether nobody reads it any more

    def fail(self, error: OSError, data: Any) -> int:
        if isinstance(error, BrokenPipeError):  # the reader went away, as `head` does
            _Output.is_deserted = True
            raise error
        raise OutputError(f"standard output cannot be written: {error.strerror}.") from None


class _Forgiving(_Stream):
    """Standard error; what cannot be written there cannot be said anywhere."""

    def fail(self, error: OSError, data: Any) -> int:
        return len(data)


def _wrapped(stream: Any, descriptor: int, kind: type[io.FileIO]) -> io.TextIOWrapper:
    """Return a stream that fails as its kind does; what its encoding has not, it writes escaped."""
    buffer = io.BufferedWriter(kind(descriptor, "w", closefd=False))
    return io.TextIOWrapper(
        buffer,
        encoding=getattr(stream, "encoding", "utf-8"),
        errors="backslashreplace",
        line_buffering=getattr(stream, "line_buffering", True),
        write_through=getattr(stream, "write_through", False),
    )
