"""Claims of the paper, checked on the reproduced results."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from thresher_papers._result import Cells, Claim, Figure, Finding, Table
from thresher_papers.carvalho_cohen_2006.figures import SHARE, SHOWN, STOP_WORDS, light_gain
from thresher_papers.carvalho_cohen_2006.published import NOT_TEXT, SAME_DATA, SETS, TABLE_4, TEXT
from thresher_papers.carvalho_cohen_2006.tables import gains, summarize

__all__ = ["CLAIMS"]

SINGLE = ("MBW", "PW", "BW", "PA", "ROMMA")
WINNOWS = ("MBW", "PW", "BW")


def _medians(table: Table, sets: Sequence[str]) -> tuple[dict[str, float], dict[str, float]]:
    """Return the median F1 and the average rank of each column over some sets."""
    rows = [name for name in sets if name in table.reproduced]
    return tuple(summarize(table.reproduced, rows, "these").values())  # type: ignore[return-value]


def _listed(values: dict[str, float], names: Sequence[str]) -> str:
    return ", ".join(f"{name} {values[name]:.1f}" for name in names)


def _counted(cells: Cells, first: str, second: str, sets: Sequence[str]) -> tuple[int, int, str]:
    """Return on how many sets the first column is above the second, of how many, and where not."""
    there = [name for name in sets if name in cells]
    not_above = [name for name in there if cells[name][first] <= cells[name][second]]
    return len(there) - len(not_above), len(there), ", ".join(not_above) or "none"


def _cell(table: Table, row: str, column: str) -> str:
    """Return a cell with its spread between runs, where it is there."""
    if row not in table.reproduced:
        return "no figure"
    return (
        f"{table.reproduced[row][column]:.1f} ± {table.spread.get(row, {}).get(column, np.nan):.1f}"
    )


def _winnows_beat_additive(table: Table) -> Finding:
    sentences, holds = [], True
    for kind, sets in (("text", TEXT), ("elsewhere", NOT_TEXT)):
        medians, ranks = _medians(table, sets)
        holds &= min(medians[name] for name in WINNOWS) > max(
            medians[name] for name in ("PA", "ROMMA")
        )
        holds &= max(ranks[name] for name in WINNOWS) < min(ranks[name] for name in ("PA", "ROMMA"))
        sentences.append(
            f"{kind}: medians {_listed(medians, SINGLE)}; ranks {_listed(ranks, SINGLE)}"
        )
    why = (
        "On text PW and PA have the same rank in the paper too, 6.12. Off text its medians are "
        "single cells of one shuffle: that of PW, 79.1, is Credit's, where PW has here "
        f"{_cell(table, 'Credit', 'PW')} between shuffles; that of MBW, 80.2, is Sig's, whose "
        f"features are not the paper's ({_cell(table, 'Sig', 'MBW')})."
    )
    return Finding(bool(holds), "; ".join(sentences) + ".", why)


def _pa_beats_romma(table: Table) -> Finding:
    n, n_sets, exceptions = _counted(table.reproduced, "PA", "ROMMA", SETS)
    figures = f"PA is above ROMMA on {n} of {n_sets} sets, all but {exceptions}."
    return Finding(n > n_sets / 2, figures)


def _bw_beats_pw(table: Table) -> Finding:
    n, n_sets, exceptions = _counted(table.reproduced, "BW", "PW", SETS)
    figures = (
        f"BW is above PW on {n} of {n_sets} sets (not on: {exceptions}); in the paper on 10 of 13."
    )
    return Finding(n >= 0.75 * n_sets, figures)


def _mbw_best_on_text(table: Table) -> Finding:
    medians, ranks = _medians(table, TEXT)
    printed = list(
        summarize(TABLE_4, [name for name in TEXT if name in table.reproduced], "").values()
    )
    best, rank = (
        max(medians, key=lambda name: medians[name]),
        min(ranks, key=lambda name: ranks[name]),
    )
    figures = (
        f"Best median {best} ({medians[best]:.1f}), MBW {medians['MBW']:.1f}, v-MBW "
        f"{medians['v-MBW']:.1f}; best rank {rank} ({ranks[rank]:.1f}), MBW {ranks['MBW']:.1f}. "
        f"Published, over the same sets: medians {_listed(printed[0], ('MBW', 'v-MBW'))}; ranks "
        f"{_listed(printed[1], ('MBW', 'v-MBW'))}."
    )
    return Finding(best == "MBW", figures)


def _mbw_best_single_off_text(table: Table) -> Finding:
    medians, _ = _medians(table, NOT_TEXT)
    ordered = sorted(SINGLE, key=lambda name: -medians[name])
    on_same, _ = _medians(table, [name for name in NOT_TEXT if name in SAME_DATA])
    holds = ordered[0] == "MBW"
    why = (
        "The median is one cell of seven, in the paper that of Sig (80.2). Its features are not "
        f"the paper's, and MBW has {_cell(table, 'Sig', 'MBW')} there; here it is that of Credit, "
        f"{_cell(table, 'Credit', 'MBW')} between shuffles (published 72.1). On the five sets with "
        f"the same data the medians are {_listed(on_same, SINGLE)}."
    )
    return Finding(holds, f"Medians: {_listed(medians, ordered)}.", why)


def _mbw_beats_svm(table: Table) -> Finding:
    medians, ranks = _medians(table, TEXT)
    best = max(medians, key=lambda name: medians[name])
    n, n_sets, exceptions = _counted(table.reproduced, "MBW", "SVM", TEXT)
    figures = (
        f"Medians: {_listed(medians, list(medians))}; ranks: {_listed(ranks, list(ranks))}. MBW is "
        f"above the SVM on {n} of {n_sets} text sets, not on {exceptions}."
    )
    return Finding(best == "MBW", figures)


def _competitive(table: Table) -> Finding:
    rows = [name for name in TEXT if name in table.reproduced]
    apart = {name: table.reproduced[name]["MBW"] - table.reproduced[name]["SVM"] for name in rows}
    near = [name for name, gap in apart.items() if gap > -3]
    figures = "MBW less the SVM: " + _listed(apart, rows) + "."
    return Finding(len(near) > len(rows) / 2, figures)


def _svm_best_off_text(table: Table) -> Finding:
    medians, ranks = _medians(table, NOT_TEXT)
    best = max(medians, key=lambda name: medians[name])
    figures = f"Medians: {_listed(medians, list(medians))}; ranks: {_listed(ranks, list(ranks))}."
    holds = best == "SVM" and medians["SVM"] > medians["MBW"]
    return Finding(holds, figures)


def _perceptron_off_text(table: Table) -> Finding:
    off_text, ranks = _medians(table, NOT_TEXT)
    on_text, text_ranks = _medians(table, TEXT)
    online = ("v-Perceptron", "MBW", "v-MBW")
    holds = max(online, key=lambda name: off_text[name]) == "v-Perceptron"
    holds &= min(on_text, key=lambda name: on_text[name]) == "v-Perceptron"
    figures = (
        f"Off text: medians {_listed(off_text, online)}, rank of v-Perceptron "
        f"{ranks['v-Perceptron']:.1f}. On text it has the lowest median of all, "
        f"{on_text['v-Perceptron']:.1f}, and rank {text_ranks['v-Perceptron']:.1f} of 5."
    )
    return Finding(bool(holds), figures)


def _winnows_better_on_text(table: Table) -> Finding:
    on_text, off_text = _medians(table, TEXT)[0], _medians(table, NOT_TEXT)[0]
    pairs = ", ".join(f"{name} {on_text[name]:.1f} and {off_text[name]:.1f}" for name in WINNOWS)
    holds = all(on_text[name] > off_text[name] for name in WINNOWS)
    return Finding(holds, f"Medians on text and elsewhere: {pairs}.")


def _voting_helps_off_text(table: Table) -> Finding:
    sentences, holds = [], True
    for name in SINGLE:
        set_gains = gains(table.reproduced, NOT_TEXT, name)
        above = sum(gain >= 0 for gain in set_gains)
        holds &= above > len(set_gains) / 2
        sentences.append(f"{name} {above} of {len(set_gains)} ({np.mean(set_gains):+.1f} points)")
    figures = "Sets on which the average is at least as good: " + ", ".join(sentences) + "."
    return Finding(bool(holds), figures)


def _gain(learner: str, sign: Callable[[float], bool]) -> Callable[[Table], Finding]:
    def check(table: Table) -> Finding:
        set_gains = gains(table.reproduced, TEXT, learner)
        there = [name for name in TEXT if name in table.reproduced]
        listed = ", ".join(
            f"{name} {gain:+.1f}" for name, gain in zip(there, set_gains, strict=True)
        )
        return Finding(
            sign(float(np.mean(set_gains))), f"Mean {np.mean(set_gains):+.1f}: {listed}."
        )

    return check


def _unclear(table: Table) -> Finding:
    sentences, holds = [], True
    for name in ("PW", "PA"):
        set_gains = gains(table.reproduced, TEXT, name)
        up = sum(gain > 0 for gain in set_gains)
        holds &= 0 < up < len(set_gains)
        sentences.append(
            f"{name} better on {up} of {len(set_gains)} (mean {np.mean(set_gains):+.1f})"
        )
    return Finding(holds, "; ".join(sentences) + ".")


# ---- curves -------------------------------------------------------------------------------------


def _mean(curve: Any) -> float:
    """Return the mean of a curve over the examples, as it is drawn, not over the checkpoints."""
    widths = np.diff(curve.x)
    return float(np.average(np.add(curve.y[1:], curve.y[:-1]) / 2, weights=widths))


def _needed(curve: Any, level: float) -> int:
    """Return after how many examples a curve stays at a level or above."""
    below = [x for x, y in zip(curve.x, curve.y, strict=True) if y < level]
    return int(max(below, default=0))


def _perceptron_lowest(f1: Figure, error: Figure, mistakes: Figure) -> Finding:
    worst, panels, sentences = 0, 0, []
    for figure, sign in ((f1, 1), (error, -1), (mistakes, -1)):
        lowest = []
        for name, curves in figure.reproduced.items():
            means = {learner: sign * _mean(curve) for learner, curve in curves.items()}
            lowest += (
                [name] if min(means, key=lambda learner: means[learner]) == "v-Perceptron" else []
            )
        worst, panels = worst + len(lowest), panels + len(figure.reproduced)
        sentences.append(f"{figure.item}: {len(lowest)} of {len(figure.reproduced)} panels")
    examples = ", ".join(
        f"{name} {_needed(curves['MBW'], level):,} and {_needed(curves['v-Perceptron'], level):,}"
        for name, curves in f1.reproduced.items()
        for level in [0.9 * curves["v-Perceptron"].y[-1]]
    )
    figures = (
        "Worst of the four in the mean over the examples in " + ", ".join(sentences) + ". Examples "
        "until MBW and v-Perceptron stay above nine tenths of the F1 at which v-Perceptron ends: "
        f"{examples}."
    )
    return Finding(worst > panels / 2, figures)


def roughness(values: Sequence[float]) -> float:
    """Return how far a curve goes from one checkpoint to the next, in the mean.

    Examples
    --------
    >>> roughness([10.0, 30.0, 20.0])
    15.0
    """
    return float(np.mean(np.abs(np.diff(values))))


def _spiky(figure: Figure) -> Finding:
    rough = {name: (roughness(curves["MBW"].y), roughness(curves["v-MBW"].y))
             for name, curves in figure.reproduced.items()}  # fmt: skip
    steps = ", ".join(f"{name} {a:.1f} and {b:.1f}" for name, (a, b) in rough.items())
    holds = all(a > b for a, b in rough.values())
    return Finding(holds, f"Mean step of F1 from checkpoint to checkpoint, MBW and v-MBW: {steps}.")


def _near_svm(figure: Figure) -> Finding:
    sentences, nearer = [], 0
    for name, curves in figure.reproduced.items():
        for learner in ("MBW", "v-MBW"):
            gaps = (
                curves[learner]._replace(
                    y=np.abs(np.subtract(curves[learner].y, curves[reference].y))
                )
                for reference in ("SVM", "v-Perceptron")
            )
            to_svm, to_voted = map(_mean, gaps)
            nearer += to_svm < to_voted
            sentences.append(f"{name} {learner} {to_svm:.1f}/{to_voted:.1f}")
    figures = (
        "Mean distance of F1 over the examples from the SVM/from v-Perceptron: "
        + ", ".join(sentences)
        + f". Nearer to the SVM in {nearer} of {len(sentences)}."
    )
    return Finding(nearer > len(sentences) / 2, figures)


# ---- feature selection --------------------------------------------------------------------------


def _stop_words(drawing: Table) -> Finding:
    rows = list(drawing.reproduced.items())
    heavy, light = rows[:SHOWN], rows[SHOWN:]
    shares = [
        float(np.mean([cells["in % of posts"] for _, cells in features]))
        for features in (light, heavy)
    ]
    words = [word for word, _ in light]
    common = sorted(set(words) & set(STOP_WORDS))
    figures = (
        f"The {len(light)} lightest: {', '.join(words)}; of those that the paper names "
        f"{', '.join(common) or 'none'}. They are in {shares[0]:.0f} % of the posts in the mean, "
        f"the {len(heavy)} heaviest in {shares[1]:.0f} %."
    )
    return Finding(shares[0] > shares[1] and bool(common), figures)


def _more_top_is_better(figure: Figure) -> Finding:
    (curves,) = figure.reproduced.values()
    means = {name: float(np.mean(curve.y[:-1])) for name, curve in curves.items()}
    ordered = [means[f"EFS, P = {share}"] for share in ("0.7", "0.8", "0.9")]
    many = {name: float(np.mean([y for x, y in zip(c.x[:-1], c.y, strict=False) if x >= 1000]))
            for name, c in curves.items()}  # fmt: skip
    figures = "Mean error: " + ", ".join(f"{share} {y:.2f}" for share, y in means.items()) + "."
    few = ", ".join(f"{share} {curve.y[0]:.2f}" for share, curve in curves.items())
    why = (
        f"With ten features they do ({few}), then from 0.7 to 0.9 they are nearly the same; with "
        "1,000 features or more they are "
        + ", ".join(f"{share} {y:.2f}" for share, y in many.items())
        + ". More light features than a tenth do no harm, for they keep documents normalised, and "
        "the heavy ones that they take the place of are rare."
    )
    holds = ordered[0] >= ordered[1] >= ordered[2]
    return Finding(holds, figures, why)


def _tenth_helps(*shown: Figure) -> Finding:
    gained = {
        name: light_gain(curves) for figure in shown for name, curves in figure.reproduced.items()
    }
    listed = _listed(gained, list(gained))
    figures = f"Errors that P = {SHARE:g} saves with 1,000 features or more: {listed}."
    return Finding(sum(gain > 0 for gain in gained.values()) > len(gained) / 2, figures)


def _against(curves: dict[str, Any], kind: str) -> list[float]:
    """Return how many errors (%) more than EFS a batch selection makes, by number of features."""
    gaps = np.subtract(curves[kind].y, curves["EFS, P = 0.9"].y)[:-1]
    return [float(gap) for gap in gaps]


def _comparable(*shown: Figure) -> Finding:
    saved = {f"{name} {kind}": float(np.mean(_against(curves, kind)))
             for figure in shown for name, curves in figure.reproduced.items()
             for kind in ("IG", "CHI")}  # fmt: skip
    figures = "Errors of IG and CHI less those of EFS: " + _listed(saved, list(saved)) + "."
    return Finding(float(np.mean(list(saved.values()))) > -1, figures)


def _better_on_reviews(figure: Figure) -> Finding:
    curves = figure.reproduced["MovieReviews"]
    above = {kind: [gap >= 0 for gap in _against(curves, kind)] for kind in ("IG", "CHI")}
    figures = "; ".join(
        f"EFS is at least as good as {kind} at {sum(wins)} of {len(wins)} numbers of features"
        for kind, wins in above.items()
    )
    gaps = {kind: _against(curves, kind) for kind in above}
    lead = -min(min(kind_gaps) for kind_gaps in gaps.values())
    saved = {kind: float(np.mean(kind_gaps)) for kind, kind_gaps in gaps.items()}
    ahead = [f"{x:,.0f}" for x, gap in zip(curves["IG"].x, gaps["IG"], strict=False) if gap < 0]
    why = (
        f"IG is ahead with {', '.join(ahead)} features, by at most {lead:.1f} points of error; in "
        f"the mean over all numbers EFS makes fewer errors ({_listed(saved, ['IG', 'CHI'])}). A "
        "point is three of the 280 reviews that are held out."
    )
    holds = all(sum(wins) > 0.75 * len(wins) for wins in above.values())
    return Finding(holds, figures + ".", why)


def _only_on_reuters(*shown: Figure) -> Finding:
    few = {}
    for figure in shown:
        for name, curves in figure.reproduced.items():
            gaps = [
                gap
                for x, gap in zip(curves["IG"].x, _against(curves, "IG"), strict=False)
                if x < 300
            ]
            few[name] = float(np.mean(gaps))
    figures = "IG less EFS with less than 300 features: " + _listed(few, list(few)) + "."
    other_sets = [name for name, gap in few.items() if gap < -0.5 and name != "Reuters"]
    why = (
        f"IG is ahead with few features on {', '.join(other_sets)} too, by less."
        if other_sets
        else ""
    )
    holds = few.get("Reuters", 0.0) < 0 and not other_sets
    return Finding(holds, figures, why)


def _regret(table: Table) -> Finding:
    gained = {name: cells["RW"] - cells["PW"] for name, cells in table.reproduced.items()}
    up = sum(gain > 0 for gain in gained.values())
    figures = f"Better on {up} of {len(gained)}: {_listed(gained, list(gained))}."
    return Finding(0.2 * len(gained) < up < 0.8 * len(gained), figures)


CLAIMS = (
    Claim(
        "The Winnows (not averaged) have higher medians and lower ranks than Passive-Aggressive "
        "and ROMMA, on text and elsewhere.",
        ("table-4",),
        _winnows_beat_additive,
    ),
    Claim("Passive-Aggressive is typically better than ROMMA.", ("table-4",), _pa_beats_romma),
    Claim(
        "Balanced Winnow is better than Positive Winnow in almost all tests.",
        ("table-4",),
        _bw_beats_pw,
    ),
    Claim("MBW is the best online learner on text.", ("table-4",), _mbw_best_on_text),
    Claim(
        "MBW is the best of the learners that are not averaged off text too.",
        ("table-4",),
        _mbw_best_single_off_text,
    ),
    Claim(
        "MBW outperforms all other learners on text, the SVM included.",
        ("table-5",),
        _mbw_beats_svm,
    ),
    Claim(
        "MBW is competitive with the linear SVM on several text tasks.", ("table-5",), _competitive
    ),
    Claim(
        "Off text the SVM is better than all others, and MBW is not competitive.",
        ("table-5",),
        _svm_best_off_text,
    ),
    Claim(
        "The Voted Perceptron is the best single-pass learner off text, and poor on text.",
        ("table-5",),
        _perceptron_off_text,
    ),
    Claim(
        "The Winnows (not averaged) perform better on text than elsewhere.",
        ("table-4",),
        _winnows_better_on_text,
    ),
    Claim(
        "Averaging improves all learners off text: most points are above the diagonal.",
        ("table-4",),
        _voting_helps_off_text,
    ),
    Claim(
        "On text averaging improves Balanced Winnow a little.",
        ("table-4",),
        _gain("BW", lambda gain: 0 < gain < 5),
    ),
    Claim(
        "For Positive Winnow and Passive-Aggressive on text it is not clear if averaging helps.",
        ("table-4",),
        _unclear,
    ),
    Claim(
        "Averaging visibly deteriorates ROMMA on text.",
        ("table-4",),
        _gain("ROMMA", lambda gain: gain < -1),
    ),
    Claim(
        "Averaging costs MBW a little on text.",
        ("table-4",),
        _gain("MBW", lambda gain: -3 < gain < 0),
    ),
    Claim(
        "The Voted Perceptron has typically the lowest performance, and needs more examples.",
        ("figure-2", "figure-3", "figure-4"),
        _perceptron_lowest,
    ),
    Claim("MBW has more peaks than its average, whose curve is smoother.", ("figure-2",), _spiky),
    Claim(
        "MBW and its average are much closer to the SVM than to the Voted Perceptron.",
        ("figure-2",),
        _near_svm,
    ),
    Claim("The light features of 20newsgroup are typical stop words.", ("figure-5",), _stop_words),
    Claim("Errors fall as P increases.", ("figure-6",), _more_top_is_better),
    Claim(
        "P = 0.9 outperforms P = 1 where many features are kept, on most text sets.",
        ("figure-6", "figure-7", "figure-8"),
        _tenth_helps,
    ),
    Claim(
        "With P = 0.9 Extremal Feature Selection is comparable to information gain and chi-square.",
        ("figure-7", "figure-8"),
        _comparable,
    ),
    Claim(
        "On MovieReviews it is better than both for almost all numbers of features.",
        ("figure-7",),
        _better_on_reviews,
    ),
    Claim(
        "Reuters is the only set where they outperform it, and only with few features.",
        ("figure-7", "figure-8"),
        _only_on_reuters,
    ),
    Claim(
        "External regret brings no consistent improvement or deterioration.",
        ("external-regret",),
        _regret,
    ),
)
