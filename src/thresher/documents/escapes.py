"""Text cells of CSV files that a spreadsheet would run as formulas, and how they are escaped.

A cell that begins with =, +, -, @, a tab or a carriage return, and is not a number, gets an
apostrophe before it, as does a cell that begins with apostrophes before such a character. So
removing an apostrophe restores every cell.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import pyarrow as pa

from thresher.documents.labels import decoded, is_text

_RESULTS = {"row", "document"}, {"document", "labels", "given", "kind"}
_FORMULA = r"^'*[=+\-@\t\r]"
_ESCAPED = r"^''*[=+\-@\t\r]"
_NUMBER = r"^[+-]?(\d+([.,]\d*)*|\.\d+)([eE][+-]?\d+)? ?%?$"


def are_escaped(header: Iterable[str]) -> bool:
    """Return True if columns are those of a table of answers or of errors, whose cells are escaped.

    Their names begin with "thresher_" where a column of the data has the same name.
    """
    names = {name.removeprefix("thresher_") for name in header}
    return any(names >= needed for needed in _RESULTS)


def escape_cells(array: pa.Array) -> pa.Array:
    """Return an array in which texts that would be run as formulas begin with an apostrophe.

    Examples
    --------
    >>> escape_cells(pa.array(["=1+1", "-3.5", "wheat", "- wheat"])).to_pylist()
    ["'=1+1", '-3.5', 'wheat', "'- wheat"]
    """
    if not is_text(array.type):
        return array
    import pyarrow.compute as pc

    from thresher.documents.batch import to_arrow  # `pa.scalar` would import pandas

    texts = decoded(array)
    is_formula = pc.match_substring_regex(texts, _FORMULA)
    if not pc.any(is_formula).as_py():
        return array
    is_formula = pc.and_not(is_formula, pc.match_substring_regex(texts, _NUMBER))
    apostrophe, nothing = to_arrow(["'", ""]).cast(texts.type)
    marks = pc.if_else(is_formula, apostrophe, nothing)
    return pc.binary_join_element_wise(marks, texts, nothing)


def restore_cells(array: pa.Array) -> pa.Array:
    """Return an array in which the apostrophes of `escape_cells` are removed.

    Examples
    --------
    >>> restore_cells(pa.array(["'=1+1", "'quoted'", "''- wheat"])).to_pylist()
    ['=1+1', "'quoted'", "'- wheat"]
    """
    import pyarrow.compute as pc

    if not is_text(array.type) or not pc.any(pc.match_substring_regex(array, _ESCAPED)).as_py():
        return array
    return pc.replace_substring_regex(array, r"^'('*[=+\-@\t\r])", r"\1")


def restore(batch: Any) -> None:
    """Remove such apostrophes from the texts, labels and extra columns of a `Batch`."""
    for columns in (batch.columns, batch.extra_columns):
        columns |= {
            name: restore_cells(column) if isinstance(column, pa.Array) else restored(column)
            for name, column in columns.items()
        }
    batch.labels = batch.labels and list(map(restored, batch.labels))


def restored(values: Iterable[Any]) -> list[Any]:
    """Return values without such apostrophes; those that are not texts stay as they are."""
    return [v[1:] if isinstance(v, str) and re.match(_ESCAPED, v) else v for v in values]
