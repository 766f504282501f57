"""Words folded once each: stop words, word classes, lemmas, stems, and how they are remembered."""

import copy
import json
import re
import subprocess
import sys
import warnings

import pytest
from hypothesis import given
from hypothesis import strategies as st

from naive.features import fold_one_by_one
from thresher.errors import MissingExtra, ModelError, ParameterError
from thresher.text.linguistics import LANGUAGES, Linguistics, stop_words

LISTS = ["danish", "dutch", "english", "finnish", "french", "german", "italian", "norwegian"]
LISTS += ["portuguese", "russian", "spanish", "swedish"]

EVERYTHING = {
    "stop_words": "language",
    "stem": True,
    "lemmatize": True,
    "word_classes": ("noun", "verb"),
}


@pytest.mark.parametrize(
    ("parameters", "words", "folded"),
    [
        ({}, ["the", "Houses", "1987"], ["the", "Houses", "1987"]),
        ({"stop_words": "language"}, ["the", "The", "houses"], [None, None, "houses"]),
        ({"stop_words": "german"}, ["the", "und"], ["the", None]),
        ({"stop_words": ["Company"]}, ["company", "the"], [None, "the"]),
        ({"stop_words": ["company"], "lemmatize": True}, ["companies", "firms"], [None, "firm"]),
        ({"stop_words": ["company"], "stem": True}, ["companies"], ["compani"]),
        ({"stem": True}, ["organisation", "organised"], ["organis", "organis"]),
        ({"stem": "porter"}, ["generically"], ["gener"]),
        ({"stem": True}, ["generically"], ["generic"]),
        ({"lemmatize": True}, ["said", "mice", "dlrs", "1987"], ["say", "mouse", "dlrs", "1987"]),
        ({"lemmatize": True, "stem": True}, ["companies", "mice"], ["compani", "mous"]),
        (
            {"language": "de", "lemmatize": True},
            ["haus", "häuser", "Häuser"],
            ["haus", "haus", "Haus"],
        ),
        (
            {"language": "de", "lemmatize": True},
            ["sagen", "ging", "tage"],
            ["sagen", "gehen", "tag"],
        ),
        ({"language": "fr", "stem": True}, ["continuellement"], ["continuel"]),
        ({"language": "no", "lemmatize": True}, ["husene"], ["hus"]),
    ],
)
def test_what_a_word_counts_as(parameters, words, folded):
    assert Linguistics(**parameters).fold(words) == folded


@pytest.mark.parametrize(
    ("classes", "kept"),
    [
        (("noun", "verb"), ["houses", "said", "red", "opec", "u2", "wells"]),
        (("noun",), ["houses", "red", "opec", "u2", "wells"]),
        (("verb",), ["houses", "said", "wells"]),
        (("adjective",), ["red"]),
        (("adverb",), ["quickly"]),
    ],
)
def test_only_words_that_can_be_of_a_class_are_kept(classes, kept):
    """Function words and numbers are of no class; a word the lexicon lacks counts as a noun."""
    words = ["the", "us", "can", "is", "three", "1987", "--", "houses", "said", "red", "quickly"]
    words += ["opec", "u2", "wells"]
    folded = Linguistics(word_classes=classes).fold(words)
    assert [word for word in folded if word] == kept


@given(
    st.lists(st.text(max_size=12) | st.sampled_from(["the", "Companies", "said", "İ", "\ud800a"]))
)
def test_a_list_is_folded_as_each_word_alone(words):
    linguistics = Linguistics(**EVERYTHING)
    folded = linguistics.fold(words)
    assert folded == fold_one_by_one(linguistics, words)
    assert all(word is None or word for word in folded)


def test_the_stations_stand_in_their_order():
    """A word that survives all stations equals what the libraries give one after the other."""
    import simplemma
    import Stemmer

    words = ["companies", "rising", "wells", "quickly", "better", "the", "meetings"]
    stem = Stemmer.Stemmer("english").stemWord
    expected = [
        stem(simplemma.lemmatize(word, lang="en")) if word not in ("the", "quickly") else None
        for word in words
    ]
    assert Linguistics(**EVERYTHING).fold(words) == expected


@pytest.mark.parametrize("language", LISTS)
def test_stop_lists_are_tidy(language):
    words = stop_words(language)
    assert 150 <= len(words) <= 400
    assert all(word == word.lower() and word.strip("'’ ") == word for word in words)
    assert stop_words(LANGUAGES[language]) == words


def test_no_known_language_is_left_out():
    """All of PyStemmer's and simplemma's languages can be named."""
    import Stemmer
    from simplemma.strategies.dictionaries.dictionary_factory import SUPPORTED_LANGUAGES

    assert set(SUPPORTED_LANGUAGES) <= set(LANGUAGES.values())
    for algorithm in set(Stemmer.algorithms()) - {"porter", "lovins", "dutch_porter"}:
        assert len(Linguistics(language=algorithm, stem=True).fold(["abc"])) == 1


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"language": "klingon"}, "'klingon' is not known; choose one of albanian, .*, yiddish"),
        ({"language": 7}, "language 7 is not known"),
        ({"language": "latin", "stop_words": "language"}, "stop words for 'latin'.*danish, dutch"),
        ({"stop_words": "the"}, "'the' is not known"),
        ({"stop_words": ["the", 7]}, "stop_words holds 7"),
        ({"stop_words": [True]}, "stop_words holds True"),
        ({"language": "latin", "stem": True}, "no stemmer 'latin'; choose one of arabic, "),
        ({"stem": "snow"}, "no stemmer 'snow'; choose one of arabic, "),
        ({"language": "tamil", "lemmatize": True}, "no lemmas for 'tamil'; .*english.*stem=True"),
        ({"word_classes": "noun"}, "word_classes is 'noun'; it must hold one or more of 'noun', "),
        ({"word_classes": ()}, "one or more of"),
        ({"word_classes": ["noun", "article"]}, "article"),
        ({"language": "german", "word_classes": ["noun"]}, "known for 'english' only"),
    ],
)
def test_what_cannot_be_done_is_said(parameters, sentence):
    with pytest.raises(ParameterError, match=sentence):
        Linguistics(**parameters).fold([])


@pytest.mark.parametrize(
    ("package", "extra", "parameters"),
    [
        ("lemminflect", "english", {"word_classes": ["noun"]}),
        ("simplemma", "lemmas", {"lemmatize": True}),
    ],
)
def test_a_missing_library_names_the_extra(monkeypatch, package, extra, parameters):
    sentence = re.escape(f"need {package}, which is not installed: pip install 'thresher[{extra}]'")
    state = Linguistics(**parameters).state()
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingExtra, match=sentence):
        Linguistics(**parameters).fold(["houses"])
    with pytest.raises(ModelError, match=sentence):
        Linguistics.from_state(state)
    assert Linguistics(stem=True).fold(["houses"]) == ["hous"]


@pytest.mark.parametrize(
    "parameters",
    [{}, EVERYTHING, {"stem": "porter"}, {"language": "de", "stop_words": "language"}],
)
def test_a_state_survives_json(parameters):
    linguistics = Linguistics(**parameters)
    words = ["the", "und", "companies", "quickly", "generically", "1987"]
    state = json.loads(json.dumps(linguistics.state()))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        again = Linguistics.from_state(state)
    assert again.fold(words) == linguistics.fold(words)
    assert again.state() == state


def test_the_libraries_that_take_part_are_recorded():
    assert Linguistics(stop_words="language").state()["libraries"] == {}
    assert set(Linguistics(**EVERYTHING).state()["libraries"]) == {
        "PyStemmer",
        "simplemma",
        "lemminflect",
    }


def test_another_version_of_a_library_is_told():
    state = Linguistics(stem=True).state()
    state["libraries"]["PyStemmer"] = "0.1"
    with pytest.warns(UserWarning, match=r"made with PyStemmer 0\.1, and .* is installed"):
        Linguistics.from_state(state)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"language": "klingon"}, "klingon"),
        ({"language": None}, "'language'"),
        ({"stem": 1}, "'stem'"),
        ({"stem": "snow"}, "snow"),
        ({"lemmatize": "yes"}, "'lemmatize'"),
        ({"stop_words": "language"}, "'stop_words'"),
        ({"stop_words": [3]}, "stop_words holds 3"),
        ({"word_classes": ["article"]}, "article"),
        ({"libraries": None}, "'libraries'"),
    ],
)
def test_a_spoilt_state_is_refused(change, sentence):
    with pytest.raises(ModelError, match=sentence):
        Linguistics.from_state(Linguistics().state() | change)


def test_a_generator_of_stop_words_is_read_once():
    linguistics = Linguistics(stop_words=(word for word in ["the", "of"]))
    assert linguistics.fold(["of"]) == linguistics.fold(["the"]) == [None]
    assert linguistics.state()["stop_words"] == ["of", "the"]


def test_changed_parameters_take_effect():
    linguistics = Linguistics()
    assert linguistics.fold(["companies"]) == ["companies"]
    assert linguistics.set_params(lemmatize=True).fold(["companies"]) == ["company"]


def test_it_can_be_copied_after_use():
    """Parallel searches copy their estimators, and the stemmer within cannot be copied."""
    linguistics = Linguistics(stem=True)
    linguistics.fold(["companies"])
    assert copy.deepcopy(linguistics).fold(["companies"]) == ["compani"]


def test_libraries_are_imported_only_when_asked_for():
    code = (
        "import sys; from thresher.text.linguistics import Linguistics; "
        "Linguistics(stop_words='language').fold(['the']); "
        "assert not {'Stemmer', 'simplemma', 'lemminflect', 'sklearn'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
