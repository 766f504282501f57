"""A lock for what is read by many and changed by one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from threading import Condition, Lock, get_ident
from typing import Any

__all__ = ["ReadWriteLock"]


class ReadWriteLock:
    """Any number of readers, or one writer alone, by turns.

    A writer that waits holds up new readers, and those that were held up go before the next writer:
    whoever learns or asks without a pause keeps nobody out.

    A thread that reads may read again within, and so may the writer, whatever waits; and so may
    threads that work for it.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._changed = Condition(self._lock)
        self._readers: dict[int, int] = {}  # how often each thread that reads has entered
        self._writer: int | None = None
        self._waiting = 0  # writers
        self._held_up = 0  # readers
        self._turn = 0  # how many writers are done
        self._due = 0  # readers that were held up then, and go before the next writer
        self.kept: dict[str, Any] = {}  # what readers have worked out, until somebody writes
        self._reading = _Reading(self)

    def reading(self, owner: int | None = None) -> AbstractContextManager[None]:
        """Keep writers out, on behalf of the thread of another number where one is given."""
        return self._reading if owner is None else _Reading(self, owner)

    def start_reading(self, owner: int | None = None) -> None:
        me = owner or get_ident()
        with self._lock:  # much quicker than by its condition
            is_inside = self._writer == me or me in self._readers
            if (self._writer is not None or self._waiting) and not is_inside:
                self._wait_for_turn()
            self._readers[me] = self._readers.get(me, 0) + 1

    def _wait_for_turn(self) -> None:
        turn = self._turn
        self._held_up += 1
        try:
            while self._writer is not None or (self._waiting and self._turn == turn):
                self._changed.wait()
        finally:  # an interrupt too must not leave it due
            self._held_up -= 1
            if self._turn != turn:
                self._due -= 1
                self._changed.notify_all()

    def stop_reading(self, owner: int | None = None) -> None:
        me = owner or get_ident()
        with self._lock:
            self._readers[me] -= 1
            if not self._readers[me]:
                del self._readers[me]
                if self._waiting:
                    self._changed.notify_all()

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Keep everybody else out."""
        with self._changed:
            self._waiting += 1
            try:
                while self._writer is not None or self._readers or self._due:
                    self._changed.wait()
                self._writer = get_ident()
                self.kept = {}
            finally:
                self._waiting -= 1
                self._changed.notify_all()
        try:
            yield
        finally:
            with self._changed:
                self._writer, self.kept = None, {}
                self._turn, self._due = self._turn + 1, self._held_up
                self._changed.notify_all()


class _Reading(AbstractContextManager[None]):
    """Made once for each lock: a model is read for one document at a time, too."""

    def __init__(self, lock: ReadWriteLock, owner: int | None = None) -> None:
        self._lock, self._owner = lock, owner

    def __enter__(self) -> None:
        self._lock.start_reading(self._owner)

    def __exit__(self, *exception: object) -> None:
        self._lock.stop_reading(self._owner)
