"""Tables 16.1 to 16.3 and figure 16.3: tasks, measures, and how a document is represented."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from thresher_papers._result import Cells, Drawing, Table
from thresher_papers._running import Run
from thresher_papers.manning_schuetze_1999 import measures, published, swings, tasks
from thresher_papers.manning_schuetze_1999.earnings import (
    CONTINGENCY,
    READINGS,
    WORDS,
    with_accuracy,
)
from thresher_papers.manning_schuetze_1999.published import NAME

N_TEST = 3299
HERE = "as here"
ORDERS = 10  # random ones of the training documents
DOCUMENTS = 33.0  # 1 % of the test documents: the tolerance of counts beside that of accuracy
TOKEN = re.compile(r"[^\W\d_]+|\d+|[^\w\s]|_")


def contingency_table(
    number: str,
    title: str,
    published_cells: Cells,
    reproduced: Cells,
    notes: Sequence[str],
    spread: Cells | None = None,
) -> Table:
    """Return a contingency table on the test documents beside the book's."""
    notes = [*notes, "Tolerance: 33 documents, which are 1 % of 3,299, and 1 point of accuracy."]
    return Table(
        NAME, f"table-{number}", f"Table {number}: {title}", published_cells, reproduced, notes,
        tolerance=1.0, tolerances=dict.fromkeys(CONTINGENCY, DOCUMENTS), digits=2, best="none",
        spread=spread or {},
    )  # fmt: skip


def books_counts() -> Cells:
    """Return the four contingency tables that the book prints, by method."""
    counts = (published.TREE, published.ENTROPY, published.LINEAR, published.NEIGHBORS)
    return dict(zip(tasks.METHODS, map(with_accuracy, counts), strict=True))


# ---- tables 16.1 and 16.2 --------------------------------------------------------------------

# Row of the book's table, with what it classifies and into what, and the task that stands for it.
PROBLEMS = {
    "disambiguation: context of a word → its senses": "sense",
    "author identification: document → authors": "author, all words",
    "language identification: document → languages": "language",
}
TOPICS = "text categorization: document → topics"


def table_16_1(run: Run) -> Table:
    """Examples of classification tasks, each by the four methods of the chapter."""
    keys = [(task, method, run.seed) for task in PROBLEMS.values() for method in tasks.METHODS]
    cells = iter(run.cells(tasks.accuracy, keys))
    reproduced: dict[str, dict[str, Any]] = {}
    for problem in PROBLEMS:
        problem_cells = [next(cells) for _ in tasks.METHODS]
        reproduced[problem] = {
            "objects": problem_cells[0]["objects"],
            "categories": problem_cells[0]["categories"],
        }
        reproduced[problem] |= {
            name: cell["accuracy"] for name, cell in zip(tasks.METHODS, problem_cells, strict=True)
        }
    decided = by_method(run)
    accuracies = {name: decided[name]["accuracy %"] for name in tasks.METHODS}
    reproduced[TOPICS] = {"objects": N_TEST, "categories": 2} | accuracies
    notes = [
        "Accuracy in percent. The book's table names problems, objects and categories; here each "
        "that has data among the corpora is done, by `thresher compare FILE --learners "
        "decision-tree,maximum-entropy,perceptron,nearest-neighbors`, or by `thresher train`: "
        "whatever stands in a text and has a label is a document. Authors and languages are those "
        f"of `other-tasks`; senses are those of a pseudo-word (section 7.1.2), "
        f"{tasks.TASKS['sense'].words}; text categorization is the chapter's own task.",
        "Tagging and the attachment of prepositional phrases are the same kind of task, a context "
        "with a tag or an attachment for its label, but need a tagged corpus or a treebank, and "
        "none is among those that can be fetched.",
    ]
    title = "Table 16.1: some classification tasks, done"
    return Table(NAME, "table-16.1", title, {}, reproduced, notes, best="none")


def by_method(run: Run) -> Cells:
    """Return the decisions of the four methods as the chapter has them, on the test documents."""
    (tree,) = run.cells(measures.pruning, [(run.seed,)])
    (joint,) = run.cells(measures.entropy, [(measures.JOINT, HERE)])
    (nearest,) = run.cells(measures.nearest, [("1 neighbour", HERE)])
    (decided,) = run.cells(swings.state_decisions, [(tuple(middle_states(run)[:1]),)])
    rows = (cell["decisions"] for cell in (tree, joint, {"decisions": decided[0]}, nearest))
    return dict(zip(tasks.METHODS, rows, strict=True))


def orders(run: Run) -> list[dict[str, Any]]:
    """Return the accuracies of the perceptron after each pass, for random orders."""
    n_passes = run.of(swings.PASSES, 50)
    return run.cells(swings.swing, [(n_passes, 0, order) for order in run.seeds(ORDERS)])


def middle(cell: dict[str, Any]) -> int:
    """Return the first pass whose training accuracy is nearest to the middle of the book's range.

    Examples
    --------
    >>> middle({"training": [90.0, 83.0, 82.0, 82.0]})
    1
    """
    target = sum(published.SWING) / 2
    distances = [abs(accuracy - target) for accuracy in cell["training"]]
    return distances.index(min(distances))


def middle_states(run: Run) -> list[tuple[int, ...]]:
    """Return weights and threshold of a state in the middle of each order's swing."""
    return [tuple(cell["states"][middle(cell)]) for cell in orders(run)]


def measured(cells: dict[str, float]) -> dict[str, float]:
    """Return the measures that follow from a contingency table, in percent.

    Examples
    --------
    >>> measured(with_accuracy((1022, 91, 65, 2121)))["fallout %"]
    4.11
    """
    a, b, c, d = (cells[name] for name in CONTINGENCY)
    letters = dict(zip("abcd", (int(count) for count in (a, b, c, d)), strict=True))
    return letters | {
        "accuracy %": 100 * (a + d) / (a + b + c + d),
        "precision %": 100 * a / (a + b) if a + b else 0.0,
        "recall %": 100 * a / (a + c),
        "fallout %": 100 * b / (b + d),
    }


def table_16_2(run: Run) -> Table:
    """The contingency table, and the measures that follow from it, of all our decisions."""
    rows = {name: measured(cells) for name, cells in by_method(run).items()}
    rows |= {f"{name}, the book's": measured(cells) for name, cells in books_counts().items()}
    (none,) = run.cells(measures.trivial, [()])
    rows["always no"] = measured(none)
    (averages,) = run.cells(measures.all_topics, [()])
    for average, cells in averages.items():
        rows[f"all topics, {average}-averaged"] = {f"{k} %": v for k, v in cells.items()}
    notes = [
        "The book's table has the letters: a, YES and right; b, YES and wrong; c, NO and wrong; d, "
        "NO and right. Accuracy is (a + d) / (a + b + c + d), precision a / (a + b), recall "
        "a / (a + c), fallout b / (b + d). Here they are applied to our decisions on the test "
        "documents and to those that the book prints in tables 16.5, 16.9, 16.11 and 16.12.",
        "The last two rows are of the 90 topics that have training and test documents, by one "
        "neighbour on the same twenty words: averaged over topics (macro), precision is "
        f"{averages['macro']['precision']:.1f} %, over all decisions (micro) "
        f"{averages['micro']['precision']:.1f} %, for that is dominated by the large topics.",
    ]
    title = "Table 16.2: contingency tables and the measures that follow"
    return Table(NAME, "table-16.2", title, {}, rows, notes, best="none")


# ---- table 16.3 and figure 16.3 --------------------------------------------------------------


def table_16_3(run: Run) -> Table:
    """The representation of document 11, word by word."""
    (document,) = run.cells(measures.document_11, [()])
    notes = [
        "All twenty have to be the book's. That takes: lower case; a token is a run of letters, a "
        "run of digits, or one other character; title and body without the dateline, the whole "
        "text where there is no body; entities are not decoded, so that `&lt;` is the three tokens "
        "`&`, `lt`, `;`, and `&#3;`, which ends every body, has a `3`; the length counts all "
        "tokens. Other readings give it too: `vectors` has what tells them apart."
    ]
    title = "Table 16.3: the representation of document 11"
    reproduced = {
        word: {"weight": weight} for word, weight in zip(WORDS, document["weights"], strict=True)
    }
    books = {word: {"weight": weight} for word, weight in published.DOCUMENT_11.items()}
    return Table(NAME, "table-16.3", title, books, reproduced, notes, tolerance=0, best="none")


def marked(text: str) -> tuple[str, dict[str, int]]:
    """Return a text with the twenty words in brackets, and how often each is there.

    Examples
    --------
    >>> marked("Shr 34 cts vs 1.19 dlrs")[0]
    'Shr 34 [cts] [vs] [1].19 [dlrs]'
    """
    counts = dict.fromkeys(WORDS, 0)

    def bracketed(match: re.Match[str]) -> str:
        word = match[0].lower()
        if word not in counts:
            return match[0]
        counts[word] += 1
        return f"[{match[0]}]"

    return TOKEN.sub(bracketed, text), counts


def figure_16_3(run: Run) -> Drawing:
    """Document 11 as it stands in the collection, its twenty words marked."""
    (document,) = run.cells(measures.document_11, [()])
    shown, counts = marked(document["text"].strip())
    lines = [line.rstrip() for line in shown.splitlines()]
    reproduced = {
        word: {"occurrences": counts[word], "weight": weight}
        for word, weight in zip(WORDS, document["weights"], strict=True)
    }

    def picture() -> Iterator[Any]:
        from thresher.report.plots import COLOURS, new_figure

        figure, (axes,) = new_figure(height=3.4)
        figure.set_size_inches(7, 3.4)
        for row, line in enumerate(lines):
            pieces = re.split(r"\[([^\[\]]+)\]", line)  # every second one is a word
            # Each line twice, with blanks for what the other shows, so that columns are kept.
            for parity, look in ((0, {}), (1, {"color": COLOURS[3], "fontweight": "bold"})):
                shown = (
                    piece if i % 2 == parity else " " * len(piece) for i, piece in enumerate(pieces)
                )
                axes.text(0, -row, "".join(shown), family="monospace", fontsize=8, **look)
        axes.set(xlim=(0, 1), ylim=(-len(lines) + 0.5, 1))
        axes.axis("off")
        yield figure

    block = "\n".join(("```text", *lines, "```"))
    n_tokens = len(TOKEN.findall(document["text"]))
    notes = [
        f"The title and the body of the story with NEWID 11, {n_tokens} tokens, of which "
        f"{sum(counts.values())} are among the twenty words, here in brackets. The book's figure "
        "shows the same story without its last characters, in which there is a `3`:",
        block,
    ]
    return Drawing(
        NAME,
        "figure-16.3",
        "Figure 16.3: a story about earnings",
        {},
        reproduced,
        notes,
        best="none",
        picture=picture,
    )


def words(run: Run) -> Table:
    """How many of the book's twenty words have the highest chi-square."""
    (ranked,) = run.cells(measures.chi_square, [()])
    reproduced = {
        way: {"shared": len(set(highest) & set(WORDS))} for way, highest in ranked.items()
    }
    lists = "; ".join(f"by {way} `{' '.join(highest)}`" for way, highest in ranked.items())
    notes = [
        "Of the tokens of all training documents, by the documents that have them or by how often "
        f"they occur: {lists}. The book's are `{' '.join(WORDS)}`."
    ]
    title = "Words that the book and the twenty highest X² share"
    return Table(NAME, "words", title, {}, reproduced, notes, best="none")


# ---- what the vectors might be ---------------------------------------------------------------


def vectors(run: Run) -> Table:
    """Other ways to represent a story, compared by counts that depend on the book's vectors."""
    names = run.of(list(READINGS), list(READINGS)[:2])
    weights = tuple(published.MAXIMUM_ENTROPY.values()), tuple(published.PERCEPTRON.values())
    read = run.cells(measures.vectors, [(name, *weights) for name in names])
    near = run.cells(measures.nearest, [("1 neighbour", name) for name in names])
    fits = run.cells(measures.entropy, [(measures.JOINT, name) for name in names])
    reproduced: dict[str, dict[str, Any]] = {}
    for name, reading, neighbours, fit in zip(names, read, near, fits, strict=True):
        pairs = zip(reading["document 11"], published.DOCUMENT_11.values(), strict=True)
        weights_of = zip(fit["log alphas"], published.MAXIMUM_ENTROPY.values(), strict=True)
        distances = [abs(a - b) for a, b in weights_of]
        reproduced[name] = {
            "document 11": sum(a == b for a, b in pairs),
            "several neighbours": neighbours["several"],
            "most neighbours": neighbours["most"],
            "identical vectors": neighbours["identical"],
            "1 neighbour %": neighbours["decisions"]["accuracy %"],
            "the book's entropy %": reading["by entropy"]["accuracy %"],
            "the book's perceptron %": reading["by perceptron"]["accuracy %"],
            "distance to table 16.8": sum(distances) / len(distances),
            "node 6": reading["node 6"],
        }
    counts = books_counts()
    books = {
        "document 11": 20,
        **published.NEIGHBORHOODS,
        "1 neighbour %": counts["nearest neighbours"]["accuracy %"],
        "the book's entropy %": counts["maximum entropy"]["accuracy %"],
        "the book's perceptron %": counts["perceptron"]["accuracy %"],
        "distance to table 16.8": 0.0,
        "node 6": published.NODES["6"]["P(c)"],
    }
    on_ours = reproduced[names[0]]["the book's perceptron %"]
    notes = [
        "Weights of document 11 that are the book's; of the test documents, those with several "
        "nearest neighbours, the largest neighbourhood, those with a neighbour of the same vector; "
        "the accuracy of one neighbour, and of the book's own weights of tables 16.8 and 16.10 on "
        "our vectors, which on its vectors is that of tables 16.9 and 16.11; the mean distance of "
        "our weights to table 16.8; and P(c) of node 6.",
        f"Its perceptron is right on {on_ours:.2f} % of our "
        "vectors and was on 83.36 % of its own: these are not quite ours. No reading has all of "
        "its counts. That of this page is kept, as it has document 11 and the decisions of one "
        "neighbour; the book's own vectors, which were on its website, could not be had.",
    ]
    return Table(
        NAME,
        "vectors",
        "What other readings of a story give",
        {"the book": books},
        reproduced,
        notes,
        digits=3,
        best="none",
    )
