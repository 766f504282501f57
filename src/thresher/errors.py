"""What can go wrong, as sentences: what was wrong, where, with what value, and what to do."""

from __future__ import annotations

TYPE_CHECKING = False  # importing `typing` or `re` takes longer than all of this module
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

LONGEST_MESSAGE, LONGEST_VALUE = 2000, 200  # characters; the middle of a longer text is left out
_PARAMETER_MARK = "\ufdd0"  # around a parameter in a message; no text has this character
# What moves the cursor, colours the screen, ends the line or turns the direction of writing, and
# halves of surrogate pairs, which are no text.
_UNPRINTED = "[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"


def escaped(text: str) -> str:
    """Return a text that somebody else wrote as it may be shown: one line, and nothing but that.

    Control characters, also those that turn the direction of writing, become what Python calls
    them.

    Examples
    --------
    >>> print(escaped("spam\\x1b[2J\\nham"))
    spam\\x1b[2J\\nham
    """
    if text.isprintable():  # nearly always, and every document's place comes here
        return text
    import re

    return re.sub(_UNPRINTED, lambda match: ascii(match[0])[1:-1], text)


def printable(text: str) -> str:
    """Return a document as it may be shown: its lines, with a mark for what is not to be printed.

    Every character keeps its place; of a line end of two, as mail has it, the first is a blank.
    """
    import re

    text = text.replace("\r\n", " \n")
    return re.sub(_UNPRINTED, lambda one: one[0] if one[0] in "\n\t" else "\ufffd", text)


def brief(value: Any) -> str:
    """Return a value as Python writes it, for a sentence: however large it is, only so much.

    Examples
    --------
    >>> len(brief("x" * 1_000_000)), brief(10**400)
    (200, 'a whole number of about 400 digits')
    """
    if isinstance(value, int) and abs(value) >= 10**40:  # Python may refuse to write it
        return f"a whole number of about {value.bit_length() * 0.30103:.0f} digits"
    try:
        return shortened(repr(value), LONGEST_VALUE)
    except (ValueError, RecursionError):
        return f"a {type(value).__name__} that is too large to show"


def shortened(text: str, most: int) -> str:
    """Return the text without its middle, where it has more than `most` characters."""
    half = (most - 3) // 2
    return text if len(text) <= most else f"{text[:half]}...{text[-(most - 3 - half) :]}"


def param(name: str, *value: Any, owner: str = "") -> str:
    """Return a parameter, or its setting to a value, for the message of an error or a warning.

    Python shows it as it is written there, the command line as an option.

    Parameters
    ----------
    name : str
        The parameter, as Python has it.
    *value : object
        The value of a setting.
    owner : str, optional
        The class of the parameter.

    Examples
    --------
    >>> error = DocumentError(f"Repair it, or leave it out ({param('on_error', 'skip')}).")
    >>> str(error)
    'Repair it, or leave it out (on_error="skip").'
    >>> error.parameters
    ['on_error="skip"']
    """
    shown = f"{owner}: {name}" if owner else name
    for setting in value:
        shown += f'="{setting}"' if isinstance(setting, str) else f"={setting!r}"
    return f"{_PARAMETER_MARK}{shown}{_PARAMETER_MARK}"


class _Message:
    """For exceptions and warnings: the message may name parameters by `param`."""

    def __str__(self) -> str:
        return self.message()

    @property
    def parameters(self) -> list[str]:
        """The parameters that the message names, with their values, as Python shows them."""
        return super().__str__().split(_PARAMETER_MARK)[1::2]

    def message(self, show: Callable[[str], str] = str) -> str:
        """Return the message on one line of limited length, its parameters as `show` has them."""
        pieces = super().__str__().split(_PARAMETER_MARK)
        pieces[1::2] = map(show, pieces[1::2])
        return escaped(shortened("".join(pieces), LONGEST_MESSAGE))


class ThresherError(_Message, Exception):
    """Base class of all errors of Thresher; on the command line, a sentence and exit status 2."""


class DocumentError(ThresherError, ValueError):
    """The documents cannot be read: a missing file, a missing column, a broken line."""


class ModelError(ThresherError, ValueError):
    """The model file cannot be read or does not fit what is asked of it."""


class NotFittedError(ModelError, AttributeError):
    """The model has not learned anything yet."""


class NoProbabilitiesError(ModelError, AttributeError):
    """The model has no probabilities, so that its method `predict_proba` does not exist."""


class ParameterError(ThresherError, ValueError):
    """A parameter has a value that makes no sense."""


class OutputError(ThresherError, OSError):
    """A file cannot be written: no such folder, no right to, no space left."""


class ThresherWarning(_Message, UserWarning):
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
    """Return a number with its noun, whose plural is regular unless `more` has it.

    Examples
    --------
    >>> counted(1, "category"), counted(1200, "category"), counted(2, "pass")
    ('1 category', '1,200 categories', '2 passes')
    """
    if number == 1:
        return f"1 {one}"
    if more is None:
        more = f"{one[:-1]}ies" if one.endswith("ry") else f"{one}{'e' * one.endswith('s')}s"
    return f"{number:,} {more}"


def reason(error: BaseException) -> str:
    """Return what another library says of an error, in one line that is not too long.

    Examples
    --------
    >>> reason(ValueError("wrong:\\n    <html>"))
    'wrong: <html>'
    """
    words = " ".join(str(getattr(error, "strerror", None) or error).split())
    return shortened(words, LONGEST_VALUE).rstrip(".") or type(error).__name__
