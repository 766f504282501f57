"""Bytes to tokens: fold the letters and cut the text where the class of its characters changes.

A token is the place of a word in a buffer of bytes, `start << 32 | end` in one uint64. Counters
and indices are unsigned throughout: a signed index pays for a test of its sign.
"""

import numpy as np

from thresher._kernels._jit import kernel

U8, U32, U64 = np.uint8, np.uint32, np.uint64
ZERO, ONE, TWO, THREE, EIGHT = U64(0), U64(1), U64(2), U64(3), U64(8)
HALF_BITS = U64(32)

SEPARATOR = U8(0)  # class of the characters between tokens
SINGLE = U8(0x80)  # class of the characters that are tokens by themselves
REST = U8(0x7F)  # class of the further bytes of such a character

BLOCK = U64(2048)  # bytes whose class is found together, in the nearest cache
GATHER = U64(0x0102040810204080)  # multiplied by this, the low bits of eight bytes are neighbours

# For each byte: how many of its bits are set, and which.
N_SET = np.array([bin(bits).count("1") for bits in range(256)], np.uint8)
WHICH_SET = np.array(
    [([i for i in range(8) if bits >> i & 1] + 8 * [0])[:8] for bits in range(256)], np.uint32
)


@kernel
def decode(data, at):
    """Return the character at byte `at`, shifted left by three, with its number of bytes."""
    lead = U32(data[at])
    tail = U32(data[at + ONE]) & U32(0x3F)
    if lead < U32(0xE0):
        return ((((lead & U32(0x1F)) << U32(6)) | tail) << U32(3)) | U32(2)
    tail = (tail << U32(6)) | (U32(data[at + TWO]) & U32(0x3F))
    if lead < U32(0xF0):
        return ((((lead & U32(0xF)) << U32(12)) | tail) << U32(3)) | U32(3)
    tail = (tail << U32(6)) | (U32(data[at + THREE]) & U32(0x3F))
    return ((((lead & U32(7)) << U32(18)) | tail) << U32(3)) | U32(4)


@kernel
def encode(character, out, at):
    """Write a character to `out`; return its number of bytes."""
    if character < U32(0x80):  # as some letters of other alphabets become in lower case
        out[at] = U8(character)
        return ONE
    if character < U32(0x800):
        out[at] = U8(U32(0xC0) | (character >> U32(6)))
        width = TWO
    elif character < U32(0x10000):
        out[at] = U8(U32(0xE0) | (character >> U32(12)))
        width = THREE
    else:
        out[at] = U8(U32(0xF0) | (character >> U32(18)))
        width = U64(4)
    for back in range(ONE, width):
        out[at + width - U64(back)] = U8(U32(0x80) | (character & U32(0x3F)))
        character >>= U32(6)
    return width


@kernel
def break_point(data, start, limit, table):
    """Return the last place after `start`, up to `limit`, where a separator stands, or `start`."""
    at = limit
    while at > start:
        if data[at] < U8(0x80):
            if U8(table[data[at]] >> U32(24)) == SEPARATOR:
                return at
        elif data[at] >= U8(0xC0) and U8(table[decode(data, at) >> U32(3)] >> U32(24)) == SEPARATOR:
            return at
        at -= ONE
    return start


@kernel
def is_ascii(data, start, stop):
    """Whether all characters are of one byte."""
    together = U8(0)
    for at in range(start, stop):
        together |= data[at]
    return together < U8(0x80)


@kernel
def fold_ascii(data, start, stop, ranges, shift, text, kinds, size):
    """Write the folded text and the class of each byte; return the size of the text then.

    Comparing with a few ranges instead of looking into a table lets the compiler work on many
    bytes at once. `ranges` holds the first character, the number and the class of each range;
    `shift` is the distance of a capital letter from its lower case.
    """
    while start < stop:
        n = min(BLOCK, stop - start)
        for i in range(n):
            letter = data[start + U64(i)]
            is_capital = U8(letter - U8(65)) < U8(26)
            text[size + U64(i)] = U8(letter + (shift if is_capital else U8(0)))
            kinds[size + U64(i)] = SEPARATOR
        for r in range(ranges.shape[0]):
            first, width, kind = ranges[r, 0], ranges[r, 1], ranges[r, 2]
            for i in range(n):
                inside = U8(data[start + U64(i)] - first) < width
                kinds[size + U64(i)] |= kind if inside else SEPARATOR
        start += n
        size += n
    return size


@kernel
def fold_any(data, start, stop, table, text, kinds, size):
    """Write the folded text and the class of each byte; return the size of the text then."""
    while start < stop:
        character, width = U32(data[start]), ONE
        if character >= U32(0x80):
            decoded = decode(data, start)
            character, width = decoded >> U32(3), U64(decoded & U32(7))
        start += width
        entry = table[character]
        kind = U8(entry >> U32(24))
        kinds[size] = kind
        width = encode(entry & U32(0xFFFFFF), text, size)
        for i in range(ONE, width):
            kinds[size + U64(i)] = REST if kind == SINGLE else kind
        size += width
    return size


@kernel
def find_edges(kinds, size, marks, mark_blocks, edges):
    """Write the places where a token or a run of separators begins; return how many there are."""
    marks[0] = U8((kinds[0] != SEPARATOR) & (kinds[0] != REST))
    for i in range(ONE, size):
        change = (kinds[i] != kinds[U64(i) - ONE]) & (kinds[i] != REST)
        marks[i] = U8(change) | (kinds[i] >> U8(7))
    for i in range(size, size + EIGHT):
        marks[i] = U8(0)
    n = ZERO
    for block in range((size + U64(7)) >> THREE):
        # No branch: eight places are written, and those that are none are written over.
        bits = (mark_blocks[block] * GATHER) >> U64(56)
        for i in range(8):
            edges[n + U64(i)] = U32(block << 3) + WHICH_SET[bits, i]
        n += U64(N_SET[bits])
    return n


@kernel
def long_enough(text, start, end, min_length):
    """Whether a token has `min_length` characters."""
    length = ZERO
    at = start
    while at < end and length < min_length:
        length += U64((text[at] & U8(0xC0)) != U8(0x80))
        at += ONE
    return length >= min_length


@kernel
def keep_tokens(text, kinds, size, wide, min_length, edges, n_edges, tokens, ends, finished):
    """Write the tokens that lie between the edges and are long enough; return how many there are.

    `ends` holds where each finished document ends in the text, and then how many tokens there are
    up to there.
    """
    edges[n_edges] = U32(size)
    n, edge = ZERO, ZERO
    for document in range(finished + ONE):
        stop = U64(ends[document]) if document < finished else size
        while edge < n_edges and U64(edges[edge]) < stop:
            start, end = U64(edges[edge]), U64(edges[edge + ONE])
            is_token = (kinds[start] != SEPARATOR) & (end - start >= min_length)
            if wide and is_token:
                is_token = long_enough(text, start, end, min_length)
            tokens[n] = (start << HALF_BITS) | end
            n += U64(is_token)
            edge += ONE
        if document < finished:
            ends[document] = n
    return n


@kernel
def scan(
    data, offsets, cursor, budget, table, ranges, shift, min_length,
    text, kinds, marks, mark_blocks, edges, tokens, ends,
):  # fmt: skip
    """Fold and cut the next documents, at most `budget` bytes of them; return how many tokens.

    `cursor` holds the document and the byte where to go on, how many documents were finished and
    how many bytes of `text` were written; `ends` gets the tokens up to the end of each finished
    document. Nothing is done, and the cursor stays, when a run without separators is longer than
    the budget. A separator is put after each document.
    """
    document, at = U64(cursor[0]), U64(cursor[1])
    n_documents = U64(offsets.size - 1)
    left, size, finished = U64(budget), ZERO, ZERO
    wide = table.size > 128  # some characters have more than one byte
    while document < n_documents and left > ZERO:
        stop = U64(offsets[document + ONE])
        whole = stop - at < left
        if not whole:
            stop = break_point(data, at, at + left - ONE, table)
        if wide and not is_ascii(data, at, stop):
            size = fold_any(data, at, stop, table, text, kinds, size)
        else:
            size = fold_ascii(data, at, stop, ranges, U8(shift), text, kinds, size)
        text[size], kinds[size] = U8(32), SEPARATOR
        size += ONE
        left -= stop - at + ONE
        at = stop
        if not whole:
            break
        ends[finished] = size
        finished += ONE
        document += ONE
    cursor[0], cursor[1], cursor[2], cursor[3] = document, at, finished, size
    n_edges = find_edges(kinds, size, marks, mark_blocks, edges)
    return keep_tokens(
        text, kinds, size, wide, U64(min_length), edges, n_edges, tokens, ends, finished
    )
