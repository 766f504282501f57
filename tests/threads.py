"""Threads in tests."""

import threading
import time


def are_gone(before):
    """Whether there are as many threads as before; those that have ended may take a moment."""
    for _ in range(1000):
        if threading.active_count() == before:
            return True
        time.sleep(0.01)
    return False
