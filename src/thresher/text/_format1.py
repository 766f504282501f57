"""A counter's state as the first version of the model file had it, turned into today's."""

from __future__ import annotations

from typing import Any

import numpy as np

from thresher.state import require_tensor

__all__ = ["upgrade"]


def upgrade(
    header: dict[str, Any], tensors: dict[str, np.ndarray]
) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Return a `TextCounter.state` of version 1 as one of version 2; any other as it is.

    Runs of characters were counted instead of words, and stored as if they were words; a column
    was a node, which is a word or, inverted, a pair.
    """
    if header.get("version") != 1:
        return header, tensors
    header = header | {"version": 2, "char_ngram_tokens": "words"}
    header.setdefault("token_pattern", None)
    tensors = dict(tensors)
    if header.setdefault("char_ngram_range", None) is not None:
        header["ngram_range"] = None
        for old, new in (("words", "parts"), ("word_offsets", "part_offsets")):
            if old in tensors:
                tensors[new] = tensors.pop(old)
    if "nodes" in tensors:
        nodes = require_tensor(tensors, "nodes", np.int32, (None,))
        del tensors["nodes"]
        tensors["columns"] = np.where(nodes >= 0, nodes, ~nodes)
        tensors["blocks"] = (nodes < 0).astype(np.uint8)
        tensors["candidates"] = np.zeros((0, 3), np.int32)
    return header, tensors
