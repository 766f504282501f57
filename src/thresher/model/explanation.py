"""Why a document got a category, or did not: each word's share of the score, exactly."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from thresher.errors import ModelError, counted, escaped
from thresher.features import ALL_BLOCKS
from thresher.rows import Rows
from thresher.text.places import Entry

if TYPE_CHECKING:
    from thresher.model.second_look import SecondLook
    from thresher.model.train import Stations

__all__ = ["Change", "Explanation", "Near", "Share", "explain", "strongest"]

WORDS, RUNS, PARTS, FIELDS, CONCEPTS = range(len(ALL_BLOCKS))
NOTED = 0.1  # of a word's share must be from runs, or concepts, for the strongest to be named
ROUNDING = 1e-6  # of a score; less than this needs no line
MOST_WORTH = (
    3.0  # times what words are worth on average; beyond, their sum is too small to divide by
)
MOST_WORDS = 12  # a longer list of words to add or to remove explains nothing


class Share(NamedTuple):
    """What one word of the document adds to the score of the category: its line.

    Runs of words, such as pairs, are divided equally between their words; parts of words go to the
    words that they are in, and concepts to the words by which the document has them. What is no
    word but has parts, as "$$$" has, has a line too. Where the category is a list of rules, each
    rule has a line; where it is a tree, each test on the way to the leaf, in that order.
    """

    feature: str  # the word as it is counted, the rule, or the test
    strength: float  # of the word itself
    own: float  # what the word itself adds
    parts: float = 0.0  # what its parts add
    runs: float = 0.0  # what it has of the runs that it is in
    run: str = ""  # the strongest of these, if runs are a good part of the share
    concepts: float = 0.0  # what it has of the concepts that the document has by it
    concept: str = ""  # the strongest of these, if they are a good part of the share

    @property
    def share(self) -> float:
        """What all of it adds."""
        return self.own + self.parts + self.runs + self.concepts

    @property
    def weight(self) -> float:
        """What the strength of the word itself counts for."""
        return self.own / self.strength if self.strength else 0.0

    def scaled(self, factor: float) -> Share:
        """Return the share in another measure."""
        portions = ("own", "parts", "runs", "concepts")
        return self._replace(**{name: factor * getattr(self, name) for name in portions})

    def portions(self) -> str:
        """Say what the share is made of, where it is more than the word itself."""
        if not self.parts and not self.runs and not self.concepts:
            return ""
        run = self.run and f" as in {self.run!r}"
        concept = self.concept and f" as {self.concept}"
        named = (
            ("itself", self.own, ""), ("parts", self.parts, ""), ("runs", self.runs, run),
            ("concepts", self.concepts, concept),
        )  # fmt: skip
        return (
            f"({', '.join(f'{name} {value:+.3f}{more}' for name, value, more in named if value)})"
        )


class Near(NamedTuple):
    """A document that was learned, and decides with others because it is like this one.

    Examples
    --------
    >>> print(Near(17, 0.834, 0.2, ["earn"], [("cts", 0.5), ("net", 0.334)]))
    document 17 (earn): similarity 0.834, vote 0.200, by cts, net
    """

    document: int  # the how-manieth that was learned, from 1
    similarity: float
    vote: float  # its part of all votes
    categories: list[Any]  # that it has
    words: list[tuple[str, float]]  # that both have, with the part of the similarity by each

    def by(self, most: int = 5) -> str:
        """Name the words that both have, those first that matter most."""
        more = f" and {len(self.words) - most} more" if len(self.words) > most else ""
        return ", ".join(word for word, _ in self.words[:most]) + more

    def __str__(self) -> str:
        names = ", ".join(map(str, self.categories)) or "no category"
        line = f"document {self.document} ({names}): similarity {self.similarity:.3f}"
        return escaped(
            f"{line}, vote {self.vote:.3f}" + (f", by {self.by()}" if self.words else "")
        )


class Change(NamedTuple):
    """The smallest change found that turns the decision round; it was tried, not estimated."""

    action: str  # "remove" or "add"
    features: list[str]
    score: float  # what the score would be then
    winner: str | None = None  # the category that would be chosen instead, where only one can be


@dataclass(frozen=True)
class Explanation:
    """Each word's share in a decision: the shares add up to the score."""

    category: str
    chosen: bool  # whether the document got it
    shares: list[Share]  # of the document's words, the largest first; of tests, as they are met
    threshold: float  # what the shares must add up to, and more
    rival: tuple[str, float] | None  # where only one can be chosen: the best other and its score
    change: Change | None  # what would have changed the decision, if anything that was tried
    text: str
    spans: list[tuple[int, int, float]]  # start and end of words, in their order, and each's share
    unit: str = "word"  # what has a share: a word, or else a rule or a test
    neighbors: list[Near] = field(default_factory=list)  # the nearest first, if these decide

    @property
    def total(self) -> float:
        """The sum of the shares."""
        return sum(one.share for one in self.shares)

    @property
    def score(self) -> float:
        """How far the sum of the shares is above the threshold; below zero: not reached."""
        return self.total - self.threshold

    @property
    def largest_share(self) -> float:
        """The size of the largest share in the text, to which colours are relative; never zero."""
        return max((abs(share) for _, _, share in self.spans), default=0.0) or 1.0

    def largest(self, n: int) -> list[Share]:
        """Return the n largest shares, in their order."""
        ranked = sorted(range(len(self.shares)), key=lambda i: -abs(self.shares[i].share))
        return [self.shares[i] for i in sorted(ranked[:n])]

    def smaller(self, n: int) -> tuple[int, float]:
        """Return how many shares are smaller than the n largest, and their sum."""
        n_others = max(0, len(self.shares) - n)
        return n_others, self.total - sum(one.share for one in self.largest(n))

    def verdict(self) -> str:
        """Say the decision in one sentence."""
        word = "chosen" if self.chosen else "not chosen"
        if self.rival:
            name, score = self.rival
            return escaped(
                f"{self.category}: {word}, score {self.score:+.3f}; "
                f"the best other category is {name} with {score:+.3f}."
            )
        sign, threshold = ">" if self.score > 0 else "≤", f"threshold {self.threshold:.3f}"
        return escaped(f"{self.category}: {word}, {self.total:.3f} {sign} {threshold}.")

    def remedy(self) -> str:
        """Say in one sentence what would have changed the decision."""
        if self.change is None:
            return "No small change of words would have changed this."
        words = ", ".join(repr(feature) for feature in self.change.features)
        how = "Without" if self.change.action == "remove" else "With"
        if self.change.winner:
            end = f"it would be {self.change.winner}"
        else:
            end = "it would not be chosen" if self.chosen else "it would be chosen"
        return escaped(f"{how} {words} {end} (score {self.change.score:+.3f}).")

    def to_dict(self) -> dict[str, Any]:
        """Return everything but the spans as plain data."""
        return {
            "category": self.category,
            "chosen": self.chosen,
            "score": self.score,
            "threshold": self.threshold,
            "rival": self.rival and {"category": self.rival[0], "score": self.rival[1]},
            "shares": [
                {"feature": s.feature, "share": s.share, "weight": s.weight} | s._asdict()
                for s in self.shares
            ],
            "change": self.change and self.change._asdict(),
            "neighbors": [one._asdict() for one in self.neighbors],
        }

    def __str__(self) -> str:
        lines = [self.verdict()]
        shares, (n_others, rest) = self.largest(10), self.smaller(10)
        lines += [
            escaped(f"  {s.share:+8.3f}  {s.feature}  {s.portions()}".rstrip()) for s in shares
        ]
        if n_others:
            lines.append(f"  {rest:+8.3f}  from {counted(n_others, f'smaller {self.unit}')}")
        if self.rival and self.threshold:  # which the verdict has taken off its scores
            lines.append(f"  {-self.threshold:+8.3f}  less the threshold")
        lines += [f"  {one}" for one in self.neighbors[:10]]
        return "\n".join([*lines, self.remedy()])

    def _repr_html_(self) -> str:
        from thresher.report.explanation import explanation_fragment

        return explanation_fragment(self)


# What is behind an explanation -------------------------------------------------------------------


def explain(stations: Stations, text: str, category: Any = None) -> Explanation:
    """Explain one decision of a model, given what it is made of; as `Categorizer.explain`."""
    if not len(stations.categories):
        raise ModelError("The model has no category yet: there is no decision to explain.")
    rows = stations.features.apply(stations.features.count([text]))
    scores = stations.scores(rows)
    margins = scores[0] - stations.decisions.thresholds
    number = int(np.argmax(margins)) if category is None else stations.categories.number(category)
    chosen = bool(stations.decisions.decide(scores)[0, number])
    decision = _Decision(stations, rows, text, number, chosen)
    shares, words = decision.shares()
    return Explanation(
        category=stations.categories.names[number],
        chosen=chosen,
        shares=shares,
        threshold=decision.bar + float(stations.decisions.thresholds[number]),
        rival=decision.rival(margins),
        change=decision.change(words),
        text=text,
        spans=sorted(
            (start, end, share)
            for word in words
            for (start, end), share in word.places.items()
            if start < end
        ),
        unit=decision.unit,
        neighbors=decision.neighbors(),
    )


def strongest(
    stations: Stations, category: Any, top: int
) -> tuple[list[tuple[str, float]], list[tuple[str, float]]]:
    """Return the `top` features with the strongest weights for a category and against it.

    A part of a word is marked on both sides: by "·" where the word begins or ends, by "…" where it
    goes on. Where the learner has rules, these take the place of features; where it has trees, what
    tests of a feature gain is its weight. Both lists are empty where it has none of these.
    """
    number = stations.categories.number(category)
    if hasattr(stations.learner, "rules"):
        ranked = sorted(rules_of(stations, number), key=lambda rule: -abs(rule[1]))
        return [r for r in ranked if r[1] > 0][:top], [r for r in ranked if r[1] < 0][:top]
    if hasattr(stations.learner, "importance"):
        own = stations.learner.importance(number)
    else:
        weights = stations.learner.linear_weights()
        if weights is None:
            return [], []
        own = weights[:, number]
    order = np.argsort(-own, kind="stable")
    sides = (
        np.array([i for i in order[:top] if own[i] > 0], np.int32),
        np.array([i for i in order[::-1][:top] if own[i] < 0], np.int32),
    )
    for_it, against_it = (
        list(zip(_readable(stations, side), own[side].tolist(), strict=True)) for side in sides
    )
    return for_it, against_it


def rules_of(stations: Stations, number: int) -> list[tuple[str, float]]:
    """Return the rules of a category, in the order in which they were learned, with their shares.

    A rule adds its share to the score where it holds, and takes it off where it does not.
    """
    learner: Any = stations.learner
    rules = learner.rules(number)
    return [
        (text, rule.share) for rule, text in zip(rules, _rule_texts(stations, rules), strict=True)
    ]


def tree_of(stations: Stations, number: int) -> tuple[Any, dict[int, str]]:
    """Return the decision tree of a category, and the names of the features that it asks for."""
    learner: Any = stations.learner
    tree = learner.tree(number)
    columns = np.unique(tree.column[tree.column >= 0])
    return tree, dict(zip(columns.tolist(), _readable(stations, columns), strict=True))


def _rule_texts(stations: Stations, rules: Sequence[Any], holds: Any = None) -> list[str]:
    """Say rules in words; where `holds` is False, their opposite."""
    holds = [True] * len(rules) if holds is None else holds
    names = _readable(stations, np.array([rule.column for rule in rules], np.int64))
    texts = []
    for rule, name, is_held in zip(rules, names, holds, strict=True):
        if rule.threshold is None:
            texts.append(f"{'contains' if is_held else 'lacks'} {name!r}")
            continue
        membership = stations.features.membership(rule.threshold)
        if (
            membership < stations.features.least_membership
        ):  # less than any document has that has it
            texts.append(f"{'has' if is_held else 'lacks'} {name}")
        else:
            texts.append(f"{name} {'above' if is_held else 'below'} {membership:.3g}")
    return texts


def _readable(stations: Stations, columns: np.ndarray) -> list[str]:
    """Return the names of features; those of parts with marks around them."""
    features = stations.features
    names = features.names(columns)
    if features.is_hashed:
        return names
    for i in np.flatnonzero(features.blocks[columns] == PARTS):
        before, after = ("·" if end == " " else "…" for end in (names[i][0], names[i][-1]))
        names[i] = f"{before}{names[i].strip(' ')}{after}"
    return names


def _ordinal(place: int) -> str:
    return f"{place}{ {1: 'st', 2: 'nd', 3: 'rd'}.get(place, 'th') }"


@dataclass
class _Word:
    """A word of the document: what it adds, and where."""

    name: str
    strength: float = 0.0
    portions: list[float] = field(default_factory=lambda: [0.0] * len(ALL_BLOCKS))
    strongest: dict[int, tuple[float, int]] = field(default_factory=dict)  # run and concept: share
    places: dict[tuple[int, int], float] = field(default_factory=dict)  # from where to where: share

    @property
    def share(self) -> float:
        return sum(self.portions)


class _Decision(NamedTuple):
    """One decision of a model, to be explained."""

    stations: Stations
    rows: Rows  # the strengths of the document
    text: str
    number: int  # of the category
    chosen: bool

    @property
    def bar(self) -> float:
        """What the learner takes off every score."""
        return float(getattr(self.stations.learner, "bar", 0.0))

    @property
    def unit(self) -> str:
        """What has a share: a word, unless the learner asks its questions one after the other."""
        learner = self.stations.learner
        return (
            "rule" if hasattr(learner, "rules") else "test" if hasattr(learner, "path") else "word"
        )

    def shares(self) -> tuple[list[Share], list[_Word]]:
        """Return all lines, and the words behind them.

        A feature that stands nowhere has a line of its own, and so has what no feature adds.
        """
        lines, words = self._lines()
        if self.unit != "test":  # which are met in their order
            lines.sort(key=lambda one: (-abs(one.share), one.feature))
        return lines, words

    def _lines(self) -> tuple[list[Share], list[_Word]]:
        lines, words = self._first_lines()
        look = self.stations.second_look
        if look is None or self.number >= look.n_known:
            return lines, words
        return self._looked_again(look, lines), words

    def _looked_again(self, look: SecondLook, lines: list[Share]) -> list[Share]:
        """Return what the second look goes by; the words keep their lines, in its measure.

        What it makes of all words together is divided among them as they add to the learner's
        score. Where these add up to nearly nothing, or to the opposite, each has what such a word
        is worth on average, and the rest has a line of its own.
        """
        learner, names = self.stations.learner, self.stations.categories.names
        view = look.explained(self.rows, learner, self.number)
        if view.place is None:
            refused = f"(not among its {view.n_candidates} likeliest categories)"
            return [Share(refused, 1.0, view.score)]
        words = [one for one in lines if one.feature != learner.constant_name]
        total = sum(one.share for one in words)
        worth = view.words / total if total else 0.0
        if not 0 < worth <= MOST_WORTH * view.worth:
            worth = view.worth
        lines = [one.scaled(worth) for one in words]
        if abs(rest := view.words - worth * total) > ROUNDING:
            lines.append(Share("(what such words are worth here)", 1.0, rest))
        place = f"({_ordinal(view.place)} of its likeliest categories"
        if view.rival is not None:
            beside = "above" if view.margin > 0 else "below"
            place += f", {abs(view.margin):.2f} {beside} {names[view.rival]}"
        lines.append(Share(f"{place})", view.place, view.among))
        if view.other is not None:
            share = f"{100 * view.given:.0f} % of whose documents have {names[self.number]}"
            lines.append(Share(f"(beside {names[view.other]}, {share})", view.given, view.together))
        elif abs(view.together) > ROUNDING:
            lines.append(Share("(beside categories that it never came with)", 0.0, view.together))
        n = counted(round(view.positives), "document")
        lines.append(Share(f"({n} had it)", view.positives, view.frequency))
        lines.append(Share(learner.constant_name, 1.0, view.base))
        return lines

    def _first_lines(self) -> tuple[list[Share], list[_Word]]:
        """Return all lines of the learner's score."""
        learner, features, rows = self.stations.learner, self.stations.features, self.rows
        added, (rest,) = learner.contributions(rows, self.number)
        constant = float(rest) + self.bar
        strengths, always_on = rows.values, float(constant != 0)
        if hasattr(learner, "strengths"):
            with_constant = learner.strengths(rows)
            strengths, always_on = with_constant[0].values, float(with_constant[1][0])
        if self.unit == "rule":
            words, _ = self._words(strengths.tolist(), (added / 2).tolist())
            return self._rule_lines(float(added.sum()) + constant), words
        words, nowhere = self._words(strengths.tolist(), added.tolist())
        if self.unit == "test":
            return self._path_lines(float(added.sum()) + constant), words
        lines = [self._line(word) for word in words]
        names = features.names(rows.indices[nowhere])
        lines += map(Share, names, strengths[nowhere].tolist(), added[nowhere].tolist())
        if always_on:
            lines.append(Share(learner.constant_name, always_on, constant))
        return lines, words

    def _rule_lines(self, total: float) -> list[Share]:
        """Return a line for each rule, and one for what the learner takes off all scores."""
        learner: Any = self.stations.learner
        rules = learner.rules(self.number)
        values = dict(zip(self.rows.indices.tolist(), self.rows.values.tolist(), strict=True))
        strengths = [values.get(rule.column, 0.0) for rule in rules]
        holds = [
            value != 0 if rule.threshold is None else value >= rule.threshold
            for rule, value in zip(rules, strengths, strict=True)
        ]
        texts = _rule_texts(self.stations, rules, holds)
        shares = [
            rule.share if is_held else -rule.share
            for rule, is_held in zip(rules, holds, strict=True)
        ]
        lines = list(map(Share, texts, strengths, shares))
        if abs(rest := total - sum(shares)) > ROUNDING:
            lines.append(Share(learner.constant_name, 1.0, rest))
        return lines

    def _path_lines(self, total: float) -> list[Share]:
        """Return a line for the root of the tree, and one for each test on the way to the leaf."""
        learner: Any = self.stations.learner
        steps = learner.path(self.rows, self.number)
        names = _readable(self.stations, np.array([step.column for step in steps], np.int64))
        lines = []
        for step, name in zip(steps, names, strict=True):
            test = f"{name} {'≥' if step.is_above else '<'} {step.threshold:.3g}"
            documents = f"{step.n_documents:,.10g} document{'s' * (step.n_documents != 1)}"
            node = f"{documents}, P = {step.probability:.3f}"
            lines.append(Share(f"{test} ({step.value:.3g}): {node}", step.value, step.share))
        root = total - sum(line.share for line in lines)
        return [Share("(the root of the tree)", 1.0, root), *lines]

    def neighbors(self) -> list[Near]:
        """Return the documents that decide, if it is documents."""
        learner: Any = self.stations.learner
        if not hasattr(learner, "neighbors"):
            return []
        names, near = self.stations.categories.names, []
        for one in learner.neighbors(self.rows)[0]:
            words = _readable(self.stations, np.array([j for j, _ in one.shared], np.int64))
            parts = [part for _, part in one.shared]
            categories = [names[k] for k in one.labels]
            shared = list(zip(words, parts, strict=True))
            near.append(Near(one.number + 1, one.similarity, one.vote, categories, shared))
        return near

    def _line(self, word: _Word) -> Share:
        own, runs, parts, _, concepts = word.portions  # a word in a field counts as the word
        names = {RUNS: "", CONCEPTS: ""}
        for block, share in ((RUNS, runs), (CONCEPTS, concepts)):
            if not self.stations.features.is_hashed and abs(share) > NOTED * abs(word.share):
                (names[block],) = self.stations.features.names([word.strongest[block][1]])
        return Share(
            word.name, word.strength, own, parts, runs, names[RUNS], concepts, names[CONCEPTS]
        )

    def _words(self, strengths: list[float], added: list[float]) -> tuple[list[_Word], list[int]]:
        """Return the words that have features, and the numbers of features that stand nowhere.

        What a feature adds is divided equally between the places where it stands.
        """
        columns = self.rows.indices.tolist()
        pieces, entries = self._belonging()
        numbers = {column: i for i, column in enumerate(columns)}
        entries = [entry for entry in entries if entry.column in numbers]
        times = [0.0] * len(columns)
        for entry in entries:
            times[numbers[entry.column]] += entry.weight
        words: dict[str, _Word] = {}
        for column, block, piece, weight in entries:
            i, (name, place) = numbers[column], pieces[piece]
            fraction = weight / times[i]
            if name not in words:
                words[name] = _Word(name)
            word = words[name]
            word.portions[block] += fraction * added[i]
            word.places[place] = word.places.get(place, 0.0) + fraction * added[i]
            if block == WORDS:
                word.strength += fraction * strengths[i]
            elif block in (RUNS, CONCEPTS):
                size = abs(added[i]) if block == RUNS else abs(fraction * added[i])
                word.strongest[block] = max(word.strongest.get(block, (-1.0, -1)), (size, column))
        for name, place in pieces:
            if name in words:
                words[name].places.setdefault(place, 0.0)
        return list(words.values()), [i for i, n in enumerate(times) if not n]

    def _belonging(self) -> tuple[list[Any], list[Any]]:
        """Return the pieces of the text, and to which of them each feature belongs.

        A concept belongs to the words by which the document has it: in proportion to how much of
        its membership each makes up.
        """
        features = self.stations.features
        pieces, entries = features.counter.places(self.text).belonging()
        if features.concepts is None:
            return pieces, entries
        counts, places = features.counter.count([self.text], grow=False), defaultdict(list)
        for entry in entries:
            places[entry.column].append(entry)
        n_concepts = features.n_concepts
        all_entries = [entry._replace(column=entry.column + n_concepts) for entry in entries]
        for concept in self.rows.indices[self.rows.indices < n_concepts].tolist():
            shares = features.concepts.responsibility(counts, concept)
            for word in np.flatnonzero(shares).tolist():
                own = places[int(counts.indices[word])]
                weight = float(shares[word]) / sum(entry.weight for entry in own)
                all_entries += [
                    Entry(concept, CONCEPTS, entry.piece, weight * entry.weight) for entry in own
                ]
        return pieces, all_entries

    def rival(self, margins: np.ndarray) -> tuple[str, float] | None:
        """Return the best other category and its margin, where only one can be chosen."""
        if self.stations.decisions.mode != "single-label" or len(margins) < 2:
            return None
        best = int(np.argmax(np.where(np.arange(len(margins)) == self.number, -np.inf, margins)))
        return self.stations.categories.names[best], float(margins[best])

    def change(self, words: Sequence[_Word]) -> Change | None:
        """Try to turn the decision round by taking words out of the text, or by adding some.

        The words that matter most go first, one more at each try. Every text is counted anew and
        scored by the model itself: new neighbours are new pairs, and strengths are normalised.
        """
        sign = 1 if self.chosen else -1
        away = sorted(
            (word for word in words if sign * word.share > 0), key=lambda one: -abs(one.share)
        )
        away = away[:MOST_WORDS]
        texts = [self._without(away[:n]) for n in range(1, len(away) + 1)]
        taken_out = self._first_turn("remove", [word.name for word in away], texts)
        if self.chosen:
            return taken_out
        absent = self._strongest_absent()
        texts = ["\n".join([self.text, " ".join(absent[:n])]) for n in range(1, len(absent) + 1)]
        put_in = self._first_turn("add", absent, texts)
        if put_in and (taken_out is None or len(put_in.features) < len(taken_out.features)):
            return put_in
        return taken_out

    def _without(self, words: Sequence[_Word]) -> str:
        """Return the text with a blank in the place of each of the words."""
        pieces, done = [], 0
        for start, end in sorted(place for word in words for place in word.places):
            pieces.append(self.text[done:start])
            done = end
        return " ".join([*pieces, self.text[done:]])

    def _strongest_absent(self) -> list[str]:
        """Return the words with the largest weights, or rules, that are not in the text.

        Where words by themselves are not counted, these are runs of words.
        """
        features, blocks = self.stations.features, self.stations.features.blocks
        weights, block = self._weights(), blocks.min(initial=PARTS)
        if weights is None or features.is_hashed or block == PARTS:
            return []
        own = np.where(blocks == block, weights, 0)
        own[self.rows.indices] = 0
        best = np.argsort(-own, kind="stable")[:MOST_WORDS]
        return features.names(best[own[best] > 0])

    def _weights(self) -> np.ndarray | None:
        """Return the weight of each feature, or what the rule or test of it says, if any."""
        learner: Any = self.stations.learner
        weights = learner.linear_weights()
        if weights is not None or self.unit == "word":
            return None if weights is None else weights[:, self.number]
        shares = np.zeros(learner.n_features)
        if self.unit == "rule":
            for rule in learner.rules(self.number):
                if rule.threshold is None:
                    shares[rule.column] = rule.share
            return shares
        for step in learner.path(self.rows, self.number):
            if not step.is_above:  # had it been: away from where this led
                shares[step.column] = max(shares[step.column], -step.share)
        return shares

    def _first_turn(self, action: str, words: list[str], texts: list[str]) -> Change | None:
        """Return the change with the fewest of the words, in their order, if any does it."""
        if not texts:
            return None
        features, decisions = self.stations.features, self.stations.decisions
        scores = self.stations.scores(features.apply(features.count(texts)))
        decided = decisions.decide(scores)
        turned = np.flatnonzero(decided[:, self.number] != self.chosen)
        if not len(turned):
            return None
        first, winner = int(turned[0]), None
        if self.chosen and decisions.mode == "single-label" and decided[first].any():
            winner = self.stations.categories.names[int(np.argmax(decided[first]))]
        margin = float(scores[first, self.number] - decisions.thresholds[self.number])
        return Change(action, words[: first + 1], margin, winner)
