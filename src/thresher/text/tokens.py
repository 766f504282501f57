"""Texts to tokens: folded text in one buffer of bytes, and where each token starts and ends.

The rules of `tokens` are tables that give the class of each character; a kernel folds the text and
cuts it where the class changes. A `token_pattern` is searched by `thresher.text.patterns`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from thresher._kernels.text import KIND, PAIRED, SINGLE, WHOLE, WIDTH, scan, traits
from thresher.errors import DocumentError, ParameterError
from thresher.fields import Fields, as_text, field_columns
from thresher.text import scripts

if TYPE_CHECKING:
    from thresher.text.patterns import Pattern


CHUNK_CHARACTERS = 1 << 18  # cut at a time, so that the buffers stay in the processor's cache
MOST_TOKEN_CHARACTERS = 1 << 30  # without a separator: positions in a buffer have 32 bits

# For each value of `tokens`: patterns of characters, and the class of what each pattern matches. A
# token is a run of characters of one class; a character of the class SINGLE is a token by itself.
RULES = {
    "words": ((r"\w+", 1),),
    "book": ((r"[^\W\d_]+", 1), (r"\d+", 2), (r"(?:[^\w\s]|_)+", int(SINGLE))),
    "whitespace": ((r"\S+", 1),),
}

# How letters of scripts without spaces are cut: into tokens of one character, into these and all
# pairs of neighbours, or into tokens of as many characters as stand together.
CHARACTERS, PAIRS, STRETCHES = int(SINGLE), int(PAIRED), int(WHOLE)


class Rule(NamedTuple):
    """A rule to cut texts by a table of characters."""

    tokens: str
    unspaced: int | None  # CHARACTERS, PAIRS or STRETCHES; None in models of version 2


class Tokens(NamedTuple):
    """The tokens of some documents in a buffer; valid until the next documents are cut."""

    text: np.ndarray  # uint8: the folded text, and at least 16 bytes more
    spans: np.ndarray  # uint64: start << 32 | end of each token, in bytes
    ends: np.ndarray  # int64: how many tokens there are up to the end of each finished document
    size: int  # how many bytes the tokens have together, at most, without the pairs
    has_pairs: bool = False  # whether pairs of characters that are tokens are tokens too

    @property
    def are_pairs(self) -> np.ndarray:
        """Whether each token is a pair: it starts where the token before it starts."""
        return np.asarray(self.has_pairs & (np.diff(self.sides[:, 0], prepend=-1) == 0))

    @property
    def sides(self) -> np.ndarray:
        """The start and end of each token, in bytes."""
        sides = np.stack([self.spans >> np.uint64(32), self.spans & np.uint64(0xFFFFFFFF)], axis=1)
        return sides.astype(np.int64)

    def words(self) -> list[str]:
        """Return the tokens as text."""
        data = self.text[: self.sides.max(initial=0)].tobytes()
        return [data[start:end].decode() for start, end in self.sides.tolist()]

    @classmethod
    def of_words(cls, words: Sequence[str], ends: np.ndarray | None = None) -> Tokens:
        """Return words as tokens."""
        data, offsets = encode(words)
        tokens = cls.of_bytes(padded(data), offsets[:-1], offsets[1:])
        return tokens if ends is None else tokens._replace(ends=ends)

    @classmethod
    def of_bytes(cls, text: np.ndarray, starts: np.ndarray, stops: np.ndarray) -> Tokens:
        """Return the words between these positions of `text` as tokens."""
        spans = (starts.astype(np.uint64) << np.uint64(32)) | stops.astype(np.uint64)
        return cls(text, spans, np.zeros(0, np.int64), int(stops.sum() - starts.sum()))


class Origins(NamedTuple):
    """The original position of each character of the folded text, and of its end."""

    starts: np.ndarray
    ends: np.ndarray

    def of(self, sides: np.ndarray) -> np.ndarray:
        """Return starts and ends in the original text, given those in the folded text."""
        firsts, lasts = sides.T
        # A token that ends within the expansion of a character includes the whole character.
        ends = np.where(lasts > firsts, self.ends[lasts - 1], self.starts[firsts])
        return np.stack([self.starts[firsts], ends], axis=1)


class Tokenizer:
    """Cut texts by a table of characters, or by a regular expression.

    `unspaced` says how letters of scripts without spaces are cut. None cuts as counters of version
    2 do: such letters are like all others, combining marks end a word, and texts are not composed.
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
        self.pattern = None
        if token_pattern is not None:
            from thresher.text.patterns import compiled  # which most counters do not need

            self.pattern = compiled(token_pattern)
        self.composes = self.pattern is None and unspaced is not None

    def cut(self, texts: Any, buffers: Buffers | None = None) -> Iterator[Tokens]:
        """Yield the tokens of checked texts, chunk by chunk; a long text may go on in the next.

        The tokens stand in the `buffers`, which are used again for the next chunk.
        """
        buffers = Buffers() if buffers is None else buffers
        offsets = _offsets(texts) if isinstance(texts, list) else _arrow_offsets(texts)
        for start, stop in chunks(offsets, CHUNK_CHARACTERS):
            chunk = texts[start:stop]
            if self.pattern is not None:
                chunk = chunk if isinstance(chunk, list) else chunk.to_pylist()
                yield self._cut_by_pattern(chunk, self.pattern)[0]
            else:
                yield from self._cut_by_table(chunk, buffers)

    def places(self, text: str) -> Iterator[tuple[Tokens, np.ndarray]]:
        """Yield the tokens of one text, and where each starts and ends in the folded characters."""
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
        """Return the original position of each character of the folded text."""
        folded, starts, ends = text, np.arange(len(text)), np.arange(1, len(text) + 1)
        if self.composes:
            folded, starts, ends = scripts.composed_places(text)
        if self.lowercase and len(folded.lower()) != len(folded):
            times = [len(letter.lower()) for letter in folded]
            starts, ends = np.repeat(starts, times), np.repeat(ends, times)
        return Origins(np.append(starts, len(text)), np.append(ends, len(text)))

    def _cut_by_table(self, texts: Any, buffers: Buffers) -> Iterator[Tokens]:
        """Yield the tokens of a chunk of texts, several times if there is a long text in it."""
        data, offsets, bound = characters_of(texts, self.lowercase, self.composes)
        table, ranges = character_table(self.rule, self.lowercase, bound), ascii_ranges(self.rule)
        shift = 32 if self.lowercase else 0
        has_pairs = self.rule.unspaced == PAIRS and bound > 0x100
        cursor = np.array([0, offsets[0], 0, 0], np.int64)  # document, unit, finished, size
        ends = np.empty(len(offsets) - 1, np.int64)
        # A separator follows each document.
        buffers.reserve(min(CHUNK_CHARACTERS, int(offsets[-1] - offsets[0]) + len(ends)))
        document, unit = 0, int(offsets[0])
        while document < len(ends):
            n = scan(
                data, offsets, cursor, buffers.size, table, ranges, shift, self.min_length,
                buffers.text, buffers.kinds, buffers.marks, buffers.marks.view("<u8"),
                buffers.edges, buffers.spans, ends,
            )  # fmt: skip
            before = document, unit
            document, unit, finished, size = cursor.tolist()
            if (document, unit) == before:  # not even one token fits
                buffers.reserve(2 * buffers.size)
                continue
            yield Tokens(buffers.text, buffers.spans[: int(n)], ends[:finished], size, has_pairs)

    def _cut_by_pattern(self, texts: list[str], pattern: Pattern) -> tuple[Tokens, np.ndarray]:
        """Return the tokens of some texts, and where each starts and ends in their characters.

        The characters are those of the folded texts, with a line end after each text.
        """
        texts = [text.lower() if self.lowercase else text for text in texts]
        edges = _offsets(texts)[1:] + np.arange(len(texts))
        joined = "\n".join([*texts, ""])
        if len(joined) > MOST_TOKEN_CHARACTERS:
            raise DocumentError(
                f"A document has {len(joined):,} characters, more than a pattern can be looked for "
                f"in, {MOST_TOKEN_CHARACTERS:,}; leave it out or cut it."
            )
        try:
            data = np.frombuffer(joined.encode(), np.uint8)
        except UnicodeEncodeError:
            return self._cut_by_pattern(list(map(_without_surrogates, texts)), pattern)
        if joined.isascii():
            spans, ends = pattern.find(data, edges)
            tokens = Tokens(padded(data), spans, ends, len(data))
            return tokens, tokens.sides
        characters = np.frombuffer(joined.encode("utf-32-le"), "<u4")
        spans, ends = pattern.find(characters, edges)
        sides = Tokens(data, spans, ends, 0).sides
        starts, stops = np.flatnonzero((data & 0xC0) != 0x80)[sides.T]
        return Tokens.of_bytes(padded(data), starts, stops)._replace(ends=ends), sides


class Buffers:
    """Room for folded text and tokens, used again for each chunk."""

    size = -1

    def reserve(self, size: int) -> None:
        """Make room for the text and the tokens of `size` characters."""
        if size <= self.size:
            return
        if size > MOST_TOKEN_CHARACTERS:
            raise DocumentError(
                f"A document holds more than {MOST_TOKEN_CHARACTERS:,} characters without a "
                "separator, which cannot be a word; leave it out or take other tokens."
            )
        self.size = size
        size *= 3  # bytes of UTF-8 that a unit of UTF-16 stands for at most
        self.text, self.kinds, self.marks = buffer(size), buffer(size), buffer(size)
        self.edges = np.empty(size + 16, np.uint32)
        self.spans = np.empty(size + 16, np.uint64)


def buffer(size: int) -> np.ndarray:
    """Return room for `size` bytes that can be read in blocks of eight from any position."""
    return np.empty((size + 31) // 8 * 8, np.uint8)


def padded(data: np.ndarray) -> np.ndarray:
    """Return bytes in a `buffer`."""
    text = buffer(len(data))
    text[: len(data)] = data
    return text


def checked_texts(texts: Any, fields: Fields = None) -> tuple[Any, np.ndarray]:
    """Return texts as a list of str or an Arrow array of large strings, and their offsets.

    The offsets say where each text starts and ends among all characters, or in the buffer of an
    Arrow array. Anything else is an error.
    """
    if isinstance(texts, str | bytes):
        raise ParameterError(
            f"texts is one {type(texts).__name__}, {texts[:20]!r}; it must be a list of texts, "
            "such as [text]."
        )
    if type(texts).__module__.partition(".")[0] == "pyarrow":
        texts = _checked_arrow(texts)
        return texts, _arrow_offsets(texts)
    texts = texts if isinstance(texts, list) else list(texts)
    if fields is not None and field_columns(fields):
        texts = [as_text(document, fields) for document in texts]
    if set(map(type, texts)) - {str}:  # much faster than the loop, and usually empty
        for i, text in enumerate(texts):
            if not isinstance(text, str):
                raise DocumentError(
                    f"texts[{i}] is {text!r:.40}, of type {type(text).__name__}; every text must "
                    'be a str: leave out what has no text, or put "" in its place.'
                )
    return texts, _offsets(texts)


def _checked_arrow(texts: Any) -> Any:
    """Return an Arrow array of large strings without nulls."""
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
        return np.frombuffer(joined.encode(), np.uint8), _offsets(texts)
    try:
        encoded = [text.encode() for text in texts]
    except UnicodeEncodeError:
        encoded = [_without_surrogates(text).encode() for text in texts]
    return np.frombuffer(b"".join(encoded), np.uint8), _offsets(encoded)


def _without_surrogates(text: str) -> str:
    """Return a text with U+FFFD for each lone surrogate, as it is read from files and tables."""
    return re.sub("[\ud800-\udfff]", "\N{REPLACEMENT CHARACTER}", text)


class Characters(NamedTuple):
    """Some documents as characters."""

    data: np.ndarray  # uint8: characters of one byte; uint16: UTF-16
    offsets: np.ndarray  # where each document starts and ends
    bound: int  # all characters are below


def characters_of(texts: Any, lowercase: bool, compose: bool) -> Characters:
    """Return texts as characters of one byte, or else as UTF-16, which Python encodes fastest.

    An Arrow array that is ASCII is not copied. Characters of one byte are composed already. Of
    lower-casing, only what the table of characters cannot do is done here.
    """
    if not isinstance(texts, list):
        offsets = _arrow_offsets(texts)
        data = np.frombuffer(texts.buffers()[2] or b"", np.uint8)[offsets[0] : offsets[-1]]
        if data.max(initial=0) < 0x80:
            data.flags.writeable = False  # as that of a list is, so that one compilation serves
            return Characters(data, offsets - offsets[0], 0x80)
        texts = texts.to_pylist()
    joined = "".join(texts)
    try:
        data = np.frombuffer(joined.encode("latin-1"), np.uint8)
        return Characters(data, _offsets(texts), 0x80 if joined.isascii() else 0x100)
    except UnicodeEncodeError:
        pass
    try:
        data = np.frombuffer(joined.encode("utf-16-le"), np.uint16)
    except UnicodeEncodeError:
        return characters_of(list(map(_without_surrogates, texts)), lowercase, compose)
    has = traits(data, scripts.traits_table())
    if compose and has & scripts.UNSETTLED:
        before, texts = texts, scripts.composed(texts)
        if texts != before:
            return characters_of(texts, lowercase, compose=False)
    if lowercase and has & scripts.IN_CONTEXT:
        texts = [text.lower() for text in texts]
        return characters_of(texts, lowercase=False, compose=False)
    if len(data) == len(joined):
        return Characters(data, _offsets(texts), 0x10000)
    encoded = [text.encode("utf-16-le") for text in texts]
    return Characters(data, _offsets(encoded) // 2, 0x110000 if has & scripts.FAR else 0x20000)


def _arrow_offsets(texts: Any) -> np.ndarray:
    """Return where each text of an Arrow array of large strings starts and ends in its buffer."""
    offsets = np.frombuffer(texts.buffers()[1] or bytes(8), np.int64)
    return offsets[texts.offset : texts.offset + len(texts) + 1]


def _offsets(texts: Sequence[str] | Sequence[bytes]) -> np.ndarray:
    """Return where each text starts and ends when they stand one after the other."""
    offsets = np.zeros(len(texts) + 1, np.int64)
    np.cumsum(np.fromiter(map(len, texts), np.int64, len(texts)), out=offsets[1:])
    return offsets


def chunks(offsets: np.ndarray, n_characters: int) -> Iterator[tuple[int, int]]:
    """Yield ranges of texts with these offsets: up to `n_characters`, or one longer text.

    A separator after each text is counted as a character.
    """
    start, ends = 0, offsets[1:] - offsets[0] + np.arange(1, len(offsets))
    if not len(ends) or ends[-1] <= n_characters:
        yield 0, len(ends)
        return
    while start < len(ends):
        done = ends[start - 1] if start else 0
        stop = int(np.searchsorted(ends, done + n_characters, side="right"))
        stop = max(start + 1, stop)
        yield start, stop
        start = stop


@lru_cache(maxsize=32)
def character_table(rule: Rule, lowercase: bool, bound: int) -> np.ndarray:
    """Return, for each character below `bound`, its class and the UTF-8 of what it is folded to.

    Which characters are letters and what their lower case is comes from Python itself.
    """
    characters = "".join(map(chr, range(bound)))
    if lowercase:
        for letter in scripts.CONTEXTUAL:  # the table is not used for these
            characters = characters.replace(letter, "?")
        characters = characters.lower()
    folded = np.frombuffer(characters.encode("utf-32-le", "surrogatepass"), "<u4")
    kinds = np.zeros(bound, np.uint8)
    for pattern, code in RULES[rule.tokens]:
        kinds[_matching(pattern, characters)] = code
    if rule.unspaced is not None and rule.tokens != "whitespace" and bound > 0x100:
        kinds = scripts.classified(kinds, _matching(r"\d+", characters), rule.unspaced)
    table: np.ndarray = _utf8(folded.astype(np.uint64)) | kinds.astype(np.uint64) << KIND
    # No text is broken between the halves of a surrogate pair.
    table[0xD800:0xE000] |= np.uint64(1) << KIND
    return table


def _matching(pattern: str, characters: str) -> np.ndarray:
    """Return whether each character is in a match of the pattern."""
    inside = np.zeros(len(characters), bool)
    for run in re.finditer(pattern, characters):
        inside[run.start() : run.end()] = True
    return inside


def _utf8(characters: np.ndarray) -> np.ndarray:
    """Return the UTF-8 of each character, least byte first, and over it the number of bytes."""
    table = characters | np.uint64(1) << WIDTH
    for width, first, mark in ((2, 0x80, 0xC0), (3, 0x800, 0xE0), (4, 0x10000, 0xF0)):
        value = (characters >> np.uint64(6 * (width - 1))) | np.uint64(mark)
        for i in range(1, width):
            tail = (characters >> np.uint64(6 * (width - 1 - i))) & np.uint64(0x3F)
            value |= (tail | np.uint64(0x80)) << np.uint64(8 * i)
        table = np.where(characters >= first, value | np.uint64(width) << WIDTH, table)
    return table


@cache
def ascii_ranges(rule: Rule) -> np.ndarray:
    """Return runs of ASCII characters of one class: the first, how many, and the class."""
    kinds = character_table(rule, False, 0x80) >> KIND
    starts = np.flatnonzero(np.diff(kinds, prepend=0))
    lengths = np.diff(starts, append=len(kinds))
    runs = np.stack([starts, lengths, kinds[starts]], axis=1)
    return runs[runs[:, 2] > 0].astype(np.uint8)
