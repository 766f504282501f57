"""Claims of sections 7 and 8, checked on the reproduced results."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from thresher_papers._result import Claim, Curve, Figure, Finding, Table
from thresher_papers.cai_hofmann_2003.published import (
    AVERAGES,
    BLOCKS,
    ERRORS,
    SHARES,
    TABLE_1,
    TABLE_2,
    VARIANTS,
    columns_of,
    row_name,
)

CLAIMS: list[Claim] = []
Check = Callable[..., Finding]
RANKING = ("BEP", "AvgP", "AdF1")  # of both variants and both averages


def claim(text: str, *items: str) -> Callable[[Check], Check]:
    """Put what a function checks, given the results of some items, among the claims."""

    def keep(check: Check) -> Check:
        CLAIMS.append(Claim(text, items, check))
        return check

    return keep


def _gains(table: Table, features: str) -> dict[tuple[str, str, str], float]:
    """Return the improvements by variant, average and column."""
    return {
        (*block, column): gain
        for block in BLOCKS
        for column, gain in table.reproduced[row_name(*block, features, True)].items()
    }


def _kinds(table: Table) -> list[str]:
    """Return the kinds of features that are compared with words alone."""
    names = (row.split(", ")[1] for row in table.reproduced if row.endswith("improvement"))
    return list(dict.fromkeys(names))


def _listed(gains: dict[tuple[str, str, str], float]) -> str:
    return ", ".join(f"{' '.join(name)} {gain:+.2f} %" for name, gain in gains.items())


# ---- table 1 -------------------------------------------------------------------------------------


@claim("Reuters: concepts of one K generally improve the averages (7.1)", "table-1")
def each_k_helps(table: Table) -> Finding:
    kinds = {kind: list(_gains(table, kind).values()) for kind in _kinds(table) if kind != "mixA"}
    better = {kind: sum(gain > 0 for gain in gains) for kind, gains in kinds.items()}
    n = len(_gains(table, "mixA"))
    worst, best = (kind(better, key=better.__getitem__) for kind in (min, max))
    figures = (
        f"{sum(better.values())} of {n * len(better)} cells are better with concepts of one K; "
        f"from {better[worst]} of {n} ({worst}) to {better[best]} ({best})"
    )
    return Finding(min(better.values()) > n / 2, figures)


@claim("The best is achieved by merging the models of all K (7.1)", "table-1")
def mixing_is_best(table: Table) -> Finding:
    singles = [kind for kind in _kinds(table) if kind != "mixA"]
    mixed = _gains(table, "mixA")
    best = {name: max(_gains(table, kind)[name] for kind in singles) for name in mixed}
    beaten = {name: best[name] - gain for name, gain in mixed.items() if best[name] > gain}
    mean = {kind: float(np.mean(list(_gains(table, kind).values()))) for kind in singles}
    strongest = max(mean, key=mean.__getitem__)
    average = float(np.mean(list(mixed.values())))
    figures = (
        f"mixA is above every single K in {len(mixed) - len(beaten)} of {len(mixed)} cells, and "
        f"improves {average:.2f} % on average, the best single K ({strongest}) "
        f"{mean[strongest]:.2f} %; above it: {_listed(beaten) or 'none'}"
    )
    return Finding(average > mean[strongest] and 2 * len(beaten) < len(mixed), figures)


@claim("MH and MR do almost equally well, MH with a small advantage (7.1)", "table-1")
def variants_are_alike(table: Table) -> Finding:
    differences = [
        table.reproduced[row_name("MH", average, features)][column]
        - table.reproduced[row_name("MR", average, features)][column]
        for features in ("term", "mixA")
        for average in AVERAGES
        for column in RANKING
    ]
    mean = float(np.mean(differences))
    figures = (
        f"MH is ahead in {sum(gap > 0 for gap in differences)} of {len(differences)} cells, by "
        f"{mean:.2f} points on average, at most {max(map(abs, differences)):.2f} apart"
    )
    return Finding(0 < mean < 1, figures)


@claim("Concepts improve all measures, for MH and MR (7.1, 8)", "table-1")
def concepts_improve_all(table: Table) -> Finding:
    gains = _gains(table, "mixA")
    worse = {name: gain for name, gain in gains.items() if gain <= 0}
    ranked = sorted(gains, key=gains.__getitem__)
    ends = _listed({name: gains[name] for name in (ranked[0], ranked[-1])})
    figures = f"{len(gains) - len(worse)} of {len(gains)} are better; least and most: {ends}"
    return Finding(not worse, figures, f"not better: {_listed(worse)}")


@claim("The relative gains of macro averages are higher (7.1)", "table-1")
def macro_gains_more(table: Table) -> Finding:
    gains = _gains(table, "mixA")
    pairs = {
        (variant, column): (gains[variant, "macro", column], gain)
        for (variant, average, column), gain in gains.items()
        if average == "micro"
    }
    less = {" ".join(name): pair for name, pair in pairs.items() if pair[0] <= pair[1]}
    macro, micro = (float(np.mean(gains)) for gains in zip(*pairs.values(), strict=True))
    exceptions = ", ".join(
        f"{name} ({macro_gain:.2f} and {micro_gain:.2f} %)"
        for name, (macro_gain, micro_gain) in less.items()
    )
    figures = (
        f"{macro:.2f} % on average for macro averages, {micro:.2f} % for micro averages of the "
        f"same measures; the other way round: {exceptions or 'none'}"
    )
    return Finding(macro > micro and 2 * len(less) < len(pairs), figures)


@claim("Concepts are most useful for categories with few positive documents (7.1)", "by-size")
def rare_gain_most(table: Table) -> Finding:
    quarters = {
        name.split(", ")[1]: cells for name, cells in table.reproduced.items() if "Reuters" in name
    }
    rarest = next(iter(quarters.values()))
    gains = [cells["mean gain"] for cells in quarters.values()]
    figures = "; ".join(f"{name} {cells['mean gain']:+.1f}" for name, cells in quarters.items())
    n = rarest["categories"]
    other_gain = (n * rarest["mean gain"] + rarest["largest loss"]) / (n - 1)
    medians = ", ".join(f"{cells['median gain']:.1f}" for cells in quarters.values())
    why = (
        "the paper concludes it from the macro averages, which gain more here as well; but the "
        f"quarters between gain most. The rarest hang on few test documents: of {n} topics one "
        f"loses {rarest['largest loss']:.1f} points, the others gain {other_gain:.1f} on average "
        f"(medians of the quarters: {medians})"
    )
    holds = np.mean(gains[:2]) > np.mean(gains[2:])
    return Finding(holds, f"AvgP of MH, points, by quarters of the topics: {figures}", why)


@claim("The classification error benefits most in relative terms (7.1)", "table-1")
def errors_gain_most(table: Table) -> Finding:
    gains = _gains(table, "mixA")
    largest = {
        variant: max(
            (name for name in gains if name[:2] == (variant, "macro")), key=gains.__getitem__
        )
        for variant in VARIANTS
    }
    figures = "; ".join(f"{' '.join(name)} {gains[name]:.1f} %" for name in largest.values())
    return Finding(all(name[2] in ERRORS for name in largest.values()), f"most gains: {figures}")


@claim("F1 and average precision of MH gain more than 5 % (7.1)", "table-1")
def five_percent(table: Table) -> Finding:
    before, after = (table.reproduced[row_name("MH", "macro", row)] for row in ("term", "mixA"))
    columns = columns_of("MH", "macro")
    printed = dict(zip(columns, TABLE_1["MH", "macro"][0], strict=True))
    gains = {name: 100 * (after[name] / before[name] - 1) for name in ("F1", "AvgP")}
    starts = "; ".join(
        f"{name} begins at {before[name]:.1f} (published {printed[name]}) and ends at "
        f"{after[name]:.1f}, {100 * (after[name] / printed[name] - 1):.1f} % above the published "
        "beginning"
        for name in gains
    )
    why = f"words alone do better here, above all in recall ({before['r']:.1f}, published "
    why += f"{printed['r']}): {starts}"
    figures = ", ".join(f"{name} {gain:.2f} %" for name, gain in gains.items())
    return Finding(min(gains.values()) > 5, figures, why)


# ---- figure 3 ------------------------------------------------------------------------------------


def _advantages(figure: Figure) -> dict[tuple[str, float], float]:
    """Return what concepts add, by panel and rounds."""
    return {
        (panel, x): after - before
        for panel, curves in figure.reproduced.items()
        for terms, mixed in [curves.values()]
        for x, before, after in zip(terms.x, terms.y, mixed.y, strict=True)
    }


def _higher(figure: Figure) -> str:
    gains = list(_advantages(figure).values())
    better = sum(gain > 0 for gain in gains)
    return f"{better} of {len(gains)} points are higher with concepts, by {np.mean(gains):.2f}"


@claim(
    "The advantage of concepts persists from 200 to 5,000 rounds (7.1)",
    "figure-3",
    "more-memberships",
)
def advantage_persists(figure: Figure, more: Figure) -> Finding:
    gains = _advantages(figure)
    means = ", ".join(
        f"{panel} {np.mean([gain for (name, _), gain in gains.items() if name == panel]):+.2f}"
        for panel in figure.reproduced
    )
    figures = f"{_higher(figure)} points on average ({means})"
    exceptions = ", ".join(
        f"{panel} {gain:+.2f} after {x}" for (panel, x), gain in gains.items() if gain <= 0
    )
    why = (
        f"not higher: {exceptions}. Lower memberships do not mend it: {more.title.lower()}, of one "
        f"start, {_higher(more)} on average"
    )
    holds = sum(gain > 0 for gain in gains.values()) >= 0.9 * len(gains)
    return Finding(holds, figures, why, is_open=True)


def _peaks(figure: Figure, average: str, first: int, last: int) -> Finding:
    curves: dict[str, Curve] = {
        f"{panel.split(', ')[1]} with {name}": curve
        for panel, curves in figure.reproduced.items()
        if panel.startswith(average)
        for name, curve in curves.items()
    }
    peaks = {name: curve.x[int(np.argmax(curve.y))] for name, curve in curves.items()}
    inside = sum(first <= peak <= last for peak in peaks.values())
    lost = [
        max(curve.y) - max(y for x, y in zip(*curve, strict=True) if first <= x <= last)
        for curve in curves.values()
    ]
    moves = max(float(np.ptp(curve.y)) for curve in curves.values())
    figures = f"{inside} of {len(peaks)} curves: " + ", ".join(
        f"{name} after {peak}" for name, peak in peaks.items()
    )
    why = (
        f"the curves are flat: none moves by more than {moves:.2f} points in all, and the best "
        f"between {first} and {last} rounds is at most {max(lost):.2f} below the peak"
    )
    return Finding(2 * inside > len(peaks), figures, why)


@claim("Micro averages peak around 500 to 1,000 rounds (7.1)", "figure-3")
def micro_peaks(figure: Figure) -> Finding:
    return _peaks(figure, "micro", 500, 1000)


@claim("Macro averages are best after 200 to 500 rounds (7.1)", "figure-3")
def macro_peaks(figure: Figure) -> Finding:
    return _peaks(figure, "macro", 200, 500)


# ---- table 2, figure 4 ---------------------------------------------------------------------------


@claim("Medical documents: almost all measures improve, K from 500 to 1000 (7.2)", "table-2")
def medline_improves(table: Table) -> Finding:
    gains = {kind: _gains(table, kind) for kind in _kinds(table)}
    better = {
        kind: sum(gain > 0 for gain in kind_gains.values()) for kind, kind_gains in gains.items()
    }
    n = len(next(iter(gains.values())))
    worse = {
        (kind, *name): gain
        for kind, kind_gains in gains.items()
        for name, gain in kind_gains.items()
        if gain <= 0
    }
    exceptions = ", ".join(f"{' '.join(name)} {gain:+.1f} %" for name, gain in worse.items())
    figures = ", ".join(f"{kind}: {number} of {n}" for kind, number in better.items())
    return Finding(
        sum(better.values()) >= 0.85 * n * len(better), f"better: {figures}", f"not: {exceptions}"
    )


@claim("Relative gains are in the 5 % range on both collections (7.2, 8)", "table-1", "table-2")
def gains_are_alike(reuters: Table, medline: Table) -> Finding:
    kinds = {
        "Reuters-21578": (reuters, "mixA", TABLE_1),
        "MEDLINE": (medline, _kinds(medline)[0], TABLE_2),
    }
    median = {
        name: float(np.median(list(_gains(*kind[:2]).values()))) for name, kind in kinds.items()
    }
    printed = {
        name: float(np.median([gain for _, _, gains in table.values() for gain in gains]))
        for name, (_, _, table) in kinds.items()
    }
    figures = ", ".join(
        f"{name} {gain:.1f} % (published {printed[name]:.1f})" for name, gain in median.items()
    )
    return Finding(all(2.5 <= x <= 7.5 for x in median.values()), f"medians: {figures}", figures)


@claim("Absolute figures are all lower than on Reuters (7.2)", "table-1", "table-2")
def medline_is_harder(reuters: Table, medline: Table) -> Finding:
    pairs = {
        (*block, column): (medline.reproduced[row_name(*block, "term")][column], value)
        for block in BLOCKS
        for column, value in reuters.reproduced[row_name(*block, "term")].items()
        if column not in ERRORS
    }
    lower = [name for name, (medline, reuters) in pairs.items() if medline < reuters]
    medline, reuters = pairs["MH", "micro", "BEP"]
    figures = (
        f"{len(lower)} of {len(pairs)} measures with words alone are lower on MEDLINE (micro "
        f"break-even of MH {medline:.1f} and {reuters:.1f})"
    )
    return Finding(len(lower) == len(pairs), figures)


def _weights(figure: Figure, name: str) -> str:
    """Say how the weight on concepts goes in a collection."""
    sentences = []
    for variant, curve in figure.reproduced[name].items():
        y = np.array(curve.y)
        falls = np.maximum.accumulate(y) - y
        sentences.append(
            f"{variant} from {y[0]:.0f} to {y[-1]:.0f} %, {y[-1] - y[3 * len(y) // 4]:+.1f} points "
            f"in the last quarter of the rounds, at most {falls.max():.1f} below an earlier round "
            f"(round {int(falls.argmax()) + 1})"
        )
    return "; ".join(sentences)


def _grows(figure: Figure, name: str) -> bool:
    """Return whether the curves nearly rise from round to round, and are flat at the end."""
    curves = [np.array(curve.y) for curve in figure.reproduced[name].values()]
    return all(
        (np.maximum.accumulate(y) - y).max() < 2 and y[-1] - y[3 * len(y) // 4] < 0.15 * np.ptp(y)
        for y in curves
    )


def _weight(figure: Figure, name: str, table: Table, column: str, reason: str) -> Finding:
    """Compare the ends of MH's curve with the published ones, and say on what they hang."""
    y = figure.reproduced[name]["AdaBoost.MH"].y
    near = np.abs(np.subtract((y[0], y[-1]), SHARES[name])).max() <= 5
    ends = ", ".join(
        f"{row}: {cells[f'{column}, first']:.0f} to {cells[f'{column}, last']:.0f} %"
        for row, cells in table.reproduced.items()
    )
    lowest = int(np.argmin(y))
    why = (
        f"{reason} ({ends}); from its lowest, {y[lowest]:.0f} % in round {lowest + 1}, MH's weight "
        f"on concepts rises to {y[-1]:.0f} %"
    )
    return Finding(near and _grows(figure, name), _weights(figure, name), why)


@claim(
    "Reuters: the weight on concepts grows from 45 to 73 %, until it flattens out (7.2)",
    "figure-4",
    "memberships",
)
def weight_of_reuters(figure: Figure, limits: Table) -> Finding:
    reason = "the weight hangs on the memberships that count"
    return _weight(figure, "Reuters-21578", limits, "weight", reason)


@claim(
    "Medical documents: it grows from 20 to 50 %, until it flattens out (7.2)",
    "figure-4",
    "abstracts",
)
def weight_of_medline(figure: Figure, records: Table) -> Finding:
    reason = "other records than the paper's, and the weight hangs on how many have an abstract"
    return _weight(figure, "MEDLINE", records, "MH weight", reason)


@claim("Words are chosen first, concepts dominate in later rounds (7.2)", "figure-4")
def words_come_first(figure: Figure) -> Finding:
    shares = [curve.y for curves in figure.reproduced.values() for curve in curves.values()]
    figures = "; ".join(
        f"{name}, {variant}: {curve.y[0]:.0f} to {curve.y[-1]:.0f} %"
        for name, curves in figure.reproduced.items()
        for variant, curve in curves.items()
    )
    of_mh = figure.reproduced["Reuters-21578"]["AdaBoost.MH"].y
    return Finding(of_mh[0] < 50 < of_mh[-1] and all(y[-1] > y[0] for y in shares), figures)
