"""What sections 7 and 8 say about the figures, checked against ours."""

from __future__ import annotations

import numpy as np

from thresher.papers._result import Claim, Curve, Figure, Finding, Table
from thresher.papers.cai_hofmann_2003.published import (
    AVERAGES,
    BLOCKS,
    ERRORS,
    SHARES,
    TABLE_1,
    VARIANTS,
    row_name,
)

RANKING = ("BEP", "AvgP", "AdF1")  # of both variants and both averages


def _finding(holds: bool, figures: str, why: str = "") -> Finding:
    return Finding(bool(holds), figures, "" if holds else why)


def _gains(table: Table, features: str) -> dict[tuple[str, str, str], float]:
    """Return the improvements by variant, average and column."""
    return {
        (*block, column): gain
        for block in BLOCKS
        for column, gain in table.ours[row_name(*block, features, True)].items()
    }


def _kinds(table: Table) -> list[str]:
    """Return the kinds of features that are compared with words alone."""
    names = (row.split(", ")[1] for row in table.ours if row.endswith("improvement"))
    return list(dict.fromkeys(names))


def _listed(gains: dict[tuple[str, str, str], float]) -> str:
    return ", ".join(f"{' '.join(name)} {gain:+.2f} %" for name, gain in gains.items())


# ---- table 1 -------------------------------------------------------------------------------------


def each_k_helps(table: Table) -> Finding:
    kinds = {kind: list(_gains(table, kind).values()) for kind in _kinds(table) if kind != "mixA"}
    better = {kind: sum(gain > 0 for gain in gains) for kind, gains in kinds.items()}
    n = len(_gains(table, "mixA"))
    least, most = (kind(better, key=better.__getitem__) for kind in (min, max))
    figures = (
        f"{sum(better.values())} of {n * len(better)} cells are better with concepts of one K; "
        f"from {better[least]} of {n} ({least}) to {better[most]} ({most})"
    )
    return _finding(min(better.values()) > n / 2, figures)


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
    return _finding(average > mean[strongest] and 2 * len(beaten) < len(mixed), figures)


def variants_are_alike(table: Table) -> Finding:
    differences = [
        table.ours[row_name("MH", average, features)][column]
        - table.ours[row_name("MR", average, features)][column]
        for features in ("term", "mixA")
        for average in AVERAGES
        for column in RANKING
    ]
    mean = float(np.mean(differences))
    figures = (
        f"MH is ahead in {sum(one > 0 for one in differences)} of {len(differences)} cells, by "
        f"{mean:.2f} points on average, at most {max(map(abs, differences)):.2f} apart"
    )
    return _finding(0 < mean < 1, figures)


def concepts_improve_all(table: Table) -> Finding:
    gains = _gains(table, "mixA")
    worse = {name: gain for name, gain in gains.items() if gain <= 0}
    ranked = sorted(gains, key=gains.__getitem__)
    ends = _listed({name: gains[name] for name in (ranked[0], ranked[-1])})
    figures = f"{len(gains) - len(worse)} of {len(gains)} are better; least and most: {ends}"
    return _finding(not worse, figures, f"not better: {_listed(worse)}")


def macro_gains_more(table: Table) -> Finding:
    gains = _gains(table, "mixA")
    pairs = {
        (variant, column): (gains[variant, "macro", column], gain)
        for (variant, average, column), gain in gains.items()
        if average == "micro"
    }
    less = {" ".join(name): pair for name, pair in pairs.items() if pair[0] <= pair[1]}
    macro, micro = (float(np.mean(own)) for own in zip(*pairs.values(), strict=True))
    exceptions = ", ".join(
        f"{name} ({one:.2f} and {other:.2f} %)" for name, (one, other) in less.items()
    )
    figures = (
        f"{macro:.2f} % on average for macro averages, {micro:.2f} % for micro averages of the "
        f"same measures; the other way round: {exceptions or 'none'}"
    )
    return _finding(macro > micro and 2 * len(less) < len(pairs), figures)


def rare_gain_most(table: Table) -> Finding:
    rows = {name: cells["gain"] for name, cells in table.ours.items() if name.startswith("Reuters")}
    gains = list(rows.values())
    figures = "; ".join(f"{name.split(', ')[1]} {gain:+.1f} points" for name, gain in rows.items())
    return _finding(np.mean(gains[:2]) > np.mean(gains[2:]), f"AvgP of MH by topics: {figures}")


def errors_gain_most(table: Table) -> Finding:
    gains = _gains(table, "mixA")
    most = {
        variant: max(
            (name for name in gains if name[:2] == (variant, "macro")), key=gains.__getitem__
        )
        for variant in VARIANTS
    }
    figures = "; ".join(f"{' '.join(name)} {gains[name]:.1f} %" for name in most.values())
    return _finding(all(name[2] in ERRORS for name in most.values()), f"most gains: {figures}")


def five_percent(table: Table) -> Finding:
    gains = _gains(table, "mixA")
    f1, precision = gains["MH", "macro", "F1"], gains["MH", "macro", "AvgP"]
    term = table.ours[row_name("MH", "macro", "term")]
    mixed = table.ours[row_name("MH", "macro", "mixA")]
    recall, before = TABLE_1["MH", "macro"][0][1:3]
    why = (
        f"with words alone our macro recall is {term['r']:.1f} (published {recall}), so F1 begins "
        f"higher, at {term['F1']:.1f} ({before}), and ends as in the paper, at {mixed['F1']:.1f} "
        f"({TABLE_1['MH', 'macro'][1][2]}): from the published start it would gain "
        f"{100 * (mixed['F1'] / before - 1):.1f} %"
    )
    return _finding(f1 > 5 and precision > 5, f"F1 {f1:.2f} %, AvgP {precision:.2f} %", why)


# ---- figure 3 ------------------------------------------------------------------------------------


def advantage_persists(figure: Figure) -> Finding:
    differences = {
        (panel, x): after - before
        for panel, curves in figure.ours.items()
        for terms, both in [curves.values()]
        for x, before, after in zip(terms.x, terms.y, both.y, strict=True)
    }
    worse = {name: gain for name, gain in differences.items() if gain <= 0}
    exceptions = ", ".join(f"{panel} after {x} ({gain:+.2f})" for (panel, x), gain in worse.items())
    figures = (
        f"{len(differences) - len(worse)} of {len(differences)} are higher with concepts, by "
        f"{np.mean(list(differences.values())):.2f} points on average; not: {exceptions or 'none'}"
    )
    by_panel = {
        panel: np.mean([gain for (own, _), gain in differences.items() if own == panel])
        for panel in figure.ours
    }
    means = ", ".join(f"{panel} {gain:+.2f}" for panel, gain in by_panel.items())
    why = f"means over the rounds: {means}"
    return _finding(10 * len(worse) <= len(differences), figures, why)


def _peaks(figure: Figure, average: str, first: int, last: int) -> Finding:
    curves: dict[str, Curve] = {
        f"{panel.split(', ')[1]} with {name}": curve
        for panel, own in figure.ours.items()
        if panel.startswith(average)
        for name, curve in own.items()
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
    return _finding(2 * inside > len(peaks), figures, why)


def micro_peaks(figure: Figure) -> Finding:
    return _peaks(figure, "micro", 500, 1000)


def macro_peaks(figure: Figure) -> Finding:
    return _peaks(figure, "macro", 200, 500)


# ---- table 2, figure 4 ---------------------------------------------------------------------------


def medline_improves(table: Table) -> Finding:
    gains = {kind: _gains(table, kind) for kind in _kinds(table)}
    better = {kind: sum(gain > 0 for gain in own.values()) for kind, own in gains.items()}
    n = len(next(iter(gains.values())))
    worse = {
        (kind, *name): gain
        for kind, own in gains.items()
        for name, gain in own.items()
        if gain <= 0
    }
    exceptions = ", ".join(f"{' '.join(name)} {gain:+.1f} %" for name, gain in worse.items())
    figures = ", ".join(f"{kind}: {number} of {n}" for kind, number in better.items())
    return _finding(
        sum(better.values()) >= 0.85 * n * len(better), f"better: {figures}", f"not: {exceptions}"
    )


def gains_are_alike(reuters: Table, medline: Table) -> Finding:
    kinds = {"Reuters-21578": (reuters, "mixA"), "MEDLINE": (medline, _kinds(medline)[0])}
    median = {name: float(np.median(list(_gains(*own).values()))) for name, own in kinds.items()}
    figures = ", ".join(f"{name} {gain:.1f} %" for name, gain in median.items())
    why = "other records and headings than the paper's, of which half have titles alone"
    return _finding(all(2.5 <= x <= 7.5 for x in median.values()), f"medians: {figures}", why)


def medline_is_harder(reuters: Table, medline: Table) -> Finding:
    pairs = {
        (*block, column): (medline.ours[row_name(*block, "term")][column], value)
        for block in BLOCKS
        for column, value in reuters.ours[row_name(*block, "term")].items()
        if column not in ERRORS
    }
    lower = [name for name, (one, other) in pairs.items() if one < other]
    one, other = pairs["MH", "micro", "BEP"]
    figures = (
        f"{len(lower)} of {len(pairs)} measures with words alone are lower on MEDLINE (micro "
        f"break-even of MH {one:.1f} and {other:.1f})"
    )
    return _finding(len(lower) == len(pairs), figures)


def _ends(figure: Figure, name: str) -> str:
    return ", ".join(
        f"{variant} {curve.y[0]:.0f} to {curve.y[-1]:.0f} %"
        for variant, curve in figure.ours[name].items()
    )


def weight_of_reuters(figure: Figure, limits: Table) -> Finding:
    first, last = SHARES["Reuters-21578"]
    curve = figure.ours["Reuters-21578"]["AdaBoost.MH"]
    holds = abs(curve.y[0] - first) <= 5 and abs(curve.y[-1] - last) <= 5
    ends = ", ".join(
        f"{row}: {cells['weight, first']:.0f} to {cells['weight, last']:.0f} %"
        for row, cells in limits.ours.items()
    )
    why = f"the weight hangs on the memberships that count ({ends})"
    return _finding(holds, _ends(figure, "Reuters-21578"), why)


def weight_rises(figure: Figure) -> Finding:
    holds, parts = True, []
    for name, curves in figure.ours.items():
        for variant, curve in curves.items():
            y = np.array(curve.y)
            fall = float((np.maximum.accumulate(y) - y).max())
            late = float(y[-1] - y[3 * len(y) // 4])
            holds &= fall < 2 and abs(late) < 0.15 * (y[-1] - y[0]) and bool(y[-1] > y[0])
            parts.append(
                f"{name}, {variant}: {y[0]:.0f} to {y[-1]:.0f} %, {late:+.1f} points in the last "
                f"quarter, never more than {fall:.1f} below an earlier round"
            )
    why = "the falls are of the first rounds, of few stumps each; later the share rises in all"
    return _finding(holds, "; ".join(parts), why)


def words_come_first(figure: Figure) -> Finding:
    shares = [curve.y for curves in figure.ours.values() for curve in curves.values()]
    figures = "; ".join(f"{name}: {_ends(figure, name)}" for name in figure.ours)
    of_mh = figure.ours["Reuters-21578"]["AdaBoost.MH"].y
    return _finding(of_mh[0] < 50 < of_mh[-1] and all(y[-1] > y[0] for y in shares), figures)


CLAIMS = (
    Claim(
        "Reuters: concepts of one K generally improve the averages (7.1)",
        ("table-1",),
        each_k_helps,
    ),
    Claim(
        "The best is achieved by merging the models of all K (7.1)", ("table-1",), mixing_is_best
    ),
    Claim(
        "MH and MR do almost equally well, MH with a small advantage (7.1)",
        ("table-1",),
        variants_are_alike,
    ),
    Claim(
        "Concepts improve all measures, for MH and MR (7.1, 8)", ("table-1",), concepts_improve_all
    ),
    Claim("The relative gains of macro averages are higher (7.1)", ("table-1",), macro_gains_more),
    Claim(
        "Concepts are most useful for categories with few positive documents (7.1)",
        ("by-size",),
        rare_gain_most,
    ),
    Claim(
        "The classification error benefits most in relative terms (7.1)",
        ("table-1",),
        errors_gain_most,
    ),
    Claim("F1 and average precision of MH gain more than 5 % (7.1)", ("table-1",), five_percent),
    Claim(
        "The advantage of concepts persists from 200 to 5,000 rounds (7.1)",
        ("figure-3",),
        advantage_persists,
    ),
    Claim("Micro averages peak around 500 to 1,000 rounds (7.1)", ("figure-3",), micro_peaks),
    Claim("Macro averages are best after 200 to 500 rounds (7.1)", ("figure-3",), macro_peaks),
    Claim(
        "Medical documents: almost all measures improve, K from 500 to 1000 (7.2)",
        ("table-2",),
        medline_improves,
    ),
    Claim(
        "Relative gains are in the 5 % range on both collections (7.2, 8)",
        ("table-1", "table-2"),
        gains_are_alike,
    ),
    Claim(
        "Absolute figures are all lower than on Reuters (7.2)",
        ("table-1", "table-2"),
        medline_is_harder,
    ),
    Claim(
        "On Reuters the weight on concepts grows from 45 to 73 % (7.2)",
        ("figure-4", "memberships"),
        weight_of_reuters,
    ),
    Claim(
        "On both the weight on concepts grows monotonically until it flattens out (7.2)",
        ("figure-4",),
        weight_rises,
    ),
    Claim(
        "Words are chosen first, concepts dominate in later rounds (7.2)",
        ("figure-4",),
        words_come_first,
    ),
)
