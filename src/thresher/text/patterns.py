"""Regular expressions that find the same tokens as Python's `re`, but always in linear time.

Python's parser parses a pattern, and Python's engine determines the characters of each set and
where each assertion holds. This module compiles the pattern to a program, which
`thresher._kernels.patterns` runs, so that no pattern takes exponential time, even if it comes from
an untrusted model file.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Sequence
from functools import cache, lru_cache
from graphlib import TopologicalSorter
from re import _compiler, _parser  # type: ignore[attr-defined]
from typing import Any, NamedTuple

import numpy as np

from thresher._kernels import patterns as kernels
from thresher.errors import ParameterError, param

MOST_CHARACTERS = 5_000  # of a pattern
MOST_INSTRUCTIONS = 1_500  # the maximum number of steps for each character of the text
MOST_WRITTEN = 4 * MOST_INSTRUCTIONS  # including unreachable instructions
MOST_CHOICES = 200  # characters, ranges and classes in all distinct sets; Python evaluates each
MOST_SETS_BESIDE = 5  # on which assertions depend; each may double the number of symbols
MOST_NESTED = 50  # well before Python's parser raises a RecursionError

SEGMENT = 1 << 12  # positions marked at a time
REMEMBERED = 1 << 22  # pairs of a set and a symbol in the cache of transitions

BOUNDS = (0x80, 0x100, 0x10000, 0x20000, 0x110000)  # of the characters of a batch of texts
NEWLINE = ord("\n")

UNITS = (_parser.LITERAL, _parser.NOT_LITERAL, _parser.ANY, _parser.IN)
WORD = (_parser.IN, [(_parser.CATEGORY, _parser.CATEGORY_WORD)])
REPEATS = (_parser.MAX_REPEAT, _parser.MIN_REPEAT)
REFUSED = {
    _parser.GROUPREF: "refers back to a group; write out what is to be repeated",
    _parser.GROUPREF_EXISTS: "asks whether a group has matched; write out both alternatives",
    _parser.ATOMIC_GROUP: "has an atomic group; write (?:...), no slower here",
    _parser.POSSESSIVE_REPEAT: "has a possessive repeat; write a plain one, no slower here",
}
BEHIND = "looks back by more than one character; write one, or a set such as (?<![a-z])"
GROUP_AHEAD = "has a capturing group in a lookahead; put the group around what is the token"
TOO_LARGE = (
    f"is too large, with more than {MOST_INSTRUCTIONS:,} steps once its repeats are written out; "
    "give smaller numbers of repeats, or fewer alternatives"
)
TOO_LONG = f"has more than {MOST_CHARACTERS:,} characters; give a shorter one"
TOO_MANY = (
    f"has more than {MOST_CHOICES} characters, ranges and classes in its different sets of "
    f"characters, or more than {MOST_SETS_BESIDE} sets in lookbehinds and the like; simplify it"
)
TOO_DEEP = f"is nested more than {MOST_NESTED} deep; give a simpler one"

Item = tuple[Any, Any]  # an operation of Python's parser and its operand


class RefusalError(Exception):
    """The reason why a pattern is refused, and the remedy: the end of a sentence."""


class Test(NamedTuple):
    """A test of one character, or an assertion about the two characters beside a position."""

    item: Item
    unit: Item  # a set of characters; for an assertion, the set that it depends on
    flags: int

    def __eq__(self, other: object) -> bool:
        return repr(self) == repr(other)

    def __hash__(self) -> int:
        return hash(repr(self))

    @property
    def is_assertion(self) -> bool:
        return self.item != self.unit

    @property
    def n_choices(self) -> int:
        """The number of characters, ranges and classes in the definition of its set."""
        operation, operand = self.unit
        return len(operand) if operation is _parser.IN else 1

    def of_unit(self) -> Test:
        """Return the test that a character is in its set."""
        return self._replace(item=self.unit)

    @lru_cache(maxsize=1024)  # noqa: B019 (a test is a value)
    def sides(self, bound: int) -> np.ndarray:
        """Return the start and end of each run of its characters below `bound`."""
        run = (_parser.MAX_REPEAT, (1, _parser.MAXREPEAT, _items([self.unit], self.flags)))
        runs = self._engine(run).finditer(_all_characters(bound))
        return np.array([side for match in runs for side in match.span()], np.int64)

    def holds(self, outside: str, inside: str) -> np.ndarray:
        """Return whether the assertion holds between two characters, for four times four cases.

        The cases are a character outside its set, one inside, a final newline, and the edge of a
        text.
        """
        assertion, rest = self._engine(self.item), "."
        befores, afters = (outside, inside, "\n", ""), (outside + rest, inside + rest, "\n", "")
        return np.array(
            [[assertion.match(b + a, len(b)) is not None for a in afters] for b in befores]
        )

    def _engine(self, item: Item) -> re.Pattern[str]:
        """Return one item of a pattern, compiled by Python."""
        engine: re.Pattern[str] = _compiler.compile(_items([item], self.flags), self.flags)
        return engine


def _items(items: list[Item], flags: int) -> Any:
    state = _parser.State()
    state.flags = flags
    return _parser.SubPattern(state, items)


@cache
def _all_characters(bound: int) -> str:
    return "".join(map(chr, range(bound)))


class Alphabet(NamedTuple):
    """The characters below a bound, grouped into classes that all tests of a pattern treat alike.

    The last class but one is a final newline, before which `$` holds; the last is the edge of a
    text. A symbol combines the class of a character and the kind of the character before it; kinds
    are groups of classes that all assertions treat alike.
    """

    classes: np.ndarray  # of each character
    kinds: np.ndarray  # of each class
    n_kinds: int
    passes: np.ndarray  # for each symbol and test, whether the test holds

    @classmethod
    def of(cls, tests: Sequence[Test], bound: int) -> Alphabet:
        """Return the alphabet for these tests."""
        sides = [test.of_unit().sides(bound) for test in tests]
        edges = np.unique(np.concatenate([[0, bound], *sides]))
        # A character is in a set if an odd number of starts and ends of its runs precede it.
        members = [np.searchsorted(ends, edges[:-1], side="right") % 2 == 1 for ends in sides]
        table = np.array(members, bool).reshape(len(tests), len(edges) - 1)
        firsts, classes_of_edges = _distinct(table.T)
        classes = np.repeat(classes_of_edges, np.diff(edges)).astype(np.uint16)
        table = table[:, firsts]
        characters = edges[firsts].tolist()
        outer = np.zeros(len(tests), bool)  # no set has the edge
        table = np.column_stack([table, table[:, classes[NEWLINE]], outer])
        assertions = {
            i: _between(test, characters, table[i])
            for i, test in enumerate(tests)
            if test.is_assertion
        }
        n = table.shape[1]
        stacked = np.array(list(assertions.values()), bool).reshape(len(assertions), n, n)
        firsts, kinds = _distinct(stacked.transpose(1, 0, 2).reshape(n, len(assertions) * n))
        passes = np.repeat(table, len(firsts), axis=1)
        for i, assertion in assertions.items():
            passes[i] = assertion[firsts].T.ravel()
        return cls(
            classes, kinds.astype(np.uint32), len(firsts), np.ascontiguousarray(passes.T, np.uint8)
        )

    def symbols(self, characters: np.ndarray, edges: np.ndarray) -> np.ndarray:
        """Return texts as symbols; the character after each text stands for its edge."""
        final, edge = len(self.kinds) - 2, len(self.kinds) - 1
        classes = self.classes[characters]
        classes[edges[characters[edges - 1] == NEWLINE] - 1] = final
        classes[edges] = edge  # after the line above, which would count an edge as a newline
        symbols: np.ndarray = classes.astype(np.uint32) * np.uint32(self.n_kinds)
        symbols[:1] += self.kinds[edge]
        symbols[1:] += self.kinds[classes[:-1]]
        return symbols


def _between(test: Test, characters: list[int], members: np.ndarray) -> np.ndarray:
    """Return whether an assertion holds between each pair of classes."""
    inside = [chr(code) for code, is_in in zip(characters, members, strict=False) if is_in]
    outside = [chr(code) for code, is_in in zip(characters, members, strict=False) if not is_in]
    cases = np.array([*members[:-2], 2, 3], np.int64)
    holds = test.holds("".join(outside[:1]), "".join(inside[:1]))
    return holds[cases[:, None], cases]


def _distinct(rows: np.ndarray) -> tuple[list[int], np.ndarray]:
    """Return the index of the first of each group of equal rows, and the group of each row."""
    numbers: dict[bytes, int] = {}
    kinds = np.array([numbers.setdefault(row.tobytes(), len(numbers)) for row in rows], np.int64)
    return np.unique(kinds, return_index=True)[1].tolist(), kinds


class _Writer:
    """Writes the instructions of a pattern from its end to its start.

    If the body of a repeat may be empty, Python leaves the repeat after an iteration that consumed
    no character. The next instruction therefore depends on whether this iteration has consumed a
    character: each item of a pattern is compiled with two continuations, `idle` if it has not and
    `moved` if it has. Outside of such repeats they are the same.
    """

    def __init__(self) -> None:
        self.code: list[tuple[int, int, int, int]] = []
        self.numbers: dict[tuple[int, int, int, int], int] = {}
        self.tests: dict[Test, int] = {}
        self.n_written = self.n_nested = self.n_looking = 0

    def add(self, operation: int, test: int = 0, then: int = 0, other: int = 0) -> int:
        """Return the number of an instruction; add it if it is new."""
        instruction = (operation, test, then, other)
        if instruction not in self.numbers:
            self.numbers[instruction] = len(self.code)
            self.code.append(instruction)
        return self.numbers[instruction]

    def test(self, item: Item, unit: Item, flags: int) -> int:
        """Return the number of a test."""
        flags &= re.ASCII | re.UNICODE | re.IGNORECASE | re.MULTILINE | re.DOTALL
        return self.tests.setdefault(Test(item, unit, flags), len(self.tests))

    def sequence(self, items: Any, flags: int, idle: int, moved: int) -> int:
        """Write some items of a pattern; return the instruction that they start with."""
        self.n_nested += 1
        self.n_written += 1 + len(items)
        if self.n_nested > MOST_NESTED or self.n_written > MOST_WRITTEN:
            raise RefusalError(TOO_DEEP if self.n_nested > MOST_NESTED else TOO_LARGE)
        for item in reversed(items):
            before = self.item(item, flags, moved, moved)
            idle = before if idle == moved else self.item(item, flags, idle, moved)
            moved = before
        self.n_nested -= 1
        return idle

    def item(self, item: Item, flags: int, idle: int, moved: int) -> int:
        """Write one item of a pattern; return the instruction that it starts with."""
        operation, operand = item
        if operation in UNITS:
            return self.add(kernels.TAKE, self.test(item, item, flags), moved)
        if operation is _parser.AT:
            is_boundary = operand in (_parser.AT_BOUNDARY, _parser.AT_NON_BOUNDARY)
            unit = WORD if is_boundary else (_parser.LITERAL, NEWLINE)
            return self.add(kernels.TEST, self.test(item, unit, flags), idle)
        if operation is _parser.BRANCH:
            *others, entry = (self.sequence(branch, flags, idle, moved) for branch in operand[1])
            for other in reversed(others):
                entry = self.add(kernels.FORK, 0, other, entry)
            return entry
        if operation is _parser.SUBPATTERN:
            return self.group(operand, flags, idle, moved)
        if operation in REPEATS:
            return self.repeat(item, flags, idle, moved)
        if operation in (_parser.ASSERT, _parser.ASSERT_NOT):
            return self.look(item, flags, idle)
        raise RefusalError(REFUSED.get(operation, f"has {operation}, which is not known here"))

    def group(self, operand: Any, flags: int, idle: int, moved: int) -> int:
        """Write a group, which may capture what it matches and may change the flags."""
        number, added, removed, items = operand
        flags = _compiler._combine_flags(flags, added, removed)
        if number is None:
            return self.sequence(items, flags, idle, moved)
        if self.n_looking:
            raise RefusalError(GROUP_AHEAD)
        idle, moved = (self.add(kernels.CLOSE, 0, way) for way in (idle, moved))
        return self.add(kernels.OPEN, 0, self.sequence(items, flags, idle, moved))

    def look(self, item: Item, flags: int, idle: int) -> int:
        """Write a lookahead as a separate program, or a lookbehind as a test."""
        operation, (direction, items) = item
        if direction < 0:
            if len(items) != 1 or items[0][0] not in UNITS:
                raise RefusalError(BEHIND)
            return self.add(kernels.TEST, self.test(item, items[0], flags), idle)
        self.n_looking += 1
        seen = self.add(kernels.SEEN)
        entry = self.sequence(items, flags, seen, seen)
        self.n_looking -= 1
        is_not = operation is _parser.ASSERT_NOT
        return self.add(kernels.LOOK_NOT if is_not else kernels.LOOK, 0, idle, entry)

    def repeat(self, item: Item, flags: int, idle: int, moved: int) -> int:
        """Write a repeat: `low` times, then a loop or as many more times as allowed."""
        operation, (low, high, items) = item
        if low > MOST_INSTRUCTIONS or MOST_INSTRUCTIONS < high != _parser.MAXREPEAT:
            raise RefusalError(TOO_LARGE)
        may_be_empty = items.getwidth()[0] == 0

        def once_more(leave: int, again: int) -> tuple[int, int, int, int]:
            entry = self.sequence(items, flags, leave if may_be_empty else again, again)
            ways = (leave, entry) if operation is _parser.MIN_REPEAT else (entry, leave)
            return (kernels.FORK, 0, *ways)

        leave_idle, leave = idle, moved
        if high == _parser.MAXREPEAT:
            moved = len(self.code)
            self.code.append((kernels.FORK, 0, 0, 0))  # the loop; its body refers to this number
            self.code[moved] = once_more(leave, moved)
            idle = moved if leave_idle == leave else self.add(*once_more(leave_idle, moved))
            high = low
        for _ in range(high - low):
            again, moved = moved, self.add(*once_more(leave, moved))
            idle = moved if leave_idle == leave else self.add(*once_more(leave_idle, again))
        for _ in range(low):
            again, moved = moved, self.sequence(items, flags, moved, moved)
            idle = moved if idle == again else self.sequence(items, flags, idle, again)
        return idle

    def program(self, entry: int) -> tuple[np.ndarray, int]:
        """Return the reachable instructions, sorted for evaluation, and the index of the first.

        An instruction comes after those that it leads to without consuming a character.
        """
        graph: dict[int, list[int]] = {}
        waiting = [entry]
        while waiting:
            number = waiting.pop()
            if number not in graph:
                operation, _, then, other = self.code[number]
                ways = [] if operation in (kernels.SEEN, kernels.MATCH) else [then]
                if operation in (kernels.FORK, kernels.LOOK, kernels.LOOK_NOT):
                    ways.append(other)
                graph[number] = [] if operation == kernels.TAKE else ways
                waiting += ways
        if len(graph) > MOST_INSTRUCTIONS:
            raise RefusalError(TOO_LARGE)
        order = sorted(TopologicalSorter(graph).static_order(), key=self._consumes_nothing)
        indices = {number: index for index, number in enumerate(order)}
        code = [self.code[number] for number in order]
        rows = [(a, b, indices.get(then, 0), indices.get(other, 0)) for a, b, then, other in code]
        return np.array(rows, np.uint16), indices[entry]

    def _consumes_nothing(self, number: int) -> bool:
        return self.code[number][0] != kernels.TAKE


class Pattern:
    """A regular expression compiled to a program for the kernels.

    Examples
    --------
    >>> pattern = compiled(r"(?u)\\b\\w\\w+\\b")
    >>> spans, ends = pattern.find(np.frombuffer(b"a rose is;", np.uint8), np.array([9]))
    >>> (spans >> np.uint64(32)).tolist(), (spans & np.uint64(0xFFFFFFFF)).tolist(), ends.tolist()
    ([2, 7], [6, 9], [2])
    """

    def __init__(self, source: str) -> None:
        self.source = source
        if len(source) > MOST_CHARACTERS:
            raise RefusalError(TOO_LONG)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about changes in future versions of Python
            parsed = _parser.parse(source)
        n_groups = parsed.state.groups - 1
        if n_groups > 1:
            raise RefusalError(
                f"has {n_groups} capturing groups; it may have one, which is then the token. "
                "Write (?:...) for groups that only group"
            )
        writer = _Writer()
        end = writer.add(kernels.MATCH)
        items = parsed if n_groups else [(_parser.SUBPATTERN, (0, 0, 0, parsed))]
        entry = writer.sequence(items, parsed.state.flags, end, end)
        self.program, self.entry = writer.program(entry)
        self.tests = tuple(writer.tests)
        beside = {test.of_unit() for test in self.tests if test.is_assertion}
        if sum(test.n_choices for test in self.tests) > MOST_CHOICES:
            raise RefusalError(TOO_MANY)
        if len(beside) > MOST_SETS_BESIDE:
            raise RefusalError(TOO_MANY)
        self.alphabets: dict[int, Alphabet] = {}

    def __reduce__(self) -> tuple[Any, ...]:
        return compiled, (self.source,)

    def find(self, characters: np.ndarray, edges: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the tokens as `start << 32 | end`, and their number up to the end of each text.

        `characters` are those of all texts, with an arbitrary character after each text, at the
        indices `edges`. If the group has not taken part in a match, its start and end are 0.
        """
        greatest = int(characters.max(initial=0))
        bound = next(bound for bound in BOUNDS if greatest < bound)
        if bound not in self.alphabets:
            self.alphabets[bound] = Alphabet.of(self.tests, bound)
        alphabet = self.alphabets[bound]
        symbols = alphabet.symbols(characters, edges)
        n_symbols = len(alphabet.passes)
        length = min(SEGMENT, len(symbols), REMEMBERED // (2 * n_symbols)) + 1
        n_sets = 2 * length + 4
        sets = np.zeros((n_sets, (len(self.program) + 7) // 8 * 8), np.uint8)
        blocks = sets.view(np.uint64)
        slots = np.full(1 << (2 * n_sets).bit_length(), kernels.UNKNOWN)
        before = np.empty((n_sets, n_symbols), np.int32)
        longest = int(np.diff(edges, prepend=-1).max(initial=0))
        sets_between = np.empty((longest // length + 1, blocks.shape[1]), np.uint64)
        marks = np.empty(length + 1, np.int32)
        spans = np.empty(2 * len(symbols), np.uint64)  # an empty and another token at each position
        ends = np.empty(len(edges), np.int64)
        state = np.full(7, kernels.NONE)
        state[[kernels.N_SETS, kernels.N_TOKENS]] = 0
        n_takes = int(np.sum(self.program[:, 0] == kernels.TAKE))
        kernels.find(
            symbols, n_symbols - alphabet.n_kinds, self.program, n_takes, self.entry,
            alphabet.passes, sets, blocks, slots, before, sets_between, marks, spans, ends,
            state,
        )  # fmt: skip
        return spans[: state[kernels.N_TOKENS]].copy(), ends


@lru_cache(maxsize=32)
def compiled(source: str) -> Pattern:
    """Return a compiled regular expression; raise a ParameterError if it is refused."""
    shown = f"{param('token_pattern')} is {source!r:.80}"
    try:
        return Pattern(source)
    except RefusalError as refusal:
        raise ParameterError(f"{shown}, which {refusal}.") from None
    except RecursionError:
        raise ParameterError(f"{shown}, which {TOO_DEEP}.") from None
    except (re.error, OverflowError, TypeError) as error:
        raise ParameterError(
            f"{shown}, which is not a regular expression: {str(error)!r}."
        ) from error
