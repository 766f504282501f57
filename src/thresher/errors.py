"""What can go wrong, as sentences: what was wrong, where, with what value, and what to do."""

__all__ = [
    "DocumentError",
    "MissingExtra",
    "ModelError",
    "ParameterError",
    "ThresherError",
    "missing_extra",
]


class ThresherError(Exception):
    """Anything that Thresher refuses; on the command line, a sentence and exit status 2."""


class DocumentError(ThresherError, ValueError):
    """The documents cannot be read: a missing file, a missing column, a broken line."""


class ModelError(ThresherError, ValueError):
    """The model file cannot be read or does not fit what is asked of it."""


class ParameterError(ThresherError, ValueError):
    """A parameter has a value that makes no sense."""


class MissingExtra(ThresherError, ImportError):  # noqa: N818
    """What was asked for needs a package that the base installation does without."""


def missing_extra(package: str, extra: str, purpose: str) -> MissingExtra:
    """Return the error that says which extra to install.

    Parameters
    ----------
    package, extra : str
        What is missing, and the extra of Thresher that brings it.
    purpose : str
        What needs it, as the plural subject of the sentence: "Lemmas".

    Examples
    --------
    >>> raise missing_extra("simplemma", "lemmas", "Lemmas")
    Traceback (most recent call last):
    thresher.errors.MissingExtra: Lemmas need simplemma: pip install 'thresher[lemmas]'.
    """
    return MissingExtra(f"{purpose} need {package}: pip install 'thresher[{extra}]'.")
