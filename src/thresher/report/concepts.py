"""The concept page: a map, a card for each concept, and their weights for the categories."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from thresher.errors import counted
from thresher.files import check_writable, write_text
from thresher.learners.capabilities import Rules
from thresher.model.source import Progress, no_progress
from thresher.report import markup as html
from thresher.report.markup import breakable, escape, name, short, signed

if TYPE_CHECKING:
    from thresher.report.concept_view import Concept, ConceptView, Example

MOST_CARDS, FEWEST_CARDS_OF_MODEL = 1000, 50  # concepts with a card
MOST_COLOURS = 8  # categories that have a colour
MOST_CATEGORIES = 250  # in the table of categories
MOST_WORDS, MOST_NAMED = 15, 6  # words and categories on a card
MOST_CONCEPTS = 4  # listed for a category, and against it
WIDTH, HEIGHT = 640, 520  # of the map
FILLED = 0.16  # share of the map that circles cover
ABOUT_WEIGHTS = "Numbers are what a document entirely about the concept adds to the score."
ABOUT_RULES = """Numbers are the sum of the rules about the concept: what they add to the score if
they hold, and subtract otherwise. Below the name of a category is the share of its weight that is
on such rules."""
LETTER, LETTER_ON_PHONE = 6.4, 11.5  # average width of a letter of a label, in units


class Ground(NamedTuple):
    """Data that the sections of the page share."""

    view: ConceptView
    shown: list[np.ndarray]  # the concepts of each model that are shown, the largest first
    concepts: dict[int, Concept]
    owners: dict[int, int | None]  # the category predicted for the concept's words
    colours: dict[int, int]  # of the categories predicted most often
    influence: np.ndarray | None
    examples: Sequence[Sequence[Example]]

    @property
    def categories(self) -> list[str]:
        return self.view.categorizer.categories_

    def colour(self, concept: int) -> str:
        """Return the CSS class of a concept's colour."""
        owner = self.owners[concept]
        return f"hue{self.colours[owner]}" if owner in self.colours else "hueless"

    def owner_name(self, concept: int) -> str | None:
        """Return the category predicted for the words of a concept."""
        owner = self.owners[concept]
        return None if owner is None else self.categories[owner]


def write_concept_page(
    path: str | os.PathLike[str],
    view: ConceptView,
    documents: Any = None,
    *,
    title: str = "Concepts",
    progress: Progress = no_progress,
) -> None:
    """Write a page that shows the concepts of a model.

    Parameters
    ----------
    path : path
        The HTML file to write.
    view : ConceptView
        The concepts.
    documents : list of str, path, Documents or table, optional
        The documents that belong most to each concept are shown on its card.
    title : str, default="Concepts"
        The title of the page.
    progress : callable, optional
        As for `Categorizer.fit`.

    Examples
    --------
    >>> import os, tempfile
    >>> from thresher import Categorizer
    >>> from thresher.report.concept_view import ConceptView
    >>> texts = ["wheat corn silo", "corn silo", "wheat silo", "oil crude", "crude gas", "oil gas"]
    >>> model = Categorizer("linear-svm", concepts=2).fit(texts, ["grain"] * 3 + ["energy"] * 3)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_concept_page(f"{folder}/concepts.html", ConceptView(model), texts)
    ...     os.path.getsize(f"{folder}/concepts.html") > 10_000
    True
    """
    check_writable(path)
    examples = [] if documents is None else view.examples(documents, progress=progress)
    write_text(path, concept_page(view, examples, title=title))


def concept_page(
    view: ConceptView, examples: Sequence[Sequence[Example]] = (), *, title: str = "Concepts"
) -> str:
    """Return the concepts as a self-contained HTML page; see `write_concept_page`."""
    most = max(FEWEST_CARDS_OF_MODEL, MOST_CARDS // len(view.sizes))
    shown = [numbers[:most] for numbers in view.models()]
    concepts = {int(z): view.concept(int(z), MOST_WORDS) for numbers in shown for z in numbers}
    owners = dict(zip(concepts, view.categories_of(list(concepts)), strict=True))
    frequent = Counter(owner for owner in owners.values() if owner is not None)
    colours = {c: hue for hue, (c, _) in enumerate(frequent.most_common(MOST_COLOURS))}
    ground = Ground(view, shown, concepts, owners, colours, view.influence(), examples)
    *sizes, last = map(html.count, view.sizes)
    numbers = f"{', '.join(sizes)} and {last}" if sizes else last
    lead = (
        f"{numbers} concept{'s' * (len(view) > 1)}: groups of words that occur together in "
        "documents. Each document is a mixture of them."
    )
    contents = {
        "map": ("Map", _map(ground)),
        "list": ("Concepts", _list(ground)),
        "categories": ("Categories", _categories(ground)),
    }
    return html.page(title, "concepts", html.tag("p", lead, class_="lead"), html.sections(contents))


def _map(ground: Ground) -> str:
    maps = ""
    for i, (size, numbers) in enumerate(zip(ground.view.sizes, ground.shown, strict=True)):
        drawn = _drawing(ground, numbers)
        if len(ground.shown) > 1:
            drawn = f"<summary><h3>{counted(size, 'concept')}</h3></summary>{drawn}"
            drawn = html.tag("details", drawn, name="map", open=i == 0)
        maps += drawn
    keys = [
        html.tag("li", name(ground.categories[c]), class_=f"hue{hue}")
        for c, hue in ground.colours.items()
    ]
    if any(ground.colour(z) == "hueless" for z in ground.concepts):
        keys.append('<li class="hueless">another, or none</li>')
    legend = f'<ul class="legend">{"".join(keys)}</ul>' if ground.colours else ""
    cards = "".join(_card(ground, z) for z in ground.concepts)
    return f"""<h2>Map</h2><p>Concepts with similar words are close together.
The area of a circle is the concept's share of all words, its colour the category predicted for a
text of its words. Choose a concept to see its card.</p>
<div class="atlas"><div>{legend}{maps}</div>
<div id="cards">{html.picker("Concept")}{cards}</div></div>"""


def _drawing(ground: Ground, numbers: np.ndarray) -> str:
    """Return the map of the concepts of a model."""
    shares = np.maximum(ground.view.shares[numbers], 0)
    radii = np.sqrt(FILLED * WIDTH * HEIGHT / np.pi * shares / (shares.sum() or 1))
    radii = np.clip(radii, 3, 0.2 * HEIGHT)
    points = _spread(ground.view.positions(numbers), radii)
    named = (", ".join(w for w, _ in ground.concepts[int(z)].words[:2]) for z in numbers)
    labels = [short(label, 24) for label in named]
    halves = np.array([LETTER_ON_PHONE * len(label) / 2 for label in labels])
    middles = np.clip(points[:, 0], halves, WIDTH - halves)  # so that no label is cut
    kinds = _legible(labels, np.column_stack([middles, points[:, 1]]))
    marks = []
    for z, (x, y), middle, radius, label, kind in zip(
        numbers.tolist(), points, middles, radii, labels, kinds, strict=True
    ):
        owner = ground.owner_name(z)
        about = f"concept {z}: {', '.join(w for w, _ in ground.concepts[z].words[:6])}"
        about += "" if owner is None else f" ({short(owner)})"
        text = f'<text class="{kind}" x="{middle:.1f}" y="{y + 4:.1f}">{escape(label)}</text>'
        marks.append(
            f'<a href="#z{z}" class="{ground.colour(z)}"{html.attributes(aria_label=about)}>'
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius:.1f}"><title>{escape(about)}</title>'
            f"</circle>{text}</a>"
        )
    label = f"A map of {counted(len(numbers), 'concept')}; each is a link to its card."
    return (
        f'<svg class="concepts" viewBox="0 0 {WIDTH} {HEIGHT}" role="group"'
        f"{html.attributes(aria_label=label)}>{''.join(marks)}</svg>"
    )


def _spread(plane: np.ndarray, radii: np.ndarray) -> np.ndarray:
    """Return the centres of the circles, spread over the whole map without overlaps."""
    size = np.array([WIDTH, HEIGHT], float)
    low, span = plane.min(0), np.ptp(plane, axis=0)
    # Half by value and half by rank, so that a few outliers do not crowd all other concepts.
    ranks = np.argsort(np.argsort(plane, axis=0, kind="stable"), axis=0) / max(1, len(plane) - 1)
    scaled = (plane - low) / np.where(span > 0, span, 1)
    scaled[:, span <= 0] = ranks[:, span <= 0] = 0.5
    margin = radii[:, None] + 4
    points: np.ndarray = margin + (scaled + ranks) / 2 * (size - 2 * margin)
    for _ in range(300):
        gaps = points[:, None] - points
        distances = np.maximum(np.hypot(*np.moveaxis(gaps, 2, 0)), 1e-6)
        overlaps = np.maximum(0, radii[:, None] + radii + 3 - distances)
        np.fill_diagonal(overlaps, 0)
        if not overlaps.any():
            break
        points = points + (0.25 * (overlaps / distances)[..., None] * gaps).sum(1)
        points = np.clip(points, margin, size - margin)
    return points


def _legible(labels: Sequence[str], middles: np.ndarray) -> list[str]:
    """Return the CSS class of each label: shown everywhere, on wide screens only, or hidden."""
    kinds, boxes = ["hidden"] * len(labels), np.zeros((0, 2, 2))
    for letter, height, kind in ((LETTER_ON_PHONE, 24, "label"), (LETTER, 15, "label wide")):
        for i, label in enumerate(labels):
            half = np.array([letter * len(label) / 2, height / 2])
            box = np.array([middles[i] - half, middles[i] + half])
            overlaps = (box[0] < boxes[:, 1]).all(1) & (boxes[:, 0] < box[1]).all(1)
            if kinds[i] == "hidden" and not overlaps.any():
                kinds[i], boxes = kind, np.concatenate([boxes, box[None]])
    return kinds


def _card(ground: Ground, number: int) -> str:
    concept = ground.concepts[number]
    largest = max((chance for _, chance in concept.words), default=1.0)
    words = html.bars(concept.words, largest, lambda chance: f"{100 * chance:.2f}")
    head = ", ".join(word for word, _ in concept.words[:3])
    return (
        f'<details class="card" id="z{number}"><summary><h3>{number} · {name(head)}</h3> '
        f'<span class="soft">{100 * concept.share:.1f} % of all words; one of '
        f"{counted(concept.size, 'concept')}</span></summary>"
        '<div class="words brought"><h4>Most characteristic words; P(word | concept), %'
        f"</h4><ol>{words}</ol></div>"
        f"{_weights(ground, number)}{_documents(ground, number)}</details>"
    )


def _strongest(weights: np.ndarray, sign: int) -> list[int]:
    """Return the positions of the weights with a sign, the largest first."""
    order = np.argsort(-sign * weights, kind="stable")
    return order[sign * weights[order] > 0].tolist()  # type: ignore[no-any-return]


def _weights(ground: Ground, number: int) -> str:
    if ground.influence is None:
        return ""
    weights, names = ground.influence[number], {}
    for title, sign in (("Counts for", 1), ("Counts against", -1)):
        items = [
            f"{name(ground.categories[c])}&nbsp;<b>{signed(weights[c], 3)}</b>"
            for c in _strongest(weights, sign)
        ]
        names[title] = html.listed(items, MOST_NAMED)
    return html.side_by_side(names)


def _documents(ground: Ground, number: int) -> str:
    if not ground.examples or not ground.examples[number]:
        return ""
    items = "".join(
        f"<li><b>{100 * share:.0f} %</b> <bdi>{escape(short(' '.join(beginning.split()), 200))}"
        f'</bdi> <span class="soft">{breakable(short(location, 100))}</span></li>'
        for share, location, beginning in ground.examples[number]
    )
    return f'<div><h4>Documents; P(concept | document)</h4><ol class="texts">{items}</ol></div>'


def _list(ground: Ground) -> str:
    """Return the table of the concepts shown."""
    several = len(ground.view.sizes) > 1
    columns = {"concept": None, "share, %": None, "of": "wide", "predicted category": "wide"}
    if not several:
        del columns["of"]
    rows = []
    for z in sorted(ground.concepts, key=lambda z: (-ground.concepts[z].share, z)):
        concept, owner, share = ground.concepts[z], ground.owner_name(z), ground.concepts[z].share
        words = breakable(short(", ".join(word for word, _ in concept.words[:8]), 120))
        cells = [html.tag("td", f"{100 * share:.2f}", data_v=f"{100 * share:.4f}")]
        if several:
            cells.append(
                html.tag("td", html.count(concept.size), class_="wide", data_v=concept.size)
            )
        given = "–" if owner is None else name(owner)
        cells.append(html.tag("td", given, class_="wide", data_v=ground.owners[z]))
        rows.append(html.row(f'<a href="#z{z}">{z} · {words}</a>', cells))
    drawn = html.sortable_table(
        columns, rows, sorted_by="share, %", least="% of all words", data_what="concepts"
    )
    return f"<h2>Concepts</h2>{drawn}{html.not_shown(len(ground.view) - len(rows))}"


def _categories(ground: Ground) -> str:
    """Return the table of categories with the largest weights of concepts for each."""
    if ground.influence is None:
        return ""
    rows = []
    for c, category in enumerate(ground.categories[:MOST_CATEGORIES]):
        weights, cells = ground.influence[:, c], []
        for sign, kind in ((1, None), (-1, "wide")):
            order = _strongest(weights, sign)[:MOST_CONCEPTS]
            named = "<br>".join(_linked(ground, z, float(weights[z])) for z in order)
            cells.append(html.tag("td", named or "–", class_=kind))
        share = ground.view.weight_on_concepts(category)
        note = f'<br><span class="soft">{100 * (share or 0):.0f} % on concepts</span>'
        rows.append(html.row(f"{name(category)}{'' if share is None else note}", cells))
    headings = [html.heading("category"), html.heading("concepts for it")]
    headings.append(html.heading("concepts against it", class_="wide"))
    drawn = html.table(headings, rows, class_="influences")
    has_rules = isinstance(ground.view.categorizer.learner_, Rules)
    left_out = html.not_shown(len(ground.categories) - len(rows), "other")
    return (
        f"<h2>Categories</h2><p>{ABOUT_RULES if has_rules else ABOUT_WEIGHTS}</p>{drawn}{left_out}"
    )


def _linked(ground: Ground, number: int, weight: float) -> str:
    """Return a concept with its weight, linked to its card if it has one."""
    shown = breakable(short(ground.view.features.concept_name(number).removeprefix("concept ")))
    linked = f'<a href="#z{number}">{shown}</a>' if number in ground.concepts else shown
    return f"{linked}&nbsp;<b>{signed(weight, 3)}</b>"
