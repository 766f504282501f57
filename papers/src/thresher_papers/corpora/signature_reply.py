"""Signature lines and reply lines of e-mail: each line of a message is one document.

Carvalho and Cohen (2004) marked the lines of 617 Usenet messages; their report of 2006 uses all
33,013 lines with 37 features, "a basic set". That set is not published as a list. What is known of
it are the kinds of features that the paper of 2004 describes: patterns of addresses (e-mail, URL,
telephone) and of names, the name of the sender, words that are typical of signatures, separator
lines and runs of special characters, a quotation mark at the end, tabs at the start, the share of
punctuation, marks and phrases of replies, lines that begin with the same punctuation as their
neighbours, and whether a line is the last or the last but one. The patterns, the limits and the
number of features (33) are inferred from that description, not taken over; figures need not be
those of the paper. They are near: a linear SVM in 5-fold cross-validation over messages has an F1
of 79.6 for signatures and 95.3 for replies (the paper: 80.3 and 94.8). That nearness is partly
chosen: how far from the end a line still counts as one of the last was set by comparing with the
paper's F1, and a longer reach (the last twenty lines) gives 91.8 for signatures.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from thresher.corpora import Corpus, CorpusInfo, File, Form, Option, Split
from thresher.corpora._archive import members
from thresher.corpora._registry import Paths

__all__ = ["CORPORA", "line_features", "messages"]

MEMBERS = r"(sigPlusReply/\d+_R_S)$"
MARKS = {"signature": "#sig# ", "reply": "#reply#"}
PATTERNS = {
    "email": r"[\w.%+-]+@[\w-]+(?:\.[\w-]+)*|\w+(?:![\w.-]+)+",  # with the old uucp!path!name
    "url": r"(?:https?|ftp|gopher)://|\bwww\.\w",
    "phone": r"(?<!\d)(?:\(?\d{3}\)?[ ./-]{1,2})?\d{3}[ .-]\d{4}(?!\d)|\+\d[\d ()-]{7,}",
    "separator": r"^\s*-{2,}\s*$",
    "special-run": r"[^\w\s]{10,}",
    "all-special": r"^\s*[^\w\s](?:[^\w\s]|\s)*$",
    "signature-word": (
        r"(?i)\b(?:dept|department|univ|university|college|institute|laborator(?:y|ies)|labs?|"
        r"corp|corporation|inc|ltd|company|division|center|centre|school|engineering|sciences?|"
        r"research|services|systems|director|manager|professor|student|street|st|ave|avenue|road|"
        r"box|building|phone|tel|fax|voice|e-?mail|internet|uucp|bitnet|disclaimer|opinions?)\b"
    ),
    "person-name": r"\b[A-Z][a-z]+\s{1,2}(?:[A-Z]\.?\s{1,2})?[A-Z][a-z]+\b",
    "quotation-end": r"[\"']\s*$",
    "quotation-start": r"^\s*[\"`]",
    "attribution": r"\b(?:writes|wrote|said|says)\b.{0,3}:?\s*$|^\s*In (?:article|message)\b",
    "message-id": r"<[^<>@\s]+@[^<>\s]+>",
    "reply-mark": r"^\s{0,3}[>|:}#]",
    "initials-mark": r"^\s{0,3}\w{1,6}>",
    "header": r"^[A-Z][\w-]*: ",
    "starts-with-space": r"^ ",
    "starts-with-punctuation": r"^\s*[^\w\s]",
    "number": r"\d",
    "many-capitals": r"^\W*(?:[A-Z]\w*\W+){2,}[A-Z]?\w*\W*$",
}
SEARCHES = {name: re.compile(pattern).search for name, pattern in PATTERNS.items()}
PUNCTUATION = re.compile(r"[^\w\s]")
SENDER = re.compile(r"^From:(.*)$", re.MULTILINE)
WORD = re.compile(r"[A-Za-z]{3,}")
SHARES = (20, 50, 90)  # per cent
LAST_LINES = (1, 2)
LONG, SHORT = 70, 20  # characters
LONGEST_LINE = 4_000  # the longest of the corpus has 517


ARCHIVE = File(
    "sigPlusReply",
    (
        Form(
            "sigPlusReply.tar.gz",
            size=610_702,
            sha256="ee6a860eb6c55720e0c3cbce466c50f6b96c58bf25b0847e0cfee434d4b67707",
        ),
    ),
    contents="1c41647517ecee82152a782bcd0ae5e4258bbefcb93dc0d73a6707b5c0f730c9",
    members=MEMBERS,
)


def messages(path: Path) -> Iterator[tuple[str, list[str]]]:
    """Yield name and marked lines of each message, sorted by name."""
    for name, content in sorted(members(path, MEMBERS)):
        lines = content.decode("latin-1").split("\n")
        if (longest := max(map(len, lines))) > LONGEST_LINE:  # patterns would search it for hours
            raise ValueError(f"{name} has a line of {longest:,} characters")
        yield name.rpartition("/")[2], lines[:-1] if lines[-1] == "" else lines


def line_features(lines: list[str], *, window: bool = False) -> list[dict[str, float]]:
    """Return the binary features of each line of a message, headers included, marks excluded.

    With `window`, each line also gets the features of the line before and the line after it, as
    `before:` and `after:`.

    Examples
    --------
    >>> features = line_features(["From: ann@x.org (Ann Lee)", "", "Bye", "-- ", "Ann, x!y!ann"])
    >>> len(features), sorted(features[3])[:3]
    (5, ['all-special', 'last<=2', 'punctuation>20'])
    """
    header = SENDER.search("\n".join(lines))
    sender = {word.lower() for word in WORD.findall(header[1])} if header else set()
    features = [_own(line, sender) for line in lines]
    starts = [_first_mark(line) for line in lines]
    for i, line_names in enumerate(features):
        line_names |= {f"last<={limit}" for limit in LAST_LINES if len(lines) - i <= limit}
    for i in range(1, len(lines)):
        if starts[i] and starts[i - 1] == starts[i]:
            features[i - 1].add("begins-as-line-after")
            features[i].add("begins-as-line-before")
    if window:
        around = [set(), *features, set()]
        features = [
            names | {f"before:{name}" for name in before} | {f"after:{name}" for name in after}
            for before, names, after in zip(around, features, around[2:], strict=False)
        ]
    return [dict.fromkeys(sorted(names), 1.0) for names in features]


def _own(line: str, sender: set[str]) -> set[str]:
    """Return the features of a line that do not depend on other lines."""
    text = line.strip()
    if not text:
        return {"blank"}
    features = {name for name, search in SEARCHES.items() if search(line)}
    tabs = len(line) - len(line.lstrip("\t"))
    if tabs:
        features.add(f"tabs={tabs}" if tabs < 3 else "tabs>=3")
    share = 100 * len(PUNCTUATION.findall(text)) / len(text)
    features |= {f"punctuation>{limit}" for limit in SHARES if share > limit}
    if len(text) < SHORT:
        features.add("short")
    elif len(text) > LONG:
        features.add("long")
    if any(word.lower() in sender for word in WORD.findall(line)):
        features.add("sender-name")
    return features


def _first_mark(line: str) -> str:
    """Return the punctuation mark that a line begins with; '' for none."""
    text = line.lstrip()
    return text[0] if text and PUNCTUATION.match(text) else ""


def read(paths: Paths, variant: str, *, text: str, window: bool) -> Corpus:
    """Read all lines of all messages; `variant` is the mark that counts, signature or reply."""
    split = Split()
    for name, marked in messages(paths[0]):
        lines = [line.removeprefix(MARKS["signature"]).removeprefix("#reply#") for line in marked]
        for i, row in enumerate(line_features(lines, window=window)):
            label = variant if marked[i].startswith(MARKS[variant].rstrip()) else "other"
            words = [lines[i]] * (text != "features") + list(row) * (text != "line")
            split.append(" ".join(words), [label], f"{name}:{i + 1}", row)
    return Corpus({"all": split}, positive=variant)


def _info(mark: str, positives: str) -> CorpusInfo:
    return CorpusInfo(
        name=mark,
        title=f"{mark.capitalize()} lines of e-mail",
        summary=(
            f"33,013 lines of 617 Usenet messages, headers included, {positives} of them {mark} "
            "lines; each line is a document with a text and with features. The features are "
            "inferred from the paper's description, the paper's own set of 37 is not published."
        ),
        home="http://www.cs.cmu.edu/~vitor/codeAndData.html",
        licence="No licence is stated; Usenet posts of 1993, customarily used for research.",
        citation=(
            "V. R. Carvalho and W. W. Cohen, Learning to extract signature and reply lines from "
            "email, CEAS 2004"
        ),
        files=(ARCHIVE,),
        counts={mark: {"all": 33_013}},
        read=read,
        options={
            "text": Option(
                "what the text of a document is: the line, its features as words, or both",
                "line",
                ("line", "features", "both"),
            ),
            "window": Option("the features of the lines before and after as well", False),
        },
        verified_by=(
            "the sha256 of each message; there is no direct address, see the authors' page"
        ),
    )


CORPORA = (_info("signature", "3,321"), _info("reply", "5,587"))
