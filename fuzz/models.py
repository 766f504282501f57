"""Model files from strangers, with changed headers and tensors and right checksums.

Small models of every learner and of several ways to count are changed in one to three places and
written with right checksums. A model that is not refused must work: finite scores and shares,
updates, and a file that can be read again.
"""

from __future__ import annotations

import copy
import json
import random
import shutil
import zlib
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from safetensors.numpy import save_file

from fuzz.campaign import Attack, seeds
from thresher.errors import ModelError, ThresherError
from thresher.model.storage import FORMAT_VERSION, NARROW_VERSION, _narrowest, read_model

Parts = tuple[dict[str, Any], dict[str, np.ndarray]]

NAME = "models"
WORDS = [
    "oil",
    "wheat",
    "ship",
    "price",
    "crude",
    "grain",
    "trade",
    "bank",
    "tonnes",
    "rate",
    "dollar",
    "cargo",
    "port",
    "harvest",
]
PROBES = [
    "crude oil prices rise",
    "wheat and grain, tonnes of it",
    "",
    "nothing known",
    "oil " * 40,
    "原油の価格 ราคาน้ำมัน गेहूँ और तेल oil",
]
# Words that are split into tokens in other ways than those above, and than by earlier versions.
SCRIPTS = ["原油価格上昇", "小麦の収穫", "ราคาน้ำมันดิบ", "ข้าวสาลี", "गेहूँ", "क्रूड", "cafe\u0301", "ガス"]
GOLDEN = Path(__file__).parent.parent / "tests" / "golden"
FIELDS = {"fields": "first-line"}
LINES: dict[str, dict[str, Any]] = {
    "words": {},
    "hashed": {"hashing_bits": 6, "ngram_range": (1, 2), "char_ngram_range": (2, 3)},
    "hashed-cut": {"hashing_bits": 5, "min_df": 2},
    "gaps": {"ngram_range": (1, 3), "gaps": True, "min_df": {"runs": 2}},
    "parts": {"ngram_range": None, "char_ngram_range": (3, 4)},
    "space": {"ngram_range": (1, 2), "char_ngram_range": (3, 3), "min_df": {"parts": 2}},
    "fields": FIELDS | {"ngram_range": (1, 2)},
    "lead": {"fields": "lead"},
    "concepts": {"concepts": (2, 3), "min_df": 1},
    "stemmed": {"stem": True, "stop_words": True},
    "book": {"tokens": "book", "strength": "book", "lowercase": False},
    "selected": {"n_selected": 20, "select_by": "information-gain", "strength": "log"},
    "sigmoid": {"calibrate": "sigmoid", "tune_folds": 2, "objective": "f1"},
    "isotonic": {"calibrate": "isotonic", "tune_folds": 2, "objective": "precision=0.9"},
    "forgetful": {"remember": 0, "strength": "frequency", "normalize": "sum"},
    "weighty": {"block_weights": {"words": 0.5, "parts": 3.0}, "char_ngram_range": (3, 3)},
    "scripts": {},
    "scripts-space": {"ngram_range": (1, 2), "char_ngram_range": (2, 3)},
    "scripts-book": {"tokens": "book", "hashing_bits": 6, "ngram_range": (1, 2)},
}
# Values that replace values in a header.
HOSTILE: tuple[Any, ...] = (
    -1, 0, 1, 2, 3, 7, 24, 64, 255, 1000, 2**24, 2**31 - 1, 2**31, 2**32, 2**53, 2**63 - 1, 2**63,
    2**64, 2**70, 10**7, 10**12, 10**400, -(2**63), -(10**400), 0.0, -0.0, 0.5, 1.5, -1.5, 1e-320,
    1e-30, 1e20, 1e38, 1e39, 1e300, 1e308, -1e308, float("inf"), float("-inf"), float("nan"), None,
    True, False, "", "x", "auto", "0", "1e9", "words", "\x1b[2J", "a\nb", "\u202eabc", "[/red]",
    "\ud800", "x" * 10_000, [], [1], [1, 2], [1, 10**7], [2**63, 2**63], [0, 0], ["x"], [[]],
    [None], {}, {"x": 1}, {"words": 2}, {"": None},
)  # fmt: skip
LARGE = (2**31 - 1, -1, 2**62, 255, 1 << 20)
REAL = (np.nan, np.inf, -np.inf, 1e38, -1e38, 1e300, 1e-45, 1e-300, -1.0, 0.0, 1e6)
DTYPES = ("f2", "f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "?")


def texts(
    rng: random.Random, n: int, more: Sequence[str] = WORDS
) -> tuple[list[str], list[list[str]]]:
    """Return documents of three categories with some `more` words, and their labels."""
    documents, labels = [], []
    for i in range(n):
        topic = WORDS[i % 3 * 4 : i % 3 * 4 + 5]
        words = rng.choices(topic, k=6) + rng.choices(more, k=3)
        documents.append(f"{' '.join(words[:4])}\n{' '.join(words[4:])} {i}")
        labels.append([("energy", "grain", "money")[i % 3]] + (["late"] if i % 5 == 4 else []))
    return documents, labels


def prepare(folder: Path) -> None:
    """Write models of every learner, and of several ways to count with a few of them.

    Each is also written in compact form, and models of earlier versions are copied.
    """
    for name, model in models():
        model.save(folder / f"{name}.thresher")
        model.compact().save(folder / f"{name}-compact.thresher")
    for path in GOLDEN.glob("scripts-2-*.thresher"):
        shutil.copy(path, folder)


def models() -> Iterator[tuple[str, Any]]:
    """Yield small models by name."""
    import warnings

    from thresher import Categorizer
    from thresher.cli.warm_up import look_again
    from thresher.learners import LEARNERS, make_learner

    documents, several = texts(random.Random(7), 30)
    scripts, _ = texts(random.Random(7), 30, SCRIPTS)
    first = [item[0] for item in several]
    more = {
        "averaged": make_learner("perceptron", average="examples"),
        "averaged-romma": make_learner("romma", average="successes"),
        "budget": make_learner("balanced-winnow", feature_budget=10, unseen="drop"),
        "filtered": make_learner("positive-winnow", discard="filter-range", discard_after=1),
        "bernoulli": make_learner("naive-bayes", event_model="bernoulli"),
        "difference": make_learner("nearest-neighbors", metric="value-difference"),
        "euclidean": make_learner("nearest-neighbors", metric="euclidean", n_neighbors=3),
        "signs": make_learner("boosted-perceptrons", vote="signs", max_iter=5),
        "hidden": make_learner("multilayer-perceptron", hidden=2, max_iter=3),
        "gis": make_learner("maximum-entropy", method="gis", max_iter=5),
    }
    short = {"max_iter": 3, "epochs": 3}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, learner in LEARNERS.items():
            limits = {k: v for k, v in short.items() if k in learner.parameters}
            for kind, labels in (("one", first), ("several", several)):
                options = {"strength": "book"} if name == "value-difference" else {}
                given = make_learner(name, **limits)
                yield f"{name}-{kind}", Categorizer(given, **options).fit(documents, labels)
        for name, learner in more.items():
            options = {"strength": "book"} if name == "difference" else {}
            yield name, Categorizer(learner, **options).fit(documents, several)
        for name, options in LINES.items():
            learner = "naive-bayes" if name in ("book", "gaps") else "arow"
            labels = first if name in ("selected", "isotonic", "gaps") else several
            given = scripts if name.startswith("scripts") else documents
            yield f"line-{name}", Categorizer(learner, **options).fit(given, labels)
            fresh = ["brand new words here", "crude oil again"]
            model = Categorizer(learner, **options).fit(given, labels)
            yield f"line-{name}-on", model.learn(fresh, ["new", "energy"])
        boosted = Categorizer("stump-boosting", concepts=2, min_df=1).fit(documents, several)
        yield "line-boosted-concepts", boosted
        looked = Categorizer("arow", fields="lead").fit(documents * 9, several * 9)
        look_again(looked, documents * 9, several * 9)
        yield "looked", looked
        yield "streamed", Categorizer("arow", ngram_range=(1, 2)).learn(documents[:6], first[:6])
        yield "nothing", Categorizer("arow").learn(["no label"], [[]])
        yield "single", Categorizer("perceptron").fit(documents[:4], [["a"], [], ["a"], []])


# ---- changing ------------------------------------------------------------------------------------


@cache
def original(path: Path) -> Parts:
    """Return the header and the tensors of a seed."""
    return read_model(path)


def places(tree: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the paths of all values in a header; of long lists only the first items."""
    pairs: Any = tree.items() if isinstance(tree, dict) else enumerate(tree[:3])
    for key, value in pairs:
        yield (*path, key)
        if isinstance(value, dict | list):
            yield from places(value, (*path, key))


def at(tree: Any, path: tuple[Any, ...]) -> Any:
    """Return the value at a path."""
    for key in path:
        tree = tree[key]
    return tree


def change_header(rng: random.Random, header: dict[str, Any], other: dict[str, Any]) -> str:
    """Change a header; return a description of the change."""
    path = rng.choice(list(places(header)))
    owner, key = at(header, path[:-1]), path[-1]
    how = rng.choice(["hostile"] * 2 + ["near"] * 3 + ["swap"] * 3 + ["remove", "double", "add"])
    if how == "near" and type(owner[key]) is bool:
        owner[key] = not owner[key]
    elif how == "near" and type(owner[key]) in (int, float):
        owner[key] += rng.choice([1, -1, 2, owner[key], -owner[key]])
    elif how == "remove":
        del owner[key]
    elif how == "swap":
        header_paths = list(places(other))
        alike = [item for item in header_paths if item[-1] == key] or header_paths
        owner[key] = copy.deepcopy(at(other, path if path in header_paths else rng.choice(alike)))
    elif how == "double" and isinstance(owner, list):
        owner.append(copy.deepcopy(owner[key]))
    elif how == "add" and isinstance(owner, dict):
        owner[rng.choice(["x", "n_jobs", "memory", "calibration", "concepts", "999"])] = rng.choice(
            HOSTILE
        )
    else:
        owner[key] = rng.choice(HOSTILE)
    return f"{how} {'.'.join(map(str, path))}"


def change_tensor(
    rng: random.Random, tensors: dict[str, np.ndarray], other: dict[str, np.ndarray]
) -> str:
    """Change a tensor; return a description of the change."""
    name = rng.choice(sorted(tensors))
    array = tensors[name]
    hows = ["values"] * 4 + ["near"] * 5 + ["trade"] * 5
    hows += ["dtype", "shape", "cut", "grow", "order", "swap"]
    hows += ["copy", "remove", "rename", "empty", "scalar"]
    how = rng.choice(hows)
    if how == "trade" and array.size:  # exchange two values
        array = array.copy()
        flat = array.reshape(-1)
        first, two = rng.randrange(len(flat)), rng.randrange(len(flat))
        flat[[first, two]] = flat[[two, first]]
    elif how in ("values", "near") and array.size:
        array = array.copy()
        flat = array.reshape(-1)
        for _ in range(rng.choice([1, 1, 2, len(flat)])):
            place = rng.randrange(len(flat))
            if how == "near":
                old = flat[place]
                flat[place] = np.asarray(old).astype(np.float64) + rng.choice([1, -1, 2, 0.5])
            elif array.dtype.kind == "f":
                flat[place] = np.asarray(rng.choice(REAL), np.float64).astype(array.dtype)
            else:
                value = rng.choice([*LARGE, len(flat), int(flat.max()) + 1, 0, 1])
                flat[place] = np.asarray(value, np.int64).astype(array.dtype)
    elif how == "dtype":
        with np.errstate(all="ignore"):
            array = array.astype(rng.choice(DTYPES))
    elif how == "shape":
        array = rng.choice([array.reshape(-1), array[None], array[..., None], array.T])
        array = np.ascontiguousarray(array)
    elif how == "cut" and array.ndim:
        array = array[: rng.randrange(len(array) + 1)]
    elif how == "grow" and array.ndim and len(array):
        array = np.concatenate([array, array[-rng.randint(1, len(array)) :]])
    elif how == "order" and array.ndim:
        array = array[np.random.default_rng(rng.getrandbits(32)).permutation(len(array))]
    elif how == "swap" and other:
        array = other.get(name, other[rng.choice(sorted(other))])
    elif how == "copy":
        array = tensors[rng.choice(sorted(tensors))]
    elif how == "remove":
        del tensors[name]
        return f"remove {name}"
    elif how == "rename":
        tensors[rng.choice([f"{name}x", name.upper(), "memory.known", "features.idle"])] = array
        del tensors[name]
        return f"rename {name}"
    elif how == "empty":
        array = np.zeros((0, *array.shape[1:]), array.dtype)
    else:
        array = np.zeros((), array.dtype)
    tensors[name] = array
    return f"{how} {name}"


def write(
    path: Path,
    header: dict[str, Any],
    tensors: dict[str, np.ndarray],
    edit: Callable[[str], str] = str,
    kinds: dict[str, Any] | None = None,
) -> None:
    """Write a model file with right checksums, without the checks of `write_model`.

    With `kinds`, the types in which tensors are to be read, they are written in narrow types.
    """
    if kinds is not None:
        tensors = {name: _narrowest(item) for name, item in tensors.items()}
    arrays = {
        name: np.ascontiguousarray(item).reshape(item.shape) for name, item in tensors.items()
    }
    described = {
        name: [
            item.dtype.name,
            list(item.shape),
            zlib.crc32(item.reshape(-1).view("u1").data),
            *([] if kinds is None else [kinds[name]]),
        ]
        for name, item in arrays.items()
    }
    version = FORMAT_VERSION if kinds is None else NARROW_VERSION
    description = {"format_version": version, "thresher_version": "0", "header": header}
    text = edit(json.dumps(description | {"tensors": described}))
    save_file(arrays, path, {"thresher": f"{zlib.crc32(text.encode()):08x} {text}"})


def attack(rng: random.Random, folder: Path) -> str:
    """Change a model, write it, and use it like a user."""
    paths = sorted(seeds(NAME).glob("*.thresher"))
    chosen, other = original(seed := rng.choice(paths)), original(rng.choice(paths))
    header, tensors = copy.deepcopy(chosen[0]), dict(chosen[1])
    done = [seed.stem]
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        if rng.random() < 0.5:
            done.append(change_header(rng, header, other[0]))
        elif tensors:
            done.append(change_tensor(rng, tensors, other[1]))
    path, kinds = folder / "model.thresher", None
    if ("compacted" in chosen[0]) != (rng.random() < 0.05):
        kinds = {name: item.dtype.name for name, item in tensors.items()}
        if kinds and rng.random() < 0.1:
            name = rng.choice(sorted(kinds))
            kinds[name] = rng.choice([*(np.dtype(dtype).name for dtype in DTYPES), *HOSTILE])
            done.append(f"kind {name} {kinds[name]!r}")
    (folder / "changes.txt").write_text("\n".join(done), encoding="utf-8", errors="replace")
    write(path, header, tensors, kinds=kinds)
    return use(path)


def use(path: Path) -> str:
    """Load a model, use it, update it and save it; return how far that went."""
    from thresher import Categorizer

    model = Categorizer.load(path)  # most cases are refused here
    n = len(model.classes_)
    scores = model.scores(PROBES)
    assert scores.shape == (len(PROBES), n) and scores.dtype == np.float32
    assert np.isfinite(scores).all(), "scores are not finite"
    assert len(model.predict(PROBES)) == len(PROBES)
    ranked = model.rank(PROBES, 3)
    assert all(len(item) == min(3, n) for item in ranked)
    assert np.isfinite(model.decisions_.thresholds).all()
    try:
        probable = model.predict_proba(PROBES)
        assert ((probable >= 0) & (probable <= 1)).all(), "probabilities are not between 0 and 1"
    except ModelError:
        pass  # it has none
    word = "ran"
    if n:
        explanations = [model.explain(text) for text in PROBES[:3]]
        for explanation in explanations:
            shares = [share.share for share in explanation.shares]
            assert np.isfinite([*shares, explanation.score, explanation.threshold]).all(), (
                "shares are not finite"
            )
            str(explanation)
        for category in model.classes_.tolist()[:2]:
            for side in model.strongest(category, 5):
                assert np.isfinite([weight for _, weight in side]).all()
    json.dumps(model.summary(), allow_nan=False, default=repr)
    model.features_.names(np.arange(min(20, model.n_features)))
    repr(model)
    before = model.scores(PROBES)
    try:
        label = model.classes_[:1].tolist() or ["new"]
        model.learn(["crude oil and a word that is new"], [label], check=8)
        word = "learned"
    except ThresherError:
        assert np.array_equal(before, model.scores(PROBES)), (
            "an update that failed changed the model"
        )
    again = path.with_suffix(".again")
    model.save(again)
    after = Categorizer.load(again)
    scores = model.scores(PROBES)
    assert np.isfinite(scores).all(), "scores are not finite after learning"
    assert np.array_equal(scores, after.scores(PROBES)), (
        "the model read differs from the one written"
    )
    return word


ATTACKS = (
    Attack(NAME, "mutated models with right checksums", attack, 2_000, prepare=prepare, fresh=0.5),
)
