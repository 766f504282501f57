"""What is known of a distinct word, told for each of its occurrences; its n-grams of characters."""

import numpy as np

from thresher._kernels._jit import kernel

U8, U64 = np.uint8, np.uint64
ZERO, ONE = U64(0), U64(1)
HALF_BITS, LOW_HALF = U64(32), U64(0xFFFFFFFF)


@kernel
def expand(ids, n_tokens, ends, starts, values, out, out_ends):
    """Write, for each word, its values, which stand from `starts[id]` to `starts[id + 1]`."""
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
    """Cut each word, with a space before and after it, into its n-grams of characters.

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
