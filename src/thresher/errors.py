"""Errors and warnings. Their messages name the location, the value and the remedy."""

from __future__ import annotations

TYPE_CHECKING = False  # importing `typing` or `re` takes longer than this module
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

LONGEST_MESSAGE, LONGEST_VALUE = 2000, 200  # characters; the middle of a longer text is left out
_PARAMETER_MARK = "\ufdd0"  # around parameters in messages; a noncharacter
# Characters that control the terminal, end the line, change the direction of writing or have no
# width, by which different names look the same, and lone surrogates.
_HIDDEN = (
    "\x7f-\x9f\xad\u034f\u061c\u070f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e"
    "\u2060-\u206f\u3164\ud800-\udfff\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb\U0001bca0-\U0001bca3"
    "\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
_UNPRINTED = f"[\x00-\x1f{_HIDDEN}]"


def escaped(text: str) -> str:
    """Return a text for display on one line, with control characters escaped as in Python.

    Examples
    --------
    >>> print(escaped("spam\\x1b[2J\\nham"))
    spam\\x1b[2J\\nham
    """
    if text.isascii() and text.isprintable():  # nearly always; the fast path
        return text
    import re

    return re.sub(_UNPRINTED, lambda match: ascii(match[0])[1:-1], text)


def escaped_json(text: str) -> str:
    """Return JSON in which hidden characters are escaped; it has the same meaning.

    Examples
    --------
    >>> print(escaped_json('["spam\u200b"]'))
    ["spam\\u200b"]
    """
    if text.isascii() and "\x7f" not in text:
        return text
    import json
    import re

    return re.sub(f"[{_HIDDEN}]", lambda match: json.dumps(match[0])[1:-1], text)


def printable(text: str) -> str:
    """Return a text for display on several lines, with replacement marks for control characters.

    Characters keep their positions: "\\r\\n" becomes a blank and a line feed.
    """
    import re

    text = text.replace("\r\n", " \n")
    return re.sub(_UNPRINTED, lambda match: match[0] if match[0] in "\n\t" else "\ufffd", text)


def brief(value: Any) -> str:
    """Return the `repr` of a value for a message, shortened if it is long.

    Examples
    --------
    >>> len(brief("x" * 1_000_000)), brief(10**400)
    (200, 'a whole number of about 400 digits')
    """
    if isinstance(value, int) and abs(value) >= 10**40:  # Python may refuse to convert it
        return f"a whole number of about {value.bit_length() * 0.30103:.0f} digits"
    try:
        return shortened(repr(value), LONGEST_VALUE)
    except (ValueError, RecursionError):
        return f"a {type(value).__name__} that is too large to show"


def shortened(text: str, most: int) -> str:
    """Return a text, without its middle if it has more than `most` characters."""
    half = (most - 3) // 2
    return text if len(text) <= most else f"{text[:half]}...{text[-(most - 3 - half) :]}"


def param(name: str, *value: Any, owner: str = "") -> str:
    """Return the name of a parameter, or its setting, marked for messages of errors and warnings.

    The message shows it as a Python argument; the command line shows it as an option.

    Parameters
    ----------
    name : str
        The name of the parameter in Python.
    *value : object
        The value, for a setting.
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
    """Base of exceptions and warnings whose messages may contain parameters (see `param`)."""

    def __str__(self) -> str:
        return self.message()

    @property
    def parameters(self) -> list[str]:
        """The parameters in the message, with their values, as Python arguments."""
        return super().__str__().split(_PARAMETER_MARK)[1::2]

    def message(self, show: Callable[[str], str] = str) -> str:
        """Return the message on one line of limited length; `show` formats the parameters."""
        pieces = super().__str__().split(_PARAMETER_MARK)
        pieces[1::2] = map(show, pieces[1::2])
        return escaped(shortened("".join(pieces), LONGEST_MESSAGE))


class ThresherError(_Message, Exception):
    """Base class of all errors of Thresher; the command line prints it and exits with status 2."""


class DocumentError(ThresherError, ValueError):
    """Documents cannot be read: a missing file or column, an invalid line."""


class ModelError(ThresherError, ValueError):
    """A model file cannot be read, or the model does not support an operation."""


class NotFittedError(ModelError, AttributeError):
    """The model has not been trained yet."""


class NoProbabilitiesError(ModelError, AttributeError):
    """The model has no probabilities, so it has no method `predict_proba`."""


class ParameterError(ThresherError, ValueError):
    """A parameter has an invalid value."""


class OutputError(ThresherError, OSError):
    """A file cannot be written: a missing folder, no permission, a full disk."""


class ThresherWarning(_Message, UserWarning):
    """An assumption that may be wrong; the message names the remedy."""


class SizeWarning(ThresherWarning):
    """Training will take much time or memory, perhaps because of a mistake."""


class MissingExtra(ThresherError, ImportError):  # noqa: N818
    """A library of an optional extra is not installed."""


def missing_extra(package: str, extra: str, purpose: str) -> MissingExtra:
    """Return the error for a missing library; `purpose` is a plural noun for what needs it.

    Examples
    --------
    >>> raise missing_extra("simplemma", "lemmas", "Lemmas")
    Traceback (most recent call last):
    thresher.errors.MissingExtra: Lemmas need simplemma, which is not installed: ...
    """
    return MissingExtra(
        f"{purpose} need {package}, which is not installed: pip install 'thresher[{extra}]'."
    )


def counted(number: int, noun: str, plural: str | None = None) -> str:
    """Return a number with its noun; the plural is regular unless `plural` is given.

    Examples
    --------
    >>> counted(1, "category"), counted(1200, "category"), counted(2, "pass")
    ('1 category', '1,200 categories', '2 passes')
    """
    if number == 1:
        return f"1 {noun}"
    if plural is None:
        plural = f"{noun[:-1]}ies" if noun.endswith("ry") else f"{noun}{'e' * noun.endswith('s')}s"
    return f"{number:,} {plural}"


def reason(error: BaseException) -> str:
    """Return the message of an error of another library, on one line of limited length.

    Examples
    --------
    >>> reason(ValueError("wrong:\\n    <html>"))
    'wrong: <html>'
    """
    words = " ".join(str(getattr(error, "strerror", None) or error).split())
    return shortened(words, LONGEST_VALUE).rstrip(".") or type(error).__name__
