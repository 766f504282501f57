"""Models of format 1, as format 2 has them."""

from __future__ import annotations

from typing import Any

import numpy as np

from thresher.errors import ModelError
from thresher.text._format1 import upgrade as upgrade_text

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
        text_header, text = upgrade_text(header["text"], text)
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
