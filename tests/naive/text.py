"""Text to counts, slowly and obviously: regular expressions, dictionaries and whole numbers."""

import re

RULES = {
    "words": r"\w+",
    "book": r"[^\W\d_]+|\d+|[^\w\s]|_",
    "whitespace": r"\S+",
}
BITS = 2**64 - 1


def tokenize(text, tokens="words", token_pattern=None, min_length=2, lowercase=True):
    """Return the tokens of one text."""
    text = text.lower() if lowercase else text
    if token_pattern is not None:
        return re.findall(token_pattern, text)
    found = re.findall(RULES[tokens], text)
    return [word for word in found if tokens != "words" or len(word) >= min_length]


def ngrams(words, low, high):
    """Return the n-grams that end with each word, as tuples, the shorter ones first."""
    return [
        [tuple(words[i - n + 1 : i + 1]) for n in range(low, high + 1) if i - n + 1 >= 0]
        for i in range(len(words))
    ]


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
        value = ((value * 0x9E3779B97F4A7C15 & BITS) ^ hash_word(word)) * 0xD6E8FEB86659FD93 & BITS
        value ^= value >> 32
        value = value * 0x9E3779B97F4A7C15 & BITS
        value ^= value >> 32
    return value


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
    """All of the counter, as a dictionary of names."""

    def __init__(self, *, ngram_range=(1, 1), char_ngram_range=None, hashing_bits=None,
                 linguistics=None, **tokens):  # fmt: skip
        self.tokens, self.linguistics = tokens, linguistics
        self.ngram_range, self.char_ngram_range = ngram_range, char_ngram_range
        self.bits = hashing_bits
        self.numbers = {}

    def features(self, text):
        """Return the features of a text, as tuples of words, in their order."""
        words = tokenize(text, **self.tokens)
        if self.linguistics is not None:
            words = [word for word in self.linguistics.fold(words) if word]
        if self.char_ngram_range is not None:
            words = [gram for word in words for gram in char_grams(word, *self.char_ngram_range)]
        return [gram for grams in ngrams(words, *self.ngram_range) for gram in grams]

    def count(self, texts, grow=True):
        """Return a dictionary of columns to counts for each text."""
        rows = []
        for text in texts:
            features = self.features(text)
            if self.bits is None:
                columns = look_up(features, self.numbers, grow)
            else:
                columns = [hash_ngram(feature) % 2**self.bits for feature in features]
            rows.append(count(columns))
        return rows

    def names(self):
        """Return the name of each column."""
        return [" ".join(words) for words in self.numbers]
