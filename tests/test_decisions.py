"""From scores to categories."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from thresher.decisions import Decisions
from thresher.errors import ModelError, ParameterError

SCORES = np.array([[0.5, -1.0, 2.0], [-3.0, -1.0, -2.0], [1.0, 1.0, 1.0]], np.float32)


def decided(scores=SCORES, **how):
    """Return the decisions as lists of category numbers."""
    return [np.flatnonzero(row).tolist() for row in Decisions(**how).grow(3).decide(scores)]


@pytest.mark.parametrize(
    ("how", "expected"),
    [
        ({}, [[0, 2], [], [0, 1, 2]]),
        ({"thresholds": [0.5, -2, 2]}, [[1], [1], [0, 1]]),
        ({"default_threshold": 0.75}, [[2], [], [0, 1, 2]]),
        ({"at_least": 1}, [[0, 2], [1], [0, 1, 2]]),
        ({"at_least": 2}, [[0, 2], [1, 2], [0, 1, 2]]),
        ({"at_least": 9}, [[0, 1, 2]] * 3),
        ({"at_most": 1}, [[2], [], [0]]),
        ({"at_most": 2}, [[0, 2], [], [0, 1]]),
        ({"at_least": 1, "at_most": 1}, [[2], [1], [0]]),
        ({"mode": "single-label"}, [[2], [1], [0]]),
        ({"mode": "single-label", "allow_none": True}, [[2], [], [0]]),
        ({"mode": "single-label", "thresholds": [0, 0, 2]}, [[0], [1], [0]]),
    ],
)
def test_decisions(how, expected):
    assert decided(**how) == expected


@given(
    st.lists(st.lists(st.integers(-3, 3), min_size=3, max_size=3), max_size=5),
    st.integers(0, 3),
    st.none() | st.integers(3, 4),
)
def test_limits_hold_for_every_document(scores, at_least, at_most):
    scores = np.array(scores, float).reshape(-1, 3)
    for row, categories in zip(
        scores, decided(scores, at_least=at_least, at_most=at_most), strict=True
    ):
        assert at_least <= len(categories) <= (at_most or 3)
        left_out = np.delete(row, categories)
        if categories and len(left_out):
            assert left_out.max() <= row[categories].min()


def test_no_document_and_no_category():
    for mode in ("multi-label", "single-label"):
        assert Decisions(mode).decide(np.zeros((2, 0))).shape == (2, 0)
        assert Decisions(mode, at_least=1).grow(3).decide(np.zeros((0, 3))).shape == (0, 3)


def test_new_categories_get_the_default_threshold():
    decisions = Decisions(thresholds=[1.0], default_threshold=0.5).grow(3).grow(2)
    assert decisions.thresholds.tolist() == [1.0, 0.5, 0.5]


@pytest.mark.parametrize(
    ("how", "told"),
    [
        ({"mode": "ranked"}, "'ranked'"),
        ({"at_least": -1}, "at least -1"),
        ({"at_most": 0}, "at most 0"),
        ({"at_least": 3, "at_most": 2}, "at least 3 and at most 2"),
        ({"thresholds": [np.nan]}, "one number per category"),
        ({"thresholds": [[1.0]]}, "one number per category"),
    ],
)
def test_nonsense_is_told(how, told):
    with pytest.raises(ParameterError, match=told):
        Decisions(**how)


def test_scores_of_other_categories_are_told():
    with pytest.raises(ParameterError, match="thresholds for 2 categories"):
        Decisions().grow(2).decide(SCORES)


def test_the_state_is_everything():
    decisions = Decisions(
        "single-label", [1.0, np.inf], default_threshold=-0.5, at_least=1, at_most=3,
        allow_none=True,
    )  # fmt: skip
    again = Decisions.from_state(*decisions.state())
    np.testing.assert_equal(again.state(), decisions.state())
    assert again.grow(3).thresholds.tolist() == [1.0, np.inf, -0.5]


@pytest.mark.parametrize(
    "change", [{"mode": "x"}, {"mode": None}, {"at_least": 2.5}, {"at_most": 0}, {"allow_none": 1}]
)
def test_a_state_of_nonsense_is_told(change):
    header, tensors = Decisions().grow(2).state()
    with pytest.raises(ModelError):
        Decisions.from_state({**header, **change}, tensors)
    with pytest.raises(ModelError):
        Decisions.from_state(header, {"thresholds": np.zeros((2, 2))})
