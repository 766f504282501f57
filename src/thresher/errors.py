"""What can go wrong, as sentences: what was wrong, where, with what value, and what to do."""


class ThresherError(Exception):
    """Anything that Thresher refuses; on the command line, a sentence and exit status 2."""


class DocumentError(ThresherError, ValueError):
    """The documents cannot be read: a missing file, a missing column, a broken line."""


class ModelError(ThresherError, ValueError):
    """The model file cannot be read or does not fit what is asked of it."""


class NotFittedError(ModelError, AttributeError):
    """The model has not learned anything yet."""


class ParameterError(ThresherError, ValueError):
    """A parameter has a value that makes no sense."""


class OutputError(ThresherError, OSError):
    """A file cannot be written: no such folder, no right to, no space left."""


class ThresherWarning(UserWarning):
    """Something was assumed that may well be wrong; the sentence has the remedy."""


class MissingExtra(ThresherError, ImportError):  # noqa: N818 - it is a state, not a mistake
    """What is asked needs a library that comes with an extra, which is not installed."""


def missing_extra(package: str, extra: str, purpose: str) -> MissingExtra:
    """Return the error for a library of an extra, without which a purpose (a plural) fails.

    Examples
    --------
    >>> raise missing_extra("simplemma", "lemmas", "Lemmas")
    Traceback (most recent call last):
    thresher.errors.MissingExtra: Lemmas need simplemma, which is not installed: ...
    """
    return MissingExtra(
        f"{purpose} need {package}, which is not installed: pip install 'thresher[{extra}]'."
    )


def counted(number: int, one: str, more: str | None = None) -> str:
    """Return a number with its noun, which is `one` with an s where there are `more`."""
    return f"{number:,} {one if number == 1 else more or one + 's'}"
