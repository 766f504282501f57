"""Read by many, changed by one: every answer is that of a complete state, whatever the options.

Each case runs in a fresh process, for a crash of machine code must fail a test, not end them all.
"""

import pickle
import subprocess
import sys
import textwrap
import threading
from pathlib import Path

import pytest

from fuzz.threads import OPTIONS
from thresher import Categorizer
from thresher.errors import ModelError

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


@pytest.mark.parametrize("n_texts", [1, 1200])
def test_rankings_name_the_categories_that_their_scores_are_of(n_texts):
    """Scores and the labels beside them are of one state while categories are removed."""
    labels = [f"c{i}" for i in range(60)]
    texts = [f"word{i} wheat{i % 7} oil{i % 5}" for i in range(60)]
    model = Categorizer("perceptron").fit(texts, labels)
    expected = dict(model.rank(["wheat1 oil2 word3"])[0])
    over, problems = threading.Event(), []

    def read():
        while not over.is_set():
            try:
                ranked = dict(model.rank(["wheat1 oil2 word3"] * n_texts)[-1])
                if any(expected[label] != score for label, score in ranked.items()):
                    problems.append(ranked)
                model.decision_function(["wheat1 oil2 word3"] * n_texts)
            except ModelError as error:
                if "was removed" not in str(error):  # between two batches of one call
                    problems.append(error)
            except Exception as error:
                problems.append(error)

    readers = [threading.Thread(target=read) for _ in range(2)]
    for reader in readers:
        reader.start()
    for label in labels[:58]:
        model.delete_category(label)
    over.set()
    for reader in readers:
        reader.join()
    assert not problems, problems[:2]


def test_models_are_pickled_while_they_learn():
    texts = [f"{w} w{i}" for w in ("wheat", "oil", "ships", "gold", "rates") for i in range(12)]
    model = Categorizer("perceptron").fit(texts, [c for c in "abcde" for _ in range(12)])
    over, problems = threading.Event(), []

    def copy():
        while not over.is_set():
            try:
                assert pickle.loads(pickle.dumps(model)).predict(["wheat"])[0] in "abcde"
            except Exception as error:
                problems.append(error)

    readers = [threading.Thread(target=copy) for _ in range(2)]
    for reader in readers:
        reader.start()
    for i in range(100):
        vars(model).pop("learned_", None)  # as before the first `learn`
        model.learn([f"new{i} word{i}"], [f"new{i}"])
        model.delete_category(f"new{i}")
    over.set()
    for reader in readers:
        reader.join()
    assert not problems, problems[:2]
