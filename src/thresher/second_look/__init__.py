"""A second look at the likeliest categories of a document, before it is decided."""

from thresher.second_look.look import Kind, SecondLook, Unseen
from thresher.second_look.pairs import Candidates, candidates_of

__all__ = ["Candidates", "Kind", "SecondLook", "Unseen", "candidates_of"]
