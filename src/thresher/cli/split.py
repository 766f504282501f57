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
    import numpy as np

    from thresher.documents import Documents

MOST_COMPARED = 200_000  # documents among which duplicates are looked for unasked
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

DataFile = Annotated[
    str,
    Argument(
        metavar="DATA",
        help="A file: CSV, TSV, JSON lines, Parquet, fastText or plain lines.",
    ),
]
GroupDuplicates = Annotated[
    bool,
    Option(
        "--group-duplicates",
        help="Keep duplicates and near duplicates together: texts that have at least 80 % of "
        "their words in common.",
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
    data: DataFile,
    test: Annotated[
        float, Option(metavar="SHARE", help="The share of documents in the test file.")
    ] = 0.2,
    group: Group = None,
    time: Time = None,
    group_duplicates: GroupDuplicates = False,
    output: Targets = None,
    seed: Annotated[int, Option(min=0, max=2**32 - 1, help="The seed of the random split.")] = 0,
    text: common.Text = None,
    labels: common.LabelColumn = None,
    separator: common.Separator = None,
    format: common.Format = None,
    on_error: common.OnError = "stop",
    files: common.Files = common.Files(),
    json: common.Json = False,
) -> None:
    """Divide a file into a training and a test file.

    Each category is divided in the same proportion, unless --group, --time or --group-duplicates is
    given. Records are copied without changes, in their order. The same seed gives the same files.
    """
    _check_options(test, (group is not None) + (time is not None) + group_duplicates)
    import numpy as np

    from thresher.documents import read_documents
    from thresher.documents.dividing import divide_file

    named = [name for name in (text, labels, group, time) if name]
    kind = _kind(data, format, named, files.encoding)
    targets = output or _beside(data, kind)
    _check_targets(data, targets, kind, format, is_named=output is not None)
    column = group or time
    columns = text.split(",") if text else None
    how: Any = {"format": format, "on_error": on_error, **files._asdict()}
    documents = read_documents(
        data,
        text=[column] if column else columns,
        labels=False if column else labels,
        label_separator=separator,
        keep=(),  # batches have the skipped documents
        **how,
    )
    with common.progress() as progress:
        locations, values, texts, skipped = _read(documents, column is None, progress)
        if column:
            texts = _other_texts(read_documents(data, text=columns, labels=False, **how))
        alike = _alike(texts, len(locations), group_duplicates)
        if group:
            chosen, sentence = _by_group(values, group, test, seed)
        elif time:
            chosen, sentence = _by_time(values, locations, time, test)
        elif group_duplicates:
            chosen, sentence = _by_duplicates(alike, test, seed)
        else:
            chosen, sentence = _by_category(values, test, seed)
        is_test = np.zeros(len(locations), bool)
        is_test[chosen] = True
        how = {"encoding": files.encoding, "max_document_mb": files.max_document_mb}
        divide_file(data, kind, *_sides(locations, is_test, skipped), targets, **how)
    common.report_reading(documents, columns=column is None)
    _report_duplicates(alike, is_test)
    n_test = int(is_test.sum())
    _report(targets, (len(locations) - n_test, n_test), sentence, json)


def _check_options(test: float, n_ways: int) -> None:
    """Raise `ParameterError` for an impossible share, or several ways to divide the file."""
    if not 0 < test < 1:
        raise ParameterError(f"--test is {test:g}; it must be a share between 0 and 1.")
    if n_ways > 1:
        raise ParameterError(
            "--group, --time and --group-duplicates do not go together; give one of them."
        )


def _sides(
    locations: Sequence[str], is_test: np.ndarray, skipped: Sequence[str]
) -> tuple[list[int], np.ndarray]:
    """Return the number of each record in ascending order, and its side: -1 if it is skipped."""
    import numpy as np

    numbers = np.array([*map(_number_of, locations), *map(_number_of, skipped)])
    sides, order = np.append(is_test, np.full(len(skipped), -1)), np.argsort(numbers)
    return numbers[order].tolist(), sides[order]


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


def _read(
    documents: Documents, wants_labels: bool, progress: Any
) -> tuple[list[str], list[Any], list[str], list[str]]:
    """Return the location of each document, its labels or its text, and its text.

    The last list has the locations of skipped documents.
    """
    locations: list[str] = []
    skipped: list[str] = []
    values: list[Any] = []
    texts: list[str] = []
    for batch in documents:
        locations += list(batch.locations)
        skipped += [document.location for document in batch.skipped]
        texts += batch.texts.to_pylist()
        if wants_labels:
            values += batch.labels or [[]] * len(batch)
        total = documents.bytes_total
        progress("reading", len(locations), documents.bytes_read / total if total else None)
    values = values if wants_labels else [text.strip() for text in texts]
    return locations, values, texts, skipped


def _number_of(location: str) -> int:
    """Return the line or the row of a document by its location."""
    return int(location[len(location.rstrip("0123456789")) :])


def _other_texts(documents: Documents) -> list[str]:
    """Return the texts of documents that are divided by another column; none if unknown."""
    try:
        return [text for batch in documents for text in batch.texts.to_pylist()]
    except DocumentError:  # no column is obviously the text
        return []


def _alike(texts: list[str], n: int, is_asked_for: bool) -> Any:
    """Return the group of duplicates of each document, if they are looked for."""
    import numpy as np

    from thresher.evaluation.duplicates import duplicate_groups

    if len(texts) == n and (is_asked_for or n <= MOST_COMPARED):
        return duplicate_groups(texts)
    if len(texts) == n:
        common.say(
            f"There are {n:,} documents, too many to look for duplicates unless you ask for it "
            "(--group-duplicates)."
        )
    return np.arange(n)


def _report_duplicates(alike: Any, is_test: Any) -> None:
    """Warn of documents in the test file that are like some in the training file."""
    import numpy as np

    n_alike = int(np.isin(alike[is_test], alike[~is_test]).sum())
    if n_alike:
        are = (
            "is a duplicate or near duplicate"
            if n_alike == 1
            else "are duplicates or near duplicates"
        )
        common.say(
            f"{n_alike:,} of {counted(int(is_test.sum()), 'test document')} {are} of training "
            "documents, so that figures will be too good; --group-duplicates keeps them together."
        )


def _by_group(groups: list[str], column: str, share: float, seed: int) -> tuple[Any, str]:
    from thresher.evaluation.folds import hold_out_groups

    keys = [group or i for i, group in enumerate(groups)]  # without a group: a group of one
    chosen = hold_out_groups(keys, share, random_state=seed)[0]
    n_train, n_test = (len({keys[i] for i in documents.tolist()}) for documents in chosen)
    n_alone = groups.count("")
    alone = f"; {counted(n_alone, 'document')} without a group, each on its own" if n_alone else ""
    sentence = f'By "{column}": {counted(n_train, "group")} for training, {n_test:,} for testing'
    return chosen.test, f"{sentence}{alone}; seed {seed}."


def _by_duplicates(alike: Any, share: float, seed: int) -> tuple[Any, str]:
    from thresher.evaluation.folds import hold_out_groups

    chosen = hold_out_groups(alike.tolist(), share, random_state=seed)[0]
    n_alike = len(alike) - len(set(alike.tolist()))
    return chosen.test, (
        f"A random split with duplicates together: {counted(n_alike, 'document')} "
        f"{'is' if n_alike == 1 else 'are'} like an earlier one; seed {seed}."
    )


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
