"""What the verbs share: options that mean the same everywhere, results, progress, and errors."""

from __future__ import annotations

import functools
import json
import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from thresher._formats import FORMATS, READERS
from thresher.errors import DocumentError, ThresherError

if TYPE_CHECKING:
    from rich.console import Console

    from thresher.categorizer import Categorizer
    from thresher.documents import Columns, Documents

_is_interrupted = False

Model = Annotated[str, typer.Argument(metavar="MODEL", help="A model that `train` wrote.")]
Data = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[DATA]...",
        help=f"Files of documents: {', '.join(kind.title for kind in READERS.values())}; folders, "
        "with one folder per category; gzip, zstd and bzip2 too. '-' is standard input; a corpus "
        "has a name (`thresher corpus list`).",
    ),
]
Text = Annotated[
    str | None,
    typer.Option("--text", metavar="COLUMNS", help="Text columns, e.g. subject,body."),
]
LabelColumn = Annotated[
    str | None, typer.Option("--labels", metavar="COLUMN", help="Column with the categories.")
]
Separator = Annotated[
    str | None,
    typer.Option("--separator", metavar="TEXT", help="What separates several labels in a string."),
]
Format = Annotated[
    str | None,
    typer.Option("--format", help=f"{', '.join(FORMATS[:-1])} or {FORMATS[-1]}."),
]
OnError = Annotated[
    str,
    typer.Option("--on-error", metavar="stop|skip", help="What to do at a document with an error."),
]
LearnerName = Annotated[
    str,
    typer.Option(
        "--learner",
        rich_help_panel="Learning",
        help="`thresher learners` lists them; module:Class imports one, of scikit-learn say.",
    ),
]
LearnerParameters = Annotated[
    list[str] | None,
    typer.Option(
        "--parameter",
        "-p",
        rich_help_panel="Learning",
        metavar="NAME=VALUE",
        help="A parameter of the learner, e.g. -p promotion=1.2; may be repeated.",
    ),
]
Passes = Annotated[
    int | None,
    typer.Option("--passes", rich_help_panel="Learning", min=1, help="Passes over the documents."),
]
Threads = Annotated[
    int, typer.Option("--threads", min=1, help="Threads; the result is the same for any number.")
]
Seed = Annotated[int, typer.Option("--seed", help="Seed of the order of learning.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table or text.")]


def verb(function: Callable[..., None]) -> Callable[..., None]:
    """Turn what can go wrong into one sentence on stderr and the exit status it deserves."""

    @functools.wraps(function)
    def run(*args: Any, **kwargs: Any) -> None:
        if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            signal.signal(signal.SIGINT, _interrupt)
            sys.unraisablehook = _say_unless_interrupted
        try:
            function(*args, **kwargs)
            sys.stdout.flush()
        except ThresherError as problem:
            say(f"thresher: {problem}")
            raise typer.Exit(2) from None
        except BrokenPipeError:  # the reader of our output went away, as `head` does
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise typer.Exit(141) from None
        except (KeyboardInterrupt, Exception) as problem:
            # A Ctrl-C that is lost while machine code is compiled comes back as some other error.
            if not (_is_interrupted or isinstance(problem, KeyboardInterrupt)):
                raise
            say("thresher: stopped; nothing was written.")
            raise typer.Exit(130) from None

    return run


def _interrupt(number: int, frame: object) -> None:
    global _is_interrupted
    _is_interrupted = True
    raise KeyboardInterrupt


def _say_unless_interrupted(problem: Any) -> None:
    """Keep quiet about a KeyboardInterrupt that was lost; `go_on` raises it again."""
    if problem.exc_type is not KeyboardInterrupt:
        sys.__unraisablehook__(problem)


def go_on(stage: str, documents: int, share: float | None) -> None:
    """Show no progress, but stop if Ctrl-C was pressed where it could not be heard.

    While machine code is compiled or loaded, Python's KeyboardInterrupt is lost.
    """
    if _is_interrupted:
        raise KeyboardInterrupt


def say(sentence: str) -> None:
    """Print a sentence for a person on stderr."""
    typer.echo(sentence, err=True)


def counted(number: int, one: str, more: str | None = None) -> str:
    """Return a number with its noun, which is `one` with an s where there are `more`."""
    return f"{number:,} {one if number == 1 else more or one + 's'}"


def show_json(value: Any) -> None:
    """Print one JSON value on a line of stdout."""
    sys.stdout.write(json.dumps(value, ensure_ascii=False) + "\n")


def console() -> Console:
    """Return the terminal for tables and coloured text."""
    from rich.console import Console

    return Console(highlight=False, soft_wrap=False)


def load_model(model: str) -> Categorizer:
    """Read a model file."""
    from thresher.categorizer import Categorizer

    return Categorizer.load(model)


def open_documents(
    data: list[str] | None,
    text: str | None,
    labels: str | bool | None,
    separator: str | None,
    format: str | None,
    on_error: str,
    split: str = "train",
    familiar: Columns | None = None,
) -> Documents:
    """Open what the command line names as documents.

    Of a corpus, `split` is taken unless it names one; of a table, the `familiar` columns that the
    model was trained on, unless others are named.
    """
    from thresher import corpora

    if on_error not in ("stop", "skip"):
        raise DocumentError(f"--on-error is {on_error!r}; it must be stop or skip.")
    sources = data or ["-"]
    if sources == ["-"] and sys.stdin.isatty():
        say("thresher: reading documents from the keyboard, one a line; end with Ctrl-D.")
    return corpora.open_documents(
        sources[0] if len(sources) == 1 else [Path(source) for source in sources],
        labels,
        split=split,
        text=text.split(",") if text else None,
        label_separator=separator,
        format=format,
        on_error=on_error,
        familiar=familiar,
    )


def report_reading(documents: Documents) -> None:
    """Say on stderr which columns were guessed and what was left out or repaired."""
    if "guessed" in documents.columns_note:
        say(f"{documents.columns_note}.")
    if documents.decoding_errors:
        number = counted(documents.decoding_errors, "document")
        say(f"Not UTF-8, bad bytes replaced: {number}.")
    if documents.n_skipped:
        say(f"Left out: {counted(documents.n_skipped, 'document')}.")
        for sentence in documents.skipped[:10]:
            say(f"  {sentence}")


@contextmanager
def waiting(what: str) -> Iterator[None]:
    """Show on stderr that work of unknown length goes on, if that is a terminal."""
    if not sys.stderr.isatty():
        yield
        return
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        bar.add_task(what, total=None)
        yield


@contextmanager
def progress() -> Iterator[Callable[[str, int, float | None], None]]:
    """Show documents, documents per second and time left on stderr, if that is a terminal."""
    if not sys.stderr.isatty():
        yield go_on
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    with Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.fields[documents]:,} documents"),
        TextColumn("{task.fields[rate]:,.0f}/s"),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
    ) as bar:
        tasks: dict[str, Any] = {}

        def show(stage: str, documents: int, share: float | None) -> None:
            go_on(stage, documents, share)
            if stage not in tasks:
                for task in tasks.values():
                    bar.update(task, visible=False)
                tasks[stage] = bar.add_task(stage, total=None, documents=0, rate=0.0)
            task = tasks[stage]
            elapsed = bar.tasks[task].elapsed or 1e-9
            bar.update(task, documents=documents, rate=documents / elapsed)
            if share is not None:
                bar.update(task, total=1.0, completed=share)

        yield show
