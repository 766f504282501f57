"""Compute explanations: divide a score among the words of the text, and find counterfactuals.

`Learner.contributions` returns the contribution of each feature to the score. This module assigns
features to the words of the text, divides the contribution of the second look among the words, and
removes or adds words to find the smallest change that reverses the decision.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from thresher.errors import ModelError
from thresher.features import ALL_BLOCKS
from thresher.fields import MARK
from thresher.learners.capabilities import Neighbours, Rules, Trees
from thresher.model.explanation import Change, Explanation, Near, Share
from thresher.model.second_look.look import LEAST_SHARE
from thresher.rows import Rows
from thresher.text.places import Entry

if TYPE_CHECKING:
    from thresher.model.model import Model, Reading
    from thresher.model.second_look import SecondLook

WORDS, RUNS, PARTS, FIELDS, CONCEPTS = range(len(ALL_BLOCKS))
NAMED_FRACTION = 0.1  # the strongest run or concept is named if they are this much of a share
# The second look's contribution is divided by the sum of the contributions of the words. If that is
# nearly zero, the factor is limited to this multiple of its average.
MOST_WORTH = 3.0
MOST_WORDS_CHANGED = 12  # longer lists of words to add or remove would not help users


def explain(reading: Reading, number: int = 0, category: Any = None) -> Explanation:
    """Return the explanation of a decision about a text, by default of the best category."""
    model, scores = reading.model, reading.scores[[number]]
    if not len(model.categories):
        raise ModelError("The model has no category yet: there is no decision to explain.")
    strengths = reading.strengths.take(np.array([number]))
    margins = scores[0] - model.decisions.thresholds
    index = int(np.argmax(margins)) if category is None else model.categories.number(category)
    is_chosen = bool(model.decisions.decide(scores)[0, index])
    text = str(reading.texts[number])
    return _Decision(model, text, strengths, index, is_chosen).explanation(margins)


def strongest_features(
    model: Model, category: Any, top: int
) -> tuple[list[tuple[str, float]], list[tuple[str, float]]]:
    """Return the `top` features with the largest weights for a category and against it.

    For learners with rules these are the rules, for trees the information gains of the features.
    Both lists are empty if the learner has no weights.
    """
    index, learner, features = model.categories.number(category), model.learner, model.features
    if isinstance(learner, Rules):
        ranked = sorted(rules_of(model, category), key=lambda rule: -abs(rule[1]))
        positive, negative = ([r for r in ranked if sign * r[1] > 0] for sign in (1, -1))
        return positive[:top], negative[:top]
    if isinstance(learner, Trees):
        weights = learner.importance(index)
    elif (all_weights := learner.linear_weights()) is not None:
        weights = all_weights[:, index]
    else:
        return [], []
    order = np.argsort(-weights, kind="stable").astype(np.int32)
    best, worst = order[:top], order[::-1][:top]
    positive, negative = (
        list(zip(features.readable_names(side), weights[side].tolist(), strict=True))
        for side in (best[weights[best] > 0], worst[weights[worst] < 0])
    )
    return positive, negative


def rules_of(model: Model, category: Any) -> list[tuple[str, float]]:
    """Return the rules of a category in the order in which they were learned, with their shares."""
    learner, index = model.learner, model.categories.number(category)
    if not isinstance(learner, Rules):
        raise ModelError(f"A model of {learner.name} has weights, not rules: `strongest` has them.")
    texts = learner.rule_texts(index, model.features)
    return [(text, rule.share) for rule, text in zip(learner.rules(index), texts, strict=True)]


def tree_of(model: Model, category: Any) -> tuple[Any, dict[int, str]]:
    """Return the decision tree of a category, and the names of the features that it tests."""
    learner, index = model.learner, model.categories.number(category)
    if not isinstance(learner, Trees):
        raise ModelError(
            f"A model of {learner.name} has no tree; train one with the learner decision-tree."
        )
    tree = learner.tree(index)
    columns = np.unique(tree.column[tree.column >= 0])
    names = model.features.readable_names(columns)
    return tree, dict(zip(columns.tolist(), names, strict=True))


@dataclass
class _Word:
    """A word of the document: its contributions and its positions in the text."""

    name: str
    strength: float = 0.0
    contributions: list[float] = field(default_factory=lambda: [0.0] * len(ALL_BLOCKS))
    # The strongest run and concept, by block: size and column.
    strongest: dict[int, tuple[float, int]] = field(default_factory=dict)
    # The contribution of each occurrence, by start and end in the text.
    occurrences: dict[tuple[int, int], float] = field(default_factory=dict)

    @property
    def share(self) -> float:
        return sum(self.contributions)


@dataclass
class _Decision:
    """A decision of a model about a document, to be explained."""

    model: Model
    text: str
    strengths: Rows
    index: int  # of the category
    is_chosen: bool

    def explanation(self, margins: np.ndarray) -> Explanation:
        model, learner = self.model, self.model.learner
        lines, words, unit = self._lines()
        if unit != "test":  # tests stay in the order of the path
            lines.sort(key=lambda line: (-abs(line.share), line.feature))
        return Explanation(
            category=model.categories.names[self.index],
            chosen=self.is_chosen,
            shares=lines,
            threshold=learner.score_offset + float(model.decisions.thresholds[self.index]),
            rival=self._rival(margins),
            change=self._smallest_change(words, unit),
            text=self.text.replace(MARK, "\n"),
            spans=sorted(
                (start, end, share)
                for word in words
                for (start, end), share in word.occurrences.items()
                if start < end
            ),
            unit=unit,
            neighbors=self._neighbors(),
        )

    # ---- lines -------------------------------------------------------------------------------

    def _lines(self) -> tuple[list[Share], list[_Word], str]:
        """Return all lines, the words, and the unit of a line: "word", "rule" or "test"."""
        model, rows, learner = self.model, self.strengths, self.model.learner
        contributions, (rest,) = learner.contributions(rows, self.index)
        used, constants = learner.strengths(rows)
        strengths = used.values
        explained = learner.explanation_lines(rows, self.index, model.features)
        if explained is not None:
            # A rule counts on both sides, so the presence of its feature changes twice its share.
            scale = 0.5 if explained.unit == "rule" else 1.0
            words, _ = self._words(strengths.tolist(), (scale * contributions).tolist())
            lines, unit = [Share(*line) for line in explained.lines], explained.unit
        else:
            words, not_in_words = self._words(strengths.tolist(), contributions.tolist())
            lines, unit = [self._line(word) for word in words], "word"
            names = model.features.names(rows.indices[not_in_words])
            values = strengths[not_in_words].tolist(), contributions[not_in_words].tolist()
            lines += map(Share, names, *values)
            constant = float(rest) + learner.score_offset
            strength = float(constant != 0) if constants is None else float(constants[0])
            if strength:
                lines.append(Share(learner.constant_name, strength, constant))
        look = model.second_look
        if look is not None and self.index < look.n_known:
            lines = self._lines_of_second_look(look, lines)
        return lines, words, unit

    def _lines_of_second_look(self, look: SecondLook, lines: list[Share]) -> list[Share]:
        """Return the lines after the second look, in units of its score.

        The contribution of all words is divided among them in proportion to their contributions to
        the score of the learner. If these nearly cancel out, or their sum has the opposite sign,
        the average factor is used, and the remainder gets a line.
        """
        learner, names = self.model.learner, self.model.categories.names
        view = look.explained(self.strengths, learner, self.index, names)
        other_lines = [Share(*line) for line in view.lines]
        if view.scale is None:
            return other_lines
        words = [line for line in lines if line.feature != learner.constant_name]
        total = sum(line.share for line in words)
        worth = view.words / total if total else 0.0
        if not 0 < worth <= MOST_WORTH * view.scale:
            worth = view.scale
        lines = [line.scaled(worth) for line in words]
        if abs(rest := view.words - worth * total) > LEAST_SHARE:
            lines.append(Share("(what such words are worth here)", 1.0, rest))
        return lines + other_lines

    def _line(self, word: _Word) -> Share:
        by_word, runs, parts, _, concepts = word.contributions  # words in fields count as words
        names = {RUNS: "", CONCEPTS: ""}
        for block, share in ((RUNS, runs), (CONCEPTS, concepts)):
            is_large = abs(share) > NAMED_FRACTION * abs(word.share)
            if is_large and not self.model.features.is_hashed:
                (names[block],) = self.model.features.names([word.strongest[block][1]])
        strength = word.strength
        return Share(
            word.name, strength, by_word, parts, runs, names[RUNS], concepts, names[CONCEPTS]
        )

    def _neighbors(self) -> list[Near]:
        """Return the training documents that vote, if the learner is nearest neighbours."""
        learner = self.model.learner
        if not isinstance(learner, Neighbours):
            return []
        names, near = self.model.categories.names, []
        for neighbor in learner.neighbors(self.strengths)[0]:
            columns = np.array([column for column, _ in neighbor.shared], np.int64)
            words = self.model.features.readable_names(columns)
            shared = list(zip(words, (share for _, share in neighbor.shared), strict=True))
            figures = neighbor.number + 1, neighbor.similarity, neighbor.vote
            near.append(Near(*figures, [names[k] for k in neighbor.labels], shared))
        return near

    # ---- words -------------------------------------------------------------------------------

    def _words(
        self, strengths: list[float], contributions: list[float]
    ) -> tuple[list[_Word], list[int]]:
        """Return the words with features, and the indices of features that are in no word.

        The contribution of a feature is divided equally between its occurrences.
        """
        columns = self.strengths.indices.tolist()
        pieces, entries = self._entries()
        positions = {column: i for i, column in enumerate(columns)}
        entries = [entry for entry in entries if entry.column in positions]
        totals = [0.0] * len(columns)
        for entry in entries:
            totals[positions[entry.column]] += entry.weight
        words: dict[str, _Word] = {}
        for column, block, piece, weight in entries:
            i, (name, span) = positions[column], pieces[piece]
            contribution = weight / totals[i] * contributions[i]
            word = words.setdefault(name, _Word(name))
            word.contributions[block] += contribution
            word.occurrences[span] = word.occurrences.get(span, 0.0) + contribution
            if block == WORDS:
                word.strength += weight / totals[i] * strengths[i]
            elif block in (RUNS, CONCEPTS):
                size = abs(contributions[i]) if block == RUNS else abs(contribution)
                strongest = word.strongest.get(block, (-1.0, -1))
                word.strongest[block] = max(strongest, (size, column))
        for name, span in pieces:
            if name in words:
                words[name].occurrences.setdefault(span, 0.0)
        return list(words.values()), [i for i, total in enumerate(totals) if not total]

    def _entries(self) -> tuple[list[Any], list[Any]]:
        """Return the pieces of the text, and the assignment of features to pieces.

        A concept is assigned to the words that express it, in proportion to their contributions to
        the membership of the document.
        """
        features = self.model.features
        pieces, entries = features.counter.places(self.text).belonging()
        if features.concepts is None:
            return pieces, entries
        counts, by_column = features.counter.count([self.text], grow=False), defaultdict(list)
        for entry in entries:
            by_column[entry.column].append(entry)
        n_concepts = features.n_concepts
        all_entries = [entry._replace(column=entry.column + n_concepts) for entry in entries]
        for concept in self.strengths.indices[self.strengths.indices < n_concepts].tolist():
            shares = features.concepts.responsibility(counts, concept)
            for word in np.flatnonzero(shares).tolist():
                occurrences = by_column[int(counts.indices[word])]
                weight = float(shares[word]) / sum(entry.weight for entry in occurrences)
                all_entries += [
                    Entry(concept, CONCEPTS, entry.piece, weight * entry.weight)
                    for entry in occurrences
                ]
        return pieces, all_entries

    # ---- what would change the decision ------------------------------------------------------

    def _rival(self, margins: np.ndarray) -> tuple[str, float] | None:
        """Return the best other category and its margin, for single-label decisions."""
        if self.model.decisions.mode != "single-label" or len(margins) < 2:
            return None
        other_margins = np.where(np.arange(len(margins)) == self.index, -np.inf, margins)
        best = int(np.argmax(other_margins))
        return self.model.categories.names[best], float(margins[best])

    def _smallest_change(self, words: Sequence[_Word], unit: str) -> Change | None:
        """Return the smallest tested change of words that reverses the decision, or None.

        The most important words are removed (or added) first, one more in each attempt. Every text
        is counted and scored again, because word n-grams and normalised strengths change.
        """
        sign = 1 if self.is_chosen else -1
        supporting = sorted(
            (word for word in words if sign * word.share > 0), key=lambda word: -abs(word.share)
        )[:MOST_WORDS_CHANGED]
        texts = [self._without(supporting[:n]) for n in range(1, len(supporting) + 1)]
        removed = self._first_reversal("remove", [word.name for word in supporting], texts)
        if self.is_chosen:
            return removed
        absent = self._strongest_absent(unit)
        texts = ["\n".join([self.text, " ".join(absent[:n])]) for n in range(1, len(absent) + 1)]
        added = self._first_reversal("add", absent, texts)
        if added and (removed is None or len(added.features) < len(removed.features)):
            return added
        return removed

    def _without(self, words: Sequence[_Word]) -> str:
        """Return the text with a blank in place of each occurrence of the words."""
        pieces, done = [], 0
        for start, end in sorted(span for word in words for span in word.occurrences):
            pieces.append(self.text[done:start])
            done = end
        return " ".join([*pieces, self.text[done:]])

    def _strongest_absent(self, unit: str) -> list[str]:
        """Return the words, or runs of words, with the largest weights that the text lacks."""
        features = self.model.features
        blocks = features.blocks
        weights, block = self._weights(unit), blocks.min(initial=PARTS)
        if weights is None or features.is_hashed or block == PARTS:
            return []
        candidates = np.where(blocks == block, weights, 0)
        candidates[self.strengths.indices] = 0
        best = np.argsort(-candidates, kind="stable")[:MOST_WORDS_CHANGED]
        return features.names(best[candidates[best] > 0])

    def _weights(self, unit: str) -> np.ndarray | None:
        """Return the weight of each feature, or the share of its rule or test; None without any."""
        learner = self.model.learner
        weights = learner.linear_weights()
        if weights is not None or unit == "word":
            return None if weights is None else weights[:, self.index]
        shares = np.zeros(learner.n_features)
        if isinstance(learner, Rules):
            for rule in learner.rules(self.index):
                if rule.threshold is None:
                    shares[rule.column] = rule.share
        elif isinstance(learner, Trees):
            for step in learner.path(self.strengths, self.index):
                if not step.is_above:  # with the feature, the path would have left this branch
                    shares[step.column] = max(shares[step.column], -step.share)
        return shares

    def _first_reversal(self, action: str, words: list[str], texts: list[str]) -> Change | None:
        """Return the first change whose text reverses the decision, or None."""
        if not texts:
            return None
        decisions = self.model.decisions
        scores = self.model.read(texts).scores
        decided = decisions.decide(scores)
        reversed_ = np.flatnonzero(decided[:, self.index] != self.is_chosen)
        if not len(reversed_):
            return None
        first, winner = int(reversed_[0]), None
        if self.is_chosen and decisions.mode == "single-label" and decided[first].any():
            winner = self.model.categories.names[int(np.argmax(decided[first]))]
        margin = float(scores[first, self.index] - decisions.thresholds[self.index])
        return Change(action, words[: first + 1], margin, winner)
