"""Tokens to numbers: an open-addressing table of words, which are UTF-8 bytes, and their hash.

A token is the place of a word in a buffer of bytes, `start << 32 | end` in one uint64. Every
buffer comes twice, as bytes and as `blocks` of eight of them, and is at least 16 bytes longer than
its text, so that eight bytes can be read from any place.
"""

import numpy as np

from thresher._kernels._jit import kernel

U64 = np.uint64
ZERO, ONE, TWO, THREE, EIGHT = U64(0), U64(1), U64(2), U64(3), U64(8)
HALF_BITS, LOW_HALF = U64(32), U64(0xFFFFFFFF)
LONG = U64(0x80000000)  # marks the signature of a word of more than eight bytes

# Version 1 of the hash: these two odd numbers and the order of the steps never change.
MULTIPLIER = U64(0x9E3779B97F4A7C15)
FINALIZER = U64(0xD6E8FEB86659FD93)


@kernel
def load(blocks, at, length):
    """Return the first eight of the `length` bytes from `at` on, zeros where there are fewer."""
    block = at >> THREE
    shift = (at & U64(7)) << THREE
    value = (blocks[block] >> shift) | ((blocks[block + ONE] << ONE) << (U64(63) - shift))
    bits = min(length, EIGHT) << TWO  # half of the bits to keep: a shift by 64 is not defined
    return value & (((ONE << bits) << bits) - ONE)


@kernel
def hash_start(first, length):
    """Return the hash of a word after its first eight bytes."""
    value = ((length * FINALIZER) ^ first) * MULTIPLIER
    return value ^ (value >> HALF_BITS)


@kernel
def hash_rest(value, blocks, start, length):
    """Return the hash of a word after its other bytes, eight at a time."""
    done = EIGHT
    while done < length:
        value = (value ^ load(blocks, start + done, length - done)) * MULTIPLIER
        value ^= value >> HALF_BITS
        done += EIGHT
    return value


@kernel
def hash_end(value):
    """Return the hash of a word."""
    value *= FINALIZER
    return value ^ (value >> HALF_BITS)


@kernel
def hash_word(blocks, start, length):
    """Return the 64-bit hash of `length` bytes."""
    value = hash_start(load(blocks, start, length), length)
    return hash_end(hash_rest(value, blocks, start, length))


@kernel
def hash_tokens(blocks, tokens, n_tokens, hashes):
    """Write the hash of each token's word."""
    for t in range(n_tokens):
        start = tokens[t] >> HALF_BITS
        hashes[t] = hash_word(blocks, start, (tokens[t] & LOW_HALF) - start)


@kernel
def signature(length, value):
    """Return what a slot keeps of a word beside its first eight bytes: its length or its hash."""
    return length if length <= EIGHT else (value >> HALF_BITS) | LONG


@kernel
def find_short(first, length, slots, slot):
    """Return the slot of a word of up to eight bytes, or the empty one where it would stand."""
    mask = U64(slots.size // 2 - 1)
    while True:
        entry = slots[slot * TWO + ONE]
        if (entry >> HALF_BITS == length) & (slots[slot * TWO] == first) or entry == ZERO:
            return slot
        slot = (slot + ONE) & mask


@kernel
def find_long(blocks, start, length, first, sign, slots, slot, word_blocks, offsets):
    """Return the slot of a word of more than eight bytes, or the empty one."""
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
                ours, theirs = start + done, word_start + done
                same = load(blocks, ours, left) == load(word_blocks, theirs, left)
                done += EIGHT
            if same:
                return slot
        slot = (slot + ONE) & mask


@kernel
def look_up(text, blocks, tokens, n_tokens, slots, words, word_blocks, offsets, n_words, grow, ids):
    """Write the number of each token's word to `ids`; return how many words there are then.

    A slot is two uint64: the first eight bytes of a word, and its signature over its number plus
    one. Words of up to eight bytes, which are most, are therefore compared exactly without leaving
    the slot. New words get the next number when `grow`, for which the caller has made room, else
    -1.
    """
    mask = U64(slots.size // 2 - 1)
    end = U64(offsets[n_words])
    n_words = U64(n_words)
    for t in range(n_tokens):
        start = tokens[t] >> HALF_BITS
        length = (tokens[t] & LOW_HALF) - start
        first = load(blocks, start, length)
        value = hash_start(first, length)
        if length <= EIGHT:
            value = hash_end(value)
            slot = find_short(first, length, slots, value & mask)
        else:
            value = hash_end(hash_rest(value, blocks, start, length))
            sign = signature(length, value)
            slot = find_long(
                blocks, start, length, first, sign, slots, value & mask, word_blocks, offsets
            )
        entry = slots[slot * TWO + ONE]
        if entry == ZERO and grow:
            for i in range(start, start + length):
                words[end] = text[i]
                end += ONE
            n_words += ONE
            offsets[n_words] = end
            entry = (signature(length, value) << HALF_BITS) | n_words
            slots[slot * TWO], slots[slot * TWO + ONE] = first, entry
        ids[t] = np.int32(np.int64(entry & LOW_HALF) - 1)  # an empty slot gives -1
    return np.int64(n_words)


@kernel
def fill_slots(slots, blocks, offsets, n_words):
    """Enter words that are known to differ into empty slots."""
    mask = U64(slots.size // 2 - 1)
    for word in range(n_words):
        start = U64(offsets[word])
        length = U64(offsets[word + 1]) - start
        value = hash_word(blocks, start, length)
        slot = value & mask
        while slots[slot * TWO + ONE] != ZERO:
            slot = (slot + ONE) & mask
        slots[slot * TWO] = load(blocks, start, length)
        slots[slot * TWO + ONE] = (signature(length, value) << HALF_BITS) | U64(word + 1)
