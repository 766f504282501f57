"""Corpora that only the reproductions use; they are known by name like the library's own."""
