"""Small pieces of HTML; all text from data is escaped here."""

from __future__ import annotations

import html
import math
import re
from importlib.resources import files
from typing import Any

__all__ = [
    "arrow", "attributes", "breakable", "count", "escape", "name", "page", "percent",
    "sentence", "short", "signed",
]  # fmt: skip

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
    """Return HTML attributes without those that are None or False; `_` in a name becomes `-`."""
    return "".join(
        f' {key.strip("_").replace("_", "-")}="{escape("" if value is True else value)}"'
        for key, value in values.items()
        if value is not None and value is not False
    )


def percent(value: float | None) -> str:
    """Return a share in percent with one decimal, or a dash if it is undefined."""
    return "–" if value is None or not math.isfinite(value) else f"{100 * value:.1f}"


def count(value: float) -> str:
    """Return a whole number with thousands separators."""
    return f"{int(value):,}"


def signed(value: float, digits: int = 2) -> str:
    """Return a number with its sign, with a typographic minus."""
    return f"{value:+.{digits}f}".replace("-", "−")


def page(title: str, body: str, *, script: bool = True) -> str:
    """Return a self-contained page with its style and, if wanted, its script."""
    style, code = (
        files("thresher.report").joinpath(f"page.{kind}").read_text(encoding="utf-8")
        for kind in ("css", "js")
    )
    early = '<script>document.documentElement.classList.add("js")</script>' if script else ""
    late = f"<script>{code}</script>" if script else ""
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; \
script-src 'unsafe-inline'; img-src data:">
<title>{escape(short(title))}</title>
<style>{style}</style>
{early}</head>
<body>{body}
{late}</body></html>
"""
