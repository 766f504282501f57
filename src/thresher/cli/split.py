"""thresher split: divide a file of documents into a training and a test file."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from math import isfinite
from typing import TYPE_CHECKING, Annotated, Any

from thresher.cli import common
from thresher.cli.declare import Argument, Option
from thresher.errors import DocumentError, OutputError, ParameterError, brief, counted
from thresher.files import check_writable

if TYPE_CHECKING:
    from thresher.documents import Documents

MOST_NAMED = 5  # categories listed that are only in the test file

Targets = Annotated[
    tuple[str, str] | None,
    Option(
        *("--output", "-o"),
        metavar="TRAIN TEST",
        help="The two output files. For tickets.csv, the default is tickets-train.csv and "
        "tickets-test.csv.",
    ),
]

Group = Annotated[
    str | None,
    Option(
        metavar="COLUMN",
        help="Keep documents with the same value in this column together, e.g. author.",
    ),
]
Time = Annotated[
    str | None,
    Option(
        metavar="COLUMN",
        help="Put the newest documents into the test file, by a column of dates (2024-05-31) or "
        "numbers.",
    ),
]


@common.verb("split tickets.csv --test 0.2 --labels team")
def split(
    data: Annotated[
        str,
        Argument(
            metavar="DATA", help="A file: CSV, TSV, JSON lines, Parquet, fastText or plain lines."
        ),
    ],
    test: Annotated[
        float, Option(metavar="SHARE", help="The share of documents in the test file.")
    ] = 0.2,
    group: Group = None,
    time: Time = None,
    output: Targets = None,
    seed: Annotated[int, Option(min=0, max=2**32 - 1, help="The seed of the random split.")] = 0,
    text: common.Text = None,
    labels: common.LabelColumn = None,
    separator: common.Separator = None,
    format: common.Format = None,
    files: common.Files = common.Files(),
    json: common.Json = False,
) -> None:
    """Divide a file into a training and a test file.

    Each category is divided in the same proportion, unless --group or --time is given. Records are
    copied without changes, in their order. The same seed gives the same files.
    """
    if not 0 < test < 1:
        raise ParameterError(f"--test is {test:g}; it must be a share between 0 and 1.")
    if group and time:
        raise ParameterError("--group and --time do not go together; give one of them.")
    import numpy as np

    from thresher.documents import read_documents
    from thresher.documents.dividing import divide_file

    columns = [name for name in (text, labels, group, time) if name]
    kind = _kind(data, format, columns, files.encoding)
    targets = output or _beside(data, kind)
    _check_targets(data, targets, kind, format, is_named=output is not None)
    column = group or time
    text_columns: Any = [column] if column else text.split(",") if text else None
    documents = read_documents(
        data,
        text=text_columns,
        labels=False if column else labels,
        label_separator=separator,
        format=format,
        **files._asdict(),
    )
    with common.progress() as progress:
        locations, values = _read(documents, column is None, progress)
        if group:
            chosen, sentence = _by_group(values, group, test, seed)
        elif time:
            chosen, sentence = _by_time(values, locations, time, test)
        else:
            chosen, sentence = _by_category(values, test, seed)
        numbers = [int(location[len(location.rstrip("0123456789")) :]) for location in locations]
        is_test = np.zeros(len(locations), bool)
        is_test[chosen] = True
        how: Any = {"encoding": files.encoding, "max_document_mb": files.max_document_mb}
        divide_file(data, kind, numbers, is_test, targets, **how)
    common.report_reading(documents, columns=column is None)
    n_test = int(is_test.sum())
    _report(targets, (len(locations) - n_test, n_test), sentence, json)


def _check_targets(
    data: str, targets: tuple[str, str], kind: str, format: str | None, is_named: bool
) -> None:
    """Raise an error if the two files cannot be written; unnamed files must not exist."""
    for target in targets:
        check_writable(target)
        if is_named:
            common.check_named(target, kind, format)
        elif os.path.exists(target):
            raise OutputError(f"{target} already exists; to replace it, name both files by -o.")
    if len({os.path.realpath(path) for path in (data, *targets)}) < 3:
        raise OutputError(f"{data}, {' and '.join(targets)} must be three different files.")


def _report(targets: tuple[str, str], sizes: tuple[int, int], sentence: str, as_json: bool) -> None:
    if as_json:
        names = ("train", "test")
        files = {
            name: {"file": target, "documents": n}
            for name, target, n in zip(names, targets, sizes, strict=True)
        }
        common.show_json(files | {"how": sentence})
        return
    for target, n in zip(targets, sizes, strict=True):
        common.show(f"{target}: {counted(n, 'document')} ({n / sum(sizes):.1%})")
    common.tell(sentence)


def _kind(data: str, format: str | None, columns: Sequence[str], encoding: str | None) -> str:
    """Return the format of the file; raise an error if its records cannot be copied."""
    from thresher.corpora import is_corpus_spec
    from thresher.documents.dividing import DIVISIBLE
    from thresher.documents.streams import format_of_file

    if is_corpus_spec(data):
        raise DocumentError(f"{data}: is a corpus, which is divided as it is (thresher corpus).")
    if os.path.isdir(data) or data == "-":
        what = "a folder" if os.path.isdir(data) else "standard input"
        raise DocumentError(f"{data}: is {what}; only a file can be divided.")
    if not os.path.isfile(data):
        raise DocumentError(f"{data}: there is no such file; check its name.")
    kind = format or format_of_file(data, columns, encoding)
    if kind not in DIVISIBLE:
        raise DocumentError(
            f"{data}: has the format {kind}; the formats that can be divided are "
            f"{', '.join(DIVISIBLE)}."
        )
    return kind


def _beside(data: str, kind: str) -> tuple[str, str]:
    """Return names for the two files, such as data-train.csv and data-test.csv."""
    from thresher.documents.streams import compression_of_name

    folder, name = os.path.split(data)
    end = ""
    if compression_of_name(name):
        name, end = os.path.splitext(name)
    stem, suffix = os.path.splitext(name)
    end = suffix if kind == "parquet" else suffix + end  # Parquet compresses its columns
    train, test = (os.path.join(folder, f"{stem}-{name}{end}") for name in ("train", "test"))
    return train, test


def _read(documents: Documents, wants_labels: bool, progress: Any) -> tuple[list[str], list[Any]]:
    """Return the location of each document, and its labels or its text."""
    locations: list[str] = []
    values: list[Any] = []
    for batch in documents:
        locations += list(batch.locations)
        if wants_labels:
            values += batch.labels or [[]] * len(batch)
        else:
            values += [text.strip() for text in batch.texts.to_pylist()]
        total = documents.bytes_total
        progress("reading", len(locations), documents.bytes_read / total if total else None)
    return locations, values


def _by_group(groups: list[str], column: str, share: float, seed: int) -> tuple[Any, str]:
    from thresher.evaluation.folds import hold_out_groups

    keys = [group or i for i, group in enumerate(groups)]  # without a group: a group of one
    chosen = hold_out_groups(keys, share, random_state=seed)[0]
    n_train, n_test = (len({keys[i] for i in documents.tolist()}) for documents in chosen)
    n_alone = groups.count("")
    alone = f"; {counted(n_alone, 'document')} without a group, each on its own" if n_alone else ""
    sentence = f'By "{column}": {counted(n_train, "group")} for training, {n_test:,} for testing'
    return chosen.test, f"{sentence}{alone}; seed {seed}."


def _by_time(values: list[str], locations: list[str], column: str, share: float) -> tuple[Any, str]:
    from thresher.evaluation.folds import hold_out_newest

    times = _times(values, locations, column)
    chosen = hold_out_newest(times, share)[0]
    last, first = max(chosen.train, key=times.__getitem__), min(chosen.test, key=times.__getitem__)
    ends = f"training up to {values[last]}, testing from {values[first]} on"
    return chosen.test, f'By "{column}": {ends}.'


def _times(values: list[str], locations: list[str], column: str) -> list[Any]:
    """Return times that can be sorted, all in the format of the first one."""
    times: list[Any] = []
    read: Callable[[str], Any] | None = None
    for value, location in zip(values, locations, strict=True):
        for kind in (read,) if read else (_number, datetime.fromisoformat, parsedate_to_datetime):
            with suppress(ValueError, TypeError):
                times.append(kind(value))
                read = kind
                break
        else:
            like = f", or not one like {values[0]!r}" if read else ""
            raise DocumentError(
                f'{location}: "{column}" is {brief(value)}, which is no time{like}; dates such as '
                "2024-05-31 are, and numbers."
            )
    if read is _number:
        return times
    return [time if time.tzinfo else time.replace(tzinfo=UTC) for time in times]


def _number(value: str) -> float:
    number = float(value)
    if not isfinite(number):
        raise ValueError(value)
    return number


def _by_category(label_lists: list[list[Any]], share: float, seed: int) -> tuple[Any, str]:
    from thresher.evaluation.folds import hold_out
    from thresher.model.categories import Categories

    categories = Categories()
    labels = categories.encode(label_lists, grow=True)
    chosen = hold_out(labels, share, random_state=seed)[0]
    if not len(categories):
        return (
            chosen.test,
            f"A random split, as no labels are known (--labels names their column); seed {seed}.",
        )
    trained = set(labels.take(chosen.train).indices.tolist())
    only_test = [name for c, name in enumerate(categories.names) if c not in trained]
    more = f" and {len(only_test) - MOST_NAMED} more" if len(only_test) > MOST_NAMED else ""
    lost = (
        f" Only in the test file: {', '.join(only_test[:MOST_NAMED])}{more}." if only_test else ""
    )
    many = counted(len(categories), "category")
    return chosen.test, f"A random split, stratified by {many}; seed {seed}.{lost}"
