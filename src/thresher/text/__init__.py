"""Text to counts: tokens, n-grams, a vocabulary that grows, or hashing."""

from thresher.text.counter import TextCounter
from thresher.text.header import HASH_VERSION
from thresher.text.vectorizer import TextVectorizer

__all__ = ["HASH_VERSION", "TextCounter", "TextVectorizer"]
