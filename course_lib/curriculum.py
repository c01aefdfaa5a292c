"""The one registry of the course: its lessons, its exercises, and the rungs of the ladder.

Titles, goals, launch shapes, requirements and points are written here and nowhere else. The
notebooks' headings, the README's table, the checks and the grader all read them from here.
This module imports nothing else of the course.
"""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

Size = int | str  # a number, or the name of a constant that the answer may define itself

# What an answer is judged by. "right" comes first: without it, nothing else earns points.
PROPERTIES: Mapping[str, str] = MappingProxyType(
    {
        "right": "the result is right on every shape that is tried",
        "bounds": "no thread reads or writes outside an array",
        "coalesced": "the lanes of a warp ask for neighbouring elements",
        "shared-memory": "the tiles are staged in shared memory",
        "race-free": "a barrier stands wherever one thread needs what another one wrote",
        "reuse": "a block fetches each element from global memory once per tile",
        "float32": "all arithmetic is done in float32",
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
        number: two digits, "03".
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
        constants: what an answer may define itself, with the value used when it does not.
        points: what is judged (see PROPERTIES), in the order of a report, with its points.
        rung: the rung of the ladder that its solution stands on, if any.
    """

    id: str
    title: str
    lesson: str
    parameters: tuple[str, ...]
    points: Mapping[str, int]
    output: str = "C"
    block: tuple[Size, ...] = (16, 16)
    tile: tuple[Size, ...] | None = None
    constants: Mapping[str, int] = field(default_factory=dict)
    rung: str | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "points", MappingProxyType(dict(self.points)))
        object.__setattr__(self, "constants", MappingProxyType(dict(self.constants)))

    @property
    def requirements(self) -> tuple[str, ...]:
        """What is asked beyond a right result."""
        return tuple(name for name in self.points if name != "right")

    @property
    def max_points(self) -> int:
        return sum(self.points.values())

    @property
    def signature(self) -> str:
        """The call as a student writes it: "matmul_tiled(A, B, C)"."""
        return f"{self.id}({', '.join(self.parameters)})"

    def launch(
        self,
        output_shape: Sequence[int],
        constants: Mapping[str, object] | None = None,
        block: Sequence[int] | None = None,
    ) -> Launch:
        """The grid and block that cover an output of this shape (rows first, as NumPy has it).

        A constant of the answer replaces the default of that name, `BLOCK` (a size or a tuple)
        replaces the block, and the argument `block` replaces both.

        Raises:
            ValueError: if a size is not a positive whole number.
        """
        given = {**self.constants, **(constants or {})}
        chosen = block if block is not None else given.get("BLOCK")
        threads = _sizes(self.block if chosen is None else chosen, given)
        # A tile of its own size does not change with the block; otherwise the block is the tile.
        covers = threads if self.tile is None else _sizes(self.tile, given)
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


@dataclass(frozen=True)
class Rung:
    """One step of the ladder.

    Attributes:
        name: the name of its kernel.
        lesson: the number of the lesson that climbs it.
        why: one sentence: why it is faster than the rung below, or where the climb starts.
        published_gflops: a published measurement (PUBLISHED_ON, PUBLISHED_BY), never one of ours.
    """

    name: str
    lesson: str
    why: str
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
        minutes=60,
        goals=(
            "Write a tiled matmul that is right on every shape",
            "Defend each of its two barriers with the race that it prevents",
            "Explain why 32 times fewer requested bytes gave 1.5 times the speed",
        ),
        exercises=("matmul_tiled",),
        rung="tiled",
    ),
)

EXERCISES: dict[str, Exercise] = {
    exercise.id: exercise
    for exercise in (
        Exercise(
            id="mat_add",
            title="Add two matrices",
            lesson="00",
            parameters=("A", "B", "C"),
            points={"right": 4, "bounds": 2, "coalesced": 2, "float32": 2},
        ),
        Exercise(
            id="matmul_naive",
            title="One thread, one output",
            lesson="02",
            parameters=("A", "B", "C"),
            points={"right": 5, "bounds": 3, "float32": 2},
            rung="naive",
        ),
        Exercise(
            id="matmul_coalesced",
            title="A warp reads side by side",
            lesson="03",
            parameters=("A", "B", "C"),
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
    )
}

# From the bottom up. The figures are FACTS §6.1: published, on one GPU, at one size.
RUNGS: tuple[Rung, ...] = (
    Rung(
        "naive",
        "02",
        "One thread computes one output, and a warp runs down a column.",
        309.0,
    ),
    Rung(
        "coalesced",
        "03",
        "The lanes of a warp read neighbouring elements, so one request needs fewer sectors.",
        1986.5,
    ),
    Rung(
        "tiled",
        "05",
        "A block fetches each tile once into shared memory, and all of its threads reuse it.",
        2980.3,
    ),
    Rung(
        "register_1d",
        "08",
        "A thread computes a column of outputs, so a value in a register serves several sums.",
        8474.7,
    ),
    Rung(
        "register_2d",
        "08",
        "A thread computes a small square, so reuse in registers grows in both directions.",
        15971.7,
    ),
    Rung(
        "vectorised",
        "09",
        "One instruction loads 16 bytes, so fewer of them are spent on moving data.",
        18237.3,
    ),
    Rung(
        "warp_tiled",
        "09",
        "Each warp owns a block of the tile, so its loads serve all of its lanes.",
        21779.3,
    ),
)


def lesson(name: str) -> Lesson:
    """The lesson of a number or file name: "3", "03", "03_coalescing", "notebooks/03_….ipynb".

    Raises:
        KeyError: with the numbers that there are.
    """
    stem = name.replace("\\", "/").rsplit("/", 1)[-1].removesuffix(".ipynb")
    for each in LESSONS:
        if stem in (each.stem, each.slug) or (stem.isdigit() and int(stem) == int(each.number)):
            return each
    numbers = ", ".join(each.number for each in LESSONS)
    raise KeyError(f"there is no lesson {name!r}; there are {numbers}")


def next_lesson(this: Lesson) -> Lesson | None:
    """The lesson after this one, if it is there yet."""
    after = LESSONS.index(this) + 1
    return LESSONS[after] if after < len(LESSONS) else None


def rung(name: str) -> Rung:
    """The rung of this name."""
    return next(each for each in RUNGS if each.name == name)
