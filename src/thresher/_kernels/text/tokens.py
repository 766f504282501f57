"""Characters to tokens: fold the letters, cut the text where the class of its characters changes.

The text comes as characters of one byte, or as UTF-16, and is folded to UTF-8. A token is the
place of a word in the folded text, `start << 32 | end` in one uint64; one that starts where the
token before it starts is a pair of characters. Counters and indices are
unsigned throughout: a signed index pays for a test of its sign.
"""

import numpy as np

from thresher._kernels._jit import kernel

U8, U32, U64 = np.uint8, np.uint32, np.uint64
ZERO, ONE, THREE, EIGHT = U64(0), U64(1), U64(3), U64(8)
HALF_BITS = U64(32)

# Classes of characters. A token is a run of one class, be it a small number or one of these.
SEPARATOR = U8(0)  # between tokens
WHOLE = U8(0x20)  # from here on, a token is long enough, be it ever so short
EXTENDING = U8(0x40)  # of the class of what stands before, be it a token or not
REST = U8(0x7F)  # the further bytes of a token of one character
SINGLE = U8(0x80)  # a token by itself, with what extends it
PAIRED = U8(0x81)  # the same; and with the next, if that stands beside it, a token more

WIDTH, KIND = U64(32), U64(40)  # where the table has the number of bytes and the class

BLOCK = U64(2048)  # characters whose class is found together, in the nearest cache
GATHER = U64(0x0102040810204080)  # multiplied by this, the low bits of eight bytes are neighbours

# For each byte: how many of its bits are set, and which.
N_SET = np.array([bin(bits).count("1") for bits in range(256)], np.uint8)
WHICH_SET = np.array(
    [([i for i in range(8) if bits >> i & 1] + 8 * [0])[:8] for bits in range(256)], np.uint32
)


@kernel
def break_point(data, start, limit, table):
    """Return the last place after `start`, up to `limit`, where a separator stands, or `start`."""
    at = limit
    while at > start and U8(table[data[at]] >> KIND) != SEPARATOR:
        at -= ONE
    return at


@kernel
def traits(data, table):
    """Return what the table has of any of the characters, as bits."""
    together = U8(0)
    for at in range(data.size):
        together |= table[data[at]]
    return together


@kernel
def is_ascii(data, start, stop):
    """Whether all characters are of ASCII."""
    together = data[start] if start < stop else data.dtype.type(0)
    for at in range(start, stop):
        together |= data[at]
    return together < 0x80


@kernel
def fold_ascii(data, start, stop, ranges, shift, text, kinds, size):
    """Write the folded text and the class of each byte; return the size of the text then.

    Comparing with a few ranges instead of looking into a table lets the compiler work on many
    characters at once. `ranges` holds the first character, the number and the class of each range;
    `shift` is the distance of a capital letter from its lower case.
    """
    while start < stop:
        n = min(BLOCK, stop - start)
        for i in range(n):
            letter = U8(data[start + U64(i)])
            is_capital = U8(letter - U8(65)) < U8(26)
            text[size + U64(i)] = U8(letter + (shift if is_capital else U8(0)))
            kinds[size + U64(i)] = SEPARATOR
        for r in range(ranges.shape[0]):
            first, width, kind = ranges[r, 0], ranges[r, 1], ranges[r, 2]
            for i in range(n):
                inside = U8(U8(data[start + U64(i)]) - first) < width
                kinds[size + U64(i)] |= kind if inside else SEPARATOR
        start += n
        size += n
    return size


@kernel
def put(entry, kind, rest, text, kinds, size, n):
    """Write the first `n` bytes of a character, and their classes."""
    for i in range(n):
        text[size + U64(i)] = U8((entry >> (U64(i) << THREE)) & U64(0xFF))
    for i in range(n):
        kinds[size + U64(i)] = rest
    kinds[size] = kind


@kernel
def fold_any(data, start, stop, table, text, kinds, size):
    """Write the folded text and the class of each byte; return the size of the text then.

    An entry of the table is the UTF-8 of the folded character, four bytes, and over it their
    number and the class of the character.
    """
    units_are_wide = data.itemsize > 1  # else two bytes are enough
    while start < stop:
        character = U32(data[start])
        start += ONE
        if character & U32(0xFC00) == U32(0xD800):  # the first half of a surrogate pair
            character = U32(0x10000) + ((character & U32(0x3FF)) << U32(10))
            character += U32(data[start]) & U32(0x3FF)
            start += ONE
        entry = table[character]
        kind = U8(entry >> KIND)
        if units_are_wide and kind == EXTENDING:  # there is none among characters of one byte
            kind = kinds[size - ONE] if size > ZERO else SEPARATOR
            kind = REST if kind >= SINGLE else kind
        rest = REST if kind >= SINGLE else kind
        # No branch on the number of bytes: those that are too many are written over.
        if units_are_wide:
            put(entry, kind, rest, text, kinds, size, U64(4))
        else:
            put(entry, kind, rest, text, kinds, size, U64(2))
        size += (entry >> WIDTH) & U64(7)
    return size


@kernel
def find_edges(kinds, size, marks, mark_blocks, edges):
    """Write the places where a token or a run of separators begins; return how many there are."""
    marks[0] = U8(kinds[0] != SEPARATOR)
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
    if min_length <= U64(2):  # the usual case, without a branch: is there more than the first?
        lead = text[start]
        width = ONE + U64(lead >= U8(0xC0)) + U64(lead >= U8(0xE0)) + U64(lead >= U8(0xF0))
        return end - start > width * (min_length - ONE)
    length = ZERO
    for at in range(start, end):
        length += U64((text[at] & U8(0xC0)) != U8(0x80))
    return length >= min_length


@kernel
def keep_tokens(
    text, kinds, size, n_characters, min_length, edges, n_edges, tokens, ends, finished
):
    """Write the tokens that lie between the edges and are long enough; return how many there are.

    `ends` holds where each finished document ends in the text, and then how many tokens there are
    up to there. Characters of more than one byte, and tokens that are long enough in any case or
    have pairs, are only where there are more than so many `n_characters`.
    """
    wide, has_others = n_characters > 128, n_characters > 256
    edges[n_edges] = U32(size)
    n, edge = ZERO, ZERO
    for document in range(finished + ONE):
        stop = U64(ends[document]) if document < finished else size
        while edge < n_edges and U64(edges[edge]) < stop:
            start, end = U64(edges[edge]), U64(edges[edge + ONE])
            is_token = (kinds[start] != SEPARATOR) & (end - start >= min_length)
            if wide:
                is_token &= long_enough(text, start, end, min_length)
            if has_others:
                is_token |= kinds[start] >= WHOLE
            tokens[n] = (start << HALF_BITS) | end
            n += U64(is_token)
            edge += ONE
            if has_others and kinds[start] == PAIRED and edge < n_edges:
                tokens[n] = (start << HALF_BITS) | U64(edges[edge + ONE])
                n += U64(kinds[end] == PAIRED)
        if document < finished:
            ends[document] = n
    return n


@kernel
def scan(
    data, offsets, cursor, budget, table, ranges, shift, min_length,
    text, kinds, marks, mark_blocks, edges, tokens, ends,
):  # fmt: skip
    """Fold and cut the next documents, at most `budget` units of them; return how many tokens.

    `cursor` holds the document and the unit where to go on, how many documents were finished and
    how many bytes of `text` were written; `ends` gets the tokens up to the end of each finished
    document. Nothing is done, and the cursor stays, when a run without separators is longer than
    the budget. A separator is put after each document.
    """
    document, at = U64(cursor[0]), U64(cursor[1])
    n_documents = U64(offsets.size - 1)
    left, size, finished = U64(budget), ZERO, ZERO
    wide = table.size > 128  # not all characters are of ASCII
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
        text, kinds, size, table.size, U64(min_length), edges, n_edges, tokens, ends, finished
    )
