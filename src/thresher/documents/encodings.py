"""Encodings of text files: recognized, and converted to UTF-8 while the file is read.

A file is UTF-8 unless it begins with the byte order mark of UTF-16 or UTF-32, or its first bytes
outside ASCII are not UTF-8. Most such files are Windows-1252, as Excel saves tables in Western
Europe. Where the letters are mostly outside ASCII, or bytes occur that are undefined there,
charset-normalizer recognizes the encoding.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable

from thresher.errors import ParameterError, param

UTF8, WESTERN = "utf-8", "cp1252"
REPLACED = "thresher.replaced"  # an error handler for decoding
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
# UTF-32 first, because its mark begins with that of UTF-16.
MARKS = {
    codecs.BOM_UTF32_LE: "utf-32", codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16",
}  # fmt: skip
SAMPLE = 1 << 16  # bytes from which the encoding is recognized, from the first one outside ASCII
CONTEXT = 1 << 10  # bytes before it
VALID_PER_INVALID = 0.5  # valid runs of bytes outside ASCII for each invalid one, in damaged UTF-8
FEWEST_BYTES = 12  # outside ASCII, from which charset-normalizer recognizes anything
LONGEST_RUN = 1.5  # successive bytes outside ASCII on average, in Western European text
# The candidates of charset-normalizer: with fewer, short texts are recognized more often.
OTHERS = ["cp1251", "koi8_r", "cp1253", "cp1255", "cp1256", "shift_jis", "euc_jp", "gb18030",
          "big5", "euc_kr"]  # fmt: skip
UNDEFINED = b"\x81\x8d\x8f\x90\x9d"  # in Windows-1252
NOT_WESTERN = ["cp1250", "cp1251", "mac_roman", "cp850", "cp852", "cp866"]  # if these occur
HIGH_PER_UNDEFINED = 1000  # bytes outside ASCII for each undefined one, if these are no damage

BYTES_FOR_ALL = b"\xff\xfe\0\0"  # includes the byte order mark of UTF-16 and UTF-32
UNORDERED = ("utf-16", "utf-32")  # the order of bytes is given by a byte order mark

_STRANGE = re.compile("[\ud800-\udc7f\udd00-\udfff]")  # surrogates that do not stand for bytes
_escape = codecs.lookup_error("surrogateescape")


def _replaced(error: UnicodeError) -> tuple[str | bytes, int]:
    """Decode bytes as lone surrogates, which readers count and replace."""
    assert isinstance(error, UnicodeDecodeError)
    try:
        return _escape(error)
    except UnicodeDecodeError:  # an ASCII byte, such as half of a character in UTF-16
        return "\udcff", error.end


codecs.register_error(REPLACED, _replaced)


def check_encoding(encoding: str | None) -> None:
    """Raise `ParameterError` unless this is the name of an encoding of text, or `None`."""
    if encoding is None:
        return
    try:
        _decoder(encoding).decode(BYTES_FOR_ALL, final=True)
    except (LookupError, ValueError, TypeError, AssertionError):
        shown = str(encoding)[:40]
        raise ParameterError(
            f"{param('encoding')} is {shown!r}, which is no encoding of text known to Python; "
            "usual are utf-8, cp1252 (Western Europe), cp1250 (Central Europe), cp1251 (Cyrillic), "
            "utf-16, shift_jis and gb18030."
        ) from None


def ordered(encoding: str, head: bytes) -> str:
    """Return the encoding; with the usual order of bytes if it is UTF-16 without a mark of it."""
    name = codecs.lookup(encoding).name
    return f"{name}-le" if name in UNORDERED and marked(head) is None else name


def marked(head: bytes) -> str | None:
    """Return the encoding whose byte order mark begins the data, other than UTF-8, or `None`."""
    return next((name for mark, name in MARKS.items() if head.startswith(mark)), None)


def encoding_of(data: bytes, likely: str | None = None) -> str:
    """Return the encoding of data that may be cut off at its end.

    If it is not UTF-8, it is the likely one if there is one that can decode it.

    Examples
    --------
    >>> [encoding_of("Stra\\u00dfe, M\\u00f6bel".encode(name)) for name in ("utf-8", "latin-1")]
    ['utf-8', 'cp1252']
    """
    if _is_utf8(data):
        return UTF8
    runs = re.findall(rb"[\x80-\xff]+", data)
    n_valid = sum(map(_is_utf8, runs))
    if n_valid >= VALID_PER_INVALID * (len(runs) - n_valid):
        return UTF8
    if likely is not None and _is_text(data, likely):
        return likely
    n_high = sum(map(len, runs))
    n_letters = len(re.findall(rb"[A-Za-z]", data))
    is_other = n_high > n_letters or n_high > LONGEST_RUN * len(runs)
    n_undefined = sum(map(data.count, UNDEFINED))
    is_western = n_undefined * HIGH_PER_UNDEFINED < n_high
    for is_possible, candidates in ((is_other, OTHERS), (not is_western, NOT_WESTERN)):
        if is_possible and n_high >= FEWEST_BYTES:
            from charset_normalizer import from_bytes

            best = from_bytes(data, cp_isolation=candidates).best()
            if best is not None:
                return best.encoding
    return WESTERN


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def _is_text(data: bytes, encoding: str) -> bool:
    try:
        codecs.getincrementaldecoder(encoding)().decode(data)
    except UnicodeError:
        return False
    return True


def _decoder(encoding: str) -> codecs.IncrementalDecoder:
    "".encode(encoding)  # raises an error for encodings of other things than text
    return codecs.getincrementaldecoder(encoding)(REPLACED)


def keeps_ascii(encoding: str) -> bool:
    """Return True if ASCII characters are the same bytes in this encoding."""
    return "a\n".encode(encoding) == b"a\n"


class Converter:
    """A reader of bytes that converts text to UTF-8.

    Parameters
    ----------
    read : callable
        Returns up to so many of the next bytes, and b"" at the end.
    encoding : str or None
        The encoding; `None` to recognize it.
    assume : callable
        Called with the name of an encoding that was recognized and is not UTF-8.
    likely : str, optional
        The encoding to assume first if the text is not UTF-8.
    """

    def __init__(
        self,
        read: Callable[[int], bytes],
        encoding: str | None,
        assume: Callable[[str], object],
        likely: str | None = None,
    ) -> None:
        self._read, self._assume, self._likely = read, assume, likely
        self._is_known = False
        self.encoding: str | None = None  # None until it is known, and for UTF-8
        self._decoder: codecs.IncrementalDecoder | None = None
        self._before = b""
        if encoding is not None:
            self._use(encoding)

    def read(self, size: int) -> bytes:
        """Return about `size` bytes of UTF-8; b"" at the end."""
        while True:
            data = self._read(size)
            if not self._is_known and not data.isascii():
                data = self._recognize(data)
            if not self._is_known:
                before = b"" if len(data) >= CONTEXT else self._before
                self._before = (before + data[-CONTEXT:])[-CONTEXT:]
            if self._decoder is None:
                return data
            text = self._decoder.decode(data, final=not data)
            if text or not data:
                return _STRANGE.sub("\udcff", text).encode(UTF8, "surrogateescape")

    def original(self, data: bytes) -> bytes:
        """Return data of the converted text as it was, unless that is UTF-16 or the like."""
        if self.encoding is None or not keeps_ascii(self.encoding):
            return data
        return data.decode(UTF8, "surrogateescape").encode(self.encoding, "surrogateescape")

    def _recognize(self, data: bytes) -> bytes:
        """Choose the encoding by a sample that does not depend on the size of the pieces read."""
        match = re.search(rb"[\x80-\xff]", data)
        start = match.start() if match else 0
        pieces, n_missing = [data], start + SAMPLE - len(data)
        while n_missing > 0 and (piece := self._read(n_missing)):
            pieces.append(piece)
            n_missing -= len(piece)
        data = b"".join(pieces)
        before = (self._before + data[:start])[-CONTEXT:]
        sample = data[start : start + SAMPLE]
        if len(sample) == SAMPLE:  # not to be cut within a character of several bytes
            sample = (
                sample[: max(map(sample.rfind, (b" ", b"\n"))) + 1]
                or sample[: codecs.utf_8_decode(sample, "ignore")[1]]
            )
        encoding = encoding_of(before + sample, self._likely)
        if encoding != UTF8:
            self._assume(encoding)
        self._use(encoding)
        return data

    def _use(self, encoding: str) -> None:
        self._is_known = True
        if codecs.lookup(encoding).name != UTF8:
            self.encoding, self._decoder = encoding, _decoder(encoding)
