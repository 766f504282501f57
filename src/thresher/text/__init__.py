"""Text to counts: tokens, runs of words, parts of words, a vocabulary that grows, or hashing."""

from thresher.text.counter import HASH_VERSION, TextCounter
from thresher.text.parameters import TextParameters
from thresher.text.space import BLOCKS
from thresher.text.vectorizer import TextVectorizer

__all__ = ["BLOCKS", "HASH_VERSION", "TextCounter", "TextParameters", "TextVectorizer"]
