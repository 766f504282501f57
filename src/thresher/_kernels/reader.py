"""From one text to scores and categories in a single call; the model must not change meanwhile.

The kernels for batches are called one after the other. Arrays that belong together are in a tuple,
which is unpacked where it is used.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

import numpy as np
from numba import config, types
from numba.core import cgutils
from numba.core.extending import intrinsic

from thresher._kernels._jit import kernel
from thresher._kernels.boosted_trees import N_BITS
from thresher._kernels.boosted_trees import add_scores as add_judgements
from thresher._kernels.scoring import add_scores, decide_document, weigh_document
from thresher._kernels.second_look import N_OTHERS, describe, replace_scores, weigh_evidence
from thresher._kernels.second_look import choose as choose_candidates
from thresher._kernels.text import (
    FIELDS,
    NOTHING,
    PARTS,
    UNKNOWN,
    WORDS,
    char_grams,
    count,
    hash_ngrams,
    hash_pair,
    hash_tokens,
    look_up,
    ngrams,
    scan,
)

U32, U64 = np.uint32, np.uint64
N_ENTRIES, N_TOKENS = 0, 1  # indices of `notes`
# The last step that `read` could do, if steps are left.
UNSEEN, COUNTED, WEIGHED, SCORED = -5, -4, -3, -2
N_SMALL = 12  # integers for intermediate results
MOST_CHOSEN = 34  # categories

I32, I64, F32, F64 = np.int32, np.int64, np.float32, np.float64

# The types of the arrays that `read` gets as `array_addresses`, in order.
RULES = 2 * (U64, np.uint8, I64)  # of words and of parts: table, ranges, shift and least length
LOOK = (
    np.uint8, F64,  # the field of each column; numbers
    F64, F64, I64, I32, F64,  # categories: offsets, positives, co-occurrences
    F32, I64, U32, F64,  # trees: edges, their starts, remaining leaves, values of leaves
)  # fmt: skip
MODEL = (
    I64,  # the plan
    U64, U64, I64, I64,  # words: slots, letters, offsets, size
    I64, np.bool_, I64, U64, I32, I64,  # runs: shapes, gaps, counted ones, slots, pairs, size
    U64, U64, I64, I64,  # parts, as words
    U64,  # the hash of each field
    I32, I32, I32, I32, I32,  # columns of words, runs, parts and words in fields, and their numbers
    F32, F32, F32, np.uint8,  # strengths: of counts, of features, of blocks; the blocks
    F32, F32,  # weights, and the strength of the feature that is always on
    *LOOK,
)  # fmt: skip
ROOM = (
    # The arrays of `scan`: text, also as blocks, kinds, marks, also as blocks, edges, spans, ends.
    np.uint8, U64, np.uint8, np.uint8, U64, U32, U64, I64,
    # Intermediate results; see `laid_out`.
    I64, I32, U64, I32, I64, U64, np.uint8, U64, U64, I64, I32, I32, I32, I32,
    # Results: columns, counts, strengths, notes, chosen categories; `indptr` and `always_on`.
    I32, I32, F32, I64, I64, I64, F32,
    # Surface forms: slots, letters, offsets, size; their values: starts, numbers or hashes.
    U64, U64, I64, I64, I64, I32, U64,
)  # fmt: skip
RESULTS, CHOSEN, SURFACE = 22, 26, 29  # indices of these

# Indices of the plan. Hashed columns have masks; columns of parts begin at FIRST_PART, and columns
# of words in fields at FIRST_FIELD.
HAS_WORDS, HAS_PARTS, N_FIELDS, IS_HASHED, HAS_COLUMNS, HIGH = range(6)
WORD_MASK, PART_MASK, FIRST_PART, FIELD_MASK, FIRST_FIELD, LOW_PART, HIGH_PART = range(6, 13)
IS_FOLDED, SCALING, WIDTH, N_CANDIDATES, N_KINDS = range(13, 18)
# Indices of the numbers of the second look; LOWEST bounds the scores of the other categories.
SCALE, SLOPE, TOTAL, BASE, LOWEST = range(5)


# Arrays by their addresses ------------------------------------------------------------------------


def array_addresses(dtypes: Sequence[Any], arrays: Sequence[np.ndarray]) -> np.ndarray:
    """Return the address and the length of each array; the caller keeps the arrays alive.

    Each array among the arguments of a kernel costs a fifth of a microsecond; one table of
    addresses costs as much as one array.
    """
    for dtype, array in zip(dtypes, arrays, strict=True):
        if array.dtype != dtype or not array.flags.c_contiguous:
            raise TypeError(f"The array must be of {dtype} and in one piece; it is {array!r:.60}.")
    return np.array([(array.ctypes.data, array.size) for array in arrays], np.int64)


if config.DISABLE_JIT:

    def arrays_at(table: np.ndarray, dtypes: Sequence[Any]) -> tuple[np.ndarray, ...]:
        """Return the arrays of a table of `array_addresses`, each in one dimension."""
        arrays = []
        for (address, size), dtype in zip(table.tolist(), dtypes, strict=True):
            room = (ctypes.c_char * (size * np.dtype(dtype).itemsize)).from_address(address)
            arrays.append(np.ndarray((size,), dtype, room))
        return tuple(arrays)

else:

    @intrinsic  # type: ignore[untyped-decorator]
    def arrays_at(_: Any, table: Any, dtypes: Any) -> Any:
        """Return the arrays of a table of `array_addresses`, each in one dimension."""
        kinds = types.Tuple([types.Array(dtype.dtype, 1, "C") for dtype in dtypes.types])

        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            from numba.np.arrayobj import populate_array  # slow, and needed to compile alone

            rows = context.make_array(table)(context, builder, arguments[0])
            arrays = []
            for number, kind in enumerate(kinds.types):
                address, size = (
                    builder.load(_pointer(context, builder, table, rows, (number, column)))
                    for column in range(2)
                )
                dtype, array = context.get_data_type(kind.dtype), context.make_array(kind)
                width = context.get_constant(types.intp, context.get_abi_sizeof(dtype))
                view = array(context, builder)
                data = builder.inttoptr(address, dtype.as_pointer())
                populate_array(view, data, [size], [width], width, None)
                arrays.append(view._getvalue())
            return context.make_tuple(builder, kinds, arrays)

        return kinds(table, dtypes), generate


def _pointer(context: Any, builder: Any, kind: Any, array: Any, at: tuple[int, ...]) -> Any:
    """Return a pointer to an array element in generated code."""
    constants = [context.get_constant(types.intp, index) for index in at]
    return cgutils.get_item_pointer(context, builder, kind, array, constants)


# The kernels --------------------------------------------------------------------------------------


@kernel
def read(data, offsets, rules, model, room, limits, scores):
    """Count a text, compute strengths and scores and decide, as far as this kernel can.

    The text is in pieces, between the `offsets`: the text before the fields, each field, and the
    text after them; without fields, it is one piece. Returns the number of chosen categories, or -1
    if there are too many; SCORED if `look_again` must follow; WEIGHED if there are no weights;
    COUNTED if the table of strengths is too short; UNSEEN if a word has not been folded yet.
    """
    word_rule, part_rule = opened_rules(rules)
    plan, words, runs, parts, salts, columns, strength, weights, always_on, _ = opened(model)
    letters, scratch, out, surface = laid_out(room)
    indices, counts, values, notes, chosen, indptr, constant = out
    n = notes[N_TOKENS] = n_words = n_in_fields = 0
    if plan[HAS_WORDS] or plan[N_FIELDS]:
        notes[N_TOKENS] = cut(data, offsets, word_rule, letters, scratch)
        n_words = number_words(notes[N_TOKENS], plan, words, surface, letters, scratch)
        if n_words < 0:
            return UNSEEN
        n_in_fields = number_in_fields(plan, salts, letters, scratch)
    if plan[HAS_WORDS]:
        n_codes = count_words(n_words, plan, runs, scratch)
        n = put_columns(n_codes, plan, columns, WORDS, scratch, indices, counts, n)
    if plan[HAS_PARTS]:
        n_tokens = cut(data, offsets, part_rule, letters, scratch)
        if not plan[HAS_WORDS]:
            notes[N_TOKENS] = n_tokens
        n_codes = count_parts(n_tokens, plan, parts, letters, scratch)
        n = put_columns(n_codes, plan, columns, PARTS, scratch, indices, counts, n)
    if plan[N_FIELDS]:
        n_codes = count_codes(scratch[-1], n_in_fields, scratch)
        n = put_columns(n_codes, plan, columns, FIELDS, scratch, indices, counts, n)
    notes[N_ENTRIES] = n
    if not weigh(n, indices, counts, strength, plan[SCALING], values):
        return COUNTED
    if not weights.size:
        return WEIGHED
    indptr[0], indptr[1], constant[0] = 0, n, always_on[0]
    add_scores(indptr, indices.view(U32), values, constant, 0, weights, scores, 0, scores.size)
    return SCORED if plan[N_CANDIDATES] else decide(scores, limits, chosen)


@kernel
def look_again(model, room, limits, scores):
    """Take the second look at a text that was scored, and decide as `read` does.

    It is a separate kernel, so that models without a second look need not compile it.
    """
    plan, _, _, _, _, _, _, weights, _, look = opened(model)
    _, _, out, _ = laid_out(room)
    indices, _, values, _, chosen, indptr, _ = out
    fields, numbers, offsets, positives, other_ends, others, both = look[:7]
    edges, starts, left, leaves = look[7:]
    scale, n_known, n, n_kinds = numbers[SCALE], positives.size, plan[N_CANDIDATES], plan[N_KINDS]
    row, candidates = scores.reshape(1, -1), np.zeros((1, n), I32)
    choose_candidates(row, n_known, candidates)
    evidence, base_scores = np.zeros((1, n, n_kinds), F32), np.zeros((1, n), F32)
    weigh_evidence(indptr, indices, values, weights, fields, candidates, base_scores, evidence)
    facts, judged = np.empty((1, n, 1 + n_kinds + N_OTHERS), F32), np.full(n, numbers[BASE])
    describe(
        row, candidates, evidence, scale, numbers[SLOPE], offsets, positives, numbers[TOTAL],
        other_ends, others, both, facts,
    )  # fmt: skip
    left, leaves = left.reshape(edges.size + facts.shape[2], -1), leaves.reshape(-1, N_BITS)
    add_judgements(facts[0], edges, starts, left, leaves, judged)
    replace_scores(row, n_known, scale, numbers[LOWEST], candidates, judged.reshape(1, -1))
    return decide(scores, limits, chosen)


@kernel
def opened_rules(rules):
    """Return the token rules of words and parts: table, ranges, shift and minimum length."""
    table, ranges, numbers, part_table, part_ranges, part_numbers = arrays_at(rules, RULES)
    ranges, part_ranges = ranges.reshape(-1, 3), part_ranges.reshape(-1, 3)
    words = table, ranges, numbers[0], numbers[1]
    return words, (part_table, part_ranges, part_numbers[0], part_numbers[1])


@kernel
def opened(model):
    """Return the plan of a model, and its arrays grouped in tuples."""
    arrays = arrays_at(model, MODEL)
    plan, words, runs, parts = arrays[0], arrays[1:5], arrays[5:11], arrays[11:15]
    salts, columns, strength, weights = arrays[15], arrays[16:21], arrays[21:25], arrays[25]
    weights, always_on, look = weights.reshape(-1, plan[WIDTH]), arrays[26], arrays[27:]
    return plan, words, runs, parts, salts, columns, strength, weights, always_on, look


@kernel
def laid_out(room):
    """Return the arrays to write to, and the folded words, grouped in tuples.

    They are those of the text; of intermediate results (small numbers, ids and hashes of words,
    codes of runs, the last runs of words and their hashes, padded words, also as blocks, their
    character n-grams and the ends of these, cells, distinct codes and their counts, words in
    fields); results; surface forms.
    """
    arrays = arrays_at(room, ROOM)
    return arrays[:8], arrays[8:RESULTS], arrays[RESULTS:SURFACE], arrays[SURFACE:]


# Counting -----------------------------------------------------------------------------------------


@kernel
def cut(data, offsets, rule, room, scratch):
    """Split a text into tokens; return their number. There must be room for the text."""
    table, ranges, shift, min_length = rule
    text, _, kinds, marks, mark_blocks, edges, spans, ends = room
    cursor = scratch[0][:4]
    cursor[:] = 0
    size = data.size + ends.size  # with a separator after each piece
    return np.int64(
        scan(
            data, offsets, cursor, size, table, ranges, shift, min_length,
            text, kinds, marks, mark_blocks, edges, spans, ends,
        )
    )  # fmt: skip


@kernel
def number_words(n, plan, words, surface, room, scratch):
    """Write the number or hash of each word; return the number of words, or -1 for UNSEEN."""
    slots, word_blocks, offsets, sizes = words
    text, text_blocks, spans = room[0], room[1], room[6]
    ids, hashes = scratch[1:3]
    if plan[IS_FOLDED]:
        return fold_words(n, plan, surface, room, scratch)
    if plan[IS_HASHED]:
        hash_tokens(text_blocks, spans, n, hashes)
    else:
        look_up(text, text_blocks, spans, n, slots, text, word_blocks, offsets, sizes, False, ids)
    return n


@kernel
def fold_words(n, plan, surface, room, scratch):
    """Write the number or hash of the folded form of each word; return the number of words."""
    slots, word_blocks, offsets, sizes, starts, numbers, number_hashes = surface
    text, text_blocks, spans, ends = room[0], room[1], room[6], room[7]
    ids, hashes = scratch[1:3]
    look_up(text, text_blocks, spans, n, slots, text, word_blocks, offsets, sizes, False, ids)
    n_words, t = 0, 0
    for piece in range(ends.size):
        while t < ends[piece]:
            if ids[t] == UNKNOWN:
                return -1
            start = starts[ids[t]]
            if start < starts[ids[t] + 1]:
                if plan[IS_HASHED]:
                    hashes[n_words] = number_hashes[start]
                else:
                    ids[n_words] = numbers[start]
                n_words += 1
            t += 1
        ends[piece] = n_words
    return n_words


@kernel
def number_in_fields(plan, salts, room, scratch):
    """Write the codes of the words in fields; return their number."""
    n_fields, mask, first = plan[N_FIELDS], U64(plan[FIELD_MASK]), U64(plan[FIRST_FIELD])
    ends, ids, hashes, codes = room[7], scratch[1], scratch[2], scratch[-1]
    n = 0
    for field in range(n_fields):
        for t in range(ends[field], ends[field + 1]):
            if plan[IS_HASHED]:
                codes[n] = np.int32(first + (hash_pair(salts[field], hashes[t]) & mask))
            else:
                codes[n] = np.int32(ids[t] * n_fields + field) if ids[t] != UNKNOWN else UNKNOWN
            n += 1
    return n


@kernel
def count_words(n, plan, runs, scratch):
    """Count words and runs of words; return the number of distinct codes."""
    high, mask = plan[HIGH], plan[WORD_MASK]
    shapes, gaps, counted, pair_slots, pairs, pair_sizes = runs
    n_shapes, pairs = shapes.size // 2, pairs.reshape(-1, 2)
    parents, lengths = shapes[:n_shapes], shapes[n_shapes:]
    small, ids, hashes, codes, history, hash_history = scratch[:6]
    no_end = small[:0]  # the document is the last, and ends with the words
    if high == 1:
        if plan[IS_HASHED]:
            for t in range(n):
                ids[t] = np.int32(hashes[t] & U64(mask))
        return count_codes(ids, n, scratch)
    codes = codes.reshape(-1, counted.size)
    if plan[IS_HASHED]:
        hash_history[:] = U64(0)
        hash_ngrams(
            hashes, n, no_end, parents, gaps, counted, lengths, hash_history, U64(mask), codes
        )
    else:
        history[:] = NOTHING
        ngrams(
            ids, n, no_end, parents, gaps, counted, history, pair_slots, pairs, pair_sizes,
            False, codes,
        )  # fmt: skip
    return count_codes(codes.reshape(-1), n * counted.size, scratch)


@kernel
def count_parts(n, plan, parts, room, scratch):
    """Count the parts of words; return the number of distinct codes."""
    mask, first = plan[PART_MASK], plan[FIRST_PART]
    slots, part_blocks, offsets, sizes = parts
    text, spans = room[0], room[6]
    ids, hashes = scratch[1:3]
    padded, padded_blocks, grams, gram_ends = scratch[6:10]
    if n == 0:
        return count_codes(ids, 0, scratch)
    char_grams(text, spans, n, plan[LOW_PART], plan[HIGH_PART], padded, grams, gram_ends)
    n_grams = gram_ends[n - 1]
    if plan[IS_HASHED]:
        hash_tokens(padded_blocks, grams, n_grams, hashes)
        for t in range(n_grams):
            ids[t] = np.int32((hashes[t] & U64(mask)) + U64(first))
    else:
        look_up(
            padded, padded_blocks, grams, n_grams, slots, padded, part_blocks, offsets, sizes,
            False, ids,
        )  # fmt: skip
    return count_codes(ids, n_grams, scratch)


@kernel
def count_codes(codes, n, scratch):
    """Count `n` codes; return the number of distinct codes."""
    small, (cells, different, times) = scratch[0], scratch[10:13]
    ends, row, indptr = small[6:7], small[7:10], small[10:12]
    ends[0] = n
    row[:] = 0
    count(codes, ends, n, cells, row, different, times, indptr)
    return row[1]


@kernel
def put_columns(n, plan, columns, block, scratch, indices, counts, end):
    """Write the columns of the codes and their counts; return where they end.

    Codes are columns, unless there are tables of those of words, runs, parts and words in fields;
    and these are the features, unless they are numbered anew.
    """
    has_columns = plan[HAS_COLUMNS] != 0
    of_words, of_runs, of_parts, of_fields, numbers = columns
    codes, times = scratch[11:13]
    with_runs = plan[HIGH] > 1 and block == WORDS
    singles = of_words if block == WORDS else of_parts if block == PARTS else of_fields
    for i in range(n):
        column = codes[i]
        if has_columns and with_runs and column & 1:
            column = of_runs[U32(column >> 1)]
        elif has_columns:
            column = singles[U32(column >> 1 if with_runs else column)]
        if numbers.size and column != UNKNOWN:
            column = numbers[U32(column)]
        indices[end], counts[end] = column, times[i]
        end += np.int64(column != UNKNOWN)
    return end


# Strengths ----------------------------------------------------------------------------------------


@kernel
def weigh(n, indices, counts, strength, scaling, values):
    """Write the strengths; return False if a count is not in the table `tf`."""
    tf, idf, block_weights, blocks = strength
    for i in range(n):
        if counts[i] > tf.size:
            return False
        values[i] = tf[U32(counts[i] - 1)]
    weigh_document(0, n, indices, values, idf, block_weights, blocks, 0, scaling)
    return tf.size > 0


# Decisions ----------------------------------------------------------------------------------------


@kernel
def decide(scores, limits, chosen):
    """Write the categories in order; return their number, or -1 if they are not decided here."""
    thresholds, at_least, at_most = limits
    if thresholds.size != scores.size:  # only the scores are needed
        return -1
    return decide_document(scores, thresholds, at_least, at_most, chosen)
