"""Seeing concepts: the figures equal those by hand, the page works in a real browser."""

import json
import re
import sys
from html.parser import HTMLParser

import numpy as np
import pytest
from click.testing import CliRunner

from thresher import Categorizer
from thresher.cli.main import app
from thresher.errors import ModelError, ParameterError, ThresherWarning
from thresher.report.concept_view import ConceptView
from thresher.report.concepts import _spread, concept_page, write_concept_page

WORDS = {
    "grain": ["wheat", "corn", "harvest", "bushel", "acreage", "silo", "farmer"],
    "energy": ["oil", "crude", "barrel", "refinery", "opec", "drilling", "pipeline"],
}
RANDOM = np.random.default_rng(0)
TEXTS = [" ".join(RANDOM.choice(WORDS[item], 12)) for item in ["grain"] * 4 + ["energy"] * 4] * 6
TEXTS = [" ".join(RANDOM.permutation(text.split())[:9]) for text in TEXTS]
LABELS = (["grain"] * 4 + ["energy"] * 4) * 6
HOSTILE = ["</script><script>broken=1</script>", '"><img src=x onerror=broken=1>', "‮evil & <b>"]


def fitted(learner="linear-svm", texts=TEXTS, labels=LABELS, **options):
    options = {"concepts": (2, 4), "random_state": 0} | options
    return Categorizer(learner, **options).fit(texts, labels)


@pytest.fixture(scope="module", params=["linear-svm", "stump-boosting"])
def view(request):
    return ConceptView(fitted(request.param))


def run(*arguments, status=0, **options):
    result = CliRunner().invoke(app, list(map(str, arguments)), **options)
    assert result.exit_code == status, result.output
    return result.output


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "news.thresher"
    fitted("stump-boosting").save(path)
    return path


# The figures -------------------------------------------------------------------------------------


def test_concepts_come_by_share_and_have_their_words(view):
    first, second = view.models()
    assert sorted(first) == [0, 1] and sorted(second) == [2, 3, 4, 5]
    for numbers in (first, second):
        assert (np.diff(view.shares[numbers]) <= 0).all()
    words = [{word for word, _ in view.concept(z, 7).words} for z in (0, 1)]
    assert sorted(words, key=sorted) == sorted(map(set, WORDS.values()), key=sorted)
    concept = view.concept(3, 5)
    columns, chances = view.concepts.words(3, 5)
    assert concept.size == 4 and concept.share == view.shares[3]
    assert concept.words == list(zip(view.counter.names(columns), chances.tolist(), strict=True))
    assert len(view.concept(0, 50).words) == 7  # not those that it hardly has


def test_the_concepts_of_a_document_are_brought_by_its_words(view):
    concepts, is_known = view.of_document("wheat wheat silo opec nonsense", top=9, least=0)
    assert is_known
    for size in (2, 4):
        of_model = [concept for concept in concepts if concept.size == size]
        assert sum(item.share for item in of_model) == pytest.approx(1, abs=1e-5)
        assert [item.share for item in of_model] == sorted(
            (item.share for item in of_model), reverse=True
        )
    best = concepts[0]
    assert [word for word, _ in best.words] == ["wheat", "silo"]
    assert sum(item for _, item in best.words) == pytest.approx(1, abs=0.02)
    unknown, is_known = view.of_document("nonsense", least=0)
    assert not is_known and not any(item.words for item in unknown)
    np.testing.assert_allclose(
        sorted(item.share for item in unknown), np.sort(view.shares), rtol=1e-5
    )


def test_the_concepts_of_a_word_follow_from_bayes(view):
    column = view.counter.names(view.concepts.columns_).index("opec")
    for size, place in ((2, slice(0, 2)), (4, slice(2, 6))):
        model = view.sizes.index(size)
        joint = view.concepts.word_probabilities_[model][column] * view.shares[place]
        by_hand = np.sort(joint / joint.sum())[::-1]
        of_model = [item for item in view.of_word("OPEC", least=0) if item.size == size]
        np.testing.assert_allclose(
            [item.share for item in of_model], by_hand[by_hand > 1e-12], rtol=1e-5
        )
    assert all(word != "opec" for item in view.of_word("opec") for word, _ in item.words)
    assert view.of_word("opec", top=3)[0].words[0][0] in WORDS["energy"]


@pytest.mark.parametrize(
    ("word", "sentence"),
    [
        ("whaet", "Did you mean 'wheat'?"),
        ("zzzzzz", "in too few or too many of their training documents, or in none.$"),
        ("crude oil", "more than one word to the model: crude, oil. Give a single word."),
    ],
)
def test_a_word_that_concepts_do_not_know_gets_a_sentence(view, word, sentence):
    with pytest.raises(ParameterError, match=sentence):
        view.of_word(word)


def test_weights_of_concepts_are_those_of_the_learner():
    view = ConceptView(
        fitted(labels=[[label] for label in LABELS], block_weights={"concepts": 2.0})
    )
    weights = view.model.learner.linear_weights()[:6] * 2 / np.sqrt(len(view.sizes))
    np.testing.assert_allclose(view.influence(), weights, rtol=1e-6)
    influences = view.of_category("grain")
    assert view.weight_on_concepts("grain") is None
    number = view.categorizer.categories_.index("grain")
    for z, text, weight in influences:
        assert weight == pytest.approx(weights[z, number]) and text == view.features.concept_name(z)
    sizes = [abs(influence.weight) for influence in influences]
    assert sizes == sorted(sizes, reverse=True)


def test_rules_about_concepts_are_those_with_thresholds():
    categorizer = fitted("stump-boosting")
    view = ConceptView(categorizer)
    rules = dict(categorizer.rules("grain"))
    influences = view.of_category("grain")
    assert {influence.text: influence.weight for influence in influences} == {
        text: share for text, share in rules.items() if "concept" in text
    }
    number = categorizer.categories_.index("grain")
    for z in range(len(view)):
        total = sum(influence.weight for influence in influences if influence.number == z)
        assert view.influence()[z, number] == pytest.approx(total)
    expected_share = sum(abs(influence.weight) for influence in influences) / sum(
        map(abs, rules.values())
    )
    assert view.weight_on_concepts("grain") == pytest.approx(expected_share, rel=1e-5)


def test_a_learner_without_weights_and_rules_has_no_influence():
    from sklearn.neighbors import KNeighborsClassifier

    view = ConceptView(fitted(KNeighborsClassifier(3)))
    assert view.influence() is None and view.of_category("grain") == []
    page = concept_page(view)
    assert 'id="categories"' not in page and "Counts for" not in page and 'id="z0"' in page


def test_a_text_of_a_concept_gets_the_category_it_is_about(view):
    names = view.categorizer.categories_
    for z, category in enumerate(view.categories_of(range(2))):
        is_grain = view.concept(z, 1).words[0][0] in WORDS["grain"]
        assert names[category] == ("grain" if is_grain else "energy")


def test_examples_are_the_documents_that_belong_most(view):
    texts = ["oil", "wheat corn", "crude oil barrel opec", "", "nothing known"] * 3
    examples = view.examples(texts, top=2)
    for z in range(2):
        is_grain = view.concept(z, 1).words[0][0] in WORDS["grain"]
        longest = "wheat corn" if is_grain else "crude oil barrel opec"
        assert [example.beginning for example in examples[z]] == [longest] * 2
        assert examples[z][0].share > 0.9 and examples[z][0].location.startswith("document ")
    together = view.examples(texts[:7], top=3)
    assert len(together) == 6 and all(len(item) <= 3 for item in together)


def test_the_best_documents_are_the_same_however_they_are_cut_into_batches(view, tmp_path):
    file = tmp_path / "texts.jsonl"
    file.write_text("".join(json.dumps({"text": text}) + "\n" for text in TEXTS))
    in_one = [[item.beginning for item in concept] for concept in view.examples(TEXTS)]
    memberships = view.concepts.memberships(view.counter.count(TEXTS))
    n_known = [len(set(text.split())) for text in TEXTS]
    for z, beginnings in enumerate(in_one):
        order = sorted(
            range(len(TEXTS)), key=lambda i: (-round(float(memberships[i, z]), 2), -n_known[i], i)
        )
        assert beginnings == [TEXTS[i] for i in order[:3] if memberships[i, z] >= 0.01]
    assert [[item.beginning for item in concept] for concept in view.examples(file)] == in_one


@pytest.mark.parametrize("size", [1, 2, 3])
def test_positions_are_the_scaling_of_hellinger_distances(size):
    view = ConceptView(fitted(concepts=size))
    plane = view.positions(view.models()[0])
    assert plane.shape == (size, 2) and np.isfinite(plane).all()
    roots = np.sqrt(view.concepts.word_probabilities_[0].T[view.models()[0]].astype(float))
    distances = np.linalg.norm(roots[:, None] - roots, axis=2)
    drawn = np.linalg.norm(plane[:, None] - plane, axis=2)
    np.testing.assert_allclose(drawn, distances, atol=1e-3)  # three points fit into the plane


@pytest.mark.parametrize("n", [1, 2, 50, 400])
def test_circles_on_the_map_stay_inside_and_apart(n):
    random = np.random.default_rng(n)
    plane = random.normal(size=(n, 2)) ** 3
    plane[: n // 4] = 0  # concepts that are all alike
    radii = np.full(n, np.sqrt(0.16 * 640 * 520 / np.pi / n))
    places = _spread(plane, radii)
    assert (places >= radii[:, None]).all() and (places <= [640, 520] - radii[:, None]).all()
    distances = np.linalg.norm(places[:, None] - places, axis=2)
    np.fill_diagonal(distances, np.inf)
    assert (distances.min(1) > 1.5 * radii).mean() > 0.95


def test_a_model_without_concepts_says_what_to_do(tmp_path):
    categorizer = Categorizer().fit(TEXTS, LABELS)
    with pytest.raises(ModelError, match="no concepts; train one that has, with concepts=100"):
        ConceptView(categorizer)
    categorizer.save(tmp_path / "plain")
    assert "--concepts 100" in run("concepts", tmp_path / "plain", status=2)


def test_hashed_words_have_no_names_but_concepts():
    view = ConceptView(fitted(hashing_bits=10))
    assert view.categories_of([0, 1]) == [None, None]
    assert view.of_word("opec")[0].words[0][0].startswith("#")
    assert 'id="z0"' in concept_page(view)


# The command line --------------------------------------------------------------------------------


def test_the_concepts_of_a_model_are_listed(model):
    printed = run("concepts", model, "--top", 3)
    assert "of 2 concepts" in printed and "of 4 concepts" in printed
    shares = [float(share) for share in re.findall(r"^ +\d+ +(0\.\d+)", printed, re.M)]
    assert len(shares) == 6 and sum(shares) == pytest.approx(2, abs=0.01)
    data = json.loads(run("concepts", model, "--json"))["concepts"]
    assert [set(item) for item in data] == [{"number", "size", "share", "words"}] * 6


def test_many_concepts_are_listed_when_all_are_asked_for(tmp_path):
    with pytest.warns(ThresherWarning, match="lower n_concepts"):
        fitted(concepts=30).save(tmp_path / "many")
    printed = run("concepts", tmp_path / "many")
    assert "10 more have less; --all shows every one." in printed
    everything = run("concepts", tmp_path / "many", "--all")
    assert "more have less" not in everything
    assert len(everything.splitlines()) > len(printed.splitlines())


def test_a_document_is_given_as_text_as_file_and_on_standard_input(model, tmp_path):
    text = "opec crude wheat"
    (tmp_path / "news.txt").write_text(text)
    printed = run("concepts", model, "--document", text)
    assert "P(z|d)" in printed and re.search(r"(opec|crude) \d+%", printed)
    assert run("concepts", model, "--document", tmp_path / "news.txt") == printed
    assert run("concepts", model, "--document", "-", input=text) == printed
    assert "gets the average shares P(z)" in run("concepts", model, "--document", "nonsense " * 200)


def test_the_concepts_of_a_word_and_of_a_category(model):
    assert "P(z|w)" in run("concepts", model, "--word", "opec")
    assert "Did you mean 'opec'" in run("concepts", model, "--word", "opecc", status=2)
    printed = run("concepts", model, "--category", "grain")
    assert re.search(r"grain: \d+% of the weight is on concepts.", printed)
    assert re.search(r"^[+-][01]\.\d{3} +(has )?concept \d \(", printed, re.M)
    data = json.loads(run("concepts", model, "--category", "grain", "--json"))
    assert 0 < data["weight_on_concepts"] <= 1 and data["concepts"][0]["text"] in printed
    assert "has no category 'grian'" in run("concepts", model, "--category", "grian", status=2)


def test_what_does_not_fit_together_is_refused(model, tmp_path):
    printed = run("concepts", model, "--word", "oil", "--document", "oil", status=2)
    assert "--document and --word are given; ask for one at a time." in printed
    assert "--html FILE" in run("concepts", model, "--documents", "x.csv", status=2)
    nowhere = tmp_path / "nowhere" / "page.html"
    assert "does not exist" in run("concepts", model, "--html", nowhere, status=2)


def test_a_boosted_category_is_printed_as_its_rules(model):
    printed = run("inspect", model, "--category", "grain", "--rules")
    rules = Categorizer.load(model).rules("grain")
    assert printed.splitlines() == [
        f"grain: {len(rules)} rule{'s' if len(rules) > 1 else ''}",
        *(f"  {rule}: {share:+.3f}" for rule, share in rules),
    ]
    data = json.loads(run("inspect", model, "--category", "grain", "--rules", "--json"))
    assert data == {"rules": {"grain": [list(rule) for rule in rules]}}
    shown = run("inspect", model)
    assert "rule" in shown and "words for it" not in shown and rules[0][0] in shown


def test_a_model_without_rules_says_so(tmp_path):
    fitted().save(tmp_path / "linear")
    assert "has weights, not rules" in run("inspect", tmp_path / "linear", "--rules", status=2)


def test_an_explanation_shows_rules_and_the_concepts_of_words(model, tmp_path):
    printed = run("explain", model, "wheat silo", "--html", tmp_path / "why.html")
    assert re.search(r"^ *share +rule", printed, re.M) and "strength" not in printed
    page = (tmp_path / "why.html").read_text()
    assert '<th scope="col">rule</th><th scope="col">share</th>' in page and "<details>" not in page
    fitted(texts=TEXTS, concepts=2, block_weights={"concepts": 5.0}).save(tmp_path / "linear")
    printed = run("explain", tmp_path / "linear", "wheat silo", "--html", tmp_path / "why.html")
    assert re.search(r"share +own +concepts +word", printed)
    assert re.search(r"wheat +as concept [01] \(", printed)
    assert "as concept" in (tmp_path / "why.html").read_text()


# The page ----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def page(model, tmp_path_factory):
    path = tmp_path_factory.mktemp("page") / "concepts.html"
    write_concept_page(path, ConceptView(Categorizer.load(model)), TEXTS, title="News")
    return path


@pytest.fixture(scope="module")
def hostile_page(tmp_path_factory):
    """The page of a model whose categories, words and texts try to break it."""
    path = tmp_path_factory.mktemp("page") / "hostile.html"
    texts = [f"{HOSTILE[i % 3]} {text}" for i, text in enumerate(TEXTS)]
    labels = [HOSTILE[0] if label == "grain" else HOSTILE[1] for label in LABELS]
    categorizer = fitted(texts=texts, labels=labels, tokens="whitespace")
    write_concept_page(path, ConceptView(categorizer), texts, title=HOSTILE[0])
    return path


class Tags(HTMLParser):
    """Collects the tags of a page."""

    def __init__(self):
        super().__init__()
        self.tags, self.names = [], []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.names += [key for key, _ in attrs]


def test_hostile_names_and_texts_stay_text(hostile_page):
    tags, text = Tags(), hostile_page.read_text(encoding="utf-8")
    tags.feed(text)
    assert tags.tags.count("script") == 2 and "img" not in tags.tags
    assert not [key for key in tags.names if key.startswith("on") or key == "src"]
    assert "&lt;/script&gt;" in text


def test_the_page_needs_nothing_else_and_equal_data_give_equal_pages(model, page, tmp_path):
    text = page.read_text(encoding="utf-8")
    assert not re.search(r"https?:|url\(|@import|<link|<iframe", text)
    assert "default-src 'none'" in text
    again = tmp_path / "again.html"
    write_concept_page(again, ConceptView(Categorizer.load(model)), TEXTS, title="News")
    assert again.read_bytes() == page.read_bytes()
    assert [file.name for file in tmp_path.iterdir()] == ["again.html"]


def test_many_concepts_have_cards_up_to_a_number(monkeypatch):
    monkeypatch.setattr(sys.modules["thresher.report.concepts"], "MOST_CARDS", 6)
    monkeypatch.setattr(sys.modules["thresher.report.concepts"], "FEWEST_CARDS_OF_MODEL", 1)
    view = ConceptView(fitted(concepts=(5, 5)))
    text = concept_page(view)
    assert text.count('class="card"') == 6 and "4 smaller ones are not shown." in text
    assert text.count("<circle ") == 6


def test_the_command_line_writes_the_page(model, tmp_path):
    (tmp_path / "texts.txt").write_text("\n".join(TEXTS))
    html, data = tmp_path / "page.html", tmp_path / "texts.txt"
    printed = run("concepts", model, "--html", html, "--documents", data)
    assert f"The page is in {html}." in printed.replace("\n", " ")
    text = html.read_text(encoding="utf-8")
    assert "<h1>news.<wbr>thresher</h1>" in text and "Documents; P(" in text


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("which", ["page", "hostile_page"])
def test_the_page_fits_its_window(browser, request, which, width, dark):
    path = request.getfixturevalue(which)
    browser.open(path, width=width, dark=dark)
    size = "[document.documentElement.scrollWidth, document.documentElement.clientWidth]"
    wide, room = browser.evaluate(size)
    assert wide <= room == width
    outside = (
        "[...document.querySelectorAll('main *, header *')].filter(e => "
        f"e.getBoundingClientRect().right > {width} + 0.5).map(e => e.outerHTML.slice(0, 80))"
    )
    assert browser.evaluate(outside) == []
    assert browser.evaluate("window.broken") is None
    assert browser.errors == [] and browser.requests == [path.as_uri()]


CURRENT = "document.querySelector('.card.current').id"


def test_a_click_on_a_concept_shows_its_card(browser, page):
    browser.open(page)
    first = browser.evaluate(CURRENT)
    other = "z0" if first == "z1" else "z1"
    browser.click(f"svg a[href='#{other}'] circle")
    browser.until(f"{CURRENT} === {other!r}")
    marked = "[...document.querySelectorAll('svg a.current')].map(a => a.getAttribute('href'))"
    assert browser.evaluate(marked) == [f"#{other}"]
    assert browser.evaluate("document.querySelectorAll('svg > text').length") == 1
    browser.evaluate("document.querySelector('svg a').focus()")
    browser.press("Enter")
    browser.until(f"'#' + {CURRENT} === document.querySelector('svg a').getAttribute('href')")


def test_a_concept_of_another_model_opens_its_map(browser, page):
    browser.open(page)
    is_open = "[...document.querySelectorAll('details[name=map]')].map(one => one.open)"
    assert browser.evaluate(is_open) == [True, False]
    browser.click("#list a[href='#z4']")
    browser.until(f"{CURRENT} === 'z4'")
    assert browser.evaluate(is_open) == [False, True]


def test_the_list_is_sorted_and_filtered(browser, page):
    browser.open(page)
    rows = "[...document.querySelectorAll('#list tbody tr')].filter(row => !row.hidden)"
    names = f"{rows}.map(row => row.cells[0].textContent)"
    assert len(browser.evaluate(names)) == 6
    browser.click("#list th:last-child button")  # by category: they stand together then
    owners = browser.evaluate(f"{rows}.map(row => row.cells[3].textContent)")
    assert owners == sorted(owners, reverse=True) and len(set(owners)) == 2
    browser.evaluate("document.getElementById('find').focus()")
    browser.type("opec")
    assert 0 < len(browser.evaluate(names)) < 6
    assert all("opec" in item for item in browser.evaluate(names))
    shown = browser.evaluate("document.getElementById('matches').textContent")
    assert re.fullmatch(r"\d of 6 concepts", shown)


def test_the_page_can_be_read_without_script(browser, page):
    browser.open(page, script=False)
    shown = browser.text()
    for words in ("Map", "its colour the category", "Categories", "grain", "energy"):
        assert words in shown
    assert "← larger" not in shown
