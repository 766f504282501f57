"""thresher learn: train a model on more documents, or undo that."""

from __future__ import annotations

import filecmp
from contextlib import nullcontext
from typing import Annotated

from thresher.cli import common
from thresher.cli.declare import Option
from thresher.errors import ModelError, ParameterError
from thresher.files import one_writer, previous_file, restore_previous


@common.verb("learn model.thresher corrections.jsonl", writes="model", replaces="model")
def learn(
    model: common.Model,
    data: common.Data = None,
    output: common.Output = None,
    dry_run: Annotated[
        bool, Option("--dry-run", help="Show what would change, and save nothing.")
    ] = False,
    undo: Annotated[
        bool, Option("--undo", help="Restore the model as it was before the last learn.")
    ] = False,
    about: Annotated[
        str | None,
        Option(
            metavar="A,B",
            help="The labels are about these categories only; others remain unknown.",
        ),
    ] = None,
    reading: common.Reading = common.Reading(),
    threads: common.Threads = 1,
    force: common.Force = False,
    json: common.Json = False,
) -> None:
    """Train a model on more documents.

    The documents may have new words and new categories. The previous model is kept as
    MODEL.before-learn until the next change.
    """
    if undo:
        if data or output or dry_run:
            raise ParameterError("--undo takes back what MODEL learned last; give MODEL alone.")
        _undo(model, json)
        return
    topics = about.split(",") if about else None
    opened = (
        nullcontext(common.load_model(model, threads))
        if dry_run
        else common.changed_model(model, output, threads, keep_previous=True, force=force)
    )
    with opened as categorizer:
        documents = common.open_documents(data, reading, familiar=categorizer.columns_)
        with common.progress() as progress:
            categorizer.learn(documents, about=topics, check=None, progress=progress)
    common.report_reading(documents)
    saved_to, learned = None if dry_run else output or model, categorizer.learned_
    if json:
        common.show_json(learned.to_dict() | {"model": saved_to})
        return
    where = f"Saved to {saved_to}." if saved_to else "Nothing was saved, for this is a dry run."
    common.show(f"{learned}\n{where}")


def _undo(model: str, as_json: bool) -> None:
    """Restore the model before the last `learn`, and print the number of documents."""
    with one_writer(model, common.say):
        learned = common.load_model(model).documents_seen_
        previous = previous_file(model)
        # If a learn was killed at its last step, both files are the same.
        if not previous.is_file() or filecmp.cmp(previous, model, shallow=False):
            raise ModelError(
                f"There is nothing to undo: {previous} would be the model before the last "
                f"learn, which is kept until the next change of {model} or the next --undo."
            )
        remaining = common.load_model(str(previous)).documents_seen_
        restore_previous(model)
    if as_json:
        common.show_json({"documents_before": learned, "documents": remaining, "model": model})
        return
    common.show(
        f"Undid the last learn: documents learned {learned:,} -> {remaining:,}. "
        f"{model} is as it was before."
    )
