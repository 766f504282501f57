"""Parameters of features: selection, strengths, block weights and concepts."""

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
CONCEPTS = len(BLOCKS)  # the number of the block of concepts, after the counted blocks
ALL_BLOCKS = (*BLOCKS, "concepts")
SIZES: Any = replace(Concepts.parameters["n_concepts"].kind, optional=True)  # type: ignore


@dataclass(frozen=True)
class ByBlock(Kind):
    """A value for all blocks, or a dict of values for some of them."""

    kind: Kind
    blocks: tuple[str, ...] = BLOCKS

    def allows(self, value: Any) -> bool:
        if not isinstance(value, Mapping):
            return self.kind.problem(value) is None
        return set(value) <= set(self.blocks) and not any(map(self.kind.problem, value.values()))

    def bounds(self) -> str:
        return f"{self.kind.bounds()}; or a dict of such for some of {', '.join(self.blocks)}"

    def describe(self) -> str:
        return f"{self.kind.describe()} or dict"

    def placeholder(self) -> str:
        return f"{self.kind.placeholder()}|words=..,runs=.."

    def parse(self, text: str) -> Any:
        if "=" not in text:
            return self.kind.parse(text)
        settings = (setting.partition("=") for setting in text.split(","))
        return {name.strip(): self.kind.parse(value.strip()) for name, _, value in settings}


def of_blocks(value: Any, default: Any) -> list[Any]:
    """Return the value for each block, given one value for all or a dict for some of them."""
    if isinstance(value, Mapping):
        return [value.get(name, default) for name in ALL_BLOCKS]
    return [value] * len(ALL_BLOCKS)


class FeatureParameters(Estimator):
    """Parameters of the way from counts to strengths."""

    strength: Weighting | None = _declare(
        default=None,
        kind=Choice((None, *KINDS)),
        words="""How a count becomes a strength (a term weight); the default depends on the learner.
        "tf-idf" takes logarithms of counts and scales documents to length one.""",
        flag="--strength",
    )
    normalize: Normalization | None = _declare(
        default=None,
        kind=Choice((None, *get_args(Normalization))),
        words="""How the strengths of a document are scaled; the default depends on the learner. If
        `strength` is given and is not "tf-idf", they are not scaled by default.""",
        flag="--normalize",
    )
    min_df: Any = _declare(
        default=1,
        kind=ByBlock(Share()),
        words="""Leave out features that occur in fewer documents. A float is a share of the
        documents; a dict has a number for each block, {"runs": 2, "parts": 3}. When the model
        learns more documents, new words are added at once, other features when they have occurred
        in that many documents.""",
        flag="--min-df",
    )
    max_df: int | float = _declare(
        default=1.0,
        kind=Share(),
        words="Leave out features that occur in more documents. A float is a share of them.",
        flag="--max-df",
    )
    max_features: int | None = _declare(
        default=None,
        kind=Whole(1, optional=True),
        words="The largest number of features; the most frequent are kept.",
        flag="--max-features",
    )
    n_selected: int | None = _declare(
        default=None,
        kind=Whole(1, optional=True),
        words="The number of features to select by their association with the categories.",
        flag="--select",
    )
    select_by: Selection = _declare(
        default="chi-square",
        kind=Choice(get_args(Selection)),
        words="The criterion by which `n_selected` features are selected.",
        flag="--select-by",
    )
    block_weights: Any = _declare(
        default=1.0,
        kind=ByBlock(Number(0, open_low=True), ALL_BLOCKS),
        words="""Factors of the strengths of words, runs, parts, fields and concepts: a number for
        all, or a dict with numbers for some of them, {"runs": 0.9, "parts": 0.6}. They are applied
        before documents are scaled, but for concepts after it.""",
        flag="--block-weights",
    )
    concepts: Any = _declare(
        default=None,
        kind=SIZES,
        words="""Add this number of concepts as features: groups of words that tend to occur
        together, each with the document's share in it (`Concepts`). Several numbers, [100, 200],
        are several models side by side.""",
        flag="--concepts",
    )
