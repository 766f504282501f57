"""Names for categories that are codes, for display only."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from thresher.errors import DocumentError, ParameterError, counted

if TYPE_CHECKING:
    from thresher.categorizer import Categorizer


def read_names(path: str) -> dict[str, str]:
    """Return the names in a CSV file with two columns, code and name; a header is allowed."""
    from thresher.documents.streams import delimiter_of, first_line, n_lines, open_stream

    try:
        with open_stream(path) as stream:
            if what := stream.why_not_text():
                raise DocumentError(f"{path}: {what}.")
            opening_line, named = stream.take_separator()
            data, first = stream.read_all(), first_line(stream.head)
    except OSError as error:
        raise DocumentError(f"{path}: cannot be read ({error.strerror or error}).") from None
    delimiter = named or delimiter_of(first.decode("utf-8", "replace"))
    names: dict[str, str] = {}
    reader = csv.reader(
        io.StringIO(data.decode("utf-8", "replace"), newline=""), delimiter=delimiter
    )
    for cells in reader:
        if not any(cells):
            continue
        location = f"{path}:{reader.line_num + n_lines(opening_line)}"
        if len(cells) != 2:
            raise DocumentError(
                f"{location}: the row has {counted(len(cells), 'cell')}, where two are expected: a "
                "code and its name."
            )
        code, name = map(str.strip, cells)
        if not name:
            continue  # the code is shown
        if names.setdefault(code, name) != name:
            raise DocumentError(
                f"{location}: {code!r} is called {name!r} here and {names[code]!r} before; give it "
                "one name."
            )
    return names


def show_names(categorizer: Categorizer, path: str) -> Callable[[Any], str]:
    """Rename the categories of a model in memory; return a function that renames labels.

    The model file is not changed; its labels are codes.
    """
    from thresher.model.categories import Categories
    from thresher.parameters import names_of

    names, codes = read_names(path), categorizer.model_.categories

    def shown(label: Any) -> str:
        code = str(codes.typed_label(label))
        return names.get(code, code)

    if not names.keys() & set(codes.names):
        raise ParameterError(
            f"{path}: none of its codes is a category of the model, which has "
            f"{names_of(codes.names)}."
        )
    users: dict[str, str] = {}
    for code in codes.names:
        if (other := users.setdefault(shown(code), code)) != code:
            raise ParameterError(
                f"{path}: the categories {other!r} and {code!r} would both be called "
                f"{shown(code)!r}; give each a name of its own."
            )
    categorizer.model_.categories = Categories(map(shown, codes), codes.form)
    return shown
