"""Models of format 1, as format 2 has them."""

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
OF_FEATURES = ("strength", "normalize", "min_df", "max_df", "max_features", "select", "selection")


def upgrade(
    header: dict[str, Any], tensors: dict[str, np.ndarray]
) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Return the header and the tensors of a model of format 1 in format 2.

    Runs of characters stood in the place of words then, and were taken from the words; text,
    strength and what chooses features were parts of their own; every label was text.
    """
    try:
        options = dict(header["options"])
        parts = {name: header[name] for name in ("learner", "decisions")}
        text = {k.removeprefix("text."): v for k, v in tensors.items() if k.startswith("text.")}
        text_header, text = _upgrade_text(header["text"], text)
        choosing = {NEW_NAMES.get(k, k): options[k] for k in OF_FEATURES if k in options}
        parameters = {NEW_NAMES.get(k, k): v for k, v in options.items() if k != "threads"}
        if parameters.get("char_ngram_range") is not None:
            parameters |= {"ngram_range": None, "char_ngram_tokens": "words"}
        upgraded = parts | {
            "parameters": parameters | {"learner": header["learner"]["learner"]},
            "features": {
                "parameters": choosing,
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
    kept = {k: v for k, v in tensors.items() if k.partition(".")[0] in ("learner", "decisions")}
    kept |= {f"features.text.{name}": tensor for name, tensor in text.items()}
    kept |= {f"features.{k}": v for k, v in tensors.items() if k.startswith("strength.")}
    return upgraded, kept


def _upgrade_text(
    header: dict[str, Any], tensors: dict[str, np.ndarray]
) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Return a `TextCounter.state` of version 1 as one of version 2; any other unchanged.

    In version 1, character n-grams were counted instead of words and stored as if they were words;
    a column was a node, which is a word or, inverted, a pair.
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
