"""Descriptions of corpora, and the syntax of their names."""

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

Paths = Sequence[Path]

# The module of each corpus, imported when first used.
MODULES = {
    "20newsgroups": "thresher.corpora.newsgroups20",
    "imdb": "thresher.corpora.folders",
    "ling-spam": "thresher.corpora.folders",
    "medline": "thresher.corpora.medline",
    "movie-reviews": "thresher.corpora.folders",
    "ohsumed23": "thresher.corpora.folders",
    "reuters21578": "thresher.corpora.reuters21578",
}
SPEC = re.compile(r"(?P<name>\w[\w-]*)(:(?P<details>[^/\\]*))?(/(?P<split>[\w.+-]+))?")
ENTRY_POINTS = "thresher.corpora"  # modules with corpora of other packages
YES_NO = {"yes": True, "true": True, "1": True, "no": False, "false": False, "0": False}


class Form(NamedTuple):
    """A form in which a file of a corpus is packed."""

    name: str  # within the corpus's folder
    url: str | None = None  # None if it cannot be downloaded
    size: int | None = None  # bytes; None if not known
    sha256: str | None = None  # of the packed file; an archive without one is not downloaded


@dataclass(frozen=True)
class File:
    """A file of a corpus, in one of several forms."""

    folder: str  # within `$THRESHER_DATA` and within the cache
    forms: tuple[Form, ...]  # accepted forms, the preferred one first
    contents: str  # sha256 of the members or of the lines of a table, equal for all forms
    members: str | None = None  # regular expression for members, with a group for the relative name
    alone: bool = False  # whether to ignore members that are in several folders

    def may_download(self, form: Form) -> bool:
        """Return True if a download can be verified before it is unpacked.

        A plain table can, by its lines; an archive needs a known checksum.
        """
        is_plain = self.members is None and not form.name.endswith(".gz")
        return form.url is not None and (form.sha256 is not None or is_plain)


class Option(NamedTuple):
    """An option of a corpus; its type is that of the default."""

    help: str
    default: Any  # a tuple: several choices, joined by '+'
    choices: tuple[str, ...] = ()  # allowed values; empty: any

    def parse(self, name: str, value: Any) -> Any:
        """Return a value converted to the type of the option, or raise an error."""
        parsed: Any
        if isinstance(self.default, tuple):
            words = value.split("+") if isinstance(value, str) else value
            single = self._replace(default="")
            return tuple(single.parse(name, word) for word in words if word)
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
    """The description of a corpus.

    Parameters
    ----------
    name, title : str
        The short name, for commands, and the full name.
    summary : str
        Its contents and known problems in a sentence or two.
    home, licence, citation : str
        The web page of its authors or maintainers, its terms of use, and the work to cite.
    files : tuple of File
        The files to find or download.
    counts : dict
        Documents per split, for each variant; the first variant is the default.
    read : callable
        `read(paths, variant, **options)` returns the `Corpus`.
    options : dict of Option
        The options by name.
    verified_by : str
        How a download is verified.
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
        "the sha256 of the archive, or of each document inside it if it is packed in another way"
    )

    @property
    def variants(self) -> tuple[str, ...]:
        """The variants, the default first."""
        return tuple(self.counts)

    @property
    def addresses(self) -> tuple[str, ...]:
        """The addresses of its files."""
        forms = (form for file in self.files for form in file.forms)
        return tuple(dict.fromkeys(form.url for form in forms if form.url))

    def read_files(self, paths: Paths, variant: str, **options: Any) -> Corpus:
        """Return the corpus, or raise an error if a file is damaged."""
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
    """Return the components of the name of a corpus.

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
    details = [word for word in (match["details"] or "").split(",") if word]
    variants = [word for word in details if "=" not in word]
    if len(variants) > 1:
        raise ParameterError(f"{text!r} names two variants, {variants[0]} and {variants[1]}.")
    options = dict(word.split("=", 1) for word in details if "=" in word)
    return Spec(match["name"], variants[0] if variants else None, options, match["split"])


def is_corpus_spec(text: str | os.PathLike[str]) -> bool:
    """Return True for the name of a corpus, unless there is a file or folder of that name.

    Parameters
    ----------
    text : str or path
        A name as written by the user.

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
    """Return the description of a corpus, which can be printed.

    Parameters
    ----------
    name : str
        The name of the corpus, with or without variant and options.

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


@cache
def _declarations() -> dict[str, Any]:
    import tomllib  # rarely needed and slow to import
    from importlib.resources import files

    text = files("thresher.corpora").joinpath("corpora.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


def declared(name: str, read: Callable[..., Corpus], *, members: str | None = None) -> CorpusInfo:
    """Return the description of a corpus in corpora.toml, with its reader.

    Parameters
    ----------
    name : str
        The name of its table.
    read : callable
        As for `CorpusInfo`.
    members : str, optional
        As for `File`.
    """
    fields = _declarations()[name]
    files = tuple(
        File(**file | {"forms": tuple(Form(**form) for form in file["forms"])}, members=members)
        for file in fields["files"]
    )
    options = {
        key: Option(**{field: _frozen(value) for field, value in option.items()})
        for key, option in fields.get("options", {}).items()
    }
    return CorpusInfo(name=name, read=read, **fields | {"files": files, "options": options})


def _frozen(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def parse_options(info: CorpusInfo, given: dict[str, Any]) -> dict[str, Any]:
    """Return the values of all options of a corpus, including the defaults."""
    unknown = [name for name in given if name not in info.options]
    if unknown:
        takes = ", ".join(info.options) or "no options"
        raise ParameterError(
            f"The corpus {info.name} has no option {unknown[0]!r}; it takes {takes}."
        )
    parsed = {name: info.options[name].parse(name, value) for name, value in given.items()}
    return {name: option.default for name, option in info.options.items()} | parsed


def check_variant(info: CorpusInfo, variant: str | None) -> str:
    """Return the variant as spelled in the registry; the default variant for None."""
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
