"""What the line from counts to strengths can be told."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal, get_args

from thresher.features.concepts import Concepts
from thresher.features.strength import KINDS, Weighting
from thresher.parameters import Choice, Estimator, Kind, Number, Share, Whole, parameter
from thresher.text import BLOCKS

__all__ = ["ALL_BLOCKS", "CONCEPTS", "FeatureParameters", "of_blocks"]

Normalization = Literal["sum", "l2", "none"]
Selection = Literal["chi-square", "information-gain"]

_declare = partial(parameter, panel="Features")
CONCEPTS = len(BLOCKS)  # the block of concepts, after those that are counted
ALL_BLOCKS = (*BLOCKS, "concepts")
SIZES: Any = replace(Concepts.parameters["n_concepts"].kind, optional=True)  # type: ignore


@dataclass(frozen=True)
class ByBlock(Kind):
    """A value for all blocks, or a dict of values for some of them."""

    one: Kind
    blocks: tuple[str, ...] = BLOCKS

    def allows(self, value: Any) -> bool:
        if not isinstance(value, Mapping):
            return self.one.problem(value) is None
        return set(value) <= set(self.blocks) and not any(map(self.one.problem, value.values()))

    def bounds(self) -> str:
        return f"{self.one.bounds()}; or a dict of such for some of {', '.join(self.blocks)}"

    def describe(self) -> str:
        return f"{self.one.describe()} or dict"

    def placeholder(self) -> str:
        return f"{self.one.placeholder()}|words=..,runs=.."

    def parse(self, text: str) -> Any:
        if "=" not in text:
            return self.one.parse(text)
        parts = (part.partition("=") for part in text.split(","))
        return {name.strip(): self.one.parse(value.strip()) for name, _, value in parts}


def of_blocks(value: Any, otherwise: Any) -> list[Any]:
    """Return the value of each block, given one for all or a dict with those of some."""
    if isinstance(value, Mapping):
        return [value.get(name, otherwise) for name in ALL_BLOCKS]
    return [value] * len(ALL_BLOCKS)


class FeatureParameters(Estimator):
    """What the line from counts to strengths can be told."""

    strength: Weighting | None = _declare(
        default=None,
        kind=Choice((None, *KINDS)),
        words="""How a count becomes a strength, by default as suits the learner. "tf-idf" takes
        logarithms of counts and gives documents length one, as for the learners that want it.""",
        flag="--strength",
    )
    normalize: Normalization | None = _declare(
        default=None,
        kind=Choice((None, *get_args(Normalization))),
        words="""How the strengths of a document are scaled, by default as suits the learner. If
        `strength` is given and is not "tf-idf", they are not scaled by default.""",
        flag="--normalize",
    )
    min_df: Any = _declare(
        default=1,
        kind=ByBlock(Share()),
        words="""Leave out features of fewer documents than this. A float is a share of the
        documents; a dict has a number for each block, {"runs": 2, "parts": 3}. Later, when the
        model learns on, a new word comes at once, a run of words, a part of a word or a word of a
        field once it has been in as many.""",
        flag="--min-df",
    )
    max_df: int | float = _declare(
        default=1.0,
        kind=Share(),
        words="Leave out features of more documents than this. A float is a share of them.",
        flag="--max-df",
    )
    max_features: int | None = _declare(
        default=None,
        kind=Whole(1, optional=True),
        words="Keep at most so many features, the most frequent.",
        flag="--max-features",
    )
    n_selected: int | None = _declare(
        default=None,
        kind=Whole(1, optional=True),
        words="Keep at most so many features, those that tell most about a category.",
        flag="--select",
    )
    select_by: Selection = _declare(
        default="chi-square",
        kind=Choice(get_args(Selection)),
        words="By what it is judged how much a feature tells. It is for `n_selected`.",
        flag="--select-by",
    )
    block_weights: Any = _declare(
        default=1.0,
        kind=ByBlock(Number(0, open_low=True), ALL_BLOCKS),
        words="""What the strengths of words, runs, parts, fields and concepts are multiplied by.
        Give a number, or a dict with one for some of the blocks, {"runs": 0.9, "parts": 0.6};
        documents are scaled after it, but not their concepts.""",
        flag="--block-weights",
    )
    concepts: Any = _declare(
        default=None,
        kind=SIZES,
        words="""Beside the words, so many concepts: groups of words that tend to occur together,
        and how far each document belongs to each (`Concepts`). Several numbers, [100, 200], are
        several models side by side.""",
        flag="--concepts",
    )
