"""Conversion of models of format 1 to format 2."""

from __future__ import annotations

from typing import Any

import numpy as np

from thresher.errors import ModelError
from thresher.state import require_tensor

NEW_NAMES = {
    "ngrams": "ngram_range",
    "char_ngrams": "char_ngram_range",
    "select": "n_selected",
    "selection": "select_by",
    "decision": "mode",
    "tune_for": "objective",
    "seed": "random_state",
}
FEATURE_OPTIONS = (
    "strength",
    "normalize",
    "min_df",
    "max_df",
    "max_features",
    "select",
    "selection",
)


def upgrade(
    header: dict[str, Any], tensors: dict[str, np.ndarray]
) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Return the header and the tensors of a model of format 1, converted to format 2.

    In format 1, character n-grams replaced words instead of complementing them; text, strength and
    feature selection were stored separately; and all labels were texts.
    """
    try:
        options = dict(header["options"])
        components = {name: header[name] for name in ("learner", "decisions")}
        text = {k.removeprefix("text."): v for k, v in tensors.items() if k.startswith("text.")}
        text_header, text = _upgrade_text(header["text"], text)
        selection = {NEW_NAMES.get(k, k): options[k] for k in FEATURE_OPTIONS if k in options}
        parameters = {NEW_NAMES.get(k, k): v for k, v in options.items() if k != "threads"}
        if parameters.get("char_ngram_range") is not None:
            parameters |= {"ngram_range": None, "char_ngram_tokens": "words"}
        upgraded = components | {
            "parameters": parameters | {"learner": header["learner"]["learner"]},
            "features": {
                "parameters": selection,
                "text": text_header,
                "strength": header["strength"],
            },
            "categories": {"labels": header["categories"], "type": "str", "form": "several"},
            "documents_seen": header["documents_seen"],
            "is_mode_open": False,
            "columns": header["columns"],
        }
    except (KeyError, TypeError, AttributeError) as problem:
        raise ModelError(f"The header of the model lacks or misuses {problem}.") from None
    unchanged = ("learner", "decisions")
    arrays = {k: v for k, v in tensors.items() if k.partition(".")[0] in unchanged}
    arrays |= {f"features.text.{name}": tensor for name, tensor in text.items()}
    arrays |= {f"features.{k}": v for k, v in tensors.items() if k.startswith("strength.")}
    return upgraded, arrays


def _upgrade_text(
    header: dict[str, Any], tensors: dict[str, np.ndarray]
) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Return a `TextCounter.state` of version 1 converted to version 2; later ones unchanged.

    In version 1, character n-grams were counted instead of words and stored like words. Each column
    had a node: the number of a word, or the bitwise inverse of the number of a pair of words.
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
