"""Text to counts: tokens, n-grams, a vocabulary that grows, or hashing."""

from thresher.text.counter import HASH_VERSION, TextCounter
from thresher.text.vectorizer import TextVectorizer

__all__ = ["HASH_VERSION", "TextCounter", "TextVectorizer"]
