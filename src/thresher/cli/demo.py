"""thresher demo: training, evaluation and explanation on Python's own documentation."""

from __future__ import annotations

import json
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated

from thresher.cli import common
from thresher.cli._outputs import check_kind
from thresher.cli.declare import Option
from thresher.errors import DocumentError, counted
from thresher.files import write_text

if TYPE_CHECKING:
    from rich.console import Console

    from thresher.categorizer import Categorizer
    from thresher.corpora.standard_library import Entry


@common.verb("demo --folder demo")
def demo(
    folder: Annotated[str, Option(help="The folder for the corpus and the model.")] = "demo",
    threads: common.Threads = 1,
    force: common.Force = False,
) -> None:
    """Train and explain a model of Python's own documentation.

    Needs no download: each documented module, class and function of the running Python is a
    document. Its categories are its package and its kind (module, class or function).
    """
    from rich.rule import Rule

    from thresher.cli.evaluate import show_table

    terminal, place = common.console(), Path(folder)
    try:
        place.mkdir(parents=True, exist_ok=True)
    except OSError as problem:
        why = f"the folder cannot be made ({problem.strerror}); choose another one with --folder"
        raise DocumentError(f"{folder}: {why}.") from None
    for name in () if force else ("train.jsonl", "test.jsonl", "model.thresher"):
        check_kind(place / name, "model" if name.endswith(".thresher") else "demo")
    terminal.print(Rule("The corpus: documentation of Python's standard library"))
    test = _make_corpus(terminal, place)
    terminal.print(Rule("Learning"))
    categorizer = _train(terminal, place, threads, force)
    terminal.print(Rule("How good it is on the documents kept back"))
    show_table(categorizer.evaluate(place / "test.jsonl"), top=12)
    terminal.print(Rule("Why: the surest decision that is right"))
    _explain(terminal, categorizer, test, right=True)
    terminal.print(Rule("Why: the surest decision that is wrong"))
    _explain(terminal, categorizer, test, right=False)
    terminal.print(Rule("Now you"))
    model = place / "model.thresher"
    common.show(
        f"thresher explain {model} 'Send a message to an SMTP server'\n"
        f"thresher inspect {model} --category email --category class\n"
        f"thresher predict {model} {place / 'test.jsonl'} | head -3\n"
        f"thresher train {place / 'train.jsonl'} -o {place / 'again.thresher'} --profile"
    )


def _make_corpus(terminal: Console, place: Path) -> list[Entry]:
    """Write the corpus as JSON lines and return the test documents."""
    from thresher.corpora.standard_library import standard_library

    parts = dict(zip(("train", "test"), standard_library(), strict=True))
    for name, entries in parts.items():
        lines = (json.dumps(entry._asdict(), ensure_ascii=False) + "\n" for entry in entries)
        write_text(place / f"{name}.jsonl", "".join(lines))
        terminal.print(f"{place / name}.jsonl: {len(entries):,} documents to {name}")
    return parts["test"]


def _train(terminal: Console, place: Path, threads: int, force: bool) -> Categorizer:
    from thresher.categorizer import Categorizer

    began = perf_counter()
    with common.progress() as progress:
        categorizer = Categorizer(n_jobs=threads).fit(place / "train.jsonl", progress=progress)
    categorizer.save(place / "model.thresher", force=force)
    passes = getattr(categorizer.learner_, "n_iter_", 1)
    terminal.print(
        f"{place / 'model.thresher'}: {counted(len(categorizer.categories_), 'category')}, "
        f"{counted(categorizer.n_features, 'feature')}, {counted(passes, 'pass')} in "
        f"{perf_counter() - began:.2f} s"
    )
    return categorizer


def _explain(
    terminal: Console, categorizer: Categorizer, entries: list[Entry], *, right: bool
) -> None:
    """Explain the correct, or the wrong, decision with the largest margin."""
    from thresher.report import explanation_text

    short = [entry for entry in entries if 60 < len(entry.text) < 300]
    kinds = {entry.labels[1] for entry in entries}
    margins = categorizer.scores([e.text for e in short]) - categorizer.decisions_.thresholds
    chosen = [
        (margin, entry, package)
        for entry, row in zip(short, margins.tolist(), strict=True)
        for package, margin in zip(categorizer.categories_, row, strict=True)
        if package not in kinds and margin > 0 and (package in entry.labels) == right
    ]
    if not chosen:
        terminal.print("There is none.")
        return
    _, entry, package = max(chosen)
    terminal.print(f"{entry.name}, which is in {' and '.join(entry.labels)}:", style="dim")
    terminal.print(explanation_text(categorizer.explain(entry.text, package)))
