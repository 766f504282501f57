"""The page of all papers: agreement, claims, and every table and figure."""

from __future__ import annotations

import datetime
import platform
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from thresher import __version__
from thresher.errors import counted
from thresher.files import write_text
from thresher_papers._keeping import library_versions
from thresher_papers._result import (
    Agreement,
    Claim,
    Drawing,
    Finding,
    Paper,
    Result,
    Table,
)
from thresher_papers._running import CORES, Run

__all__ = ["Page", "write_page"]

FEWEST_DRAWN = 30  # cells of a table


@dataclass(frozen=True)
class Page:
    """Totals of the page."""

    agreement: Agreement
    n_claims: int
    n_held: int
    n_explained: int  # of the claims that do not hold


@dataclass(frozen=True)
class _Section:
    """A paper with its results."""

    paper: Paper
    results: dict[str, Result]
    minutes: dict[str, float]
    findings: list[tuple[Claim, Finding]]

    @property
    def agreement(self) -> Agreement:
        published = (self.results[name] for name in self.paper.published)
        return sum((result.agreement() for result in published), Agreement(0, 0, 0))


def write_page(papers: Sequence[Paper], run: Run, path: Path) -> Page:
    """Run all experiments, write the page and its pictures, and return its totals."""
    sections = [_measured(paper, run) for paper in papers]
    total = _total(sections)
    parts = [_head(sections, total, run), *(_section(section, path.parent) for section in sections)]
    write_text(path, "\n\n".join(parts) + "\n")
    return total


def _measured(paper: Paper, run: Run) -> _Section:
    results, minutes = {}, {}
    for name, item in paper.items.items():
        before = run.store.seconds if run.store else 0.0
        results[name] = item.run(replace(run, title=f"{paper.name} {name}"))
        minutes[name] = ((run.store.seconds if run.store else 0.0) - before) / 60
    findings = [
        (claim, claim.check(*(results[item] for item in claim.items)))
        for claim in paper.claims
        if not run.quick  # a small part says nothing about them
    ]
    return _Section(paper, results, minutes, findings)


def _total(sections: Sequence[_Section]) -> Page:
    findings = [finding for section in sections for _, finding in section.findings]
    return Page(
        sum((section.agreement for section in sections), Agreement(0, 0, 0)),
        len(findings),
        sum(finding.holds for finding in findings),
        sum(bool(finding.why) and not finding.is_open for finding in findings if not finding.holds),
    )


# ---- words -----------------------------------------------------------------------------------


def _head(sections: Sequence[_Section], total: Page, run: Run) -> str:
    within, covered, beyond = total.agreement
    works = [section for section in sections if section.paper.published]
    items = [item for section in works for item in section.paper.published.values()]
    in_part = sum(bool(item.lacks) for item in items)
    failed = total.n_claims - total.n_held
    versions = {"Thresher": __version__, "Python": platform.python_version(), **library_versions()}
    minutes = sum(sum(section.minutes.values()) for section in sections)
    today = datetime.date.today()
    lines = [
        "# The papers",
        "",
        f"**{within + covered:,} of {total.agreement.n_cells:,} published values that the data "
        f"allow agree ({total.agreement.share:.1%})**: {within:,} lie within the tolerance of "
        f"their table (3 points for F1 and break-even points, 1 point for accuracy), {covered:,} "
        "more within two standard deviations of what another shuffle of the same data does; "
        f"{beyond:,} do not, and have their experiments below. **{total.n_held} of "
        f"{total.n_claims} claims of the texts hold**; of the other {failed}, "
        f"{total.n_explained} have a measured explanation, {failed - total.n_explained} are open: "
        "what was tried stands beside them.",
        "",
        "The learners come from five works. The package `thresher-papers` has their tables and "
        "figures: the data, the protocol and the published values. One command reproduces each, "
        "from the corpora on this machine (`thresher corpus fetch NAME`):",
        "",
        "```console",
        "$ pip install thresher-papers     # once it is published; until then, in a clone: "
        "pip install . ./papers",
        "$ thresher paper list",
        "$ thresher paper run carvalho-cohen-2006 table-4",
        "$ thresher paper run carvalho-cohen-2006 figure-2 --plot figure-2.svg",
        "$ thresher paper run all",
        "```",
        "",
        "```python",
        "from thresher_papers import reproduce",
        "",
        'result = reproduce("carvalho-cohen-2006", "table-4", seed=0)',
        'result.reproduced["Ads"]["MBW"], result.published["Ads"]["MBW"]',
        "result.differences(beyond=3)",
        "```",
        "",
        "Finished cells are stored in the cache, so a run that was stopped continues where it "
        "was; `--quick` runs a small part in seconds.",
        "",
        f"Of the {len(items)} tables and figures, {len(items) - in_part} are here, {in_part} in "
        "part.",
        "",
        "| work | tables and figures | in part | agree | beyond | claims | hold | minutes |",
        "|---|---|---|---|---|---|---|---|",
        *(_summary(section) for section in works),
        "",
        f"This page was written by `thresher paper page docs/papers.md` on "
        f"{today.day} {today:%B %Y}, seed {run.seed}, with "
        f"{', '.join(f'{name} {version}' for name, version in versions.items())}. Every number of "
        "ours on it is from that run; published ones are in brackets or said to be. Added up, its "
        f"cells took {minutes:,.0f} minutes on {counted(CORES, 'core')}, several at a time.",
    ]
    return "\n".join(lines)


def _summary(section: _Section) -> str:
    items = section.paper.published.values()
    within, covered, beyond = section.agreement
    findings = [finding for _, finding in section.findings]
    cells = (
        f"[{section.paper.name}](#{_anchor(section.paper.title)})",
        len(items),
        sum(bool(item.lacks) for item in items),
        within + covered,
        beyond,
        len(findings),
        sum(finding.holds for finding in findings),
        f"{sum(section.minutes.values()):.0f}",
    )
    return f"| {' | '.join(map(str, cells))} |"


def _anchor(title: str) -> str:
    """Return the anchor that Python-Markdown gives a heading."""
    word = "".join(
        character
        for character in title.lower()
        if character.isascii() and (character.isalnum() or character in " -")
    )
    return "-".join(word.split())


def _cell(text: str) -> str:
    """Return a text escaped for a table."""
    return text.replace("|", "\\|")


def _reason(finding: Finding) -> str:
    return f"*open:* {finding.why}" if finding.is_open else finding.why


def _is_worth_drawing(result: Result) -> bool:
    """Return whether the page shows a picture of a result; a table of few cells needs none."""
    is_table = isinstance(result, Table) and not isinstance(result, Drawing)
    return result.agreement().n_cells >= FEWEST_DRAWN if is_table else result.has_picture


def _section(section: _Section, folder: Path) -> str:
    paper = section.paper
    parts = [f"## {paper.title}", f"{paper.citation}."]
    if paper.liberties:
        bullets = "\n".join(f"- {liberty}" for liberty in paper.liberties)
        parts.append(
            f"What the work leaves open or has otherwise, and what was taken:\n\n{bullets}"
        )
    if section.findings:
        rows = (
            f"| {_cell(claim.text)} | {'yes' if finding.holds else '**no**'} "
            f"| {_cell(finding.figures)} | {'' if finding.holds else _cell(_reason(finding))} |"
            for claim, finding in section.findings
        )
        table = "\n".join(
            ["| what it says | holds | measured | why not |", "|---|---|---|---|", *rows]
        )
        parts.append(table)
    parts += [_shown(paper, name, section.results[name], folder) for name in paper.items]
    return "\n\n".join(parts)


def _shown(paper: Paper, name: str, result: Result, folder: Path) -> str:
    """Return the section of a table or figure: the picture of a figure comes before its numbers."""
    item = paper.items[name]
    kind = "Of ours" if item.is_additional else f"{item.state[0].upper()}{item.state[1:]}"
    head = [
        f"### {name.replace('-', ' ').capitalize()}: {item.summary}",
        f"`thresher paper run {paper.name} {name}` · {kind}.",
    ]
    if item.quotes:
        note = "The document is shown by the command alone, for it is not ours to pass on."
        return "\n\n".join([*head, replace(result, notes=[note]).to_markdown()])
    pictures = []
    if _is_worth_drawing(result):
        picture = f"images/{paper.name}-{name}.{'gif' if result.moves else 'svg'}"
        result.plot(folder / picture)
        pictures.append(f"![{result.title}]({picture})")
    is_table = isinstance(result, Table) and not isinstance(result, Drawing)
    body = [*pictures, result.to_markdown()]
    return "\n\n".join([*head, *(body[::-1] if is_table else body)])
