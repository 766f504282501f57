"""Exact and near duplicates are found, and nothing else."""

import numpy as np

from thresher.evaluation.duplicates import duplicate_groups

WORDS = [f"word{i}" for i in range(3000)]


def test_duplicates_and_near_duplicates_among_others():
    generator = np.random.default_rng(5)
    texts = [" ".join(generator.choice(WORDS, 60)) for _ in range(400)]
    near = [" ".join([*text.split()[:-4], "new", "ending"]) for text in texts[:50]]
    shuffled = [" ".join(reversed(text.upper().split())) for text in texts[50:100]]
    different = [" ".join([*text.split()[:30], *generator.choice(WORDS, 30)]) for text in texts]
    groups = duplicate_groups([*texts, *near, *shuffled, *different]).tolist()
    assert groups[:400] == list(range(400))
    assert groups[400:500] == list(range(100))
    assert groups[500:] == list(range(500, 900))


def test_groups_equal_those_of_all_pairs():
    generator = np.random.default_rng(7)
    texts = [" ".join(generator.choice(WORDS[:8], generator.integers(1, 7))) for _ in range(120)]
    sets = [set(text.split()) for text in texts]
    groups = duplicate_groups(texts)
    for i in range(len(texts)):
        assert groups[i] <= i and groups[groups[i]] == groups[i]
        for j in range(i):
            if sets[i] == sets[j]:
                assert groups[i] == groups[j]


def test_texts_without_words_are_not_compared():
    assert duplicate_groups(["", "...", "", "\udc80 a", "\udc80 a"]).tolist() == [0, 1, 2, 3, 3]
    assert duplicate_groups([]).tolist() == []
