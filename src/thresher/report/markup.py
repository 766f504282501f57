"""Small pieces of HTML: what comes from outside goes through here, and nothing else does."""

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
LONGEST_WHOLE = 24  # letters of a name that is not broken; a phone has room for so many
RIGHT_TO_LEFT = "\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\U00010800-\U00010fff\U0001e800-\U0001efff"
TURNED = re.compile(f"[{RIGHT_TO_LEFT}]+(?: [{RIGHT_TO_LEFT}]+)*")


def escape(value: Any) -> str:
    """Return a text as HTML can hold it, between tags and in quoted attributes."""
    return html.escape(str(value).replace("\0", "\ufffd"), quote=True)


def short(text: str, longest: int = LONGEST_NAME) -> str:
    """Cut a text that is too long, before a word if little is lost by it, and mark the cut."""
    if len(text) <= longest:
        return text
    cut = text[: longest - 1]
    before, _, begun = cut.rpartition(" ")
    if before and len(begun) < longest / 4 and not text[longest - 1].isspace():
        cut = before
    return cut.rstrip() + "…"


def name(text: str) -> str:
    """Return a category or a word: of bounded length, its direction of writing kept to itself."""
    shown = short(text)
    # Letters of several bytes are often wider, and so are capitals.
    room = len(shown.encode(errors="replace")) + sum(map(str.isupper, shown)) / 2
    kind = " class=whole" if room <= LONGEST_WHOLE else ""
    title = "" if shown == text else f' title="{escape(short(text, 500))}"'
    return f"<bdi{kind}{title}>{breakable(shown) or '(no name)'}</bdi>"


def sentence(text: str) -> str:
    """Return a sentence of ours, escaped; names in it that run from right to left stay in place."""
    return TURNED.sub(r"<bdi>\g<0></bdi>", escape(text))


def arrow(origin: str, goal: str) -> str:
    """Return where something belongs and where it went, both as HTML, the arrow never alone."""
    return f"{origin}&nbsp;→ {goal}"


def breakable(text: str) -> str:
    """Return a text, escaped, in which a line may be broken after punctuation, not in numbers."""
    return re.sub(r"([/:,=_]|\.(?!\d))(?=\w)", r"\1<wbr>", escape(text))


def attributes(**values: Any) -> str:
    """Return attributes, escaped; those that are None or False are left out, `_` stands for `-`."""
    return "".join(
        f' {key.strip("_").replace("_", "-")}="{escape("" if value is True else value)}"'
        for key, value in values.items()
        if value is not None and value is not False
    )


def percent(value: float | None) -> str:
    """Return a share in percent with one decimal; a dash where there is none."""
    return "–" if value is None or not math.isfinite(value) else f"{100 * value:.1f}"


def count(value: float) -> str:
    """Return a number of things, its thousands parted."""
    return f"{int(value):,}"


def signed(value: float, digits: int = 2) -> str:
    """Return a number with its sign, a real minus."""
    return f"{value:+.{digits}f}".replace("-", "−")


def page(title: str, body: str, *, script: bool = True) -> str:
    """Return a whole page with its style and its script, if it has one; it needs nothing else."""
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
