"""thresher warm-up: compile all kernels, for later commands."""

from __future__ import annotations

import contextlib
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

from thresher.cli import common
from thresher.errors import OutputError, ThresherError, counted

if TYPE_CHECKING:
    from thresher.categorizer import Categorizer
    from thresher.parameters import Estimator, Parameter

# Documents with all cases for which kernels are compiled: digits, punctuation, non-ASCII letters,
# one label or several, few categories or more than one block of them. Python stores texts with each
# of the WIDER characters in another form.
TEXTS = [
    "Wheat and rye\nprices rise 12 percent, the farmers say; wheat is dear",
    "Ärger über Öl\nthe price of crude oil falls, say 3 traders & brokers",
    "Corn prices\nfall with wheat, 7 percent in a week, as farmers sell corn",
    "Oil again\ncrude oil and gas rise; traders ask why the price of oil is up",
] * 3
SINGLE = ["grain", "oil", "corn", "oil"] * 3
SEVERAL = [[label, f"day {i}", f"week {i % 5}"] for i, label in enumerate(SINGLE)]
WIDER = ("€", "😀")

# Values for parameters that are declared as a range and need other kernels when they are set.
PROBES: dict[str, Any] = {
    "token_pattern": r"\w+",
    "ngram_range": (1, 2),
    "char_ngram_range": (2, 3),
    "fields": "first-line",
    "hashing_bits": 8,
    "concepts": 2,
    "max_features": 20,
    "n_selected": 5,
    "feature_budget": 8,
    "n_thresholds": 2,
    "n_jobs": 2,
    "tune_folds": 2,
    "objective": "f1",
    "remember": 0,
    "always_on": 0.5,
    "positive_weight": 2.0,
    "threshold_range": (0.9, 1.1),
    "max_depth": 2,
    "hidden": 0,
    "prior_variance": 1.0,
    "min_count": 1,
}
# Options that need other kernels only in combination.
TOGETHER: list[dict[str, Any]] = [
    {"gaps": True, "ngram_range": (1, 3)},
    {"fields": "first-line", "hashing_bits": 8},
]


@common.verb("warm-up", "warm-up")
def warm_up(json: common.Json = False) -> None:
    """Compile all machine code now, for example when building an image.

    Later commands then start without compiling. The code is stored in the folder that
    THRESHER_CACHE names; by default, beside the installed package if that folder is writable,
    otherwise in the user's cache folder.
    """
    from thresher._kernels._cache import Inventory, activity, folder_to_fill

    began, folder = perf_counter(), folder_to_fill()
    activity.only, inventory = folder, Inventory(folder)
    sizes = inventory.read()
    if sizes is None:
        if not json:
            common.show(f"Compiling everything into {folder}, which takes minutes.")
        activity.tell = lambda sentence: None  # reported below as an error
        _compile()
        if activity.complaint:
            raise OutputError(activity.complaint)
        sizes = inventory.write(activity.used)
    figures = {
        "place": str(folder),
        "kernels": len(sizes),
        "compiled": activity.compiled,
        "bytes": sum(sizes),
        "seconds": round(perf_counter() - began, 3),
    }
    if json:
        common.show_json(figures)
        return
    compiled = activity.compiled
    common.show(
        f"{folder} has {counted(len(sizes), 'kernel')}, {common.size(sum(sizes))}: "
        f"{f'{compiled:,} compiled' if compiled else 'everything was there'}, "
        f"{figures['seconds']:.1f} s."
    )


def _compile() -> None:
    """Run the library on a few documents so that every kernel is compiled."""
    from thresher._kernels._cache import activity

    steps = list(_steps())
    with (
        warnings.catch_warnings(),
        tempfile.TemporaryDirectory() as folder,
        common.bar("Compiling", "BarColumn", "{task.fields[kernels]}") as bar,
    ):
        warnings.simplefilter("ignore")
        _use_others()
        task = bar and bar.add_task("", total=len(steps), kernels="")
        for number, (categorizer, is_thorough) in enumerate(steps):
            for labels in (SINGLE, SEVERAL):
                with contextlib.suppress(ThresherError):  # options that exclude one another
                    _use(categorizer, labels, Path(folder) / "model.thresher", is_thorough)
            if bar:
                bar.update(task, completed=number + 1, kernels=counted(activity.compiled, "kernel"))


def _steps() -> Iterator[tuple[Categorizer, bool]]:
    """Yield every learner with each of its options, then the default learner with each option.

    The decision options are tried with the default learner only, as they do not depend on it.
    """
    from thresher.categorizer import Categorizer
    from thresher.learners import LEARNERS

    for learner in LEARNERS.values():
        few = {"max_iter": 3} if "max_iter" in learner.parameters else {}
        for options in _options(learner):
            yield Categorizer(learner(**(few | options)), objective=None), False
    for options in (*_options(Categorizer), *TOGETHER):
        yield Categorizer(**options), True


def _options(owner: type[Estimator]) -> Iterator[dict[str, Any]]:
    """Yield no options, then each parameter at each value that may need other kernels."""
    yield {}
    for name, parameter in owner.parameters.items():
        yield from ({name: value} for value in _values(name, parameter))


def _values(name: str, parameter: Parameter) -> tuple[Any, ...]:
    if name in PROBES:
        return (PROBES[name],)
    if getattr(parameter.kind, "is_flag", False):
        return (True, False)
    return getattr(parameter.kind, "choices", ())


def _use(categorizer: Categorizer, labels: list[Any], path: Path, is_thorough: bool) -> None:
    """Use a model as the commands and a long-running process do."""
    model = categorizer.replace().fit(TEXTS, labels)
    model.save(path)
    model = type(categorizer).load(path)
    model.rank(TEXTS)
    model.explain(TEXTS[0])
    if is_thorough:
        model.tune(TEXTS, labels, "f1", calibrate="isotonic")
        for character in WIDER:
            model.predict([f"{text} {character}" for text in TEXTS])
        for text in (TEXTS[0], f"{TEXTS[0]} {WIDER[0]}"):
            _settle(model, text)
    model.learn(TEXTS, labels)
    model.predict(TEXTS)


def _settle(model: Categorizer, text: str) -> None:
    """Predict a text often enough that the compiled reader of single texts is built."""
    from thresher.model.model import TEXTS_BEFORE_READER

    for _ in range(TEXTS_BEFORE_READER + 1):
        model.predict([text])


def look_again(model: Categorizer, texts: list[str], labels: list[list[str]]) -> None:
    """Give a fitted model a second look; training skips it for so few documents."""
    import numpy as np

    from thresher.fields import field_names
    from thresher.model.second_look import SecondLook, Unseen, candidates_of

    rows, learner, fields = model.strengths(texts), model.learner_, model.features_.fields()
    scores = learner.score_rows(rows)
    candidates = candidates_of(scores, rows, learner, fields, len(field_names(model.fields)))
    known, n = model.model_.categories.encode(labels), len(texts)
    unseen = Unseen(scores, candidates, known, np.arange(n) % 2, np.ones(n))
    look, _ = SecondLook.fit("trees", unseen, n)
    model.model_.second_look = look.grown(fields)


def _use_others() -> None:
    """Force the branches that small inputs do not reach, and use the scikit-learn classes."""
    import numpy as np

    from thresher import Categorizer, Rocchio, TextCounter, TextVectorizer
    from thresher.examples import Spool
    from thresher.rows import Labels, Rows

    model = Categorizer(tune_folds=2).fit(TEXTS * 10, SEVERAL * 10)
    look_again(model, TEXTS * 10, SEVERAL * 10)
    model.explain(TEXTS[0])
    model.learn(TEXTS, SEVERAL)
    model.predict(TEXTS * 10)
    _settle(model, TEXTS[0])
    with Spool(memory_limit=0) as spool:
        rows = Rows(np.array([0, 1]), np.zeros(1, np.int32), np.ones(1, np.float32), 1)
        spool.append(rows, Labels.from_lists([[0]], 1))
        list(spool.blocks())
    counter = TextCounter(ngram_range=(1, 2), char_ngram_range=(2, 3))
    undo = counter.checkpoint()
    counter.count(TEXTS)
    counter._space._forget(0)  # as when too many features wait for a column
    undo()
    with contextlib.suppress(ThresherError):  # where it is not installed
        matrix = TextVectorizer().fit_transform(TEXTS)
        Rocchio().fit(matrix, SINGLE).predict(matrix)
