"""The parameters of text processing, declared once for all classes that count text."""

from __future__ import annotations

from functools import partial
from typing import Any, Literal, Protocol, get_args

from thresher.errors import ParameterError, param
from thresher.fields import PLACES, Fields, field_names
from thresher.parameters import AUTO, Choice, Estimator, Flag, Pair, Some, Text, Whole, parameter

Cutting = Literal["words", "book", "whitespace"]
Splitting = Literal["whitespace", "words"]

MOST_GAPPED = 5  # words of a run with gaps: a longer one would be counted in too many ways
MOST_BITS = 24  # of hashes: an array with 8 bytes per column then takes 128 MB
MOST_FIELDS = 8  # a word and a field are encoded in one 32-bit number


class Folding(Protocol):
    """The interface of the `linguistics` of a counter."""

    def fold(self, words: list[str]) -> list[str | None]:
        """Return the form under which each word is counted; None to leave it out."""


_declare = partial(parameter, panel="Text")
_NO_FOLDING = "None or have a method `fold`, as thresher.Linguistics has"
_can_fold = Some(
    "Linguistics", lambda v: None if hasattr(v, "fold") else _NO_FOLDING, optional=True
)
LINGUISTICS = parameter(
    default=None,
    kind=_can_fold,
    words="""An object whose method `fold` takes a list of distinct words and returns the form under
    which each is counted, or None to leave it out. It is applied before word n-grams are built.""",
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
    """The definition of tokens, and which word and character n-grams are counted."""

    tokens: Cutting = _declare(
        default="words",
        kind=Choice(get_args(Cutting)),
        words="""The definition of a token. "words": at least `min_length` successive word
        characters, as in scikit-learn. "book": successive letters, successive digits, or any other
        single character except white space; entities are not decoded. In both cases, combining
        marks belong to the preceding letter, and in scripts without spaces (Chinese, Japanese,
        Thai, Lao, Khmer, Burmese) each character is a token; if only single words are counted, each
        pair of adjacent characters is a token too. "whitespace": text between white space.""",
        flag="--tokens",
    )
    token_pattern: str | None = _declare(
        default=None,
        kind=Text(optional=True),
        words="""A regular expression that matches a token; slower than the definitions of `tokens`.
        It may have one
        capturing group, which is then the token. The tokens are those that Python's `re` finds in
        the original text, but always in linear time: patterns that cannot be matched so
        (backreferences, lookbehinds of several characters) are refused.""",
        flag="--token-pattern",
    )
    min_length: int = _declare(
        default=2,
        kind=Whole(1, 1000),
        words="""The minimum length of a token in characters, if `tokens` is "words". It does not
        apply to scripts without spaces.""",
        flag="--min-length",
    )
    lowercase: bool = _declare(
        default=True,
        kind=Flag(),
        words="Convert tokens to lower case.",
        flag="--lowercase/--keep-case",
    )
    ngram_range: tuple[int, int] | None = _declare(
        default=(1, 1),
        kind=Pair(1, 16, optional=True),
        words="""Count runs of words (word n-grams) of these lengths: 1-2 means single words and
        pairs of successive words; None counts no words. In Python, a pair of the smallest and the
        largest length.""",
        flag="--ngrams",
    )
    gaps: bool = _declare(
        default=False,
        kind=Flag(),
        words="""Also count runs with gaps: in a run of three or more words, each combination of
        inner words is also replaced by gaps, as in "crude _ prices", where "_" stands for any word.
        With `ngram_range=(1, 3)` these are the "sparse word trigrams" of Sleeping Experts. Runs may
        have at most five words.""",
        flag="--gaps",
    )
    char_ngram_range: tuple[int, int] | None = _declare(
        default=None,
        kind=Pair(1, 64, optional=True),
        words="""Also count parts of words (character n-grams) of these lengths, such as 3-5. They
        are taken from each of the `char_ngram_tokens`, with a space added before and after; with
        `ngram_range=None` this is scikit-learn's "char_wb".""",
        flag="--char-ngrams",
    )
    char_ngram_tokens: Splitting = _declare(
        default="whitespace",
        kind=Choice(get_args(Splitting)),
        words="""The tokens from which parts are taken: text between white space, or words.
        "whitespace": text between white space, with punctuation and without linguistic processing.
        "words": the words as they are counted.""",
        flag="--char-ngram-tokens",
    )
    fields: Fields = _declare(
        default=None,
        kind=Some(
            "str, sequence of str", _refused_fields, _parsed_fields, "COLUMNS", optional=True
        ),
        words="""Text columns whose words also get separate, prefixed features, such as
        "subject:wheat"; the words of all columns together are counted as usual. Instead of columns,
        "first-line" means the first line of each text that is not blank, and "lead" that line and,
        as a second field, the 40 words after it. With columns, a document is a row of a table or a
        dict of texts by column, where missing columns are empty; the words of a plain text belong
        to no column.""",
        flag="--fields",
    )
    hashing_bits: int | None = _declare(
        default=None,
        kind=Whole(1, MOST_BITS, optional=True),
        words="""Hash features to 2^N columns, without a vocabulary. Memory is bounded, and
        different features may share a column. If words and parts are counted, each kind has half of
        the columns; with fields as well, parts and fields have a quarter each.""",
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
