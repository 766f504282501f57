"""Small pieces of HTML; all text from data is escaped here."""

from __future__ import annotations

import html
import math
import re
from collections.abc import Callable, Iterable, Sequence
from importlib.resources import files
from typing import Any

from thresher.errors import counted

EARLY = '<script>document.documentElement.classList.add("js")</script>'  # before drawing
LONGEST_NAME = 60  # characters of a category or of a word that are shown
LONGEST_UNBROKEN_NAME = 24  # letters that fit into a line on a phone
RIGHT_TO_LEFT = "\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\U00010800-\U00010fff\U0001e800-\U0001efff"
TURNED = re.compile(f"[{RIGHT_TO_LEFT}]+(?: [{RIGHT_TO_LEFT}]+)*")


def escape(value: Any) -> str:
    """Return a text escaped for HTML, between tags and in quoted attributes."""
    return html.escape(str(value).replace("\0", "\ufffd"), quote=True)


def short(text: str, longest: int = LONGEST_NAME) -> str:
    """Return a text cut to `longest` characters, before a word if little is lost, with "…"."""
    if len(text) <= longest:
        return text
    cut = text[: longest - 1]
    before, _, begun = cut.rpartition(" ")
    if before and len(begun) < longest / 4 and not text[longest - 1].isspace():
        cut = before
    return cut.rstrip() + "…"


def name(text: str) -> str:
    """Return a category or a word as HTML, of bounded length, with isolated text direction."""
    shown = short(text)
    # Letters of several bytes and capitals are often wider.
    room = len(shown.encode(errors="replace")) + sum(map(str.isupper, shown)) / 2
    kind = " class=whole" if room <= LONGEST_UNBROKEN_NAME else ""
    title = "" if shown == text else f' title="{escape(short(text, 500))}"'
    return f"<bdi{kind}{title}>{breakable(shown) or '(no name)'}</bdi>"


def sentence(text: str) -> str:
    """Return a sentence as HTML, in which names written from right to left are isolated."""
    return TURNED.sub(r"<bdi>\g<0></bdi>", escape(text))


def arrow(origin: str, goal: str) -> str:
    """Return "origin → goal" as HTML, without a line break before the arrow."""
    return f"{origin}&nbsp;→ {goal}"


def breakable(text: str) -> str:
    """Return a text as HTML in which lines may break after punctuation, except in numbers."""
    return re.sub(r"([/:,=_]|\.(?!\d))(?=\w)", r"\1<wbr>", escape(text))


def attributes(**values: Any) -> str:
    """Return HTML attributes without those that are None or False; `_` in a name becomes `-`.

    Floats are written with four digits, as positions in charts need them.
    """
    text = ""
    for key, value in values.items():
        if value is not None and value is not False:
            shown = f"{value:.4g}" if isinstance(value, float) else "" if value is True else value
            text += f' {key.strip("_").replace("_", "-")}="{escape(shown)}"'
    return text


def percent(value: float | None) -> str:
    """Return a share in percent with one decimal, or a dash if it is undefined."""
    return "–" if value is None or not math.isfinite(value) else f"{100 * value:.1f}"


def count(value: float) -> str:
    """Return a whole number with thousands separators."""
    return f"{int(value):,}"


def signed(value: float, digits: int = 2) -> str:
    """Return a number with its sign, with a typographic minus."""
    return f"{value:+.{digits}f}".replace("-", "−")


def tag(kind: str, content: str = "", /, **values: Any) -> str:
    """Return an element with its attributes; the content is HTML already."""
    return f"<{kind}{attributes(**values)}>{content}</{kind}>"


def listed(items: Sequence[str], most: int) -> str:
    """Return the first `most` items with commas between them, and how many more there are."""
    more = len(items) - most
    return ", ".join(items[:most]) + (f" and {counted(more, 'other')}" if more > 0 else "")


def not_shown(n: int, what: str = "smaller one") -> str:
    """Return a note about `n` entries that are not listed, or ""."""
    left_out = counted(n, f"{what} is", f"{what}s are")
    return tag("p", f"{left_out} not shown.", class_="soft") if n > 0 else ""


def bars(items: Iterable[tuple[str, float]], largest: float, show: Callable[[float], str]) -> str:
    """Return a list of words with their numbers, each with a bar relative to the largest."""
    return "".join(
        tag(
            "li", f"{name(word)}<span>{show(value)}</span>", style=f"--v:{abs(value) / largest:.3f}"
        )
        for word, value in items
    )


def side_by_side(texts: dict[str, str]) -> str:
    """Return texts with their titles in columns; empty texts are left out."""
    columns = [f"<div><h4>{title}</h4><p>{text}</p></div>" for title, text in texts.items() if text]
    return tag("div", "".join(columns), class_="two") if columns else ""


# Tables ------------------------------------------------------------------------------------------


def heading(content: str, **values: Any) -> str:
    """Return the heading of a column."""
    return tag("th", content, scope="col", **values)


def row(title: str, cells: Iterable[str], **values: Any) -> str:
    """Return a row of a table: its heading and its cells (elements)."""
    return tag("tr", tag("th", title, scope="row") + "".join(cells), **values)


def table(
    headings: Iterable[str],
    rows: Iterable[str],
    *,
    foot: str = "",
    caption: str = "",
    **values: Any,
) -> str:
    """Return a table of headings (elements) and rows, with the rows of its foot, if any."""
    above = f"<caption>{caption}</caption>" if caption else ""
    below = f"<tfoot>{foot}</tfoot>" if foot else ""
    head = f"<thead><tr>{''.join(headings)}</tr></thead>"
    return tag("table", f"{above}{head}<tbody>{''.join(rows)}</tbody>{below}", **values)


def sortable_table(
    columns: dict[str, str | None],
    rows: Sequence[str],
    *,
    sorted_by: str,
    least: str,
    foot: str = "",
    fewest: int = 0,
    **values: Any,
) -> str:
    """Return a table that page.js can sort and filter, with its controls.

    Parameters
    ----------
    columns : dict of str to str
        The title of each column, with its CSS class.
    rows : list of str
        The rows; page.js sorts and filters by their attributes `data-v`.
    sorted_by : str
        The title of the column by which the rows are sorted.
    least : str
        The unit of the smallest value to show, from the second column.
    foot : str
        Rows that stay at the end.
    fewest : int
        With fewer rows, the controls are hidden.
    """
    headings = [
        heading(
            f"<button type=button>{title}</button>",
            aria_sort="descending" if title == sorted_by else "none",
            class_=kind,
        )
        for title, kind in columns.items()
    ]
    return f"""<div class="controls needs-js"{attributes(hidden=len(rows) < fewest)}>
<label>Find <input type="search" id="find" autocomplete="off"></label>
<label>with at least <input type="number" id="least" min="0" step="any" value="0"> {least}</label>
<output id="matches" class="soft"></output></div>
{table(headings, rows, foot=foot, class_="sortable", **values)}
<p class="needs-js"><button type="button" id="more" hidden></button></p>"""


# Pages -------------------------------------------------------------------------------------------


def picker(what: str, *, hidden: bool = False) -> str:
    """Return the controls by which page.js shows one card at a time."""
    return f"""<div class="controls needs-js"{attributes(hidden=hidden)}>
<label>{what} <select id="pick"></select></label>
<span><button type="button" id="before">← larger</button>
<button type="button" id="after">smaller →</button></span></div>"""


def sections(contents: dict[str, tuple[str, str]]) -> str:
    """Return the sections of a page below links to them; empty sections are left out.

    `contents` has the title of each link and the HTML of each section by the section's id.
    """
    shown = {key: entry for key, entry in contents.items() if entry[1]}
    links = "".join(f'<a href="#{key}">{title}</a>' for key, (title, _) in shown.items())
    main = "".join(tag("section", html, id=key) for key, (_, html) in shown.items())
    return f'<nav aria-label="Sections">{links}</nav><main>{main}</main>'


def resource(file: str) -> str:
    """Return the text of a file of this package."""
    return files("thresher.report").joinpath(file).read_text(encoding="utf-8")


def page(title: str, kind: str, lead: str, body: str, *, script: bool = True) -> str:
    """Return a self-contained page: title, introduction (`lead`), body, style and script."""
    return resource("page.html").format(
        title=escape(short(title)),
        style=resource("page.css"),
        kind=kind,
        heading=breakable(short(title, 200)),
        lead=lead,
        body=body,
        early=EARLY if script else "",
        script=tag("script", resource("page.js")) if script else "",
    )
