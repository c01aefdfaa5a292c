"""What an exercise is, and how its kernel is launched.

Each one has a file of its own in `exercises`; `curriculum` finds them and hands them out.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from types import MappingProxyType
from typing import Any, ClassVar, Literal

from course_lib.registry import entry_checks as entries
from course_lib.registry.kinds import KERNEL, Kind, properties_of

CALLS_SHOWN = 4  # of a task with a plain function, before the student writes it
LARGEST_DRAWN = 64  # rows and columns: of a larger matrix a picture shows too little to see a rule
Size = int | str  # a number, or the name of a constant that the answer may define itself

# What an answer is judged by. "right" comes first; what can be earned without it, and when,
# diagnosis/points.py says.
PROPERTIES: Mapping[str, str] = MappingProxyType(
    {
        "right": "the result is right on every shape that is tried",
        "bounds": "no thread reads or writes outside an array",
        "coalesced": "the lanes of a warp ask for neighbouring elements",
        "shared-memory": "the tiles are staged in shared memory",
        "race-free": "a barrier stands wherever one thread needs what another one wrote",
        "reuse": "a block fetches each element from global memory once per tile",
        "registers": "what a thread reads from tiles in shared memory serves several of its sums",
        "wide": "one load moves 16 bytes for each lane, and one store of the output does, too",
        "tensor": "all products are made by tensor cores",
        "overlap": "each tile but the first travels while another one is multiplied",
        "asynchronous": "shared memory is filled by asynchronous copies alone",
        "parallel": "the threads share the work",
        "conflict-free": "no access to shared memory has a bank conflict",
        "float32": "all arithmetic is done in float32",
        "refusals": "a launch that a GPU would refuse gives 0",
        "resident": "an SM has room for two blocks of whole warps",
        "intensity": "the tile reaches the intensity that is asked for",
    }
)


@dataclass(frozen=True)
class Launch:
    """How a kernel is launched, in CUDA's order: x first."""

    grid: tuple[int, ...]
    block: tuple[int, ...]


@dataclass(frozen=True)
class Exercise:
    """One thing that the student writes, and how it is launched and judged.

    Attributes:
        id: the name on the marker line; also the name of the function.
        title: a short phrase.
        lesson: the number of its lesson, which finds it by this.
        parameters: the parameters of the kernel, in order.
        position: its place among the exercises of its lesson, from 1 on.
        order: how its matrices lie in memory, as NumPy has it: "C" row after row, "F" column after
            column.
        output: the parameter that the kernel writes.
        block: threads per block, x first; a name stands for one of the constants.
        tile: the part of the output that one block computes, x first; the block itself if None.
        thread_tile: the part of the tile that one thread computes, x first, if it is more than one
            element and thereby decides how many threads (in a row) a block has.
        most_elements: how many elements of the output one thread may compute, where the statement
            says so; 0 where it is up to the answer.
        constants: what an answer may define itself, with the value used when it does not.
        block_axes: how many sizes a tuple BLOCK may have with which an answer chooses another
            block; none where it may not.
        points: what is judged (see PROPERTIES), in the order of a report, with its points.
        starts_from: the exercise whose answer the student is given to change, if any.
        rung: the rung of the ladder that its solution stands on, if any.
        ladder: which ladder that is: its name in `own_ladder.LADDERS`.
        kind: a kernel that is launched, a plain function that is called, or constants (those of
            `parameters`) that are looked at. What is said of launches is for kernels alone.
        reference: what a kernel of its own kind computes, as a function of its inputs as NumPy
            arrays of float64. With it and `shapes`, the entry is all that the checks need.
        shapes: the axes of each parameter as letters, "M,N"; equal letters are equal sizes, and ""
            stands for a number. The output comes last, and has one or two axes.
        formula: the same as a student writes it, "B = s * A".
        family: without a reference: the family of problems (problems/table.py) whose
            hypotheses judge it.
        sizes: the uneven sizes to try, as its family has them.
        multiples: of what a size is always a multiple, {"K": 4}; sizes of a family are M, N and K.
        wide: the parameters that are loaded and stored 16 bytes at a time.
        passes: how many passes of loads from shared memory a multiply-add of a warp may take; 0
            where that is not judged.
        overlaps: whether each tile but the first has to travel while another one is read.
        asynchronous: whether shared memory has to be filled by asynchronous copies alone.
        dtypes: by parameter, the format of inputs that are not float32: "float16", or "bfloat16",
            which a kernel gets as uint16 bit patterns. A reference gets the numbers themselves.
        boxes: by parameter, of inputs that the kernel gets as tensor maps of TMA: what is copied at
            once, rows first.
        gives: the device functions that its answer cell gives beside the one to write, each with
            its `answer_text.context.fingerprint`, by which one is known that a student has changed.
    """

    id: str
    title: str
    lesson: str
    parameters: tuple[str, ...]
    points: Mapping[str, int]
    output: str = "C"
    block: tuple[Size, ...] = (16, 16)
    tile: tuple[Size, ...] | None = None
    thread_tile: tuple[Size, ...] | None = None
    constants: Mapping[str, int] = field(default_factory=dict)
    block_axes: tuple[int, ...] = ()
    starts_from: str = ""
    rung: str | None = None
    ladder: str = "product"
    kind: Kind = KERNEL
    reference: Callable[..., Any] | None = None
    shapes: tuple[str, ...] = ()
    formula: str = ""
    family: str = ""
    sizes: tuple[tuple[int, ...], ...] = ()
    multiples: Mapping[str, int] = field(default_factory=dict)
    wide: tuple[str, ...] = ()
    passes: float = 0
    overlaps: bool = False
    asynchronous: bool = False
    dtypes: Mapping[str, str] = field(default_factory=dict)
    boxes: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    gives: Mapping[str, int] = field(default_factory=dict)
    most_elements: int = 0
    position: int = 1
    order: Literal["C", "F"] = "C"
    place: ClassVar[entries.EntryLocation]  # each has its own: where its entry is written
    is_graded: ClassVar[bool] = True
    forgiven: ClassVar[frozenset[str]] = frozenset()  # codes of findings that are passed over

    def __post_init__(self) -> None:
        for name in ("points", "constants", "dtypes", "multiples", "boxes"):
            object.__setattr__(self, name, MappingProxyType(dict(getattr(self, name))))
        object.__setattr__(self, "place", entries.EntryLocation())
        entries.check_entry(self, properties_of(self.kind, tuple(PROPERTIES)))

    @property
    def requirements(self) -> tuple[str, ...]:
        """What is asked beyond a right result."""
        return tuple(name for name in self.points if name != "right")

    @property
    def max_points(self) -> int:
        return sum(self.points.values())

    @property
    def signature(self) -> str:
        """The call as a student writes it, "matmul_tiled(A, B, C)", or the constants asked for."""
        return self.kind.signature(self)

    @property
    def formats(self) -> tuple[str, ...]:
        """The format of each input, in order: "float32" where the entry says nothing."""
        inputs = (name for name in self.parameters if name != self.output)
        return tuple(self.dtypes.get(name, "float32") for name in inputs)

    @property
    def names_to_define(self) -> tuple[str, ...]:
        """The names that an answer gives a meaning."""
        return self.kind.names_to_define(self)

    @property
    def check_call(self) -> str:
        """The check cell of this exercise."""
        return f'course_lib.check("{self.id}", {self.kind.handed_in(self)})'

    def tile_of_a_block(
        self,
        constants: Mapping[str, object] | None = None,
        block: Sequence[int] | None = None,
    ) -> tuple[int, int]:
        """Columns and rows of the output that one block computes."""
        big = 1 << 40
        grid = self.launch((big, big), constants, block).grid
        width, height = (*grid, big)[:2]
        return round(big / width), round(big / height)

    def launch(
        self,
        output_shape: Sequence[int],
        constants: Mapping[str, object] | None = None,
        block: Sequence[int] | None = None,
    ) -> Launch:
        """The grid and block that cover an output of this shape (rows first, as NumPy has it).

        A constant of the answer replaces the default of that name, `BLOCK` (a tuple) replaces the
        block, and the argument `block` replaces both.

        Raises:
            ValueError: if a size is not a positive whole number.
        """
        given = {**self.constants, **(constants or {})}
        chosen = block if block is not None else given.get("BLOCK")
        threads = _sizes(self.block if chosen is None else chosen, given)
        # A tile of its own size does not change with the block; otherwise the block is the tile.
        covers = threads if self.tile is None else _sizes(self.tile, given)
        if self.thread_tile is not None and chosen is None:
            threads = (_pieces(covers, _sizes(self.thread_tile, given)),)
        extents = tuple(reversed(output_shape))
        if len(covers) < len(extents):
            covers += (1,) * (len(extents) - len(covers))
        return Launch(tuple(map(ceil_div, extents, covers)), threads)


@dataclass(frozen=True)
class WrongIdea:
    """What a wrong answer to a task may compute instead.

    Attributes:
        computes: that, as a function of the same arguments (of a kernel: of its inputs).
        says: what that means, as a sentence without its full stop.
        hint: what to look at.
        place: where to look for the line to blame, as diagnosis/places.py has it:
            ("store",), ("sum",), ("load", "A") for the line that reads A, or ("call", "f") for the
            last one that calls f; if empty, where the numbers point to, or the store.
        code: of the finding; by the change that mends it, or "wrong-formula", if empty.
        room: how far off a number may be, as a share of the largest in its row, beside rounding.
    """

    computes: Callable[..., Any]
    says: str
    hint: str
    place: tuple[str, ...] = ()
    code: str = ""
    room: float = 0.0


@dataclass(frozen=True)
class Values:
    """The calls that are drawn of a student's plain function when it passes.

    Attributes:
        gives: what comes out, as a phrase: "sectors".
        along: what grows from left to right, as a phrase: "stride".
        at: its values.
        rows: by the name of each row: its arguments at one of these values.
        shows: one sentence on what there is to see.
        look: a table of cells, bars (of one row), or curves over logarithmic scales.
        unit: how a number is written: "bytes" with a decimal unit, "KiB" from bytes, "share" in
            per cent, "" as it is.
    """

    gives: str
    along: str
    at: tuple[Any, ...]
    rows: Mapping[str, Callable[..., tuple[Any, ...]]]
    shows: str
    look: Literal["cells", "bars", "curves"] = "cells"
    unit: Literal["", "bytes", "KiB", "share"] = ""


@dataclass(frozen=True)
class Task(Exercise):
    """An exercise that stands in a lesson and is not graded; it is judged as all others are.

    It has no points; `asks` has what its answer is held to beside a right result (see PROPERTIES).
    In `shapes`, a number is an axis that always has this size.

    Attributes:
        asks: properties, such as "shared-memory".
        grid: blocks, x first: numbers, or letters of the output's axes, as many blocks as cover
            that axis; if empty, the grid covers the output, columns first.
        other_sizes: of sizes that are numbers in `shapes`: those that change, by that number, each
            time that a right answer is launched once more, so that none may be written out. The
            first is named. Where a size never changes, the given cell says how large it is.
        offsets: by parameter, what is added to its numbers, which lie around 0 otherwise.
        rises: by parameter, by how much its numbers rise from the first to the last in one of the
            launches, for answers that rely on where they lie.
        falls: by parameter, by how much its numbers lie lower in one of the launches, for answers
            in which a finite number stands for -inf.
        before: what every element of the output holds before the launch. A matrix product of the
            course, without a reference, is told nothing, and may not rely on zeros.
        hints: one to three, from a nudge to the idea.
        given: the answer cell as the student gets it.
        answer: a right answer, as a whole cell. It ships with the course.
        another: a second right answer to compare with, as a whole cell, if there is one worth it.
        compared: one sentence: what that one does differently, and what it is worth.
        par: how many lines of the given cell a good answer changes or adds.
        meaning: said when an answer passes: one or two sentences on what that means.
        replaced_by: if this was a graded exercise once, the one that is graded in its place.
        once_worth: its points then; `grade` still judges answers to it, and gives them.
        arguments: of a plain function: those that it is tried with.
        values: of a plain function: the calls that are drawn when it passes.
        wrong_ideas: what wrong answers usually compute; for a kernel, as its reference does.
        uses: earlier tasks whose functions an answer may call.
        caller: for a device function: the kernel named `caller` that is launched and calls it, as
            a whole cell; `parameters`, `shapes` and `reference` are those of this kernel.
        loads: how many numbers a thread may load for each multiply-add, from global and shared
            memory together; 0 where that is not judged.
        reads: how many numbers the threads may load from shared memory in the launch that is looked
            at; 0 where that is not judged.
        reads_hint: what to look at if they load more: which turns of their loop change nothing.
        visits: by parameter: how often each of its numbers may be loaded from global memory, on
            average, in the launch that is looked at; not judged where it is not named.
        barriers: how many of them a block may pass in the launch that is looked at; 0: not judged.
        barriers_along: a letter of `shapes`: one barrier more for each step along it.
        without_shared: whether the answer has to do without shared memory.
        picture: what is drawn of a run: which thread wrote which element; how the banks serve the
            first store to shared memory; which lane of a warp owns which outputs; or how tiles
            pass through buffers. The last two are drawn before the typing, too.
        tile_steps: of a picture of buffers: how many steps of k a tile has.
        instructions: how many machine instructions a multiply-add may take on sm_75, over a whole
            trip of the loop over tiles; looked at where there is a compiler. 0: not judged.
        multiply_adds: how many of them a thread has in such a trip.
        scalars: of a tile kernel: letters of `shapes` that it is given as numbers behind the
            arrays. Its `constants` come last, and are known when it is compiled; `block` says how
            much of each axis of `grid` one program has.
        other_constants: of a tile kernel: the constants of further launches.
    """

    points: Mapping[str, int] = field(default_factory=dict)
    asks: tuple[str, ...] = ()
    grid: tuple[Size, ...] = ()
    other_sizes: tuple[Mapping[str, int], ...] = ()
    offsets: Mapping[str, float] = field(default_factory=dict)
    rises: Mapping[str, float] = field(default_factory=dict)
    falls: Mapping[str, float] = field(default_factory=dict)
    before: float = 0.0
    hints: tuple[str, ...] = ()
    given: str = ""
    answer: str = ""
    another: str = ""
    compared: str = ""
    par: int = 1
    meaning: str = ""
    replaced_by: str = ""
    once_worth: Mapping[str, int] = field(default_factory=dict)
    arguments: tuple[tuple[Any, ...], ...] = ()
    values: Values | None = None
    wrong_ideas: tuple[WrongIdea, ...] = ()
    uses: tuple[str, ...] = ()
    caller: str = ""
    loads: float = 0
    reads: int = 0
    reads_hint: str = ""
    visits: Mapping[str, float] = field(default_factory=dict)
    barriers: int = 0
    barriers_along: str = ""
    without_shared: bool = False
    picture: Literal["elements", "banks", "lanes", "buffers"] = "elements"
    tile_steps: int = 0
    instructions: float = 0
    multiply_adds: int = 0
    scalars: tuple[str, ...] = ()
    other_constants: tuple[Mapping[str, int], ...] = ()
    is_graded: ClassVar[bool] = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "points", dict.fromkeys(("right", *self.asks), 0))
        super().__post_init__()

    def as_it_was_graded(self) -> Exercise:
        """The exercise that this task was once, with its old points."""
        kept = {field.name: getattr(self, field.name) for field in fields(Exercise)}
        return Exercise(**{**kept, "points": self.once_worth})

    @property
    def is_mended(self) -> bool:
        """Whether the given code is whole, with a bug to find: nothing is left to be written."""
        return "..." not in self.given

    @property
    def has_picture(self) -> bool:
        """Whether a picture of what is wanted stands before its code."""
        return self.kind.is_launched or bool(self.shown_arguments)

    @property
    def starts_blank(self) -> bool:
        """Whether nothing is known of what the output holds before the launch: `before` belongs to
        a task that has a reference."""
        return self.reference is None

    @property
    def is_large(self) -> bool:
        """Whether a matrix is too large for a picture of its elements."""
        axes = entries.axes(self.shapes[-1]) if self.shapes else ()
        fixed = [int(size) for size in axes if not entries.is_free(size)]
        return len(fixed) > 1 and min(fixed) > LARGEST_DRAWN

    @property
    def shown_arguments(self) -> tuple[tuple[Any, ...], ...]:
        """Of a plain function: calls whose results are shown beforehand, if there are so many
        that they don't give away what it has to do in the others."""
        few = len(self.arguments) // 3
        return self.arguments[: min(few, CALLS_SHOWN)] if few > 1 else ()

    @property
    def forgiven(self) -> frozenset[str]:  # type: ignore[override]
        """`out[i] = a[i] + 10` is float64 arithmetic; a first kernel need not care."""
        return frozenset() if "float32" in self.asks else frozenset({"float64-arithmetic"})

    def launch(
        self,
        output_shape: Sequence[int],
        constants: Mapping[str, object] | None = None,
        block: Sequence[int] | None = None,
    ) -> Launch:
        usual = super().launch(output_shape, constants, block)
        if not self.grid:
            return usual
        size_of = dict(zip(entries.axes(self.shapes[-1]), output_shape, strict=False))
        blocks = (
            ceil_div(size_of[size], threads) if isinstance(size, str) else size
            for size, threads in zip(self.grid, usual.block, strict=True)
        )
        return Launch(tuple(blocks), usual.block)

    def tile_of_a_block(
        self,
        constants: Mapping[str, object] | None = None,
        block: Sequence[int] | None = None,
    ) -> tuple[int, int]:
        if not self.grid:
            return super().tile_of_a_block(constants, block)
        usual = super().launch((1, 1), constants, block).block
        if not any(isinstance(size, str) for size in self.grid):
            return (*usual, 1)[0], (*usual, 1)[1]
        threads = dict(zip(self.grid, usual, strict=True))
        *rows, columns = entries.axes(self.shapes[-1])
        return threads.get(columns, 1), threads.get(rows[0], 1) if rows else 1


def ceil_div(count: int, size: int) -> int:
    """How many pieces of `size` cover `count`."""
    return -(-count // size)


def _sizes(sizes: object, constants: Mapping[str, object]) -> tuple[int, ...]:
    """Sizes as numbers, constants' names replaced by their values."""
    several = sizes if isinstance(sizes, (tuple, list)) else (sizes,)
    return tuple(_size(axis, constants) for axis in several)


def _size(size: Any, constants: Mapping[str, object]) -> int:
    number: Any = constants.get(size) if isinstance(size, str) else size
    try:
        whole = 0 if isinstance(number, bool) else operator.index(number)
    except TypeError:
        whole = 0
    if whole < 1:
        name = f"{size} = " if isinstance(size, str) else ""
        raise ValueError(f"a size must be a positive whole number, not {name}{number!r}")
    return whole


def _pieces(tile: tuple[int, ...], piece: tuple[int, ...]) -> int:
    """How many pieces a tile falls into."""
    if any(whole % part for whole, part in zip(tile, piece, strict=True)):
        (width, height), (wide, high) = tile, piece
        raise ValueError(
            f"a tile of {height} rows and {width} columns does not fall into pieces of {high} and "
            f"{wide}"
        )
    return math.prod(whole // part for whole, part in zip(tile, piece, strict=True))
