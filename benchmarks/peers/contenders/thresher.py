"""Thresher, as its README shows it."""

from __future__ import annotations

import sys
import tempfile
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from benchmarks.peers import data
from benchmarks.peers.case import KEPT, SURE, Case
from benchmarks.peers.jobs import Contender

NEEDS = ("thresher.categorizer", "thresher.text")

# ---------------------------------------------------------------------- text to counts


def vectorizer(case: Case) -> dict[str, float]:
    """Count with the transformer that gives what CountVectorizer gives."""
    from thresher import TextVectorizer

    texts = case.texts()
    if "new" in case.variant:
        return case.count(texts, lambda: TextVectorizer().fit_transform(texts))
    return case.count(texts, partial(TextVectorizer().fit(texts).transform, texts))


def counter(case: Case, **settings: Any) -> dict[str, float]:
    """Count with the growing vocabulary that the Categorizer uses."""
    from thresher import TextCounter

    texts = case.texts()
    if "new" in case.variant:
        return case.count(texts, lambda: TextCounter(**settings).count(texts, n_jobs=case.threads))
    known = TextCounter(**settings)
    known.count(texts)
    return case.count(texts, lambda: known.count(texts, grow=False, n_jobs=case.threads))


# ---------------------------------------------------------------------- whole categorizers


def learn(case: Case, **settings: Any) -> None:
    """Read, learn and save."""
    from thresher import Categorizer

    Categorizer(**settings, n_jobs=case.threads).fit(case.train).save(_model(case))


def learn_once(case: Case, **settings: Any) -> None:
    """Read and learn in a single pass that keeps nothing but the model; save."""
    from thresher import Categorizer

    Categorizer(**settings, n_jobs=case.threads).learn(case.train).save(_model(case))


def _model(case: Case) -> Path:
    return case.folder / "model.thresher"


def load(case: Case, **settings: Any) -> Any:
    """Load what the job `train` saved, or make it."""
    from thresher import Categorizer

    if not _model(case).exists():
        learn(case, **settings)
    model = Categorizer.load(_model(case))
    model.n_jobs = case.threads
    return model


def train(case: Case, **settings: Any) -> dict[str, float]:
    """Time from raw file to saved model."""
    figures = case.best(lambda: learn(case, **settings))
    model = load(case)
    texts, _ = data.read(case.test)
    scores = model.scores(texts)
    quality = case.quality(model.categories_, model.decide(scores), scores)
    return figures | case.size(_model(case)) | quality


def predict(case: Case, **settings: Any) -> dict[str, float]:
    """Time from raw file to written predictions."""
    model = load(case, **settings)

    def work() -> None:
        batches = (model.decide(scores) for _, scores in model.score_batches(case.test))
        lines = ("\t".join(item) + "\n" for batch in batches for item in batch)
        case.output.write_text("".join(lines), encoding="utf-8")

    figures = case.best(work)
    began = perf_counter()
    load(case)
    return figures | {"load": perf_counter() - began}


def results(case: Case, **settings: Any) -> dict[str, float]:
    """Time the verb from a large raw file to a file of results, the model's reading included."""
    from thresher.cli.predict import predict

    load(case, **settings)
    model, output = str(_model(case)), str(case.folder / "results.jsonl")
    return case.stream(
        lambda: predict(model, [str(case.crawl)], output=output, threads=case.threads)
    )


def filter_lines(case: Case) -> dict[str, float]:
    """Time the verb from raw file to written lines, the model's reading included."""
    from thresher import Categorizer
    from thresher.cli.filter import filter

    model = str(case.folder / "two.thresher")
    Categorizer(preset="fast", calibrate="sigmoid").fit(case.two_categories()).save(model)
    asked: dict[str, Any] = {"category": [KEPT], "above": SURE, "output": str(case.output)}
    return case.stream(lambda: filter(model, [str(case.crawl)], threads=case.threads, **asked))


def document(case: Case, **settings: Any) -> dict[str, float]:
    """Time one document."""
    model = load(case, **settings)
    return case.each(lambda text: model.predict([text]))


# ---------------------------------------------------------------------- one pass, growth, start-up


def one_pass(case: Case, learner: str) -> dict[str, float]:
    """Time `partial_fit` over rows in its own number type."""
    from thresher import LEARNERS

    rows, truth = case.rows()
    is_single = case.variant == "one category"
    target = truth[:, 0].astype(int) if is_single else truth.astype(int)
    classes = np.arange(2 if is_single else truth.shape[1])

    def work() -> None:
        LEARNERS[learner](n_jobs=case.threads).partial_fit(rows, target, classes=classes)

    figures = case.best(work)
    return figures | {"examples_per_second": rows.shape[0] / figures["seconds"]}


def growth(case: Case, work: Any = learn) -> dict[str, float]:
    """Time from raw file to saved model, for a file that grows."""
    return case.best(lambda: work(case, **FAST))


def startup(case: Case, **settings: Any) -> dict[str, float]:
    """Time a new process that loads the model and answers one document; and the very first one."""
    load(case, **settings)
    answer = (
        f"from thresher import Categorizer; "
        f"Categorizer.load({str(_model(case))!r}).predict(['Cocoa prices rose.'])"
    )
    figures = {
        "to_import": case.run_python("from thresher import Categorizer"),
        "to_answer": case.run_python(answer),
        "command": case.run(sys.executable, "-m", "thresher", "--help"),
    }
    case.repeat = 1
    with tempfile.TemporaryDirectory() as empty:  # no kernel compiled yet, as after installing
        return figures | {"to_compile": case.run_python(answer, NUMBA_CACHE_DIR=empty)}


WINNOW, FAST = "balanced-winnow", {"preset": "fast"}
CONTENDERS = (
    Contender("counts", "Thresher", vectorizer),
    Contender("counts", "Thresher, columns as they come", counter, threaded=True),
    Contender("counts", "Thresher, hashing", partial(counter, hashing_bits=18), threaded=True),
    # The first is the one to compare: words alone and nothing tuned by folds, as the peers do it.
    Contender("train", "Thresher, fast", partial(train, **FAST), threaded=True),
    Contender("train", "Thresher", train, threaded=True),
    Contender("train", f"Thresher, {WINNOW}", partial(train, learner=WINNOW), threaded=True),
    Contender("predict", "Thresher, fast", partial(predict, **FAST), threaded=True),
    Contender("predict", "Thresher", predict, threaded=True),
    Contender("results", "Thresher, fast", partial(results, **FAST), threaded=True),
    Contender("results", "Thresher", results, threaded=True),
    Contender("filter", "Thresher, fast", filter_lines, threaded=True),
    Contender("document", "Thresher, fast", partial(document, **FAST)),
    Contender("document", "Thresher", document),
    *(
        Contender("pass", f"Thresher, {name}", partial(one_pass, learner=name), threaded=True)
        for name in ("passive-aggressive", "perceptron", WINNOW)
    ),
    Contender("growth", "Thresher, fast", growth, threaded=True),
    Contender("growth", "Thresher, fast, single pass", partial(growth, work=learn_once)),
    Contender("startup", "Thresher, fast", partial(startup, **FAST)),
    Contender("startup", "Thresher", startup),
)
