"""What can go wrong, as sentences: what was wrong, where, with what value, and what to do."""

MOST_REASON = 200  # characters of another library's message within a sentence of ours


class ThresherError(Exception):
    """Anything that Thresher refuses; on the command line, a sentence and exit status 2."""

    def __str__(self) -> str:
        return shown(super().__str__())  # names and values are not ours: a line stays one line


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


class SizeWarning(ThresherWarning):
    """Training is about to take long or much memory, for a reason that may be a mistake."""


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


def reason(error: BaseException) -> str:
    """Return what another library says of an error, in one line that is not too long.

    Examples
    --------
    >>> reason(ValueError("wrong:\\n    <html>"))
    'wrong: <html>'
    """
    words = " ".join(str(getattr(error, "strerror", None) or error).split())
    words = words if len(words) <= MOST_REASON else f"{words[:MOST_REASON]}..."
    return words.rstrip(".") or type(error).__name__


def shown(text: str) -> str:
    """Return a text as one line: escaped what would break it, steer a terminal, or is no character.

    Examples
    --------
    >>> print(shown("caf\xe9\\n\\x1b[2J \\udcff"))
    caf\xe9\\n\\x1b[2J \\udcff
    """
    if text.isprintable():
        return text
    return "".join(_escaped(one) if _is_awkward(one) else one for one in text)


def _is_awkward(one: str) -> bool:
    if one < "\x7f":
        return one < " "
    is_steering = one <= "\x9f" or "\u2028" <= one <= "\u202e" or "\u2066" <= one <= "\u2069"
    return is_steering or "\ud800" <= one <= "\udfff"


def _escaped(one: str) -> str:
    return one.encode("unicode_escape").decode("ascii")
