"""Mail: messages (.eml) and mailboxes (mbox); the columns are the headers and the body."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from email import message_from_bytes
from email._policybase import Compat32
from email.errors import HeaderParseError
from email.header import decode_header
from email.message import Message
from functools import partial
from html import unescape
from itertools import chain, islice

from thresher.documents.batch import Batch, Reading, Record
from thresher.documents.encodings import REPLACED, UTF8, check_encoding, encoding_of
from thresher.documents.formats import READERS
from thresher.documents.streams import Stream, line_blocks
from thresher.errors import DocumentError, reason

USUAL = ("subject", "body")
SAMPLE = 20  # messages from which the headers are collected
ENVELOPE = re.compile(READERS["mbox"].opening)  # the line that begins a message in a mailbox
QUOTED_FROM = re.compile(rb"^>(>*From )", re.MULTILINE)  # written for lines that began with "From "
SILENT_TAGS = {"script", "style", "title", "template"}  # with what is inside them
INLINE_TAGS = {"a", "abbr", "b", "big", "em", "font", "i", "small", "span", "strong", "u"}
# Comments, declarations and tags. Quantifiers are possessive and the end of the text closes what is
# open, so that no character is read twice.
MARKUP = re.compile(
    r"""<!--(?:-?>|(?:[^-]++|-(?!-!?>))*+(?:--!?>|\Z))
    | <[!?][^>]*+(?:>|\Z)
    | </?(?P<tag>[a-zA-Z][^\s/>]*+)
      (?:[^>"'=]++ | =\s*+(?:"[^"]*+(?:"|\Z) | '[^']*+(?:'|\Z))?+ | ["'])*+ (?:>|\Z)
    | </[^>]*+(?:>|\Z)""",
    re.VERBOSE,
)
CLOSING = {tag: re.compile(rf"</{tag}\b[^>]*+(?:>|\Z)", re.IGNORECASE) for tag in SILENT_TAGS}
LONG_NUMBER = re.compile(r"&#[0-9]{8,};?")  # of no character; Python would refuse to convert it
LONGEST_HEADER = 1 << 13  # characters; Python's time to read a header grows with its square
# Exceptions of the standard library's parser for invalid mail.
PARSER_ERRORS = (AttributeError, LookupError, RecursionError, TypeError, ValueError)

Decode = Callable[[bytes, str | None], str]


class _Policy(Compat32):
    """The usual policy, except that long headers are cut off."""

    def header_source_parse(self, sourcelines: list[str]) -> tuple[str, str]:
        name, value = super().header_source_parse(sourcelines)
        return name, value[:LONGEST_HEADER]


parse_message = partial(message_from_bytes, policy=_Policy())


def read_mbox(
    stream: Stream, reading: Reading, messages: Iterator[tuple[str, bytes]] | None = None
) -> Iterator[Batch]:
    """Yield the messages of a mailbox, or the given messages."""
    messages = mailbox_messages(stream) if messages is None else messages
    first = list(islice(messages, SAMPLE))
    available = headers_of([data for _, data in first], reading)
    columns = reading.choose(stream.name, available, USUAL)

    names = (*columns.names, *reading.keep)

    def records() -> Iterator[Record]:
        for location, data in chain(first, messages):
            try:
                record = Record.of(
                    columns, message_texts(data, names, decoder(reading, location)), location
                )
            except DocumentError as error:
                record = reading.refuse(location, str(error))
            yield record

    yield from reading.gather(columns, records())


def read_eml(stream: Stream, reading: Reading) -> Iterator[Batch]:
    """Yield the one message of a file."""
    data = stream.read_all()
    return read_mbox(stream, reading, iter([(stream.name, data)] if data else []))


def headers_of(messages: Iterable[bytes], reading: Reading) -> list[str]:
    """Return the columns of some messages, spelled as requested, with subject and body."""
    names = dict.fromkeys(USUAL)
    for data in messages:
        with suppress(*PARSER_ERRORS):  # reported when the message is read
            names.update(dict.fromkeys(name.lower() for name in parse_message(data)))
    spelled = {name.lower(): name for name in reading.request.named}
    return [spelled.get(name, name) for name in names]


def decoder(reading: Reading, location: str) -> Decode:
    """Return the function that decodes data in the declared encoding, or as it is recognized.

    Invalid bytes become lone surrogates.
    """

    def decode(data: bytes, charset: str | None) -> str:
        with suppress(LookupError, ValueError):
            check_encoding(charset)  # refuses punycode, which takes quadratic time
            return data.decode(charset or "ascii")
        request = reading.request
        encoding = request.encoding or encoding_of(data, request.likely_encoding)
        if encoding not in (UTF8, request.encoding):
            reading.assume(location, encoding)
        return data.decode(encoding, REPLACED)

    return decode


def message_texts(data: bytes, names: Sequence[str], decode: Decode) -> tuple[str, ...]:
    """Return the named fields of a message, or raise `DocumentError`."""
    try:
        message = parse_message(data)
        return tuple(
            _body(message, decode) if name.lower() == "body" else _header(message, name, decode)
            for name in names
        )
    except PARSER_ERRORS as error:
        raise DocumentError(f"the message cannot be parsed ({reason(error)})") from None


def mailbox_messages(stream: Stream) -> Iterator[tuple[str, bytes]]:
    """Yield the messages of a mailbox, each with the location of its first line."""
    if stream.head and not stream.head.startswith(b"From "):
        opening = stream.head[:40].decode("utf-8", "replace")
        raise DocumentError(
            f'{stream.name}:1: a mailbox begins with a line "From ...", not with {opening!r}; '
            "give a mailbox, or another format."
        )
    lines: list[bytes] = []
    number, start, size, after_blank = 0, 1, 0, True
    for block in line_blocks(stream):
        for line in io.BytesIO(block):
            number += 1
            if number == 1 or (after_blank and ENVELOPE.match(line)):
                if number > 1:
                    yield f"{stream.name}:{start}", QUOTED_FROM.sub(rb"\1", b"".join(lines))
                lines, start, size = [], number, 0
            else:
                lines.append(line)
                size += len(line)
                if size > stream.longest:
                    raise stream.too_long(f"has more than {stream.longest} bytes", start)
            after_blank = not line.strip()
    if number:
        yield f"{stream.name}:{start}", QUOTED_FROM.sub(rb"\1", b"".join(lines))


def _header(message: Message, name: str, decode: Decode) -> str:
    values = (_decoded_header(value, decode) for value in message.get_all(name, []))
    return " ".join(value.replace("\n", " ").strip() for value in values)


def _decoded_header(value: str, decode: Decode) -> str:
    try:
        chunks = decode_header(value)
    except HeaderParseError:
        return str(value)
    return "".join(
        decode(chunk, charset) if isinstance(chunk, bytes) else chunk for chunk, charset in chunks
    )


def _body(message: Message, decode: Decode) -> str:
    """Return the plain text of a message, or else its HTML without tags."""
    texts: dict[str, list[str]] = {"text/plain": [], "text/html": []}
    for section in message.walk():
        if section.is_multipart() or section.get_content_disposition() == "attachment":
            continue
        if section.get_content_type() in texts:
            data = section.get_payload(decode=True)
            text = decode(data, section.get_content_charset()) if isinstance(data, bytes) else ""
            texts[section.get_content_type()].append(text)
    plain, marked_up = texts.values()
    if any(text.strip() for text in plain) or not marked_up:
        return "\n".join(plain)
    return "\n".join(map(strip_html, marked_up))


def strip_html(html: str) -> str:
    """Return the text of HTML without tags, scripts, styles and entities.

    The time is proportional to the length of the text, whatever it contains.

    Examples
    --------
    >>> strip_html("<p>Wheat <b>up</b>&amp; oil<br>down<script>var x = 1;</script>")
    'Wheat up& oil\\ndown'
    """
    texts: list[str] = []
    unclosed: set[str] = set()  # tags that are not closed from here on
    end = 0
    while match := MARKUP.search(html, end):
        texts.append(html[end : match.start()])
        end, tag = match.end(), (match["tag"] or "").lower()
        if tag and tag not in INLINE_TAGS:
            texts.append("\n")
        if tag in SILENT_TAGS and tag not in unclosed and not match[0].startswith("</"):
            if closing := CLOSING[tag].search(html, end):
                end = closing.end()
            elif tag in ("script", "style"):
                end = len(html)
            else:
                unclosed.add(tag)
    texts.append(html[end:])
    text = unescape(LONG_NUMBER.sub("\N{REPLACEMENT CHARACTER}", "".join(texts)))
    lines = (" ".join(line.split()) for line in text.split("\n"))
    return "\n".join(line for line in lines if line)
