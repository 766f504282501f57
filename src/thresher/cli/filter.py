"""thresher filter: copy the records that a model selects."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from json import dumps
from math import isnan
from typing import TYPE_CHECKING, Annotated, Any, BinaryIO, cast

from thresher.cli import common
from thresher.cli.declare import Option
from thresher.errors import DocumentError, ParameterError, counted
from thresher.files import replace_file

if TYPE_CHECKING:
    import numpy as np

    from thresher.categorizer import Categorizer
    from thresher.documents import Documents
    from thresher.documents.records import RecordWriter, TableWriter

Categories = Annotated[
    list[str] | None,
    Option(
        metavar="NAME",
        help="Pass records of this category. Can be repeated, for records of any of them. "
        "Default: records of any category.",
    ),
]
Above = Annotated[
    float | None,
    Option(
        metavar="NUMBER",
        help="Pass records whose probability for the category is above this number; the score "
        "if the model has no probabilities. Default: the decision of `predict`.",
    ),
]
Target = Annotated[
    str | None,
    Option(
        *("--output", "-o"),
        metavar="FILE",
        help="The file for the records, compressed if it ends in .gz, .zst or .bz2. Default: "
        "standard output.",
    ),
]


@common.verb(
    "filter model.thresher crawl.jsonl.gz --category quality --above 0.8 -o kept.jsonl.gz",
    replaces="data",
)
def filter(
    model: common.Model,
    data: common.Data = None,
    category: Categories = None,
    above: Above = None,
    scores: Annotated[
        bool, Option("--scores", help="Use the score even if the model has probabilities.")
    ] = False,
    others: Annotated[bool, Option("--not", help="Pass the other records instead.")] = False,
    add: Annotated[
        str | None,
        Option(
            metavar="FIELD",
            help="Pass all records, and write the probability or score into this new field.",
        ),
    ] = None,
    output: Target = None,
    rejected: Annotated[
        str | None,
        Option(metavar="FILE", help="The file for records that cannot be read."),
    ] = None,
    text: common.Text = None,
    format: common.Format = None,
    threads: common.Threads = 1,
    on_error: common.OnError = "stop",
    files: common.Files = common.Files(),
    json: common.Json = False,
) -> None:
    """Copy the records that a model selects.

    A record is a line of JSON, fastText or plain text, or a row of CSV, TSV or Parquet. Records are
    copied without changes, in their order. A summary is printed on standard error.
    """
    _check(above, scores, others, add, output, rejected)
    categorizer = common.load_model(model, threads)
    choice = Choice(categorizer, category or [], above, scores, add is not None)
    on_error = "skip" if rejected else on_error
    reading = common.Reading(text, format=format, on_error=on_error, files=files)
    documents = common.open_documents(
        data, reading, labelled=False, split="test", familiar=categorizer.columns_
    )
    n_kept = _copy(documents, choice, others, (output, rejected), format, add)
    common.report_reading(documents)
    summary = {
        "records": documents.n_documents,
        "kept": n_kept,
        "left_out": documents.n_skipped,
        "measure": choice.measure,
        "categories": choice.names,
        "above": above,
        "not": others,
        "added": add,
    }
    if not json:
        common.say(f"{_sentence(summary)}.")
    elif output:
        common.show_json(summary)
    else:  # standard output has the records
        common.say(dumps(summary))


def _check(
    above: float | None,
    scores: bool,
    others: bool,
    add: str | None,
    output: str | None,
    rejected: str | None,
) -> None:
    """Raise an error if options exclude each other."""
    if add is not None and not add.strip():
        raise ParameterError(f"--add is {add!r}; name the field that the number is written to.")
    if add is not None and (above is not None or others):
        raise ParameterError("--add keeps every record; leave out --above and --not.")
    if scores and add is None and above is None:
        raise ParameterError("--scores goes with --above or --add; without, the model decides.")
    if output and rejected and os.path.realpath(output) == os.path.realpath(rejected):
        raise ParameterError(f"--output and --rejected are the same file, {output}; name two.")


def _copy(
    documents: Documents,
    choice: Choice,
    others: bool,
    paths: tuple[str | None, str | None],
    format: str | None,
    add: str | None,
) -> int:
    """Copy the chosen records, or the others, and return their number.

    The `paths` are those of the output and of the records that cannot be read.
    """
    from thresher.documents.records import LineFile

    output, rejected = paths
    n_kept, writer = 0, cast(Any, None)
    with _opened(output) as file, _opened(rejected) if rejected else nullcontext() as bad:
        documents.keep_records(LineFile(bad).write if bad else lambda record: None)
        with common.progress() as progress:
            for batch, scores in choice.model.score_batches(documents, progress=progress):
                writer = writer or _writer(file, documents, output, format, add)
                chosen, values = choice(scores)
                chosen = chosen != others
                writer.write(batch, chosen, values)
                n_kept += int(chosen.sum())
        if writer is None and documents.opening is not None:  # a header without records
            writer = _writer(file, documents, output, format, add)
        if writer is not None:
            writer.close()
        sys.stdout.flush()  # before the notices on stderr
    return n_kept


class Choice:
    """Selects records: by the decision of the model, or by a probability or score.

    Parameters
    ----------
    categorizer : Categorizer
        The model.
    names : list of str
        The categories; empty for any category.
    above : float or None
        The number that the probability or score must exceed; `None` for the model's decision.
    scores : bool
        Whether to use scores even if the model has probabilities.
    adds : bool
        Whether to return the probability or score of every record; all are selected.
    """

    def __init__(
        self,
        categorizer: Categorizer,
        names: list[str],
        above: float | None,
        scores: bool,
        adds: bool,
    ) -> None:
        from thresher.parameters import names_of

        known = categorizer.categories_
        self.names = names or (known if len(known) == 1 else [])
        number = categorizer.model_.categories.number
        self._numbers = [number(name) for name in self.names] or list(range(len(known)))
        self.model, self._above = categorizer, above
        self.measure = "decision"
        if adds or above is not None:
            self.measure = "probability"
            if scores or not categorizer.model_.has_probabilities:
                self.measure = "score"
        if adds and len(self._numbers) != 1:
            raise ParameterError(f"--add needs one --category, of {names_of(known)}.")
        if above is not None and isnan(above):
            raise ParameterError("--above is nan; it must be a number.")
        if self.measure == "probability" and above is not None and not 0 <= above <= 1:
            raise ParameterError(
                f"--above is {above:g}; a probability is from 0 to 1 (--scores takes the score)."
            )
        if self.measure == "decision" and not self.names and _decides_always(categorizer):
            raise ParameterError(
                "Every document gets a category of this model; say which to keep (--category) or "
                f"how sure it must be (--above). It has {names_of(known)}."
            )

    def __call__(self, scores: np.ndarray) -> tuple[np.ndarray, np.ndarray | None]:
        """Return which records are selected, given their scores, and the numbers to add."""
        if self.measure == "decision":
            decided = self.model.decisions_.decide(scores)
            return decided[:, self._numbers].max(axis=1), None
        numbers = scores if self.measure == "score" else self.model.probabilities(scores)
        highest = numbers[:, self._numbers].max(axis=1)
        if self._above is None:
            return highest == highest, highest
        return highest > self._above, None


def _decides_always(categorizer: Categorizer) -> bool:
    decisions = categorizer.decisions_
    if decisions.mode == "single-label":
        return not decisions.allow_none and decisions.abstain_below is None
    return decisions.at_least > 0


@contextmanager
def _opened(path: str | None) -> Iterator[BinaryIO]:
    """Open a file that is written completely or not at all, or standard output."""
    from thresher.documents.streams import compression_of_name, packed

    if path is None:
        yield sys.stdout.buffer
        return
    with (
        replace_file(path) as temporary,
        open(temporary, "wb") as file,
        packed(file, compression_of_name(path)) as opened,
    ):
        yield opened


def _writer(
    file: BinaryIO, documents: Documents, output: str | None, format: str | None, add: str | None
) -> RecordWriter | TableWriter:
    """Return a writer for the records; the first batch has been read before."""
    from thresher.documents.records import RecordWriter, TableWriter

    opening = documents.opening
    assert opening is not None
    is_parquet = opening.format == "parquet"
    common.check_named(output or "", opening.format, format)
    if is_parquet and output is None and sys.stdout.isatty():
        raise DocumentError("Parquet cannot be shown; say where it goes (-o FILE).")
    return (TableWriter if is_parquet else RecordWriter)(file, opening, add)


def _sentence(summary: dict[str, Any]) -> str:
    names = " or ".join(f'"{name}"' for name in summary["categories"]) or "any category"
    records = counted(summary["records"], "record")
    if summary["added"] is not None:
        return f'Wrote the {summary["measure"]} of {names} into {records}, as "{summary["added"]}"'
    is_not = "not " * summary["not"]
    which = f"those {is_not}in {names}"
    if summary["above"] is not None:
        which = f"those whose {summary['measure']} of {names} is {is_not}above {summary['above']:g}"
    return f"Kept {summary['kept']:,} of {records}: {which}"
