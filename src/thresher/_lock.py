"""A lock for what is read by many and changed by one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Condition, Lock, get_ident

__all__ = ["ReadWriteLock"]


class ReadWriteLock:
    """Any number of readers, or one writer alone; a writer that waits holds up new readers.

    A thread that reads may read again within, and so may the writer, whatever waits.
    """

    def __init__(self) -> None:
        self._changed = Condition(Lock())
        self._readers: dict[int, int] = {}  # how often each thread that reads has entered
        self._writer: int | None = None
        self._waiting = 0

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Keep writers out."""
        me = get_ident()
        with self._changed:
            if self._writer != me and me not in self._readers:
                while self._writer is not None or self._waiting:
                    self._changed.wait()
            self._readers[me] = self._readers.get(me, 0) + 1
        try:
            yield
        finally:
            with self._changed:
                self._readers[me] -= 1
                if not self._readers[me]:
                    del self._readers[me]
                    self._changed.notify_all()

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Keep everybody else out."""
        me = get_ident()
        with self._changed:
            self._waiting += 1
            try:
                while self._writer is not None or self._readers:
                    self._changed.wait()
                self._writer = me
            finally:
                self._waiting -= 1
                self._changed.notify_all()
        try:
            yield
        finally:
            with self._changed:
                self._writer = None
                self._changed.notify_all()
