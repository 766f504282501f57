"""Read by many, changed by one: every answer is that of a complete state, whatever the options.

Each case runs in a fresh process, for a crash of machine code must fail a test, not end them all.
"""

import subprocess
import sys
import textwrap

import pytest

OPTIONS = {
    "words": {},
    "stems": {"stem": True},
    "stop words": {"stop_words": True},
    "lemmas": {"lemmatize": True},
    "pairs": {"ngram_range": (1, 2)},
    "characters": {"ngram_range": None, "char_ngram_range": (3, 4)},
    "stemmed characters": {
        "ngram_range": None,
        "char_ngram_range": (3, 4),
        "char_ngram_tokens": "words",
        "stem": True,
    },
    "one space": {"ngram_range": (1, 2), "char_ngram_range": (4, 4), "min_df": {"parts": 2}},
    "hashed": {"hashing_bits": 12},
    "hashed space": {"hashing_bits": 14, "ngram_range": (1, 2), "char_ngram_range": (3, 3)},
    "pattern": {"token_pattern": r"[a-z]+\d*"},
    "two jobs": {"n_jobs": 2, "stem": True},
    "concepts": {"concepts": (3, 5)},
    "averaged": {"learner": "averaged"},
    "naive Bayes": {"learner": "naive-bayes"},
    "nearest neighbours": {"learner": "everyone"},
}

PROGRAM = textwrap.dedent(
    """
    import sys, threading
    import numpy as np
    from thresher import Categorizer, NearestNeighbors, Perceptron

    options = {options!r}
    if options.get("learner") == "averaged":
        options["learner"] = Perceptron(average="examples")
    if options.get("learner") == "everyone":  # votes, so that every lesson makes a difference
        options["learner"] = NearestNeighbors(n_neighbors=10_000, weights="uniform")

    def fitted():
        topics = ("wheat grains priced", "oil crude barrels", "ships ports sailing")
        texts = [f"{{words}} w{{i}}x" for words in topics for i in range(30)]
        return Categorizer(**options).fit(texts, [c for c in "abc" for _ in range(30)])

    batches = [
        [f"wheats oils shipping new{{i * 20 + j}} other{{i * 7 + j}} w{{j}}x" for j in range(20)]
        for i in range(40)
    ]
    alone, shared, problems = fitted(), fitted(), []
    wanted = [alone.scores(batch) for batch in batches]

    # What the model says after each of the steps that one thread will let it learn.
    probe = batches[0][:3]
    lessons = [
        ([f"v{{i}}y n{{j}}z{{i}} ships" for j in range(3)], [f"c{{i % 5}}"] * 3) for i in range(12)
    ]
    apprentice = fitted()
    states = [apprentice.scores(probe).tobytes()]
    for texts, labels in lessons:
        states.append(apprentice.learn(texts, labels).scores(probe).tobytes())

    def reader(part):
        for i in range(part, len(batches), 4):
            try:
                if not np.array_equal(shared.scores(batches[i]), wanted[i]):
                    problems.append("a wrong answer")
                shared.explain(batches[i][0])
            except BaseException as problem:
                problems.append(repr(problem))

    def prober():
        last = 0
        while last < len(states) - 1 and not problems:
            try:
                answer = shared.scores(probe).tobytes()
                shared.predict(probe), shared.rank(probe), shared.explain(probe[0])
                place = states.index(answer)
            except BaseException as problem:
                problems.append(repr(problem))
                return
            if place < last:
                problems.append("an earlier state came back")
            last = place

    def together(*targets):
        threads = [threading.Thread(target=t, args=a) for t, a in targets]
        [t.start() for t in threads]
        return threads

    [t.join() for t in together(*((reader, (part,)) for part in range(4)))]
    readers = together(*((prober, ()) for _ in range(3)))
    for texts, labels in lessons:
        shared.learn(texts, labels)
    [t.join() for t in readers]
    print(problems[:2])
    sys.exit(1 if problems else 0)
    """
)


@pytest.mark.parametrize("name", OPTIONS)
def test_every_answer_is_that_of_a_complete_state(name):
    program = PROGRAM.format(options=OPTIONS[name])
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=240
    )
    assert done.returncode == 0, done.stdout + done.stderr
