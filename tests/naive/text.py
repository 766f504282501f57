"""Text to counts, slowly and obviously: regular expressions, dictionaries and whole numbers."""

import re
import unicodedata
from itertools import product

# How the names of letters begin in scripts that have no spaces between words.
UNSPACED = (
    "THAI", "LAO", "MYANMAR", "KHMER", "TAI LE", "NEW TAI LUE", "TAI THAM", "TAI VIET", "AHOM",
    "CJK UNIFIED IDEOGRAPH", "CJK COMPATIBILITY IDEOGRAPH", "IDEOGRAPHIC ITERATION",
    "IDEOGRAPHIC CLOSING", "IDEOGRAPHIC NUMBER", "VERTICAL IDEOGRAPHIC", "HANGZHOU", "MASU",
    "HIRAGANA", "KATAKANA", "HALFWIDTH KATAKANA", "HENTAIGANA", "BOPOMOFO", "VERTICAL KANA",
)  # fmt: skip
JOINERS = "\u200c\u200d"
WITHOUT_MARK_IN_NAME = "ำຳﾞﾟ"  # of category Lo and Lm, and never the first of a character
BITS = 2**64 - 1


def extends(letter):
    """Whether a character belongs to the one before it."""
    return unicodedata.category(letter)[0] == "M" or letter in JOINERS + WITHOUT_MARK_IN_NAME


def is_unspaced(letter):
    """Whether a character is a letter of a script without spaces."""
    is_letter = letter.isalnum() and not letter.isdecimal()
    return is_letter and unicodedata.name(letter, "").startswith(UNSPACED)


def kind(letter, tokens):
    """Return what a character is part of, None for nothing."""
    if tokens == "whitespace":
        return None if letter.isspace() else "word"
    if is_unspaced(letter):
        return "unspaced"
    if tokens == "words":
        return "word" if letter.isalnum() or letter == "_" else None
    if letter.isdecimal():
        return "number"
    if letter.isspace():
        return None
    return "word" if letter.isalnum() else "mark"


def cut(text, tokens, by_character):
    """Return the kind, the start and the text of each token, however short."""
    cut_tokens, before = [], None
    for place, letter in enumerate(text):
        if extends(letter) and tokens != "whitespace":
            here = before
            goes_on = before is not None
        else:
            here = kind(letter, tokens)
            goes_on = here == before is not None and here != "mark"
            goes_on &= not (here == "unspaced" and by_character)
        if goes_on:
            cut_tokens[-1][2] += letter
        elif here is not None:
            cut_tokens.append([here, place, letter])
        before = here
    return cut_tokens


def tokenize(text, tokens="words", token_pattern=None, min_length=2, lowercase=True,
             unspaced="pairs"):  # fmt: skip
    """Return the tokens of one text.

    Letters of scripts without spaces are tokens as "characters", as these and their "pairs", or as
    "stretches" of them.
    """
    if token_pattern is None:
        text = unicodedata.normalize("NFC", text)
    text = text.lower() if lowercase else text
    if token_pattern is not None:
        return re.findall(token_pattern, text)
    words = []
    cut_tokens = cut(text, tokens, unspaced != "stretches")
    for i, (here, start, word) in enumerate(cut_tokens):
        if tokens != "words" or here == "unspaced" or len(word) >= min_length:
            words.append(word)
        for there, after_start, after in cut_tokens[i + 1 : i + 2] if unspaced == "pairs" else ():
            if here == there == "unspaced" and after_start == start + len(word):
                words.append(word + after)
    return words


def ngrams(words, low, high, gaps=False):
    """Return the n-grams that end with each word, as tuples, the shorter ones first."""
    return [
        [
            gram
            for n in range(low, high + 1)
            if i - n + 1 >= 0
            for gram in gapped(words[i - n + 1 : i + 1], gaps)
        ]
        for i in range(len(words))
    ]


def gapped(words, gaps):
    """Return a run whole, and with gaps (None) in every way, later words being left out first."""
    first, *inner, last = [(word,) for word in words] if len(words) > 1 else [words, ()]
    choices = [(*word, None) if gaps else word for word in inner]
    return [(*first, *between, *last) for between in product(*choices)]


def char_grams(word, low, high):
    """Return the n-grams of characters of " word ", as scikit-learn's char_wb."""
    padded, grams = f" {word} ", []
    for n in range(low, high + 1):
        grams += [padded[i : i + n] for i in range(max(1, len(padded) - n + 1))]
        if n >= len(padded):
            break
    return grams


def hash_word(word):
    """Return the hash of version 1: eight bytes at a time, multiply and fold the high half."""
    data = word.encode()
    value = len(data) * 0xD6E8FEB86659FD93 & BITS
    for start in range(0, max(len(data), 1), 8):
        value ^= int.from_bytes(data[start : start + 8], "little")
        value = value * 0x9E3779B97F4A7C15 & BITS
        value ^= value >> 32
    value = value * 0xD6E8FEB86659FD93 & BITS
    return value ^ value >> 32


def hash_ngram(words):
    """Return the hash of an n-gram: that of its first words, paired with that of the last."""
    value = hash_word(words[0])
    for word in words[1:]:
        last = 0x9E3779B97F4A7C15 if word is None else hash_word(word)
        value = ((value * 0x9E3779B97F4A7C15 & BITS) ^ last) * 0xD6E8FEB86659FD93 & BITS
        value ^= value >> 32
        value = value * 0x9E3779B97F4A7C15 & BITS
        value ^= value >> 32
    return value


def fields_of(text, fields):
    """Return the pieces of a text, each with the name of the field it is, or None."""
    if fields is None:
        return [(None, text)]
    if fields == "first-line":
        before, line, rest = re.fullmatch(r"(\s*)([^\n]*)(.*)", text, re.DOTALL).groups()
        return [(None, before), ("first-line", line), (None, rest)]
    if fields == "lead":
        before, (field, line), (_, rest) = fields_of(text, "first-line")
        ends = [0, *(word.end() for word in re.finditer(r"\S+", rest))]
        end = ends[:41][-1]
        return [before, (field, line), ("lead", rest[:end]), (None, rest[end:])]
    before, *pieces = text.split("\x1e")
    rest = "\x1e".join(pieces[len(fields) :])
    return [(None, before), *zip(fields, pieces, strict=False), (None, rest)]


def look_up(words, numbers, grow):
    """Return the number of each word in the dictionary `numbers`, to which new ones are added."""
    if grow:
        return [numbers.setdefault(word, len(numbers)) for word in words]
    return [numbers.get(word, -1) for word in words]


def count(columns):
    """Return how often each column stands in a row, in the order of their first occurrence."""
    row = {}
    for column in columns:
        if column >= 0:
            row[column] = row.get(column, 0) + 1
    return row


class Counter:
    """All of the counter, as dictionaries of features: (block, words), (2, part), (3, field, word).

    A document with fields is a text with a mark before each of them.
    """

    def __init__(self, *, ngram_range=(1, 1), char_ngram_range=None, hashing_bits=None,
                 char_ngram_tokens="whitespace", linguistics=None, most=1_000_000, fields=None,
                 gaps=False, **tokens):  # fmt: skip
        self.fields, self.gaps = fields, gaps
        self.tokens, self.linguistics = tokens, linguistics
        self.ngram_range, self.char_ngram_range = ngram_range, char_ngram_range
        self.char_ngram_tokens = char_ngram_tokens
        self.bits, self.most = hashing_bits, most
        self.numbers = {}  # the column of each feature
        self.waiting = {}  # the documents of each feature that has none yet, the oldest first

    def tokenize(self, text, unspaced=None):
        """Return the tokens of a text; none reaches over the edge of a field."""
        pieces = fields_of(text, self.fields)
        return [word for _, piece in pieces for word in self.tokenize_piece(piece, unspaced)]

    def tokenize_piece(self, piece, unspaced=None):
        """Return the tokens of a field, or of what stands in none."""
        if unspaced is None:
            unspaced = "characters" if self.ngram_range and self.ngram_range[1] > 1 else "pairs"
        return tokenize(piece, **self.tokens, unspaced=unspaced)

    def fold(self, words):
        """Return words as they are counted."""
        if self.linguistics is not None:
            words = [word for word in self.linguistics.fold(words) if word]
        return words

    def length(self, text):
        """Return how many tokens a text has."""
        if self.ngram_range is None and self.char_ngram_tokens == "whitespace":
            return len(text.split())
        return len(self.tokenize(text, "stretches" if self.ngram_range is None else None))

    def features(self, text):
        """Return the features of a text, in their order."""
        features = []
        if self.ngram_range is not None:
            for grams in ngrams(self.fold(self.tokenize(text)), *self.ngram_range, self.gaps):
                features += [(int(len(words) > 1), words) for words in grams]
        if self.char_ngram_range is not None:
            words = self.fold(self.tokenize(text, "stretches"))
            if self.char_ngram_tokens == "whitespace":
                words = unicodedata.normalize("NFC", text)
                words = (words.lower() if self.tokens.get("lowercase", True) else words).split()
            for word in words:
                features += [(2, (part,)) for part in char_grams(word, *self.char_ngram_range)]
        for field, piece in fields_of(text, self.fields):
            if field is not None:
                words = self.fold(self.tokenize_piece(piece))
                features += [(3, (field, word)) for word in words]
        return features

    def column(self, feature):
        """Return the hashed column of a feature: words, then parts, then fields.

        Two kinds have half of the columns each, three have a half, a quarter and a quarter.
        """
        block, words = feature
        there = [self.ngram_range is not None, self.char_ngram_range is not None, bool(self.fields)]
        kinds = [kind for kind, is_there in enumerate(there) if is_there]
        place, size, first = kinds.index(max(0, block - 1)), 2**self.bits, 0
        for _ in range(min(place + 1, len(kinds) - 1)):
            size //= 2
        first = {0: 0, 1: 2**self.bits // 2, 2: 2**self.bits * 3 // 4}[place]
        return first + hash_ngram(words) % size

    def admit(self, features, least):
        """Give columns to the features of one document that have now been in enough."""
        for feature in dict.fromkeys(features):
            if feature not in self.numbers:
                self.waiting[feature] = self.waiting.get(feature, 0) + 1
                if self.waiting[feature] >= least[feature[0]]:
                    del self.waiting[feature]
                    self.numbers[feature] = len(self.numbers)
        if len(self.waiting) > self.most:
            by_documents = sorted(self.waiting, key=self.waiting.get)  # the oldest first, still
            for feature in by_documents[: len(self.waiting) - self.most // 2]:
                del self.waiting[feature]

    def count(self, texts, grow=True, least=(1, 1, 1, 1)):
        """Return a dictionary of columns to counts for each text."""
        rows = []
        for text in texts:
            features = self.features(text)
            if self.bits is not None:
                rows.append(count(map(self.column, features)))
                continue
            if grow:
                self.admit(features, least)
            rows.append(count(self.numbers.get(feature, -1) for feature in features))
        return rows

    def names(self):
        """Return the name of each column."""
        return [
            (":" if block == 3 else " ").join("_" if word is None else word for word in words)
            for block, words in self.numbers
        ]

    def blocks(self):
        """Return the block of each column."""
        return [block for block, _ in self.numbers]
