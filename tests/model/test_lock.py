"""The lock of a model: nobody waits for ever, whoever asks or learns without a pause."""

import threading
import time

from thresher.model.lock import ReadWriteLock


def until(condition):
    """Wait for something that another thread is about to do."""
    end = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.001)


def begin(function):
    thread = threading.Thread(target=function, daemon=True)
    thread.start()
    return thread


def test_a_reader_that_was_held_up_goes_before_the_next_writer():
    lock, order = ReadWriteLock(), []

    def read():
        with lock.reading():
            order.append("reader")

    def write():
        with lock.writing():
            order.append("writer")

    with lock.writing():
        threads = [begin(read)]
        until(lambda: lock._held_up == 1)
        threads.append(begin(write))
        until(lambda: lock._waiting == 1)
    for thread in threads:
        thread.join(30)
    assert order == ["reader", "writer"]


def test_a_writer_goes_before_readers_that_come_after_it():
    lock, order = ReadWriteLock(), []

    def read():
        with lock.reading():
            order.append("reader")

    def write():
        with lock.writing():
            order.append("writer")

    with lock.reading():
        threads = [begin(write)]
        until(lambda: lock._waiting == 1)
        threads.append(begin(read))
        until(lambda: lock._held_up == 1)
    for thread in threads:
        thread.join(30)
    assert order == ["writer", "reader"]


def test_many_of_both_come_to_their_end():
    lock, inside, wrong = ReadWriteLock(), [0, 0], []

    def read():
        for _ in range(300):
            with lock.reading(), lock.reading():
                if inside[1]:
                    wrong.append("a reader beside a writer")

    def write():
        for _ in range(300):
            with lock.writing(), lock.reading():
                inside[1] += 1
                if inside[1] != 1:
                    wrong.append("two writers")
                inside[1] -= 1

    threads = [begin(function) for function in (read, write, read, write, read)]
    for thread in threads:
        thread.join(60)
    assert not wrong and not any(thread.is_alive() for thread in threads)
    assert (lock._waiting, lock._held_up, lock._due, lock._readers) == (0, 0, 0, {})
