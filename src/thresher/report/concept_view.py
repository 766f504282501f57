"""The concepts of a model, of a document, of a word and of a category."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from itertools import starmap
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from thresher.errors import ModelError, ParameterError, param
from thresher.fields import MARK
from thresher.learners.capabilities import Rules
from thresher.model.explain import rules_of
from thresher.model.source import LabelledSource, Progress, no_progress

if TYPE_CHECKING:
    from thresher.categorizer import Categorizer

LEAST_SHARE = 0.01  # smallest P(z|d) or P(z|w) that is listed
LEAST_CHANCE = 1e-3  # smallest P(w|z) of a listed word, as a fraction of the likeliest word's
WORDS_PER_TEXT = 25  # words of a concept that make a text to categorize
BEGINNING = 300  # characters of a document that are shown


class Concept(NamedTuple):
    """A concept with its share and its words.

    Attributes
    ----------
    number : int
        Its number among all concepts of the model.
    size : int
        Number of concepts of its pLSA model.
    share : float
        P(z), or P(z|d) for a document, or P(z|w) for a word.
    words : list of (str, float)
        Its words with P(w|z), the most characteristic first; for a document, the words that
        contribute to P(z|d), with their contributions.
    """

    number: int
    size: int
    share: float
    words: list[tuple[str, float]]


class Influence(NamedTuple):
    """The weight of a concept for a category.

    Attributes
    ----------
    number : int
        The concept.
    text : str
        The name of the concept, or the rule about it.
    weight : float
        What a document entirely about the concept adds to the score; of a rule, what it adds if it
        holds, and subtracts otherwise.
    """

    number: int
    text: str
    weight: float


class Example(NamedTuple):
    """A document of a concept: P(z|d), its location and its beginning."""

    share: float
    location: str
    beginning: str


class ConceptView:
    """A view of the concepts of a model.

    Parameters
    ----------
    categorizer : Categorizer
        A model that was trained with concepts.

    Examples
    --------
    >>> from thresher import Categorizer
    >>> texts = ["wheat corn silo wheat corn silo", "oil crude gas oil crude gas"] * 5
    >>> model = Categorizer("linear-svm", concepts=2).fit(texts, ["grain", "energy"] * 5)
    >>> concept = ConceptView(model).of_word("wheat")[0]
    >>> round(concept.share, 2), [word for word, _ in concept.words]
    (1.0, ['corn', 'silo'])
    """

    def __init__(self, categorizer: Categorizer) -> None:
        model = categorizer.model_
        if model.features.concepts is None:
            raise ModelError(
                f"The model has no concepts; train one that has, with {param('concepts', 100)}."
            )
        self.categorizer, self.model = categorizer, model
        self.features, self.concepts = model.features, model.features.concepts
        self.counter = self.features.counter
        self.sizes: tuple[int, ...] = self.concepts.sizes_
        self.shares: np.ndarray = self.concepts.shares_

    def __len__(self) -> int:
        return self.features.n_concepts

    def models(self) -> list[np.ndarray]:
        """Return the numbers of the concepts of each pLSA model, the largest share first."""
        return self._ordered(self.shares)

    def concept(self, number: int, top: int = 8) -> Concept:
        """Return a concept with its share P(z) and its `top` words."""
        with self.categorizer.shared_.reading():
            return self._concept(number, self.shares, self._words(number, top))

    def of_document(
        self, text: str, top: int = 5, least: float = LEAST_SHARE
    ) -> tuple[list[Concept], bool]:
        """Return the concepts of a document, and whether it has any word of the concepts.

        A document without such a word has the average shares of all documents.

        Parameters
        ----------
        text : str
            The document.
        top : int, default=5
            Number of contributing words to return for each concept.
        least : float, default=0.01
            Concepts with a smaller P(z|d) are left out.
        """
        with self.categorizer.shared_.reading():
            counts = self.counter.count([text], grow=False)
            (memberships,) = self.concepts.memberships(counts)
            names, concepts = self.counter.names(counts.indices), []
            for number in self._largest(memberships, least):
                shares = self.concepts.responsibility(counts, number)
                order = np.argsort(-shares, kind="stable")[:top]
                words = [(names[i], float(shares[i])) for i in order if shares[i] >= LEAST_SHARE]
                concepts.append(self._concept(number, memberships, words))
        return concepts, bool(np.isin(counts.indices, self.concepts.columns_).any())

    def of_word(self, word: str, top: int = 8, least: float = LEAST_SHARE) -> list[Concept]:
        """Return the concepts of a word, P(z|w), each with its other words.

        Parameters
        ----------
        word : str
            The word; it is counted as it would be in a document.
        top, least
            As for `of_document`.
        """
        with self.categorizer.shared_.reading():
            column = self._column(word)
            (name,) = self.counter.names([column])
            chances = self.concepts.concepts_of(column)
            concepts = []
            for number in self._largest(chances, least):
                words = [item for item in self._words(number, top + 1) if item[0] != name][:top]
                concepts.append(self._concept(number, chances, words))
        return concepts

    def of_category(self, category: Any) -> list[Influence]:
        """Return the weights of concepts for a category, the strongest first.

        If the model has rules, these are the rules about concepts. A learner without weights and
        rules gives an empty list.
        """
        with self.categorizer.shared_.reading():
            number, learner = self.model.categories.number(category), self._learner
            if isinstance(learner, Rules):
                texts = rules_of(self.model, category)
                rules = zip(learner.rules(number), texts, strict=True)
                entries = [(r.column, *text) for r, text in rules if r.threshold is not None]
            else:
                weights = self._weights()
                column = [] if weights is None else weights[:, number].tolist()
                entries = [(z, self.features.concept_name(z), w) for z, w in enumerate(column) if w]
        return sorted(starmap(Influence, entries), key=lambda line: -abs(line.weight))

    def categories_of(self, concepts: Sequence[int]) -> list[int | None]:
        """Return the number of the category predicted for a text of each concept's words.

        None if no category is predicted, and for all if words are hashed.
        """
        if self.counter.hashing_bits is not None:
            return [None] * len(concepts)
        lists = [self.concept(int(z), WORDS_PER_TEXT).words for z in concepts]
        scores = self.categorizer.scores([" ".join(word for word, _ in words) for words in lists])
        decisions = self.model.decisions
        margins = np.where(decisions.decide(scores), scores - decisions.thresholds, -np.inf)
        return [int(np.argmax(row)) if np.isfinite(row).any() else None for row in margins]

    def weight_on_concepts(self, category: Any) -> float | None:
        """Return the share of a category's weight on rules about concepts; None without rules."""
        if not isinstance(self._learner, Rules):
            return None
        shares = self._learner.threshold_share([self._learner.n_iter_])
        return float(np.nan_to_num(shares[self.model.categories.number(category), 0]))

    def influence(self) -> np.ndarray | None:
        """Return the weight of each concept for each category, summed over its rules if it has any.

        Returns
        -------
        array of float (concepts, categories) or None
            None if the learner has neither weights nor rules.
        """
        with self.categorizer.shared_.reading():
            if not isinstance(self._learner, Rules):
                return self._weights()
            weights = np.zeros((len(self), len(self.model.categories)))
            for number in range(weights.shape[1]):
                for rule in self._learner.rules(number):
                    if rule.threshold is not None:
                        weights[rule.column, number] += rule.share
        return weights

    def examples(
        self, documents: Any, top: int = 3, progress: Progress = no_progress
    ) -> list[list[Example]]:
        """Return the documents that belong most to each concept.

        If P(z|d) is equal to two digits, longer documents come first.

        Parameters
        ----------
        documents, progress
            As for `Categorizer.fit`; labels are ignored.
        top : int, default=3
            Number of documents for each concept.
        """
        columns, fields = self.model.columns, self.categorizer.fields
        source = LabelledSource(documents, None, columns, fields, progress)
        best: list[list[tuple[float, int, int, Example]]] = [[] for _ in range(len(self))]
        n_read = 0
        for batch in source.batches("looking for concepts"):
            with self.categorizer.shared_.reading():
                counts = self.counter.count(batch.texts, grow=False)
                memberships = self.concepts.memberships(counts, self.categorizer.n_jobs_)
            n_known = self._n_known(counts)
            memberships[n_known == 0] = 0  # without known words, they are P(z)
            keys = memberships.round(2) + n_known[:, None] / (1e3 * (1 + n_known.max(initial=0)))
            for z, rows in enumerate(np.argsort(-keys, axis=0, kind="stable")[:top].T):
                for i in rows[memberships[rows, z] >= LEAST_SHARE].tolist():
                    share, location = float(memberships[i, z]), batch.location(i)
                    beginning = str(batch.texts[i])[:BEGINNING].replace(MARK, "\n").strip()
                    example = Example(share, location, beginning)
                    entry = round(share, 2), int(n_known[i]), -n_read - i, example
                    best[z] = sorted([*best[z], entry], reverse=True)[:top]
            n_read += len(batch)
        return [[example for *_, example in entries] for entries in best]

    def positions(self, concepts: Sequence[int] | np.ndarray) -> np.ndarray:
        """Return points in the plane for concepts of a model; similar concepts are close.

        Classical scaling of the Hellinger distances between the P(w|z), which equals the principal
        components of their square roots.

        Returns
        -------
        array of float (concepts, 2)
        """
        model, first = self.concepts.locate(int(concepts[0]))
        columns = np.asarray(concepts) - int(concepts[0]) + first
        roots = np.sqrt(self.concepts.word_probabilities_[model].T[columns])
        roots -= roots.mean(0)
        values, vectors = np.linalg.eigh((roots @ roots.T).astype(np.float64))
        plane = np.zeros((len(columns), 2))
        for axis in range(min(2, len(columns))):
            line = vectors[:, -1 - axis] * np.sqrt(max(values[-1 - axis], 0))
            sign = np.sign(line[np.argmax(np.abs(line))])  # an eigenvector has no sign
            plane[:, axis] = line * sign
        return plane

    # Within ---------------------------------------------------------------------------------------

    @property
    def _learner(self) -> Any:
        return self.model.learner

    def _concept(self, number: int, shares: np.ndarray, words: list[tuple[str, float]]) -> Concept:
        size = self.sizes[self.concepts.locate(number)[0]]
        return Concept(number, size, float(shares[number]), words)

    def _words(self, number: int, top: int) -> list[tuple[str, float]]:
        columns, chances = self.concepts.words(number, top)
        words = zip(self.counter.names(columns), chances.tolist(), strict=True)
        least = LEAST_CHANCE * chances.max(initial=0)
        return [(word, chance) for word, chance in words if chance >= least]

    def _largest(self, shares: np.ndarray, least: float) -> list[int]:
        """Return the concepts with at least this share: model by model, the largest first."""
        order = np.concatenate(self._ordered(shares))
        return order[shares[order] >= max(least, 1e-12)].tolist()  # type: ignore[no-any-return]

    def _ordered(self, shares: np.ndarray) -> list[np.ndarray]:
        models = np.split(np.arange(len(self)), np.cumsum(self.sizes)[:-1])
        return [model[np.argsort(-shares[model], kind="stable")] for model in models]

    def _weights(self) -> np.ndarray | None:
        """Return what a document entirely about a concept adds to the score of each category."""
        weights = self._learner.linear_weights()
        if weights is None:
            return None
        return np.asarray(weights[: len(self)] * self.features.concept_strengths(np.ones(1)))

    def _n_known(self, counts: Any) -> np.ndarray:
        is_known = np.isin(counts.indices, self.concepts.columns_)
        return np.diff(np.append(0, np.cumsum(is_known))[counts.indptr])

    def _column(self, word: str) -> int:
        """Return the column of a word of the concepts; the error suggests similar words."""
        columns = self.concepts.columns_
        names = self.counter.names(columns)
        if word in names:
            return int(columns[names.index(word)])
        counted = self.counter.count([word], grow=False).indices
        known = counted[np.isin(counted, columns)]
        if len(known) == 1:
            return int(known[0])
        if len(known):
            raise ParameterError(
                f"{word!r} is more than one word to the model: "
                f"{', '.join(self.counter.names(known))}. Give a single word."
            )
        close = difflib.get_close_matches(word, names, 3)
        meant = f" Did you mean {' or '.join(map(repr, close))}?" if close else ""
        raise ParameterError(
            f"The concepts do not know {word!r}: it was in too few or too many of their training "
            f"documents, or in none.{meant}"
        )
