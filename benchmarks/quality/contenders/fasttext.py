"""fastText with the settings of its authors' tutorial, text prepared as there.

Its last command for one category is `-lr 1.0 -epoch 25 -wordNgrams 2 -bucket 200000 -dim 50`, with
hierarchical softmax because there are many; softmax itself is more exact. That for several is
`-lr 0.5 -epoch 25 -wordNgrams 2 -bucket 200000 -dim 50 -loss one-vs-all`, a label being assigned
from one half. Documents without a label would be skipped, so they get the label NONE.
"""

from __future__ import annotations

import random
import re
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.peers.contenders.fasttext import NONE, PREFIX, TRIES
from benchmarks.quality.contender import Answer, Contender, Learned, Problem

PUNCTUATION = re.compile(r"([.!?,'/()])")
BOTH = {"epoch": 25, "wordNgrams": 2, "bucket": 200_000, "dim": 50}
SETTINGS = {
    "single": {"lr": 1.0, "loss": "softmax", **BOTH},
    "several": {"lr": 0.5, "loss": "ova", **BOTH},
}


def tokens(text: str) -> str:
    """Return a text as the tutorial prepares it: lower case, blanks around punctuation."""
    return " ".join(PUNCTUATION.sub(r" \1 ", text.lower()).split())


def learn(problem: Problem, settings: dict[str, Any]) -> Learned:
    """Write the documents in its format, in random order, and learn; it may stop at NaN."""
    import fasttext

    path = problem.folder / "train.txt"
    lines = [
        f"{' '.join(PREFIX + name for name in names or [NONE])} {tokens(text)}\n"
        for text, names in zip(problem.texts, problem.labels, strict=True)
    ]
    random.Random(0).shuffle(lines)
    path.write_text("".join(lines), encoding="utf-8")
    limits = settings["several" if problem.several else "single"]
    for tries_left in reversed(range(TRIES)):
        try:
            model = fasttext.train_supervised(str(path), thread=1, verbose=0, **limits)
            break
        except RuntimeError:
            if not tries_left:
                raise
    categories = problem.categories

    def answer(texts: list[str]) -> Answer:
        column = {PREFIX + name: i for i, name in enumerate(categories)}
        scores = np.zeros((len(texts), len(categories)))
        for i, text in enumerate(texts):
            for label, chance in zip(*model.predict(tokens(text), k=-1), strict=True):
                if label in column:
                    scores[i, column[label]] = chance
        if problem.several:
            return Answer([np.array(categories)[row].tolist() for row in scores > 0.5], scores)
        return Answer([[categories[best]] for best in scores.argmax(axis=1)], scores)

    def save() -> list[Path]:
        target = problem.folder / "model.bin"
        model.save_model(str(target))
        return [target]

    return Learned(categories, answer, save)


CONTENDER = Contender("fastText", learn, SETTINGS, "fasttext-numpy2", ("fasttext",))
