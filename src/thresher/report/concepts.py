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
from thresher.report.markup import (
    attributes,
    breakable,
    count,
    escape,
    name,
    page,
    short,
    signed,
)

if TYPE_CHECKING:
    from thresher.report.concept_view import Concept, ConceptView, Example

__all__ = ["concept_page", "write_concept_page"]

MOST_CARDS, FEWEST_CARDS_OF_MODEL = 1000, 50  # concepts with a card
MOST_COLOURS = 8  # categories that have a colour
MOST_CATEGORIES = 250  # in the table of categories
MOST_WORDS, MOST_NAMED = 15, 6  # words and categories on a card
MOST_CONCEPTS = 4  # listed for a category, and against it
WIDTH, HEIGHT = 640, 520  # of the map
FILLED = 0.16  # share of the map that circles cover
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
    *sizes, last = map(count, view.sizes)
    numbers = f"{', '.join(sizes)} and {last}" if sizes else last
    lead = (
        f"{numbers} concept{'s' * (len(view) > 1)}: groups of words that occur together in "
        "documents. Each document is a mixture of them."
    )
    left_out = len(view) - len(concepts)
    hidden = counted(left_out, "smaller one is", "smaller ones are")
    note = f"<p class=soft>{hidden} not shown.</p>" if left_out else ""
    sections = {
        "map": ("Map", _map(ground)),
        "list": ("Concepts", _list(ground) + note),
        "categories": ("Categories", _categories(ground)),
    }
    links = "".join(
        f'<a href="#{key}">{text}</a>' for key, (text, html) in sections.items() if html
    )
    return page(
        title,
        f'<header><p class="over">Thresher · concepts</p><h1>{breakable(short(title, 200))}</h1>'
        f'<p class="lead">{lead}</p></header><nav aria-label="Sections">{links}</nav>'
        f"<main>{''.join(html for _, html in sections.values())}</main>",
    )


def _map(ground: Ground) -> str:
    maps = []
    for i, (size, numbers) in enumerate(zip(ground.view.sizes, ground.shown, strict=True)):
        drawn = _drawing(ground, numbers)
        if len(ground.shown) > 1:
            head = f"<summary><h3>{counted(size, 'concept')}</h3></summary>"
            drawn = f'<details name="map"{attributes(open=i == 0)}>{head}{drawn}</details>'
        maps.append(drawn)
    keys = [
        f'<li class="hue{hue}">{name(ground.categories[c])}</li>'
        for c, hue in ground.colours.items()
    ]
    if any(ground.colour(z) == "hueless" for z in ground.concepts):
        keys.append('<li class="hueless">another, or none</li>')
    legend = f'<ul class="legend">{"".join(keys)}</ul>' if ground.colours else ""
    cards = "".join(_card(ground, z) for z in ground.concepts)
    return f"""<section id="map"><h2>Map</h2><p>Concepts with similar words are close together.
The area of a circle is the concept's share of all words, its colour the category predicted for a
text of its words. Choose a concept to see its card.</p>
<div class="atlas"><div>{legend}{"".join(maps)}</div>
<div id="cards"><div class="controls needs-js">
<label>Concept <select id="pick"></select></label>
<span><button type="button" id="before">← larger</button>
<button type="button" id="after">smaller →</button></span></div>{cards}</div></div></section>"""


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
            f'<a href="#z{z}" class="{ground.colour(z)}"{attributes(aria_label=about)}>'
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius:.1f}"><title>{escape(about)}</title>'
            f"</circle>{text}</a>"
        )
    label = f"A map of {counted(len(numbers), 'concept')}; each is a link to its card."
    return (
        f'<svg class="concepts" viewBox="0 0 {WIDTH} {HEIGHT}" role="group"'
        f"{attributes(aria_label=label)}>{''.join(marks)}</svg>"
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
    words = "".join(
        f'<li style="--v:{chance / largest:.3f}">{name(word)}<span>{100 * chance:.2f}</span></li>'
        for word, chance in concept.words
    )
    head = ", ".join(word for word, _ in concept.words[:3])
    return (
        f'<details class="card" id="z{number}"><summary><h3>{number} · {name(head)}</h3> '
        f"<span class=soft>{100 * concept.share:.1f} % of all words; one of "
        f"{counted(concept.size, 'concept')}</span></summary>"
        '<div class="words brought"><h4>Most characteristic words; P(word | concept), %'
        f"</h4><ol>{words}</ol></div>"
        f"{_weights(ground, number)}{_documents(ground, number)}</details>"
    )


def _weights(ground: Ground, number: int) -> str:
    if ground.influence is None:
        return ""
    weights, columns = ground.influence[number], []
    for title, sign in (("Counts for", 1), ("Counts against", -1)):
        order = np.argsort(-sign * weights, kind="stable")
        order = order[sign * weights[order] > 0].tolist()
        named = ", ".join(
            f"{name(ground.categories[c])}&nbsp;<b>{signed(weights[c], 3)}</b>"
            for c in order[:MOST_NAMED]
        )
        more = len(order) - MOST_NAMED
        named += f" and {counted(more, 'other')}" if more > 0 else ""
        if named:
            columns.append(f"<div><h4>{title}</h4><p>{named}</p></div>")
    return f'<div class="two">{"".join(columns)}</div>' if columns else ""


def _documents(ground: Ground, number: int) -> str:
    if not ground.examples or not ground.examples[number]:
        return ""
    items = "".join(
        f"<li><b>{100 * share:.0f} %</b> <bdi>{escape(short(' '.join(beginning.split()), 200))}"
        f"</bdi> <span class=soft>{breakable(short(location, 100))}</span></li>"
        for share, location, beginning in ground.examples[number]
    )
    return f'<div><h4>Documents; P(concept | document)</h4><ol class="texts">{items}</ol></div>'


def _list(ground: Ground) -> str:
    """Return the table of the concepts shown."""
    several = len(ground.view.sizes) > 1
    titles = {"concept": None, "share, %": None, "of": "wide", "predicted category": "wide"}
    if not several:
        del titles["of"]
    heads = "".join(
        f'<th scope="col" aria-sort="{"descending" if title == "share, %" else "none"}"'
        f"{attributes(class_=kind)}><button type=button>{title}</button></th>"
        for title, kind in titles.items()
    )
    rows = []
    for z in sorted(ground.concepts, key=lambda z: (-ground.concepts[z].share, z)):
        concept, owner = ground.concepts[z], ground.owner_name(z)
        words = ", ".join(word for word, _ in concept.words[:8])
        cells = f'<td data-v="{100 * concept.share:.4f}">{100 * concept.share:.2f}</td>'
        cells += f'<td class=wide data-v="{concept.size}">{count(concept.size)}</td>' * several
        given = "–" if owner is None else name(owner)
        cells += f"<td class=wide{attributes(data_v=ground.owners[z])}>{given}</td>"
        rows.append(
            f'<tr><th scope="row"><a href="#z{z}">{z} · {breakable(short(words, 120))}</a></th>'
            f"{cells}</tr>"
        )
    return f"""<section id="list"><h2>Concepts</h2><div class="controls needs-js">
<label>Find <input type="search" id="find" autocomplete="off"></label>
<label>with at least <input type="number" id="least" min="0" step="any" value="0"> % of all words
</label><output id="matches" class="soft"></output></div>
<table class="sortable" data-what="concepts"><thead><tr>{heads}</tr></thead>
<tbody>{"".join(rows)}</tbody></table>
<p class="needs-js"><button type="button" id="more" hidden></button></p></section>"""


def _categories(ground: Ground) -> str:
    """Return the table of categories with the largest weights of concepts for each."""
    if ground.influence is None:
        return ""
    rows = []
    for c, category in enumerate(ground.categories[:MOST_CATEGORIES]):
        weights, cells = ground.influence[:, c], []
        for sign, kind in ((1, None), (-1, "wide")):
            order = np.argsort(-sign * weights, kind="stable")[:MOST_CONCEPTS]
            order = order[sign * weights[order] > 0]
            named = [_linked(ground, int(z), float(weights[z])) for z in order]
            cells.append(f"<td{attributes(class_=kind)}>{'<br>'.join(named) or '–'}</td>")
        share = ground.view.weight_on_concepts(category)
        note = (
            "" if share is None else f"<br><span class=soft>{100 * share:.0f} % on concepts</span>"
        )
        rows.append(f'<tr><th scope="row">{name(category)}{note}</th>{"".join(cells)}</tr>')
    what = "Numbers are what a document entirely about the concept adds to the score."
    if isinstance(ground.view.categorizer.learner_, Rules):
        what = """Numbers are the sum of the rules about the concept: what they add to the score if
they hold, and subtract otherwise. Below the name of a category is the share of its weight that is
on such rules."""
    left_out = len(ground.categories) - len(rows)
    hidden = counted(left_out, "other is", "others are")
    note = f"<p class=soft>{hidden} not shown.</p>" if left_out else ""
    return f"""<section id="categories"><h2>Categories</h2><p>{what}</p>
<table class="influences"><thead><tr><th scope="col">category</th>
<th scope="col">concepts for it</th><th scope="col" class="wide">concepts against it</th></tr>
</thead><tbody>{"".join(rows)}</tbody></table>{note}</section>"""


def _linked(ground: Ground, number: int, weight: float) -> str:
    """Return a concept with its weight, linked to its card if it has one."""
    shown = breakable(short(ground.view.features.concept_name(number).removeprefix("concept ")))
    linked = f'<a href="#z{number}">{shown}</a>' if number in ground.concepts else shown
    return f"{linked}&nbsp;<b>{signed(weight, 3)}</b>"
