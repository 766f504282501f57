"""Vowpal Wabbit: one against all, words and pairs, ten passes.

It learns in the order of the file, so documents are shuffled; of several passes it would keep a
tenth of the documents aside, so that is switched off. It skips documents without a label, so they
get one category more. With --multilabel_oaa it gives decisions but no scores.
"""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

from benchmarks.peers.contenders.fasttext import NONE, plain
from benchmarks.quality.contender import Answer, Contender, Learned, Problem

BOTH = "--loss_function hinge --ngram 2 -b 24 --passes 10 --holdout_off"
SETTINGS = {"single": f"--oaa {{n}} {BOTH}", "several": f"--multilabel_oaa {{n}} {BOTH}"}


def learn(problem: Problem, settings: dict[str, Any]) -> Learned:
    """Write the documents in its format, in random order, and learn."""
    from vowpalwabbit import Workspace

    # Several labels count from 0, where that of none stands; one label counts from 1.
    names = [NONE, *problem.categories]
    number = {name: i for i, name in enumerate(names)}
    n = len(names) if problem.several else len(names) - 1
    lines = [
        f"{','.join(str(number[name]) for name in item or [NONE])} | {plain(text)}\n"
        for text, item in zip(problem.texts, problem.labels, strict=True)
    ]
    random.Random(0).shuffle(lines)
    train, model = problem.folder / "train.vw", problem.folder / "model.vw"
    train.write_text("".join(lines), encoding="utf-8")
    own_settings = settings["several" if problem.several else "single"].format(n=n)
    cache = problem.folder / "cache"
    Workspace(f"{own_settings} -k --cache_file {cache} --quiet -d {train} -f {model}").finish()

    def answer(texts: list[str]) -> Answer:
        test, predictions = problem.folder / "test.vw", problem.folder / "predictions.txt"
        test.write_text("".join(f"| {plain(text)}\n" for text in texts), encoding="utf-8")
        Workspace(f"-t -i {model} -d {test} -p {predictions} --quiet").finish()
        rows = (line.strip().split(",") for line in predictions.read_text().splitlines())
        return Answer([[names[int(i)] for i in row if i and i != "0"] for row in rows])

    def save() -> list[Path]:
        return [model]

    return Learned(names[1:], answer, save)


CONTENDER = Contender("Vowpal Wabbit", learn, SETTINGS, "vowpalwabbit", ("vowpalwabbit",))
