"""20 Newsgroups by date, with and without headers, footers (signatures) and quotes."""

from __future__ import annotations

import re

from thresher.corpora._archive import members
from thresher.corpora._corpus import Corpus, Split
from thresher.corpora._registry import Paths, declared

MEMBERS = r"(20news-bydate-(?:train|test)/[\w.-]+/\d+)$"
QUOTED = re.compile(r"^(?:In article|Quoted from|[|>])|wr(?:ites(?: in|:)|ote:)|sa(?:ys|id):")


def without(text: str, remove: tuple[str, ...]) -> str:
    """Return a post without headers, footers or quotes, by the rules of scikit-learn's loader.

    Headers end at the first empty line. A footer begins at the last line of the post that is blank
    or all hyphens, unless that is the first. A quote is a line that begins with '>', '|',
    'In article' or 'Quoted from', or that contains 'wrote:', 'writes:', 'says:' and similar words.

    Examples
    --------
    >>> without("From: me\\n\\n> Hm?\\nYes.\\n--\\nMe", ("headers", "footers", "quotes"))
    'Yes.'
    """
    if "headers" in remove:
        text = text.partition("\n\n")[2]
    if "footers" in remove:
        lines = text.strip().split("\n")
        rules = [i for i, line in enumerate(lines) if not line.strip().strip("-")]
        if rules and rules[-1] > 0:
            text = "\n".join(lines[: rules[-1]])
    if "quotes" in remove:
        text = "\n".join(line for line in text.split("\n") if not QUOTED.search(line))
    return text


def read(paths: Paths, variant: str, *, remove: tuple[str, ...]) -> Corpus:
    """Return the posts, sorted by group and number within each split."""
    splits = {"train": Split(), "test": Split()}
    for name, content in sorted(members(paths[0], MEMBERS)):
        folder, group, _ = name.split("/")[-3:]
        text = without(content.decode("latin-1"), remove)
        splits[folder.removeprefix("20news-bydate-")].append(text, [group], name)
    return Corpus(splits)


CORPORA = (declared("20newsgroups", read, members=MEMBERS),)
