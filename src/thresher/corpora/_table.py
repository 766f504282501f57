"""The UCI tables: attributes into features, as in Carvalho and Cohen (2006, section 4.1).

A nominal attribute becomes one binary feature per value, `attribute=value`; a number stays one
feature with its value. Examples with a missing value ('?') are left out. The same examples are
also text, one `attribute=value` token per attribute, for learners that only know words.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from thresher.corpora._archive import TABLE_COMMENT, read_bytes
from thresher.corpora._corpus import Split
from thresher.corpora._registry import File, Form
from thresher.errors import DocumentError

__all__ = ["MISSING", "UCI_TERMS", "examples", "features", "table_rows", "tokens", "uci_file"]

MISSING = "?"
UCI = "https://archive.ics.uci.edu/ml/machine-learning-databases"
UCI_TERMS = "Free for research with citation; the archive lists its donated sets under CC BY 4.0."
UCI_VERIFIED = "the sha256 of its lines, without blank ones and remarks"


def uci_file(folder: str, path: str, contents: str, *packed: Form) -> File:
    """Describe a table by its path in the UCI archive, and other forms in which it is found."""
    name = path.rpartition("/")[2]
    return File(folder, (Form(name, url=f"{UCI}/{path}"), *packed), contents)


def table_rows(path: Path, width: int) -> Iterator[tuple[int, list[str]]]:
    """Yield number and cells of each line that is neither blank nor a remark."""
    for number, line in enumerate(read_bytes(path).splitlines(), 1):
        if line.strip() and not line.startswith(TABLE_COMMENT):
            cells = [cell.strip() for cell in line.decode("latin-1").split(",")]
            if len(cells) != width:
                raise DocumentError(
                    f"{path.name}:{number} has {len(cells)} fields instead of {width}; "
                    "it is not the published table. Delete it and fetch it again."
                )
            yield number, cells


def features(
    names: Sequence[str], cells: Sequence[str], numbers: Iterable[str]
) -> dict[str, float]:
    """Return the features of an example that are not zero."""
    numeric = set(numbers)
    row = {}
    for name, cell in zip(names, cells, strict=True):
        if name in numeric:
            row[name] = float(cell)
        else:
            row[f"{name}={cell}"] = 1.0
    return {name: value for name, value in row.items() if value}


def tokens(names: Sequence[str], cells: Sequence[str]) -> str:
    """Return an example as text: one token per attribute."""
    return " ".join(f"{name}={cell}" for name, cell in zip(names, cells, strict=True))


def examples(
    path: Path,
    names: Sequence[str],
    numbers: Iterable[str],
    labels: dict[str, str],
    *,
    leading: int = 0,
) -> Split:
    """Read a table whose last column is the class; leave out examples with a missing value.

    Parameters
    ----------
    path : Path
        The table.
    names : sequence of str
        The attributes, in the order of the columns.
    numbers : iterable of str
        Those that are numbers; the others are nominal.
    labels : dict
        The category of each class as the table writes it.
    leading : int
        Columns before the attributes that are no attributes. Default 0.
    """
    split = Split()
    for number, line in table_rows(path, leading + len(names) + 1):
        cells, label = line[leading:-1], line[-1]
        if MISSING not in cells:
            row = features(names, cells, numbers)
            split.append(tokens(names, cells), [labels[label]], f"{path.name}:{number}", row)
    return split
