"""A second look at the likeliest categories of a document, before it is decided."""

from thresher.model.second_look.look import MOST_LOOKED, Kind, SecondLook, Unseen
from thresher.model.second_look.pairs import MOST_CANDIDATES, Candidates, candidates_of

__all__ = [
    "MOST_CANDIDATES",
    "MOST_LOOKED",
    "Candidates",
    "Kind",
    "SecondLook",
    "Unseen",
    "candidates_of",
]
