"""Every script: combining marks, normal forms, scripts without spaces, and where words stand."""

import re
import sys
import unicodedata

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from naive import text as naive
from scripts import SENTENCES
from thresher import Categorizer, TextCounter
from thresher._kernels.text import EXTENDING, KIND
from thresher.report.explanation import explanation_page
from thresher.text.scripts import UNSETTLED, composed_places, traits_table
from thresher.text.tokens import CHARACTERS, PAIRS, STRETCHES, Rule, Tokenizer, character_table

# Characters of each script, marks above all, some in their other forms, in any order.
LETTERS = sorted(
    {
        letter
        for sentences in SENTENCES.values()
        for sentence in sentences
        for form in ("NFC", "NFD")
        for letter in unicodedata.normalize(form, sentence)
    }
    | set("क़\u0958豈Å\u212b\u0341\u0344\u1161\u11a8\u11ff\u3099\u09be\u0bd7\u0345 \n")
)
scripts = st.text(st.sampled_from(LETTERS), max_size=30)
near = {"exclude_categories": ["Cs"], "max_codepoint": 0x1FFFF}  # for which tables are small
anything = st.text(st.characters(**near), max_size=30)
UNSPACED = {"characters": CHARACTERS, "pairs": PAIRS, "stretches": STRETCHES}
FORMS = ("NFC", "NFD")


def form_of(form, text):
    return unicodedata.normalize(form, text)


def words(text, tokens="words", unspaced="pairs", min_length=2, lowercase=True):
    tokenizer = Tokenizer(tokens, None, min_length, lowercase, UNSPACED[unspaced])
    return [word for some in tokenizer.cut([text]) for word in some.words()]


# -- what is a word


BY_HAND = {
    "น้ำใจ": ["น้ำ", "น้ำใ", "ใ", "ใจ", "จ"],
    "ປາ ນ້ຳ": ["ປ", "ປາ", "າ", "ນ້ຳ"],
    "បាយ": ["បា", "បាយ", "យ"],
    "ထမင်း": ["ထ", "ထမ", "မ", "မင်း", "င်း"],
    "हिन्दी भाषा": ["हिन्दी", "भाषा"],
    "বাংলা ভাষা": ["বাংলা", "ভাষা"],
    "தமிழ் மொழி": ["தமிழ்", "மொழி"],
    "ශ්\u200dරී ලංකා": ["ශ්\u200dරී", "ලංකා"],
    "العَرَبِيَّةُ لُغَةٌ": ["العَرَبِيَّةُ", "لُغَةٌ"],
    "می\u200cخواهم نان": ["می\u200cخواهم", "نان"],
    "שָׁלוֹם עֲלֵיכֶם": [form_of("NFC", "שָׁלוֹם"), form_of("NFC", "עֲלֵיכֶם")],
    "Tie\u0302\u0301ng Vie\u0323\u0302t": ["tiếng", "việt"],
    "한국어 \u1112\u1161\u11ab\u1100\u1173\u11af": ["한국어", "한글"],
    "中文。字": ["中", "中文", "文", "字"],
    "カ\u3099ス ガス": ["ガ", "ガス", "ス", "ガ", "ガス", "ス"],
    "བོད་ཡིག": ["བོད", "ཡིག"],
    "我用iPhone。2024年": ["我", "我用", "用", "iphone", "2024", "年"],
    "ปี ๒๕๖๗": ["ปี", "๒๕๖๗"],
    "x\u0302y\u0301 a\u030a": ["x\u0302ý"],
    "👍🏽 ok 👨‍👩‍👧": ["ok"],
    "\u0301ab \u200dcd": ["ab", "cd"],
}


@pytest.mark.parametrize("text", BY_HAND)
def test_words_by_hand(text):
    assert words(text) == BY_HAND[text]
    assert words(form_of("NFD", text)) == words(form_of("NFC", text)) == BY_HAND[text]


@pytest.mark.parametrize("script", SENTENCES)
@pytest.mark.parametrize("tokens", ["words", "book", "whitespace"])
def test_each_script_is_cut_as_by_its_twin(script, tokens):
    for text in (*SENTENCES[script], "  ".join(SENTENCES[script]).upper()):
        for unspaced in UNSPACED:
            expected = naive.tokenize(text, tokens, unspaced=unspaced)
            assert expected or script == "emoji"
            for form in FORMS:
                assert words(form_of(form, text), tokens, unspaced) == expected


@pytest.mark.parametrize("unspaced", UNSPACED)
@given(text=st.one_of(scripts, anything), min_length=st.integers(1, 3), lowercase=st.booleans())
def test_any_text_is_cut_as_by_its_twin(unspaced, text, min_length, lowercase):
    options = {"unspaced": unspaced, "min_length": min_length, "lowercase": lowercase}
    for tokens in ("words", "book", "whitespace"):
        assert words(text, tokens, **options) == naive.tokenize(text, tokens, **options)


@given(st.text(st.characters(max_codepoint=0x7F)))
def test_plain_english_is_cut_as_ever(text):
    expected = re.findall(r"\w\w+", text.lower())
    old = Tokenizer("words", None, 2, True, None)
    assert words(text) == expected
    assert [word for some in old.cut([text]) for word in some.words()] == expected


@given(st.one_of(scripts, anything))
def test_a_pattern_is_left_as_it_is(text):
    tokenizer = Tokenizer("words", r"\w+", 1, lowercase=False)
    (tokens,) = tokenizer.cut([text])
    assert tokens.words() == re.findall(r"\w+", text)


def test_the_class_of_every_character():
    kinds = character_table(Rule("words", CHARACTERS), False, sys.maxunicode + 1) >> KIND
    for number in [*range(0x21000), *range(0x21000, 0x110000, 61)]:
        letter = chr(number)
        if 0xD800 <= number < 0xE000:
            continue
        kind = "extends" if naive.extends(letter) else naive.kind(letter, "words")
        expected = {None: 0, "word": 1, "unspaced": CHARACTERS, "extends": int(EXTENDING)}[kind]
        assert int(kinds[number]) == expected, hex(number)


def test_pairs_are_not_counted_twice():
    text = "中文 abc 文"
    alone, with_runs = TextCounter(), TextCounter(ngram_range=(1, 2))
    alone.count([text])
    with_runs.count([text])
    assert alone.feature_names() == ["中", "中文", "文", "abc"]
    assert with_runs.feature_names() == ["中", "文", "中 文", "abc", "文 abc", "abc 文"]
    assert with_runs.blocks.tolist() == [0, 0, 1, 0, 1, 1]


def test_parts_of_words_are_cut_from_whole_stretches():
    counter = TextCounter(ngram_range=None, char_ngram_range=(2, 2), char_ngram_tokens="words")
    counter.count(["ab中文字"])
    assert counter.feature_names() == [" a", "ab", "b ", " 中", "中文", "文字", "字 "]


def test_many_pairs_find_room():
    text = "".join(map(chr, range(0x4E00, 0x9F00))) + "𠀀𠀁"
    counter = TextCounter()
    assert counter.count([text]).lengths.tolist() == [2 * len(text) - 1]
    assert counter.feature_names() == naive.tokenize(text)


# -- normal forms


def test_whatever_composing_may_change_is_noted():
    seconds = set()
    table = traits_table()
    for number in range(sys.maxunicode + 1):
        parts = unicodedata.decomposition(chr(number)).split()
        if len(parts) == 2 and not parts[0].startswith("<"):
            seconds.add(int(parts[1], 16))
    seconds |= {*range(0x1161, 0x1176), *range(0x11A8, 0x11C3)}
    for number in range(0x80, sys.maxunicode + 1):
        letter = chr(number)
        changes = number in seconds or unicodedata.combining(letter)
        if changes or not unicodedata.is_normalized("NFC", letter):
            units = np.frombuffer(letter.encode("utf-16-le"), "<u2")
            assert table[units].max() & UNSETTLED, hex(number)
            assert number > 0xFF  # what has one byte is composed


COUNTERS = [
    {},
    {"tokens": "book", "ngram_range": (1, 2)},
    {"ngram_range": None, "char_ngram_range": (1, 3)},
    {"char_ngram_range": (2, 2), "char_ngram_tokens": "words", "fields": "first-line"},
    {"fields": "lead"},
    {"hashing_bits": 12, "lowercase": False},
]


@pytest.mark.parametrize("options", COUNTERS, ids=str)
@given(texts=st.lists(st.one_of(scripts, anything), max_size=3))
def test_equal_texts_in_different_forms_are_equal(options, texts):
    composed, decomposed = TextCounter(**options), TextCounter(**options)
    rows = composed.count([form_of("NFC", text) for text in texts])
    others = decomposed.count([form_of("NFD", text) for text in texts])
    for one, other in zip(rows, others, strict=True):
        assert np.array_equal(one, other)
    assert composed.feature_names() == decomposed.feature_names()


@given(st.one_of(scripts, anything))
def test_places_of_composed_characters(text):
    composed, starts, ends = composed_places(text)
    assert composed == form_of("NFC", text)
    assert len(starts) == len(ends) == len(composed)
    assert np.all(starts < ends) and np.all(np.diff(starts) >= 0) and np.all(np.diff(ends) >= 0)
    for letter, start, end in zip(composed, starts, ends, strict=True):
        assert letter in form_of("NFC", text[start:end])


# -- where words stand


@pytest.mark.parametrize("options", COUNTERS, ids=str)
@pytest.mark.parametrize("script", SENTENCES)
def test_places_in_each_script(script, options):
    text = "  ".join(SENTENCES[script])
    counter = TextCounter(**options)
    counter.count([text])
    spans = [
        [(form_of("NFC", one[start:end]), column) for start, end, column in counter.spans(one)]
        for one in (form_of(form, text) for form in FORMS)
    ]
    if "char_ngram_range" in options:  # parts may be of half a letter
        spans = [[column for _, column in some] for some in spans]
    assert spans[0] == spans[1]


@pytest.mark.parametrize("fields", ["first-line", "lead"])
@given(text=st.one_of(scripts, anything))
def test_pairs_belong_to_their_characters(fields, text):
    counter = TextCounter(fields=fields)
    counter.count([text])
    places = counter.places(text)
    pieces, entries = places.belonging()
    names = counter.feature_names()
    total = dict.fromkeys(range(counter.n_features), 0.0)
    for entry in entries:
        total[entry.column] += entry.weight
        name = names[entry.column].removeprefix("first-line:").removeprefix("lead:")
        assert pieces[entry.piece].name in name
    counts = counter.count([text], grow=False)
    assert list(total) == counts.indices.tolist()
    np.testing.assert_allclose(list(total.values()), counts.values)


class NoSingles:
    """Linguistics that drop what is one character, which leaves pairs without their characters."""

    def fold(self, words):
        return [None if len(word) == 1 else word for word in words]


def test_pairs_of_characters_that_are_dropped():
    counter = TextCounter(linguistics=NoSingles())
    counter.count(["中文 ab"])
    assert counter.feature_names() == ["中文", "ab"]
    pieces, entries = counter.places("中文 ab").belonging()
    assert [(pieces[entry.piece].name, entry.weight) for entry in entries] == [
        ("ab", 1),
        ("中文", 1),
    ]


@pytest.fixture(scope="module", params=["fast", "runs"])
def model(request):
    pairs = list(SENTENCES.values())
    texts, labels = [text for pair in pairs for text in pair], ["food", "weather"] * len(pairs)
    options = {
        "fast": {"preset": "fast"},
        "runs": {"ngram_range": (1, 2), "char_ngram_range": None},
    }
    return Categorizer(**options[request.param]).fit(texts, labels)


@pytest.mark.parametrize("script", SENTENCES)
def test_an_explanation_marks_each_script(model, script):
    text = form_of("NFD", SENTENCES[script][1])
    assert np.array_equal(model.scores([text]), model.scores([form_of("NFC", text)]))
    explanation = model.explain(text, "weather")
    expected = naive.tokenize(text, lowercase=False, unspaced="characters")
    marked = [form_of("NFC", text[start:end]) for start, end, _ in explanation.spans]
    assert marked == expected
    total = sum(share for _, _, share in explanation.spans)
    constant = [one.share for one in explanation.shares if one.feature == "(always on)"]
    assert total + sum(constant) == pytest.approx(explanation.total, abs=1e-6)
    page = explanation_page(explanation)
    highlighted = re.findall(r'<span title="[^"]*" style="[^"]*">([^<]*)</span>', page)
    assert [form_of("NFC", one) for one in highlighted] == expected


@given(st.text(st.sampled_from("a中𠀀𠀁丽\U000e0100\U0001d15e \u0301"), max_size=9))
def test_characters_far_out(text):
    for form in FORMS:
        assert words(form_of(form, text)) == naive.tokenize(text)
    counter = TextCounter()
    counter.count([text])
    for start, end, column in counter.spans(text):
        assert form_of("NFC", text[start:end]) == counter.feature_names()[column]


def test_half_a_pair_of_surrogates_with_a_mark():
    assert words("\ud800\u0301ab\udc00 中\ud800文") == ["ab", "中", "文"]
