"""Tables 1 and 2, and experiments that explain differences from the published values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from thresher.errors import counted
from thresher_papers._result import Cells, Table
from thresher_papers._running import Run, mean_and_spread
from thresher_papers.cai_hofmann_2003.measuring import LEAST_MEMBERSHIP, Sample, Texts, boost
from thresher_papers.cai_hofmann_2003.published import (
    BLOCKS,
    N_WORDS,
    SHARES,
    TABLE_1,
    TABLE_2,
    VARIANTS,
    columns_of,
    improvement,
    published,
    row_name,
)

NAME = "cai-hofmann-2003"
N_SEEDS = 3  # of the concepts of mixA
ERROR_TOLERANCE = {"Err": 0.1, "AdErr": 0.1}


class Plan(NamedTuple):
    """An experiment: the problem, numbers of concepts (K), and rounds after which to measure."""

    sample: Sample
    sizes: tuple[int, ...]
    stages: tuple[int, ...]

    @property
    def alone(self) -> dict[str, tuple[int, ...]]:
        """The models of concepts, one at a time."""
        return {f"K = {size}": (size,) for size in self.sizes}


_REUTERS, _MEDLINE = "reuters21578:modapte", "medline:major=true"
REUTERS = Plan(Sample(Texts(_REUTERS)), tuple(range(100, 1001, 100)), (50, 100, 200))
MEDLINE = Plan(
    Sample(Texts(_MEDLINE, (), 10), 50, "all", "random"),
    tuple(range(500, 1001, 100)),
    (200, 500, 1000),
)
OHSUMED = Plan(
    Sample(Texts("ohsumed23", (), 10), 23, "all", "random"), (100, 500), (200, 500, 1000)
)
SMALL = Plan(Sample(Texts(_REUTERS, (2_000, 1_000, 1_000)), 10), (20, 40), (10, 20, 40))
SMALL_MEDLINE = Plan(
    Sample(Texts(_MEDLINE, (5_000,), 10), 10, "all", "random"), (20, 40), (10, 20, 40)
)
SMALL_OHSUMED = OHSUMED._replace(sizes=(20, 40), stages=(10, 20, 40))


def boosted(
    run: Run,
    plan: Plan,
    features: Mapping[str, tuple[int, ...]],
    n_seeds: int = 1,
    variants: tuple[str, ...] = VARIANTS,
    how: tuple[Any, ...] = (),
) -> dict[tuple[str, str], list[Any]]:
    """Return the cells of each variant and each kind of features, one per seed.

    Without concepts, and with a division of the corpus' own, nothing depends on the seed. `how` is
    what `boost` takes after it.
    """
    keys = {
        (variant, row): [
            (plan.sample, variant, sizes, plan.stages, seed, *how)
            for seed in run.seeds(n_seeds if sizes else 1)
        ]
        for row, sizes in features.items()
        for variant in variants
    }
    cells = iter(
        run.cells(boost, [key for row_keys in keys.values() for key in row_keys], inside=True)
    )
    return {name: [next(cells) for _ in row_keys] for name, row_keys in keys.items()}


def rows_of(measured: Mapping[tuple[str, str], list[Any]]) -> tuple[Cells, Cells]:
    """Return the rows of a table, including improvements, and standard deviations."""
    reproduced: Cells = {}
    spread: Cells = {}
    features = list(dict.fromkeys(row for _, row in measured))
    for variant, average in BLOCKS:
        columns = columns_of(variant, average)
        for row in features:
            runs = [cell["stages"][-1][average] for cell in measured[variant, row]]
            mean, deviation = mean_and_spread(
                [{name: measures[name] for name in columns} for measures in runs]
            )
            reproduced[row_name(variant, average, row)] = mean
            spread |= {row_name(variant, average, row): deviation} if deviation else {}
            if row != features[0]:
                term = reproduced[row_name(variant, average, features[0])]
                reproduced[row_name(variant, average, row, True)] = improvement(term, mean)
    return reproduced, spread


def _size(cell: Mapping[str, Any], rounds: int) -> str:
    size, tested = cell["size"], len(cell["topics"])
    lacking = f", {tested} of which have test documents" if tested < size["topics"] else ""
    return (
        f"{size['train']:,} training and {size['test']:,} test documents, {size['topics']} "
        f"categories{lacking}, each with {size['positives']:.2f} % of the documents on average; "
        f"{size['words']:,} words; {rounds:,} rounds. Concepts come from all "
        f"{size['documents']:,} documents."
    )


def _fitted(plan: Plan, models: list[list[float]]) -> str:
    each = (
        f"K = {size}: {n}, {perplexity:,.0f}"
        for size, (n, perplexity) in zip(plan.sizes, models, strict=True)
    )
    return (
        "Iterations of expectation maximisation, and the perplexity of the occurrences held out: "
        f"{'; '.join(each)}."
    )


def _gains(rows: Cells) -> str:
    """Return a sentence: how many measures each kind of features improves."""
    kinds: dict[str, list[float]] = {}
    for name, cells in rows.items():
        if name.endswith("improvement"):
            kinds.setdefault(name.split(", ")[1], []).extend(cells.values())
    each = (
        f"{name}: {sum(x > 0 for x in kind_gains)} of {len(kind_gains)}"
        for name, kind_gains in kinds.items()
    )
    return f"Measures that are better than with words alone: {'; '.join(each)}."


def _table(
    item: str, title: str, reproduced: Cells, notes: list[str], printed: Cells, **more: Any
) -> Table:
    gains = tuple(row for row in reproduced if row.endswith("improvement"))
    looks: dict[str, Any] = {
        "summaries": gains,
        "tolerances": ERROR_TOLERANCE,
        "digits": 2,
        "best": "none",
    }
    return Table(NAME, item, title, printed, reproduced, notes, **looks | more)


def table_1(run: Run) -> Table:
    """AdaBoost.MH and MR with words, with concepts of all K, and of each K alone."""
    plan = run.of(REUTERS, SMALL)
    measured = boosted(run, plan, {"term": (), "mixA": plan.sizes}, N_SEEDS)
    measured |= boosted(run, plan, plan.alone)
    reproduced, spread = rows_of(measured)
    mixed = measured["MH", "mixA"]
    notes = [
        f"{_size(mixed[0], plan.stages[-1])} {_fitted(plan, mixed[0]['models'])}",
        f"Rows of mixA are means over {counted(len(mixed), 'start')} of the concepts, those of one "
        "K are of the first. Improvements are in percent of the row with words alone, (b - a) / a, "
        "of errors (a - b) / a; they follow from the other rows and are not counted. Errors, below "
        "1 % but for MR's at zero, may differ by 0.1 points, all else by 3.",
        _gains(reproduced),
        "What cells beyond the tolerance hang on is measured below: `words` and `early-rounds` "
        "(macro recall of MH with words, MR's error at zero) and `memberships` (MR's error with "
        "concepts).",
    ]
    errors = [reproduced[row_name("MR", "macro", row)]["Err"] for row in plan.alone]
    notes[-1] += (
        f" MR's error at zero goes from {min(errors):.2f} to {max(errors):.2f} between single K."
    )
    title = "Table 1: boosting on Reuters-21578, words and words with concepts"
    printed = {} if run.quick else published(TABLE_1, "mixA")  # of other documents and topics
    return _table("table-1", title, reproduced, notes, printed, spread=spread)


def table_2(run: Run) -> Table:
    """The protocol of section 7.2 on other records of MEDLINE."""
    plan = run.of(MEDLINE, SMALL_MEDLINE)
    last = f"{plan.sizes[-1]}A"
    alone = {f"{size}A": (size,) for size in reversed(plan.sizes)}
    measured = boosted(run, plan, {"term": (), **alone})
    reproduced, _ = rows_of(measured)
    models = [measured["MH", f"{size}A"][0]["models"][0] for size in plan.sizes]
    notes = [
        "**Other data than the paper's**: 30,000 MEDLINE records, mostly of 1977 to 1979 and half "
        "of them without an abstract, in place of the 54,708 of OHSUMED 1987, which is not to be "
        "had. The published values stand beside ours and are not counted: improvements, the order "
        "of MH and MR and of macro and micro averages can be compared, sizes cannot.",
        f"{_size(measured['MH', 'term'][0], plan.stages[-1])} {_fitted(plan, models)}",
        "Categories are the 50 headings most frequent as major topics. With all headings the first "
        "would be Humans, Animals, Female and Male. The paper's cannot have been among its 50: its "
        "precision, recall and error (52.48, 32.39, 0.55) hold together where a category has "
        "0.57 % of the documents on average.",
        _gains(reproduced),
    ]
    title = "Table 2: the protocol of section 7.2 on MEDLINE records of 1977-1979"
    printed = {} if run.quick else published(TABLE_2, last)
    return _table("table-2", title, reproduced, notes, printed, summaries=tuple(reproduced))


def ohsumed_23(run: Run) -> Table:
    """The protocol of section 7.2 on abstracts of OHSUMED 1991 with one category each."""
    plan = run.of(OHSUMED, SMALL_OHSUMED)
    measured = boosted(run, plan, {"term": (), **plan.alone})
    reproduced, _ = rows_of(measured)
    models = [measured["MH", row][0]["models"][0] for row in plan.alone]
    notes = [
        f"{_size(measured['MH', 'term'][0], plan.stages[-1])} {_fitted(plan, models)}",
        "Abstracts of 1991 in 23 groups of diseases, those with exactly one group: neither the "
        "documents nor the categories of table 2.",
        _gains(reproduced),
    ]
    return _table("ohsumed-23", "OHSUMED 1991, one of 23 categories each", reproduced, notes, {})


# ---- what explains differences -------------------------------------------------------------------

PAPER_ROW = "the paper"


def _last(cell: Mapping[str, Any], average: str, column: str) -> float:
    return float(cell["stages"][-1][average][column])


def words(run: Run) -> Table:
    """Words alone, counted in other ways: effects on macro recall and on MR's error."""
    plan = run.of(REUTERS, SMALL)
    sample, texts = plan.sample, plan.sample.texts
    variants = {
        "as in table 1": sample,
        "digits in words": sample._replace(texts=texts._replace(pattern="[a-z0-9]+")),
        "function words kept": sample._replace(texts=texts._replace(without_function_words=False)),
        "without titles": sample._replace(
            texts=texts._replace(corpus=f"{texts.corpus},parts=body")
        ),
        "words of two documents": sample._replace(texts=texts._replace(least_documents=2)),
        "topics of all documents": sample._replace(topics_of="all"),
    }
    reproduced: Cells = {}
    for row, changed_sample in variants.items():
        measured = boosted(run, plan._replace(sample=changed_sample), {"term": ()})
        of_mh, of_mr = (measured[variant, "term"][0] for variant in VARIANTS)
        reproduced[row] = {
            "words": of_mh["size"]["words"],
            "MH macro r": _last(of_mh, "macro", "r"),
            "MH macro BEP": _last(of_mh, "macro", "BEP"),
            "MH micro BEP": _last(of_mh, "micro", "BEP"),
            "MR micro BEP": _last(of_mr, "micro", "BEP"),
            "MR Err": _last(of_mr, "macro", "Err"),
        }
    printed = TABLE_1["MH", "macro"][0], TABLE_1["MH", "micro"][0], TABLE_1["MR", "micro"][0]
    figures = N_WORDS, printed[0][1], printed[0][5], printed[1][3], printed[2][0]
    paper = dict(
        zip(reproduced["as in table 1"], (*figures, TABLE_1["MR", "macro"][0][0]), strict=True)
    )
    recalls, errors = (
        [cells[name] for cells in reproduced.values()] for name in ("MH macro r", "MR Err")
    )
    notes = [
        f"However words are taken, macro recall of MH lies from {min(recalls):.1f} to "
        f"{max(recalls):.1f} (published {paper['MH macro r']}), while MR's error at zero goes from "
        f"{min(errors):.1f} to {max(errors):.1f} (published {paper['MR Err']}): it "
        "hangs on details that no ranking hangs on, for MR's zero divides nothing.",
    ]
    title = "Words alone, taken otherwise, Reuters-21578"
    shown = reproduced if run.quick else reproduced | {PAPER_ROW: paper}
    return Table(NAME, "words", title, {}, shown, notes, digits=2, best="none")


def early_rounds(run: Run) -> Table:
    """The same fits after fewer rounds."""
    plan = run.of(REUTERS, SMALL)
    measured = boosted(run, plan, {"term": (), "mixA": plan.sizes})
    chosen = {
        "MH macro p": ("MH", "macro", "p"),
        "MH macro r": ("MH", "macro", "r"),
        "MH micro r": ("MH", "micro", "r"),
        "MR micro BEP": ("MR", "micro", "BEP"),
        "MR Err": ("MR", "macro", "Err"),
    }
    reproduced: Cells = {
        f"{row}, {stage} rounds": {
            name: measured[variant, row][0]["stages"][position][average][column]
            for name, (variant, average, column) in chosen.items()
        }
        for row in ("term", "mixA")
        for position, stage in enumerate(plan.stages)
    }
    differing = {  # where table 1 is beyond its tolerance
        ("term", "MH macro r"): TABLE_1["MH", "macro"][0][1],
        ("term", "MR Err"): TABLE_1["MR", "macro"][0][0],
        ("mixA", "MR Err"): TABLE_1["MR", "macro"][1][0],
    }
    ways = []
    for (row, column), printed in differing.items():
        values = [reproduced[f"{row}, {stage} rounds"][column] for stage in plan.stages]
        inside = "between them" if min(values) <= printed <= max(values) else "outside"
        ways.append(
            f"{column} with {row} goes from {values[0]:.2f} to {values[-1]:.2f} (published "
            f"{printed}, {inside})"
        )
    notes = [
        f"The first rounds of the fits of table 1: {'; '.join(ways)}. MR's error at zero grows "
        "while its ranking gets better: its zero means nothing, as the paper says.",
    ]
    title = "Fewer rounds, Reuters-21578"
    return Table(NAME, "early-rounds", title, {}, reproduced, notes, digits=2, best="none")


def abstracts(run: Run) -> Table:
    """Table 2 and figure 4 on the MEDLINE records that have an abstract."""
    plan = run.of(MEDLINE, SMALL_MEDLINE)
    texts = plan.sample.texts
    some = plan.sample._replace(texts=texts._replace(corpus=f"{texts.corpus},abstract=true"))
    sizes = plan.sizes[-1:]
    reproduced: Cells = {}
    for row, sample in {"all records": plan.sample, "with an abstract": some}.items():
        measured = boosted(run, plan._replace(sample=sample), {"term": (), "concepts": sizes})
        reproduced[row] = {"documents": measured["MH", "term"][0]["size"]["documents"]}
        for variant in VARIANTS:
            term, mixed = (measured[variant, kind][0] for kind in ("term", "concepts"))
            reproduced[row] |= {
                f"{variant} BEP, term": _last(term, "micro", "BEP"),
                f"{variant} BEP, {sizes[0]}A": _last(mixed, "micro", "BEP"),
                f"{variant} weight, first": mixed["shares"][0],
                f"{variant} weight, last": mixed["shares"][-1],
            }
    first, last = SHARES["MEDLINE"]
    notes = [
        "Micro break-even points, and the weight on concepts after the first and the last round "
        f"(published, of OHSUMED 1987: {first} and {last} %).",
    ]
    title = "Table 2 and figure 4 without the records that are titles alone"
    return Table(NAME, "abstracts", title, {}, reproduced, notes, best="none")


LIMITS = (0.0001, 0.001, 0.01, 0.1)


def memberships(run: Run) -> Table:
    """Lower limits of P(z|d), on held-out training documents and on test documents."""
    plan = run.of(REUTERS, SMALL)
    sizes = run.of((500,), (40,))
    rehearsed = plan.sample._replace(division="rehearsal")
    grid: dict[str, tuple[Any, ...]] = {f"P(z\\|d) ≥ {limit:g}": (limit,) for limit in LIMITS}
    grid["folded in"] = (LEAST_MEMBERSHIP, True)
    rows = [(row, sample) for row in grid for sample in (plan.sample, rehearsed)][:-1]
    keys = [
        (sample, variant, sizes, plan.stages, run.seed, *grid[row])
        for row, sample in rows
        for variant in VARIANTS
    ]
    cells = dict(
        zip(
            [(key[0], key[1], *key[5:]) for key in keys],
            run.cells(boost, keys, inside=True),
            strict=True,
        )
    )
    reproduced: Cells = {}
    for row, how in grid.items():
        held = {
            f"held out, {variant} BEP": _last(cells[rehearsed, variant, *how], "micro", "BEP")
            for variant in VARIANTS
            if (rehearsed, variant, *how) in cells
        }
        of_mh, of_mr = (cells[plan.sample, variant, *how] for variant in VARIANTS)
        reproduced[row] = held | {
            "MH BEP": _last(of_mh, "micro", "BEP"),
            "MR BEP": _last(of_mr, "micro", "BEP"),
            "MH macro r": _last(of_mh, "macro", "r"),
            "MR Err": _last(of_mr, "macro", "Err"),
            "weight, first": of_mh["shares"][0],
            "weight, last": of_mh["shares"][-1],
        }
    errors = [cells["MR Err"] for cells in reproduced.values()]
    first, last = SHARES["Reuters-21578"]
    notes = [
        f"K = {sizes[0]} alone, micro break-even points. The limit of {LEAST_MEMBERSHIP:g} was "
        "chosen on the last quarter of the training documents, learned from the others (held out), "
        "with concepts of all K; but limits had been compared on test documents before. Without "
        "one nearly every document has a little of every concept, and stumps are made of that "
        f"noise. MR's error at zero goes from {min(errors):.2f} to {max(errors):.2f} with it (mixA "
        f"in the paper: {TABLE_1['MR', 'macro'][1][0]}), and the weight on concepts falls "
        f"as it rises (figure 4 of the paper, all K: {first} % at first, {last} % at last). Folded "
        "in: P(z|d) found again from all occurrences, those held out included.",
    ]
    title = "Which memberships count, words with concepts of one K, Reuters-21578"
    return Table(NAME, "memberships", title, {}, reproduced, notes, digits=2, best="none")
