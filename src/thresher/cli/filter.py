"""thresher filter: records in, the same records out, those that the model chooses."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from json import dumps
from math import isnan
from typing import TYPE_CHECKING, Annotated, Any, BinaryIO

from thresher.cli import common
from thresher.cli.declare import Option
from thresher.errors import DocumentError, ParameterError, counted
from thresher.files import replace_file

if TYPE_CHECKING:
    import numpy as np

    from thresher.categorizer import Categorizer
    from thresher.documents import Documents
    from thresher.documents.records import RecordWriter, TableWriter


@common.verb(
    "filter model.thresher crawl.jsonl.gz --category quality --above 0.8 -o kept.jsonl.gz",
    replaces="data",
)
def filter(
    model: common.Model,
    data: common.Data = None,
    category: Annotated[
        list[str] | None,
        Option(
            metavar="NAME",
            help="Keep the records of this category; repeated, of any of them. Default: of any.",
        ),
    ] = None,
    above: Annotated[
        float | None,
        Option(
            metavar="NUMBER",
            help="Keep records whose probability for it is above this, or whose score, where the "
            "model has no probabilities. Default: what `predict` decides.",
        ),
    ] = None,
    scores: Annotated[
        bool, Option("--scores", help="Take the score even if the model has probabilities.")
    ] = False,
    others: Annotated[bool, Option("--not", help="Keep the other records instead.")] = False,
    add: Annotated[
        str | None,
        Option(
            metavar="FIELD",
            help="Keep every record, and write the probability or score into this new field.",
        ),
    ] = None,
    output: Annotated[
        str | None,
        Option(
            *("--output", "-o"),
            metavar="FILE",
            help="Where records go; .gz, .zst and .bz2 are compressed. Default: standard output.",
        ),
    ] = None,
    rejected: Annotated[
        str | None,
        Option(metavar="FILE", help="Where records go that cannot be read; default: --on-error."),
    ] = None,
    text: common.Text = None,
    format: common.Format = None,
    threads: common.Threads = 1,
    on_error: common.OnError = "stop",
    json: common.Json = False,
) -> None:
    """Pass on the records that the model chooses, untouched and in order.

    A record is a line of JSON, fastText or plain text, or a row of CSV, TSV or Parquet.

    How many were kept is said on standard error, and whether by probability or score.
    """
    from thresher.documents.records import LineFile

    if add is not None and not add.strip():
        raise ParameterError(f"--add is {add!r}; name the field that the number is written to.")
    if add is not None and (above is not None or others):
        raise ParameterError("--add keeps every record; leave out --above and --not.")
    if scores and add is None and above is None:
        raise ParameterError("--scores goes with --above or --add; without, the model decides.")
    if output and rejected and os.path.realpath(output) == os.path.realpath(rejected):
        raise ParameterError(f"--output and --rejected are the same file, {output}; name two.")
    categorizer = common.load_model(model, threads)
    choice = Choice(categorizer, category or [], above, scores, add is not None)
    reading = common.Reading(text, format=format, on_error="skip" if rejected else on_error)
    documents = common.open_documents(
        data, reading, labelled=False, split="test", familiar=categorizer.columns_
    )
    n_kept = 0
    with _opened(output) as file, _opened(rejected) if rejected else nullcontext() as bad:
        documents.keep_records(LineFile(bad).write if bad else lambda record: None)
        writer: Any = None
        with common.progress() as progress:
            for batch, table in categorizer.score_batches(documents, progress=progress):
                writer = writer or _writer(file, documents, output, format, add)
                chosen, values = choice(table)
                chosen = chosen != others
                writer.write(batch, chosen, values)
                n_kept += int(chosen.sum())
        if writer is None and documents.opening is not None:  # a header, and nothing below it
            writer = _writer(file, documents, output, format, add)
        if writer is not None:
            writer.close()
        sys.stdout.flush()  # before anything is said of it
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
    else:  # standard output is the records'
        common.say(dumps(summary))


class Choice:
    """What makes a record pass: a decision of the model, or a number above another.

    Parameters
    ----------
    categorizer : Categorizer
        The model.
    names : list of str
        The categories that are asked for; none for any.
    above : float or None
        What the number must exceed; `None` for the model's own decision.
    scores : bool
        Whether the number is the score even if the model has probabilities.
    adds : bool
        Whether the number is wanted for every record, which all pass.
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
        self._model, self._above = categorizer, above
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
        """Return which records pass, given their scores, and the number that is added to each."""
        if self.measure == "decision":
            decided = self._model.decisions_.decide(scores)
            return decided[:, self._numbers].max(axis=1), None
        numbers = scores if self.measure == "score" else self._model.probabilities(scores)
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
    """Give a file that is written whole or not at all, packed as its name says; or stdout."""
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
    """Return what writes the records, once it is known how their file opens."""
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
