"""What the verbs share: the decorator, common options, output, progress and error messages."""

from __future__ import annotations

import functools
import inspect
import json
import os
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import click

from thresher.cli import _compiling, process
from thresher.cli.declare import Argument, Group, Option, Verb, declared
from thresher.cli.program import app
from thresher.documents.formats import FORMATS, READERS
from thresher.errors import (
    DocumentError,
    OutputError,
    ParameterError,
    ThresherError,
    counted,
    escaped,
    reason,
)
from thresher.limits import MOST_DOCUMENT_MB, MOST_ROUNDS, MOST_THINGS, MOST_THREADS

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text as RichText

    from thresher.answers.answer import AnswerOptions, Answers
    from thresher.categorizer import Categorizer
    from thresher.documents import Columns, Documents

# Options that several verbs have; their names are those of the parameters.
Model = Annotated[
    str, Argument(metavar="MODEL", help="A model file, as `thresher train` writes it.")
]
Data = Annotated[
    list[str] | None,
    Argument(
        metavar="DATA",
        help=f"Files ({', '.join(kind.title for kind in READERS.values())}; also compressed by "
        "gzip, zstd or bzip2), folders with a subfolder for each category, or the name of a corpus "
        "(see `thresher corpus list`). Without DATA, or with '-', standard input is read.",
    ),
]
Text = Annotated[
    str | None, Option(metavar="COLUMNS", help="The columns with the text, e.g. subject,body.")
]
LabelColumn = Annotated[
    str | None, Option(metavar="COLUMN", help="The column with the categories.")
]
Separator = Annotated[
    str | None, Option(metavar="TEXT", help="The separator between several labels in one cell.")
]
Format = Annotated[
    str | None, Option(help=f"The format of DATA: {', '.join(FORMATS[:-1])} or {FORMATS[-1]}.")
]
Encoding = Annotated[
    str | None,
    Option(
        metavar="NAME",
        help="The encoding of text files, e.g. cp1252. Default: UTF-8, or what is recognized.",
    ),
]
Quoting = Annotated[
    str | None,
    Option(
        metavar="minimal|none",
        help="Whether quotes open quoted cells in CSV and TSV files, or are ordinary characters. "
        "Default: minimal, except for stray quotes in TSV files.",
    ),
]
MaxDocument = Annotated[
    int | None,
    Option(
        min=1,
        max=MOST_DOCUMENT_MB,
        help="The largest size of a document in MB, also decompressed. Default: 128.",
    ),
]
OnError = Annotated[
    str, Option(metavar="stop|skip", help="Stop at a document that cannot be read, or skip it.")
]
LearnerParameters = Annotated[
    list[str] | None,
    Option(
        *("--parameter", "-p"),
        panel="Learning",
        metavar="NAME=VALUE",
        help="Set a parameter of the learner, e.g. -p promotion=1.2. Can be repeated.",
    ),
]
Passes = Annotated[
    int | None,
    Option(
        panel="Learning", min=1, max=MOST_ROUNDS, help="The number of passes over the documents."
    ),
]
Threads = Annotated[
    int,
    Option(min=1, max=MOST_THREADS, help="The number of threads; it does not change the results."),
]
Names = Annotated[
    str | None,
    Option(
        "--names",
        metavar="FILE",
        help="A CSV file with two columns, code and name: show the categories by their names.",
    ),
]
Top = Annotated[
    int,
    Option(
        min=0,
        max=MOST_THINGS,
        help="The number of categories to show, the largest first; 0 for all.",
    ),
]
Output = Annotated[
    str | None,
    Option(
        "--output",
        "-o",
        metavar="FILE",
        help="The file for the changed model. Default: MODEL itself.",
    ),
]
Results = Annotated[
    str | None,
    Option(
        *("--output", "-o"),
        metavar="FILE",
        help="Write the answers to a .csv, .jsonl or .parquet file, with a row for each document. "
        ".csv and .jsonl can be compressed (.csv.gz, .jsonl.zst).",
    ),
]
Keep = Annotated[
    str | None,
    Option(metavar="COLUMNS", help="With -o: columns of the data to copy, e.g. id,title."),
]
Json = Annotated[bool, Option("--json", help="Print JSON.")]


Probabilities = Annotated[
    bool,
    Option(
        "--probabilities",
        help="Add the probabilities. The model must have learned them: see train --calibrate and "
        "tune --calibrate.",
    ),
]

# Parameters of verbs that name input files, and those that name output files.
READ = ("data", "model", "unlabelled", "codes", "document")
WRITTEN = ("output", "report", "html", "rejected", "plot", "svg")

_as_json = json.JSONEncoder(
    ensure_ascii=False
).encode  # `dumps` would create an encoder for each line


class Files(NamedTuple):
    """Options for reading files; a verb with a parameter `files` or `reading` has them."""

    encoding: Encoding = None
    quoting: Quoting = None
    max_document_mb: MaxDocument = None


class Reading(NamedTuple):
    """Options for reading documents; a verb with a parameter `reading` has them."""

    text: Text = None
    labels: LabelColumn = None
    separator: Separator = None
    format: Format = None
    on_error: OnError = "stop"
    files: Files = Files()


def verb(
    example: str,
    name: str | None = None,
    *,
    group: Group = app,
    kind: type[Verb] = Verb,
    replaces: str | None = None,
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Add a function as a verb to the command line; its docstring is the help.

    An error becomes a sentence on stderr and an exit status. A file that is read is never written.

    Parameters
    ----------
    example : str
        An example for the help, without the name of the program.
    name : str, optional
        The verb, if it is not the name of the function.
    group : Group, optional
        The verb that this one belongs to.
    kind : type, default=Verb
        The class of the verb.
    replaces : str, optional
        The parameter with the file that `output` may replace although it is read.
    """

    def add(function: Callable[..., None]) -> Callable[..., None]:

        @functools.wraps(function)
        def run(**values: Any) -> None:
            for name in {"reading", "files"} & set(function.__annotations__):
                values[name] = _gathered(name, values)
            _compiling.report_compiling(say)
            try:
                with process.at_work():
                    _refuse_to_overwrite_inputs(values, replaces)
                    function(**values)
                    sys.stdout.flush()
            except (KeyboardInterrupt, Exception) as problem:
                raise click.exceptions.Exit(answer(problem)) from None

        command = kind(
            name or function.__name__,
            callback=run,
            params=[*declared(function)],
            help=inspect.getdoc(function),
            epilog=f"Example: thresher {example}",
        )
        group.add_command(command)
        return function

    return add


def _gathered(name: str, values: dict[str, Any]) -> Any:
    """Return the options of a parameter `reading` or `files`; remove them from the values."""
    kind = Reading if name == "reading" else Files
    return kind(*(_gathered(f, values) if f == "files" else values.pop(f) for f in kind._fields))


def group(name: str, help: str) -> Group:
    """Add a verb with subcommands to the command line, and return it."""
    added = Group(name, help=help)
    app.add_command(added)
    return added


def _refuse_to_overwrite_inputs(values: dict[str, Any], replaces: str | None) -> None:
    """Raise an error if an output file is also an input file of the verb."""
    for option in WRITTEN:
        path = values.get(option)
        if not isinstance(path, str | Path) or not os.path.exists(path):
            continue
        for parameter in READ:
            if option == "output" and parameter == replaces:
                continue
            words = values.get(parameter) or ()
            for word in [words] if isinstance(words, str) else words:
                source = word if os.path.exists(word) else word.rpartition(":")[0]  # FILE:LINE
                if os.path.exists(source) and os.path.samefile(source, path):
                    raise OutputError(f"--{option} is {path}, which is read; name another file.")


def answer(problem: BaseException) -> int:
    """Print an error message and return the exit status; raise errors that are bugs."""
    # A Ctrl-C during compilation can be lost, and then appears as another error.
    if status := process.stopped_status() or 130 * isinstance(problem, KeyboardInterrupt):
        if process.stopped_status():
            process.leave(status)  # without waiting for threads
        say(process.STOPPED.rstrip())
        return status
    if isinstance(problem, BrokenPipeError):  # the reader of the output has ended, such as `head`
        _forget_output()
        return 141
    if isinstance(problem, ThresherError):
        from thresher.cli._options import as_option

        sentence = problem.message(as_option)
    elif isinstance(problem, MemoryError):
        sentence = "there is not enough memory for that; take fewer documents, features or threads."
    elif isinstance(problem, OSError):
        sentence = f"{problem.filename or 'a file'}: {reason(problem)}."
    else:
        raise problem
    say(f"thresher: {sentence}")
    _forget_output()
    return 2


def _forget_output() -> None:
    """Discard unwritten output, so that Python does not try to flush it at exit."""
    with suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        try:
            sys.stdout.flush()
        except OSError:
            os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)


def go_on(stage: str, documents: int, share: float | None) -> None:
    """Check for a lost Ctrl-C; progress function for when nothing is shown."""
    process.stop_if_asked()


def say(sentence: str) -> None:
    """Print a notice on stderr."""
    _compiling.erase()
    sys.stderr.write(f"{escaped(sentence)}\n")


def tell(sentence: str) -> None:
    """Print a line that may contain names from the data on stdout."""
    show(escaped(sentence))


def show(text: str) -> None:
    """Print a text on stdout as it is."""
    sys.stdout.write(f"{text}\n")


def text(words: str, style: str = "") -> RichText:
    """Return a text for a table; control characters in it are shown escaped."""
    from rich.text import Text

    return Text(escaped(words), style)


def smaller_ones(number: int) -> RichText:
    """Return the first cell of the row for categories that are not shown."""
    return text(counted(number, "smaller one"), style="dim")


def size(n_bytes: int) -> str:
    """Return the size of a file in kB or MB."""
    return f"{n_bytes / 1e6:.1f} MB" if n_bytes >= 1e6 else f"{n_bytes / 1e3:.1f} kB"


def show_json(value: Any) -> None:
    """Print a value as a line of JSON."""
    sys.stdout.write(json_line(value) + "\n")


def json_line(value: Any) -> str:
    """Return a value as JSON; in ASCII if stdout cannot encode all of its characters."""
    return encodable_json(_as_json(value))


def encodable_json(text: str) -> str:
    """Return JSON with all characters escaped that stdout cannot encode, if there are any."""
    try:
        if not text.isascii():
            text.encode(sys.stdout.encoding or "utf-8")
    except UnicodeEncodeError:  # or half of a surrogate pair, for which JSON has an escape too
        return re.sub(r"[^\x00-\x7f]", lambda character: json.dumps(character[0])[1:-1], text)
    return text


def typed(text: str) -> str:
    """Return an argument as text; bytes in it that are not UTF-8 are replaced."""
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def console() -> Console:
    """Return the console for tables and coloured text."""
    from rich.console import Console

    return Console(highlight=False, soft_wrap=False, markup=False, emoji=False)


def table(first: str, *others: str, fold: bool = False) -> Table:
    """Return a table with a first column of names and further columns of numbers."""
    from rich.table import Table

    empty = Table(box=None, pad_edge=False, padding=(0, 1))
    empty.add_column(first, no_wrap=not fold, overflow="fold" if fold else "ellipsis")
    for heading in others:
        empty.add_column(heading, justify="right", no_wrap=True)
    return empty


def load_model(model: str, threads: int | None = None, codes: str | None = None) -> Categorizer:
    """Load a model; if there is a file of codes and names, rename its categories."""
    from thresher.categorizer import Categorizer

    categorizer = Categorizer.load(model)
    categorizer.n_jobs = threads or categorizer.n_jobs
    if codes is not None:
        from thresher.cli._names import show_names

        show_names(categorizer, codes)
    return categorizer


@contextmanager
def changed_model(
    model: str, output: str | None, threads: int, *, keep_previous: bool = False
) -> Iterator[Categorizer]:
    """Load a model that is saved when the block ends; other writers wait."""
    from thresher.categorizer import Categorizer

    updating = Categorizer.updating(model, output, keep_previous=keep_previous, tell=say)
    with updating as categorizer:
        categorizer.n_jobs = threads
        yield categorizer


def open_documents(
    data: list[str] | None,
    reading: Reading,
    *,
    labelled: bool = True,
    split: str = "train",
    familiar: Columns | None = None,
    keep: Sequence[str] | None = None,
) -> Documents:
    """Open the documents that the arguments name.

    Parameters
    ----------
    labelled : bool, default=True
        Whether to look for labels.
    split : str, default="train"
        The split of a corpus, if the argument does not name one.
    familiar : Columns, optional
        The columns of training, which are used unless others are given.
    keep : sequence of str, optional
        The columns to copy, as for `read_documents`.
    """
    from thresher import corpora

    if reading.on_error not in ("stop", "skip"):
        raise DocumentError(f"--on-error is {reading.on_error!r}; it must be stop or skip.")
    sources = data or ["-"]
    if sources == ["-"] and sys.stdin and sys.stdin.isatty():
        say("thresher: reading documents from the keyboard, one a line; end with Ctrl-D.")
    return corpora.open_documents(
        sources[0] if len(sources) == 1 else [Path(source) for source in sources],
        reading.labels if labelled else False,
        split=split,
        text=reading.text.split(",") if reading.text else None,
        label_separator=reading.separator,
        format=reading.format,
        on_error=reading.on_error,
        familiar=familiar,
        keep=keep,
        **reading.files._asdict(),
    )


def print_answers(
    categorizer: Categorizer, documents: Documents, options: AnswerOptions, as_json: bool
) -> None:
    """Print a line for each document."""
    from thresher.answers.table import map_answers
    from thresher.model.source import LabelledSource

    def lines(answers: Answers) -> str:
        if as_json:
            return encodable_json(str(answers.json_lines(), "utf-8"))
        return "".join(f"{line}\n" for line in answers.text_lines())

    with progress() as show:
        source = LabelledSource(documents, None, None, categorizer.fields, show)
        shared, n_jobs = categorizer.shared_, categorizer.n_jobs_
        for text in map_answers(lines, shared, source, options, n_jobs):
            sys.stdout.write(text)  # a batch at a time


def write_answers(
    output: str,
    categorizer: Categorizer,
    documents: Documents,
    extra_columns: Sequence[str],
    options: AnswerOptions,
    as_json: bool,
) -> None:
    """Write a file with a row for every document, and print how many there are."""
    from thresher.answers import files
    from thresher.model.source import LabelledSource

    with progress() as show:
        source = LabelledSource(documents, None, None, categorizer.fields, show)
        shared, n_jobs = categorizer.shared_, categorizer.n_jobs_
        n_rows = files.write_answers(output, shared, source, options, extra_columns, n_jobs)
    wrote_results(output, n_rows, as_json)


def wrote_results(output: str, n_rows: int, as_json: bool) -> None:
    """Print where the results are."""
    if as_json:
        show_json({"output": output, "rows": n_rows})
    else:
        tell(f"Wrote {output}: {counted(n_rows, 'row')}.")


def check_results(output: str | None, keep: str | None) -> tuple[str, ...]:
    """Return the columns to copy; raise an error if there is no file for them."""
    if output is not None:
        from thresher.answers.files import check_results

        check_results(output)
    elif keep is not None:
        raise ParameterError("--keep needs -o FILE: the columns are copied into that file.")
    return tuple(dict.fromkeys(name.strip() for name in keep.split(","))) if keep else ()


def check_named(output: str, kind: str, format: str | None) -> None:
    """Raise an error if the name of an output file belongs to another format than its records.

    If `format` is given, only Parquet and text formats are distinguished.
    """
    from thresher.documents.streams import format_of_name

    named = format_of_name(output)
    alike = ("csv", "tsv") if kind in ("csv", "tsv") else (kind,)
    if named not in (None, *alike) and (format is None or "parquet" in (named, kind)):
        raise DocumentError(
            f"{output}: records are passed on as they are, {READERS[kind].title}; "
            "give the file a name that says so."
        )


def report_reading(documents: Documents, columns: bool = True) -> None:
    """Print which columns were guessed and which documents were left out or repaired."""
    if columns and "guessed" in documents.columns_note:
        say(f"{documents.columns_note}.")
    report_notes(documents)
    if documents.decoding_errors:
        say(f"Not UTF-8, bad bytes replaced: {counted(documents.decoding_errors, 'document')}.")
    if documents.n_skipped:
        say(f"Left out: {counted(documents.n_skipped, 'document')}.")
        for sentence in documents.skipped[:10]:
            say(f"  {sentence}")


def report_notes(documents: Documents) -> None:
    """Print what was assumed of the formats and encodings of files."""
    if documents.notes:
        from thresher.cli._options import as_option

        for note in documents.notes_with(as_option):
            say(note)


@contextmanager
def bar(*columns: str) -> Iterator[Any]:
    """Show a progress bar on stderr; None if that is not a terminal.

    A column is a class of `rich.progress` or a format string with fields of the task.
    """
    if not sys.stderr.isatty():
        yield None
        return
    from rich import progress
    from rich.console import Console

    class Bar(progress.Progress):
        """A progress bar with a line for the kernel that is being compiled."""

        def get_renderables(self) -> Iterator[Any]:
            yield from super().get_renderables()
            if note := _compiling.note():
                yield note

    drawn = [getattr(progress, name)() if name.isidentifier() else name for name in columns]
    with (
        _compiling.shown_by_others(),
        Bar(*drawn, console=Console(stderr=True), transient=True) as shown,
    ):
        yield shown


@contextmanager
def progress() -> Iterator[Callable[[str, int, float | None], None]]:
    """Show documents, documents per second and remaining time on stderr, if it is a terminal."""
    numbers = ("{task.fields[documents]}", "{task.fields[rate]:,.0f}/s")
    with bar("{task.description}", "BarColumn", *numbers, "TimeRemainingColumn") as shown:
        tasks: dict[str, Any] = {}

        def show(stage: str, documents: int, share: float | None) -> None:
            go_on(stage, documents, share)
            if stage not in tasks:
                for task in tasks.values():
                    shown.update(task, visible=False)
                tasks[stage] = shown.add_task(stage, total=None, documents="", rate=0.0)
            task = tasks[stage]
            elapsed = shown.tasks[task].elapsed or 1e-9
            rate = documents / elapsed
            shown.update(task, documents=counted(documents, "document"), rate=rate)
            if share is not None:
                shown.update(task, total=1.0, completed=share)

        yield show if shown else go_on
