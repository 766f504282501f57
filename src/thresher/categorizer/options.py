"""How a Categorizer is to be made: every parameter, and the stations that follow from them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import KW_ONLY, dataclass, fields
from typing import Any

from thresher._estimator import check_choice, check_range
from thresher.decisions import Objective
from thresher.errors import ParameterError
from thresher.features import SELECTIONS, Strength
from thresher.learners.online import LEARNERS
from thresher.learners.online._learner import OnlineLearner
from thresher.linguistics import Linguistics
from thresher.text import TextCounter

__all__ = ["Options", "from_plain"]


@dataclass
class Options:
    """The parameters of a Categorizer.

    Parameters
    ----------
    learner : str or learner
        A name (`LEARNERS` has them) or a learner object. Default "passive-aggressive".
    tokens : {"words", "book", "whitespace"}
        What a token is. "words": runs of letters, digits and underscores (default); "book": runs
        of letters, runs of digits, and each punctuation mark; "whitespace": what blanks separate.
    token_pattern : str or None
        A regular expression for tokens instead of `tokens`; slower. Default None.
    min_length : int
        Shorter words are no tokens. Default 2.
    lowercase : bool
        Whether Word and word are the same. Default True.
    ngrams : (int, int)
        Shortest and longest run of words that is a feature. Default (1, 1): single words.
    char_ngrams : (int, int) or None
        Use runs of characters within words instead of words. Default None.
    hashing_bits : int or None
        Hash features to 2**bits columns instead of keeping a vocabulary. Default None.
    language : str
        The language of stop words, stems and lemmas. Default "english".
    stop_words : bool or iterable of str
        Leave out the function words of the language, or these. Default False.
    stem, lemmatize : bool
        Fold words with the same stem, or the same lemma. Default False.
    word_classes : sequence of str or None
        Keep only words that can be of these classes, e.g. ("noun", "verb"). Default None: all.
    strength : str or None
        How a count becomes a strength: "binary", "frequency", "sqrt", "log", "tf-idf", "book".
        Default None: what suits the learner.
    normalize : str or None
        "sum", "l2" or "none": how each document's strengths are scaled. Default None: what suits
        the learner, or "none" if `strength` is given.
    min_df, max_df : int or float
        Features in fewer or more documents are left out; a float is a share. Default 1 and 1.0.
    max_features : int or None
        Keep the most frequent features only. Default None.
    select : int or None
        Keep the features that tell most about any one category. Default None: all.
    selection : {"chi-square", "information-gain"}
        How `select` judges a feature. Default "chi-square".
    decision : {"auto", "single-label", "multi-label"}
        One category for each document, or any number. Default "auto": one, if every training
        document has exactly one.
    tune_for : str or None
        Learn the thresholds for this: "f1", "f0.5", "precision=0.95", "recall=0.9", "cost=1:5" or
        alike, from the scores of documents that were left out while learning; see `Objective`.
        Default None: zero.
    tune_folds : int
        Into how many folds the documents are divided for that. Default 5.
    calibrate : {"sigmoid", "isotonic"} or None
        Learn probabilities too, from the same scores. Default None: there are none.
    shuffle : bool
        Learn from the documents in random order. Default True.
    seed : int
        Seed of that order. Default 0.
    threads : int
        Threads for learning and scoring; the result is the same for any number. Default 1.
    """

    learner: str | OnlineLearner = "passive-aggressive"
    _: KW_ONLY
    tokens: str = "words"
    token_pattern: str | None = None
    min_length: int = 2
    lowercase: bool = True
    ngrams: tuple[int, int] = (1, 1)
    char_ngrams: tuple[int, int] | None = None
    hashing_bits: int | None = None
    language: str = "english"
    stop_words: bool | Iterable[str] = False
    stem: bool = False
    lemmatize: bool = False
    word_classes: Sequence[str] | None = None
    strength: str | None = None
    normalize: str | None = None
    min_df: int | float = 1
    max_df: int | float = 1.0
    max_features: int | None = None
    select: int | None = None
    selection: str = "chi-square"
    decision: str = "auto"
    tune_for: str | None = None
    tune_folds: int = 5
    calibrate: str | None = None
    shuffle: bool = True
    seed: int = 0
    threads: int = 1

    def check(self) -> None:
        """Raise a sentence for a value that makes no sense; the stations check their own."""
        check_choice(self, "selection", tuple(SELECTIONS))
        check_choice(self, "decision", ("auto", "single-label", "multi-label"))
        check_choice(self, "calibrate", (None, "sigmoid", "isotonic"))
        check_range(self, "tune_folds", 2)
        if self.tune_for is not None:
            Objective.parse(self.tune_for)
        check_range(self, "threads", 1)
        check_range(self, "min_df", 0)
        check_range(self, "max_df", 0)
        for name in ("max_features", "select"):
            if getattr(self, name) is not None:
                check_range(self, name, 1)

    def make_counter(self) -> TextCounter:
        """Return the empty station that turns text into counts."""
        return TextCounter(
            tokens=self.tokens,
            token_pattern=self.token_pattern,
            min_length=self.min_length,
            lowercase=self.lowercase,
            ngram_range=None if self.char_ngrams else self.ngrams,
            char_ngram_range=self.char_ngrams,
            char_ngram_tokens="words",
            hashing_bits=self.hashing_bits,
            linguistics=self._linguistics(),
        )

    def _linguistics(self) -> Linguistics | None:
        if not (self.stop_words or self.stem or self.lemmatize or self.word_classes):
            return None
        listed = None if isinstance(self.stop_words, bool) else tuple(self.stop_words)
        return Linguistics(
            language=self.language,
            stop_words=self.language if self.stop_words is True else listed,
            stem=self.stem,
            lemmatize=self.lemmatize,
            word_classes=self.word_classes,
        )

    def make_learner(self) -> OnlineLearner:
        """Return a fresh learner: of the given name, or with the given one's parameters."""
        if not isinstance(self.learner, str):
            return type(self.learner)(**self.learner.get_params(deep=False))
        if self.learner not in LEARNERS:
            raise ParameterError(
                f"There is no learner {self.learner!r}; choose from {', '.join(LEARNERS)}."
            )
        return LEARNERS[self.learner]()

    def make_strength(self, learner: OnlineLearner) -> Strength:
        """Return the station that turns counts into strengths, as given or as suits the learner."""
        suited = dict(learner.preferred_strength)
        if self.strength is not None:
            suited = {"kind": self.strength}
        if self.normalize is not None:
            suited["normalize"] = None if self.normalize == "none" else self.normalize
        return Strength(**suited)

    def changed(self) -> dict[str, Any]:
        """Return the parameters, other than the learner, that differ from their defaults."""
        return {
            one.name: getattr(self, one.name)
            for one in fields(self)
            if one.name != "learner" and getattr(self, one.name) != one.default
        }

    def to_plain(self) -> dict[str, Any]:
        """Return the parameters, other than the learner, as JSON can say them."""
        plain = {one.name: getattr(self, one.name) for one in fields(self) if one.name != "learner"}
        if not isinstance(self.stop_words, bool):
            plain["stop_words"] = sorted(self.stop_words)
        return {k: list(v) if isinstance(v, tuple) else v for k, v in plain.items()}


def from_plain(plain: dict[str, Any]) -> dict[str, Any]:
    """Return what `to_plain` gave as arguments for `Options`."""
    return {k: tuple(v) if isinstance(v, list) else v for k, v in plain.items()}
