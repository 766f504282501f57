"""Store for finished cells, so that a run that was stopped continues where it was.

A cell is the return value of a function for some arguments. Its key is the function, the arguments
and the version of the code: the sources of the function's module and of all modules of Thresher
that it imports, without comments and docstrings, and the versions of the numerical libraries. If
any of these changes, the cell is computed again.
"""

from __future__ import annotations

import ast
import hashlib
import json
import sys
import warnings
from collections.abc import Callable, Iterator
from functools import cache
from importlib import import_module, metadata
from pathlib import Path
from typing import Any

import thresher
import thresher_papers
from thresher.corpora import cache_folder
from thresher.corpora._registry import corpus_modules
from thresher.errors import OutputError, ThresherWarning
from thresher.files import write_text

__all__ = ["Store", "code_version", "library_versions"]

# The packages whose code a cell depends on, with their folders.
SOURCES = {
    package.__name__: Path(str(package.__file__)).parent for package in (thresher, thresher_papers)
}
LIBRARIES = ("numpy", "numba", "scipy", "scikit-learn", "lemminflect", "PyStemmer")
# Modules that draw, print or store; they do not change cells.
SHOWN = (
    "thresher.report",
    "thresher.cli",
    "thresher_papers.cli",
    "thresher_papers._drawing",
    "thresher_papers._keeping",
    "thresher_papers._result",
)


class Store:
    """Finished cells in a folder, one small JSON file each.

    Examples
    --------
    >>> import tempfile
    >>> store = Store(tempfile.mkdtemp())
    >>> path = store.path(code_version, ("table-4", 0))
    >>> store.read(path), store.write(path, {"F1": 81.3}, 2.5), store.read(path)
    (None, {'F1': 81.3}, {'F1': 81.3})
    >>> store.seconds
    2.5
    """

    def __init__(self, folder: str | Path | None = None, *, anew: bool = False) -> None:
        self.folder = Path(folder) if folder else cache_folder() / "papers"
        self.anew = anew  # whether stored cells are computed again
        self._taken: dict[Path, float] = {}
        self._complains = True

    @property
    def seconds(self) -> float:
        """Total time that the cells read or written took to compute, each counted once."""
        return sum(self._taken.values())

    def path(self, function: Callable[..., Any], key: tuple[Any, ...]) -> Path:
        """Return the file of a function's cell for some arguments."""
        module = function.__module__
        if "<" in function.__qualname__:  # another function might have the same name
            raise TypeError(
                f"Only cells of module-level functions are stored, not of {function!r}."
            )
        described = json.dumps([function.__qualname__, _plain(key), code_version(module)])
        name = hashlib.sha256(described.encode()).hexdigest()[:24]
        return self.folder / module.removeprefix("thresher_papers.") / f"{name}.json"

    def read(self, path: Path) -> Any:
        """Return a stored cell, or None if it is missing or cannot be read."""
        if self.anew and path not in self._taken:
            return None
        try:
            stored = json.loads(path.read_text(encoding="utf-8"))
            self._taken[path] = float(stored["seconds"])
            return stored["cell"]
        except (OSError, ValueError, KeyError, TypeError):
            return None  # it is computed again

    def write(self, path: Path, cell: Any, seconds: float) -> Any:
        """Store a cell, and return it as it will be read; if it cannot be stored, warn."""
        self._taken[path] = round(seconds, 3)
        text = json.dumps({"cell": cell, "seconds": self._taken[path]})
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            write_text(path, text)
        except (OSError, OutputError) as problem:
            if self._complains:
                warnings.warn(
                    f"Finished cells cannot be stored in {self.folder} ({problem}); if this run is "
                    "stopped, it begins again.",
                    ThresherWarning,
                    stacklevel=2,
                )
            self._complains = False
        return json.loads(text)["cell"]


def _plain(value: Any) -> Any:
    """Return arguments as JSON values; other types are a programming error."""
    if isinstance(value, tuple | list):
        return [_plain(element) for element in value]
    if value is None or isinstance(value, str | int | float | bool):
        return value
    raise TypeError(f"Arguments of a cell are plain values, not {value!r}.")


# ---- the version of the code -----------------------------------------------------------------


@cache
def code_version(module: str) -> str:
    """Return a checksum that changes whenever a cell of the module may change.

    Examples
    --------
    >>> len(code_version("thresher_papers._keeping"))
    16
    """
    summed = hashlib.sha256(repr(library_versions()).encode())
    for name in sorted(_reached(module)):
        summed.update(f"{name} {_meaning(name)}".encode())
        if name == "thresher.corpora._registry":
            summed.update(SOURCES["thresher"].joinpath("corpora/corpora.toml").read_bytes())
    return summed.hexdigest()[:16]


@cache
def library_versions() -> dict[str, str]:
    """Return the versions of the numerical libraries that are installed."""
    versions = {}
    for name in LIBRARIES:
        try:
            versions[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return versions


def _reached(module: str) -> set[str]:
    """Return the module and all modules of Thresher that it imports, directly or indirectly."""
    reached: set[str] = set()
    ahead = [module]
    while ahead:
        name = ahead.pop()
        if name not in reached and not name.startswith(SHOWN) and _file(name):
            reached.add(name)
            ahead += _imports(name)
    return reached | {module}


def _file(module: str) -> Path | None:
    package, *inner = module.split(".")
    if package not in SOURCES:  # an experiment of another package
        return Path(str(sys.modules[module].__file__))
    path = SOURCES[package].joinpath(*inner)
    candidates = (path.with_suffix(".py"), path / "__init__.py")
    return next((candidate for candidate in candidates if candidate.is_file()), None)


@cache
def _tree(module: str) -> ast.Module:
    path = _file(module)
    assert path is not None
    return ast.parse(path.read_text(encoding="utf-8"))


@cache
def _imports(module: str) -> list[str]:
    names, tree = [], _tree(module)
    typing_only = {
        inner
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)
        for inner in ast.walk(node)
    }
    for node in ast.walk(tree):
        if node in typing_only:
            continue
        if isinstance(node, ast.ImportFrom) and _is_ours(f"{node.module}"):
            for alias in node.names:
                # A package may re-export, perhaps lazily, a name of one of its modules.
                exported = getattr(import_module(str(node.module)), alias.name, None)
                home = getattr(exported, "__module__", "")
                names += [str(node.module), f"{node.module}.{alias.name}", str(home)]
        elif isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
    if module == "thresher.corpora":  # it imports the module of a corpus when that is loaded
        names += corpus_modules().values()
    return [name for name in names if _is_ours(name)]


def _is_ours(module: str) -> bool:
    return module != "thresher" and module.partition(".")[0] in SOURCES


@cache
def _meaning(module: str) -> str:
    """Return the syntax tree of a module without comments, docstrings and positions."""
    tree = ast.parse(ast.unparse(_tree(module)))
    for node in _with_docstrings(tree):
        node.body = node.body[1:] or [ast.Pass()]
    return ast.dump(tree)


def _with_docstrings(tree: ast.Module) -> Iterator[Any]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(
            node, clean=False
        ):
            yield node
