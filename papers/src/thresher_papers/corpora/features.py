"""Features of corpora that are not only text, as sparse rows."""

from __future__ import annotations

import numpy as np

from thresher.corpora import Corpus
from thresher.rows import Rows

__all__ = ["feature_names", "feature_rows"]


def feature_names(corpus: Corpus) -> list[str]:
    """Return the names of the features that occur in the default split, sorted."""
    return sorted({name for row in corpus.rows() for name in row})


def feature_rows(corpus: Corpus) -> Rows:
    """Return the features of each document of the default split; columns as in `feature_names`.

    Examples
    --------
    >>> from thresher.corpora import Split
    >>> features = [{"height": 2.0}, {"height": 1.0, "width": 3.0}]
    >>> corpus = Corpus({"all": Split(["", ""], [["ad"], []], ["1", "2"], features)})
    >>> feature_rows(corpus).values
    array([2., 1., 3.], dtype=float32)
    """
    rows, names = corpus.rows(), feature_names(corpus)
    column = {name: i for i, name in enumerate(names)}
    indptr = np.cumsum([0, *map(len, rows)])
    indices = np.array([column[name] for row in rows for name in row], np.int32)
    values = np.array([value for row in rows for value in row.values()], np.float32)
    return Rows(indptr, indices, values, len(names))
