"""Engines: order of results, errors, interrupts, and clean-up, for any number of workers."""

import os
import signal
import threading
import time
from concurrent.futures import CancelledError
from functools import partial

import numpy as np
import pytest

from threads import are_gone
from thresher.engine import (
    Engine,
    Processes,
    Threads,
    engine_for,
    run_blocks,
)
from thresher.errors import DocumentError, ParameterError
from thresher.learners.scoring import run_cache_line_blocks

ENGINES = [Engine(), Threads(1), Threads(3), Threads(40)]


def square(number):
    return number * number


def divide_12(number):
    return 12 // number


@pytest.mark.parametrize("n", [0, 1, 3, 20, 300])
@pytest.mark.parametrize("engine", ENGINES, ids=lambda engine: str(engine.n_workers))
def test_results_come_in_the_order_of_the_items(engine, n):
    pauses = np.random.default_rng(n).random(n) / 1000

    def work(number):
        time.sleep(pauses[number])
        return square(number)

    before = threading.active_count()
    assert list(engine.map(work, iter(range(n)))) == [i * i for i in range(n)]
    assert are_gone(before)


def test_processes_give_the_same():
    assert list(Processes(2).map(square, range(20))) == [i * i for i in range(20)]
    with pytest.raises(ZeroDivisionError):
        list(Processes(2).map(divide_12, [3, 0, 1]))


@pytest.mark.parametrize("engine", ENGINES, ids=lambda engine: str(engine.n_workers))
def test_an_exception_is_raised_after_the_results_before_it(engine):
    def items():
        yield from (4, 2, 1)
        raise DocumentError("the fourth")

    results = []
    with pytest.raises(DocumentError, match="the fourth"):
        results.extend(engine.map(divide_12, items()))
    with pytest.raises(ZeroDivisionError):
        results.extend(engine.map(divide_12, iter([12, 0, 1])))
    assert results == [3, 6, 12, 1]


def test_few_items_are_taken_ahead_and_a_closed_map_ends_its_threads():
    items, before = iter(range(100)), threading.active_count()
    results = Threads(2).map(str, items)
    assert next(results) == "0"
    results.close()
    assert next(items) <= 5 and are_gone(before)


@pytest.mark.parametrize("engine", [Engine(), Threads(2)], ids=lambda engine: str(engine.n_workers))
def test_the_caller_can_poll(engine):
    polls = []
    results = engine.map(lambda s: time.sleep(s) or s, [0.5, 0.0], poll=lambda: polls.append(1))
    assert list(results) == [0.5, 0.0]
    assert len(polls) >= (2 if engine.n_workers == 1 else 4)


def test_a_timeout_of_the_function_is_no_timeout_of_the_engine():
    def fail(_):
        raise TimeoutError("mine")

    with pytest.raises(TimeoutError, match="mine"):
        list(Threads(2).map(fail, [1], poll=lambda: None))


def test_running_calls_are_cancelled_and_waited_for():
    stop, running = threading.Event(), []

    def work(number):
        if number == 1:
            time.sleep(0.05)
            raise ValueError("one")
        running.append(number)
        stop.wait(30)
        running.remove(number)
        raise CancelledError

    began, before = time.monotonic(), threading.active_count()
    with pytest.raises(ValueError, match="one"):
        list(Threads(3).map(work, [1, 2, 3], cancel=stop.set))
    assert not running and time.monotonic() - began < 20
    assert are_gone(before)


@pytest.mark.usefixtures("interruptible")
@pytest.mark.parametrize("n_interrupts", [1, 3])
def test_an_interrupt_ends_all_threads_before_it_is_raised(n_interrupts):
    running = []

    def work(number):
        running.append(number)
        for _ in range(n_interrupts if number == 3 else 0):
            os.kill(os.getpid(), signal.SIGINT)  # delivered to the main thread
            time.sleep(0.05)
        time.sleep(0.002)
        running.remove(number)

    before = threading.active_count()
    with pytest.raises(KeyboardInterrupt):
        list(Threads(2).map(work, range(20_000)))
    assert not running and are_gone(before)


def test_a_thread_that_cannot_be_started_ends_the_others(monkeypatch):
    started, start = [], threading.Thread.start

    def refuse(thread):
        if started:
            raise RuntimeError("can't start new thread")
        started.append(thread)
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", refuse)
    before = threading.active_count()
    with pytest.raises(RuntimeError, match="can't start"):
        list(Threads(3).map(lambda _: time.sleep(0.001), range(20_000)))
    assert are_gone(before)


@pytest.mark.parametrize("n_jobs", [0, -1, 1025, True, "2", 1.5, None])
def test_what_is_no_number_of_threads_is_refused(n_jobs):
    with pytest.raises(ParameterError, match=r"n_jobs is .*; it must be a whole number from 1"):
        engine_for(n_jobs)


@pytest.mark.parametrize("n_jobs", [1, 2, 3, 7])
@pytest.mark.parametrize("size", [0, 1, 15, 16, 17, 100, 1000])
def test_blocks_cover_everything_once(n_jobs, size):
    def count(counts, start, end):
        counts[start:end] += 1

    first = min(3, size)
    counts = np.zeros(size, int)
    run_cache_line_blocks(partial(count, counts), size, n_jobs, first)
    assert (counts[first:] == 1).all() and not counts[:first].any()
    counts = np.zeros(size, int)
    run_blocks(partial(count, counts), [0, size // 3, size // 2, size], n_jobs)
    assert (counts == 1).all()
