"""Text to counts: characters to tokens, tokens to numbers, numbers to rows of counts.

The input is text with one byte per character or in UTF-16; it is folded to UTF-8. A token is a span
of the folded text, `start << 32 | end` in one uint64; a token that starts where the previous token
starts is a pair of characters.

A text buffer is passed twice, as bytes and as `blocks` of eight bytes. It is at least 16 bytes
longer than its text, so that eight bytes can be read from any position. A kernel that adds to a
table also updates its size, which is in an array, so that tables and sizes agree even if the
program is interrupted between two kernels. Counters and indices are unsigned where speed matters,
because a signed index costs a test of its sign.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import config, types
from numba.core import cgutils
from numba.core.extending import intrinsic

from thresher._kernels._jit import kernel

U8, U32, U64 = np.uint8, np.uint32, np.uint64
ZERO, ONE, TWO, THREE, EIGHT = U64(0), U64(1), U64(2), U64(3), U64(8)
HALF_BITS, LOW_HALF = U64(32), U64(0xFFFFFFFF)

# Classes of characters. A token is a run of characters of one class: a small number or one of
# these.
SEPARATOR = U8(0)  # between tokens
WHOLE = U8(0x20)  # tokens of this and higher classes have no minimum length
EXTENDING = U8(0x40)  # gets the class of the preceding character
REST = U8(0x7F)  # the further bytes of a token of one character
SINGLE = U8(0x80)  # a token by itself, with the characters that extend it
PAIRED = U8(0x81)  # the same; with an adjacent PAIRED character it also forms a token of two

WIDTH, KIND = U64(32), U64(40)  # bit positions, in the table, of the number of bytes and the class

BLOCK = U64(2048)  # characters classified at a time, so that they stay in the L1 cache
GATHER = U64(0x0102040810204080)  # a factor that moves the low bits of eight bytes into one byte

# For each byte, the number of set bits and their positions.
N_SET = np.array([bin(bits).count("1") for bits in range(256)], np.uint8)
WHICH_SET = np.array(
    [([i for i in range(8) if bits >> i & 1] + 8 * [0])[:8] for bits in range(256)], np.uint32
)

AHEAD, PAIRS_AHEAD = 32, 8  # words and pairs whose slots are prefetched together
LONG = U64(0x80000000)  # marks the signature of a word of more than eight bytes
UNKNOWN = np.int32(-1)  # the number of an unknown word, or a missing column
NOTHING = np.int64(-(2**62))  # no run of words ends here
GAP = np.int64(-1)  # any one word, in a run with gaps
# Bits of a digit; more bits mean fewer passes, but a higher cost for short rows.
DIGIT, DIGIT_MASK = U64(6), U64(63)

WORDS, RUNS, PARTS, FIELDS = 0, 1, 2, 3  # the blocks of columns
COLUMNS, CANDIDATES, QUEUED, LOGGED = 0, 1, 2, 3  # indices of the sizes of a space

# Version 1 of the hash: these two odd numbers and the order of the steps must never change.
MULTIPLIER = U64(0x9E3779B97F4A7C15)
FINALIZER = U64(0xD6E8FEB86659FD93)
GAP_HASH = MULTIPLIER  # stands for any one word


if config.DISABLE_JIT:

    def prefetch(array: np.ndarray, index: tuple[int, ...]) -> None:
        """Do nothing: a hint to the processor does not change results."""

else:

    @intrinsic  # type: ignore[untyped-decorator]
    def prefetch(_: Any, array: Any, index: Any) -> Any:
        """Ask the processor to fetch an array element that is needed soon; it never fails."""

        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            struct = context.make_array(array)(context, builder, arguments[0])
            indices = [
                context.cast(builder, number, kind, types.intp)
                for number, kind in zip(
                    cgutils.unpack_tuple(builder, arguments[1]), index.types, strict=True
                )
            ]
            pointer = cgutils.get_item_pointer(context, builder, array, struct, indices)
            pointer, number = builder.bitcast(pointer, cgutils.voidptr_t), cgutils.int32_t
            function_type = ir.FunctionType(ir.VoidType(), [pointer.type, number, number, number])
            fetch = builder.module.declare_intrinsic("llvm.prefetch", [pointer.type], function_type)
            builder.call(fetch, [pointer, number(0), number(3), number(1)])  # for reading, into L1
            return context.get_dummy_value()

        return types.void(array, index), generate


# Tokens ------------------------------------------------------------------------------------------


@kernel
def break_point(data, start, limit, table):
    """Return the last position of a separator after `start`, up to `limit`, or `start` if none."""
    at = limit
    while at > start and U8(table[data[at]] >> KIND) != SEPARATOR:
        at -= ONE
    return at


@kernel
def traits(data, table):
    """Return the bitwise or of the table entries of all characters."""
    together = U8(0)
    for at in range(data.size):
        together |= table[data[at]]
    return together


@kernel
def is_ascii(data, start, stop):
    """Return True if all characters are ASCII."""
    together = data[start] if start < stop else data.dtype.type(0)
    for at in range(start, stop):
        together |= data[at]
    return together < 0x80


@kernel
def fold_ascii(data, start, stop, ranges, shift, text, kinds, size):
    """Write the folded text and the class of each byte; return the new size of the text.

    Comparisons with a few ranges, unlike a table, let the compiler work on many characters at once.
    `ranges` holds the first character, the number and the class of each range;
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
    """Write the folded text and the class of each byte; return the new size of the text.

    An entry of the table has the UTF-8 of the folded character in its low four bytes, and above
    them the number of bytes and the class of the character.
    """
    units_are_wide = data.itemsize > 1  # otherwise a character has at most two bytes
    while start < stop:
        character = U32(data[start])
        start += ONE
        if character & U32(0xFC00) == U32(0xD800):  # the first half of a surrogate pair
            character = U32(0x10000) + ((character & U32(0x3FF)) << U32(10))
            character += U32(data[start]) & U32(0x3FF)
            start += ONE
        entry = table[character]
        kind = U8(entry >> KIND)
        if units_are_wide and kind == EXTENDING:  # one-byte characters include none
            kind = kinds[size - ONE] if size > ZERO else SEPARATOR
            kind = REST if kind >= SINGLE else kind
        rest = REST if kind >= SINGLE else kind
        # No branch on the number of bytes: surplus bytes are overwritten later.
        if units_are_wide:
            put(entry, kind, rest, text, kinds, size, U64(4))
        else:
            put(entry, kind, rest, text, kinds, size, U64(2))
        size += (entry >> WIDTH) & U64(7)
    return size


@kernel
def find_edges(kinds, size, marks, mark_blocks, edges):
    """Write the positions where a token or a run of separators begins; return their number."""
    marks[0] = U8(kinds[0] != SEPARATOR)
    for i in range(ONE, size):
        change = (kinds[i] != kinds[U64(i) - ONE]) & (kinds[i] != REST)
        marks[i] = U8(change) | (kinds[i] >> U8(7))
    for i in range(size, size + EIGHT):
        marks[i] = U8(0)
    n = ZERO
    for block in range((size + U64(7)) >> THREE):
        # No branch: eight positions are written, and surplus ones are overwritten later.
        bits = (mark_blocks[block] * GATHER) >> U64(56)
        for i in range(8):
            edges[n + U64(i)] = U32(block << 3) + WHICH_SET[bits, i]
        n += U64(N_SET[bits])
    return n


@kernel
def long_enough(text, start, end, min_length):
    """Return True if a token has at least `min_length` characters."""
    if min_length <= U64(2):  # the usual case without a loop: compare with the first character
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
    """Write the tokens between edges that are long enough; return their number.

    `ends` has the end of each finished document in the text, and gets the number of tokens up to
    there. `n_characters` is the size of the table of characters: a small table has no
    characters of several bytes, or no tokens of the classes from WHOLE on.
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
    """Fold and tokenize the next documents, at most `budget` units; return the number of tokens.

    `cursor` has the document and the unit to continue at, the number of finished documents and the
    number of bytes of `text`; `ends` gets the number of tokens up to the end of each finished
    document. If a run without separators is longer than the budget, nothing is done and the cursor
    stays. A separator is added after each document.
    """
    document, at = U64(cursor[0]), U64(cursor[1])
    n_documents = U64(offsets.size - 1)
    left, size, finished = U64(budget), ZERO, ZERO
    wide = table.size > 128  # there are non-ASCII characters
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


# Words -------------------------------------------------------------------------------------------


@kernel
def load(blocks, at, length):
    """Return the first eight of the `length` bytes from `at` on, padded with zeros."""
    block = at >> THREE
    shift = (at & U64(7)) << THREE
    value = (blocks[block] >> shift) | ((blocks[block + ONE] << ONE) << (U64(63) - shift))
    bits = min(length, EIGHT) << TWO  # half of the bits to keep: a shift by 64 is not defined
    return value & (((ONE << bits) << bits) - ONE)


@kernel
def hash_word(first, blocks, start, length):
    """Return the 64-bit hash of `length` bytes, of which the first eight are loaded already."""
    value = ((length * FINALIZER) ^ first) * MULTIPLIER
    value ^= value >> HALF_BITS
    done = EIGHT
    while done < length:
        value = (value ^ load(blocks, start + done, length - done)) * MULTIPLIER
        value ^= value >> HALF_BITS
        done += EIGHT
    value *= FINALIZER
    return value ^ (value >> HALF_BITS)


@kernel
def hash_tokens(blocks, tokens, n_tokens, hashes):
    """Write the hash of each token's word."""
    for t in range(n_tokens):
        start = tokens[t] >> HALF_BITS
        length = (tokens[t] & LOW_HALF) - start
        hashes[t] = hash_word(load(blocks, start, length), blocks, start, length)


@kernel
def find_short(first, length, slots, slot):
    """Return the slot of a word of up to eight bytes, or the empty slot for it."""
    mask = U64(slots.size // 2 - 1)
    while True:
        entry = slots[slot * TWO + ONE]
        if (entry >> HALF_BITS == length) & (slots[slot * TWO] == first) or entry == ZERO:
            return slot
        slot = (slot + ONE) & mask


@kernel
def find_long(blocks, start, length, first, sign, slots, slot, word_blocks, offsets):
    """Return the slot of a word of more than eight bytes, or the empty slot for it."""
    mask = U64(slots.size // 2 - 1)
    while True:
        entry = slots[slot * TWO + ONE]
        if entry == ZERO:
            return slot
        if entry >> HALF_BITS == sign and slots[slot * TWO] == first:
            word_start = U64(offsets[(entry & LOW_HALF) - ONE])
            same = U64(offsets[entry & LOW_HALF]) - word_start == length
            done = EIGHT
            while same and done < length:
                left = length - done
                same = load(blocks, start + done, left) == load(
                    word_blocks, word_start + done, left
                )
                done += EIGHT
            if same:
                return slot
        slot = (slot + ONE) & mask


@kernel
def look_up(text, blocks, tokens, n_tokens, slots, words, word_blocks, offsets, sizes, grow, ids):
    """Write the number of each token's word to `ids`; `sizes[0]` is the number of words.

    A slot is two uint64: the first eight bytes of a word, and its sign over its number plus one.
    The sign is the length of a word of up to eight bytes, or half of the hash of a longer word, so
    that most words are compared exactly within the slot. If `grow`, new words get the next number,
    and the caller has made room for them; otherwise -1.
    """
    mask = U64(slots.size // 2 - 1)
    n_words = U64(sizes[0])
    end = U64(offsets[n_words])
    firsts, values = np.empty(AHEAD, U64), np.empty(AHEAD, U64)
    for done in range(0, n_tokens, AHEAD):
        n = min(AHEAD, n_tokens - done)
        for t in range(n):  # all slots are requested before the first is read
            start = tokens[done + t] >> HALF_BITS
            length = (tokens[done + t] & LOW_HALF) - start
            firsts[t] = load(blocks, start, length)
            values[t] = hash_word(firsts[t], blocks, start, length)
            prefetch(slots, ((values[t] & mask) * TWO,))
        for t in range(n):
            start = tokens[done + t] >> HALF_BITS
            length = (tokens[done + t] & LOW_HALF) - start
            first, slot = firsts[t], values[t] & mask
            sign = length
            if length <= EIGHT:
                slot = find_short(first, length, slots, slot)
            else:
                sign = (values[t] >> HALF_BITS) | LONG
                slot = find_long(
                    blocks, start, length, first, sign, slots, slot, word_blocks, offsets
                )
            entry = slots[slot * TWO + ONE]
            if entry == ZERO and grow:
                for i in range(start, start + length):
                    words[end] = text[i]
                    end += ONE
                n_words += ONE
                offsets[n_words] = end
                entry = (sign << HALF_BITS) | n_words
                slots[slot * TWO], slots[slot * TWO + ONE] = first, entry
            ids[done + t] = np.int32(np.int64(entry & LOW_HALF) - 1)  # an empty slot gives -1
    if grow:
        sizes[0] = n_words


@kernel
def fill_slots(slots, blocks, offsets, n_words):
    """Insert distinct words into empty slots."""
    mask = U64(slots.size // 2 - 1)
    for word in range(n_words):
        start = U64(offsets[word])
        length = U64(offsets[word + 1]) - start
        first = load(blocks, start, length)
        value = hash_word(first, blocks, start, length)
        slot = value & mask
        while slots[slot * TWO + ONE] != ZERO:
            slot = (slot + ONE) & mask
        sign = length if length <= EIGHT else (value >> HALF_BITS) | LONG
        slots[slot * TWO] = first
        slots[slot * TWO + ONE] = (sign << HALF_BITS) | U64(word + 1)


@kernel
def take_words_out(slots, blocks, offsets, sizes, n_left):
    """Remove the newest words, in reverse order, so that the other words can still be looked up."""
    mask = U64(slots.size // 2 - 1)
    while sizes[0] > n_left:
        start, number = U64(offsets[sizes[0] - 1]), U64(sizes[0])
        length = U64(offsets[sizes[0]]) - start
        slot = hash_word(load(blocks, start, length), blocks, start, length) & mask
        while slots[slot * TWO + ONE] & LOW_HALF != number:
            slot = (slot + ONE) & mask
        slots[slot * TWO], slots[slot * TWO + ONE] = ZERO, ZERO
        sizes[0] -= 1


# Runs of words ------------------------------------------------------------------------------------


@kernel
def hash_pair(left, right):
    """Return the hash of an ordered pair, given the hash of each half."""
    value = ((left * MULTIPLIER) ^ right) * FINALIZER
    value ^= value >> HALF_BITS
    value *= MULTIPLIER
    return value ^ (value >> HALF_BITS)


@kernel
def pair_key(left, right):
    """Return a node and a word (or a gap) as one number."""
    low_half = np.int64(0xFFFFFFFF)
    return (U64(left & low_half) << HALF_BITS) | U64(right & low_half)


@kernel
def find_pair(left, right, slots, pairs, sizes, grow):
    """Return the number of the pair (node, word); a new pair is added if `grow`, else -1."""
    mask = U64(slots.size // 2 - 1)
    key = pair_key(left, right)
    slot = hash_pair(key, key) & mask
    while slots[slot * TWO + ONE] != ZERO:
        if slots[slot * TWO] == key:
            return np.int64(slots[slot * TWO + ONE]) - 1
        slot = (slot + ONE) & mask
    if not grow:
        return np.int64(UNKNOWN)
    n_pairs = sizes[0]
    sizes[0] = n_pairs + 1
    slots[slot * TWO], slots[slot * TWO + ONE] = key, U64(n_pairs + 1)
    pairs[n_pairs, 0], pairs[n_pairs, 1] = left, right
    return n_pairs


@kernel
def merge_pairs(added, words, slots, pairs, sizes, numbers):
    """Insert the pairs of another table after renumbering their words; write their numbers here.

    There is room for all of them.
    """
    for i in range(len(added)):
        left, right = np.int64(added[i, 0]), np.int64(added[i, 1])
        left = np.int64(words[left]) if left >= 0 else ~np.int64(numbers[~left])
        right = np.int64(words[right]) if right != GAP else GAP
        numbers[i] = find_pair(left, right, slots, pairs, sizes, True)


@kernel
def fill_pair_slots(slots, pairs, n_pairs, sizes):
    """Insert pairs into empty slots; `sizes[0]`, initially zero, becomes their number."""
    for i in range(n_pairs):
        find_pair(np.int64(pairs[i, 0]), np.int64(pairs[i, 1]), slots, pairs, sizes, True)


@kernel
def take_pairs_out(slots, pairs, sizes, n_left):
    """Remove the newest pairs, in reverse order."""
    mask = U64(slots.size // 2 - 1)
    while sizes[0] > n_left:
        key = pair_key(np.int64(pairs[sizes[0] - 1, 0]), np.int64(pairs[sizes[0] - 1, 1]))
        slot = hash_pair(key, key) & mask
        while slots[slot * TWO + ONE] != U64(sizes[0]):
            slot = (slot + ONE) & mask
        slots[slot * TWO], slots[slot * TWO + ONE] = ZERO, ZERO
        sizes[0] -= 1


@kernel
def ngrams(ids, n_tokens, ends, parents, gaps, counted, history, slots, pairs, sizes, grow, codes):
    """Write, for each word, the codes of the runs of the `counted` shapes that end with it.

    A node is a word (its number) or a pair of a node and a word (its number, inverted): a run of
    three words is the pair of a pair and a word. The code of a node is never negative: twice the
    number of the word, or one more than twice the number of the pair. A run of shape k is a run of
    shape `parents[k]` followed by the last word, or by a gap if `gaps[k]`; shape 0 is a single
    word. `history[k]` is the last node of shape k; it is passed on between calls for a document
    that continues.
    """
    document = 0
    for t in range(n_tokens):
        if t + PAIRS_AHEAD < n_tokens:  # most runs have two words
            left, right = ids[t + PAIRS_AHEAD - 1], ids[t + PAIRS_AHEAD]
            key = pair_key(np.int64(left), np.int64(right))
            prefetch(slots, ((hash_pair(key, key) & U64(slots.size // 2 - 1)) * TWO,))
        while document < ends.size and ends[document] == t:
            history[:] = NOTHING
            document += 1
        word = np.int64(ids[t])
        for k in range(parents.size - 1, 0, -1):
            node, before = NOTHING, history[parents[k]]
            last = GAP if gaps[k] else word
            if before != NOTHING and (gaps[k] or word != UNKNOWN):
                pair = find_pair(before, last, slots, pairs, sizes, grow)
                if pair != UNKNOWN:
                    node = ~pair
            history[k] = node
        history[0] = word if word != UNKNOWN else NOTHING
        for j in range(counted.size):
            node = history[counted[j]]
            code = 2 * node if node >= 0 else 2 * ~node + 1
            codes[t, j] = code if node != NOTHING else UNKNOWN
    if document < ends.size:
        history[:] = NOTHING


@kernel
def hash_ngrams(hashes, n_tokens, ends, parents, gaps, counted, lengths, history, mask, columns):
    """Write, for each word, the hashed columns of the runs of the `counted` shapes.

    Shapes are as for `ngrams`; `lengths` are their numbers of words. `history[k]` is the hash of
    the run of shape k that ends with the last word; its last element counts the words of the
    document so far, up to the greatest length.
    """
    document, n_shapes = 0, parents.size
    high = U64(lengths[n_shapes - 1])
    for t in range(n_tokens):
        while document < ends.size and ends[document] == t:
            history[n_shapes] = ZERO
            document += 1
        for k in range(n_shapes - 1, 0, -1):
            history[k] = hash_pair(history[parents[k]], GAP_HASH if gaps[k] else hashes[t])
        history[0] = hashes[t]
        history[n_shapes] = min(history[n_shapes] + ONE, high)
        for place in range(counted.size):
            k = counted[place]
            known = U64(lengths[k]) <= history[n_shapes]
            columns[t, place] = np.int32(history[k] & mask) if known else UNKNOWN
    if document < ends.size:
        history[n_shapes] = ZERO


@kernel
def hash_pairs(lefts, rights, mask, first, columns):
    """Write the hashed column of each ordered pair; columns begin at `first`."""
    for i in range(columns.size):
        columns[i] = np.int32(first + (hash_pair(lefts[i], rights[i]) & mask))


# Parts of words -----------------------------------------------------------------------------------


@kernel
def expand(ids, n_tokens, ends, starts, values, out, out_ends):
    """Write the values of each word: those from `starts[id]` to `starts[id + 1]`."""
    n, t = 0, 0
    for document in range(ends.size + 1):
        stop = ends[document] if document < ends.size else n_tokens
        while t < stop:
            for i in range(starts[ids[t]], starts[ids[t] + 1]):
                out[n] = values[i]
                n += 1
            t += 1
        if document < ends.size:
            out_ends[document] = n


@kernel
def next_character(text, at, end):
    """Return where the next character starts."""
    at += ONE
    while at < end and (text[at] & U8(0xC0)) == U8(0x80):
        at += ONE
    return at


@kernel
def char_grams(text, tokens, n_tokens, low, high, padded, grams, gram_ends):
    """Split each word, with a space added before and after it, into its character n-grams.

    A word no longer than n gives one n-gram, itself, and none for a larger n, as in scikit-learn's
    "char_wb". Returns how many bytes all the n-grams have together.
    """
    size, n, total = ZERO, ZERO, ZERO
    for t in range(n_tokens):
        begin = size
        padded[size] = U8(32)
        size += ONE
        for i in range(tokens[t] >> HALF_BITS, tokens[t] & LOW_HALF):
            padded[size] = text[i]
            size += ONE
        padded[size] = U8(32)
        size += ONE
        for length in range(low, high + 1):
            start = end = begin
            for _ in range(length):
                if end < size:
                    end = next_character(padded, end, size)
            while True:
                grams[n] = (start << HALF_BITS) | end
                n += ONE
                total += end - start
                if end >= size:
                    break
                start = next_character(padded, start, size)
                end = next_character(padded, end, size)
            if start == begin:
                break
        gram_ends[t] = n
    return np.int64(total)


# Rows ---------------------------------------------------------------------------------------------


@kernel
def count(columns, ends, n_columns, cells, row, indices, counts, indptr):
    """Count the columns of each document, in the order of their first occurrence.

    `cells` has, for each column, one plus its position in the row, and is zero between documents.
    `row` has the start and the end of the row and the number of finished rows; it is passed
    on between calls for a document that continues.
    """
    start, end, first = U64(row[0]), U64(row[1]), row[2]
    t = ZERO
    for document in range(ends.size + 1):
        stop = U64(ends[document]) if document < ends.size else U64(n_columns)
        while t < stop:
            column = columns[t]
            t += ONE
            if column == UNKNOWN:
                continue
            # No branch on whether the column is new in this row: it would be mispredicted.
            cell = U64(cells[U32(column)])
            is_new = U64(cell == ZERO)
            place = end if cell == ZERO else start + cell - ONE
            indices[place] = column
            counts[place] = counts[place] * np.int32(ONE - is_new) + np.int32(1)
            cells[U32(column)] = np.int32(place - start + ONE)
            end += is_new
        if document < ends.size:
            for place in range(start, end):
                cells[U32(indices[place])] = np.int32(0)
            indptr[first + document + 1] = end
            start = end
    row[0], row[1], row[2] = start, end, first + ends.size


@kernel
def spread_rows(indptr, words, n_times, starts, values, cells, out_indptr, indices, counts):
    """Count the values of each word of a row, as often as the word occurs.

    The values of a word are those from `starts[word]` to `starts[word + 1]`; `cells` is as for
    `count`.
    """
    end = ZERO
    for row in range(indptr.size - 1):
        start = end
        for i in range(indptr[row], indptr[row + 1]):
            word = U32(words[i])
            for j in range(U64(starts[word]), U64(starts[word + ONE])):
                value = values[j]
                if value == UNKNOWN:
                    continue
                cell = U64(cells[U32(value)])
                is_new = U64(cell == ZERO)
                place = end if cell == ZERO else start + cell - ONE
                indices[place] = value
                counts[place] = counts[place] * np.int32(ONE - is_new) + n_times[i]
                cells[U32(value)] = np.int32(place - start + ONE)
                end += is_new
        for place in range(start, end):
            cells[U32(indices[place])] = np.int32(0)
        out_indptr[row + 1] = end


@kernel
def sort_rows(
    indptr, indices, counts, rank, n_digits, starts, keys, spare, out_indptr, out_indices, out
):
    """Rename each column to its rank, drop those with rank UNKNOWN, and sort each row by column.

    This is a radix sort by `n_digits` digits of numbers that combine rank and count, in `keys` and
    `spare`, which have room for the longest row. `starts` has one entry more than digit values.
    """
    end = ZERO
    for row in range(indptr.size - 1):
        n = ZERO
        for i in range(indptr[row], indptr[row + 1]):
            column = rank[U32(indices[i])]
            keys[n] = (U64(U32(column)) << HALF_BITS) | U64(counts[i])
            n += U64(column != UNKNOWN)
        for digit in range(U64(n_digits)):
            sort_by_digit(keys, spare, n, HALF_BITS + U64(digit) * DIGIT, starts)
            keys, spare = spare, keys
        for i in range(n):
            out_indices[end] = np.int32(keys[i] >> HALF_BITS)
            out[end] = np.int32(keys[i] & LOW_HALF)
            end += ONE
        out_indptr[row + 1] = end


@kernel
def sort_by_digit(keys, out, n, shift, starts):
    """Sort the first `n` keys stably by the digit at `shift` into `out`."""
    starts[:] = 0
    for i in range(n):
        starts[((keys[i] >> shift) & DIGIT_MASK) + ONE] += 1
    for digit in range(starts.size - 1):
        starts[digit + 1] += starts[digit]
    for i in range(n):
        digit = (keys[i] >> shift) & DIGIT_MASK
        out[U64(starts[digit])] = keys[i]
        starts[digit] += 1


# Columns ------------------------------------------------------------------------------------------


@kernel
def settle(first, words, parts, fields, with_runs, columns, seen, least, most, grow, books, out):
    """Write the columns of each document, from number `first` on: words and runs, parts, fields.

    `words`, `parts`, `fields` and `out` are rows (indptr, codes, counts). `columns[block][item]` is
    the column of an item or UNKNOWN; `seen[block][item]` is the number of documents of an item that
    waits for a column until `least[block]` is reached. `admit` writes to `books`. Returns the next
    document: the kernel stops when more than `most` items are waiting.
    """
    sizes = books[0]
    # Unpacked outside of the loop: accessing a tuple costs as much as accessing an array.
    word_columns, run_columns, part_columns, field_columns = columns
    word_seen, run_seen, part_seen, field_seen = seen
    word_ptr, codes, word_counts = words
    indptr, indices, counts = out
    end = U64(indptr[first])
    for document in range(first, indptr.size - 1):
        for i in range(U64(word_ptr[document]), U64(word_ptr[document + 1])):
            item = U32(codes[i] >> 1) if with_runs else U32(codes[i])
            if with_runs and codes[i] & 1:
                column = run_columns[item]
                if column == UNKNOWN and grow:
                    column = admit(RUNS, item, run_columns, run_seen, least[RUNS], books)
            else:
                column = word_columns[item]
                if column == UNKNOWN and grow:
                    column = admit(WORDS, item, word_columns, word_seen, least[WORDS], books)
            indices[end], counts[end] = column, word_counts[i]
            end += U64(column != UNKNOWN)
        for_part, for_field = grow * least[PARTS], grow * least[FIELDS]
        end = settle_row(PARTS, document, parts, part_columns, part_seen, for_part, books, out, end)
        end = settle_row(
            FIELDS, document, fields, field_columns, field_seen, for_field, books, out, end
        )
        indptr[document + 1] = end
        if grow and sizes[CANDIDATES] > most:
            return document + 1
    return indptr.size - 1


@kernel
def settle_row(block, document, rows, columns, seen, least, books, out, end):
    """Write the columns of a document's items of one block; return where they end.

    No item gets a new column if `least` is zero.
    """
    indptr, codes, times = rows
    _, indices, counts = out
    for i in range(U64(indptr[document]), U64(indptr[document + 1])):
        item = U32(codes[i])
        column = columns[item]
        if column == UNKNOWN and least > 0:
            column = admit(block, item, columns, seen, least, books)
        indices[end], counts[end] = column, times[i]
        end += U64(column != UNKNOWN)
    return end


@kernel
def admit(block, item, columns, seen, least, books):
    """Count one more document for an item; return its column, or UNKNOWN if they are too few.

    Waiting items are in `queue`, the oldest first; changes are logged if `keeps_log`.
    """
    sizes, blocks, items, queue, keeps_log, log = books
    before = seen[item]
    if keeps_log and (before > 0 or least > 1):
        log[sizes[LOGGED], 0], log[sizes[LOGGED], 1] = (np.int64(item) << 2) | block, before
        sizes[LOGGED] += 1
    if before + 1 < least:
        if before == 0:
            queue[sizes[QUEUED]] = (np.int64(item) << 2) | block
            sizes[QUEUED] += 1
            sizes[CANDIDATES] += 1
        seen[item] = before + 1
        return UNKNOWN
    sizes[CANDIDATES] -= np.int64(before > 0)
    seen[item] = 0
    column = np.int32(sizes[COLUMNS])
    columns[item], blocks[column], items[column] = column, block, item
    sizes[COLUMNS] += 1
    return column


@kernel
def forget(n_left, seen, sizes, queue, keeps_log, log):
    """Forget waiting items, the rarest and then the oldest first, until `n_left` are left."""
    times = 1
    while sizes[CANDIDATES] > n_left:
        for i in range(sizes[QUEUED]):
            of_item = seen[queue[i] & 3]
            item = queue[i] >> 2
            if of_item[item] == times and sizes[CANDIDATES] > n_left:
                if keeps_log:
                    log[sizes[LOGGED], 0], log[sizes[LOGGED], 1] = queue[i], times
                    sizes[LOGGED] += 1
                of_item[item] = 0
                sizes[CANDIDATES] -= 1
        times += 1
    n = 0
    for i in range(sizes[QUEUED]):
        queue[n] = queue[i]
        n += np.int64(seen[queue[i] & 3][queue[i] >> 2] > 0)
    sizes[QUEUED] = n


@kernel
def take_columns_out(n_columns, n_logged, columns, seen, sizes, blocks, items, log):
    """Undo the changes of `settle` and `forget` to columns and waiting items since these sizes."""
    while sizes[LOGGED] > n_logged:
        sizes[LOGGED] -= 1
        code = log[sizes[LOGGED], 0]
        seen[code & 3][code >> 2] = log[sizes[LOGGED], 1]
    while sizes[COLUMNS] > n_columns:
        sizes[COLUMNS] -= 1
        columns[blocks[sizes[COLUMNS]]][items[sizes[COLUMNS]]] = UNKNOWN
