"""Rules for scripts: combining marks, normal forms, and scripts without spaces between words."""

from __future__ import annotations

from functools import cache
from unicodedata import category, is_normalized, normalize

import numpy as np

from thresher._kernels.text import EXTENDING

# Letters that `str.lower` does not map to one fixed character: the first becomes two characters,
# the second depends on adjacent letters. Texts with them are lower-cased before tokenization.
CONTEXTUAL = "İΣ"

# Traits of characters, as bits: one of CONTEXTUAL; may change or move under normalization to NFC;
# beyond the first two planes of Unicode, where rare Han characters are.
IN_CONTEXT, UNSETTLED, FAR = 1, 2, 4

# Scripts without spaces between words: those of South East Asia for which Unicode needs
# dictionaries to break lines, and those of China and Japan. Korean has spaces. Decimal digits are
# not included.
UNSPACED = (
    (0x0E00, 0x0F00),  # Thai, Lao
    (0x1000, 0x10A0),  # Burmese
    (0x1780, 0x1800),  # Khmer
    (0x1950, 0x19E0),  # Tai Le, New Tai Lue
    (0x1A20, 0x1AB0),  # Tai Tham
    (0x3005, 0x3130),  # signs of repetition, Hiragana, Katakana, Bopomofo
    (0x31A0, 0x3200),  # extensions of Bopomofo and Katakana
    (0x3400, 0x4DC0),  # Han, and below
    (0x4E00, 0xA000),
    (0xA9E0, 0xAA00),  # Burmese, extension B
    (0xAA60, 0xAAE0),  # Burmese, extension A, and Tai Viet
    (0xF900, 0xFB00),
    (0xFF66, 0xFFA0),  # half-width Katakana
    (0x11700, 0x11750),  # Ahom
    (0x1AFF0, 0x1B170),  # extensions of Hiragana and Katakana
    (0x20000, 0x40000),
)
# Vowels and sound marks that Unicode classifies as letters, and joiners; they extend the character
# before them.
JOINING = (0x0E33, 0x0EB3, 0x200C, 0x200D, 0xFF9E, 0xFF9F)
JAMO = (0x1160, 0x1200)  # vowels and final consonants of decomposed Korean syllables
# Ranges with all combining marks and all characters that NFC changes.
LIVELY = (
    (0x300, 0x3400),
    (0xA000, 0xAC00),
    (0xF900, 0x20000),
    (0x2F800, 0x2FA20),
    (0xE0100, 0xE01F0),
)


def classified(kinds: np.ndarray, is_digit: np.ndarray, unspaced: int) -> np.ndarray:
    """Return character classes with EXTENDING for marks and `unspaced` for unspaced scripts."""
    bound, kinds = len(kinds), kinds.copy()
    for start, stop in UNSPACED:
        script = slice(start, stop)
        is_letter = (kinds[script] == 1) & ~is_digit[script]
        kinds[script] = np.where(is_letter, unspaced, kinds[script])
    extending = [letter for letter in (*_marks(bound), *JOINING) if letter < bound]
    kinds[np.array(extending, int)] = EXTENDING
    return kinds


def composed(texts: list[str]) -> list[str]:
    """Return texts in the normal form NFC."""
    return [normalize("NFC", text) for text in texts]  # the same object if it is in NFC


def composed_places(text: str) -> tuple[str, np.ndarray, np.ndarray]:
    """Return a text in the form NFC, and the original start and end of each of its characters.

    A character that was composed gets the position of a letter with all its marks.
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
    """Return True if a character may be composed with the character before it."""
    return category(letter)[0] == "M" or JAMO[0] <= ord(letter) < JAMO[1]


@cache
def _marks(bound: int) -> tuple[int, ...]:
    """Return the combining marks below `bound`."""
    letters = (letter for start, stop in LIVELY for letter in range(start, min(stop, bound)))
    return tuple(letter for letter in letters if category(chr(letter))[0] == "M")


@cache
def traits_table() -> np.ndarray:
    """Return the traits of each unit of UTF-16, as bits."""
    table = np.zeros(0x10000, np.uint8)
    for start, stop in LIVELY:
        for code in range(start, min(stop, len(table))):
            if not is_normalized("NFC", chr(code)):
                table[code] = UNSETTLED
    table[list(_marks(len(table)))] = UNSETTLED
    table[slice(*JAMO)] = UNSETTLED
    # High surrogates of all scripts except Han, and of compatibility Han, but not of emoji.
    table[0xD800:0xD83C] = UNSETTLED
    table[0xD840:0xDC00] = FAR
    table[0xD87E] |= UNSETTLED
    for letter in CONTEXTUAL:
        table[ord(letter)] |= IN_CONTEXT
    return table
