"""Helpers for tests with threads."""

import threading
import time


def are_gone(before):
    """Return True once all threads started since then have ended, after waiting a moment."""
    for _ in range(1000):
        if threading.active_count() == before:
            return True
        time.sleep(0.01)
    return False
