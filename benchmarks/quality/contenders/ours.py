"""Thresher as it comes: nothing is set by hand but the name of a preset."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

from benchmarks.quality.contender import Answer, Contender, Learned, Problem

NEEDS = ("thresher.categorizer",)
OURS, FAST = "Thresher", "Thresher, fast"
ONE_FIT, TUNED = "Thresher, one fit", "Thresher, thresholds by folds"
LEARNER = "Thresher: "  # before the name of a learner
SLOW = ("boosted-perceptrons", "multilayer-perceptron")  # too slow to learn thresholds by folds
UNCONCERNED = ("cli", "corpora", "experiments", "report", "service")


def learn(problem: Problem, settings: dict[str, Any]) -> Learned:
    """Fit a Categorizer."""
    from thresher import Categorizer

    unknown = [name for name in settings if name not in Categorizer.parameters]
    if unknown:
        raise LookupError(f"this version of Thresher has no {unknown[0]}")
    labels = problem.labels if problem.several else [names[0] for names in problem.labels]
    mode = {"mode": "multi-label"} if problem.several else {}  # having none is an answer
    model = Categorizer(**(mode | settings)).fit(problem.texts, labels)

    def answer(texts: list[str]) -> Answer:
        scores = model.scores(texts)
        return Answer(model.decide(scores), scores)

    def save() -> list[Path]:
        path = problem.folder / "model.thresher"
        model.save(path)
        return [path]

    return Learned(list(model.categories_), answer, save)


def source_version() -> str:
    """Return a hash of the source that decides what is learned."""
    import thresher

    folder, content = Path(thresher.__file__).parent, hashlib.sha256()
    for path in sorted(folder.rglob("*.py")):
        if path.relative_to(folder).parts[0] not in UNCONCERNED:
            content.update(path.read_bytes())
    return content.hexdigest()[:16]


def _contender(name: str, only_several: bool = False, **settings: Any) -> Contender:
    return Contender(name, learn, settings, "thresher", NEEDS, only_several, warm=True)


def of_learner(name: str) -> Contender:
    """Return the contender that is one learner by its name, as `train --learner` takes it."""
    settings: dict[str, Any] = {"objective": None} if name in SLOW else {}
    return _contender(f"{LEARNER}{name}", learner=name, **settings)


LOOKS: dict[str, dict[str, Any]] = {
    "Thresher, fields=lead": {"fields": "lead"},
    "Thresher, no second look": {"second_look": None},
    "Thresher, fields=lead, second_look=linear": {"second_look": "linear", "fields": "lead"},
    "Thresher, fast, fields=lead, second_look=trees": {
        "preset": "fast", "second_look": "trees", "fields": "lead",
    },
}  # fmt: skip


def with_seed(name: str, seed: int) -> Contender:
    """Return a contender of ours, with a second look or without, of another seed."""
    settings = LOOKS.get(name, {})
    return _contender(f"{name}, seed {seed}", True, random_state=seed, **settings)


CONTENDERS = (
    _contender(OURS),
    _contender(FAST, preset="fast"),
    *(_contender(name, True, **settings) for name, settings in LOOKS.items()),
)
FIT_ONLY = (_contender(ONE_FIT, objective=None), _contender(TUNED, objective="f1"))
