"""Claims of the paper, checked on the reproduced results."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from thresher_papers._result import Claim, Finding, Table
from thresher_papers.dagan_karov_roth_1997.contenders import SPLITS
from thresher_papers.dagan_karov_roth_1997.documents import TRIGRAMS
from thresher_papers.dagan_karov_roth_1997.extensions import CUT, LENGTH
from thresher_papers.dagan_karov_roth_1997.published import TABLE_1
from thresher_papers.dagan_karov_roth_1997.tables import step

__all__ = ["CLAIMS"]

WINNOWS = ("BalancedWinnow", "PositiveWinnow")
PLUS, CHOSEN = "BalancedWinnow+", "BalancedWinnow+, range chosen"
TRIGRAM_EXPERTS = "Experts, sparse trigrams"
SINGLE_WORDS = ("Experts unigram", "Neural network", "Rocchio", "Decision trees", "Bayes")
LEMMAS = ", lemmas"


def _steps(table: Table, column: str, algorithms: Iterable[str] = TABLE_1) -> dict[str, float]:
    return {name: step(table.reproduced[name], column) for name in algorithms}


def _listed(numbers: dict[str, float], sign: str = "+") -> str:
    return ", ".join(f"{name} {value:{sign}.1f}" for name, value in numbers.items())


def _by_rate(rates: Table, algorithm: str, column: str) -> str:
    """Return what a step brings at each rate, in words."""
    return ", ".join(
        f"{step(row, column):+.1f} at {name.partition(', ')[2]}"
        for name, row in rates.reproduced.items()
        if name.startswith(algorithm)
    )


# ---- table 1 -------------------------------------------------------------------------------------


def _normalisation(table: Table) -> Finding:
    gain = step(table.reproduced["PositiveWinnow"], "Norm")
    return Finding(gain > 3, f"{gain:+.1f} (published +8.0)")


def _negative_weights_help(table: Table) -> Finding:
    basic = {name: table.reproduced[name]["Basic"] for name in TABLE_1}
    holds = min(basic["BalancedWinnow"], basic["Perceptron"]) > basic["PositiveWinnow"] + 3
    return Finding(holds, _listed(basic, ""))


def _normalisation_is_less(table: Table) -> Finding:
    points = {
        "BalancedWinnow": table.reproduced["BalancedWinnow"]["Basic"],
        "Perceptron": table.reproduced["Perceptron"]["Basic"],
        "PositiveWinnow, normalised": table.reproduced["PositiveWinnow"]["Norm"],
    }
    return Finding(
        min(points, key=lambda name: points[name]) == "PositiveWinnow, normalised",
        _listed(points, ""),
    )


def _negative_features(table: Table, table_1: Table) -> Finding:
    row = [*table.reproduced.values()][-1]
    behind = (
        table_1.reproduced["BalancedWinnow"]["Discard"]
        - table_1.reproduced["PositiveWinnow"]["Discard"]
    )
    share = row["weights below zero, %"]
    lost, left = row["as learned"] - row[CUT], row["as learned"] - row[LENGTH]
    return Finding(
        left < 3,
        f"without negative weights {lost:.1f} points are lost, and still {left:.1f} where the "
        "length is normalised",
        f"of the weights that learning moved and kept {share:.0f} % are below zero: words of other "
        "categories speak against this one. These weights were learned together with the others; "
        "Positive Winnow, which learns without any and normalises, is "
        f"{behind:.1f} points behind in table 1",
    )


def _range_helps(table: Table, rates: Table) -> Finding:
    gains = _steps(table, "θ-range")
    bad = [name for name, gain in gains.items() if gain <= 0]
    why = "; ".join(f"{name}: {_by_rate(rates, name, 'θ-range')}" for name in bad)
    return Finding(not bad, f"{_listed(gains)} (published +4.8, +2.2, -2.9)", why)


def _root_is_best(table: Table) -> Finding:
    rows = [table.reproduced[name] for name in TABLE_1]
    n_best = sum(row["Sqrt. freq."] > max(row["θ-range"], row["Linear freq."]) for row in rows)
    leads = {
        name: table.reproduced[name]["Sqrt. freq."] - table.reproduced[name]["Linear freq."]
        for name in TABLE_1
    }
    return Finding(n_best >= 2, f"over counts {_listed(leads)} (published -0.5, +2.5, +1.6)")


def _counts_in_balanced(table: Table, rates: Table, settings: Table) -> Finding:
    row, spread = table.reproduced["BalancedWinnow"], table.spread["BalancedWinnow"]["Sqrt. freq."]
    lead = row["Linear freq."] - row["Sqrt. freq."]
    leads = {
        name: row["Linear freq."] - row["Sqrt. freq."]
        for name, row in (rates.reproduced | settings.reproduced).items()
        if name.startswith("BalancedWinnow")
    }
    best = max(leads, key=lambda name: leads[name])
    return Finding(
        lead > 0,
        f"counts are {lead:+.1f} over square roots (published +0.5)",
        f"of the rates and settings that were tried the best for counts has {leads[best]:+.1f} "
        f"({best.partition(', ')[2]}); the published lead is of two pairs of sets, and between "
        f"draws of two pairs the figures have a standard deviation of {spread:.1f}",
    )


def _discarding_helps(table: Table) -> Finding:
    gains = _steps(table, "Discard")
    return Finding(min(gains.values()) > 0, f"{_listed(gains)} (published +1.6, +0.3, +2.5)")


def _two_thirds(rates: Table) -> Finding:
    shares = [row["discarded, %"] for row in rates.reproduced.values()]
    near = [share for share in shares if 50 <= share <= 80]
    return Finding(
        len(near) > len(shares) / 2,
        f"from {min(shares):.0f} to {max(shares):.0f} % by algorithm and rate, "
        f"{len(near)} of {len(shares)} between 50 and 80 %",
    )


def _each_extension(table: Table) -> Finding:
    gains = {
        f"{name}, {column}": step(table.reproduced[name], column)
        for name in WINNOWS
        for column in ("Norm", "θ-range", "Sqrt. freq.", "Discard")
        if column in table.reproduced[name]
    }
    return Finding(min(gains.values()) > 0, _listed(gains))


def _leap(table: Table) -> Finding:
    gains = {
        name: table.reproduced[name]["Discard"] - table.reproduced[name]["Basic"]
        for name in TABLE_1
    }
    return Finding(min(gains.values()) > 3, f"{_listed(gains)} (published +8.3, +14.4, +4.9)")


def _balanced_is_best(table: Table) -> Finding:
    last = {name: table.reproduced[name]["Discard"] for name in TABLE_1}
    values = sorted(value for name in TABLE_1 for value in table.reproduced[name].values())
    return Finding(
        last["BalancedWinnow"] == values[-1] > values[-2],
        f"{_listed(last, '')} (published 73.2, 70.0, 70.8)",
    )


# ---- table 2 -------------------------------------------------------------------------------------


def _beats(table: Table, reproduced: str, rivals: Iterable[str]) -> dict[str, float]:
    """Return the lead over the best rival on each split, and which it is."""
    leads = {}
    for column in SPLITS:
        points = {
            name: table.reproduced[name][column] for name in rivals if name in table.reproduced
        }
        best = max(points, key=lambda name: points[name])
        leads[f"{column}, over {best}"] = table.reproduced[reproduced][column] - points[best]
    return leads


def _beats_single_words(table: Table) -> Finding:
    leads = _beats(table, PLUS, SINGLE_WORDS)
    holds = min(leads.values()) >= 2
    printed = {
        "Ripper's published 79.6 (Apte)": table.reproduced[PLUS]["Apte's split"] - 79.6,
        "71.9 (Lewis)": table.reproduced[PLUS]["Lewis's split"] - 71.9,
    }
    return Finding(holds, f"{_listed(leads)}; over {_listed(printed)}")


def _beats_same_features(table: Table) -> Finding:
    same = [name for name in table.reproduced if name.endswith(LEMMAS)]
    leads, chosen = _beats(table, PLUS, same), _beats(table, CHOSEN, same)
    return Finding(
        min(leads.values()) >= 2,
        _listed(leads),
        "all lemmas and chosen parameters make the rivals better than they were published; with "
        f"the thresholds chosen as well the leads are {_listed(chosen)}",
    )


def _trigrams_on_lewis(table: Table, tried: Table) -> Finding:
    column = "Lewis's split"
    chosen = table.reproduced[TRIGRAM_EXPERTS][column]
    lead = chosen - table.reproduced[PLUS][column]
    points = {
        name.partition(": ")[2]: row[column]
        for name, row in tried.reproduced.items()
        if name.startswith(TRIGRAM_EXPERTS)
    }
    return Finding(
        lead > 0,
        f"{lead:+.1f} (published +0.6)",
        f"of what was tried with them nothing reaches the published 75.3: {_listed(points, '')}, "
        f"and {chosen:.1f} with penalty and passes chosen",
        is_open=True,
    )


def _trigrams_on_apte(table: Table) -> Finding:
    lead = (
        table.reproduced[PLUS]["Apte's split"] - table.reproduced[TRIGRAM_EXPERTS]["Apte's split"]
    )
    return Finding(lead > 0, f"BalancedWinnow+ {lead:+.1f} (published +7.4)")


def _trigrams_over_words(table: Table) -> Finding:
    gains = {
        column: table.reproduced[TRIGRAM_EXPERTS][column]
        - table.reproduced["Experts unigram"][column]
        for column in SPLITS
    }
    return Finding(min(gains.values()) > 0, f"{_listed(gains)} (published +11.2, +9.7)")


def _network(table: Table, tried: Table) -> Finding:
    column = "Apte's split"
    points = {
        "six hidden units": table.reproduced["Neural network"][column],
        "none": tried.reproduced["Neural network: no hidden layer"][column],
        PLUS: table.reproduced[PLUS][column],
    }
    return Finding(points[PLUS] > points["six hidden units"], _listed(points, ""))


def _rocchio(table: Table, tried: Table) -> Finding:
    newer = ("Experts unigram", "Bayes", "Decision trees")

    def leads(points: Mapping[str, float]) -> dict[str, float]:
        return {
            f"{name} ({column})": points[column] - table.reproduced[name][column]
            for name in newer
            for column in SPLITS
        }

    usual = leads(table.reproduced["Rocchio"])
    more = leads(tried.reproduced["Rocchio: γ = 32"])
    return Finding(
        min(usual.values()) > -3,
        f"over {_listed(usual)}",
        f"it hangs on γ, the weight of the negatives: with 32 in place of 4 over {_listed(more)}",
    )


def _many_features(table: Table) -> Finding:
    names = ("lemmas of nouns and verbs, three occurrences", "all words")
    losses = {
        column: table.reproduced[names[0]][column] - table.reproduced[names[1]][column]
        for column in SPLITS
    }
    return Finding(max(losses.values()) < 3, f"lemmas over all words: {_listed(losses)}")


def _richer(table: Table) -> Finding:
    gains = {
        column: table.reproduced[TRIGRAMS][column] - table.reproduced["all words"][column]
        for column in SPLITS
    }
    return Finding(
        min(gains.values()) > 0,
        f"trigrams with gaps over words: {_listed(gains)}",
        "the gain is not there on both splits, features of single words being enough",
    )


CLAIMS = (
    Claim("Normalisation improves Positive Winnow significantly.", ("table-1",), _normalisation),
    Claim(
        "Algorithms with negative weights have a significant advantage over Positive Winnow "
        "without normalisation.",
        ("table-1",),
        _negative_weights_help,
    ),
    Claim(
        "Normalisation has an effect similar to that of negative weights, but to a lesser degree.",
        ("table-1",),
        _normalisation_is_less,
    ),
    Claim(
        "Truly negative features are rare: the main use of negative weights is to tolerate the "
        "length of documents.",
        ("negative-weights", "table-1"),
        _negative_features,
    ),
    Claim("The threshold range improves the results.", ("table-1", "table-1-rates"), _range_helps),
    Claim(
        "In most experiments the square root of occurrences performs best.",
        ("table-1",),
        _root_is_best,
    ),
    Claim(
        "(Table 1) In Balanced Winnow counts are better than their square roots.",
        ("table-1", "table-1-rates", "table-1-settings"),
        _counts_in_balanced,
    ),
    Claim("Discarding features improves the results.", ("table-1",), _discarding_helps),
    Claim("About two thirds of the features are discarded.", ("table-1-rates",), _two_thirds),
    Claim(
        "Each extension improves both Winnows (square roots over presence).",
        ("table-1",),
        _each_extension,
    ),
    Claim("All extensions together are a leap in performance.", ("table-1",), _leap),
    Claim("Balanced Winnow with all of them is the best version.", ("table-1",), _balanced_is_best),
    Claim(
        "BalancedWinnow+ is at least 2 points better than all others on single words.",
        ("table-2",),
        _beats_single_words,
    ),
    Claim(
        "It is better than any other algorithm on the same features.",
        ("table-2",),
        _beats_same_features,
    ),
    Claim(
        "Experts with sparse trigrams are better on Lewis's split.",
        ("table-2", "table-2-rivals"),
        _trigrams_on_lewis,
    ),
    Claim("But not on Apte's split.", ("table-2",), _trigrams_on_apte),
    Claim(
        "Sparse trigrams give Experts better results than single words.",
        ("table-2",),
        _trigrams_over_words,
    ),
    Claim(
        "A network with hidden units is more expressive, without better results.",
        ("table-2", "table-2-rivals"),
        _network,
    ),
    Claim(
        "Rocchio still performs well beside newer methods (3 points below none of Experts, Bayes "
        "and trees).",
        ("table-2", "table-2-rivals"),
        _rocchio,
    ),
    Claim(
        "All words can be used: what does not contribute is discarded in time (less than 3 points "
        "lost).",
        ("table-2-features",),
        _many_features,
    ),
    Claim(
        "Richer features are expected to improve BalancedWinnow+ further.",
        ("table-2-features",),
        _richer,
    ),
)
