"""The one registry of the course: its lessons, its exercises, and the rungs of the ladder.

Titles, goals, launch shapes, requirements and points are written here and nowhere else. The
notebooks' headings, the README's table, the checks and the grader all read them from here.
This module imports nothing else of the course but the kinds of exercises and the checks of entries.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, ClassVar

from course_lib import entries
from course_lib.kinds import CONSTANTS, FUNCTION, KERNEL, Kind, properties_of

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
        "conflict-free": "no access to shared memory has a bank conflict",
        "float32": "all arithmetic is done in float32",
        "refusals": "a launch that a GPU would refuse gives 0",
        "resident": "an SM has room for two blocks of whole warps",
        "intensity": "the tile reaches the intensity that is asked for",
    }
)

PUBLISHED_ON = "RTX A6000, 4096 x 4096 x 4096, FP32"
PUBLISHED_BY = "S. Boehm, SGEMM_CUDA (README table)"
PUBLISHED_CUBLAS_GFLOPS = 23249.6


@dataclass(frozen=True)
class Launch:
    """How a kernel is launched, in CUDA's order: x first."""

    grid: tuple[int, ...]
    block: tuple[int, ...]


@dataclass(frozen=True)
class Lesson:
    """One lesson: a notebook, and perhaps an exercise notebook of the same number and name.

    Attributes:
        number: two digits, "03"; the second part of a lesson that was split has a letter, "05b", so
            that no other lesson is renumbered.
        slug: the rest of the file name, "coalescing".
        title: as the heading shows it, without the number.
        minutes: how long a careful first reading takes, exercise excluded.
        goals: three things that the student can do afterwards; each begins with a verb.
        exercises: ids, in the order of the exercise notebook.
        rung: the rung of the ladder that this lesson climbs, if it climbs one.
    """

    number: str
    slug: str
    title: str
    minutes: int
    goals: tuple[str, str, str]
    exercises: tuple[str, ...] = ()
    rung: str | None = None

    @property
    def stem(self) -> str:
        """The file name of its notebooks, without the suffix."""
        return f"{self.number}_{self.slug}"

    @property
    def numbers(self) -> tuple[str, str]:
        """Its own number and the one that all parts of a split lesson share: "05b" and "05"."""
        return self.number, self.number[:2]


@dataclass(frozen=True)
class Exercise:
    """One thing that the student writes, and how it is launched and judged.

    Attributes:
        id: the name on the marker line; also the name of the function.
        title: a short phrase.
        lesson: the number of its lesson.
        parameters: the parameters of the kernel, in order.
        output: the parameter that the kernel writes.
        block: threads per block, x first; a name stands for one of the constants.
        tile: the part of the output that one block computes, x first; the block itself if None.
        thread_tile: the part of the tile that one thread computes, x first, if it is more than one
            element and thereby decides how many threads (in a row) a block has.
        constants: what an answer may define itself, with the value used when it does not.
        block_axes: how many sizes a tuple BLOCK may have with which an answer chooses another
            block; none where it may not.
        points: what is judged (see PROPERTIES), in the order of a report, with its points.
        rung: the rung of the ladder that its solution stands on, if any.
        kind: a kernel that is launched, a plain function that is called, or constants (those of
            `parameters`) that are looked at. What is said of launches is for kernels alone.
        reference: what a kernel of its own kind computes, as a function of its inputs as NumPy
            arrays of float64. With it and `shapes`, the entry is all that the checks need.
        shapes: the axes of each parameter as letters, "M,N"; equal letters are equal sizes, and ""
            stands for a number. The output comes last, and has one or two axes.
        formula: the same as a student writes it, "B = s * A".
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
    rung: str | None = None
    kind: Kind = KERNEL
    reference: Callable[..., Any] | None = None
    shapes: tuple[str, ...] = ()
    formula: str = ""
    place: ClassVar[entries.Place]  # each has its own: where its entry is written

    def __post_init__(self) -> None:
        object.__setattr__(self, "points", MappingProxyType(dict(self.points)))
        object.__setattr__(self, "constants", MappingProxyType(dict(self.constants)))
        object.__setattr__(self, "place", entries.Place())
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
    def names_to_define(self) -> tuple[str, ...]:
        """The names that an answer gives a meaning."""
        return self.kind.names_to_define(self)

    @property
    def check_call(self) -> str:
        """The check cell of this exercise."""
        return f'course_lib.check("{self.id}", {self.kind.handed_in(self)})'

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


def ceil_div(count: int, size: int) -> int:
    """How many pieces of `size` cover `count`."""
    return -(-count // size)


def _sizes(sizes: object, constants: Mapping[str, object]) -> tuple[int, ...]:
    """Sizes as numbers, constants' names replaced by their values."""
    several = sizes if isinstance(sizes, (tuple, list)) else (sizes,)
    return tuple(_size(each, constants) for each in several)


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


@dataclass(frozen=True)
class Rung:
    """One step of the ladder.

    Attributes:
        name: the name of its kernel.
        lesson: the number of the lesson that climbs it.
        why: one sentence: why it is faster than the rung below, or where the climb starts.
        binds: what limits it: counted in compiled code or modelled (FACTS §4.5), not measured.
        published_gflops: a published measurement (PUBLISHED_ON, PUBLISHED_BY), never one of ours.
    """

    name: str
    lesson: str
    why: str
    binds: str
    published_gflops: float

    @property
    def share_of_cublas(self) -> float:
        return self.published_gflops / PUBLISHED_CUBLAS_GFLOPS


LESSONS: tuple[Lesson, ...] = (
    Lesson(
        number="00",
        slug="start_here",
        title="Start here: your first kernel",
        minutes=25,
        goals=(
            "Say what runs your code: a GPU, or the emulator",
            "Write a kernel in which every thread computes one element",
            "Decide when shared memory cannot help",
        ),
        exercises=("mat_add",),
    ),
    Lesson(
        number="01",
        slug="where_numbers_live",
        title="Where numbers live",
        minutes=30,
        goals=(
            "Name the four places that can hold a number, and what each one costs",
            "Tell bandwidth from latency, and say which one binds",
            "Read a roofline and place a kernel on it",
        ),
    ),
    Lesson(
        number="02",
        slug="naive_matmul",
        title="The naive matmul",
        minutes=35,
        goals=(
            "Write a matmul in which every thread computes one output",
            "Count the bytes that it requests, and its FLOPs per byte",
            "Distinguish the two mappings that both go by the name naive",
        ),
        exercises=("matmul_naive",),
        rung="naive",
    ),
    Lesson(
        number="03",
        slug="coalescing",
        title="Coalescing: let a warp read side by side",
        minutes=40,
        goals=(
            "Predict how many sectors one request of a warp touches",
            "Change one line so that the lanes of a warp read neighbours",
            "Explain why the result stays the same and the time does not",
        ),
        exercises=("matmul_coalesced",),
        rung="coalesced",
    ),
    Lesson(
        number="04",
        slug="reuse_by_hand",
        title="Reuse, by hand",
        minutes=35,
        goals=(
            "Work a tiled product of two 4 x 4 matrices number by number",
            "Explain why the sum over K is cut into steps",
            "Say which data survive a step and which are overwritten",
        ),
    ),
    Lesson(
        number="05",
        slug="shared_memory_tiling",
        title="Shared-memory tiling",
        minutes=55,
        goals=(
            "Write a tiled matmul that is right on every shape",
            "Defend each of its two barriers with the race that it prevents",
            "Explain why far fewer requested bytes gain far less time",
        ),
        exercises=("matmul_tiled",),
        rung="tiled",
    ),
    Lesson(
        number="06",
        slug="tile_size_and_occupancy",
        title="Tile size and occupancy",
        minutes=45,
        goals=(
            "Say which limit stops a tile first, on any GPU",
            "Work out how many blocks fit on an SM, and what binds them",
            "Explain why a kernel with half the occupancy can be five times as fast",
        ),
        exercises=("blocks_per_sm", "pick_a_tile"),
    ),
    Lesson(
        number="07",
        slug="bank_conflicts",
        title="Bank conflicts: when shared memory queues",
        minutes=50,
        goals=(
            "Predict how many passes one shared-memory access of a warp takes",
            "Cure a column access by padding, or by an XOR with enough bits",
            "Show with two counters where padding does harm",
        ),
        exercises=("transpose_tiled", "block_scan"),
    ),
    Lesson(
        number="08",
        slug="register_tiling",
        title="Register tiling: several outputs per thread",
        minutes=70,
        goals=(
            "Derive loads per multiply-add for a thread that owns TM x TN outputs",
            "Read a hot loop in machine code, and mend what Numba made of it",
            "Explain how a kernel gets faster while its occupancy falls",
        ),
        exercises=("matmul_1d", "matmul_2d"),
        rung="register_2d",
    ),
    Lesson(
        number="09",
        slug="wide_loads_and_warp_tiles",
        title="Wide loads, warp-shaped tiles, and copies in the background",
        minutes=55,
        goals=(
            "Count what a 16-byte load saves, and the passes that it still needs",
            "Derive from passes per multiply-add why a thread owns 8 x 16 outputs",
            "Hide the loading of tiles behind arithmetic, and wait for it where one must",
        ),
        rung="warp_tiled",
    ),
    Lesson(
        number="10",
        slug="tensor_cores",
        title="Tensor cores: one instruction, one small product",
        minutes=60,
        goals=(
            "Find the roof of a number format, and the intensity that it asks for",
            "Build a warp's product from ldmatrix and mma, lane by lane",
            "Choose a format by its measured error, and name what binds next",
        ),
    ),
    Lesson(
        number="11",
        slug="flash_attention",
        title="FlashAttention: two products and a softmax",
        minutes=50,
        goals=(
            "Count the bytes that attention moves, in three kernels and in one",
            "Work an online softmax by hand, and say what a new maximum changes",
            "Write attention as one kernel that never stores the scores",
        ),
        exercises=("attention",),
    ),
    Lesson(
        number="12",
        slug="at_the_whiteboard",
        title="At the whiteboard",
        minutes=45,
        goals=(
            "Draw the whole climb on one page, with the reason for every step",
            "Teach tiling in ten minutes, and answer the questions that follow",
            "Choose between a library, a language of tiles, and a kernel of your own",
        ),
    ),
)

_REGISTER_POINTS = {
    "right": 3,
    "bounds": 1,
    "race-free": 2,
    "reuse": 1,
    "registers": 2,
    "float32": 1,
}

EXERCISES: dict[str, Exercise] = entries.by_id(
    (
        Exercise(
            id="mat_add",
            title="Add two matrices",
            lesson="00",
            parameters=("A", "B", "C"),
            block_axes=(2,),
            points={"right": 4, "bounds": 2, "coalesced": 2, "float32": 2},
        ),
        Exercise(
            id="matmul_naive",
            title="One thread, one output",
            lesson="02",
            parameters=("A", "B", "C"),
            block_axes=(2,),
            points={"right": 5, "bounds": 3, "float32": 2},
            rung="naive",
        ),
        Exercise(
            id="matmul_coalesced",
            title="A warp reads side by side",
            lesson="03",
            parameters=("A", "B", "C"),
            block_axes=(2,),
            points={"right": 3, "bounds": 2, "coalesced": 4, "float32": 1},
            rung="coalesced",
        ),
        Exercise(
            id="matmul_tiled",
            title="Stage tiles in shared memory",
            lesson="05",
            parameters=("A", "B", "C"),
            block=("TILE", "TILE"),
            tile=("TILE", "TILE"),
            constants={"TILE": 16},
            block_axes=(2,),
            points={
                "right": 3,
                "bounds": 1,
                "shared-memory": 1,
                "race-free": 2,
                "reuse": 2,
                "float32": 1,
            },
            rung="tiled",
        ),
        Exercise(
            id="blocks_per_sm",
            title="How many blocks fit on an SM",
            lesson="06",
            parameters=("device", "threads", "registers", "shared_bytes"),
            points={"right": 8, "refusals": 2},
            kind=FUNCTION,
        ),
        Exercise(
            id="pick_a_tile",
            title="Choose a tile for an H100",
            lesson="06",
            parameters=("BM", "BN", "BK", "TM", "TN"),
            points={"right": 4, "resident": 3, "intensity": 3},
            kind=CONSTANTS,
        ),
        Exercise(
            id="transpose_tiled",
            title="Transpose, with neighbours on both sides",
            lesson="07",
            parameters=("A", "B"),
            output="B",
            block=("TILE", "TILE"),
            tile=("TILE", "TILE"),
            constants={"TILE": 32},
            block_axes=(1, 2),
            points={
                "right": 3,
                "bounds": 1,
                "coalesced": 2,
                "conflict-free": 2,
                "race-free": 1,
                "float32": 1,
            },
        ),
        Exercise(
            id="block_scan",
            title="Running sums within a block",
            lesson="07",
            parameters=("x", "y"),
            output="y",
            block=(64,),
            tile=(64,),
            block_axes=(1,),
            points={"right": 4, "bounds": 1, "race-free": 3, "reuse": 1, "float32": 1},
        ),
        Exercise(
            id="matmul_1d",
            title="A thread computes a column of outputs",
            lesson="08",
            parameters=("A", "B", "C"),
            block=(512,),
            tile=("BN", "BM"),
            thread_tile=(1, "TM"),
            constants={"BM": 64, "BN": 64, "BK": 8, "TM": 8},
            block_axes=(1, 2),
            points=_REGISTER_POINTS,
            rung="register_1d",
        ),
        Exercise(
            id="matmul_2d",
            title="A thread computes a square of outputs",
            lesson="08",
            parameters=("A", "B", "C"),
            block=(256,),
            tile=("BN", "BM"),
            thread_tile=("TN", "TM"),
            constants={"BM": 64, "BN": 64, "BK": 8, "TM": 4, "TN": 4},
            block_axes=(1, 2),
            points=_REGISTER_POINTS,
            rung="register_2d",
        ),
        Exercise(
            id="attention",
            title="Attention, tile by tile",
            lesson="11",
            parameters=("Q", "K", "V", "O"),
            output="O",
            block=(32, 16),
            tile=(16,),
            block_axes=(2,),
            points={
                "right": 4,
                "bounds": 1,
                "shared-memory": 1,
                "race-free": 2,
                "reuse": 1,
                "float32": 1,
            },
        ),
    ),
    LESSONS,
)

# From the bottom up. The figures are FACTS §6.1: published, on one GPU, at one size.
RUNGS: tuple[Rung, ...] = (
    Rung(
        "naive",
        "02",
        "One thread computes one output, and a warp runs down a column.",
        "L1: 33 sectors for each step of k, where 5 would do.",
        309.0,
    ),
    Rung(
        "coalesced",
        "03",
        "The lanes of a warp read neighbouring elements, so one request needs fewer sectors.",
        "L1 still: two loads for every multiply-add.",
        1986.5,
    ),
    Rung(
        "tiled",
        "05",
        "A block fetches each tile once into shared memory, and all of its threads reuse it.",
        "Shared memory: 1.25 loads for every multiply-add.",
        2980.3,
    ),
    Rung(
        "register_1d",
        "08",
        "A thread computes a column of outputs, so a value in a register serves several sums.",
        "Shared memory and instruction slots alike.",
        8474.7,
    ),
    Rung(
        "register_2d",
        "08",
        "A thread computes a small square, so reuse in registers grows in both directions.",
        "Shared memory: wide loads that take twice the passes.",
        15971.7,
    ),
    Rung(
        "vectorised",
        "09",
        "One instruction loads 16 bytes, so fewer of them are spent on moving data.",
        "The same passes; and loading and multiplying still take turns.",
        18237.3,
    ),
    Rung(
        "warp_tiled",
        "09",
        "Each warp owns a block of the tile, so its loads serve all of its lanes.",
        "Instruction slots: nine in ten are multiply-adds.",
        21779.3,
    ),
)


def lesson(name: str, among: Sequence[Lesson] = LESSONS) -> Lesson:
    """The lesson of a number or file name: "3", "03", "03_coalescing", "notebooks/03_….ipynb".

    The number alone means the first part of a lesson that was split.

    Raises:
        KeyError: with the numbers that there are.
    """
    return lesson_with_parts(name, among)[0]


def lesson_with_parts(name: str, among: Sequence[Lesson] = LESSONS) -> tuple[Lesson, ...]:
    """The lessons of a number or file name: by "5" or "05" all parts of a lesson that was split.

    Raises:
        KeyError: with the numbers that there are.
    """
    stem = name.replace("\\", "/").rsplit("/", 1)[-1].removesuffix(".ipynb")
    number = stem.casefold().zfill(3 if stem[-1:].isalpha() else 2)
    found = tuple(
        each for each in among if stem and {stem, number} & {each.stem, each.slug, *each.numbers}
    )
    if not found:
        numbers = ", ".join(each.number for each in among)
        raise KeyError(f"there is no lesson {name!r}; there are {numbers}")
    return found


def next_lesson(this: Lesson) -> Lesson | None:
    """The lesson after this one, if it is there yet."""
    after = LESSONS.index(this) + 1
    return LESSONS[after] if after < len(LESSONS) else None


def rung(name: str) -> Rung:
    """The rung of this name."""
    return next(each for each in RUNGS if each.name == name)
