"""The parameters of a counter as a model's header has them."""

from __future__ import annotations

from typing import Any

from thresher.errors import ModelError
from thresher.storage import require_field

__all__ = ["FORMAT_VERSION", "HASH_VERSION", "describe", "parameters"]

FORMAT_VERSION = 1  # of what a counter's `state` returns
HASH_VERSION = 1  # of the hash that gives columns; a model made with another one cannot be read


def describe(counter: Any) -> dict[str, Any]:
    """Return the parameters of a counter as JSON can hold them."""
    header: dict[str, Any] = {
        "version": FORMAT_VERSION,
        "hash_version": HASH_VERSION,
        "tokens": counter.tokens,
        "token_pattern": counter.token_pattern,
        "min_length": int(counter.min_length),
        "lowercase": bool(counter.lowercase),
        "hashing_bits": None if counter.hashing_bits is None else int(counter.hashing_bits),
        "linguistics": _linguistics(counter.linguistics),
    }
    for name in ("ngram_range", "char_ngram_range"):
        pair = getattr(counter, name)
        header[name] = None if pair is None else [int(n) for n in pair]
    return header


def parameters(header: dict[str, Any]) -> dict[str, Any]:
    """Return the parameters of a counter, once the header is seen to be one of ours."""
    for name, ours in (("version", FORMAT_VERSION), ("hash_version", HASH_VERSION)):
        if require_field(header, name, int) != ours:
            raise ModelError(
                f"The model counts text by {name} {header[name]}, and this Thresher by {ours}; "
                "take the Thresher that made it, or train it again."
            )
    found: dict[str, Any] = {
        "tokens": require_field(header, "tokens", str),
        "min_length": require_field(header, "min_length", int),
        "lowercase": require_field(header, "lowercase", bool),
        "ngram_range": tuple(require_field(header, "ngram_range", list)),
    }
    for name, kind in (("token_pattern", str), ("hashing_bits", int), ("char_ngram_range", list)):
        value = None if header.get(name) is None else require_field(header, name, kind)
        found[name] = tuple(value) if isinstance(value, list) else value
    if header.get("linguistics") is not None:
        from thresher.linguistics import Linguistics

        found["linguistics"] = Linguistics.from_state(require_field(header, "linguistics", dict))
    return found


def _linguistics(linguistics: Any) -> dict[str, Any] | None:
    if linguistics is None:
        return None
    if not hasattr(linguistics, "state"):
        raise ModelError(
            f"The linguistics {linguistics!r} cannot be saved, as it has no `state`; "
            "use thresher.Linguistics."
        )
    state: dict[str, Any] = linguistics.state()
    return state
