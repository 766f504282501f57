"""Matches of a regular expression, in linear time.

The text comes as `symbols`: one for each character, and one for the edge after each document. A
symbol determines the result of all tests of a character and of the character before it:
`passes[symbol, test]`.

A pattern is a program of instructions: (operation, test, next instruction, alternative). A text is
read twice. The backward pass marks each position with the set of instructions from which a match
can be reached. The forward pass takes the first alternative that leads to a match, which is the one
that a backtracking search would find.

Sets are numbered in the order of their first occurrence. `before` caches the set that precedes a
set at a symbol, so that a known transition costs one lookup. A long document is marked in segments:
first from the last to the first, storing the set after each; then again from the first to the last,
when each segment is read. Memory is therefore bounded by the length of a segment; the cache is
cleared when it is full.
"""

import numpy as np

from thresher._kernels._jit import kernel

U64 = np.uint64
ONE, HALF_BITS = U64(1), U64(32)
MULTIPLIER = U64(0x9E3779B97F4A7C15)
UNKNOWN = np.int32(-1)
YES, NO = np.uint8(1), np.uint8(0)

# Operations. TAKE: consume a character that passes a test; TEST: continue if the position passes a
# test; FORK: try the next instruction, then the other; OPEN, CLOSE: start and end of the group;
# LOOK, LOOK_NOT: continue if the other leads, or does not lead, to SEEN from here; MATCH: end of a
# match.
TAKE, TEST, FORK, OPEN, CLOSE, LOOK, LOOK_NOT, SEEN, MATCH = range(9)

# The state between segments: the number of known sets, the number of tokens written, the next
# instruction, the start of the match, the start and end of its group, the last empty match.
N_SETS, N_TOKENS, INSTRUCTION, START, LEFT, RIGHT, EMPTY = range(7)
NONE = -1


@kernel
def step(program, n_takes, passes, symbol, sets, after, row, may_end):
    """Write into a row which instructions lead to a match, given the row after the symbol.

    Instructions that consume a character come first, any other after all its successors.
    """
    for i in range(n_takes):
        sets[row, i] = passes[symbol, program[i, 1]] & sets[after, program[i, 2]]
    for i in range(n_takes, program.shape[0]):
        operation, then, other = program[i, 0], program[i, 2], program[i, 3]
        if operation == FORK:
            leads = sets[row, then] | sets[row, other]
        elif operation == TEST:
            leads = passes[symbol, program[i, 1]] & sets[row, then]
        elif operation == LOOK:
            leads = sets[row, other] & sets[row, then]
        elif operation == LOOK_NOT:
            leads = (sets[row, other] ^ YES) & sets[row, then]
        elif operation == SEEN:
            leads = YES
        elif operation == MATCH:
            leads = may_end
        else:
            leads = sets[row, then]
        sets[row, i] = leads


@kernel
def number(blocks, slots, before, state):
    """Return the number of the set in the row after the last; add it if it is new."""
    row, mask = state[N_SETS], U64(slots.size - 1)
    value = U64(0)
    for block in range(blocks.shape[1]):
        value = (value ^ blocks[row, block]) * MULTIPLIER
        value ^= value >> HALF_BITS
    slot = value & mask
    while slots[slot] != UNKNOWN:
        same = True
        for block in range(blocks.shape[1]):
            same &= blocks[slots[slot], block] == blocks[row, block]
        if same:
            return slots[slot]
        slot = (slot + ONE) & mask
    slots[slot] = row
    before[row, :] = UNKNOWN
    state[N_SETS] = row + 1
    return slots[slot]


@kernel
def mark(
    symbols, start, stop, program, n_takes, passes, sets, blocks, slots, before, set_after, marks,
    state,
):  # fmt: skip
    """Write the number of the set at each position of a segment, given the set after it."""
    if state[N_SETS] + marks.size + 1 > sets.shape[0]:  # forget all
        state[N_SETS] = 0
        slots[:] = UNKNOWN
    blocks[state[N_SETS], :] = set_after
    current = number(blocks, slots, before, state)
    marks[stop - start] = current
    for at in range(stop - 1, start - 1, -1):
        symbol = symbols[at]
        earlier = before[current, symbol]
        if earlier == UNKNOWN:
            step(program, n_takes, passes, symbol, sets, current, state[N_SETS], YES)
            earlier = number(blocks, slots, before, state)
            before[current, symbol] = earlier
        current = earlier
        marks[at - start] = current


@kernel
def read(symbols, start, stop, entry, program, n_takes, passes, sets, marks, spans, state):
    """Write the tokens that end in a segment: `start << 32 | end` of the group in each match."""
    at, instruction = start, state[INSTRUCTION]
    while at < stop:
        row = marks[at - start]
        if instruction == NONE:
            if at == state[EMPTY]:  # a second match here must not be empty
                row = state[N_SETS]
                after = marks[at - start + 1]
                step(program, n_takes, passes, symbols[at], sets, after, row, NO)
            if sets[row, entry] == NO:
                at += 1
                continue
            instruction = entry
            state[START], state[LEFT], state[RIGHT] = at, 0, 0
        operation = program[instruction, 0]
        while operation != TAKE and operation != MATCH:
            if operation == OPEN:
                state[LEFT] = at
            elif operation == CLOSE:
                state[RIGHT] = at
            way = 3 if operation == FORK and sets[row, program[instruction, 2]] == NO else 2
            instruction = program[instruction, way]
            operation = program[instruction, 0]
        if operation == TAKE:
            at += 1
            instruction = program[instruction, 2]
        else:
            spans[state[N_TOKENS]] = (U64(state[LEFT]) << HALF_BITS) | U64(state[RIGHT])
            state[N_TOKENS] += 1
            state[EMPTY] = at if at == state[START] else NONE
            instruction = NONE
    state[INSTRUCTION] = instruction


@kernel
def find(
    symbols, edge, program, n_takes, entry, passes, sets, blocks, slots, before, sets_between,
    marks, spans, ends, state,
):  # fmt: skip
    """Write the tokens of documents, and their number up to the end of each document.

    Symbols from `edge` on are edges. `marks` has room for the positions of a segment and one more;
    `sets_between` for the sets after the segments of the longest document; `sets`, whose `blocks`
    are eight bytes each, for at least two sets more than there are marks.
    """
    length, start = marks.size - 1, 0
    for document in range(ends.size):
        stop = start
        while symbols[stop] < edge:
            stop += 1
        stop += 1
        last = (stop - start - 1) // length
        sets_between[last, :] = U64(0)
        for turn in range(-last, last + 1):  # all segments but the first, then all of them
            segment = abs(turn)
            low = start + segment * length
            high = min(low + length, stop)
            mark(
                symbols, low, high, program, n_takes, passes, sets, blocks, slots, before,
                sets_between[segment], marks, state,
            )  # fmt: skip
            if turn < 0:
                sets_between[segment - 1, :] = blocks[marks[0]]
            else:
                read(symbols, low, high, entry, program, n_takes, passes, sets, marks, spans, state)
        ends[document] = state[N_TOKENS]
        start = stop
