"""Where the corpora are, and how Hypothesis behaves: quick, thorough or exploring."""

import os
import signal
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from browser import Browser, find_browser

USUAL = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
# The first two give the same answer every time.
settings.register_profile("quick", USUAL, derandomize=True, max_examples=15)
settings.register_profile("thorough", USUAL, derandomize=True, max_examples=60)
settings.register_profile("explore", USUAL, derandomize=False, max_examples=2000)
settings.load_profile(os.environ.get("THRESHER_TESTS", "quick"))

BESIDE = Path(__file__).parents[1] / "shared" / "data"  # where the developers keep the corpora


def find_data() -> Path | None:
    """Return the folder of the corpora: $THRESHER_DATA, else the one beside the project."""
    if named := os.environ.get("THRESHER_DATA"):
        if not Path(named).is_dir():
            pytest.fail(f"THRESHER_DATA is {named}, which is no folder")
        return Path(named)
    return BESIDE if BESIDE.is_dir() else None


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """Give the folder with one sub-folder per corpus; skip only where there is none at all.

    A folder that is there but cannot be read is an error, never a skip.
    """
    folder = find_data()
    if folder is None:
        pytest.skip("no local copy of the corpora; set THRESHER_DATA to the folder that holds them")
    readable = [f for f in sorted(folder.iterdir()) if f.is_dir() and os.access(f, os.R_OK)]
    if not readable:
        pytest.fail(f"{folder} is there but holds no corpus that can be read")
    os.environ["THRESHER_DATA"] = str(folder)
    return folder


@pytest.fixture(scope="module")
def browser():
    """A real browser; where the tests must be complete, its absence is a failure."""
    executable = find_browser()
    if executable is None:
        message = "no Chromium on PATH; install it (on Debian, the package chromium)"
        (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)(message)
    with Browser(executable) as one:
        yield one


@pytest.fixture
def interruptible():
    """Let SIGINT raise KeyboardInterrupt, also where tests run in the background."""
    handler = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, handler)
