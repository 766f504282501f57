"""Explanations as coloured text in the terminal, as a fragment of HTML, and as a page."""

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
WORD_HEADINGS = ["share", "strength", "weight", "feature"]  # if only words are counted
PORTIONS = "parts", "runs", "concepts"  # that a word's share includes, beside its own
PORTIONS_NOTE = "A share is the sum of what the word itself adds (own) and what these add: "
WORDS_NOTE = "A share is the word's strength in the document times its weight for the category."
ALWAYS_ON = "(always on)"  # the learners' name of the constant feature
FAINT, BOLD = 0.05, 0.4  # fractions of the largest share: no colour below, bold above


def explanation_text(explanation: Explanation) -> Group:
    """Return an explanation for the terminal: text, verdict, shares, and what would change it.

    Words that count for the category are green, words against it red.

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
    for item in explanation.largest(MOST_LINES):
        name = Text.assemble(escaped(_name(item)), (escaped(_hint(item)), "dim"))
        colour = "green" if item.share > 0 else "red"
        table.add_row(*_numbers(item, headings, digits=3), name, style=colour)
    verdict = Text(explanation.verdict(), style="bold")
    lines: list[RenderableType] = [_coloured(explanation), Text(), verdict, table]
    n_others, rest = explanation.smaller(MOST_LINES)
    if n_others:
        lines.append(Text(f"{rest:+.3f} from {counted(n_others, f'other {last}')}", style="dim"))
    if explanation.rival and explanation.threshold:  # subtracted in the verdict
        lines.append(Text(f"{-explanation.threshold:+.3f} less the threshold", style="dim"))
    if explanation.neighbors:
        lines += _near_table(explanation)
    return Group(*lines, Text(explanation.remedy()))


def _near_table(explanation: Explanation) -> list[RenderableType]:
    """Return the nearest training documents as a table, and a line about those not listed."""
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, padding=(0, 2))
    for heading in ("vote", "similarity", "document"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("categories")
    table.add_column("shared words")
    for near in explanation.neighbors[:MOST_LINES]:
        agrees = explanation.category in near.categories
        numbers = f"{near.vote:.3f}", f"{near.similarity:.3f}", f"{near.document:,}"
        names = Text(escaped(", ".join(map(str, near.categories))))
        table.add_row(*numbers, names, Text(escaped(near.by())), style="green" if agrees else "red")
    votes = _other_votes(explanation, MOST_LINES)
    return [Text(), table, *([Text(votes, style="dim")] if votes else [])]


def _other_votes(explanation: Explanation, most: int) -> str:
    """Return a sentence on the votes of the neighbours that are not listed, if any."""
    others = explanation.neighbors[most:]
    votes = sum(near.vote for near in others)
    return f"{votes:.3f} from {counted(len(others), 'more neighbour')}" if others else ""


def _headings(explanation: Explanation) -> list[str]:
    """Return the columns to show, with the portions of the shares if there are any."""
    if explanation.unit != "word":
        return ["share", explanation.unit]
    portions = [
        name for name in PORTIONS if any(getattr(item, name) for item in explanation.shares)
    ]
    return ["share", "own", *portions, "word"] if portions else WORD_HEADINGS


def _numbers(item: Share, headings: list[str], digits: int) -> list[str]:
    """Return the numbers below the headings; strengths have no sign, zero portions are blank."""
    values = [(name, getattr(item, name)) for name in headings]
    shown = [f"{value:{'' if name == 'strength' else '+'}.{digits}f}" for name, value in values]
    is_blank = [name in ("own", *PORTIONS) and not value for name, value in values]
    return ["" if blank else number for number, blank in zip(shown, is_blank, strict=True)]


def _name(item: Share) -> str:
    """Return the name of a feature, with a plain name for the constant one."""
    return "starting point" if item.feature == ALWAYS_ON else item.feature


def _hint(item: Share) -> str:
    """Return the run or the concept that contributes most to a share."""
    if item.concept and not (item.run and abs(item.runs) >= abs(item.concepts)):
        return f"  as {item.concept}"
    return f"  in {item.run!r}" if item.run else ""


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
    """Return an explanation as a fragment of HTML, for notebooks and the report.

    It lists the `most` largest shares and the sum of the others.
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
    lines = "".join(f"<li>{escape(str(near))}" for near in explanation.neighbors[:most])
    votes = _other_votes(explanation, most)
    more = f"<p>{votes}</p>" if votes else ""
    near = f"<p>Nearest training documents:</p><ol>{lines}</ol>{more}" if lines else ""
    return (
        f'<div class="thresher-explanation"><p><b>{sentence(explanation.verdict())}</b></p>'
        f'<p style="white-space:pre-wrap;unicode-bidi:plaintext">{"".join(pieces)}</p>'
        f"<div>{_share_table(explanation, most)}{_portion_table(explanation, most)}</div>"
        f"{near}<p>{sentence(explanation.remedy())}</p></div>"
    )


def _share_table(explanation: Explanation, most: int) -> str:
    """Return a table of the largest shares, with a bar each, and of the sum."""
    shares, (n_others, rest) = explanation.largest(most), explanation.smaller(most)
    largest = max((abs(item.share) for item in shares), default=0.0) or 1.0
    body = "".join(
        f'<tr class="{"for" if item.share > 0 else "against"}" '
        f'style="--v:{abs(item.share) / largest:.3f}">'
        f'<th scope="row">{escape(_name(item))}<small>{escape(_hint(item))}</small></th>'
        f"<td>{signed(item.share, 3)}</td></tr>"
        for item in shares
    )
    others = {counted(n_others, "smaller share"): rest} if n_others else {}
    name, total = "sum", explanation.total
    if explanation.rival:  # the verdict shows both scores less their thresholds
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
    """Return a folded table of the portions of the shares, or "" if there are none."""
    _, *portions, unit = _headings(explanation)
    if not portions or len(explanation.shares) < 2:  # one line: refused by the second look
        return ""
    rows = ""
    for item in explanation.largest(most):
        cells = "".join(f"<td>{number}</td>" for number in _numbers(item, portions, digits=3))
        rows += f'<tr><th scope="row">{escape(_name(item))}</th>{cells.replace("-", "−")}</tr>'
    heads = "".join(f'<th scope="col">{heading}</th>' for heading in (unit, *portions))
    is_whole = "strength" in portions
    what = "Strength and weight" if is_whole else "Parts of each share"
    note = WORDS_NOTE if is_whole else f"{PORTIONS_NOTE}{', '.join(portions[1:])}."
    return (
        f"<details><summary>{what}</summary><p>{note}</p>"
        f"<table><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table></details>"
    )


def explanation_page(explanation: Explanation) -> str:
    """Return an explanation as a self-contained HTML page."""
    title = f"Why {'' if explanation.chosen else 'not '}{explanation.category}"
    return page(
        title,
        '<header><p class="over">Thresher · explanation</p>'
        f"<h1>{breakable(short(title, 200))}</h1></header><main>"
        "<p>Green words count for the category, red words against it. The score is the sum of all "
        f"shares, including the starting point.</p>{explanation_fragment(explanation)}</main>",
        script=False,
    )
