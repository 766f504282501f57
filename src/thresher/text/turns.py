"""Work that is done side by side, and of which some must be done in order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Condition, Thread
from typing import TypeVar

__all__ = ["Turns", "side_by_side"]

R = TypeVar("R")


class Turns:
    """Whoever works beside others does some of it alone, when all who come before have done theirs.

    There may be several stations where that is so. Who fails anywhere ends the work of the others
    when it is their turn: what they would do then has to follow what was not done.
    """

    def __init__(self) -> None:
        self._changed = Condition()
        self._done: Counter[int] = Counter()  # how many have left each station
        self._is_taken = self._has_failed = False

    @contextmanager
    def at(self, number: int, station: int) -> Iterator[None]:
        """Wait for the turn of a number, from 0 on, at a station; keep all stations meanwhile."""
        with self._changed:
            self._changed.wait_for(lambda: self._has_failed or self._is_next(station, number))
            if self._has_failed:
                raise _OtherFailedError
            self._is_taken = True
        try:
            yield
        finally:
            with self._changed:
                self._is_taken = False
                self._done[station] += 1
                self._changed.notify_all()

    def fail(self) -> None:
        """Let nobody have a turn any more."""
        with self._changed:
            self._has_failed = True
            self._changed.notify_all()

    def _is_next(self, station: int, number: int) -> bool:
        return not self._is_taken and self._done[station] == number


class _OtherFailedError(Exception):
    pass


def side_by_side(work: Callable[[int, Turns], R], n_items: int, n_jobs: int) -> list[R]:
    """Return what work makes of each number, given that and the turns.

    Threads take the numbers in order. When one fails, or the caller is interrupted, all of them
    have ended before that is raised.

    Examples
    --------
    >>> in_order = []
    >>> def work(number, turns):
    ...     with turns.at(number, 0):
    ...         in_order.append(number)
    ...     return number**2
    >>> side_by_side(work, 5, n_jobs=2), in_order
    ([0, 1, 4, 9, 16], [0, 1, 2, 3, 4])
    """
    turns, numbers, n_jobs = Turns(), iter(range(n_items)), min(n_jobs, n_items)
    if n_jobs <= 1:
        return [work(number, turns) for number in numbers]
    results: dict[int, R] = {}
    problems: list[BaseException] = []
    changed, n_ended = Condition(), 0

    def take() -> None:
        nonlocal n_ended
        try:
            for number in numbers:
                if problems:
                    break
                results[number] = work(number, turns)
        except _OtherFailedError:
            pass  # the other has a problem of its own
        except BaseException as problem:
            problems.append(problem)
            turns.fail()
        finally:
            with changed:
                n_ended += 1
                changed.notify()

    threads = [Thread(target=take) for _ in range(n_jobs)]

    def all_ended() -> bool:
        return n_ended >= sum(one.ident is not None for one in threads)

    is_left = True
    while is_left:  # an interrupt, and a second one too, waits until nobody works any more
        try:
            for one in threads:
                if one.ident is None and not problems:
                    one.start()
            with changed:  # `join` would take a thread for ended when it is interrupted
                changed.wait_for(all_ended)
            is_left = False
        except BaseException as problem:
            problems.append(problem)
            turns.fail()
    if problems:
        raise problems[0]
    return [results[number] for number in range(n_items)]
