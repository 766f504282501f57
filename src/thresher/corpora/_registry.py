"""What is known of a corpus before it is read, and how a corpus is named in one word."""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from thresher.errors import ParameterError

if TYPE_CHECKING:
    from thresher.corpora._corpus import Corpus

__all__ = ["CorpusInfo", "File", "Form", "Option", "Paths", "Spec", "describe", "parse_spec"]

Paths = Sequence[Path]

# The module of each corpus, imported when the corpus is used.
MODULES = {
    "20newsgroups": "thresher.corpora.newsgroups20",
    "imdb": "thresher.corpora.imdb",
    "ling-spam": "thresher.corpora.ling_spam",
    "medline": "thresher.corpora.medline",
    "movie-reviews": "thresher.corpora.movie_reviews",
    "ohsumed23": "thresher.corpora.ohsumed23",
    "reuters21578": "thresher.corpora.reuters21578",
}
SPEC = re.compile(r"(?P<name>\w[\w-]*)(:(?P<details>[^/\\]*))?(/(?P<split>[\w.+-]+))?")
ENTRY_POINTS = "thresher.corpora"  # the corpora of other packages, by their modules
YES_NO = {"yes": True, "true": True, "1": True, "no": False, "false": False, "0": False}


class Form(NamedTuple):
    """One way in which a file of a corpus is packed."""

    name: str  # within the corpus's folder
    url: str | None = None  # where it can be had, if anywhere
    size: int | None = None  # bytes; None where that is not known
    sha256: str | None = None  # of the packed file; an archive without is not downloaded


@dataclass(frozen=True)
class File:
    """One file of a corpus, in whatever form it is there."""

    folder: str  # where it is looked for, within `$THRESHER_DATA` and within the cache
    forms: tuple[Form, ...]  # those that are accepted, the preferred one first
    contents: str  # sha256 of the members, else of the table's lines: the same for all forms
    members: str | None = None  # expression with one group: the part of members' names that counts
    alone: bool = False  # whether only members that stand in one folder count

    def may_download(self, form: Form) -> bool:
        """Tell whether a form is known by a checksum before anything is unpacked.

        The lines of a plain table are, whatever their ends; an archive never seen by us is not.
        """
        is_plain = self.members is None and not form.name.endswith(".gz")
        return form.url is not None and (form.sha256 is not None or is_plain)


class Option(NamedTuple):
    """One choice that the reader of a corpus has; the default's type says what it takes."""

    help: str
    default: Any  # a tuple takes several of the choices, joined by '+'
    choices: tuple[str, ...] = ()  # the words it takes; none: any

    def parse(self, name: str, value: Any) -> Any:
        """Return the value in the option's own type, or say what it must be."""
        parsed: Any
        if isinstance(self.default, tuple):
            several = value.split("+") if isinstance(value, str) else value
            one = self._replace(default="")
            return tuple(one.parse(name, word) for word in several if word)
        if isinstance(self.default, bool):
            parsed, what = YES_NO.get(str(value).lower()), "yes or no"
        elif isinstance(self.default, int):
            what = "a whole number"
            parsed = int(value) if re.fullmatch(r"[0-9]+", str(value)) else None
        else:
            what = f"one of {', '.join(self.choices)}"
            parsed = value if not self.choices or value in self.choices else None
        if parsed is None:
            raise ParameterError(f"The option {name} is {value!r}; it must be {what}.")
        return parsed


@dataclass(frozen=True)
class CorpusInfo:
    """What a corpus is, where it lives, on which terms, and how it can be read.

    Parameters
    ----------
    name, title : str
        The word by which it is asked for, and its full name.
    summary : str
        What is in it, in a sentence or two; also what a reader should beware of.
    home, licence, citation : str
        The web page of its authors or keepers, its terms in a sentence, and the work to cite.
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
    verified_by: str = (
        "the sha256 of the archive; that of each document inside it where you packed it otherwise"
    )

    @property
    def variants(self) -> tuple[str, ...]:
        """The ways in which it is split, the default first."""
        return tuple(self.counts)

    @property
    def addresses(self) -> tuple[str, ...]:
        """Where its files can be downloaded."""
        forms = (form for file in self.files for form in file.forms)
        return tuple(dict.fromkeys(form.url for form in forms if form.url))

    def read_files(self, paths: Paths, variant: str, **options: Any) -> Corpus:
        """Read the corpus, or say that a file is damaged: another than was published, at least."""
        from thresher.corpora._archive import reading

        with reading(paths[0]):
            return self.read(paths, variant, **options)

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
    return match is not None and (match["name"] in MODULES or match["name"] in corpus_modules())


@cache
def corpus_modules() -> dict[str, str]:
    """Return the module of each corpus, including the corpora that other packages add."""
    from importlib.metadata import entry_points  # its import takes 20 ms

    installed = {point.name: point.value for point in entry_points(group=ENTRY_POINTS)}
    return installed | MODULES


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
    module = MODULES.get(word) or corpus_modules().get(word)
    if module is None:
        known = sorted(corpus_modules())
        near = difflib.get_close_matches(word, known, 1, 0.5)
        hint = f" Did you mean {near[0]}?" if near else ""
        raise ParameterError(
            f"There is no corpus called {word!r}.{hint} Known are {', '.join(known)}. "
            "Other packages, such as thresher-papers, add more."
        )
    infos: Iterable[CorpusInfo] = import_module(module).CORPORA
    return next(info for info in infos if info.name == word)


def parse_options(info: CorpusInfo, given: dict[str, Any]) -> dict[str, Any]:
    """Return all options of a corpus with their values, those not given by default."""
    unknown = [name for name in given if name not in info.options]
    if unknown:
        takes = ", ".join(info.options) or "no options"
        raise ParameterError(
            f"The corpus {info.name} has no option {unknown[0]!r}; it takes {takes}."
        )
    parsed = {name: info.options[name].parse(name, value) for name, value in given.items()}
    return {name: option.default for name, option in info.options.items()} | parsed


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
