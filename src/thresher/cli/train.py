"""thresher train: labelled documents to a model."""

from __future__ import annotations

import ast
import os
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, Any

import typer

from thresher.cli import _common as common
from thresher.cli._curve import TerminalCurve
from thresher.errors import ModelError, ParameterError

if TYPE_CHECKING:
    from thresher.categorizer import Categorizer
    from thresher.documents import Documents

TEXT, FEATURES, LEARNING = "Text", "Features", "Learning"


def register(app: typer.Typer) -> None:
    """Add the verb to the command line."""
    app.command(
        epilog="Example: thresher train tickets.csv --text subject,body --labels team "
        "-o model.thresher"
    )(train)


def _option(*names: str, panel: str, **more: Any) -> Any:
    return typer.Option(*names, rich_help_panel=panel, **more)


@common.verb
def train(
    data: common.Data = None,
    output: Annotated[
        str, typer.Option("--output", "-o", metavar="FILE", help="Where the model goes.")
    ] = "model.thresher",
    text: common.Text = None,
    labels: common.LabelColumn = None,
    separator: common.Separator = None,
    format: common.Format = None,
    on_error: common.OnError = "stop",
    learner: Annotated[
        str, _option("--learner", panel=LEARNING, help="`thresher learners` lists them.")
    ] = "passive-aggressive",
    parameter: Annotated[
        list[str] | None,
        _option(
            "--parameter",
            "-p",
            panel=LEARNING,
            metavar="NAME=VALUE",
            help="A parameter of the learner, e.g. -p promotion=1.2; may be repeated.",
        ),
    ] = None,
    passes: Annotated[
        int | None, _option("--passes", panel=LEARNING, min=1, help="Passes over the documents.")
    ] = None,
    seed: common.Seed = 0,
    shuffle: Annotated[
        bool, _option("--shuffle/--in-order", panel=LEARNING, help="Order of learning.")
    ] = True,
    decision: Annotated[
        str,
        _option("--decision", panel=LEARNING, help="auto, single-label or multi-label."),
    ] = "auto",
    tune: Annotated[
        str | None,
        _option(
            "--tune",
            panel=LEARNING,
            metavar="OBJECTIVE",
            help="Learn thresholds for f1, f0.5, precision=0.95, recall=0.9, cost=1:5 or alike.",
        ),
    ] = None,
    tune_folds: Annotated[
        int, _option("--tune-folds", panel=LEARNING, min=2, help="Folds to learn them in.")
    ] = 5,
    calibrate: Annotated[
        str | None,
        _option("--calibrate", panel=LEARNING, help="Learn probabilities: sigmoid or isotonic."),
    ] = None,
    threads: common.Threads = 1,
    tokens: Annotated[
        str, _option("--tokens", panel=TEXT, help="words, book or whitespace.")
    ] = "words",
    token_pattern: Annotated[
        str | None, _option("--token-pattern", panel=TEXT, help="A regular expression instead.")
    ] = None,
    min_length: Annotated[
        int, _option("--min-length", panel=TEXT, min=1, help="Shorter words are left out.")
    ] = 2,
    lowercase: Annotated[
        bool, _option("--lowercase/--keep-case", panel=TEXT, help="Fold upper and lower case.")
    ] = True,
    ngrams: Annotated[
        str, _option("--ngrams", panel=TEXT, metavar="N or LOW-HIGH", help="Runs of words.")
    ] = "1",
    char_ngrams: Annotated[
        str | None,
        _option("--char-ngrams", panel=TEXT, metavar="LOW-HIGH", help="Runs of characters."),
    ] = None,
    hashing_bits: Annotated[
        int | None, _option("--hashing-bits", panel=TEXT, help="Hash words to 2^BITS columns.")
    ] = None,
    language: Annotated[
        str, _option("--language", panel=TEXT, help="Language of stop words, stems and lemmas.")
    ] = "english",
    stop_words: Annotated[
        bool, _option("--stop-words", panel=TEXT, help="Leave out function words.")
    ] = False,
    stem: Annotated[bool, _option("--stem", panel=TEXT, help="Fold words by stem.")] = False,
    lemmatize: Annotated[
        bool, _option("--lemmatize", panel=TEXT, help="Fold words by lemma.")
    ] = False,
    word_classes: Annotated[
        str | None,
        _option(
            "--word-classes",
            panel=TEXT,
            metavar="noun,verb",
            help="Keep only words that can be these.",
        ),
    ] = None,
    strength: Annotated[
        str | None,
        _option("--strength", panel=FEATURES, help="binary, frequency, sqrt, log, tf-idf or book."),
    ] = None,
    normalize: Annotated[
        str | None, _option("--normalize", panel=FEATURES, help="sum, l2 or none.")
    ] = None,
    min_df: Annotated[
        float, _option("--min-df", panel=FEATURES, help="Fewest documents of a feature.")
    ] = 1,
    max_df: Annotated[
        float, _option("--max-df", panel=FEATURES, help="Most documents (below 1: a share).")
    ] = 1.0,
    max_features: Annotated[
        int | None, _option("--max-features", panel=FEATURES, help="Keep the most frequent.")
    ] = None,
    select: Annotated[
        int | None, _option("--select", panel=FEATURES, help="Keep those that tell most.")
    ] = None,
    selection: Annotated[
        str, _option("--selection", panel=FEATURES, help="chi-square or information-gain.")
    ] = "chi-square",
    curve: Annotated[
        bool,
        typer.Option("--curve", help="Draw mistakes and progressive accuracy as it learns."),
    ] = False,
    profile: Annotated[
        bool, typer.Option("--profile", help="Show where the time went, on stderr.")
    ] = False,
    json: common.Json = False,
) -> None:
    """Learn categories from labelled documents and save the model."""
    _check_output(output)
    from thresher.categorizer import Categorizer

    documents = common.open_documents(data, text, labels, separator, format, on_error)
    categorizer = Categorizer(
        make_learner(learner, parameter or [], passes),
        tokens=tokens,
        token_pattern=token_pattern,
        min_length=min_length,
        lowercase=lowercase,
        ngrams=_span("--ngrams", ngrams),
        char_ngrams=_span("--char-ngrams", char_ngrams) if char_ngrams else None,
        hashing_bits=hashing_bits,
        language=language,
        stop_words=stop_words,
        stem=stem,
        lemmatize=lemmatize,
        word_classes=word_classes.split(",") if word_classes else None,
        strength=strength,
        normalize=normalize,
        min_df=_count_or_share(min_df),
        max_df=_count_or_share(max_df) if max_df != 1 else 1.0,
        max_features=max_features,
        select=select,
        selection=selection,
        decision=decision,
        tune_for=tune,
        tune_folds=tune_folds,
        calibrate=calibrate,
        shuffle=shuffle,
        seed=seed,
        threads=threads,
    )
    began = perf_counter()
    _learn(categorizer, documents, curve)
    saving = perf_counter()
    categorizer.save(output)
    categorizer.timings_["save"] = perf_counter() - saving
    common.report_reading(documents)
    _report(categorizer, output, perf_counter() - began, json)
    if profile:
        show_profile(categorizer.timings_)


def _learn(categorizer: Categorizer, documents: Documents, curve: bool) -> None:
    """Learn, with a bar of progress or the curve of learning on stderr."""
    if curve:
        drawing = TerminalCurve()
        with drawing.shown():
            categorizer.fit(documents, progress=common.go_on, watch=drawing.add)
        return
    with common.progress() as progress:
        categorizer.fit(documents, progress=progress)


def make_learner(name: str, settings: list[str], passes: int | None) -> Any:
    """Build the learner that the command line names, with its parameters."""
    from thresher.learners.online import LEARNERS

    if name not in LEARNERS:
        raise ParameterError(f"There is no learner {name!r}; choose from {', '.join(LEARNERS)}.")
    values: dict[str, Any] = {} if passes is None else {"max_iter": passes}
    for setting in settings:
        key, equals, value = setting.partition("=")
        if not equals:
            raise ParameterError(f"--parameter is {setting!r}; it must be NAME=VALUE.")
        try:
            values[key] = ast.literal_eval(value)
        except (SyntaxError, ValueError):  # not a number or a tuple: a plain word
            values[key] = value
    return LEARNERS[name]().set_params(**values)


def _check_output(output: str) -> None:
    """Find out before the work whether the model can be written after it."""
    folder = Path(output).absolute().parent
    if not folder.is_dir():
        raise ModelError(f"{output}: the folder {folder} does not exist; make it first.")
    if Path(output).is_dir():
        raise ModelError(f"{output}: this is a folder; give the name of a file.")
    if not os.access(folder, os.W_OK):
        raise ModelError(f"{output}: the folder {folder} cannot be written to.")


def _span(name: str, value: str) -> tuple[int, int]:
    low, _, high = value.partition("-")
    try:
        return int(low), int(high or low)
    except ValueError:
        raise ParameterError(f"{name} is {value!r}; it must be like 2 or 1-2.") from None


def _count_or_share(value: float) -> int | float:
    return int(value) if value >= 1 else value


def _report(categorizer: Categorizer, output: str, seconds: float, as_json: bool) -> None:
    mistakes = categorizer.learner_.mistakes_
    figures: dict[str, Any] = {
        "documents": categorizer.documents_seen_,
        "categories": len(categorizer.categories_),
        "features": categorizer.n_features,
        "passes": len(mistakes),
        "mistakes": [int(one) for one in mistakes],
        "seconds": round(seconds, 3),
        "model": output,
        "bytes": os.path.getsize(output),
    }
    tuning = categorizer.tuning_
    if as_json:
        common.show_json(figures | ({} if tuning is None else {"tuning": tuning.to_dict()}))
        return
    if tuning is not None:
        typer.echo(str(tuning))
    typer.echo(
        f"{figures['documents']:,} documents, {figures['categories']:,} categories, "
        f"{figures['features']:,} features: {common.counted(figures['passes'], 'pass', 'passes')} "
        f"in {seconds:.2f} s, "
        f"{figures['mistakes'][-1]:,} mistakes in the last.\n"
        f"Saved to {output} ({figures['bytes'] / 1e6:.1f} MB)."
    )


def show_profile(timings: dict[str, float]) -> None:
    """Print each stage's seconds and share on stderr."""
    whole = sum(timings.values())
    for stage, seconds in timings.items():
        common.say(f"{stage:>10}  {seconds:8.3f} s  {seconds / whole:6.1%}")
    common.say(f"{'in all':>10}  {whole:8.3f} s")
