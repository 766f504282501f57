"""Documents from files, folders, tables and lists, as batches of texts and labels."""

from __future__ import annotations

from importlib import import_module

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from thresher.documents.batch import Batch
    from thresher.documents.columns import Columns
    from thresher.documents.documents import (
        Documents,
        column_to_list,
        from_texts,
        read_documents,
    )

__all__ = ["Batch", "Columns", "Documents", "column_to_list", "from_texts", "read_documents"]

# Imported when first used, because the command line often needs only the names of the formats.
_MODULES = {"Batch": "batch", "Columns": "columns"}


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'thresher.documents' has no attribute {name!r}")
    return getattr(import_module(f"thresher.documents.{_MODULES.get(name, 'documents')}"), name)
