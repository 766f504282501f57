"""What can be chosen about the way from text to counts, declared once for all that count."""

from __future__ import annotations

from functools import partial
from typing import Any, Literal, Protocol, get_args

from thresher.errors import ParameterError, param
from thresher.fields import PLACES, Fields, field_names
from thresher.parameters import AUTO, Choice, Estimator, Flag, Pair, Some, Text, Whole, parameter

__all__ = ["LINGUISTICS", "Folding", "TextParameters"]

Cutting = Literal["words", "book", "whitespace"]
Splitting = Literal["whitespace", "words"]

MOST_GAPPED = 5  # words of a run with gaps: a longer one would be counted in too many ways
MOST_BITS = 24  # of hashes: what has a place for each column then takes 128 MB
MOST_FIELDS = 8  # a word and a field are one number of 32 bits


class Folding(Protocol):
    """What the linguistics of a counter must be able to do."""

    def fold(self, words: list[str]) -> list[str | None]:
        """Return what each word counts as, None for a word to leave out."""


_declare = partial(parameter, panel="Text")
_NO_FOLDING = "None or have a method `fold`, as thresher.Linguistics has"
_can_fold = Some(
    "Linguistics", lambda v: None if hasattr(v, "fold") else _NO_FOLDING, optional=True
)
LINGUISTICS = parameter(
    default=None,
    kind=_can_fold,
    words="""Anything whose `fold` takes a list of distinct words and returns what each counts as,
    None for those to drop, before runs of words are made.""",
)


def _refused_fields(value: Any) -> str | None:
    names = field_names(value) if isinstance(value, str | tuple | list) else ()
    are_names = all(isinstance(name, str) and name for name in names)
    if are_names and 0 < len(set(names)) == len(names) <= MOST_FIELDS:
        return None
    places = ", ".join(map(repr, PLACES))
    return f"up to {MOST_FIELDS} different names of columns, {places} or None"


def _parsed_fields(text: str) -> Fields:
    names = tuple(name.strip() for name in text.split(","))
    return names[0] if len(names) == 1 and names[0] in PLACES else names


class TextParameters(Estimator):
    """What is a token, and which runs of words and parts of words are counted."""

    tokens: Cutting = _declare(
        default="words",
        kind=Choice(get_args(Cutting)),
        words="""What a token is. "words": a run of at least `min_length` word characters, which is
        scikit-learn's rule. "book": a run of letters, a run of digits, or a single other character
        that is not white space; entities are not decoded. For both, combining marks belong to the
        letter before them, and in scripts without spaces (Chinese, Japanese, Thai, Lao, Khmer,
        Burmese) each character is a token and, where runs of words are not counted, each pair of
        neighbours. "whitespace": a run without white space.""",
        flag="--tokens",
    )
    token_pattern: str | None = _declare(
        default=None,
        kind=Text(optional=True),
        words="""A regular expression that matches a token, slower than the rules of `tokens`. If it
        has a capturing group, of which there may be one, that is the token. The tokens are those of
        Python's `re` in the text as it is, in time that grows with the text and no faster: patterns
        that would need more (references back to a group, lookbehinds of several characters) are
        refused.""",
        flag="--token-pattern",
    )
    min_length: int = _declare(
        default=2,
        kind=Whole(1, 1000),
        words="""Fewest characters of a token, for the rule "words". In scripts without spaces it
        does not matter.""",
        flag="--min-length",
    )
    lowercase: bool = _declare(
        default=True,
        kind=Flag(),
        words="Count upper and lower case together.",
        flag="--lowercase/--keep-case",
    )
    ngram_range: tuple[int, int] | None = _declare(
        default=(1, 1),
        kind=Pair(1, 16, optional=True),
        words="""Count runs of so many words, 1-2 being words and pairs; None leaves words out. In
        Python a pair, the least and the greatest number.""",
        flag="--ngrams",
    )
    gaps: bool = _declare(
        default=False,
        kind=Flag(),
        words="""Count runs with gaps too: each run of three words or more also without some of
        those between its first and its last, "crude _ prices" being "crude", any one word,
        "prices". Of `ngram_range=(1, 3)` these are the "sparse word trigrams" of Sleeping Experts;
        five words are the most.""",
        flag="--gaps",
    )
    char_ngram_range: tuple[int, int] | None = _declare(
        default=None,
        kind=Pair(1, 64, optional=True),
        words="""Count parts of words too: runs of so many characters, 3-5 say. They are taken
        within each of the `char_ngram_tokens`, with a space before it and after it; with
        `ngram_range=None` this is scikit-learn's "char_wb".""",
        flag="--char-ngrams",
    )
    char_ngram_tokens: Splitting = _declare(
        default="whitespace",
        kind=Choice(get_args(Splitting)),
        words="""What is cut into parts: the text between blanks, or the words. "whitespace": a run
        without white space, marks and all, to which no linguistics apply. "words": the words as
        they are counted.""",
        flag="--char-ngram-tokens",
    )
    fields: Fields = _declare(
        default=None,
        kind=Some(
            "str, sequence of str", _refused_fields, _parsed_fields, "COLUMNS", optional=True
        ),
        words="""Text columns whose words are features of their own besides. They are called
        "subject:wheat", say, and the words of all columns together are counted as ever; or
        "first-line", for the first line of each text that is not blank; or "lead", for that line
        and, as a field of their own, the 40 words between blanks that follow it. With columns, a
        document is a row of a table, or a dict of texts by name, in which what is missing is empty;
        the words of a plain text stand in no column.""",
        flag="--fields",
    )
    hashing_bits: int | None = _declare(
        default=None,
        kind=Whole(1, MOST_BITS, optional=True),
        words="""Hash features to 2^N columns, and keep no vocabulary. Memory is bounded, and
        different features may share a column. Where words and parts are counted, each have half of
        the columns; of three kinds, parts and fields have a quarter each.""",
        flag="--hashing-bits",
    )

    def check_parameters(self) -> None:
        super().check_parameters()
        owner = type(self).__name__
        if self.ngram_range is None and self.char_ngram_range is None:
            raise ParameterError(
                f"{param('ngram_range', owner=owner)} and {param('char_ngram_range')} are None, so "
                "that nothing would be counted; give one of them."
            )
        runs: Any = self.ngram_range
        if self.gaps and runs != AUTO and not (runs and 3 <= runs[1] <= MOST_GAPPED):
            raise ParameterError(
                f"{param('gaps', True, owner=owner)} is given with {param('ngram_range', runs)}, "
                f"in which there are no gaps; give {param('ngram_range', (1, 3))}, say, or up to "
                f"{MOST_GAPPED} words."
            )
        if self.fields and self.hashing_bits == 1:
            raise ParameterError(
                f"{param('hashing_bits', owner=owner)} is 1, too few columns for words and fields; "
                "give at least 2."
            )
