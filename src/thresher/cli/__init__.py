"""The command line: one file per verb; `main` runs it. Nothing is imported here."""
