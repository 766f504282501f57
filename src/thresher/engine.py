"""Apply a function to many items, in the calling thread, in threads or in processes.

Results come in the order of the items, so they do not depend on the number of workers. Other
engines, such as a cluster, can provide the same `map`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from concurrent.futures import TimeoutError as StillRunning
from itertools import pairwise
from multiprocessing import get_context
from queue import SimpleQueue
from threading import Condition, Thread
from typing import Any, Self, TypeVar

import numpy as np

from thresher.errors import ParameterError, brief, param
from thresher.limits import MOST_THREADS

T = TypeVar("T")
R = TypeVar("R")

SECONDS_BETWEEN_POLLS = 0.2


class Engine:
    """Calls functions in the calling thread, item by item; the base class of all engines.

    Examples
    --------
    >>> list(Engine().map(abs, [-3, 2])), list(Threads(2).map(abs, [-3, 2]))
    ([3, 2], [3, 2])
    """

    n_workers = 1

    def _executor(self) -> Any:
        """Return a context manager with `submit` that waits for its workers on exit; None: none."""
        return None

    def map(
        self,
        function: Callable[[T], R],
        items: Iterable[T],
        *,
        poll: Callable[[], None] | None = None,
        cancel: Callable[[], object] | None = None,
    ) -> Iterator[R]:
        """Yield `function(item)` for each item, in the order of the items.

        Items are taken in the calling thread, a few more in advance than there are workers. An
        exception, of the function or of the items, is raised once all results before it have been
        yielded; by then no worker is running any more. The same holds if the caller is interrupted,
        or closes the iterator.

        Parameters
        ----------
        function : callable
            Called by several workers at once.
        items : iterable
            The arguments of the calls.
        poll : callable, optional
            Called in the calling thread after each result, and several times a second while it
            waits for a result; for showing progress.
        cancel : callable, optional
            Called when no more results will be taken, before waiting for the running calls, to
            stop a function that runs long or waits.
        """
        executor = self._executor()
        if executor is None:
            for item in items:
                yield function(item)
                if poll is not None:
                    poll()
            return
        remaining, futures = iter(items), deque[Future[R]]()
        problem: BaseException | None = None
        with executor:
            try:
                while problem is None or futures:
                    while problem is None and len(futures) < self.n_workers + 2:
                        try:
                            futures.append(executor.submit(function, next(remaining)))
                        except Exception as error:  # StopIteration too
                            problem = error
                    if futures:
                        yield _result(futures[0], poll)
                        futures.popleft()
            except BaseException:
                for future in futures:
                    future.cancel()
                if cancel is not None:
                    cancel()
                raise
        if not isinstance(problem, StopIteration):
            raise problem


class Threads(Engine):
    """Calls functions in threads; for functions that release the global interpreter lock."""

    def __init__(self, n_workers: int) -> None:
        self.n_workers = n_workers

    def _executor(self) -> Any:
        return _ThreadExecutor(self.n_workers)


class Processes(Threads):
    """Calls functions in new processes; functions, items and results must be picklable.

    Processes are started by `spawn`, so that they inherit no locks or open files.
    """

    def _executor(self) -> Executor:
        return ProcessPoolExecutor(self.n_workers, mp_context=get_context("spawn"))


def engine_for(n_jobs: int) -> Engine:
    """Return an engine with `n_jobs` threads, or for 1 the engine of the calling thread."""
    is_whole = isinstance(n_jobs, int | np.integer) and not isinstance(n_jobs, bool)
    if not (is_whole and 1 <= n_jobs <= MOST_THREADS):
        raise ParameterError(
            f"{param('n_jobs')} is {brief(n_jobs)}; it must be a whole number from 1 to "
            f"{MOST_THREADS}."
        )
    return Threads(int(n_jobs)) if n_jobs > 1 else Engine()


def run_blocks(function: Callable[[int, int], None], ends: Iterable[int], n_jobs: int) -> None:
    """Call `function(start, end)` for the blocks between `ends`, or once if `n_jobs` is 1."""
    engine, bounds = engine_for(n_jobs), list(map(int, ends))
    if n_jobs == 1 or len(bounds) == 2:
        function(bounds[0], bounds[-1])
        return
    for _ in engine.map(lambda block: function(*block), pairwise(bounds)):
        pass


def _result(future: Future[R], poll: Callable[[], None] | None) -> R:
    """Return a result, and poll while waiting for it."""
    if poll is None:
        return future.result()
    while True:
        try:
            result = future.result(SECONDS_BETWEEN_POLLS)
        except StillRunning:
            if future.done():  # the function itself has raised a TimeoutError
                raise
            poll()
        else:
            poll()
            return result


class _ThreadExecutor:
    """Threads that call functions in the order of submission.

    Unlike `ThreadPoolExecutor`, it waits for its threads even if the wait is interrupted: otherwise
    an interrupted learner would be undone while a thread still changes it.
    """

    def __init__(self, n_threads: int) -> None:
        self._n_threads, self._threads = n_threads, list[Thread]()
        self._tasks: SimpleQueue[Any] = SimpleQueue()
        self._has_ended, self._n_ended, self._is_closed = Condition(), 0, False

    def __enter__(self) -> Self:
        return self

    def submit(self, function: Callable[[Any], R], item: Any) -> Future[R]:
        future: Future[R] = Future()
        self._tasks.put((future, function, item))
        if len(self._threads) < self._n_threads:
            thread = Thread(target=self._work, daemon=True)
            self._threads.append(thread)
            thread.start()
        return future

    def _work(self) -> None:
        try:
            while not self._is_closed and (task := self._tasks.get()) is not None:
                future, function, item = task
                if self._is_closed or not future.set_running_or_notify_cancel():
                    continue
                try:
                    result = function(item)
                except BaseException as error:
                    future.set_exception(error)
                else:
                    future.set_result(result)
        finally:
            with self._has_ended:
                self._n_ended += 1
                self._has_ended.notify_all()

    def __exit__(self, *exception: object) -> None:
        """Wait until all threads have ended, even if interrupted."""
        self._is_closed = True
        interrupt: BaseException | None = None
        while True:
            try:
                for _ in self._threads:
                    self._tasks.put(None)
                with self._has_ended:
                    self._has_ended.wait_for(self._all_have_ended)
                break
            except BaseException as error:
                interrupt = error
        if interrupt is not None:
            raise interrupt

    def _all_have_ended(self) -> bool:
        # A thread whose start was interrupted has no identifier yet, and finds the pool closed.
        return self._n_ended >= sum(thread.ident is not None for thread in self._threads)
