"""Explanations as coloured text in the terminal, as a fragment of HTML, and as a page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from thresher.errors import counted, escaped, printable
from thresher.model.explanation import Explanation, Share
from thresher.report.markup import escape, heading, page, row, sentence, signed, table, tag

if TYPE_CHECKING:
    from rich.console import Group, RenderableType
    from rich.table import Table
    from rich.text import Text

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
    from rich.text import Text

    *headings, last = _headings(explanation)
    shares = _terminal_table(headings, [last])
    for item in explanation.largest(MOST_LINES):
        name = Text.assemble(escaped(_name(item)), (escaped(_hint(item)), "dim"))
        colour = "green" if item.share > 0 else "red"
        shares.add_row(*_numbers(item, headings, digits=3), name, style=colour)
    verdict = Text(explanation.verdict(), style="bold")
    lines: list[RenderableType] = [_coloured(explanation), Text(), verdict, shares]
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
    from rich.text import Text

    nearest = _terminal_table(["vote", "similarity", "document"], ["categories", "shared words"])
    for near in explanation.neighbors[:MOST_LINES]:
        agrees = explanation.category in near.categories
        numbers = f"{near.vote:.3f}", f"{near.similarity:.3f}", f"{near.document:,}"
        texts = (Text(escaped(text)) for text in (", ".join(map(str, near.categories)), near.by()))
        nearest.add_row(*numbers, *texts, style="green" if agrees else "red")
    votes = _other_votes(explanation, MOST_LINES)
    return [Text(), nearest, *([Text(votes, style="dim")] if votes else [])]


def _terminal_table(numbers: list[str], texts: list[str]) -> Table:
    """Return an empty table with columns of numbers, then of texts."""
    from rich.table import Table

    empty = Table(box=None, pad_edge=False, padding=(0, 2))
    for title in numbers:
        empty.add_column(title, justify="right", no_wrap=True)
    for title in texts:
        empty.add_column(title)
    return empty


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
    text, pieces, done = explanation.text, "", 0
    for start, end, share in explanation.spans:
        colour = "46,160,67" if share > 0 else "248,81,73"
        level = 0.75 * abs(share) / explanation.largest_share
        style = f"background:rgba({colour},{level:.2f})"
        word = tag("span", escape(text[start:end]), title=f"{share:+.4f}", style=style)
        pieces += escape(text[done:start]) + word
        done = end
    lines = "".join(f"<li>{escape(str(near))}" for near in explanation.neighbors[:most])
    votes = _other_votes(explanation, most)
    more = f"<p>{votes}</p>" if votes else ""
    near = f"<p>Nearest training documents:</p><ol>{lines}</ol>{more}" if lines else ""
    return (
        f'<div class="thresher-explanation"><p><b>{sentence(explanation.verdict())}</b></p>'
        f'<p style="white-space:pre-wrap;unicode-bidi:plaintext">{pieces}{escape(text[done:])}</p>'
        f"<div>{_share_table(explanation, most)}{_portion_table(explanation, most)}</div>"
        f"{near}<p>{sentence(explanation.remedy())}</p></div>"
    )


def _share_table(explanation: Explanation, most: int) -> str:
    """Return a table of the largest shares, with a bar each, and of the sum."""
    shares, (n_others, rest) = explanation.largest(most), explanation.smaller(most)
    largest = max((abs(item.share) for item in shares), default=0.0) or 1.0
    rows = [
        row(
            f"{escape(_name(item))}<small>{escape(_hint(item))}</small>",
            [tag("td", signed(item.share, 3))],
            class_="for" if item.share > 0 else "against",
            style=f"--v:{abs(item.share) / largest:.3f}",
        )
        for item in shares
    ]
    others = {counted(n_others, "smaller share"): rest} if n_others else {}
    total, sum_of_shares = "sum", explanation.total
    if explanation.rival:  # the verdict shows both scores less their thresholds
        total, sum_of_shares = "score", explanation.score
        others |= {"less the threshold": -explanation.threshold} if explanation.threshold else {}
    rows += [row(what, [tag("td", signed(x, 3))], class_="rest") for what, x in others.items()]
    headings = [heading(_headings(explanation)[-1]), heading("share")]
    foot = row(total, [tag("td", signed(sum_of_shares, 3))])
    return table(headings, rows, foot=foot, class_="shares")


def _portion_table(explanation: Explanation, most: int) -> str:
    """Return a folded table of the portions of the shares, or "" if there are none."""
    _, *portions, unit = _headings(explanation)
    if not portions or len(explanation.shares) < 2:  # one line: refused by the second look
        return ""
    rows = []
    for item in explanation.largest(most):
        numbers = (number.replace("-", "−") for number in _numbers(item, portions, digits=3))
        rows.append(row(escape(_name(item)), [tag("td", number) for number in numbers]))
    is_whole = "strength" in portions
    what = "Strength and weight" if is_whole else "Parts of each share"
    note = WORDS_NOTE if is_whole else f"{PORTIONS_NOTE}{', '.join(portions[1:])}."
    drawn = table(map(heading, (unit, *portions)), rows)
    return f"<details><summary>{what}</summary><p>{note}</p>{drawn}</details>"


def explanation_page(explanation: Explanation) -> str:
    """Return an explanation as a self-contained HTML page."""
    title = f"Why {'' if explanation.chosen else 'not '}{explanation.category}"
    about = (
        "<p>Green words count for the category, red words against it. The score is the sum of all "
        "shares, including the starting point.</p>"
    )
    body = tag("main", about + explanation_fragment(explanation))
    return page(title, "explanation", "", body, script=False)
