"""Additional experiments: external regret (section 7), and explanations of differences."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from thresher.errors import counted
from thresher_papers._result import Cells, Table
from thresher_papers._running import Run
from thresher_papers.carvalho_cohen_2006 import problems, published
from thresher_papers.carvalho_cohen_2006.cells import (
    BATCH,
    batch,
    groups,
    quiet_solvers,
    share_at_floor,
)
from thresher_papers.carvalho_cohen_2006.learners import PROGRAM, TIES, Variant
from thresher_papers.carvalho_cohen_2006.regret import judged
from thresher_papers.carvalho_cohen_2006.tables import (
    FLOOR,
    NAME,
    QUICK_SETS,
    cross_validated,
    means_and_spreads,
)

__all__ = [
    "batch_programs",
    "empty_examples",
    "external_regret",
    "floor",
    "messages",
    "newsgroups",
    "reuters_topics",
    "signature_features",
    "ties",
    "variants",
]

RUNS, FEW_RUNS = 5, 2
ALL, AVERAGES = published.LEARNERS, published.LEARNERS[5:]
NORMED = ("PA", "ROMMA", "v-PA", "v-ROMMA")
# Each is done in place of what the program did: in the learners, or in the data. The learners that
# it concerns are measured; the others are those of table 4.
VARIANTS: dict[str, tuple[Variant, str, tuple[str, ...]]] = {
    "as the program": (PROGRAM, "", ALL),
    "no always-on feature": (Variant(always_on=False), "", NORMED),
    "always-on feature in the norm": (Variant(in_norm=True), "", NORMED),
    "ROMMA from zero": (Variant(romma_initial="zero"), "", ("ROMMA", "v-ROMMA")),
    "average from initial weights": (Variant(absent_is_zero=False), "", AVERAGES[:3]),
    "average of successes": (Variant(average="successes", absent_is_zero=False), "", AVERAGES),
    "a floor for 1 - x": (Variant(floor=FLOOR), "", ("MBW", "v-MBW")),
    "stratified folds": (Variant(stratified=True), "", ALL),
    "binary features": (PROGRAM, problems.BINARY, ALL),
    "the other class positive": (PROGRAM, problems.OTHER_CLASS, ALL),
}


def _row(name: str, learners: tuple[str, ...], variant: Variant, change: str) -> tuple[Any, ...]:
    """Return a row for `cross_validated` with the same cell keys as table 4."""
    is_table_4 = variant == PROGRAM and not change
    return (name, learners) if is_table_4 else (name, learners, variant, change)


def distance(reproduced: Mapping[str, float], printed: Mapping[str, float]) -> float:
    """Return the mean absolute difference of the cells in both rows.

    Examples
    --------
    >>> distance({"MBW": 90.0, "PW": 80.0}, {"MBW": 91.0, "PW": 83.0, "BW": 1.0})
    2.0
    """
    distances = [
        abs(reproduced[learner] - printed[learner]) for learner in reproduced if learner in printed
    ]
    return float(np.mean(distances)) if distances else float("nan")


def _table(run: Run, item: str, title: str, reproduced: Cells, note: str, **more: Any) -> Table:
    notes, options = [note], {"best": "none"} | more
    printed = options.pop("published", {})
    return Table(NAME, item, title, {} if run.quick else printed, reproduced, notes, **options)


def variants(run: Run) -> Table:
    """Distance of each data set's row from the published row, for other choices."""
    sets = run.of(published.SETS, QUICK_SETS)
    rows = {
        f"{name}/{label}": _row(name, learners, variant, change)
        for name in sets
        for label, (variant, change, learners) in VARIANTS.items()
    }
    means, _ = means_and_spreads(cross_validated(run, rows, FEW_RUNS))
    reproduced: Cells = {name: {} for name in sets}
    for name in sets:
        for label in VARIANTS:
            row = means[f"{name}/as the program"] | means[f"{name}/{label}"]
            reproduced[name][label] = distance(row, published.TABLE_4[name])
    reproduced["mean"] = {
        change: float(np.mean([reproduced[name][change] for name in sets])) for change in VARIANTS
    }
    best = ", ".join(
        f"{change} {value:.1f}"
        for change, value in sorted(reproduced["mean"].items(), key=lambda p: p[1])
    )
    note = (
        f"Mean of {counted(len(run.seeds(FEW_RUNS)), 'run')}. Each column changes one thing; the "
        f"least distance of a row is set bold. In the mean over the data sets: {best}."
    )
    title = "Mean distance of the ten cells of a row of table 4 from the published ones, in points"
    return _table(run, "variants", title, reproduced, note, best="least of row")


def ties(run: Run) -> Table:
    """Positive Winnow under other readings of a score that is exactly the threshold."""
    sets, readings = run.of(published.SETS, QUICK_SETS), ("mistakes", *TIES)
    rows: dict[str, tuple[Any, ...]] = {f"{name}/mistakes": (name, ALL) for name in sets}
    rows |= {
        f"{name}/{reading}": (name, ("PW",), Variant(ties=reading), "")
        for name in sets
        for reading in TIES
    }
    means, spread = means_and_spreads(cross_validated(run, rows, RUNS))
    reproduced = {
        name: {f"ties {reading}": means[f"{name}/{reading}"]["PW"] for reading in readings}
        for name in sets
    }
    spreads = {
        name: {
            f"ties {reading}": spread[f"{name}/{reading}"].get("PW", np.nan) for reading in readings
        }
        for name in sets
    }
    printed = {
        name: {f"ties {reading}": published.TABLE_4[name]["PW"] for reading in readings[:3]}
        for name in sets
    }  # fmt: skip
    far = {reading: float(np.mean([abs(reproduced[name][reading] - published.TABLE_4[name]["PW"])
                               for name in sets])) for reading in reproduced[sets[0]]}  # fmt: skip
    first, row = "Wisc", reproduced["Wisc"]
    note = (
        "A new example whose features are all new scores exactly the threshold in the Winnows. The "
        "paper's condition, a score times the class of at most 0, makes that a mistake of either "
        "class: table 4 has this reading. Where zero decides for the positive class, it is a "
        "mistake of negatives alone. As rounded is what single precision makes of it; the program "
        "computed in doubles, in an order of features that is not known, so that rounding decided "
        "there too. Where a tie is no mistake nothing is ever learned. On "
        f"{first}: {row['ties mistakes']:.1f}, {row['ties a mistake of negatives']:.1f} and "
        f"{row['ties as rounded']:.1f} (published {published.TABLE_4[first]['PW']}); mean "
        "distance from the published column: "
        + ", ".join(f"{reading} {value:.1f}" for reading, value in far.items())
        + "."
    )
    title = "F1 of Positive Winnow, a score at the threshold being read otherwise"
    more = {"spread": spreads, "published": printed}
    return _table(run, "ties", title, reproduced, note, **more)


def floor(run: Run) -> Table:
    """Modified Balanced Winnow as printed, and with a floor for 1 - x."""
    sets, pair = run.of(published.SETS, QUICK_SETS), ("MBW", "v-MBW")
    rows: dict[str, tuple[Any, ...]] = {name: (name, published.LEARNERS) for name in sets}
    rows |= {f"{name}/floor": (name, pair, Variant(floor=FLOOR), "") for name in sets}
    means, _ = means_and_spreads(cross_validated(run, rows, RUNS))
    shares = run.cells(share_at_floor, [(name, FLOOR) for name in sets])
    reproduced, printed = {}, {}
    for name, share in zip(sets, shares, strict=True):
        floored = means[f"{name}/floor"]
        reproduced[name] = {learner: means[name][learner] for learner in pair}
        reproduced[name] |= {f"{learner}, floor": floored[learner] for learner in pair}
        reproduced[name]["examples that meet it, %"] = share
        printed[name] = {learner: published.TABLE_4[name][learner] for learner in pair}
    largest = max(
        abs(cells[f"{learner}, floor"] - cells[learner])
        for cells in reproduced.values()
        for learner in pair
    )
    met = {name: share for name, share in zip(sets, shares, strict=True) if share > 1}
    note = (
        "Where a feature is nearly all of an example, 1 - x is nearly zero and kills its weight; "
        "the library's Modified Balanced Winnow therefore takes 1/16 at least. Table 4 has none, "
        "as the paper. Examples that meet the floor: "
        + (", ".join(f"{name} {share:.0f} %" for name, share in met.items()) or "none")
        + f"; at most 1 % elsewhere. It moves F1 by at most {largest:.1f}."
    )
    title = "F1 of Modified Balanced Winnow without and with a floor of 1/16 for 1 - x"
    return _table(run, "floor", title, reproduced, note)


def empty_examples(run: Run) -> Table:
    """Effect of examples without features on learners whose norm excludes the bias."""
    sets = run.of(("20newsgroup", "Ads", "Sig", "Reply", "Congress"), ("Ads", "Congress"))
    rows = {}
    for name in sets:
        change = problems.EMPTY_POSTS if name == "20newsgroup" else ""
        learners = (*NORMED, "v-P") if change else NORMED
        rows[f"{name}, with them"] = _row(name, learners if change else ALL, PROGRAM, change)
        rows[f"{name}, without"] = (name, learners, PROGRAM, problems.NO_EMPTY)
        rows[f"{name}, with them, in the norm"] = (name, learners, Variant(in_norm=True), change)
    means, spread = means_and_spreads(cross_validated(run, rows, RUNS))
    means = {
        row: {learner: f1 for learner, f1 in cells.items() if learner in (*NORMED, "v-P")}
        for row, cells in means.items()
    }
    printed = {row: {learner: published.TABLE_4[key[0]][learner] for learner in NORMED}
               for row, key in rows.items()}  # fmt: skip
    note = (
        "Votes that were all missing, lines without a mark, posts without a word: their |x|² is 0 "
        "where the always-on feature does not count, and one step of Passive-Aggressive then moves "
        "that feature by the loss divided by γ = 0.1, ten times too far. The program does so; the "
        "library by default does not. Table 4 has the examples of the published data sets as they "
        "are, but no posts of 20newsgroup without a word, which taking off headers made."
    )
    title = "F1 with and without examples that have no feature"
    more = {"spread": spread, "published": printed}
    return _table(run, "empty-examples", title, reproduced=means, note=note, **more)


# ---- what the data may have been ----------------------------------------------------------------


def _with_bayes(run: Run, rows: Mapping[str, tuple[Any, ...]]) -> Cells:
    """Return F1 of the online learners and of naive Bayes, and the distance from the paper."""
    means, _ = means_and_spreads(cross_validated(run, rows, FEW_RUNS))
    keys = [(name, "Naive Bayes", run.seed, *more[1:]) for name, _, *more in rows.values()]
    for (row, key), f1 in zip(rows.items(), run.cells(batch, keys), strict=True):
        means[row] = distanced(means[row], published.TABLE_4[key[0]])
        means[row]["Naive Bayes"] = float(np.mean(f1))
    return means


def distanced(cells: Mapping[str, float], printed: Mapping[str, float]) -> dict[str, float]:
    """Return a row with its distance from the published row."""
    return {**cells, "distance": distance(cells, printed)}


def reuters_topics(run: Run) -> Table:
    """The row of Reuters, for each topic that "money" may be."""
    topics = run.of(problems.TOPICS, ("earn", "money-fx"))
    learners = run.of(published.LEARNERS, ("MBW", "BW"))
    rows = {
        topic: _row("Reuters", learners, PROGRAM, topic if topic != "earn" else "")
        for topic in topics
    }
    reproduced, printed = _with_bayes(run, rows), published.TABLE_4["Reuters"]
    near, *further = sorted(topics, key=lambda topic: reproduced[topic]["distance"])
    note = (
        f"The paper classifies the category “money”. Nearest to its row is `{near}`, in the mean "
        f"{reproduced[near]['distance']:.1f} points away; then `{further[0]}` with "
        f"{reproduced[further[0]]['distance']:.1f}. money-fx is "
        f"{reproduced['money-fx']['distance']:.1f} away (MBW {reproduced['money-fx']['MBW']:.1f}, "
        f"published {printed['MBW']}). Naive Bayes, beside it, has "
        f"{reproduced[near]['Naive Bayes']:.1f} on `{near}` (published "
        f"{published.TABLE_5['Reuters']['Naive Bayes']:.1f})."
    )
    title = "The row of Reuters in table 4, by the topic that is positive"
    return _table(run, "reuters-topics", title, reproduced, note)


GROUP_SETS = 6


def newsgroups(run: Run) -> Table:
    """The row of 20newsgroup over many sets of five newsgroups."""
    learners = (*published.LEARNERS, "v-P")
    names = sorted({labels[0] for labels in problems.read(problems.NEWSGROUPS).labels})
    random = np.random.default_rng(run.seed)
    fives = [
        tuple(sorted(random.choice(names, 5, replace=False).tolist()))
        for _ in range(run.of(GROUP_SETS, 1))
    ]
    keys = [(learners, five, group, run.seed) for five in fives for group in five[: run.of(5, 1)]]
    f1 = [
        {learner: float(np.mean(cell[learner])) for learner in learners}
        for cell in run.cells(groups, keys)
    ]
    printed = published.TABLE_4["20newsgroup"] | {
        "v-P": published.TABLE_5["20newsgroup"]["v-Perceptron"]
    }
    kinds: dict[str, Any] = {
        "mean": np.mean,
        "standard deviation": np.std,
        "lowest": np.min,
        "highest": np.max,
    }
    reproduced: Cells = {
        kind: {learner: float(of([cells[learner] for cells in f1])) for learner in learners}
        for kind, of in kinds.items()
    }
    nearest = min(f1, key=lambda cells: distance(cells, printed))
    reproduced["nearest problem"] = nearest
    inside = sum(
        reproduced["lowest"][learner] <= printed[learner] <= reproduced["highest"][learner]
        for learner in learners
    )
    note = (
        f"{counted(len(fives), 'random set')} of five newsgroups, each group in turn against the "
        f"other four: {counted(len(keys), 'problem')}, one run each. Which five the paper "
        f"took is not known. For {inside} of the {len(learners)} learners the published value lies "
        "between the lowest and the "
        f"highest; the nearest problem is {distance(nearest, printed):.1f} points away, the mean "
        f"of all {distance(reproduced['mean'], printed):.1f}."
    )
    title = "F1 on one of five newsgroups, over many such problems"
    rows = {"mean": printed} if not run.quick else {}
    more = {"published": rows, "spread": {"mean": reproduced["standard deviation"]}}
    return _table(run, "newsgroups", title, reproduced, note, **more)


def signature_features(run: Run) -> Table:
    """The rows of Sig and Reply with other features of a line."""
    changes = {"as taken": "", **{change: change for change in problems.AT_THE_END.values()}}
    changes |= {"of the lines around too": problems.WINDOW, "no empty lines": problems.NO_EMPTY}
    learners = run.of(published.LEARNERS, ("MBW",))
    rows = {
        f"{name}, {label}": _row(name, learners, PROGRAM, change)
        for name in run.of(("Sig", "Reply"), ("Sig",))
        for label, change in changes.items()
        if not run.quick or label in ("as taken", "no empty lines")
    }
    reproduced = _with_bayes(run, rows)
    near = min(
        (row for row in rows if row.startswith("Sig")), key=lambda row: reproduced[row]["distance"]
    )
    note = (
        "The paper has 37 features that were not published; here they are inferred from the "
        f"description. Nearest to the published row of Sig is “{near}”, "
        f"{reproduced[near]['distance']:.1f} points in the mean. Published are for MBW, v-MBW and "
        "Naive Bayes 80.2, 80.3 and 73.9 on Sig, 93.4, 93.5 and 94.0 on Reply: no set that was "
        "tried fits all learners."
    )
    title = "The rows of Sig and Reply in table 4, with other features"
    return _table(run, "signature-features", title, reproduced, note)


def messages(run: Run) -> Table:
    """The rows of Spam and Scam with other features."""
    learners = run.of((*published.LEARNERS, "v-P"), ("v-ROMMA", "v-P"))
    rows, printed = {}, {}
    for name in run.of(("Spam", "Scam"), ("Spam",)):
        voted = {"v-P": published.TABLE_5[name]["v-Perceptron"]}
        changes = {"words": (PROGRAM, ""), "ROMMA from zero": (Variant(romma_initial="zero"), "")}
        changes |= {
            change: (PROGRAM, change) for change in run.of((problems.DIGITS, problems.PAIRS), ())
        }
        for label, change in changes.items():
            rows[f"{name}, {label}"] = (name, learners, *change)
            printed[f"{name}, {label}"] = published.TABLE_4[name] | voted
    means, _ = means_and_spreads(cross_validated(run, rows, FEW_RUNS))
    note = (
        "The paper's messages are not public; these are others, and ROMMA, whose weights start at "
        "one, hangs on what counts as a feature as no other learner does: v-ROMMA is "
        + ", ".join(f"{cells['v-ROMMA']:.1f} ({row})" for row, cells in means.items())
        + "; published are 73.3 on Spam and 95.6 on Scam. v-Perceptron is "
        + ", ".join(f"{cells['v-P']:.1f} ({row})" for row, cells in means.items())
        + "; published are 69.0 and 94.2."
    )
    title = "The rows of Spam and Scam in table 4, with other features"
    reproduced = {row: distanced(cells, printed[row]) for row, cells in means.items()}
    return _table(run, "messages", title, reproduced, note)


# ---- learners that learn at once ----------------------------------------------------------------


ENDLESS = {  # where it matters after how many steps LIBSVM is stopped, and seconds allow
    "LIBSVM, 10,000 steps": ("Ads", "Adult", "Credit"),
    "LIBSVM, 1,000,000 steps": ("Ads", "Credit"),
}


def batch_programs(run: Run) -> Table:
    """Table 5's SVM and Naive Bayes, by other programs."""
    sets = run.of(published.SETS, ("Congress", "Wisc"))
    pairs = [
        (name, program) for name in sets for program in BATCH if name in ENDLESS.get(program, sets)
    ]
    with quiet_solvers():
        cells = run.cells(batch, [(*pair, run.seed) for pair in pairs])
    reproduced: Cells = {name: {} for name in sets}
    for (name, program), f1 in zip(pairs, cells, strict=True):
        reproduced[name][program] = float(np.mean(f1))
    bayes = ("Naive Bayes", "multinomial", "Bernoulli")
    printed = {
        name: {
            program: published.TABLE_5[name]["Naive Bayes" if program in bayes else "SVM"]
            for program in reproduced[name]
        }
        for name in sets
    }
    far = {
        program: float(
            np.mean([abs(reproduced[name][program] - printed[name][program]) for name in sets])
        )
        for program in BATCH
        if program not in ENDLESS
    }
    reproduced["mean distance"] = far
    note = (
        "One run of five folds. SVM: LinearSVC with the hinge or the squared hinge; LIBSVM, the "
        "paper's program, with its default C = 1 and a linear kernel, stopped after so many steps: "
        "where features of 10⁵ stand beside features of 1 it does not come to an end, on Ads and "
        "Credit in a million, on Adult in a hundred thousand, and F1 is that of the moment at "
        "which it is stopped. Naive Bayes: as "
        "the program has it, shares of examples whose logarithms count as often as the feature, "
        "and scikit-learn's multinomial and Bernoulli forms. Mean distance from the published "
        "column: " + ", ".join(f"{program} {value:.1f}" for program, value in far.items()) + "."
    )
    title = "Table 5's SVM and Naive Bayes, by several programs"
    more = {"published": printed, "summaries": ("mean distance",)}
    return _table(run, "batch-programs", title, reproduced, note, **more)


# ---- section 7: external regret -----------------------------------------------------------------


def external_regret(run: Run) -> Table:
    """Positive Winnow without and with external regret."""
    sets = run.of(published.SETS, QUICK_SETS)
    means, spread = run.rows(judged, {name: (name,) for name in sets}, FEW_RUNS)
    pairs = {"RW": "PW", "v-RW": "v-PW", "as the program": "PW"}
    gains = {learner: [means[name][learner] - means[name][base] for name in sets]
             for learner, base in pairs.items()}  # fmt: skip
    note = (
        "PW is Positive Winnow, v-PW its average. RW (`RegretWinnow`) multiplies each feature's "
        "weight besides by γ to the power of its own loss less γ times the learner's, after Blum "
        "and Mansour, with γ = 0.95; a feature says yes where its weight has risen above its "
        "start. In the public program a feature that is there always says yes, and after every "
        "example it takes the sums of all losses so far. Gains: "
        + "; ".join(
            f"{learner} {np.mean(on_sets):+.1f} in the mean, better on "
            f"{sum(g > 0 for g in on_sets)} of {len(on_sets)} sets"
            for learner, on_sets in gains.items()
        )
        + "."
    )
    title = "Section 7: Positive Winnow without and with external regret, F1"
    return _table(run, "external-regret", title, means, note, spread=spread, best="row")
