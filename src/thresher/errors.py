"""What can go wrong, as sentences: what was wrong, where, with what value, and what to do."""

__all__ = ["DocumentError", "ModelError", "ParameterError", "ThresherError"]


class ThresherError(Exception):
    """Anything that Thresher refuses; on the command line, a sentence and exit status 2."""


class DocumentError(ThresherError, ValueError):
    """The documents cannot be read: a missing file, a missing column, a broken line."""


class ModelError(ThresherError, ValueError):
    """The model file cannot be read or does not fit what is asked of it."""


class ParameterError(ThresherError, ValueError):
    """A parameter has a value that makes no sense."""
