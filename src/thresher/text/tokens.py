"""Texts to tokens: rules as tables of characters, batches of documents as buffers of bytes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache
from typing import Any, NamedTuple

import numpy as np

from thresher._kernels.text import KIND, PAIRED, SINGLE, WHOLE, WIDTH, scan, traits
from thresher.errors import DocumentError, ParameterError
from thresher.fields import Fields, as_text, field_columns
from thresher.text.patterns import Pattern, compiled
from thresher.text.scripts import (
    CONTEXTUAL,
    FAR,
    IN_CONTEXT,
    UNSETTLED,
    classified,
    composed,
    composed_places,
    traits_table,
)

__all__ = ["CHARACTERS", "PAIRS", "RULES", "STRETCHES", "Tokenizer", "Tokens", "as_texts", "buffer"]
__all__ += ["check_texts", "chunks", "encode", "padded", "slices"]

CHUNK = 1 << 18  # characters cut at a time: what is touched then stays in the processor's cache
SLICE = 1 << 26  # characters counted at a time: what is kept between the stations stays small
MAX_TOKEN = 1 << 30  # characters without a separator; places in a buffer have 32 bits

# A rule is what its tokens are made of: patterns of characters, and the class of each pattern.
# A token is a run of one class; a character of the class SINGLE is a token by itself.
RULES = {
    "words": ((r"\w+", 1),),
    "book": ((r"[^\W\d_]+", 1), (r"\d+", 2), (r"(?:[^\w\s]|_)+", int(SINGLE))),
    "whitespace": ((r"\S+", 1),),
}

# What letters of scripts without spaces are: tokens by themselves, these and their pairs, or tokens
# of as many as stand together.
CHARACTERS, PAIRS, STRETCHES = int(SINGLE), int(PAIRED), int(WHOLE)


class Rule(NamedTuple):
    """How to cut; with no word on scripts without spaces, as it was before marks joined words."""

    tokens: str
    unspaced: int | None


class Tokens(NamedTuple):
    """Where the words of some documents stand in a buffer; valid until the next are cut."""

    text: np.ndarray  # uint8: the folded text, and at least 16 bytes more
    spans: np.ndarray  # uint64: start << 32 | end of each token, in bytes
    ends: np.ndarray  # int64: how many tokens there are up to the end of each finished document
    size: int  # how many bytes the tokens have together, at most, if pairs are left out
    has_pairs: bool = False  # tokens of two characters that are tokens too

    @property
    def n_bytes(self) -> int:
        """How many bytes the tokens have together, at most: a character is in two pairs."""
        return 3 * self.size if self.has_pairs else self.size

    @property
    def are_pairs(self) -> np.ndarray:
        """Whether each token is a pair, which starts where the token before it starts."""
        return np.asarray(self.has_pairs & (np.diff(self.sides[:, 0], prepend=-1) == 0))

    @property
    def blocks(self) -> np.ndarray:
        # Little-endian, as every machine that Numba knows; another one would be told by Numba.
        return self.text.view("<u8")

    @property
    def sides(self) -> np.ndarray:
        """Where each token starts and ends, in bytes."""
        sides = np.stack([self.spans >> np.uint64(32), self.spans & np.uint64(0xFFFFFFFF)], axis=1)
        return sides.astype(np.int64)

    def words(self) -> list[str]:
        """Return the tokens as text."""
        data = self.text[: self.sides.max(initial=0)].tobytes()
        return [data[start:end].decode() for start, end in self.sides.tolist()]

    @classmethod
    def of_words(cls, words: Sequence[str], ends: np.ndarray | None = None) -> Tokens:
        """Return words as tokens, for all that is done to tokens."""
        data, offsets = encode(words)
        tokens = cls.of_bytes(padded(data), offsets[:-1], offsets[1:])
        return tokens if ends is None else tokens._replace(ends=ends)

    @classmethod
    def of_bytes(cls, text: np.ndarray, starts: np.ndarray, stops: np.ndarray) -> Tokens:
        """Return the words that start and stop there in `text` as tokens."""
        spans = (starts.astype(np.uint64) << np.uint64(32)) | stops.astype(np.uint64)
        return cls(text, spans, np.zeros(0, np.int64), int(stops.sum() - starts.sum()))


class Origins(NamedTuple):
    """Where in a text each character of the folded text is from, and the end of both."""

    starts: np.ndarray
    ends: np.ndarray

    def of(self, sides: np.ndarray) -> np.ndarray:
        """Return starts and ends in the text for those in the folded text."""
        firsts, lasts = sides.T
        # What ends within the expansion of a character takes that character whole.
        ends = np.where(lasts > firsts, self.ends[lasts - 1], self.starts[firsts])
        return np.stack([self.starts[firsts], ends], axis=1)


class Tokenizer:
    """Cut texts by a named rule, through a table of characters, or by a regular expression.

    `unspaced` is what letters of scripts without spaces are; None cuts as models did that were made
    before such letters were told from others, before marks joined words and texts were composed.
    """

    def __init__(
        self,
        tokens: str,
        token_pattern: str | None,
        min_length: int,
        lowercase: bool,
        unspaced: int | None = CHARACTERS,
    ) -> None:
        self.rule, self.lowercase = Rule(tokens, unspaced), lowercase
        self.min_length = min_length if tokens == "words" else 1
        self.pattern = None if token_pattern is None else compiled(token_pattern)
        self.composes = self.pattern is None and unspaced is not None

    def cut(self, texts: Any) -> Iterator[Tokens]:
        """Yield the tokens of checked texts, chunk by chunk; a long text may go on in the next."""
        if self.pattern is not None:
            texts = texts if isinstance(texts, list) else texts.to_pylist()
            for start, stop in _groups(_lengths(texts), CHUNK):
                yield self._cut_by_pattern(texts[start:stop], self.pattern)[0]
            return
        room = _Room()
        for characters in _batches(texts, self.lowercase, self.composes):
            yield from self._cut_by_table(characters, room)

    def places(self, text: str) -> Iterator[tuple[Tokens, np.ndarray]]:
        """Yield the tokens of one text, and where each starts and ends in the folded characters."""
        check_texts([text])
        if self.pattern is not None:
            yield self._cut_by_pattern([text], self.pattern)
            return
        done = 0
        for tokens in self.cut([text]):
            leading = (tokens.text[: tokens.size - 1] & 0xC0) != 0x80  # without the separator
            before = np.concatenate([[0], np.cumsum(leading)]) + done
            done = int(before[-1])
            yield tokens, before[tokens.sides]

    def origins(self, text: str) -> Origins:
        """Return where in the text the characters of the folded text are from."""
        folded, starts, ends = text, np.arange(len(text)), np.arange(1, len(text) + 1)
        if self.composes:
            folded, starts, ends = composed_places(text)
        if self.lowercase and len(folded.lower()) != len(folded):
            times = [len(letter.lower()) for letter in folded]
            starts, ends = np.repeat(starts, times), np.repeat(ends, times)
        return Origins(np.append(starts, len(text)), np.append(ends, len(text)))

    def _cut_by_table(self, characters: _Characters, room: _Room) -> Iterator[Tokens]:
        data, offsets, bound = characters
        table = _table(self.rule, self.lowercase, bound)
        ranges, shift = _ranges(self.rule), 32 if self.lowercase else 0
        has_pairs = self.rule.unspaced == PAIRS and bound > 0x100
        cursor = np.array([0, offsets[0], 0, 0], np.int64)  # document, place, finished, size
        ends = np.empty(len(offsets) - 1, np.int64)
        # A separator follows each document.
        room.reserve(min(CHUNK, int(offsets[-1] - offsets[0]) + len(ends)))
        document, place = 0, int(offsets[0])
        while document < len(ends):
            n = scan(
                data, offsets, cursor, room.size, table, ranges, shift, self.min_length,
                room.text, room.kinds, room.marks, room.marks.view("<u8"), room.edges, room.spans,
                ends,
            )  # fmt: skip
            before = document, place
            document, place, finished, size = cursor.tolist()
            if (document, place) == before:  # not even one token fits
                room.reserve(2 * room.size)
                continue
            yield Tokens(room.text, room.spans[: int(n)], ends[:finished], size, has_pairs)

    def _cut_by_pattern(self, texts: list[str], pattern: Pattern) -> tuple[Tokens, np.ndarray]:
        """Return the tokens of some texts, and where each stands in their folded characters.

        A character follows each text, so that there is a place for its end.
        """
        texts = [text.lower() if self.lowercase else text for text in texts]
        edges = _lengths(texts).cumsum() + np.arange(len(texts))
        joined = "\n".join([*texts, ""])
        if len(joined) > MAX_TOKEN:
            raise DocumentError(
                f"A document has {len(joined):,} characters, more than a pattern can be looked for "
                f"in, {MAX_TOKEN:,}; leave it out or cut it."
            )
        data = np.frombuffer(joined.encode("utf-8", "replace"), np.uint8)
        if joined.isascii():
            spans, ends = pattern.find(data, edges)
            tokens = Tokens(padded(data), spans, ends, len(data))
            return tokens, tokens.sides
        characters = np.frombuffer(joined.encode("utf-32-le", "surrogatepass"), "<u4")
        spans, ends = pattern.find(characters, edges)
        sides = Tokens(data, spans, ends, 0).sides
        starts, stops = np.flatnonzero((data & 0xC0) != 0x80)[sides.T]
        return Tokens.of_bytes(padded(data), starts, stops)._replace(ends=ends), sides


class _Room:
    """Where folded text and tokens are written, used again for each chunk."""

    size = -1

    def reserve(self, size: int) -> None:
        """Make room for the text and the tokens of `size` characters."""
        if size <= self.size:
            return
        if size > MAX_TOKEN:
            raise DocumentError(
                f"A document holds more than {MAX_TOKEN:,} characters without a separator, which "
                "cannot be a word; leave it out or take other tokens."
            )
        self.size = size
        size *= 3  # bytes of UTF-8 that a unit of UTF-16 stands for at most
        self.text, self.kinds, self.marks = buffer(size), buffer(size), buffer(size)
        self.edges = np.empty(size + 16, np.uint32)
        self.spans = np.empty(size + 16, np.uint64)


def buffer(size: int) -> np.ndarray:
    """Return room for `size` bytes that can be read in blocks of eight from any place."""
    return np.empty((size + 31) // 8 * 8, np.uint8)


def padded(data: np.ndarray) -> np.ndarray:
    """Return bytes in a `buffer`."""
    text = buffer(len(data))
    text[: len(data)] = data
    return text


def as_texts(texts: Any, fields: Fields = None) -> Any:
    """Return texts as a list of str or an Arrow array of large strings without nulls."""
    if isinstance(texts, str | bytes):
        raise ParameterError(
            f"texts is one {type(texts).__name__}, {texts[:20]!r}; it must be a list of texts, "
            "such as [text]."
        )
    if type(texts).__module__.partition(".")[0] != "pyarrow":
        texts = texts if isinstance(texts, list) else list(texts)
        return [as_text(one, fields) for one in texts] if field_columns(fields) else texts
    import pyarrow as pa

    if isinstance(texts, pa.ChunkedArray):
        texts = pa.concat_arrays(texts.chunks) if texts.num_chunks else pa.array([], texts.type)
    if str(texts.type) not in ("string", "large_string", "string_view", "null"):
        raise DocumentError(
            f"texts is an Arrow array of {texts.type}; it must be one of strings: cast it."
        )
    texts = _with_long_offsets(texts)
    try:
        texts.validate(full=True)
    except pa.ArrowInvalid as error:
        raise DocumentError(f"texts is an Arrow array that is not valid: {error}.") from error
    return texts.fill_null("") if texts.null_count else texts


def _with_long_offsets(texts: Any) -> Any:
    """Return an Arrow array of large strings; `cast` alone would import all of pyarrow.compute."""
    import pyarrow as pa

    if pa.types.is_large_string(texts.type):
        return texts
    if not pa.types.is_string(texts.type) or texts.null_count or not len(texts):
        return texts.cast(pa.large_string())
    _, offsets, data = texts.buffers()
    ends = np.frombuffer(offsets, np.int32)[texts.offset : texts.offset + len(texts) + 1]
    buffers = [None, pa.py_buffer(ends.astype(np.int64)), data]
    return pa.Array.from_buffers(pa.large_string(), len(texts), buffers)


def encode(texts: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
    """Return the UTF-8 bytes of texts, and where each starts and ends."""
    joined = "".join(texts)
    if joined.isascii():
        return np.frombuffer(joined.encode(), np.uint8), _offsets(_lengths(texts))
    parts = [text.encode("utf-8", "replace") for text in texts]
    return np.frombuffer(b"".join(parts), np.uint8), _offsets(_lengths(parts))


class _Characters(NamedTuple):
    """Some documents as characters."""

    data: np.ndarray  # uint8: characters of one byte; uint16: UTF-16
    offsets: np.ndarray  # where each document starts and ends
    bound: int  # all characters are below


def _batches(texts: Any, lowercase: bool, compose: bool) -> Iterator[_Characters]:
    """Yield some documents at a time."""
    if not isinstance(texts, list):
        yield from _arrow_batches(texts, lowercase, compose)
        return
    lengths = _lengths(texts)
    for start, stop in _groups(lengths, CHUNK):
        yield _characters(texts[start:stop], lengths[start:stop], lowercase, compose)


def _characters(
    texts: list[str], lengths: np.ndarray, lowercase: bool, compose: bool
) -> _Characters:
    """Return texts as characters of one byte, or else as UTF-16, which Python makes fastest.

    Halves of surrogate pairs, which no UTF can hold, become question marks. Characters of one byte
    are composed already. Of lower-casing, only what the table of characters cannot do is done here.
    """
    joined = "".join(texts)
    try:
        data = np.frombuffer(joined.encode("latin-1"), np.uint8)
        return _Characters(data, _offsets(lengths), 0x80 if joined.isascii() else 0x100)
    except UnicodeEncodeError:
        data = np.frombuffer(joined.encode("utf-16-le", "replace"), np.uint16)
    has = traits(data, traits_table())
    if compose and has & UNSETTLED:
        before, texts = texts, composed(texts)
        if texts != before:
            return _characters(texts, _lengths(texts), lowercase, compose=False)
    if lowercase and has & IN_CONTEXT:
        texts = [text.lower() for text in texts]
        return _characters(texts, _lengths(texts), lowercase=False, compose=False)
    if len(data) == len(joined):
        return _Characters(data, _offsets(lengths), 0x10000)
    parts = [text.encode("utf-16-le", "replace") for text in texts]
    return _Characters(data, _offsets(_lengths(parts) // 2), 0x110000 if has & FAR else 0x20000)


def _arrow_batches(texts: Any, lowercase: bool, compose: bool) -> Iterator[_Characters]:
    """Yield the buffers of an Arrow array, without copying them where they are ASCII."""
    _, offsets, data = texts.buffers()
    if not len(texts):
        return
    offsets = np.frombuffer(offsets, np.int64)[texts.offset : texts.offset + len(texts) + 1]
    data = np.frombuffer(data or b"", np.uint8)
    data.flags.writeable = False  # as that of a list is: one type, one compilation
    for start, stop in _groups(np.diff(offsets), CHUNK):
        part = data[offsets[start] : offsets[stop]]
        if part.max(initial=0) >= 0x80:
            strings = texts.slice(start, stop - start).to_pylist()
            yield _characters(strings, _lengths(strings), lowercase, compose)
        else:
            yield _Characters(part, offsets[start : stop + 1] - offsets[start], 0x80)


def _lengths(texts: Sequence[str] | Sequence[bytes]) -> np.ndarray:
    return np.fromiter(map(len, texts), np.int64, len(texts))


def _offsets(lengths: np.ndarray) -> np.ndarray:
    offsets = np.zeros(len(lengths) + 1, np.int64)
    lengths.cumsum(out=offsets[1:])
    return offsets


def check_texts(texts: Any) -> np.ndarray:
    """Return the length of each text, in bytes in an Arrow array, once each is seen to be one."""
    if not isinstance(texts, list):
        offsets = np.frombuffer(texts.buffers()[1] or b"", np.int64)
        return np.diff(offsets[texts.offset : texts.offset + len(texts) + 1])
    if set(map(type, texts)) - {str}:  # much faster than the loop, and so is the usual answer
        for i, text in enumerate(texts):
            if not isinstance(text, str):
                raise DocumentError(
                    f"texts[{i}] is {text!r:.40}, of type {type(text).__name__}; every text must "
                    'be a str: leave out what has no text, or put "" in its place.'
                )
    return _lengths(texts)


def slices(sizes: np.ndarray) -> Iterator[tuple[int, int]]:
    """Yield ranges of texts, of these sizes, that are counted at a time."""
    return _groups(sizes, SLICE)


def chunks(sizes: np.ndarray) -> Iterator[tuple[int, int]]:
    """Yield ranges of texts, of these sizes, that are cut at a time, a separator after each."""
    return _groups(sizes + 1, CHUNK)


def _groups(lengths: np.ndarray, size: int) -> Iterator[tuple[int, int]]:
    """Yield ranges of documents of up to `size` characters, or of one document that has more."""
    start, ends = 0, lengths.cumsum()
    if not len(ends) or ends[-1] <= size:
        yield 0, len(ends)
        return
    while start < len(lengths):
        done = ends[start - 1] if start else 0
        stop = max(start + 1, int(np.searchsorted(ends, done + size, side="right")))
        yield start, stop
        start = stop


@lru_cache(maxsize=32)
def _table(rule: Rule, lowercase: bool, bound: int) -> np.ndarray:
    """Return, for each character below `bound`, its class and the UTF-8 of what it is folded to.

    Python itself is asked what a letter is and what its lower case is, for all characters at once.
    """
    characters = "".join(map(chr, range(bound)))
    if lowercase:
        for letter in CONTEXTUAL:  # these never come here: any mapping of one to one will do
            characters = characters.replace(letter, "?")
        characters = characters.lower()
    folded = np.frombuffer(characters.encode("utf-32-le", "surrogatepass"), "<u4")
    kinds = np.zeros(bound, np.uint8)
    for pattern, code in RULES[rule.tokens]:
        kinds[_all(pattern, characters)] = code
    if rule.unspaced is not None and rule.tokens != "whitespace" and bound > 0x100:
        kinds = classified(kinds, _all(r"\d+", characters), rule.unspaced)
    table: np.ndarray = _utf8(folded.astype(np.uint64)) | kinds.astype(np.uint64) << KIND
    # No text is broken between the halves of a surrogate pair.
    table[0xD800:0xE000] |= np.uint64(1) << KIND
    return table


def _all(pattern: str, characters: str) -> np.ndarray:
    """Return whether each character is in a run that the pattern finds."""
    inside = np.zeros(len(characters), bool)
    for run in re.finditer(pattern, characters):
        inside[run.start() : run.end()] = True
    return inside


def _utf8(characters: np.ndarray) -> np.ndarray:
    """Return the UTF-8 of each character, least byte first, and over it the number of bytes."""
    table = characters | np.uint64(1) << WIDTH
    for width, least, mark in ((2, 0x80, 0xC0), (3, 0x800, 0xE0), (4, 0x10000, 0xF0)):
        value = (characters >> np.uint64(6 * (width - 1))) | np.uint64(mark)
        for i in range(1, width):
            tail = (characters >> np.uint64(6 * (width - 1 - i))) & np.uint64(0x3F)
            value |= (tail | np.uint64(0x80)) << np.uint64(8 * i)
        table = np.where(characters >= least, value | np.uint64(width) << WIDTH, table)
    return table


@cache
def _ranges(rule: Rule) -> np.ndarray:
    """Return the first, the number and the class of the ASCII characters of tokens, run by run."""
    kinds = _table(rule, False, 0x80) >> KIND
    starts = np.flatnonzero(np.diff(kinds, prepend=0))
    lengths = np.diff(starts, append=len(kinds))
    runs = np.stack([starts, lengths, kinds[starts]], axis=1)
    return runs[runs[:, 2] > 0].astype(np.uint8)
