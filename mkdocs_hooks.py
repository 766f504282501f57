"""What the documentation's pages need beyond Markdown: code that can be read on a phone."""

import re

LONGEST = 30  # characters that surely have room on a line of a phone
IN_A_BLOCK, INLINE = r"<pre.*?</pre>", r"<code>([^<>]*)</code>"
CHOICES = re.compile(r"\((\w[\w -]*(?:, \w[\w -]*)+)\)")


def on_page_content(html, **_):
    """Keep `--options` in one piece, which browsers break after a hyphen; choices have quotes."""

    def shown(match):
        code = match[1]
        if code is None:
            return match[0]
        return f"<code>{_in_pieces(_quoted(code))}</code>"

    return re.sub(f"{IN_A_BLOCK}|{INLINE}", shown, html, flags=re.S)


def _in_pieces(code):
    """Return code whose words with hyphens are not broken, unless they are long."""
    words = re.split(r"(\s+)", code)
    return "".join(
        f'<span class="whole">{word}</span>' if "-" in word and len(word) <= LONGEST else word
        for word in words
    )


def _quoted(code):
    """Return the choices of a parameter as they are written: they come as names and minus signs."""
    choices = CHOICES.fullmatch(code)
    if not choices:
        return code
    words = (word.replace(" - ", "-") for word in choices[1].split(", "))
    return ", ".join(word if word in ("None", "True", "False") else f'"{word}"' for word in words)
