"""Linguistic processing of distinct words: stop words, word classes, lemmas and stems."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache, partial
from importlib import import_module
from types import NoneType
from typing import Any, Self

from thresher.errors import MissingExtra, ModelError, ParameterError, missing_extra, param
from thresher.parameters import Estimator, Flag, Some, Text, parameter

Step = Callable[[list[str]], list[str | None]]
_declare = partial(parameter, panel="Text")

# The names are PyStemmer's where it has the language; the codes are simplemma's.
# fmt: off
LANGUAGES = {
    "albanian": "sq", "ancient greek": "grc", "arabic": "ar", "armenian": "hy", "asturian": "ast",
    "basque": "eu", "bulgarian": "bg", "catalan": "ca", "croatian": "hbs", "czech": "cs",
    "danish": "da", "dutch": "nl", "english": "en", "esperanto": "eo", "estonian": "et",
    "finnish": "fi", "french": "fr", "galician": "gl", "georgian": "ka", "german": "de",
    "greek": "el", "hebrew": "he", "hindi": "hi", "hungarian": "hu", "icelandic": "is",
    "indonesian": "id", "irish": "ga", "italian": "it", "latin": "la", "latvian": "lv",
    "lithuanian": "lt", "luxembourgish": "lb", "macedonian": "mk", "malay": "ms",
    "malayalam": "ml", "manx": "gv", "middle english": "enm", "nepali": "ne",
    "northern sami": "se", "norwegian": "nb", "nynorsk": "nn", "persian": "fa", "polish": "pl",
    "portuguese": "pt", "romanian": "ro", "russian": "ru", "scottish gaelic": "gd",
    "serbian": "hbs", "sesotho": "st", "slovak": "sk", "slovenian": "sl", "spanish": "es",
    "swahili": "sw", "swedish": "sv", "tagalog": "tl", "tamil": "ta", "turkish": "tr",
    "ukrainian": "uk", "welsh": "cy", "yiddish": "yi",
}
# fmt: on
_NAMES = {code: name for name, code in LANGUAGES.items()}
_NAMES |= {"hr": "croatian", "no": "norwegian", "sr": "serbian"}  # codes that simplemma lacks

WORD_CLASSES = {
    "noun": frozenset({"NOUN", "PROPN"}),
    "verb": frozenset({"VERB", "AUX"}),
    "adjective": frozenset({"ADJ"}),
    "adverb": frozenset({"ADV"}),
}

_NOUNS_ARE_CAPITALISED = frozenset({"de", "lb"})

_STATE_TYPES: dict[str, tuple[type, ...]] = {
    "language": (str,),
    "stop_words": (list, NoneType),
    "stem": (bool, str),
    "lemmatize": (bool,),
    "word_classes": (list, NoneType),
    "libraries": (dict,),
}


class LanguageParameters(Estimator):
    """The parameters of linguistic processing."""

    language: str = _declare(
        default="english",
        kind=Text(),
        words='The language of stop words, stems and lemmas: its name or code, "german" or "de".',
        flag="--language",
    )
    stop_words: bool | str | Iterable[str] | None = _declare(
        default=False,
        kind=Flag("bool, str or iterable of str", lambda v: isinstance(v, Iterable), optional=True),
        words="""Leave out the function words of the language. True or "language" means the
        list for `language`; the name of another language means its list; or give the words
        themselves. Upper and lower case are not distinguished.""",
        flag="--stop-words",
    )
    stem: bool | str = _declare(
        default=False,
        kind=Flag("bool or str", lambda value: isinstance(value, str)),
        words="""Replace each word by its stem. The name of a PyStemmer algorithm, such as "porter",
        selects that algorithm. Stemmers expect lower-case words.""",
        flag="--stem",
    )
    lemmatize: bool = _declare(
        default=False,
        kind=Flag(),
        words="""Replace each word by its dictionary form (needs simplemma). A word that is not in
        the dictionary is not changed; the lemma of a lower-case word is in lower case.""",
        flag="--lemmatize",
    )
    word_classes: Sequence[str] | None = _declare(
        default=None,
        kind=Some(
            "sequence of str",
            lambda value: None if isinstance(value, Iterable) else "names of word classes",
            lambda text: tuple(text.split(",")),
            "noun,verb",
            optional=True,
        ),
        words="""Keep only nouns, verbs, adjectives or adverbs (English; needs lemminflect). Give
        the names of the classes; a word is kept if it can belong to one of them. Function words
        (the English stop words, including auxiliary verbs) and tokens without letters belong to no
        class. Words not in the lexicon, mostly names and abbreviations, count as nouns.""",
        flag="--word-classes",
    )


class Linguistics(LanguageParameters):
    """Map inflected words to a common form, and leave out uninformative words.

    The selected steps are applied in this order: stop words, word classes, lemmas, stop words again
    (because a lemma can be a stop word), stems.

    Each distinct word is processed once, whatever the number of its occurrences. The libraries and
    dictionaries are loaded when the first word is processed.

    Examples
    --------
    >>> linguistics = Linguistics(stop_words="language", stem=True)
    >>> linguistics.fold(["the", "companies", "rising", "1987"])
    [None, 'compani', 'rise', '1987']
    >>> Linguistics(language="german", stem=True).fold(["häuser", "hauses"])
    ['haus', 'haus']
    """

    _prepared = None  # the parameters at the time of preparation, and the steps

    def fold(self, words: Iterable[str]) -> list[str | None]:
        """Return the form under which each distinct word is counted; None to leave it out.

        The words should be in lower case, as most dictionaries and stemmers expect.
        """
        folded: list[str | None] = list(_encodable(list(words)))
        for step in self._steps():
            indices = [i for i, word in enumerate(folded) if word]
            results = step([folded[i] for i in indices])  # type: ignore[misc]
            for i, word in zip(indices, results, strict=True):
                folded[i] = word
        return [word or None for word in folded]

    def state(self) -> dict[str, Any]:
        """Return the parameters and library versions as a dict for JSON.

        The stop words are listed, so that later changes of a language's list have no effect.
        """
        self._steps()  # raises an error if a library is not installed
        stopped = self._stop_words()
        return {
            "language": _language(self.language),
            "stop_words": None if stopped is None else sorted(stopped),
            "stem": self.stem,
            "lemmatize": bool(self.lemmatize),
            "word_classes": None if self.word_classes is None else list(self.word_classes),
            "libraries": self._libraries(),
        }

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Self:
        """Return the `Linguistics` with this state; warn if a library has another version.

        Raises a ModelError for a dict that `state` cannot have returned.
        """
        for name, kinds in _STATE_TYPES.items():
            if type(state.get(name)) not in kinds:
                fault = f"is {state[name]!r}" if name in state else "is missing"
                expected = kinds[0].__name__
                raise ModelError(f"The model's field {name!r} {fault}; it must be a {expected}.")
        parameters: dict[str, Any] = {name: state.get(name) for name in _STATE_TYPES}
        recorded = parameters.pop("libraries")
        linguistics = cls(**parameters)
        try:
            linguistics._steps()
            installed = linguistics._libraries()
        except (ParameterError, MissingExtra) as error:
            raise ModelError(f"The model's linguistics cannot be used: {error}") from error
        for name, version in installed.items():
            if recorded.get(name) != version:
                warnings.warn(
                    f"The model was made with {name} {recorded.get(name)}, and {version} is "
                    "installed: a few words may be folded in another way than it learned.",
                    stacklevel=2,
                )
        return linguistics

    def __getstate__(self) -> dict[str, Any]:
        # Stemmers cannot be copied; they are created again when needed.
        return {name: value for name, value in vars(self).items() if name != "_prepared"}

    def _steps(self) -> list[Step]:
        """Return the steps in order; they are prepared again if a parameter has changed."""
        parameters = self.get_params(deep=False)
        if self._prepared is None or self._prepared[0] != parameters:
            self._prepared = parameters, self._make_steps()
        return self._prepared[1]

    def _make_steps(self) -> list[Step]:
        language, stopped = _language(self.language), self._stop_words()
        steps: list[Step] = []
        if stopped:
            steps.append(_without(stopped))
        if self.word_classes is not None:
            steps.append(_of_classes(self.word_classes, language))
        if self.lemmatize:
            steps.append(_lemmas(language))
            if stopped:
                steps.append(_without(stopped))
        if self.stem:
            steps.append(_stems(language if self.stem is True else self.stem))
        return steps

    def _stop_words(self) -> frozenset[str] | None:
        if self.stop_words is None or self.stop_words is False:
            return None
        if self.stop_words is True or isinstance(self.stop_words, str):
            is_of_language = self.stop_words in (True, "language")
            return stop_words(self.language if is_of_language else str(self.stop_words))
        if isinstance(self.stop_words, Iterator):
            self.stop_words = tuple(self.stop_words)  # it can be read only once
        words = self.stop_words if isinstance(self.stop_words, Iterable) else [self.stop_words]
        if wrong := [word for word in words if not isinstance(word, str)]:
            raise ParameterError(
                f"{param('stop_words', owner='Linguistics')} holds {wrong[0]!r}; it must be "
                "'language', the name of a language, or hold nothing but strings."
            )
        return frozenset(word.lower() for word in words)

    def _libraries(self) -> dict[str, str]:
        """Return the version of each library that is used."""
        from importlib.metadata import version

        uses = (self.stem, self.lemmatize, self.word_classes is not None)
        libraries = zip(("PyStemmer", "simplemma", "lemminflect"), uses, strict=True)
        return {name: version(name) for name, is_used in libraries if is_used}


@cache
def stop_words(language: str) -> frozenset[str]:
    """Return the function words of a language: articles, pronouns, prepositions, auxiliaries.

    Parameters
    ----------
    language : str
        Name or ISO 639 code of the language.

    Examples
    --------
    >>> len(stop_words("danish")), "og" in stop_words("da")
    (188, True)
    """
    from importlib.resources import files

    name = _language(language)
    folder = files("thresher.text") / "stopwords"
    file = folder / f"{name}.txt"
    if not file.is_file():
        lists = sorted(entry.name.removesuffix(".txt") for entry in folder.iterdir())
        raise _lacking(f"There are no stop words for {name!r}", lists, ", or list the words")
    return frozenset(file.read_text(encoding="utf-8").split())


def _language(language: str) -> str:
    """Return the name of a language, given its name or code."""
    name = language.strip().lower() if isinstance(language, str) else ""
    if name in LANGUAGES or name in _NAMES:
        return _NAMES.get(name, name)
    raise _lacking(f"The language {language!r} is not known", sorted(LANGUAGES))


def _lacking(what: str, known: Iterable[str], remedy: str = "") -> ParameterError:
    return ParameterError(f"{what}; choose one of {', '.join(known)}{remedy}.")


def _library(package: str, extra: str, purpose: str) -> Any:
    try:
        return import_module(package)
    except ImportError as error:
        raise missing_extra(package, extra, purpose) from error


def _encodable(words: list[str]) -> list[str]:
    """Return the words with lone surrogates replaced, which UTF-8 cannot encode."""
    try:
        "".join(words).encode()
    except UnicodeEncodeError:
        return [word.encode("utf-8", "replace").decode() for word in words]
    return words


# The steps ----------------------------------------------------------------------------------------


def _without(stopped: frozenset[str]) -> Step:
    return lambda words: [None if word.lower() in stopped else word for word in words]


def _of_classes(word_classes: Sequence[str], language: str) -> Step:
    classes = set(word_classes)
    if not classes or not classes.issubset(WORD_CLASSES):
        raise ParameterError(
            f"{param('word_classes', owner='Linguistics')} is {word_classes!r}; it must hold "
            f"one or more of {', '.join(map(repr, WORD_CLASSES))}."
        )
    if language != "english":
        raise ParameterError(
            f"{param('word_classes', owner='Linguistics')} is given and {param('language')} is "
            f"{language!r}; word classes are known for 'english' only, so leave the former out."
        )
    lexicon = _library("lemminflect", "english", "Word classes").getAllLemmas
    function_words = stop_words("english")
    tags = frozenset().union(*(WORD_CLASSES[name] for name in classes))

    def can_be(word: str) -> bool:
        lowered = word.lower()
        if lowered in function_words or not any(map(str.isalpha, word)):
            return False
        known = lexicon(lowered)
        return not tags.isdisjoint(known) if known else "NOUN" in tags

    return lambda words: [word if can_be(word) else None for word in words]


def _lemmas(language: str) -> Step:
    simplemma = _library("simplemma", "lemmas", "Lemmas")
    factory = import_module("simplemma.strategies.dictionaries.dictionary_factory")
    supported, code = factory.SUPPORTED_LANGUAGES, LANGUAGES[language]
    if code not in supported:
        known = sorted(name for name, code in LANGUAGES.items() if code in supported)
        raise _lacking(
            f"There are no lemmas for {language!r}", known, f", or use {param('stem', True)}"
        )

    def lemma(word: str) -> str:
        entry: str = simplemma.lemmatize(word, lang=code)
        if word != word.lower():
            return entry
        if code in _NOUNS_ARE_CAPITALISED and entry != word:
            # simplemma takes the lower-case "haus" for a form of "hausen"; the noun is more likely.
            entry = simplemma.lemmatize(word.capitalize(), lang=code)
        return entry.lower()

    return lambda words: [lemma(word) for word in words]


def _stems(algorithm: str) -> Step:
    import Stemmer

    if algorithm not in Stemmer.algorithms():
        raise _lacking(f"There is no stemmer {algorithm!r}", Stemmer.algorithms())
    stemmer = Stemmer.Stemmer(algorithm, 0)  # no cache: each word is stemmed once

    return lambda words: [s or w for s, w in zip(stemmer.stemWords(words), words, strict=True)]
