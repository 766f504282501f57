"""A corpus that comes with Python: the docstrings of the standard library.

Each documented module, class and function is a document. Its categories are its package and its
kind. The sources are parsed, never run.
"""

from __future__ import annotations

import ast
import sys
import sysconfig
import warnings
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

# Not public, or copies of other modules.
LEFT_OUT = {"antigravity", "idlelib", "lib2to3", "pydoc_data", "test", "this", "turtledemo"}
MIN_DOCUMENTS = 30  # of a package, to train and to test
HELD_OUT = 5  # one document in five is for testing

KINDS = {
    ast.Module: "module",
    ast.ClassDef: "class",
    ast.FunctionDef: "function",
    ast.AsyncFunctionDef: "function",
}


class Entry(NamedTuple):
    """A documented module, class or function."""

    name: str
    text: str
    labels: list[str]


def standard_library(min_documents: int = MIN_DOCUMENTS) -> tuple[list[Entry], list[Entry]]:
    """Return the training and the test documents.

    Parameters
    ----------
    min_documents : int
        Packages with fewer documents are skipped. Default 30.

    Examples
    --------
    >>> train, test = standard_library()
    >>> round(len(train) / len(test))
    4
    """
    entries = [e for path in _sources() for e in _entries(path)]
    sizes = Counter(entry.labels[0] for entry in entries)
    frequent = sorted(e for e in entries if sizes[e.labels[0]] >= min_documents)
    train = [entry for i, entry in enumerate(frequent) if i % HELD_OUT]
    return train, frequent[::HELD_OUT]


def _sources() -> Iterator[tuple[str, Path]]:
    """Yield module names and source files of the library's public packages."""
    root = Path(sysconfig.get_paths()["stdlib"])
    for path in sorted(root.rglob("*.py")):
        parts = path.relative_to(root).with_suffix("").parts
        is_known = parts[0] in sys.stdlib_module_names and parts[0] not in LEFT_OUT
        is_private = any(p.startswith("_") and p != "__init__" for p in parts)
        if is_known and not is_private and not {"test", "tests"} & set(parts):
            yield ".".join(parts).removesuffix(".__init__"), path


def _entries(source: tuple[str, Path]) -> Iterator[Entry]:
    """Yield the documented objects of a module, including the module."""
    module, path = source
    with warnings.catch_warnings():  # about escapes in docstrings
        warnings.simplefilter("ignore")
        tree = ast.parse(path.read_bytes())
    package = module.partition(".")[0]
    for node in ast.walk(tree):
        kind = KINDS.get(type(node))
        documentation = kind and ast.get_docstring(node)  # type: ignore[arg-type]
        if kind and documentation and len(documentation.split()) >= 4:
            name = getattr(node, "name", module)
            arguments = getattr(node, "args", None)
            named = " ".join(a.arg for a in arguments.args if a.arg != "self") if arguments else ""
            text = f"{name if kind != 'module' else ''} {named}\n{documentation}".strip()
            yield Entry(f"{module}.{name}" if kind != "module" else module, text, [package, kind])
