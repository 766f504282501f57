"""Matches of a regular expression, in linear time.

The text comes as `symbols`: one for each character, and one for the edge after each document. A
symbol determines the result of all tests of a character and of the character before it:
`passes[symbol, test]`.

A pattern is a program of instructions: (operation, test, next instruction, alternative). A text is
read twice. Backwards, each position is marked with the set of the instructions from which a match
can be reached; everything that follows is known then. Forwards, of two alternatives the first is
taken that leads to a match, which is the one that a search with backtracking would find.

Sets are numbered as they are met. `before` remembers which set precedes which at which symbol, so
that a known transition costs one lookup. A long document is marked in segments: first from the last
to the first, keeping the set after each; then again from the first to the last, when each segment
is read. So memory is bounded by the length of a segment; it is cleared when it is full.
"""

import numpy as np

from thresher._kernels._jit import kernel

U64 = np.uint64
ONE, HALF_BITS = U64(1), U64(32)
MULTIPLIER = U64(0x9E3779B97F4A7C15)
UNKNOWN = np.int32(-1)
YES, NO = np.uint8(1), np.uint8(0)

# Operations. TAKE a character that passes a test; go on if the place passes a TEST; FORK: try the
# next instruction, then the other; OPEN and CLOSE the group; LOOK whether the other leads to SEEN
# from here, or whether it does NOT; MATCH.
TAKE, TEST, FORK, OPEN, CLOSE, LOOK, LOOK_NOT, SEEN, MATCH = range(9)

# What is kept between the segments: how many sets are known, how many tokens are written, the
# instruction to go on with, where the match and its group start and end, the last empty match.
N_SETS, N_TOKENS, INSTRUCTION, START, LEFT, RIGHT, EMPTY = range(7)
NONE = -1


@kernel
def step(program, n_takes, passes, symbol, sets, after, row, may_end):
    """Write into a row which instructions lead to a match, given the row after the symbol.

    Those that take a character come first, each other one after all that it can go on to.
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
    """Return the number of the set in the row after the last, a new one if no other is equal."""
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
    symbols, start, stop, program, n_takes, passes, sets, blocks, slots, before, kept, marks, state
):  # fmt: skip
    """Write the number of the set at each place of a segment, given the set kept after it."""
    if state[N_SETS] + marks.size + 1 > sets.shape[0]:  # forget all
        state[N_SETS] = 0
        slots[:] = UNKNOWN
    blocks[state[N_SETS], :] = kept
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
    symbols, edge, program, n_takes, entry, passes, sets, blocks, slots, before, kept, marks,
    spans, ends, state,
):  # fmt: skip
    """Write the tokens of some documents, and how many there are up to the end of each.

    An edge is a symbol from `edge` on. There is room in `marks` for the places of a segment and
    one more; in `kept` for the sets after the segments of the longest document; in `sets`, whose
    `blocks` are eight bytes each, for at least two sets more than marks.
    """
    length, start = marks.size - 1, 0
    for document in range(ends.size):
        stop = start
        while symbols[stop] < edge:
            stop += 1
        stop += 1
        last = (stop - start - 1) // length
        kept[last, :] = U64(0)
        for turn in range(-last, last + 1):  # all segments but the first, then all of them
            segment = abs(turn)
            low = start + segment * length
            high = min(low + length, stop)
            mark(
                symbols, low, high, program, n_takes, passes, sets, blocks, slots, before,
                kept[segment], marks, state,
            )  # fmt: skip
            if turn < 0:
                kept[segment - 1, :] = blocks[marks[0]]
            else:
                read(symbols, low, high, entry, program, n_takes, passes, sets, marks, spans, state)
        ends[document] = state[N_TOKENS]
        start = stop
