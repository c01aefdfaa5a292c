"""Which word of a fragment holds other elements than `mma` takes it for, told by following them.

The answer is launched on matrices in which no two elements have the same 16 bits, so that each
number in a word says which element it is. What a word should hold follows from the tile that most
of its fragment lies in; emulator/functions/tensor_cores.py has the order of words and lanes.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from course_lib.callers import our_kernel
from course_lib.diagnosis.launches.outcome import Outcome
from course_lib.diagnosis.source.in_a_thread import Threads, value_in
from course_lib.diagnosis.source.nodes import indices_of
from course_lib.diagnosis.source.source import Source
from course_lib.emulator import Budget, Kernel, emulate
from course_lib.emulator.machine.events import Observer
from course_lib.emulator.state.memory import Access
from course_lib.exercise import Launch, Task
from course_lib.findings import Finding, finding
from course_lib.sentences import Line, say
from course_lib.words import element

HELD_AS = {"float16": np.float16, "bfloat16": np.uint16}
MOST_ELEMENTS = 1 << 15  # that can be told apart
Array = np.ndarray


@dataclass(frozen=True)
class Numbered:
    """A matrix whose elements are numbers of 16 bits, each another one.

    `tile` is what one `mma` takes of it; `rows` and `columns` say where in it each number of a
    fragment belongs, shape (words, 32, 2).
    """

    name: str
    elements: Array
    tile: tuple[int, int]
    rows: Array
    columns: Array

    @property
    def first(self) -> int:
        return int(self.elements[0, 0])

    def place(self, code: int) -> tuple[int, ...] | None:
        """Which element has this number."""
        inside = 0 <= code - self.first < self.elements.size
        if not inside:
            return None
        return tuple(map(int, np.unravel_index(code - self.first, self.elements.shape)))

    def wanted(self, held: Array) -> Array | None:
        """What a fragment should hold: of the tile that most of what it does hold lies in."""
        places = [place for code in held.flat if (place := self.place(int(code)))]
        tiles = Counter((row // self.tile[0], column // self.tile[1]) for row, column in places)
        if not tiles:
            return None
        ((down, across), _), *_ = tiles.most_common(1)
        top, left = down * self.tile[0], across * self.tile[1]
        tile = self.elements[top : top + self.tile[0], left : left + self.tile[1]]
        return tile[self.rows, self.columns] if tile.shape == self.tile else None


class Fragments(Observer):
    """Listens to a launch: what is multiplied, and on which lines each number has been loaded."""

    spaces: ClassVar = ("global", "shared")

    def __init__(self) -> None:
        self.pairs: list[tuple[Array, Array]] = []
        self.lines: dict[int, set[int]] = {}

    def multiplied(self, a: Array, b: Array) -> None:
        """Keep the words of every warp."""
        self.pairs += [(a[:, warp], b[:, warp]) for warp in range(a.shape[1])]

    def access(self, access: Access) -> None:
        """Take note of the line of a load, if it is one of the student's."""
        storage = access.allocation.storage
        if access.kind != "load" or storage.itemsize != 2 or access.line >= Line.FIRST_AROUND:
            return
        lanes = np.flatnonzero(access.mask.full_array)
        first = np.broadcast_to(access.cell, access.mask.space.shape).reshape(-1)[lanes]
        cells, _ = access.each_cell(first, lanes)
        for code in np.unique(storage[cells].view(np.uint16)).tolist():
            self.lines.setdefault(code, set()).add(access.line)


def wrong_word(
    task: Task, kernel: Kernel, source: Source, launch: Launch, outcome: Outcome
) -> Finding | None:
    """The first word that holds other elements than it should; None if there is none."""
    inputs = outcome.inputs
    if len(inputs) != 2 or not set(task.formats[:2]) <= set(HELD_AS):
        return None
    if any(each.ndim != 2 for each in inputs) or sum(map(np.size, inputs)) > MOST_ELEMENTS:
        return None
    ours = _launched(task, our_kernel(task), launch, outcome)
    if not ours.pairs or next(_wrong(task, ours, inputs), None):
        return None  # the task's own fragments lie in another way
    mine = _launched(task, kernel, launch, outcome)
    found = next(_wrong(task, mine, inputs), None)
    return _told(source, found, mine.lines) if found else None


def _launched(task: Task, kernel: Kernel, launch: Launch, outcome: Outcome) -> Fragments:
    """What a kernel multiplies if no two elements are the same."""
    heard = Fragments()
    emulation = emulate(kernel, counters=False, budget=Budget(printed_lines=0))
    emulation.observers += [heard]
    kinds = (HELD_AS[form] for form in task.formats)
    held = [each.view(kind) for each, kind in zip(_codes(outcome.inputs), kinds, strict=False)]
    emulation[launch.grid, launch.block](*held, np.zeros(outcome.expected.shape, np.float32))
    return heard


def _codes(inputs: tuple[Array, ...]) -> list[Array]:
    """Matrices of these shapes whose elements are 1, 2, 3 …, from the first to the second."""
    first, second = (each.size for each in inputs)
    numbers = np.arange(1, first + second + 1, dtype=np.uint16)
    parts = zip(np.split(numbers, [first]), inputs, strict=True)
    return [part.reshape(each.shape) for part, each in parts]


def _wrong(
    task: Task, heard: Fragments, inputs: tuple[Array, ...]
) -> Iterator[tuple[Numbered, Array, Array]]:
    """Each fragment that holds other numbers than it should: of which matrix, both of them."""
    codes = _codes(inputs)
    for a, b in heard.pairs:
        for words, matrix in ((a, _of_a(task, codes, len(a))), (b, _of_b(task, codes, len(b)))):
            held = np.ascontiguousarray(words).view(np.uint16).reshape(*words.shape, 2)
            wanted = matrix.wanted(held)
            if wanted is not None and (held != wanted).any():
                yield matrix, held, wanted


def _of_a(task: Task, codes: list[Array], words: int) -> Numbered:
    word, lane, number = np.ogrid[:words, :32, :2]
    rows, columns = lane // 4 + word % 2 * 8, lane % 4 * 2 + number + word // 2 * 8
    return Numbered(task.parameters[0], codes[0], (16, words // 2 * 8), rows, columns)


def _of_b(task: Task, codes: list[Array], words: int) -> Numbered:
    word, lane, number = np.ogrid[:words, :32, :2]
    rows, columns = lane % 4 * 2 + number + word * 8, lane // 4
    return Numbered(task.parameters[1], codes[1], (words * 8, 8), rows, columns)


def _told(
    source: Source, wrong: tuple[Numbered, Array, Array], lines: dict[int, set[int]]
) -> Finding | None:
    """A finding for the first wrong word of a fragment, at the line that has loaded all of it."""
    matrix, held, wanted = wrong
    word, lane, _ = (int(each) for each in np.argwhere(held != wanted)[0])
    loaded = [lines.get(int(code), set()) for code in held[word].flat]
    places = [matrix.place(int(code)) for code in held[word].flat]
    line = min(set.intersection(*loaded), default=0)
    if None in places or not line:
        return None  # a number that was made, and not loaded
    message = _in_lane(matrix, word, lane, held, wanted)
    for other in range(len(held)):
        if other != word and (held[word] == wanted[other]).all():
            message = say(
                "Word {word} of {array} holds what belongs in word {other}.",
                word=word,
                array=matrix.name,
                other=other,
            )
    hint = say(
        "Work out the indices of word {word} in lane {lane}: lane // 4 is {g} there, and lane % 4 "
        "is {t}.",
        word=word,
        lane=lane,
        g=lane // 4,
        t=lane % 4,
    )
    if "ldmatrix" in ast.unparse(source.at_line(line) or ast.Pass()):
        hint = say("Lane l points at a row of matrix l // 8. Which matrix becomes this word?")
    elif near := _line_of(source, line, matrix.name, places):
        line = near
    return finding("wrong-index", message, line, hint, "error")


def _in_lane(matrix: Numbered, word: int, lane: int, held: Array, wanted: Array) -> str:
    """What a word holds in one lane, and what it should hold."""
    codes = (*held[word, lane], *wanted[word, lane])
    low, high, first, second = (
        element(matrix.name, matrix.place(int(code)) or ()) for code in codes
    )
    return say(
        "In lane {lane}, word {word} of {array} holds {held}; {first} and {second} belong there.",
        lane=lane,
        word=word,
        array=matrix.name,
        held=f"{low} twice" if low == high else f"{low} and {high}",
        first=first,
        second=second,
    )


def _line_of(source: Source, line: int, array: str, places: Sequence[Any]) -> int | None:
    """In a statement of several lines, the one that reads both numbers of a word.

    `places` are the elements: two for each lane. None if there is no such line, or several.
    """
    statement = source.at_line(line)
    halves: tuple[set[int], set[int]] = (set(), set())
    for access in source.accesses(array, store=False):
        if source.statement(access) is not statement:
            continue
        for half, found in enumerate(halves):
            if all(
                tuple(value_in(source, each, Threads((lane, 0, 0))) for each in indices_of(access))
                == place
                for lane, place in enumerate(places[half::2])
            ):
                found.add(access.lineno)
    both = halves[0] & halves[1]
    return both.pop() if len(both) == 1 else None
