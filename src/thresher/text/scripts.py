"""What the scripts of the world ask of words: marks, normal forms, and no spaces between words."""

from __future__ import annotations

from functools import cache
from unicodedata import category, is_normalized, normalize

import numpy as np

from thresher._kernels.text import EXTENDING

__all__ = ["CONTEXTUAL", "FAR", "IN_CONTEXT", "UNSETTLED", "classified", "composed"]
__all__ += ["composed_places", "traits_table"]

# All that `str.lower` does not map character by character: the first becomes two characters, the
# second depends on its neighbours. Documents with these are lower-cased before they are cut.
CONTEXTUAL = "İΣ"

# Traits of characters: to be one of these; to change, or change place, when a text is composed; to
# be beyond the first two planes of Unicode, where the rarest of Han are.
IN_CONTEXT, UNSETTLED, FAR = 1, 2, 4

# Scripts in which no space stands between words, of which the decimal digits are words as ever:
# those of South East Asia that Unicode breaks into lines by dictionaries only, and those of China
# and Japan. Korean has spaces.
UNSPACED = (
    (0x0E00, 0x0F00),  # Thai, Lao
    (0x1000, 0x10A0),  # Burmese
    (0x1780, 0x1800),  # Khmer
    (0x1950, 0x19E0),  # Tai Le, New Tai Lue
    (0x1A20, 0x1AB0),  # Tai Tham
    (0x3005, 0x3130),  # signs of repetition, Hiragana, Katakana, Bopomofo
    (0x31A0, 0x3200),  # more of the last two
    (0x3400, 0x4DC0),  # Han, and below
    (0x4E00, 0xA000),
    (0xA9E0, 0xAA00),  # more of Burmese
    (0xAA60, 0xAAE0),  # the same, and Tai Viet
    (0xF900, 0xFB00),
    (0xFF66, 0xFFA0),  # Katakana of half width
    (0x11700, 0x11750),  # Ahom
    (0x1AFF0, 0x1B170),  # more of Hiragana and Katakana
    (0x20000, 0x40000),
)
# Vowels and marks of sound that are letters by name, and joiners: they never begin a character.
JOINING = (0x0E33, 0x0EB3, 0x200C, 0x200D, 0xFF9E, 0xFF9F)
JAMO = (0x1160, 0x1200)  # the vowels and the ends of Korean syllables that are written in letters
# Where marks are, and all that changes when it is composed.
LIVELY = (
    (0x300, 0x3400),
    (0xA000, 0xAC00),
    (0xF900, 0x20000),
    (0x2F800, 0x2FA20),
    (0xE0100, 0xE01F0),
)


def classified(kinds: np.ndarray, is_digit: np.ndarray, unspaced: int) -> np.ndarray:
    """Return the classes of characters, with what extends others, and `unspaced` for letters."""
    bound, kinds = len(kinds), kinds.copy()
    for start, stop in UNSPACED:
        some = slice(start, stop)
        kinds[some] = np.where((kinds[some] == 1) & ~is_digit[some], unspaced, kinds[some])
    extending = [one for one in (*_marks(bound), *JOINING) if one < bound]
    kinds[np.array(extending, int)] = EXTENDING
    return kinds


def composed(texts: list[str]) -> list[str]:
    """Return texts in the normal form NFC."""
    return [normalize("NFC", text) for text in texts]  # the same text, if it has that form


def composed_places(text: str) -> tuple[str, np.ndarray, np.ndarray]:
    """Return a text in the form NFC, and where each of its characters starts and ends in the text.

    What is composed anew takes the place of a letter with all its marks.
    """
    if is_normalized("NFC", text):
        return text, np.arange(len(text)), np.arange(1, len(text) + 1)
    borders = [i for i, letter in enumerate(text) if i == 0 or not _is_joined(letter)]
    pieces: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    for start, end in zip(borders, [*borders[1:], len(text)], strict=True):
        piece = normalize("NFC", text[start:end])
        pieces.append(piece)
        if piece == text[start:end]:
            starts += range(start, end)
            ends += range(start + 1, end + 1)
        else:
            starts += [start] * len(piece)
            ends += [end] * len(piece)
    return "".join(pieces), np.array(starts, np.int64), np.array(ends, np.int64)


def _is_joined(letter: str) -> bool:
    """Whether a character may be composed with what stands before it."""
    return category(letter)[0] == "M" or JAMO[0] <= ord(letter) < JAMO[1]


@cache
def _marks(bound: int) -> tuple[int, ...]:
    """Return the characters below `bound` that combine with what stands before them."""
    lively = (one for start, stop in LIVELY for one in range(start, min(stop, bound)))
    return tuple(one for one in lively if category(chr(one))[0] == "M")


@cache
def traits_table() -> np.ndarray:
    """Return the traits of each unit of UTF-16, as bits."""
    table = np.zeros(0x10000, np.uint8)
    for start, stop in LIVELY:
        for one in range(start, min(stop, len(table))):
            if not is_normalized("NFC", chr(one)):
                table[one] = UNSETTLED
    table[list(_marks(len(table)))] = UNSETTLED
    table[slice(*JAMO)] = UNSETTLED
    # Halves of characters beyond: all scripts but Han, and Han for compatibility; no emoji.
    table[0xD800:0xD83C] = UNSETTLED
    table[0xD840:0xDC00] = FAR
    table[0xD87E] |= UNSETTLED
    for letter in CONTEXTUAL:
        table[ord(letter)] |= IN_CONTEXT
    return table
