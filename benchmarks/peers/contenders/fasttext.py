"""fastText: the file converted to its format, one-vs-all loss.

It skips documents without a label, so they get the label NONE. The builds for numpy 2 stop now and
then with "Encountered NaN", at any learning rate and not the next time: it may try again.
"""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.peers import data
from benchmarks.peers.case import KEPT, SURE, Case
from benchmarks.peers.contenders.scikit_learn import write
from benchmarks.peers.jobs import Contender

NEEDS = ("fasttext",)
QUICK, GOOD = "fastText, 5 epochs", "fastText, 25 epochs"
SETTINGS: dict[str, dict[str, Any]] = {
    QUICK: {"epoch": 5, "lr": 1.0},
    GOOD: {"epoch": 25, "lr": 0.5},
}
TRIES = 5
NONE, PREFIX = "NONE", "__label__"
# Blanks for everything that is no word character: ten times as fast as a regular expression.
BLANKS = "".join(chr(i) if chr(i).isalnum() or chr(i) == "_" else " " for i in range(256))


def plain(text: str) -> str:
    """Return a text as lower-case words between blanks."""
    return text.lower().translate(BLANKS)


def convert(source: Path, target: Path) -> None:
    """Write a file in fastText's format."""
    with target.open("w", encoding="utf-8") as file:
        for text, names in data.stream(source):
            file.write(" ".join(PREFIX + name for name in names or [NONE]))
            file.write(f" {plain(text)}\n")


def learn(case: Case, name: str) -> Any:
    """Convert, learn and save."""
    import fasttext

    lines = case.folder / "train.txt"
    convert(case.train, lines)
    for tries_left in reversed(range(TRIES)):
        try:
            model = fasttext.train_supervised(
                str(lines), loss="ova", thread=case.threads, verbose=0, **SETTINGS[name]
            )
            break
        except RuntimeError:
            if not tries_left:
                raise
    model.save_model(str(case.folder / "model.bin"))
    return model


def load(case: Case, name: str) -> Any:
    """Load what the job `train` saved, or make it."""
    import fasttext

    path = case.folder / "model.bin"
    return fasttext.load_model(str(path)) if path.exists() else learn(case, name)


def names_of(labels: Any) -> list[str]:
    """Return the categories among the labels that were predicted."""
    return [label.removeprefix(PREFIX) for label in labels if label != PREFIX + NONE]


def train(case: Case, name: str) -> dict[str, float]:
    """Time from raw file to saved model."""
    figures = case.best(lambda: learn(case, name))
    model = load(case, name)
    texts, _ = data.read(case.test)
    categories = names_of(model.labels)
    column = {name: i for i, name in enumerate(categories)}
    scores, decided = np.zeros((len(texts), len(categories))), []
    for i, text in enumerate(texts):
        labels, chances = model.predict(plain(text), k=-1)
        for label, chance in zip(labels, chances, strict=True):
            if label != PREFIX + NONE:
                scores[i, column[label.removeprefix(PREFIX)]] = chance
        decided.append(names_of(np.array(labels)[np.asarray(chances) > 0.5]))
    size = case.size(case.folder / "model.bin")
    return figures | size | case.quality(categories, decided, scores)


def predict(case: Case, name: str) -> dict[str, float]:
    """Time from raw file to written predictions."""
    model = load(case, name)

    def work() -> None:
        texts, _ = data.read(case.test)
        predicted, _ = model.predict([plain(text) for text in texts], k=-1, threshold=0.5)
        write(case.output, (names_of(labels) for labels in predicted))

    return case.best(work)


def results(case: Case, name: str) -> dict[str, float]:
    """Time the script that users write: read a line, ask the model, write what it says."""
    model = load(case, name)

    def work() -> None:
        with case.crawl.open(encoding="utf-8") as source, case.output.open("w") as target:
            for line in source:
                text = plain(json.loads(line)["text"])
                labels, chances = model.predict(text, k=-1, threshold=0.5)
                row = {
                    "predicted": names_of(labels),
                    "scores": [float(chance) for chance in chances],
                }
                target.write(json.dumps(row) + "\n")

    return case.stream(work)


def filter_lines(case: Case, name: str) -> dict[str, float]:
    """Time the script that users write: read a line, ask the model, write the line."""
    import fasttext

    lines = case.folder / "two.txt"
    with lines.open("w", encoding="utf-8") as file:
        for text, (label,) in data.stream(case.two_categories()):
            file.write(f"{PREFIX}{label} {' '.join(text.splitlines())}\n")
    model = fasttext.train_supervised(str(lines), verbose=0, **SETTINGS[name])

    def work() -> None:
        with case.crawl.open(encoding="utf-8") as source, case.output.open("w") as target:
            for line in source:
                text = json.loads(line)["text"].replace("\n", " ")
                labels, chances = model.predict(text)
                if labels[0] == PREFIX + KEPT and chances[0] > SURE:
                    target.write(line)

    return case.stream(work)


def document(case: Case, name: str) -> dict[str, float]:
    """Time one document."""
    model = load(case, name)
    return case.each(lambda text: names_of(model.predict(plain(text), k=-1, threshold=0.5)[0]))


def growth(case: Case, name: str) -> dict[str, float]:
    """Time from raw file to saved model, for a file that grows."""
    return case.best(lambda: learn(case, name))


def startup(case: Case, name: str) -> dict[str, float]:
    """Time a new process that loads the model and answers one document."""
    load(case, name)
    path = str(case.folder / "model.bin")
    answer = f"fasttext.load_model({path!r}).predict('cocoa prices rose', k=-1, threshold=0.5)"
    return {
        "to_import": case.run_python("import fasttext"),
        "to_answer": case.run_python(f"import fasttext; {answer}"),
    }


CONTENDERS = (
    Contender("train", QUICK, partial(train, name=QUICK), threaded=True),
    Contender("train", GOOD, partial(train, name=GOOD), threaded=True),
    Contender("predict", QUICK, partial(predict, name=QUICK)),
    Contender("results", QUICK, partial(results, name=QUICK)),
    Contender("filter", QUICK, partial(filter_lines, name=QUICK)),
    Contender("document", QUICK, partial(document, name=QUICK)),
    Contender("growth", QUICK, partial(growth, name=QUICK)),
    Contender("startup", QUICK, partial(startup, name=QUICK)),
)
