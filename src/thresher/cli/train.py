"""thresher train: labelled documents to a model."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, Any

from thresher.cli import common
from thresher.cli._options import ModelVerb, learner_of
from thresher.cli.declare import Option
from thresher.errors import DocumentError, ParameterError, SizeWarning, ThresherWarning, counted
from thresher.files import check_writable

if TYPE_CHECKING:
    from thresher.categorizer import Categorizer
    from thresher.documents import Documents
    from thresher.evaluation import Evaluation

BARS = "▁▂▃▄▅▆▇█"
WIDTH = 60  # characters of a curve


@common.verb(
    "train tickets.csv --text subject,body --labels team -o model.thresher", kind=ModelVerb
)
def train(
    model_options: dict[str, Any],
    data: common.Data = None,
    output: Annotated[
        str, Option("--output", "-o", metavar="FILE", help="Where the model goes.")
    ] = "model.thresher",
    reading: common.Reading = common.Reading(),
    fast: Annotated[
        bool,
        Option(
            "--fast",
            panel="Learning",
            help="The quickest way to a good model: words alone. The same as --preset fast.",
        ),
    ] = False,
    learner: Annotated[
        str,
        Option(
            panel="Learning",
            help="`thresher learners` lists them; module:Class imports one, of scikit-learn say.",
        ),
    ] = "auto",
    unlabelled: Annotated[
        list[str] | None,
        Option(
            metavar="FILE",
            panel="Features",
            help="More documents, for --concepts alone; labels are not looked at. May be repeated.",
        ),
    ] = None,
    parameter: common.LearnerParameters = None,
    passes: common.Passes = None,
    hold_out: Annotated[
        float | None,
        Option(
            metavar="SHARE",
            help="First learn without this share of the documents, 0.2 say, of every category "
            "alike, and measure on it. The saved model then learns from all: the figures are an "
            "estimate for it.",
        ),
    ] = None,
    curve: Annotated[
        bool, Option("--curve", help="Draw mistakes and progressive accuracy as it learns.")
    ] = False,
    profile: Annotated[
        bool, Option("--profile", help="Show where the time went, on stderr.")
    ] = False,
    json: common.Json = False,
) -> None:
    """Learn categories from labelled documents and save the model."""
    check_writable(output)
    from thresher.categorizer import Categorizer

    options = model_options | ({"preset": "fast"} if fast else {})
    categorizer = Categorizer(learner_of(learner, parameter or [], passes), **options)
    categorizer.resolved().new_learner().check_savable()
    documents = common.open_documents(data, reading)
    others = None
    if unlabelled:
        others = common.open_documents(unlabelled, reading, labelled=False)
    estimate = None
    if hold_out is not None:
        estimate = _held_out(categorizer, documents, hold_out, unlabelled)
    began = perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ThresherWarning)  # what was assumed is said below
        warnings.simplefilter("always", SizeWarning)
        if curve:
            drawing = TerminalCurve()
            with drawing.shown():
                categorizer.fit(
                    documents, unlabelled=others, progress=common.go_on, watch=drawing.add
                )
        else:
            with common.progress() as progress:
                categorizer.fit(documents, unlabelled=others, progress=progress)
    saving = perf_counter()
    categorizer.save(output)
    categorizer.timings_["save"] = perf_counter() - saving
    common.report_reading(documents, columns=False)
    if others is not None:
        common.report_reading(others, columns=False)
    for sentence in categorizer.assumptions_:
        common.say(sentence)
    if estimate is not None and not json:
        from thresher.cli.evaluate import show_table  # here, lest it come first in the help

        show_table(estimate, 20)
        common.show(
            f"That is of {counted(estimate.n_documents, 'document')}, held out at random. The "
            "model that is saved has learned from these too: expect about as much of it on more "
            "documents of the same kind, less on later or other ones (see thresher split)."
        )
    _report(categorizer, output, perf_counter() - began, estimate, json)
    if profile:
        timings = categorizer.timings_
        whole = sum(timings.values())
        for stage, seconds in timings.items():
            common.say(f"{stage:>10}  {seconds:8.3f} s  {seconds / whole:6.1%}")
        common.say(f"{'in all':>10}  {whole:8.3f} s")


def _held_out(
    categorizer: Categorizer, documents: Documents, share: float, unlabelled: list[str] | None
) -> Evaluation:
    """Measure what the same parameters learn from a part of the documents, on the rest."""
    from thresher.experiments.protocols import cross_validate

    if not 0 < share < 1:
        raise ParameterError(f"--hold-out is {share:g}; it must be a share between 0 and 1.")
    if unlabelled:
        raise ParameterError(
            "--hold-out and --unlabelled do not go together; measure on documents of their own "
            "(thresher split makes them)."
        )
    if documents.only_once:
        raise DocumentError(
            f"{documents.only_once}: can be read only once, and --hold-out reads the documents "
            "twice; save it to a file."
        )
    how: Any = {"protocol": "hold-out", "share": share, "random_state": categorizer.seed_}
    with common.progress() as progress:
        return cross_validate(categorizer, documents, progress=progress, **how).evaluations[0]


def _report(
    categorizer: Categorizer,
    output: str,
    seconds: float,
    estimate: Evaluation | None,
    as_json: bool,
) -> None:
    mistakes = [int(one) for one in getattr(categorizer.learner_, "mistakes_", ())]
    figures: dict[str, Any] = {
        "documents": categorizer.documents_seen_,
        "categories": len(categorizer.categories_),
        "features": categorizer.n_features,
        "passes": len(mistakes),
        "mistakes": mistakes,
        "seconds": round(seconds, 3),
        "model": output,
        "bytes": os.path.getsize(output),
        "remembered": categorizer.summary()["remembered"],
        "assumptions": categorizer.assumptions_,
    }
    tuning = categorizer.tuning_
    if as_json:
        more = {"tuning": tuning, "hold_out": estimate}
        common.show_json(figures | {k: v.to_dict() for k, v in more.items() if v is not None})
        return
    if tuning is not None:
        common.show(str(tuning))
    looked = " and a second look" if categorizer.model_.second_look is not None else ""
    learner = f"{categorizer.learner_.name}{looked}"
    common.show(
        f"{counted(figures['documents'], 'document')}, "
        f"{counted(figures['categories'], 'category')}, "
        f"{counted(figures['features'], 'feature')}: {learner} in {seconds:.2f} s.\n"
        f"Saved to {output} ({common.size(figures['bytes'])})."
    )
    if figures["remembered"]:
        common.show(
            f"It remembers the words of {counted(figures['remembered'], 'document')}, to learn on "
            "by; --remember 0 keeps none."
        )


class TerminalCurve:
    """Mistakes and progressive accuracy, piece by piece of the passes, and their picture."""

    def __init__(self) -> None:
        self.passes: list[int] = []
        self.mistakes: list[float] = []  # per document
        self.accuracy: list[float] = []  # each document being decided before it was learned

    def add(self, number: int, documents: int, mistakes: int, decisions: int) -> None:
        """Take the next piece of the pass of this number."""
        self.passes.append(number)
        self.mistakes.append(mistakes / documents)
        self.accuracy.append(1 - mistakes / decisions)

    def __str__(self) -> str:
        if not self.passes:
            return "nothing learned yet"
        n, width = len(self.passes), min(WIDTH, len(self.passes))
        drawn = [round(i * (n - 1) / max(1, width - 1)) for i in range(width)]
        mistakes, accuracy = self.mistakes, self.accuracy
        passes = [self.passes[i] for i in drawn]  # each number stands below its first bar
        firsts = [p if p != q else " " for p, q in zip(passes, [0, *passes], strict=False)]
        return (
            f"mistakes per document  {_bars(mistakes, drawn)}  "
            f"{mistakes[0]:.3g} → {mistakes[-1]:.3g}\n"
            f"progressive accuracy   {_bars(accuracy, drawn)}  "
            f"{accuracy[0]:.2%} → {accuracy[-1]:.2%}\n"
            f"pass                   {''.join(str(one)[-1] for one in firsts)}"
        )

    @contextmanager
    def shown(self) -> Iterator[None]:
        """Draw the curve on stderr: while it grows if that is a terminal, and at the end."""
        if sys.stderr.isatty():
            from rich.console import Console
            from rich.live import Live

            with Live(console=Console(stderr=True), get_renderable=self.__str__):
                yield
            return
        yield
        sys.stderr.write(f"{self}\n")


def _bars(values: list[float], drawn: list[int]) -> str:
    low, high = min(values), max(values)
    step = (high - low) / (len(BARS) - 1) or 1.0
    return "".join(BARS[round((values[i] - low) / step)] for i in drawn)
