"""What came out of one launch beside what should have, and where the two differ."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from course_lib.words import at_end, element, joined, span

Array = np.ndarray
MOST_ZEROS = 0.8  # of the elements that go with zeros: the others are right by chance


@dataclass(frozen=True)
class Outcome:
    """What came out of one launch, beside what should have.

    Attributes:
        inputs: the input arrays, in the order of the kernel's parameters.
        expected: the right output, in float64.
        got: the output, float32 as the kernel left it.
        tolerance: how far each element may be off because of rounding.
        sizes: the problem and the tiles.
        poison: what the output held before the launch.
        output: the letter that the exercise has for the output.
        letters: those that it has for the inputs, in order.
    """

    inputs: tuple[Array, ...]
    expected: Array
    got: Array
    tolerance: Array
    sizes: Geometry
    poison: float
    output: str = "C"
    letters: tuple[str, ...] = ("A", "B")

    @property
    def A(self) -> Array:
        """The first input."""
        return self.inputs[0]

    @property
    def B(self) -> Array:
        """The last input."""
        return self.inputs[-1]

    @property
    def operands(self) -> str:
        """The inputs, as a phrase: "A and B"."""
        return joined(self.letters)

    @cached_property
    def right(self) -> Array:
        """Which elements are right; not-a-number never is."""
        with np.errstate(invalid="ignore", over="ignore"):
            result: Array = np.abs(self.got.astype(np.float64) - self.expected) <= self.tolerance
            return result

    @cached_property
    def untouched(self) -> Array:
        """Which elements still hold the poison, to the last bit."""
        if np.isnan(self.poison):
            result: Array = np.isnan(self.got)
            return result
        result = self.got == np.float32(self.poison)
        return result

    @cached_property
    def known(self) -> Array:
        """Which elements can be explained at all: written, and numbers."""
        result: Array = np.isfinite(self.got) & ~self.untouched
        return result

    @cached_property
    def values(self) -> Array:
        return self.got.astype(np.float64)

    def matches(self, values: object, share: float = 1.0) -> bool:
        """Are these the numbers that came out (wherever any came out)?"""
        with np.errstate(invalid="ignore", over="ignore"):
            room = 2 * self.tolerance + 4e-7 * np.abs(self.values)
            close = np.abs(np.asarray(values) - self.values) <= room
        return bool(self.known.any() and np.mean(close[self.known]) >= share)


@dataclass(frozen=True)
class Part:
    """Some elements of an output.

    Attributes:
        words: a phrase for them: "the last row", "every block but (0, 0)".
        at_end: they are the last rows, columns or elements.
        one_block: they are one block, or all but one.
    """

    words: str
    at_end: bool = False
    one_block: bool = False

    def __str__(self) -> str:
        return self.words


def where(mask: Array, sizes: Geometry) -> Part:
    """The elements in a mask, as a part of the output that can be named."""
    count = int(mask.sum())
    if count == mask.size:
        return Part("every element")
    if count == 1:
        return Part(f"element {first_place(mask)}")
    if count == mask.size - 1 and count > 1:
        return Part(f"every element but {first_place(~mask)}")
    if mask.ndim == 1:
        return _run_of(mask, sizes.tile_columns)
    full_rows, full_columns = np.asarray(mask.all(axis=1)), np.asarray(mask.all(axis=0))
    bands = (full_rows[:, None] | full_columns).sum() == count
    if bands and not full_columns.any():
        return _lines(full_rows, "row")
    if bands and not full_rows.any():
        return _lines(full_columns, "column")
    blocks = _blocks(mask, sizes)
    if bands and not (blocks and blocks.one_block):
        return _joined(_lines(full_rows, "row"), "and", _lines(full_columns, "column"))
    return blocks or _box(mask) or _scattered(mask, count)


def _joined(first: Part, word: str, second: object) -> Part:
    return Part(f"{first} {word} {second}", first.at_end)


@dataclass(frozen=True)
class ZeroPlace:
    """Elements of the output that belong to zeros of an input.

    Attributes:
        letter: the input.
        part: which elements: "elements" at the zeros, or the "rows" or "columns" that hold one.
    """

    letter: str
    part: str

    def __str__(self) -> str:
        if self.part == "elements":
            return f"where {self.letter} is exactly 0"
        return f"in the {self.part} for which {self.letter} holds an exact 0"


def zero_place(outcome: Outcome, mask: Array) -> ZeroPlace | None:
    """The zeros that a mask of some output elements goes with, if it does."""
    for letter, array in zip(outcome.letters, outcome.inputs, strict=False):
        for part, zeros in _zeros_of(np.asarray(array), mask.shape):
            near = np.broadcast_to(zeros, mask.shape)
            some = near.any() and not near.all()
            if some and not mask[~near].any() and mask[near].mean() > MOST_ZEROS:
                return ZeroPlace(letter, part)
    return None


def _zeros_of(array: Array, shape: tuple[int, ...]) -> Iterator[tuple[str, Array]]:
    """Which elements of an output of this shape go with zeros of an input, in which way."""
    zeros = array == 0
    if zeros.shape == shape:
        yield "elements", zeros
    if zeros.ndim != 2 or len(shape) != 2:
        return
    if zeros.shape == shape[::-1]:
        yield "elements", zeros.T
    if zeros.shape[0] == shape[0]:
        yield "rows", zeros.any(axis=1)[:, None]
    if zeros.shape[1] == shape[1]:
        yield "columns", zeros.any(axis=0)[None]


def first_place(mask: Array) -> str:
    """The first place in a mask, as an index: "[3, 4]"."""
    return element("", np.argwhere(mask)[0])


def _run_of(mask: Array, run: int) -> Part:
    """Some elements of an array with one axis, cut into runs."""
    places = np.flatnonzero(mask)
    within = np.unique(places % run)
    same = len(mask) > run and np.array_equal(mask, np.isin(np.arange(len(mask)) % run, within))
    if same and len(within) < run:
        chosen = np.zeros(run, bool)
        chosen[within] = True
        return _joined(_lines(chosen, "element"), "of every run of", run)
    return _lines(mask, "element")


def _lines(chosen: Array, noun: str) -> Part:
    """Some rows, columns or elements."""
    places = np.flatnonzero(chosen)
    first, last, count = int(places[0]), int(places[-1]), len(places)
    if count == last - first + 1:
        if last == len(chosen) - 1 and first > 0:
            return Part(at_end("last", count, noun), at_end=True)
        return Part(span(noun, places.tolist()))
    if count == len(chosen) - 1:
        return Part(f"every {noun} but {noun} {int(np.flatnonzero(~chosen)[0])}")
    if np.all(np.diff(places) == 2):
        return Part(f"every second {noun}")
    return Part(f"{count} of the {noun}s, the first of them {noun} {first}")


def _blocks(mask: Array, sizes: Geometry) -> Part | None:
    """The part if it consists of whole blocks of C: "every block but (0, 0)"."""
    high, wide = sizes.tile_rows, sizes.tile_columns
    if high * wide == 1 or (mask.shape[0] <= high and mask.shape[1] <= wide):
        return None
    full = []
    for top in range(0, mask.shape[0], high):
        for left in range(0, mask.shape[1], wide):
            part = mask[top : top + high, left : left + wide]
            if part.any() and not part.all():
                return None
            full.append((bool(part.all()), (left // wide, top // high)))
    inside = [place for is_full, place in full if is_full]
    outside = [place for is_full, place in full if not is_full]
    if len(inside) == 1:
        return Part(f"block {inside[0]}", one_block=True)
    if len(outside) == 1:
        return Part(f"every block but {outside[0]}", one_block=True)
    return Part(f"{len(inside)} of {len(full)} blocks, the first of them block {inside[0]}")


def _box(mask: Array) -> Part | None:
    """The part if the mask is a rectangle."""
    if mask.sum() != mask.any(axis=1).sum() * mask.any(axis=0).sum():
        return None
    rows, columns = np.asarray(mask.any(axis=1)), np.asarray(mask.any(axis=0))
    return _joined(_lines(rows, "row"), "of", _lines(columns, "column"))


def _scattered(mask: Array, count: int) -> Part:
    return Part(f"{count} of {mask.size} elements, the first at {first_place(mask)}")


def by_how_much(outcome: Outcome) -> str:
    """One example of a wrong element: "C[0, 3] is 1.5 and should be 2.25"."""
    wrong = ~outcome.right
    at = tuple(np.argwhere(wrong)[0])
    name = f"{outcome.output}{first_place(wrong)}"
    return f"{name} is {outcome.values[at]:.4g} and should be {outcome.expected[at]:.4g}"


@dataclass(frozen=True)
class Geometry:
    """The sizes of a problem and of the tiles that the launch cuts it into.

    `thread_rows` and `thread_columns` are what one thread computes of a tile.
    """

    rows: int
    columns: int
    steps: int
    tile_rows: int
    tile_columns: int
    tile_steps: int | None = None  # None: the kernel does not cut the sum into tiles
    thread_rows: int = 1
    thread_columns: int = 1

    @property
    def step_tile(self) -> int:
        return self.tile_steps or self.steps

    @property
    def tiles(self) -> int:
        """How many tiles the sum is cut into."""
        return -(-self.steps // self.step_tile)
