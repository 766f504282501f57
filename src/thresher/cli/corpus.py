"""thresher corpus: list, download and describe public corpora."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from thresher.cli import common
from thresher.cli.declare import Argument

if TYPE_CHECKING:
    from thresher.corpora import CorpusInfo

Name = Annotated[
    str, Argument(metavar="NAME", help="The name of a corpus (see `thresher corpus list`).")
]

verbs = common.group("corpus", "List, download and describe public corpora.")


@common.verb("corpus list", "list", group=verbs)
def list_corpora(json: common.Json = False) -> None:
    """List the corpora, and which of them are on this machine.

    The name of a corpus can be given wherever a verb reads documents.
    """
    from thresher import corpora

    corpora_here = [(info, corpora.is_here(info)) for info in corpora.list_corpora()]
    if json:
        common.show_json([_described(info, here) for info, here in corpora_here])
        return
    from rich.table import Table

    table = Table(box=None, pad_edge=False, padding=(0, 2))
    for heading in ("name", "here", "documents", "variants", "what it is"):
        table.add_column(heading, justify="right" if heading == "documents" else "left")
    for info, here in corpora_here:
        largest = max(sum(splits.values()) for splits in info.counts.values())
        variants = ", ".join(info.variants)
        table.add_row(
            info.name, "yes" if here else "", f"{largest:,}", variants, common.text(info.title)
        )
    common.console().print(table)


@common.verb("corpus fetch reuters21578", group=verbs)
def fetch(name: Name) -> None:
    """Download a corpus, if it is not here, and verify its checksums."""
    from thresher import corpora

    with common.bar("DownloadColumn", "TransferSpeedColumn", "TimeRemainingColumn") as bar:
        task = bar and bar.add_task("download", total=None)

        def show_bytes(done: int, total: int | None) -> None:
            bar.update(task, completed=done, total=total)

        paths = corpora.fetch(name, progress=bar and show_bytes)
    for path in paths:
        common.show(str(path))


@common.verb("corpus show reuters21578:modapte", group=verbs)
def show(name: Name, json: common.Json = False) -> None:
    """Describe a corpus: licence, citation, variants, options and size."""
    from thresher import corpora

    info = corpora.describe(name)
    if json:
        common.show_json(_described(info, corpora.is_here(info)))
    else:
        common.show(str(info))


def _described(info: CorpusInfo, here: bool) -> dict[str, object]:
    names = ("name", "title", "summary", "home", "licence", "citation", "addresses")
    options = {key: option.help for key, option in info.options.items()}
    fields = {name: getattr(info, name) for name in names}
    return fields | {"here": here, "documents": info.counts, "options": options}
