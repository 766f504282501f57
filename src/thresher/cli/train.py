"""thresher train: train a model on labelled documents."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, Any

from thresher.cli import common
from thresher.cli._options import ModelVerb, as_option, learner_of, with_fast
from thresher.cli.declare import Option
from thresher.cli.evaluate import show_table
from thresher.errors import DocumentError, ParameterError, SizeWarning, ThresherWarning, counted
from thresher.files import check_writable

if TYPE_CHECKING:
    from thresher.categorizer import Categorizer
    from thresher.documents import Documents
    from thresher.evaluation import Evaluation

BARS = "▁▂▃▄▅▆▇█"
WIDTH = 60  # characters of a curve

LearnerName = Annotated[
    str,
    Option(
        panel="Learning",
        help="The learner: a name that `thresher learners` lists, or module:Class, such as a "
        "classifier of scikit-learn.",
    ),
]
Unlabelled = Annotated[
    list[str] | None,
    Option(
        metavar="FILE",
        panel="Features",
        help="More documents, without labels, to learn --concepts from. Can be repeated.",
    ),
]
HoldOut = Annotated[
    float | None,
    Option(
        metavar="SHARE",
        help="Estimate the quality on a random share of the documents, e.g. 0.2, after "
        "training on the others. The saved model is then trained on all documents.",
    ),
]


@common.verb(
    "train tickets.csv --text subject,body --labels team -o model.thresher",
    writes="model",
    kind=ModelVerb,
)
def train(
    model_options: dict[str, Any],
    data: common.Data = None,
    output: Annotated[
        str, Option("--output", "-o", metavar="FILE", help="The file for the model.")
    ] = "model.thresher",
    reading: common.Reading = common.Reading(),
    fast: common.Fast = False,
    learner: LearnerName = "auto",
    unlabelled: Unlabelled = None,
    parameter: common.LearnerParameters = None,
    passes: common.Passes = None,
    hold_out: HoldOut = None,
    curve: Annotated[
        bool, Option("--curve", help="Draw mistakes and accuracy during training.")
    ] = False,
    profile: Annotated[
        bool, Option("--profile", help="Print on stderr how long each step took.")
    ] = False,
    force: common.Force = False,
    json: common.Json = False,
) -> None:
    """Train a model on labelled documents and save it."""
    check_writable(output)
    from thresher.categorizer import Categorizer

    options = with_fast(model_options, fast)
    categorizer = Categorizer(learner_of(learner, parameter or [], passes), **options)
    categorizer.resolved().new_learner().check_savable()
    documents = common.open_documents(data, reading)
    more = common.open_documents(unlabelled, reading, labelled=False) if unlabelled else None
    estimate = None
    if hold_out is not None:
        estimate = _hold_out(categorizer, documents, hold_out, unlabelled)
    began = perf_counter()
    _fit(categorizer, documents, more, curve)
    saving = perf_counter()
    categorizer.save(output, force=force)
    categorizer.timings_["save"] = perf_counter() - saving
    for read in filter(None, (documents, more)):
        common.report_reading(read, columns=False)
    for sentence, _ in categorizer.model_.assumptions:
        common.say(ThresherWarning(sentence).message(as_option))
    _report(categorizer, output, perf_counter() - began, estimate, json)
    if profile:
        total = sum(categorizer.timings_.values())
        for stage, seconds in (categorizer.timings_ | {"in all": total}).items():
            common.say(f"{stage:>10}  {seconds:8.3f} s  {seconds / total:6.1%}")


def _fit(
    categorizer: Categorizer, documents: Documents, unlabelled: Documents | None, curve: bool
) -> None:
    """Train the model, with a progress bar or the learning curve."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ThresherWarning)  # `assumptions_` has these
        warnings.simplefilter("always", SizeWarning)
        if curve:
            drawing = TerminalCurve()
            with drawing.shown():
                categorizer.fit(
                    documents, unlabelled=unlabelled, progress=common.go_on, watch=drawing.add
                )
        else:
            with common.progress() as progress:
                categorizer.fit(documents, unlabelled=unlabelled, progress=progress)


def _hold_out(
    categorizer: Categorizer, documents: Documents, share: float, unlabelled: list[str] | None
) -> Evaluation:
    """Evaluate a model with the same parameters on documents that it was not trained on."""
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
    """Print the size and the quality of the trained model."""
    mistakes = [int(number) for number in getattr(categorizer.learner_, "mistakes_", ())]
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
    if estimate is not None:
        show_table(estimate, 20)
        common.show(
            f"These figures are of {counted(estimate.n_documents, 'document')}, held out at "
            "random. The saved model has been trained on these too: expect about the same quality "
            "on documents of the same kind, and less on later or other ones (see thresher split)."
        )
    if tuning is not None:
        common.show(str(tuning))
    sizes = [
        counted(figures[name], noun)
        for name, noun in (
            ("documents", "document"), ("categories", "category"), ("features", "feature")
        )
    ]  # fmt: skip
    second_look = " and a second look" if categorizer.model_.second_look is not None else ""
    common.show(
        f"{', '.join(sizes)}: {categorizer.learner_.name}{second_look} in {seconds:.2f} s.\n"
        f"Saved to {output} ({common.size(figures['bytes'])})."
    )
    if figures["remembered"]:
        common.show(
            f"It remembers the words of {counted(figures['remembered'], 'document')} for later "
            "learning; --remember 0 stores none."
        )


class TerminalCurve:
    """A chart of mistakes and progressive accuracy during training, drawn with characters."""

    def __init__(self) -> None:
        self.passes: list[int] = []
        self.mistakes: list[float] = []  # per document
        self.accuracy: list[float] = []  # on each document before it is learned

    def add(self, number: int, documents: int, mistakes: int, decisions: int) -> None:
        """Add the figures of the next documents of a pass."""
        self.passes.append(number)
        self.mistakes.append(mistakes / documents)
        self.accuracy.append(1 - mistakes / decisions)

    def __str__(self) -> str:
        if not self.passes:
            return "nothing learned yet"
        n, width = len(self.passes), min(WIDTH, len(self.passes))
        drawn = [round(i * (n - 1) / max(1, width - 1)) for i in range(width)]
        mistakes, accuracy = self.mistakes, self.accuracy
        passes = [self.passes[i] for i in drawn]  # each number is below its first bar
        firsts = [p if p != q else " " for p, q in zip(passes, [0, *passes], strict=False)]
        return (
            f"mistakes per document  {_bars(mistakes, drawn)}  "
            f"{mistakes[0]:.3g} → {mistakes[-1]:.3g}\n"
            f"progressive accuracy   {_bars(accuracy, drawn)}  "
            f"{accuracy[0]:.2%} → {accuracy[-1]:.2%}\n"
            f"pass                   {''.join(str(number)[-1] for number in firsts)}"
        )

    @contextmanager
    def shown(self) -> Iterator[None]:
        """Draw the chart on stderr, on a terminal also while it grows."""
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
