"""Read by many, changed by one: every answer is that of a complete state, whatever the options.

Each case runs in a fresh process, for a crash of machine code must fail a test, not end them all.
"""

import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from fuzz.threads import OPTIONS

PROGRAM = textwrap.dedent(
    """
    import sys
    from pathlib import Path
    from fuzz.campaign import Case
    from fuzz.threads import OPTIONS, read_beside_a_learner

    name, folder = sys.argv[1:]
    problems = read_beside_a_learner(OPTIONS[name], 3, Path(folder), Case(0, "threads", 0))
    assert not problems, problems
    """
)


@pytest.mark.slow
@pytest.mark.parametrize("name", OPTIONS)
def test_every_answer_is_that_of_a_complete_state(name, tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, name, str(tmp_path)],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        timeout=240,
    )
    assert done.returncode == 0, done.stdout + done.stderr
