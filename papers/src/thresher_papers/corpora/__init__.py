"""Corpora that only the reproductions use, by name like those of the library."""
