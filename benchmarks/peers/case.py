"""What a contender is given: the files, a folder of its own, and the ruler."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from time import perf_counter, process_time
from typing import Any

import numpy as np
from benchmarks.peers import data

ENOUGH = 40  # seconds after which nothing is run again
ONE_BY_ONE = 1_000  # documents of the job `document`
KEPT, LEFT, SURE = "kept", "left", 0.8  # the job `filter`: labels, and how probable the first is
ROUND_SECONDS = 3.0  # a slow contender is asked for fewer of them


@dataclass
class Case:
    """One job for one contender.

    Parameters
    ----------
    files : Path
        Where the data are.
    folder : Path
        Where the contender may write.
    variant : str
        Which form of the job.
    threads : int
        How many threads or processes it may use.
    repeat : int
        The best of how many runs counts.
    """

    files: Path
    folder: Path
    variant: str = ""
    threads: int = 1
    repeat: int = 5

    @property
    def train(self) -> Path:
        """The documents to learn from; repeated, in the job `growth`."""
        times = self.variant if self.variant.startswith("x") else "x1"
        return self.files / f"train-{times}.jsonl"

    @property
    def test(self) -> Path:
        """The documents to decide on."""
        return self.files / "test.jsonl"

    @property
    def crawl(self) -> Path:
        """Many documents, to be decided or filtered."""
        return self.files / f"train-x{max(data.GROWTH)}.jsonl"

    def two_categories(self) -> Path:
        """Write the training documents with two labels: the most frequent category, or not."""
        path = self.folder / "two.jsonl"
        pairs = list(data.stream(self.train))
        first, _ = Counter(name for _, names in pairs for name in names).most_common(1)[0]
        data.write(path, ((text, [KEPT if first in names else LEFT]) for text, names in pairs))
        return path

    @property
    def output(self) -> Path:
        """Where predictions are written."""
        return self.folder / "predictions.txt"

    def texts(self) -> list[str]:
        """Return the texts of the corpus that the variant names before its first comma."""
        return data.read(self.files / f"{self.variant.split(',')[0]}.jsonl")[0]

    def rows(self) -> tuple[Any, np.ndarray]:
        """Return prepared rows as a scipy matrix, and the truth as an indicator matrix."""
        from scipy.sparse import csr_matrix

        with np.load(self.files / "rows.npz") as arrays:
            parts = arrays["values"], arrays["indices"], arrays["indptr"]
            truth = arrays["truth"]
            matrix = csr_matrix(parts, shape=tuple(arrays["shape"]))
        return matrix, truth[:, :1] if self.variant == "one category" else truth

    # ------------------------------------------------------------------ the ruler

    def best(self, work: Callable[[], Any]) -> dict[str, float]:
        """Time some work; return the best of `repeat` runs or fewer, the first, and peak memory."""
        seconds, processor = [], []
        for _ in range(self.repeat):
            began, used = perf_counter(), process_time()
            work()
            seconds.append(perf_counter() - began)
            processor.append(process_time() - used)
            if sum(seconds) > ENOUGH:
                break
        return {
            "seconds": min(seconds),
            "first": seconds[0],
            "processor": min(processor),
            "memory_mb": peak_memory() / 1e6,
        }

    def count(self, texts: list[str], work: Callable[[], Any]) -> dict[str, float]:
        """Time some work on texts; return what `best` does, and megabytes a second."""
        figures = self.best(work)
        size = sum(len(text.encode()) for text in texts) / 1e6
        return figures | {"mb_per_second": size / figures["seconds"]}

    def stream(self, work: Callable[[], Any]) -> dict[str, float]:
        """Time some work on the many documents; return what `best` does, and their speed."""
        figures = self.best(work)
        return figures | {"mb_per_second": self.crawl.stat().st_size / 1e6 / figures["seconds"]}

    def each(self, decide: Callable[[str], Any]) -> dict[str, float]:
        """Time documents one by one; return median and 99th percentile of the best round."""
        texts = data.read(self.test)[0][:ONE_BY_ONE]
        rounds = []
        for _ in range(self.repeat + 1):  # the first round warms up
            times: list[float] = []
            for text in texts:
                began = perf_counter()
                decide(text)
                times.append(perf_counter() - began)
                if len(times) >= 100 and sum(times) > ROUND_SECONDS:
                    break
            rounds.append(times)
        best = min(rounds[1:], key=median)
        return {
            "median_us": median(best) * 1e6,
            "p99_us": float(np.percentile(best, 99)) * 1e6,
            "asked": len(best),
        }

    def run(self, *arguments: str | Path, **environment: str) -> float:
        """Time a command of its own process, start-up included; the best of `repeat` runs."""
        times = []
        for _ in range(self.repeat):
            began = perf_counter()
            subprocess.run(
                [str(argument) for argument in arguments],
                check=True,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env=os.environ | environment,
            )
            times.append(perf_counter() - began)
        return min(times)

    def run_python(self, code: str, **environment: str) -> float:
        """Time a line of Python in a process of its own."""
        return self.run(sys.executable, "-c", code, **environment)

    # ------------------------------------------------------------------ quality and size

    def quality(
        self,
        categories: Sequence[str],
        decided: Sequence[Sequence[str]],
        scores: np.ndarray | None = None,
    ) -> dict[str, float]:
        """Return F1, micro and macro, and the micro-averaged break-even, in per cent.

        Parameters
        ----------
        categories : sequence of str
            The columns of `scores`.
        decided : sequence of sequences of str
            The categories of each test document.
        scores : ndarray, optional
            The score of each document for each category. Without it there is no break-even.
        """
        _, labels = data.read(self.test)
        names = sorted({name for label in labels for name in label} | set(categories))
        number = {name: i for i, name in enumerate(names)}
        truth, decisions = (indicator(lists, number) for lists in (labels, decided))
        figures = f1(truth, decisions)
        if scores is not None:
            columns = [number[name] for name in categories]
            aligned = np.full(truth.shape, -np.inf)
            aligned[:, columns] = scores
            figures["break_even"] = break_even(truth, aligned)
        return figures

    def size(self, *paths: Path) -> dict[str, float]:
        """Return the size of a model on disk."""
        return {"model_mb": sum(path.stat().st_size for path in paths) / 1e6}


def indicator(lists: Sequence[Sequence[str]], number: dict[str, int]) -> np.ndarray:
    """Return lists of names as a matrix; names without a number are left out."""
    matrix = np.zeros((len(lists), len(number)), bool)
    for i, names in enumerate(lists):
        matrix[i, [number[name] for name in names if name in number]] = True
    return matrix


def f1(truth: np.ndarray, decisions: np.ndarray) -> dict[str, float]:
    """Return F1 in per cent; a category without positives and decisions counts as 0."""
    hits = (truth & decisions).sum(axis=0)
    both = truth.sum(axis=0) + decisions.sum(axis=0)
    each = 2 * hits / np.maximum(both, 1)
    return {
        "micro_f1": float(200 * hits.sum() / max(both.sum(), 1)),
        "macro_f1": float(100 * each.mean()),
    }


def break_even(truth: np.ndarray, scores: np.ndarray) -> float:
    """Return recall in per cent when each category gets as many documents as it has."""
    positives = truth.sum(axis=0)
    hits = sum(
        truth[np.argsort(-scores[:, k], kind="stable")[:n], k].sum()
        for k, n in enumerate(positives)
    )
    return float(100 * hits / positives.sum())


def peak_memory() -> int:
    """Return the largest resident size so far, in bytes.

    Linux hands the peak of the parent down to what `getrusage` tells, so the process's own high
    water mark is read where there is one.
    """
    status = Path("/proc/self/status")
    if status.exists():
        for line in status.read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
