"""An explanation drawn: coloured in the terminal, as a fragment of HTML, and as a page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from thresher.errors import counted, escaped, printable
from thresher.model.explanation import Explanation, Share
from thresher.report.markup import breakable, escape, page, sentence, short, signed

if TYPE_CHECKING:
    from rich.console import Group, RenderableType
    from rich.text import Text

__all__ = ["explanation_fragment", "explanation_page", "explanation_text"]

MOST_LINES, MOST_ROWS = 10, 20  # features, or neighbours, listed in the terminal, and in HTML
WORDS_ALONE = ["share", "strength", "weight", "feature"]  # headings where nothing else is counted
PORTIONS = "parts", "runs", "concepts"  # of a word's share, beside its own
OF_PORTIONS = "A share is what the word itself adds (own) and what these add: "
OF_WORDS = "A share is the word's strength in the document times its weight for the category."
ALWAYS_ON = "(always on)"  # what learners call the share of no feature
FAINT, BOLD = 0.05, 0.4  # shares of the largest one below and above which colour is left out, bold


def explanation_text(explanation: Explanation) -> Group:
    """Return an explanation for the terminal: the text, the verdict, the shares and the remedy.

    Words for the category are green, words against it red.

    Examples
    --------
    >>> from rich.console import Console
    >>> from thresher import Categorizer
    >>> categorizer = Categorizer().fit(["cheap pills", "lunch today"], ["spam", "ham"])
    >>> Console(width=80).print(explanation_text(categorizer.explain("cheap day", "spam")))
    cheap day
    <BLANKLINE>
    spam: chosen, score +0.548; the best other category is ham with -0.548.
     share    strength    weight    feature
    +0.529       1.000    +0.529    cheap
    +0.019       0.500    +0.038    starting point
    No small change of words would have changed this.
    """
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    *headings, last = _headings(explanation)
    table = Table(box=None, pad_edge=False, padding=(0, 2))
    for heading in headings:
        table.add_column(heading, justify="right")
    table.add_column(last)
    for one in explanation.largest(MOST_LINES):
        name = Text.assemble(escaped(_name(one)), (escaped(_hint(one)), "dim"))
        colour = "green" if one.share > 0 else "red"
        table.add_row(*_numbers(one, headings, digits=3), name, style=colour)
    verdict = Text(explanation.verdict(), style="bold")
    parts: list[RenderableType] = [_coloured(explanation), Text(), verdict, table]
    n_others, rest = explanation.smaller(MOST_LINES)
    if n_others:
        parts.append(Text(f"{rest:+.3f} from {counted(n_others, f'other {last}')}", style="dim"))
    if explanation.rival and explanation.threshold:  # which the verdict has taken off its scores
        parts.append(Text(f"{-explanation.threshold:+.3f} less the threshold", style="dim"))
    if explanation.neighbors:
        parts += _near_table(explanation)
    return Group(*parts, Text(explanation.remedy()))


def _near_table(explanation: Explanation) -> list[RenderableType]:
    """Return the documents that decide as a table, and how many more there are."""
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, padding=(0, 2))
    for heading in ("vote", "similarity", "document"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("its categories")
    table.add_column("words that both have")
    for near in explanation.neighbors[:MOST_LINES]:
        agrees = explanation.category in near.categories
        numbers = f"{near.vote:.3f}", f"{near.similarity:.3f}", f"{near.document:,}"
        names = Text(escaped(", ".join(map(str, near.categories))))
        table.add_row(*numbers, names, Text(escaped(near.by())), style="green" if agrees else "red")
    votes = _other_votes(explanation, MOST_LINES)
    return [Text(), table, *([Text(votes, style="dim")] if votes else [])]


def _other_votes(explanation: Explanation, most: int) -> str:
    """Say how many neighbours are not listed, if any, and what they have of the votes."""
    others = explanation.neighbors[most:]
    votes = sum(near.vote for near in others)
    return f"{votes:.3f} from {counted(len(others), 'more neighbour')}" if others else ""


def _headings(explanation: Explanation) -> list[str]:
    """Return what is shown of each line: what its share is made of, if that is not words alone."""
    if explanation.unit != "word":
        return ["share", explanation.unit]
    portions = [name for name in PORTIONS if any(getattr(one, name) for one in explanation.shares)]
    return ["share", "own", *portions, "word"] if portions else WORDS_ALONE


def _numbers(one: Share, headings: list[str], digits: int) -> list[str]:
    """Return the numbers under the headings: a strength without a sign, and no portion of zero."""
    values = [(name, getattr(one, name)) for name in headings]
    shown = [f"{value:{'' if name == 'strength' else '+'}.{digits}f}" for name, value in values]
    of_zero = [name in ("own", *PORTIONS) and not value for name, value in values]
    return ["" if zero else number for number, zero in zip(shown, of_zero, strict=True)]


def _name(one: Share) -> str:
    """Return what to call a line: what a reader knows, where the learner's word says little."""
    return "starting point" if one.feature == ALWAYS_ON else one.feature


def _hint(one: Share) -> str:
    """Name the run, or the concept, that the share is from; the stronger, if both are."""
    if one.concept and not (one.run and abs(one.runs) >= abs(one.concepts)):
        return f"  as {one.concept}"
    return f"  in {one.run!r}" if one.run else ""


def _coloured(explanation: Explanation) -> Text:
    from rich.text import Text

    text = Text(printable(explanation.text))
    for start, end, share in explanation.spans:
        level = abs(share) / explanation.largest_share
        if level >= FAINT:
            colour = "green" if share > 0 else "red"
            text.stylize(f"bold {colour}" if level > BOLD else colour, start, end)
    return text


def explanation_fragment(explanation: Explanation, most: int = MOST_ROWS) -> str:
    """Return an explanation as a fragment of HTML, which notebooks and the report show.

    Of the shares, the largest are listed, at `most` so many, and the others added up.
    """
    text, pieces, done = explanation.text, [], 0
    for start, end, share in explanation.spans:
        colour = "46,160,67" if share > 0 else "248,81,73"
        level = 0.75 * abs(share) / explanation.largest_share
        pieces.append(escape(text[done:start]))
        pieces.append(
            f'<span title="{share:+.4f}" style="background:rgba({colour},{level:.2f})">'
            f"{escape(text[start:end])}</span>"
        )
        done = end
    pieces.append(escape(text[done:]))
    lines = "".join(f"<li>{escape(str(one))}" for one in explanation.neighbors[:most])
    votes = _other_votes(explanation, most)
    more = f"<p>{votes}</p>" if votes else ""
    near = f"<p>The documents that decide:</p><ol>{lines}</ol>{more}" if lines else ""
    return (
        f'<div class="thresher-explanation"><p><b>{sentence(explanation.verdict())}</b></p>'
        f'<p style="white-space:pre-wrap;unicode-bidi:plaintext">{"".join(pieces)}</p>'
        f"<div>{_share_table(explanation, most)}{_portion_table(explanation, most)}</div>"
        f"{near}<p>{sentence(explanation.remedy())}</p></div>"
    )


def _share_table(explanation: Explanation, most: int) -> str:
    """Return what matters: each word and its share, drawn as long as it is large, and the sum."""
    shares, (n_others, rest) = explanation.largest(most), explanation.smaller(most)
    largest = max((abs(one.share) for one in shares), default=0.0) or 1.0
    rows = ((one, signed(one.share, 3), abs(one.share) / largest) for one in shares)
    body = "".join(
        f'<tr class="{"for" if one.share > 0 else "against"}" style="--v:{level:.3f}">'
        f'<th scope="row">{escape(_name(one))}<small>{escape(_hint(one))}</small></th>'
        f"<td>{number}</td></tr>"
        for one, number, level in rows
    )
    others = {counted(n_others, "smaller one"): rest} if n_others else {}
    name, total = "together", explanation.total
    if explanation.rival:  # the verdict has both scores, of which thresholds are taken off
        name, total = "score", explanation.score
        others |= {"less the threshold": -explanation.threshold} if explanation.threshold else {}
    body += "".join(
        f'<tr class="rest"><th scope="row">{what}</th><td>{signed(value, 3)}</td></tr>'
        for what, value in others.items()
    )
    foot = f'<tr><th scope="row">{name}</th><td>{signed(total, 3)}</td></tr>'
    *_, unit = _headings(explanation)
    head = f'<th scope="col">{unit}</th><th scope="col">share</th>'
    return (
        f'<table class="shares"><thead><tr>{head}</tr></thead><tbody>{body}</tbody>'
        f"<tfoot>{foot}</tfoot></table>"
    )


def _portion_table(explanation: Explanation, most: int) -> str:
    """Return what the shares are made of, folded away; nothing for rules and tests."""
    _, *portions, unit = _headings(explanation)
    if not portions or len(explanation.shares) < 2:  # a second look that refused has one line
        return ""
    rows = ""
    for one in explanation.largest(most):
        cells = "".join(f"<td>{number}</td>" for number in _numbers(one, portions, digits=3))
        rows += f'<tr><th scope="row">{escape(_name(one))}</th>{cells.replace("-", "−")}</tr>'
    heads = "".join(f'<th scope="col">{one}</th>' for one in (unit, *portions))
    is_whole = "strength" in portions
    what = "Strength and weight" if is_whole else "What the shares are made of"
    note = OF_WORDS if is_whole else f"{OF_PORTIONS}{', '.join(portions[1:])}."
    return (
        f"<details><summary>{what}</summary><p>{note}</p>"
        f"<table><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table></details>"
    )


def explanation_page(explanation: Explanation) -> str:
    """Return an explanation as a whole HTML page, readable in light and in dark."""
    title = f"Why {'' if explanation.chosen else 'not '}{explanation.category}"
    return page(
        title,
        '<header><p class="over">Thresher · explanation</p>'
        f"<h1>{breakable(short(title, 200))}</h1></header><main>"
        "<p>Green speaks for the category, red against it. All shares together, the starting point "
        f"included, decide.</p>{explanation_fragment(explanation)}</main>",
        script=False,
    )
