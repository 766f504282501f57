"""What can go wrong, as sentences: what was wrong, where, with what value, and what to do."""

__all__ = [
    "DocumentError", "MissingExtra", "ModelError", "ParameterError", "ThresherError",
    "missing_extra",
]  # fmt: skip


class ThresherError(Exception):
    """Anything that Thresher refuses; on the command line, a sentence and exit status 2."""


class DocumentError(ThresherError, ValueError):
    """The documents cannot be read: a missing file, a missing column, a broken line."""


class ModelError(ThresherError, ValueError):
    """The model file cannot be read or does not fit what is asked of it."""


class ParameterError(ThresherError, ValueError):
    """A parameter has a value that makes no sense."""


class MissingExtra(ThresherError, ImportError):  # noqa: N818 - what it says is enough
    """Something was asked for that needs a package which is not part of the base installation."""


def missing_extra(package: str, extra: str, purpose: str) -> MissingExtra:
    """Return the error that says which extra to install; `purpose` is what needs it, in the plural.

    Examples
    --------
    >>> print(missing_extra("matplotlib", "plots", "Pictures"))
    Pictures need matplotlib, which is not installed: pip install 'thresher[plots]'
    """
    return MissingExtra(
        f"{purpose} need {package}, which is not installed: pip install 'thresher[{extra}]'"
    )
