"""Section 16.2: maximum entropy, in the event space that the book's numbers come from."""

from __future__ import annotations

from typing import Any

import numpy as np

from thresher.examples import Examples
from thresher.learners.maxent import LogLinear, MaximumEntropy, fit_loglinear
from thresher.papers._result import Cells, Table
from thresher.papers.manning_schuetze_1999 import published
from thresher.papers.manning_schuetze_1999.earnings import (
    contingency,
    contingency_table,
    earnings,
    is_earnings,
)
from thresher.papers.manning_schuetze_1999.published import FILLER, NAME, WORDS

# Table 16.7: without and with `profit`; "no" and "yes".
COUNTS = np.array([[13.0, 8.0], [9.0, 20.0]])
EVENTS = [(x, c) for x in (0, 1) for c in (0, 1)]
BOOK = {"method": "gis", "features": "presence", "constant": 20.0, "max_iter": 500}
JOINT, CONDITIONAL = "joint", "conditional"


def profit(space: str = JOINT, max_iter: int = 500, counts: Any = COUNTS) -> LogLinear:
    """Fit the model of table 16.6: one feature, `profit` in a document of earnings.

    Examples
    --------
    >>> profit().probabilities()
    array([[0.2, 0.2],
           [0.2, 0.4]])
    """
    features = np.zeros((2, 2, 1))
    features[1, 1] = 1
    return fit_loglinear(features, counts, space=space, max_iter=max_iter)


def table_16_6(seed: int = 0, quick: bool = False) -> Table:
    """The distribution that iterative scaling reaches from table 16.7."""
    model = profit()
    own, by_classes = model.probabilities(), profit(CONDITIONAL).probabilities()
    ours = {
        f"profit {x}, earnings {c}": {
            "p(x,c)": float(own[x, c]),
            "p(c given x)": float(own[x, c] / own[x].sum()),
            "p(c given x), conditional": float(by_classes[x, c]),
        }
        for x, c in EVENTS
    }
    books: Cells = {
        f"profit {x}, earnings {c}": {"p(x,c)": 0.4 if x and c else 0.2} for x, c in EVENTS
    }
    alphas = ", ".join(f"{alpha:.2f}" for alpha in np.exp(model.log_alphas))
    notes = [
        f"After {model.n_iter} iteration with C = 1 (exercise 16.10), α being {alphas}; the book "
        "shows the same distribution with α = 4 and 2, as only their ratio matters. Exercise 16.7: "
        "P(earnings|profit) = 2/3, P(earnings|no profit) = 1/2, a tie. Where only p(c|x) is "
        "modelled (equation 16.10) scaling ends elsewhere."
    ]
    title = "Table 16.6: a maximum entropy distribution"
    return Table(NAME, "table-16.6", title, books, ours, notes, tolerance=0.01, digits=3,
                 best="none")  # fmt: skip


def table_16_7(seed: int = 0, quick: bool = False) -> Table:
    """The means of both features in table 16.7 and in the model, which must be the same."""
    model = profit()
    ours = {
        f"E f{i + 1}": {"table 16.7": float(seen), "the model": float(expected)}
        for i, (seen, expected) in enumerate(zip(model.empirical, model.expected, strict=True))
    }
    books = {"E f1": {"the model": 0.4}, "E f2": {"the model": 0.6}}
    title = "Table 16.7: means of the features (exercise 16.9)"
    return Table(NAME, "table-16.7", title, books, ours,
                 ["The book's are those of table 16.6, 4/10 and 6/10; table 16.7 has 20 of 50."],
                 tolerance=0.01, digits=3, best="none")  # fmt: skip


def fitted(**parameters: Any) -> MaximumEntropy:
    """Return a model of the training documents."""
    return MaximumEntropy(**parameters).fit_rows(Examples.of(*earnings().train))


def table_16_8(seed: int = 0, quick: bool = False) -> Table:
    """Log α of each word, after 500 iterations in both event spaces."""
    names = [*WORDS, FILLER]
    ours: Cells = {name: {} for name in names}
    for space in (JOINT, CONDITIONAL):
        words, filler = fitted(**BOOK, event_space=space).log_alphas(0)
        for name, weight in zip(names, (*words, filler), strict=True):
            ours[name][space] = float(weight)
    books = published.MAXIMUM_ENTROPY
    same = sum(ours[name][JOINT] * books[name] > 0 for name in names)
    apart = float(np.mean([abs(ours[name][JOINT] - books[name]) for name in names]))
    notes = [
        f"{same} of 21 weights have the sign of the book's; they differ by {apart:.2f} on average. "
        "The events are the distinct vectors of the training documents with yes and with no "
        "(equation 16.8), and C = 20. With yes or no given a document (equation 16.10, "
        f'"{CONDITIONAL}"), which the book says it takes, the weights are far from its.'
    ]
    title = "Table 16.8: weights of maximum entropy"
    published_cells: Cells = {name: {JOINT: weight} for name, weight in books.items()}
    return Table(NAME, "table-16.8", title, published_cells, ours, notes, tolerance=0.4, digits=3,
                 best="none")  # fmt: skip


def table_16_9(seed: int = 0, quick: bool = False) -> Table:
    """Decisions in both event spaces, and with more than presence."""
    versions: dict[str, dict[str, Any]] = {
        JOINT: BOOK | {"event_space": JOINT},
        CONDITIONAL: BOOK | {"event_space": CONDITIONAL},
        "conditional, L-BFGS": {"features": "presence"},
        "conditional, L-BFGS, weights of words": {},
    }
    test = earnings().test
    ours = {
        name: contingency(fitted(**one).score_rows(test.rows)[:, 0] > 0, is_earnings(test))
        for name, one in versions.items()
    }
    notes = [
        "The first row is the book's reading, the second what one would use; the last two, by a "
        "better method with an always-on feature and a prior, presence alone and the weights of "
        "words."
    ]
    return contingency_table("16.9", "maximum entropy", JOINT, published.ENTROPY, ours, notes)
