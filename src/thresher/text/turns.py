"""Parallel work of which some steps have to be done in order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError
from contextlib import contextmanager
from threading import Condition
from typing import TypeVar

from thresher.engine import engine_for

R = TypeVar("R")


class Turns:
    """Steps of parallel work that have to be done in the order of the items, one item at a time.

    After a failure no item gets a turn any more, as the work on later items builds on that on
    earlier ones.
    """

    def __init__(self) -> None:
        self._changed = Condition()
        self._n_done: Counter[int] = Counter()  # items that have done each step
        self._is_taken = False
        self._problem: BaseException | None = None

    @contextmanager
    def at(self, number: int, step: int) -> Iterator[None]:
        """Wait for the turn of an item, numbered from 0, at a step; block all steps meanwhile."""
        with self._changed:
            self._changed.wait_for(lambda: self._problem or self._is_next(step, number))
            if self._problem is not None:
                raise self._problem
            self._is_taken = True
        try:
            yield
        finally:
            with self._changed:
                self._is_taken = False
                self._n_done[step] += 1
                self._changed.notify_all()

    def fail(self, problem: BaseException | None = None) -> BaseException:
        """Give no item a turn any more; return the first problem."""
        with self._changed:
            self._problem = self._problem or problem or CancelledError()
            self._changed.notify_all()
            return self._problem

    def _is_next(self, step: int, number: int) -> bool:
        return not self._is_taken and self._n_done[step] == number


def in_turns(work: Callable[[int, Turns], R], n_items: int, n_jobs: int) -> list[R]:
    """Return `work(number, turns)` for each number, called by several threads.

    Threads take the numbers in order. If one fails, or the caller is interrupted, all threads have
    ended before the error is raised.

    Examples
    --------
    >>> in_order = []
    >>> def work(number, turns):
    ...     with turns.at(number, 0):
    ...         in_order.append(number)
    ...     return number**2
    >>> in_turns(work, 5, n_jobs=2), in_order
    ([0, 1, 4, 9, 16], [0, 1, 2, 3, 4])
    """
    turns = Turns()

    def guarded(number: int) -> R:
        try:
            return work(number, turns)
        except BaseException as problem:
            raise turns.fail(problem) from None

    return list(engine_for(n_jobs).map(guarded, range(n_items), cancel=turns.fail))
