"""thresher paper: reproduce tables and figures of the papers behind Thresher."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from thresher.cli import common, process
from thresher.cli.declare import Argument, Option
from thresher.errors import ParameterError, counted
from thresher.limits import MOST_THREADS

if TYPE_CHECKING:
    from thresher_papers import Paper, Result, Run, Store

verbs = common.group("paper", "Reproduce the tables and figures of the papers behind Thresher.")

Seed = Annotated[int, Option(help="Seed of folds, subsets and the order of documents.")]
Quick = Annotated[
    bool, Option("--quick", help="Run a small version of each, as a check that it works.")
]
Jobs = Annotated[
    int | None,
    Option(
        min=1,
        max=MOST_THREADS,
        help="Cells computed in parallel; results are the same. Default: all cores.",
    ),
]
Anew = Annotated[bool, Option("--anew", help="Compute cells again that earlier runs finished.")]


@common.verb("paper list", "list", group=verbs)
def list_papers(json: common.Json = False) -> None:
    """List the papers with their tables and figures, and whether each is complete."""
    import thresher_papers as papers

    listed = papers.list_papers()
    if json:
        common.show_json({paper.name: _described(paper) for paper in listed})
        return
    for paper in listed:
        common.show(f"{paper.name}: {paper.title}")
        for is_additional in (False, True):
            items = {
                name: item
                for name, item in paper.items.items()
                if item.is_additional == is_additional
            }
            if is_additional and items:
                common.show("  additional experiments:")
            for name, item in items.items():
                state = "in part" if item.lacks else "here"
                common.show(f"    {name:<20} {'' if is_additional else state:<9}{item.summary}")
                if item.lacks:
                    common.show(f"{'':<34}(not all: {item.lacks})")
        common.show("")
    published = [item for paper in listed for item in paper.published.values()]
    in_part = sum(bool(item.lacks) for item in published)
    common.show(
        f"{len(published)} tables and figures: {len(published) - in_part} are here, {in_part} in "
        "part. Run one with `thresher paper run PAPER ITEM`, all with `thresher paper run all`."
    )


def _described(paper: Paper) -> dict[str, Any]:
    return {
        name: {"summary": item.summary, "state": item.state, "additional": item.is_additional}
        for name, item in paper.items.items()
    }


@common.verb("paper run dagan-karov-roth-1997 table-2", group=verbs)
def run(
    paper: Annotated[
        str, Argument(metavar="PAPER", help="A name from `thresher paper list`, or all.")
    ],
    items: Annotated[
        list[str] | None,
        Argument(metavar="ITEM", help="Its tables and figures. Default: all of them."),
    ] = None,
    seed: Seed = 0,
    quick: Quick = False,
    jobs: Jobs = None,
    anew: Anew = False,
    plot: Annotated[
        str | None,
        Option(
            metavar="FILE",
            help="Draw it to this file, e.g. figure.svg; for several items, a folder.",
        ),
    ] = None,
    json: common.Json = False,
) -> None:
    """Run experiments; print reproduced beside published values as Markdown.

    Finished cells are stored on disk. After an interruption, the same command continues.
    """
    import thresher_papers as papers

    chosen = papers.select(paper, items or [])
    papers.check_corpora(selected.items[name] for selected, name in chosen)
    drawn = _places(plot, chosen) if plot else [None] * len(chosen)
    store = papers.Store(anew=anew)
    for (selected, name), picture in zip(chosen, drawn, strict=True):
        with _watched(seed, quick, jobs, store, title=f"{selected.name} {name}") as settings:
            result = selected.items[name].run(settings)
        if picture and (result.has_picture or len(chosen) == 1):
            result.plot(picture)
        if json:
            common.show_json(_as_json(result))
        else:
            common.show(result.to_markdown() + ("\n" if len(chosen) > 1 else ""))


@common.verb("paper page papers.md", group=verbs)
def page(
    file: Annotated[
        str,
        Argument(
            metavar="FILE", help="Markdown file; its pictures are written to images/ beside it."
        ),
    ],
    seed: Seed = 0,
    quick: Quick = False,
    jobs: Jobs = None,
    anew: Anew = False,
    force: common.Force = False,
) -> None:
    """Run all experiments and write a page of all tables, figures, claims and differences."""
    import thresher_papers as papers
    from thresher.cli._outputs import check_kind
    from thresher.files import check_writable
    from thresher_papers import _page

    reproduced_papers = [paper for paper in papers.list_papers() if paper.published]
    papers.check_corpora(item for paper in reproduced_papers for item in paper.items.values())
    target = check_writable(file)
    if not force:
        check_kind(file, "records")
    with _watched(seed, quick, jobs, papers.Store(anew=anew)) as settings:
        written = _page.write_page(reproduced_papers, settings, target)
    common.say(
        f"Wrote {file}: {written.agreement.share:.0%} of "
        f"{counted(written.agreement.n_cells, 'published value')} agree, "
        f"{written.n_held} of {counted(written.n_claims, 'claim')} hold."
    )


@contextmanager
def _watched(
    seed: int, quick: bool, jobs: int | None, store: Store, *, title: str = ""
) -> Iterator[Run]:
    """Yield the settings of a run that shows its progress if stderr is a terminal."""
    from thresher_papers import Run

    columns = ("SpinnerColumn", "{task.description}", "BarColumn", "MofNCompleteColumn")
    with warnings.catch_warnings(), common.bar(*columns, "TimeElapsedColumn") as bar:
        warnings.showwarning = lambda message, *where: common.say(f"thresher: {message}")
        task = bar.add_task(title, total=None) if bar else None

        def watch(shown: str, done: int, n_cells: int) -> None:
            common.go_on(shown, done, None)
            if bar:
                bar.update(task, completed=done, total=n_cells, description=shown)

        run = Run(seed=seed, quick=quick, store=store, watch=watch, title=title)
        try:
            yield replace(run, jobs=jobs) if jobs else run
        except KeyboardInterrupt:
            sentence = "thresher: stopped; finished cells are stored, the same command continues.\n"
            # Do not wait for running cells; some take minutes.
            process.leave(process.stopped_status() or 130, sentence)


def _places(plot: str, chosen: Sequence[tuple[Paper, str]]) -> list[Path]:
    """Return the file of each picture: of one item `plot` itself, of several files in a folder."""
    if len(chosen) == 1 and not Path(plot).is_dir():
        return [Path(plot)]
    if Path(plot).suffix and not Path(plot).is_dir():
        raise ParameterError(
            f"--plot {plot}: {len(chosen)} items are drawn, so it has to be a folder."
        )
    Path(plot).mkdir(parents=True, exist_ok=True)
    return [Path(plot) / f"{selected.name}-{name}.svg" for selected, name in chosen]


def _as_json(result: Result) -> dict[str, Any]:
    return {
        "paper": result.paper,
        "item": result.item,
        "title": result.title,
        "published": result.published,
        "reproduced": result.reproduced,
        "spread": getattr(result, "spread", {}),
        "agreement": result.agreement()._asdict(),
        "notes": result.notes,
    }
