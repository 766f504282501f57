"""What is known of a corpus before it is read, and how a corpus is named in one word."""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from thresher.errors import ParameterError

if TYPE_CHECKING:
    from thresher.corpora._corpus import Corpus

__all__ = [
    "CorpusInfo",
    "File",
    "Form",
    "Option",
    "Paths",
    "Spec",
    "describe",
    "names",
    "parse_spec",
]

# The file of each corpus, imported when the corpus is asked for.
MODULES = {
    "20newsgroups": "newsgroups20",
    "adult": "adult",
    "ads": "ads",
    "congressional": "congressional",
    "credit": "credit",
    "imdb": "imdb",
    "ling-spam": "ling_spam",
    "medline": "medline",
    "movie-reviews": "movie_reviews",
    "nigerian": "nigerian",
    "nursery": "nursery",
    "ohsumed23": "ohsumed23",
    "reply": "signature_reply",
    "reuters21578": "reuters21578",
    "signature": "signature_reply",
    "wisconsin": "wisconsin",
}
SPEC = re.compile(r"(?P<name>[\w-]+)(:(?P<details>[^/\\]*))?(/(?P<split>[\w.+-]+))?")
YES_NO = {"yes": True, "true": True, "1": True, "no": False, "false": False, "0": False}


class Form(NamedTuple):
    """One way in which a file of a corpus is packed.

    Parameters
    ----------
    name : str
        File name within the corpus's folder.
    url : str, optional
        Public address it can be downloaded from; None when there is none.
    size : int, optional
        Bytes; None when this form was never seen by the authors.
    sha256 : str, optional
        Checksum of the packed file; None likewise.
    by_counts : bool
        Whether only the number of documents tells that it is right. Default False: the contents do.
    """

    name: str
    url: str | None = None
    size: int | None = None
    sha256: str | None = None
    by_counts: bool = False


@dataclass(frozen=True)
class File:
    """One file of a corpus, in whatever form it is found.

    Parameters
    ----------
    folder : str
        Sub-folder of `$THRESHER_DATA` and of the cache in which the file is looked for.
    forms : tuple of Form
        The forms that are accepted, the preferred one first.
    contents : str
        sha256 of what is inside, the same for all forms: of the list of members that `members`
        picks, else of the table's lines.
    members : str, optional
        Regular expression with one group; the part of an archive's names that counts.
    """

    folder: str
    forms: tuple[Form, ...]
    contents: str
    members: str | None = None


class Option(NamedTuple):
    """One choice that the reader of a corpus has.

    Parameters
    ----------
    help : str
        What the option does.
    default : bool, int, str or tuple
        Its value when it is not named; its type says what the option takes.
    choices : tuple of str
        The words it takes; a tuple default means several of them, joined by '+'. Default: any.
    """

    help: str
    default: Any
    choices: tuple[str, ...] = ()

    def parse(self, name: str, value: Any) -> Any:
        """Return the value in the option's own type, or say what it must be."""
        if isinstance(self.default, tuple):
            several = value.split("+") if isinstance(value, str) else list(value)
            return tuple(self._word(name, word) for word in several if word)
        if isinstance(self.default, bool):
            parsed = value if isinstance(value, bool) else YES_NO.get(str(value).lower())
            return self._require(name, value, parsed, "yes or no")
        if isinstance(self.default, int):
            number = int(value) if re.fullmatch(r"[0-9]+", str(value)) else None
            return self._require(name, value, number, "a whole number")
        return self._word(name, value)

    def _word(self, name: str, word: str) -> str:
        known = word if not self.choices or word in self.choices else None
        allowed: str = self._require(name, word, known, f"one of {', '.join(self.choices)}")
        return allowed

    @staticmethod
    def _require(name: str, value: Any, parsed: Any, what: str) -> Any:
        if parsed is None:
            raise ParameterError(f"The option {name} is {value!r}; it must be {what}.")
        return parsed


@dataclass(frozen=True)
class CorpusInfo:
    """What a corpus is, where it lives, on which terms, and how it can be read.

    Parameters
    ----------
    name : str
        The word by which it is asked for.
    title : str
        Its full name.
    summary : str
        What is in it, in a sentence or two; also what a reader should beware of.
    home : str
        The web page of its authors or keepers.
    licence : str
        Its terms, in a sentence.
    citation : str
        The work to cite.
    files : tuple of File
        What must be found or downloaded.
    counts : dict
        Documents per split, for each variant; the first variant is the default.
    read : callable
        `read(paths, variant, **options)` returns the `Corpus`.
    options : dict of Option
        What can be chosen, by name.
    verified_by : str
        How a download is known to be the right thing.
    """

    name: str
    title: str
    summary: str
    home: str
    licence: str
    citation: str
    files: tuple[File, ...]
    counts: dict[str, dict[str, int]]
    read: Callable[..., Corpus]
    options: dict[str, Option] = field(default_factory=dict)
    verified_by: str = "the sha256 of the archive, or of each document inside it"

    @property
    def variants(self) -> tuple[str, ...]:
        """The ways in which it is split, the default first."""
        return tuple(self.counts)

    @property
    def addresses(self) -> tuple[str, ...]:
        """Where its files can be downloaded."""
        forms = (form for file in self.files for form in file.forms)
        return tuple(dict.fromkeys(form.url for form in forms if form.url))

    def __str__(self) -> str:
        rows = [
            f"{self.name}: {self.title}",
            self.summary,
            f"home      {self.home}",
            *(f"address   {url}" for url in self.addresses),
            f"terms     {self.licence}",
            f"cite      {self.citation}",
            f"verified  {self.verified_by}",
        ]
        for variant, splits in self.counts.items():
            sizes = ", ".join(f"{split} {n:,}" for split, n in splits.items())
            rows.append(f"variant   {self.name}:{variant}  {sizes}")
        for name, option in self.options.items():
            rows.append(f"option    {name}={_shown(option.default)}  {option.help}")
        return "\n".join(rows)


class Spec(NamedTuple):
    """A corpus as named on the command line: name[:variant[,option=value...]][/split]."""

    name: str
    variant: str | None
    options: dict[str, str]
    split: str | None


def parse_spec(text: str) -> Spec:
    """Take a corpus's name apart.

    Parameters
    ----------
    text : str
        name[:variant[,option=value...]][/split]

    Examples
    --------
    >>> parse_spec("reuters21578:modapte,categories=R10/test")
    Spec(name='reuters21578', variant='modapte', options={'categories': 'R10'}, split='test')
    >>> parse_spec("imdb")
    Spec(name='imdb', variant=None, options={}, split=None)
    """
    match = SPEC.fullmatch(text)
    if match is None:
        raise ParameterError(
            f"{text!r} does not name a corpus; write name[:variant[,option=value...]][/split], "
            "for example reuters21578:modapte,categories=R10/test."
        )
    parts = [part for part in (match["details"] or "").split(",") if part]
    variants = [part for part in parts if "=" not in part]
    if len(variants) > 1:
        raise ParameterError(f"{text!r} names two variants, {variants[0]} and {variants[1]}.")
    options = dict(part.split("=", 1) for part in parts if "=" in part)
    return Spec(match["name"], variants[0] if variants else None, options, match["split"])


def is_corpus_spec(text: str | os.PathLike[str]) -> bool:
    """Tell whether a word names a corpus rather than a file; a file or folder that exists wins.

    Parameters
    ----------
    text : str or path
        What the user wrote.

    Examples
    --------
    >>> is_corpus_spec("reuters21578:modapte"), is_corpus_spec("mail.csv")
    (True, False)
    """
    if not isinstance(text, str) or os.path.exists(text):
        return False
    match = SPEC.fullmatch(text)
    return match is not None and match["name"] in MODULES


def names() -> list[str]:
    """Return the names of all corpora, sorted."""
    return sorted(MODULES)


def describe(name: str) -> CorpusInfo:
    """Return what is known of a corpus; printed, it reads as a page.

    Parameters
    ----------
    name : str
        Name of the corpus; a variant and options after it do no harm.

    Examples
    --------
    >>> describe("reuters21578").counts["modapte"]
    {'train': 9603, 'test': 3299, 'unused': 8676}
    """
    word = parse_spec(name).name
    if word not in MODULES:
        near = difflib.get_close_matches(word, MODULES, 1, 0.5)
        hint = f" Did you mean {near[0]}?" if near else ""
        raise ParameterError(
            f"There is no corpus called {word!r}.{hint} Known are {', '.join(names())}."
        )
    module = import_module(f"thresher.corpora.{MODULES[word]}")
    infos: Iterable[CorpusInfo] = module.CORPORA
    return next(info for info in infos if info.name == word)


def parse_options(info: CorpusInfo, given: dict[str, Any]) -> dict[str, Any]:
    """Return all options of a corpus with their values, those not given by default."""
    unknown = [name for name in given if name not in info.options]
    if unknown:
        takes = ", ".join(info.options) or "no options"
        raise ParameterError(
            f"The corpus {info.name} has no option {unknown[0]!r}; it takes {takes}."
        )
    return {
        name: option.parse(name, given[name]) if name in given else option.default
        for name, option in info.options.items()
    }


def check_variant(info: CorpusInfo, variant: str | None) -> str:
    """Return the variant, in the spelling of the registry; the default one for None."""
    if variant is None:
        return info.variants[0]
    if variant.lower() not in info.variants:
        raise ParameterError(
            f"The corpus {info.name} has no variant {variant!r}; it has {', '.join(info.variants)}."
        )
    return variant.lower()


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "+".join(value) if isinstance(value, tuple) else str(value)


Paths = Sequence[Path]
