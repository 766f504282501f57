"""Small pieces of HTML: what comes from outside goes through here, and nothing else does."""

from __future__ import annotations

import html
import math
import re
from importlib.resources import files
from typing import Any

__all__ = [
    "arrow", "attributes", "breakable", "count", "escape", "name", "page", "percent",
    "short", "signed",
]  # fmt: skip

LONGEST_NAME = 60  # characters of a category or of a word that are shown


def escape(value: Any) -> str:
    """Return a text as HTML can hold it, between tags and in quoted attributes."""
    return html.escape(str(value).replace("\0", "\ufffd"), quote=True)


def short(text: str, longest: int = LONGEST_NAME) -> str:
    """Cut a text that is too long, and mark the cut."""
    return text if len(text) <= longest else text[: longest - 1].rstrip() + "…"


def name(text: str) -> str:
    """Return a category or a word: of bounded length, its direction of writing kept to itself."""
    shown = short(text)
    title = "" if shown == text else f' title="{escape(short(text, 500))}"'
    return f"<bdi{title}>{breakable(shown) or '(no name)'}</bdi>"


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
