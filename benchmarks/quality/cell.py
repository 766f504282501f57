"""One contender on one task, in a process of its own: prints its figures as one line of JSON."""

from __future__ import annotations

import json
import os
import sys
import tempfile
from importlib import import_module
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import numpy as np
from benchmarks.peers.case import indicator, peak_memory
from benchmarks.peers.data import read
from benchmarks.quality.contender import Problem
from benchmarks.quality.contenders import find

WARM_DOCUMENTS = 200


def do(plan: dict[str, Any]) -> dict[str, Any]:
    """Learn, test and keep the decisions; return the figures, or why there are none.

    Parameters
    ----------
    plan : dict
        `contender`; the files `train` and `test`; `several`; and `decisions`, the file that the
        decisions go to, without which nothing is tested.
    """
    contender = find(plan["contender"])
    try:
        for module in contender.needs:
            import_module(module)
    except ImportError as problem:
        return {"missing": f"not installed ({problem})"}
    try:
        with tempfile.TemporaryDirectory() as folder:
            problem = Problem(*read(Path(plan["train"])), plan["several"], Path(folder))
            if contender.warm:
                contender.learn(problem.sample(WARM_DOCUMENTS), contender.settings)
            began, used = perf_counter(), process_time()
            learned = contender.learn(problem, contender.settings)
            figures = {"seconds": perf_counter() - began, "processor": process_time() - used}
            figures["memory_mb"] = peak_memory() / 1e6
            if plan.get("decisions"):
                figures["model_mb"] = sum(path.stat().st_size for path in learned.save()) / 1e6
                figures |= test(learned, problem.categories, Path(plan["test"]), plan["decisions"])
            return {"figures": figures, "chosen": learned.chosen}
    except Exception as problem:  # whatever goes wrong in a library is in the table
        return {"missing": (f"{type(problem).__name__}: {problem}".splitlines() or ["?"])[0]}


def test(learned: Any, categories: list[str], path: Path, decisions: str) -> dict[str, float]:
    """Measure a model on test documents, in per cent; keep the decisions for the paired tests."""
    from thresher.evaluation import evaluate

    texts, labels = read(path)
    names = sorted({name for label in labels for name in label} | set(categories))
    number = {name: i for i, name in enumerate(names)}
    began = perf_counter()
    answer = learned.answer(texts)
    seconds = perf_counter() - began
    truth, decided = indicator(labels, number), indicator(answer.decided, number)
    scores = None
    if answer.scores is not None:
        scores = np.full(truth.shape, -np.inf)
        scores[:, [number[name] for name in learned.categories]] = answer.scores
    evaluation = evaluate(scores, truth, names, decisions=decided)
    np.savez_compressed(
        decisions,
        truth=np.packbits(truth),
        decided=np.packbits(decided),
        shape=np.array(truth.shape),
        names=np.array(names),
    )
    measures = {
        "accuracy": evaluation.exact_match,
        "micro_f1": evaluation.micro["f1"],
        "macro_f1": evaluation.macro["f1"],
        "break_even": evaluation.micro.get("break_even"),
    }
    figures = {name: 100 * value for name, value in measures.items() if value is not None}
    return figures | {"test_seconds": seconds}


if __name__ == "__main__":
    # Libraries write where they like; only the answer may go to the real standard output.
    output = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    output.write(json.dumps(do(json.loads(sys.argv[1]))) + "\n")
    output.close()  # before any library that crashes when it is torn down
