"""Numbers or hashes of words to the columns of their n-grams."""

import numpy as np

from thresher._kernels._jit import kernel

U64 = np.uint64
ZERO, ONE, TWO = U64(0), U64(1), U64(2)
HALF_BITS = U64(32)
UNKNOWN = np.int32(-1)  # the number of what is not in the vocabulary
NOTHING = np.int64(-(2**62))  # no n-gram ends here

# Version 1 of the hash: these two odd numbers and the order of the steps never change.
MULTIPLIER = U64(0x9E3779B97F4A7C15)
FINALIZER = U64(0xD6E8FEB86659FD93)


@kernel
def hash_pair(left, right):
    """Return the hash of two things in this order, given the hash of each."""
    value = ((left * MULTIPLIER) ^ right) * FINALIZER
    value ^= value >> HALF_BITS
    value *= MULTIPLIER
    return value ^ (value >> HALF_BITS)


@kernel
def find_pair(left, right, slots, pairs, n_pairs, grow):
    """Return the number of the pair (node, word), the next new number, or UNKNOWN."""
    mask = U64(slots.size // 2 - 1)
    key = (U64(left & np.int64(0xFFFFFFFF)) << HALF_BITS) | U64(right)
    slot = hash_pair(key, key) & mask
    while slots[slot * TWO + ONE] != ZERO:
        if slots[slot * TWO] == key:
            return np.int64(slots[slot * TWO + ONE]) - 1
        slot = (slot + ONE) & mask
    if not grow:
        return np.int64(UNKNOWN)
    slots[slot * TWO], slots[slot * TWO + ONE] = key, U64(n_pairs + 1)
    pairs[n_pairs, 0], pairs[n_pairs, 1] = left, right
    return n_pairs


@kernel
def fill_pair_slots(slots, pairs, n_pairs):
    """Enter pairs into empty slots; return how many differ."""
    n = np.int64(0)
    for i in range(n_pairs):
        left, right = np.int64(pairs[i, 0]), np.int64(pairs[i, 1])
        n += np.int64(find_pair(left, right, slots, pairs, n, True) == n)
    return n


@kernel
def ngrams(
    ids, n_tokens, ends, low, high, history, slots, pairs, sizes,
    word_columns, pair_columns, column_nodes, grow, columns,
):  # fmt: skip
    """Write, for each word, the columns of the n-grams of `low` to `high` words that end with it.

    A node is a word (its number) or a pair of a node and a word (its number, inverted): the n-gram
    of three words is the pair of a pair and a word. `history[k]` is the node of the k + 1 words up
    to the last one, and outlives the call for a document that goes on. `sizes` holds the numbers
    of pairs and of columns.
    """
    document = 0
    for t in range(n_tokens):
        while document < ends.size and ends[document] == t:
            history[:] = NOTHING
            document += 1
        word = np.int64(ids[t])
        for k in range(high - 1, 0, -1):
            node = NOTHING
            if word != UNKNOWN and history[k - 1] != NOTHING:
                pair = find_pair(history[k - 1], word, slots, pairs, sizes[0], grow)
                sizes[0] += np.int64(pair == sizes[0])
                if pair != UNKNOWN:
                    node = ~pair
            history[k] = node
        history[0] = word if word != UNKNOWN else NOTHING
        for k in range(low - 1, high):
            columns[t, k - low + 1] = column_of(
                history[k], sizes, word_columns, pair_columns, column_nodes, grow
            )
    if document < ends.size:
        history[:] = NOTHING


@kernel
def column_of(node, sizes, word_columns, pair_columns, column_nodes, grow):
    """Return the column of a node, a new one if it has none and `grow`, or UNKNOWN."""
    if node == NOTHING:
        return UNKNOWN
    columns = word_columns if node >= 0 else pair_columns
    place = node if node >= 0 else ~node
    if columns[place] == UNKNOWN and grow:
        columns[place] = sizes[1]
        column_nodes[sizes[1]] = node
        sizes[1] += 1
    return columns[place]


@kernel
def hash_ngrams(hashes, n_tokens, ends, low, high, history, mask, columns):
    """Write, for each word, the hashed columns of the n-grams that end with it.

    `history[k]` is the hash of the k + 1 words up to the last one; its last place counts how many
    words of the document there were, up to `high`.
    """
    document = 0
    for t in range(n_tokens):
        while document < ends.size and ends[document] == t:
            history[high] = ZERO
            document += 1
        for k in range(high - 1, 0, -1):
            history[k] = hash_pair(history[k - 1], hashes[t])
        history[0] = hashes[t]
        history[high] = min(history[high] + ONE, U64(high))
        for k in range(low - 1, high):
            known = U64(k) < history[high]
            columns[t, k - low + 1] = np.int32(history[k] & mask) if known else UNKNOWN
    if document < ends.size:
        history[high] = ZERO
