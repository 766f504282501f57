"""Speed of counting words: thresher.TextVectorizer and the vectorizers of scikit-learn.

    python benchmarks/text_to_counts.py
    python benchmarks/text_to_counts.py --source 20news-bydate.tar.xz --megabytes 20 --json

The candidates take turns, each five times (once for "union", which is words, pairs of words and
parts of five characters); the best time of each counts, in processor seconds of one thread. The
matrices are compared before anything is timed, and documents that both cut in different ways, with
combining marks or scripts without spaces, are left out.
"""

from __future__ import annotations

import argparse
import json
import sysconfig
import tarfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from unicodedata import category

from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer
from sklearn.pipeline import FeatureUnion

from thresher.text import TextVectorizer

BITS = 20  # for hashed columns, the default of HashingVectorizer
PARAGRAPHS = 2000  # characters per document if the source is a single file


def main() -> None:
    arguments = parse()
    texts, repeated = take(documents(arguments.source), arguments.megabytes * 1e6)
    size = sum(len(text.encode("utf-8", "replace")) for text in texts) / 1e6
    results = measure(texts, size, arguments.rounds)
    if arguments.json:
        print(json.dumps({"megabytes": size, "documents": len(texts), "results": results}))
        return
    print(
        f"{size:.1f} MB in {len(texts):,} documents of {arguments.source}"
        + (", repeated to fill them" if repeated else "")
        + f"; one thread, best of {arguments.rounds}\n"
    )
    print(f"{'':16}{'scikit-learn':>16}{'thresher':>16}{'ratio':>10}")
    for name, item in results.items():
        peer, vectorizer = (f"{item[key]:.1f} MB/s" for key in ("scikit-learn", "thresher"))
        print(f"{name:16}{peer:>16}{vectorizer:>16}{item['ratio']:>9.1f}x")


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    library = Path(sysconfig.get_path("stdlib"))
    parser.add_argument("--megabytes", type=float, default=20, help="how much text (default 20)")
    parser.add_argument("--source", type=Path, default=library, metavar="PATH",
                        help="a folder or a tar archive of text files, or one text file (default: "
                             "the running Python's own library)")  # fmt: skip
    parser.add_argument("--rounds", type=int, default=5, help="turns of each (default 5)")
    parser.add_argument("--json", action="store_true", help="print figures for machines")
    return parser.parse_args()


def documents(source: Path) -> Iterator[str]:
    """Yield the text of each file, or pieces of one file."""
    if source.is_dir():
        for path in sorted(source.rglob("*")):
            if path.is_file() and path.suffix in ("", ".py", ".txt", ".md", ".rst", ".html"):
                yield path.read_text("utf-8", "replace")
    elif tarfile.is_tarfile(source):
        with tarfile.open(source) as archive:
            for member in archive:
                if member.isfile() and (file := archive.extractfile(member)):
                    yield file.read().decode("utf-8", "replace")
    else:
        text = source.read_text("utf-8", "replace")
        for start in range(0, len(text), PARAGRAPHS):
            yield text[start : start + PARAGRAPHS]


def is_cut_alike(text: str) -> bool:
    """Return True if a text has no combining marks and no script without spaces."""
    if text.isascii():
        return True
    letters = set(text.lower())
    return not any(
        category(letter)[0] == "M" or (letter >= "\u0e00" and letter.isalnum())
        for letter in letters
    )


def take(source_texts: Iterator[str], n_bytes: float) -> tuple[list[str], bool]:
    """Return documents with `n_bytes` in all, repeated if there are not enough."""
    texts: list[str] = []
    size = 0
    for text in filter(is_cut_alike, source_texts):
        if size >= n_bytes:
            return texts, False
        texts.append(text)
        size += len(text)
    if not size:
        raise SystemExit("There is no text in the source; name another with --source.")
    n = len(texts)
    while size < n_bytes:
        texts.append(texts[len(texts) - n])
        size += len(texts[-1])
    return texts, len(texts) > n


def measure(texts: list[str], size: float, rounds: int) -> dict[str, dict[str, float]]:
    """Return the speed of each candidate in each task in megabytes per second."""
    vectorizer, peer = TextVectorizer(), CountVectorizer()
    hashing, their_hashing = TextVectorizer(hashing_bits=BITS), HashingVectorizer(
        n_features=2**BITS, norm=None, alternate_sign=False
    )  # fmt: skip
    expected = peer.fit_transform(texts)
    assert (vectorizer.fit_transform(texts) != expected).nnz == 0
    assert (vectorizer.transform(texts) != expected).nnz == 0
    assert vectorizer.get_feature_names_out().tolist() == peer.get_feature_names_out().tolist()
    assert hashing.fit(texts[:1]).transform(texts).sum() == their_hashing.transform(texts).sum()
    union = TextVectorizer(ngram_range=(1, 2), char_ngram_range=(5, 5))
    pairs = CountVectorizer(ngram_range=(1, 2))
    parts = CountVectorizer(analyzer="char_wb", ngram_range=(5, 5))
    their_union = FeatureUnion([("words", pairs), ("parts", parts)])
    few = texts[: len(texts) // 20 + 1]
    assert (union.fit_transform(few) != their_union.fit_transform(few)).nnz == 0
    tasks: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
        "fit_transform": (peer.fit_transform, vectorizer.fit_transform),
        "transform": (peer.transform, vectorizer.transform),
        "hashing": (their_hashing.transform, hashing.transform),
        "union": (their_union.fit_transform, union.fit_transform),
    }
    best = {(name, side): float("inf") for name in tasks for side in (0, 1)}
    for turn in range(rounds):
        for name, side in best:
            if name == "union" and turn:
                continue
            start = time.process_time()
            tasks[name][side](texts)
            best[name, side] = min(best[name, side], time.process_time() - start)
    return {
        name: {
            "scikit-learn": size / best[name, 0],
            "thresher": size / best[name, 1],
            "ratio": best[name, 0] / best[name, 1],
        }
        for name in tasks
    }


if __name__ == "__main__":
    main()
