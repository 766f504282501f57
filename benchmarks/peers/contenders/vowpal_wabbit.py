"""Vowpal Wabbit: the file converted to its format, --multilabel_oaa.

It skips documents without a label, so they get one category more; it learns in the order of the
file, so the documents are shuffled; of several passes it would keep a tenth aside, and it writes
its cache twice if `-c` is given beside a name. It parses in a thread of its own and has no other
use for a second. With --multilabel_oaa it gives decisions but no scores.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.peers import data
from benchmarks.peers.case import Case
from benchmarks.peers.contenders.fasttext import NONE, plain
from benchmarks.peers.contenders.scikit_learn import write
from benchmarks.peers.jobs import Contender

NEEDS = ("vowpalwabbit",)
QUICK, GOOD = "Vowpal Wabbit, 1 pass", "Vowpal Wabbit, 5 passes"
SETTINGS = {
    QUICK: "-b 20 --loss_function hinge",
    GOOD: "-b 24 --loss_function hinge --passes 5 --holdout_off -k --cache_file {cache}",
}


def line(text: str, names: list[str], number: dict[str, int]) -> str:
    """Return a document in its format; categories not met before get the next numbers."""
    numbers = (number.setdefault(name, len(number)) for name in names or [NONE])
    return f"{','.join(map(str, numbers))} | {plain(text)}\n"


def learn(case: Case, name: str) -> None:
    """Convert, learn and save."""
    from vowpalwabbit import Workspace

    number = {NONE: 0}
    lines: Iterable[str] = (line(text, names, number) for text, names in data.stream(case.train))
    if not case.variant:  # a file that has grown is not to be held in memory
        lines = list(lines)
        random.Random(0).shuffle(lines)
    with (case.folder / "train.vw").open("w", encoding="utf-8") as file:
        file.writelines(lines)
    (case.folder / "names.json").write_text(json.dumps(list(number)))
    settings = SETTINGS[name].format(cache=case.folder / "cache")
    Workspace(
        f"--multilabel_oaa {len(number)} {settings} --quiet "
        f"-d {case.folder / 'train.vw'} -f {_model(case)}"
    ).finish()


def _model(case: Case) -> Path:
    return case.folder / "model.vw"


def names_of(case: Case, name: str) -> list[str]:
    """Return the names of the categories, that of none first, from the job `train` or made anew."""
    if not _model(case).exists():
        learn(case, name)
    return json.loads((case.folder / "names.json").read_text())


def decide(case: Case, names: list[str]) -> list[list[str]]:
    """Read the test file, let the saved model predict it, and return categories."""
    from vowpalwabbit import Workspace

    texts, _ = data.read(case.test)
    lines, predictions = case.folder / "test.vw", case.folder / "predictions.txt"
    lines.write_text("".join(f"| {plain(text)}\n" for text in texts), encoding="utf-8")
    Workspace(f"-t -i {_model(case)} -d {lines} -p {predictions} --quiet").finish()
    numbers = (line.strip().split(",") for line in predictions.read_text().splitlines())
    return [[names[int(i)] for i in number if i and i != "0"] for number in numbers]


def train(case: Case, name: str) -> dict[str, float]:
    """Time from raw file to saved model."""
    figures = case.best(lambda: learn(case, name))
    names = names_of(case, name)
    size = case.size(_model(case), case.folder / "names.json")
    return figures | size | case.quality(names[1:], decide(case, names))


def predict(case: Case, name: str) -> dict[str, float]:
    """Time from raw file to written predictions; its file reader must load the model each time."""
    names = names_of(case, name)
    return case.best(lambda: write(case.output, decide(case, names)))


def document(case: Case, name: str) -> dict[str, float]:
    """Time one document."""
    from vowpalwabbit import Workspace

    names = names_of(case, name)
    model = Workspace(f"-t -i {_model(case)} --quiet")

    def work(text: str) -> Any:
        return [names[i] for i in model.predict(f"| {plain(text)}") if i]

    return case.each(work)


def growth(case: Case, name: str) -> dict[str, float]:
    """Time from raw file to saved model, for a file that grows."""
    return case.best(lambda: learn(case, name))


def startup(case: Case, name: str) -> dict[str, float]:
    """Time a new process that loads the model and answers one document."""
    names_of(case, name)
    make = f"Workspace('-t -i {_model(case)} --quiet')"
    return {
        "to_import": case.run_python("import vowpalwabbit"),
        "to_answer": case.run_python(
            f"from vowpalwabbit import Workspace; {make}.predict('| cocoa prices rose')"
        ),
    }


CONTENDERS = (
    Contender("train", QUICK, partial(train, name=QUICK)),
    Contender("train", GOOD, partial(train, name=GOOD)),
    Contender("predict", QUICK, partial(predict, name=QUICK)),
    Contender("document", QUICK, partial(document, name=QUICK)),
    Contender("growth", QUICK, partial(growth, name=QUICK)),
    Contender("startup", QUICK, partial(startup, name=QUICK)),
)
