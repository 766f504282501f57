"""thresher compact: make a smaller model, for prediction only."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from thresher.cli import common
from thresher.cli.declare import Option
from thresher.cli.evaluate import percent
from thresher.errors import ModelError, OutputError, param

if TYPE_CHECKING:
    from thresher.categorizer import Categorizer

Target = Annotated[
    str | None,
    Option(
        *("--output", "-o"),
        metavar="FILE",
        help="The file for the small model. Default: MODEL with -compact in its name.",
    ),
]
Allow = Annotated[
    float | None,
    Option(
        min=0,
        max=1,
        help="The share of documents whose decision may change. Default: 0.005.",
    ),
]


@common.verb("compact model.thresher recent.csv -o small.thresher", writes="model")
def compact(
    model: common.Model,
    data: common.Data = None,
    output: Target = None,
    allow: Allow = None,
    reading: common.Reading = common.Reading(),
    threads: common.Threads = 1,
    force: common.Force = False,
    json: common.Json = False,
) -> None:
    """Make a smaller copy of a model, for prediction only.

    The copy predicts and explains like the model, but cannot learn. It has no data for learning,
    and leaves out the least important weights as long as the decisions on DATA stay the same;
    without DATA, those on the documents that the model remembers. If DATA has labels, the accuracy
    is shown before and after.
    """
    path = output or str(Path(model).with_stem(f"{Path(model).stem}-compact"))
    categorizer = common.load_model(model, threads)
    if output is None and not force:
        _check_is_old(path, categorizer)
    can_learn = not categorizer.model_.is_compacted
    documents = None
    if data:
        documents = common.open_documents(
            data, reading, split="test", familiar=categorizer.columns_
        )
    with common.progress() as progress:
        given = {} if allow is None else {"allow": allow}
        categorizer.compact(documents, progress=progress, **given)
    if documents is not None:
        common.report_reading(documents)
    categorizer.save(path, force=force)
    result, sizes = categorizer.compacted_, [os.path.getsize(file) for file in (model, path)]
    if json:
        values: dict[str, Any] = {
            name: getattr(result, name)
            for name in ("features_before", "features", "halves", "documents", "changed")
        }
        values |= {"model": path, "bytes_before": sizes[0], "bytes": sizes[1]}
        if result.before is not None and result.after is not None:
            values |= {"before": result.before.to_dict(), "after": result.after.to_dict()}
        common.show_json(values)
        return
    common.tell(str(result))
    if data is None and result.documents:
        common.show(
            "These are the documents that it remembers, scored as if it had not learned from them."
        )
    elif not result.documents:
        common.show("The model remembers no documents; name some as DATA to leave out more.")
    if result.before is not None and result.after is not None:
        from thresher.evaluation import measure_title

        for name in ("micro_f1", "macro_f1"):
            average = name.partition("_")[0]
            old, new = (
                getattr(evaluation, average)["f1"] for evaluation in (result.before, result.after)
            )
            common.show(f"{measure_title(name)}: {percent(old)} -> {percent(new)}")
    before, after = map(common.size, sizes)
    advice = f" To learn on, keep {model}." if can_learn else ""
    common.tell(f"Saved to {path} ({before} -> {after}).{advice}")


def _check_is_old(path: str, categorizer: Categorizer) -> None:
    """Raise an error if a file that nobody named is not an earlier compact copy of the model."""
    if os.path.exists(path):
        with suppress(ModelError):
            old = common.load_model(path)
            if old.model_.is_compacted and old.categories_ == categorizer.categories_:
                return
        raise OutputError(
            f"{path} already exists, and is not a compact copy of this model; name another file "
            f"(-o FILE), or replace it ({param('force', True)})."
        )
