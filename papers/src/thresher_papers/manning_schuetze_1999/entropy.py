"""Section 16.2: maximum entropy, in the event space that the book's numbers come from."""

from __future__ import annotations

from thresher_papers._result import Cells, Table
from thresher_papers._running import Run
from thresher_papers.manning_schuetze_1999 import measures, published
from thresher_papers.manning_schuetze_1999.earnings import WORDS, with_accuracy
from thresher_papers.manning_schuetze_1999.measures import CONDITIONAL, ENTROPIES, JOINT
from thresher_papers.manning_schuetze_1999.published import FILLER, NAME
from thresher_papers.manning_schuetze_1999.representation import HERE, contingency_table

EVENTS = [(x, c) for x in (0, 1) for c in (0, 1)]
NAMES = [*WORDS, FILLER]


def table_16_6(run: Run) -> Table:
    """The distribution that iterative scaling reaches from table 16.7."""
    model, conditional = run.cells(measures.profit_model, [(JOINT,), (CONDITIONAL,)])
    joint, by_classes = model["probabilities"], conditional["probabilities"]
    reproduced = {
        f"profit {x}, earnings {c}": {
            "p(x,c)": joint[x][c],
            "p(c given x)": joint[x][c] / sum(joint[x]),
            "p(c given x), conditional": by_classes[x][c],
        }
        for x, c in EVENTS
    }
    books: Cells = {
        f"profit {x}, earnings {c}": {"p(x,c)": 0.4 if x and c else 0.2} for x, c in EVENTS
    }
    alphas = ", ".join(f"{alpha:.2f}" for alpha in model["alphas"])
    notes = [
        f"After {model['iterations']} iteration with C = 1 (exercise 16.10), α being {alphas}; the "
        "book shows the same distribution with α = 4 and 2, as only their ratio matters. Exercise "
        "16.7: P(earnings|profit) = 2/3, P(earnings|no profit) = 1/2, a tie. Where only p(c|x) is "
        "modelled (equation 16.10) scaling ends elsewhere. Tolerance 0.001."
    ]
    title = "Table 16.6: a maximum entropy distribution"
    return Table(NAME, "table-16.6", title, books, reproduced, notes, tolerance=0.001, digits=3,
                 best="none")  # fmt: skip


def table_16_7(run: Run) -> Table:
    """The means of both features in table 16.7 and in the model, which must be the same."""
    (model,) = run.cells(measures.profit_model, [(JOINT,)])
    pairs = zip(model["empirical"], model["expected"], strict=True)
    reproduced = {
        f"E f{i}": {"table 16.7": seen, "the model": expected}
        for i, (seen, expected) in enumerate(pairs, 1)
    }
    books = {"E f1": {"the model": 0.4}, "E f2": {"the model": 0.6}}
    (without, only_no), (only_yes, present) = (map(int, row) for row in measures.COUNTS)
    notes = [
        f"The table itself, from which the model is fitted: {present} documents of earnings with "
        f"profit and {only_no} without, {only_yes} others with it and {without} without. The "
        "book's means are those of table 16.6, 4/10 and 6/10. Tolerance 0.001."
    ]
    title = "Table 16.7: means of the features (exercise 16.9)"
    return Table(NAME, "table-16.7", title, books, reproduced, notes, tolerance=0.001, digits=3,
                 best="none")  # fmt: skip


def table_16_8(run: Run) -> Table:
    """Log α of each word, after 500 iterations in both event spaces."""
    versions = [JOINT, CONDITIONAL, "joint, C = 18", "joint, 100 iterations"]
    versions = run.of([*versions, "joint, 5,000 iterations"], versions[:2])
    cells = run.cells(measures.entropy, [(version, HERE) for version in versions])
    weights = {version: dict(zip(NAMES, cell["log alphas"], strict=True))
               for version, cell in zip(versions, cells, strict=True)}  # fmt: skip
    books = published.MAXIMUM_ENTROPY
    reproduced = {name: {JOINT: weights[JOINT][name], CONDITIONAL: weights[CONDITIONAL][name]}
            for name in NAMES}  # fmt: skip
    same = sum(weights[JOINT][name] * books[name] > 0 for name in NAMES)
    apart = {version: sum(abs(version_weights[name] - books[name]) for name in NAMES) / len(NAMES)
             for version, version_weights in weights.items()}  # fmt: skip
    tried = ", ".join(f"{name.removeprefix('joint, ')} {value:.3f}" for name, value in apart.items()
                      if name.startswith("joint, "))  # fmt: skip
    notes = [
        f"{same} of 21 weights have the sign of the book's; they differ by {apart[JOINT]:.3f} on "
        "average. Tolerance 0.1. The events are the distinct vectors of the training documents "
        "with yes and with no (equation 16.8), and C = 20. With yes or no given a document "
        f'(equation 16.10, "{CONDITIONAL}"), which the book says it takes, the weights are '
        f"{apart[CONDITIONAL]:.3f} from its.",
        f"Tried for those that differ: {tried} on average; other readings of a story, by "
        "`vectors`; weights move with what is an event, and these are the book's vectors, not "
        "quite ours.",
    ]
    published_cells: Cells = {name: {JOINT: weight} for name, weight in books.items()}
    return Table(NAME, "table-16.8", "Table 16.8: weights of maximum entropy", published_cells,
                 reproduced, notes if tried else notes[:1], tolerance=0.1, digits=3,
                 best="none")  # fmt: skip


def table_16_9(run: Run) -> Table:
    """Decisions in both event spaces, and with more than presence."""
    versions = run.of(list(ENTROPIES), [JOINT, CONDITIONAL])
    cells = run.cells(measures.entropy, [(version, HERE) for version in versions])
    reproduced = {version: cell["decisions"] for version, cell in zip(versions, cells, strict=True)}
    notes = [
        "The first row is what the book's numbers come from, the conditional one what one would "
        "use; the last two, by a better method with an always-on feature and a prior, presence "
        "alone and the weights of words."
    ]
    return contingency_table("16.9", "maximum entropy", {JOINT: with_accuracy(published.ENTROPY)},
                             reproduced, notes)  # fmt: skip
