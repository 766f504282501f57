"""The data sets of the paper that can be had, each as a problem of two classes.

What the paper leaves open was settled by its own figures. Words are runs of letters in lower case,
and each has its count: that gives exactly the 34,944 features of MovieReviews. Reuters is all
documents with a topic, 11,367 as in the paper; its class "money" is the topic `earn`, for no other
topic comes near the published row. 20newsgroup, 5,000 posts, is five groups of about a thousand,
one against the other four: no class of the whole collection gives the published row, and of the
sets tried this one is nearest in posts, features and F1. In the Wisconsin data the positive class
is the benign one. Signature and reply lines come with features inferred from the description of the
authors' set, which was not published. Spam and Scam are other messages than the authors'.
"""

from __future__ import annotations

from functools import cache
from threading import Lock

import numpy as np

from thresher.corpora import load
from thresher.errors import ParameterError
from thresher.papers._running import Problem
from thresher.text import TextCounter

__all__ = ["problem"]

LETTERS = "[a-z]+"
GROUPS = ("rec.autos", "sci.crypt", "sci.electronics", "sci.med", "sci.space")
SETS = {  # the corpus, and its category that is positive
    "Spam": ("ling-spam", "spam"),
    "Scam": ("nigerian", "scam"),
    "Reuters": ("reuters21578:all,labelled=yes", "earn"),
    "20newsgroup": ("20newsgroups:remove=headers/all", GROUPS[0]),
    "MovieReviews": ("movie-reviews", "pos"),
    "Ads": ("ads", "ad"),
    "Sig": ("signature", "signature"),
    "Reply": ("reply", "reply"),
    "Adult": ("adult/train", ">50K"),
    "Congress": ("congressional", "democrat"),
    "Credit": ("credit", "+"),
    "Wisc": ("wisconsin", "benign"),
    "Nursery": ("nursery", "priority"),
}
_reading = Lock()


def problem(name: str) -> Problem:
    """Return a data set by its name in table 4; it is read once in a process.

    Examples
    --------
    >>> problem("Webmaster")
    Traceback (most recent call last):
    thresher.errors.ParameterError: There is no data set 'Webmaster'; there are Spam, ...
    """
    if name not in SETS:
        raise ParameterError(f"There is no data set {name!r}; there are {', '.join(SETS)}.")
    with _reading:  # several threads may ask for the same one
        return _read(name)


@cache
def _read(name: str) -> Problem:
    spec, positive = SETS[name]
    corpus = load(spec)
    pairs = list(corpus.pairs())
    if name == "20newsgroup":
        pairs = [pair for pair in pairs if pair[1][0] in GROUPS]
    if corpus.split().rows is None:
        rows = TextCounter(token_pattern=LETTERS).count([text for text, _ in pairs])
    else:
        rows = corpus.sparse_rows()
    return Problem(name, rows, np.array([positive in labels for _, labels in pairs]))
