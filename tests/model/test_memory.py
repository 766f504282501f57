"""What a model remembers of its documents, and how it learns on by that."""

import copy
import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from thresher import Categorizer, DocumentError, Examples, ModelError, ParameterError
from thresher.learners import LEARNERS
from thresher.learners.capabilities import Online
from thresher.model.memory import Memory, sampled
from thresher.rows import Labels, Rows

KINDS = {"grain": "wheat corn", "energy": "oil crude", "sea": "ship port"}
TEXTS = [f"{words} w{i} v{i % 5}" for words in KINDS.values() for i in range(12)]
LABELS = [name for name in KINDS for _ in range(12)]
LATER = ["unheard words of wheat", "new pipes for oil", "a metal called tin"]
LATER_LABELS = ["grain", "energy", "metals"]
ONLINE = sorted(name for name, learner in LEARNERS.items() if issubclass(learner, Online))


def fitted(**options):
    return Categorizer(**options).fit(TEXTS, LABELS)


def saved(model, folder, **options):
    model.save(folder / "model", **options)
    return (folder / "model").read_bytes()


def rows_of(lists, n_columns=50):
    """Rows of documents that have each of some features once."""
    indptr = np.cumsum([0, *map(len, lists)])
    indices = np.array([f for one in lists for f in one], np.int32)
    return Rows(indptr, indices, np.ones(len(indices), np.float32), n_columns)


def memory_of(labels, capacity=10, n_categories=3, seed=0, pieces=1, **more):
    """A memory of documents, of which the n-th has the feature n."""
    memory = Memory(capacity, seed)
    for part in np.array_split(np.arange(len(labels)), pieces):
        some = Labels.from_lists([labels[i] for i in part], n_categories)
        memory = memory.with_more(rows_of([[int(i)] for i in part]), some, part, **more)
    return memory


def content(memory):
    """All that a memory holds, as plain values."""
    header, tensors = memory.state()
    return header, {
        name: (one.dtype.str, one.shape, one.tobytes()) for name, one in tensors.items()
    }


# ---- which documents ----------------------------------------------------------------------------


def test_documents_are_spread_over_the_categories():
    memory = memory_of([[0]] * 40 + [[1]] * 3 + [[]] * 5, capacity=12)
    assert np.bincount(memory.slot_categories + 1, minlength=4).tolist() == [4, 5, 3, 0]
    assert memory.seen.tolist() == [5, 40, 3, 0]
    # Each stands for as many as there were, of those that are kept for the same.
    assert memory.weights()[memory.slot_categories == 0].tolist() == [8.0] * 5
    assert memory.weights()[memory.slot_categories == 1].tolist() == [1.0] * 3


def test_a_document_may_take_a_slot_of_each_of_its_labels():
    memory = memory_of([[0], [0, 1], [], [1, 0]])
    assert memory.slot_documents.tolist() == [0, 1, 1, 2, 3, 3]
    assert memory.slot_categories.tolist() == [0, 0, 1, -1, 1, 0]
    # One that is rare keeps its documents, and they stand for no more than themselves.
    memory = memory_of([[0, 1]] + [[0]] * 60, capacity=7)
    assert 0 in memory.numbers.tolist() and memory.seen.tolist() == [0, 61, 1, 0]
    assert memory.weights()[memory.numbers == 0].tolist() == [1.0]


LABEL_LISTS = st.lists(
    st.lists(st.integers(0, 2), max_size=3, unique=True), min_size=1, max_size=40
)


@given(LABEL_LISTS, st.integers(1, 12), st.integers(1, 5))
def test_the_memory_is_bounded_and_spread_over_the_categories(labels, capacity, pieces):
    memory = memory_of(labels, capacity, pieces=pieces)
    n_slots = sum(max(1, len(of_document)) for of_document in labels)
    assert len(memory) == len(memory.numbers) <= len(memory.slot_documents)
    assert min(capacity, n_slots) <= len(memory.slot_documents) <= capacity + 2
    assert len(memory) <= capacity
    assert memory.seen.sum() == n_slots
    for number, document in zip(memory.numbers, memory.documents, strict=True):
        assert document.indices.tolist() == [number]
        assert document.labels.tolist() == labels[number]
    for i, category in zip(memory.slot_documents, memory.slot_categories, strict=True):
        of_document = labels[memory.numbers[i]]
        assert category in of_document if of_document else category == -1
    # No category has two slots more than another that has given one up.
    taken = np.bincount(memory.slot_categories + 1, minlength=4)
    full = taken[taken < memory.seen]
    assert not len(full) or taken.max() <= full.min() + 1


@given(LABEL_LISTS, st.integers(0, 12), st.integers(1, 5), st.integers(0, 3), st.data())
def test_merging_shards_in_order_equals_one_go(labels, capacity, n_shards, seed, data):
    """Whatever the shards are, and in whatever groups of neighbours they are merged."""
    whole = memory_of(labels, capacity, seed=seed)
    shards = []
    for numbers in np.array_split(np.arange(len(labels)), n_shards):
        some = Labels.from_lists([labels[i] for i in numbers], 3)
        shards.append(
            Memory(capacity, seed).with_more(rows_of([[i] for i in numbers]), some, numbers)
        )
    while len(shards) > 1:
        i = data.draw(st.integers(0, len(shards) - 2))
        shards[i : i + 2] = [shards[i].merge(shards[i + 1])]
    assert content(shards[0]) == content(whole)

    # So does a sample of all, and of the shards.
    def sample(numbers):
        examples = Examples.of(
            rows_of([[i] for i in numbers]), Labels.from_lists([labels[i] for i in numbers], 3)
        )
        return sampled(examples, capacity, seed, numbers[0])

    assert content(sample(range(len(labels)))) == content(whole) or not capacity
    cut = data.draw(st.integers(1, len(labels)))
    if cut < len(labels):
        halves = sample(range(cut)), sample(range(cut, len(labels)))
        assert content(halves[0].merge(halves[1])) == content(sample(range(len(labels))))


def test_shards_with_other_numbers_of_categories_and_columns_are_merged():
    """As of shards that have met words and labels in another order."""
    lists, labels = [[0, 1], [2], [1, 2], [0]], [[0], [1], [1, 2], [2]]
    whole = Memory(5, 0).with_more(rows_of(lists), Labels.from_lists(labels, 3), np.arange(4))
    first = Memory(5, 0).with_more(
        rows_of(lists[:2]), Labels.from_lists(labels[:2], 2), np.arange(2)
    )
    # The second shard knows the columns 2, 1, 0 and the categories 2, 1 by other numbers.
    second = Memory(5, 0).with_more(
        rows_of([[0, 1], [2]]), Labels.from_lists([[1, 0], [0]], 2), np.array([2, 3])
    )
    merged = first.merge(second, categories=np.array([2, 1]), columns=np.array([2, 1, 0]))
    assert merged.numbers.tolist() == whole.numbers.tolist()
    assert merged.seen.tolist() == whole.seen.tolist()
    for one, other in zip(merged.documents, whole.documents, strict=True):
        assert one.counts == other.counts and set(one.labels) == set(other.labels)
    with pytest.raises(ModelError, match="different capacities"):
        first.merge(Memory(6, 0))


def test_a_file_of_an_earlier_version_has_one_slot_for_each_document():
    header, tensors = memory_of([[0, 1], [1, 2], [2]]).state()
    del tensors["slot_indptr"], tensors["slot_categories"]
    old = Memory.from_state(header, tensors, 50, 3)
    assert old.slot_documents.tolist() == [0, 1, 2] and old.slot_categories.tolist() == [0, 1, 2]
    assert content(old)[1].keys() == tensors.keys()


def test_which_documents_go_is_decided_by_the_seed():
    memories = [memory_of([[0]] * 40, capacity=5, seed=seed) for seed in (0, 0, 1)]
    assert memories[0].numbers.tolist() == memories[1].numbers.tolist()
    assert memories[0].numbers.tolist() != memories[2].numbers.tolist()
    # They are no longer the first ones, or the last.
    assert 5 < memories[0].numbers.mean() < 35
    # Those with the lowest hashes, whether all are seen at once or one by one.
    examples = Examples.of(rows_of([[i] for i in range(40)]), Labels.from_lists([[0]] * 40, 1))
    assert sampled(examples, 5, seed=1).numbers.tolist() == memories[2].numbers.tolist()


def test_a_sample_of_all_is_spread_alike():
    labels = [[0]] * 90 + [[1]] * 7 + [[0, 2]] * 2 + [[]]
    examples = Examples.of(rows_of([[i % 50] for i in range(100)]), Labels.from_lists(labels, 3))
    memory = sampled(examples, 20, seed=3)
    assert np.bincount(memory.slot_categories + 1).tolist() == [1, 10, 7, 2]
    assert memory.seen.tolist() == [1, 92, 7, 2] and (np.diff(memory.numbers) > 0).all()
    assert len(sampled(examples, 1000, seed=3)) == 100


def test_nothing_is_changed_in_place():
    memory = memory_of([[0], [1]], contributions=np.ones((2, 3), np.float32))
    before = content(memory)
    memory.with_more(rows_of([[5]]), Labels.from_lists([[2]], 3), np.array([2]))
    memory.with_more_contributions(np.array([0]), np.ones((1, 5), np.float32))
    memory.with_contributions(np.zeros((2, 3), np.float32))
    memory.without([0])
    memory.with_columns(np.arange(50) - 1)
    memory.merge(memory_of([[1]]))
    memory.renumbered(np.array([0, 0, 1]))
    assert content(memory) == before


# ---- what is known of them ----------------------------------------------------------------------


def test_what_documents_added_to_their_own_scores_adds_up():
    memory = memory_of([[0], [1]], contributions=np.array([[1, 2, 3], [4, 5, 6]], np.float32))
    more = memory.with_more_contributions(np.array([1]), np.full((1, 4), 0.5, np.float32))
    assert more.contributions([1, 0], 4).tolist() == [[4.5, 5.5, 6.5, 0.5], [1, 2, 3, 0]]
    unknown = memory.with_contributions(np.array([[np.nan, 1, 1], [1, 1, 1]], np.float32))
    unknown = unknown.with_more_contributions(np.array([0, 1]), np.ones((2, 3), np.float32))
    assert np.isnan(unknown.contributions([0], 3)).all() and unknown.contributions(
        [1], 3
    ).tolist() == [[2, 2, 2]]


def test_partial_answers_stay_partial():
    labels = Labels.from_lists([[0], [1]], 2)
    known = np.array([[True, False], [True, True]])
    memory = Memory(10, 0).with_more(
        rows_of([[0], [1]]), labels._replace(known=known), np.arange(2)
    )
    assert memory.documents[1].known is None
    # An answer about everything denies what came later; one about some says nothing of it.
    assert memory.labels([0, 1], 3).known.tolist() == [[True, False, False], [True, True, True]]
    assert memory.labels([1], 3).known is None


def test_features_that_are_pruned_go():
    memory = Memory(10, 0).with_more(
        rows_of([[0, 3, 5], [3]]), Labels.from_lists([[0], [0]], 1), np.arange(2)
    )
    keep = np.array([False, True, True, False, True, True] + [True] * 44)
    pruned = memory.with_columns(np.where(keep, np.cumsum(keep) - 1, -1))
    assert [one.indices.tolist() for one in pruned.documents] == [[3], []]
    assert pruned.rows([0, 1], 48).lengths.tolist() == [3, 1]


def test_categories_that_go():
    own = np.array([[1, 2, 3], [4, 5, 6], [7, 8, 9]], np.float32)
    memory = memory_of([[0, 1], [1], [2]], contributions=own).renumbered(np.array([0, -1, 1]))
    assert [one.labels.tolist() for one in memory.documents] == [[0], [], [1]]
    assert memory.slot_categories.tolist() == [0, -1, 1] and memory.seen.tolist() == [2, 1, 1]
    assert memory.contributions(range(3), 2).tolist() == [[1, 3], [4, 6], [7, 9]]


def test_categories_that_become_one():
    own = np.array([[1, 2, 3], [4, 5, 6], [7, 8, 9]], np.float32)
    memory = memory_of([[0, 2], [1], [2]], contributions=own).renumbered(np.array([0, 1, 0]))
    assert [one.labels.tolist() for one in memory.documents] == [[0], [1], [0]]
    assert memory.slot_categories.tolist() == [0, 1, 0] and memory.seen.tolist() == [0, 3, 1]
    assert memory.contributions(range(3), 2).tolist() == [[4, 2], [10, 5], [16, 8]]


def test_an_answer_is_about_a_merged_category_if_it_was_about_both():
    known = np.array([[1, 1, 0, 0], [0, 1, 1, 0], [1, 1, 1, 0], [0, 1, 1, 1]], bool)
    labels = Labels.from_lists([[0], [1], [], [2]], 4)._replace(known=known)
    memory = Memory(10, 0).with_more(rows_of([[0]] * 4), labels, np.arange(4))
    merged = memory.renumbered(np.array([0, 1, 0, 2]))
    # A label is known, whatever is not known of the other.
    wanted = [[1, 1, 0], [0, 1, 0], [1, 1, 0], [1, 1, 1]]
    assert merged.labels(range(4), 3).known.astype(int).tolist() == wanted
    # About all that is left: as good as any answer, in the file too.
    assert memory.renumbered(np.array([0, 1, 2, -1])).documents[2].known is None


def test_documents_are_recalled_in_random_order():
    memory = memory_of([[0]] * 10)
    orders = [memory.recall(6, np.random.default_rng(seed)).tolist() for seed in (0, 0, 1)]
    assert orders[0] == orders[1] != orders[2] and len(set(orders[0])) == 6
    assert sorted(memory.recall(99, np.random.default_rng(0))) == list(range(10))


def test_documents_are_looked_up_by_their_counts():
    lists = [[1, 2], [2], [2, 1, 3], [2]]
    memory = Memory(10, 0).with_more(rows_of(lists), Labels.from_lists([[0]] * 4, 1), np.arange(4))
    assert memory.find(rows_of([[2]])) == [1, 3]
    assert memory.find(rows_of([[2, 1], [9]])) == [0]
    # The feature 40 came after the document of two words: it had no count for it then.
    late = rows_of([[1, 2, 40]])._replace(lengths=np.array([2]))
    assert memory.find(late) == [0]
    assert memory.without([0, 3]).find(rows_of(lists)) == [0, 1]


# ---- the model file -----------------------------------------------------------------------------


def full_memory():
    known = np.array([[1, 1, 1], [1, 0, 1], [1, 1, 1]], bool)
    labels = Labels.from_lists([[0, 2], [0], []], 3)._replace(known=known)
    own = np.array([[1, 2, 3], [4, 5, 6], [np.nan] * 3], np.float32)
    memory = Memory(5, 7).with_more(rows_of([[1, 2], [], [4]]), labels, np.array([3, 8, 9]), own)
    return memory.with_contributions(own)


@pytest.mark.parametrize(
    "memory", [full_memory(), memory_of([[0]] * 9, 4), memory_of([[]] * 3), Memory(3, 0)]
)
def test_the_state_goes_round(memory):
    header, tensors = memory.state()
    again = Memory.from_state(json.loads(json.dumps(header)), tensors, 50, 3)
    assert content(again) == content(memory)
    more = rows_of([[7], [8]]), Labels.from_lists([[0], [1]], 4), np.array([20, 21])
    assert content(again.with_more(*more)) == content(memory.with_more(*more))
    assert again.find(rows_of([[4], [7]])) == memory.find(rows_of([[4], [7]]))


@pytest.mark.parametrize("name", full_memory().state()[1])
def test_a_damaged_state_is_refused(name):
    header, tensors = full_memory().state()
    one = tensors[name]
    damaged = [
        {key: value for key, value in tensors.items() if key != name},
        tensors | {name: one.astype(np.complex64)},
        tensors | {name: one[..., np.newaxis]},
        tensors | {name: one[:-1]},
    ]
    if name in ("known", "slot_indptr"):  # without them all answers are about everything, and the
        # first slot of each document is its only one
        del damaged[0]
    for state in damaged:
        with pytest.raises(ModelError):
            Memory.from_state(header, state, 50, 3)


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("indptr", [0, 2, 1, 3]),
        ("indptr", [0, 2, 2, 2]),
        ("indices", [1, 2, 50]),
        ("indices", [1, -2, 4]),
        ("values", [1, 0, 1]),
        ("values", [1, np.nan, 1]),
        ("lengths", [2, -1, 1]),
        ("label_indptr", [1, 2, 3, 3]),
        ("label_indices", [0, 3, 0]),
        ("label_indices", [0, -1, 0]),
        ("homes", [0, 3, -1]),
        ("homes", [0, -2, -1]),
        ("seen", [1, -2, 0, 1]),
        ("seen", [1, 2, 0, 1, 0]),
        ("own", [[1, 2, np.inf], [4, 5, 6], [7, 8, 9]]),
        ("known", [[1, 1, 1], [1, 0, 2], [1, 1, 1]]),
    ],
)
def test_a_state_that_makes_no_sense_is_refused(name, values):
    header, tensors = full_memory().state()
    array = np.array(values).astype(tensors[name].dtype)
    with pytest.raises(ModelError):
        Memory.from_state(header, tensors | {name: array}, 50, 3)


@pytest.mark.parametrize(
    "change",
    [{"capacity": 2}, {"capacity": "5"}, {"capacity": 2**40}, {"seed": -1}, {"seed": None}],
)
def test_a_header_that_makes_no_sense_is_refused(change):
    header, tensors = full_memory().state()
    with pytest.raises(ModelError):
        Memory.from_state(header | change, tensors, 50, 3)
    for name in header:
        with pytest.raises(ModelError):
            Memory.from_state(
                {key: one for key, one in header.items() if key != name}, tensors, 50, 3
            )


# ---- the memory of a model ----------------------------------------------------------------------


@pytest.mark.parametrize("learner", ONLINE)
def test_a_model_that_was_saved_goes_on_to_the_same_bytes(learner, tmp_path):
    model = fitted(learner=learner, remember=20)
    saved(model, tmp_path)
    loaded = Categorizer.load(tmp_path / "model")
    for one in (model, loaded):
        one.learn(LATER, LATER_LABELS).learn(["tin ship"], ["sea"], about=["sea"])
    again = Categorizer.load(tmp_path / "model").learn(LATER, LATER_LABELS)
    saved(again, tmp_path)
    again = Categorizer.load(tmp_path / "model").learn(["tin ship"], ["sea"], about=["sea"])
    assert saved(loaded, tmp_path) == saved(model, tmp_path) == saved(again, tmp_path)
    assert len(model.model_.memory) == 20


def test_the_memory_can_be_left_out_of_the_file(tmp_path):
    model = fitted()
    assert len(saved(model, tmp_path)) > len(saved(model, tmp_path, remember=False))
    loaded = Categorizer.load(tmp_path / "model")
    assert loaded.model_.memory is None and len(model.model_.memory) == 36
    assert loaded.summary()["remembered"] == loaded.summary()["memory_bytes"] == 0
    np.testing.assert_array_equal(loaded.scores(TEXTS), model.scores(TEXTS))


@pytest.mark.parametrize("learner", ["arow", "linear-svm", "passive-aggressive", "rocchio"])
def test_without_memory_learning_is_one_pass(learner):
    model = fitted(learner=learner, remember=0)
    assert model.model_.memory is None
    twin = copy.deepcopy(model)
    model.learn(LATER, LATER_LABELS)
    features, own = twin.model_.features, twin.model_.learner
    counts = features.count(LATER, grow=True)
    features.strength.observe(counts)
    own.grow(features.n_columns, 4)
    own.learn_rows(features.apply(counts), Labels.from_lists([[1], [0], [3]], 4))
    rows = model.strengths(TEXTS + LATER)
    assert model.categories_ == ["energy", "grain", "sea", "metals"]
    np.testing.assert_array_equal(own.score_rows(rows), model.scores(TEXTS + LATER))


def test_threads_change_nothing(tmp_path):
    models = [fitted(n_jobs=n).learn(LATER, LATER_LABELS) for n in (1, 3)]
    assert saved(models[0], tmp_path) == saved(models[1], tmp_path)


def test_what_is_rehearsed_is_not_unlearned():
    """Thirty documents of a new kind, which share a word with an old one."""
    new = [f"oil painting gallery p{i}" for i in range(30)]
    models = [fitted(remember=n).learn(new, ["art"] * 30) for n in (0, 36)]
    right = [np.mean(np.array(one.predict(TEXTS)) == LABELS) for one in models]
    assert right[1] == 1.0 >= right[0]
    assert models[1].predict(new) == ["art"] * 30


def test_categories_go_from_the_memory_too(tmp_path):
    model = fitted().learn(LATER, LATER_LABELS)
    model.delete_category("energy").merge_categories("metals", "sea")
    memory = model.model_.memory
    assert set(memory.slot_categories.tolist()) == {0, 1} and len(memory.seen) == 3
    saved(model, tmp_path)
    loaded = Categorizer.load(tmp_path / "model")
    for one in (model, loaded):
        one.learn(["wheat and tin"], ["sea"])
    assert saved(model, tmp_path) == saved(loaded, tmp_path)


def test_a_stream_within_a_budget_prunes_its_memory():
    model = Categorizer(LEARNERS["arow"](feature_budget=20)).fit(TEXTS, LABELS)
    for number in range(12):
        words = " ".join(f"n{number}x{i}" for i in range(20))
        model.learn([f"{words} wheat", f"{words} oil"], ["grain", "energy"])
    memory = model.model_.memory
    assert model.n_features < 20 * 12
    assert max(one.indices.max(initial=0) for one in memory.documents) < model.n_features


def test_a_damaged_memory_is_refused(tmp_path):
    model = fitted()
    model.model_.memory.documents[0].indices[0] = 10**6
    saved(model, tmp_path)
    with pytest.raises(ModelError, match="memory of documents is damaged"):
        Categorizer.load(tmp_path / "model")


# ---- forgetting ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"learner": "arow"},
        {"min_df": 2},
        {"hashing_bits": 8, "min_df": 3},
        {"learner": "arow", "n_selected": 20},
        {"stem": True, "char_ngram_range": (3, 3), "ngram_range": None},
    ],
    ids=str,
)
def test_documents_are_forgotten_by_their_texts(options, tmp_path):
    model = fitted(**options).learn(["wheat w1 v1 pipes"], ["grain"])
    scores = model.scores(TEXTS)
    n_forgotten = model.forget([*TEXTS[::5], "wheat w1 v1 pipes", "nothing like it"])
    assert 9 <= n_forgotten < 37 and model.forget(TEXTS[::5]) == 0
    np.testing.assert_array_equal(model.scores(TEXTS), scores)
    assert n_forgotten + model.forget(TEXTS) == 37
    assert model.summary()["remembered"] == len(model.model_.memory) == 0
    saved(model.learn(LATER, LATER_LABELS), tmp_path)
    assert Categorizer.load(tmp_path / "model").summary()["remembered"] == 3


def test_a_document_is_forgotten_although_its_words_became_features_later():
    rare = "wheat corn saffron turmeric"
    model = Categorizer("arow", min_df=2).fit([*TEXTS, rare], [*LABELS, "grain"])
    assert "saffron" not in model.features_.names(range(model.n_features))
    model.learn(["saffron and turmeric", rare], ["spices", "grain"])
    assert model.forget([rare]) == 2  # as it was learned first, and as it was learned again
    assert model.forget(["saffron and turmeric"]) == 1


def test_nothing_is_forgotten_where_nothing_is_remembered():
    assert fitted(remember=0).forget(TEXTS) == 0
    with pytest.raises(ModelError, match="has not learned"):
        Categorizer().forget(TEXTS)


# ---- what came of learning on -------------------------------------------------------------------


def test_what_was_learned_is_told():
    learned = fitted().learn(LATER, LATER_LABELS).learned_
    assert learned.documents == learned.right == 3 and not learned.wrong
    assert learned.categories == ["metals"] and learned.features > 0
    assert learned.checked == 36 and learned.changed == 0 and not learned.warnings
    assert str(learned).startswith(
        "Learned from 3 documents; 3 of them now decided correctly, 0 of 36"
    )
    assert learned.to_dict()["categories"] == ["metals"]
    assert fitted().learn(LATER, LATER_LABELS, check=10).learned_.checked == 10


def test_what_is_still_wrong_is_named():
    model = fitted(learner="arow")
    both = ["wheat corn w1 v1", "wheat corn w1 v1"]  # of which one must be wrong
    wrong = model.learn(both, ["grain", "sea"]).learned_.wrong
    assert len(wrong) == 1 and wrong[0].number in (1, 2) and wrong[0].text == both[0]
    names = ["grain", "sea"][wrong[0].number - 1], ["grain", "sea"][2 - wrong[0].number]
    assert (wrong[0].labels, wrong[0].decided) == ([names[0]], [names[1]])
    text = f"Still wrong: document {wrong[0].number}, {both[0]!r}: {names[1]}, not {names[0]}."
    assert text in str(model.learned_)
    assert model.learned_.to_dict()["wrong"][0]["decided"] == [names[1]]


def test_documents_of_no_weight_are_not_called_wrong():
    model = fitted()
    model.learn(["wheat", "oil", "wheat corn"], ["grain", "grain", "sea"], sample_weight=[0, 0, 1])
    assert model.learned_.documents == 1
    assert [one.number for one in model.learned_.wrong] in ([], [3])


def test_a_category_without_counter_examples_is_warned_of():
    without = fitted(remember=0).learn(["a metal called tin"], ["metals"]).learned_
    assert len(without.warnings) == 1 and "metals: there are no counter-examples" in str(without)
    assert not fitted().learn(["a metal called tin"], ["metals"]).learned_.warnings
    assert not fitted(remember=0).learn(["wheat"], ["grain"]).learned_.warnings


# ---- partial answers ----------------------------------------------------------------------------


# Those that add documents up, or keep them, have no part of a document.
WHOLE = "majority-class", "naive-bayes", "nearest-neighbors", "rocchio"


@pytest.mark.parametrize("learner", [one for one in ONLINE if one not in WHOLE])
def test_only_what_an_answer_is_about_is_taught(learner):
    several = [[name] for name in LABELS]
    model = Categorizer(learner, remember=0, mode="multi-label").fit(TEXTS, several)
    before = model.learner_.effective_weights().copy()
    model.learn(["wheat oil ship"] * 3, [["sea"]] * 3, about=["sea"])
    after = model.learner_.effective_weights()
    k = model.categories_.index("sea")
    others = [number for number in range(3) if number != k]
    np.testing.assert_array_equal(after[: len(before), others], before[:, others])
    assert (after[: len(before), k] != before[:, k]).any()


def test_a_document_may_be_denied_a_category_and_no_more():
    model = fitted()
    assert model.predict(["wheat ship w1"]) == ["grain"]
    model.learn(["wheat ship w1"], [[]], about=["grain"])
    assert model.learned_.right == 1 and model.predict(["wheat ship w1"]) == ["sea"]
    assert model.model_.memory.documents[-1].known.tolist() == [False, True, False]


def test_answers_about_other_categories_are_refused(tmp_path):
    model = fitted()
    before = saved(model, tmp_path)
    with pytest.raises(DocumentError, match="has the label 'sea', and the answers are about grain"):
        model.learn(["ship"], ["sea"], about=["grain"])
    with pytest.raises((DocumentError, ModelError, ParameterError), match="metals"):
        model.learn(["ship"], [[]], about=["metals"])
    assert saved(model, tmp_path) == before


def test_documents_with_fields_are_forgotten_by_the_table_they_came_in():
    rows = [{"subject": "wheat", "body": "oil"}, {"subject": "oil", "body": "wheat"}]
    model = Categorizer(fields=("subject", "body")).fit(rows, ["grain", "crude"])
    assert model.forget(rows[:1]) == 1 and len(model.model_.memory) == 1
