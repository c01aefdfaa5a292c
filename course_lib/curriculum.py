"""The one registry of the course: its lessons, its exercises, and the rungs of the ladder.

Titles, goals, launch shapes, requirements and points are written here, or in the file of each
exercise, and nowhere else. The notebooks' headings, the README's table, the checks and the grader
all read them from here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from pkgutil import iter_modules
from types import ModuleType
from typing import Any

from course_lib import exercises, tasks
from course_lib.registry import entry_checks as entries
from course_lib.registry.exercise import PROPERTIES, Exercise, Launch, Task, ceil_div

__all__ = [
    "EXERCISES",
    "LESSONS",
    "PROPERTIES",
    "RUNGS",
    "TASKS",
    "Exercise",
    "Launch",
    "Lesson",
    "Rung",
    "Task",
    "ceil_div",
    "lesson",
    "lesson_with_parts",
    "lessons_meant",
    "next_lesson",
    "rung",
]

PATHFINDER = "course_lib.py"  # beside every notebook of a checkout: leads it to the library
PUBLISHED_ON = "RTX A6000, 4096 x 4096 x 4096, FP32"
PUBLISHED_BY = "S. Boehm, SGEMM_CUDA (README table)"
PUBLISHED_CUBLAS_GFLOPS = 23249.6


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
        exercises: ids, in the order of the exercise notebook; each names its lesson, and not the
            other way round.
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
class Rung:
    """One step of the ladder.

    Attributes:
        name: the name of its kernel.
        lesson: the number of the lesson that climbs it.
        why: one sentence: why it is faster than the rung below, or where the climb starts.
        binds: what limits it: counted in compiled code or modelled (FACTS §4.5); of `warp_tiled`
            what a profiler saw on an H200 (docs/shared_memory_measured.md).
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


def found_in(package: ModuleType, name: str) -> Iterator[Any]:
    """The entries under this name in the modules of a package, one in each."""
    for module in iter_modules(package.__path__, f"{package.__name__}."):
        yield getattr(import_module(module.name), name)


_WITHOUT_EXERCISES: tuple[Lesson, ...] = (
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
    ),
    Lesson(
        number="01",
        slug="where_numbers_live",
        title="Where numbers live",
        minutes=20,
        goals=(
            "Name the four places that can hold a number, and who shares each",
            "Count the FLOP that a kernel does for each byte",
            "Tell bandwidth from latency, and say which one binds",
        ),
    ),
    Lesson(
        number="02",
        slug="naive_matmul",
        title="The naive matmul",
        minutes=35,
        goals=(
            "Write a matmul in which every thread computes one element",
            "Count the bytes that it requests, and its FLOP per byte",
            "Say which bytes are meant: requested, or from L1, L2 or DRAM",
        ),
        rung="naive",
    ),
    Lesson(
        number="03",
        slug="coalescing",
        title="Coalescing: let a warp read side by side",
        minutes=45,
        goals=(
            "Predict how many sectors one request of a warp touches",
            "Change one line so that the lanes of a warp read neighbours",
            "Explain why the result stays the same and the time does not",
        ),
        rung="coalesced",
    ),
    Lesson(
        number="04",
        slug="reuse_by_hand",
        title="Reuse, by hand",
        minutes=30,
        goals=(
            "Work a tiled product of two 4 x 4 matrices number by number",
            "Say why the sum over K is cut into steps, and what survives a step",
            "Count into a few bins with atomic adds",
        ),
    ),
    Lesson(
        number="05",
        slug="shared_memory_tiling",
        title="Shared-memory tiling",
        minutes=50,
        goals=(
            "Write a tiled matmul that is right on every shape",
            "Defend each of its two barriers with the race that it prevents",
            "Load tiles with a halo or a ragged edge, once for the whole block",
        ),
        rung="tiled",
    ),
    Lesson(
        number="05b",
        slug="what_the_clock_says",
        title="What the clock says",
        minutes=25,
        goals=(
            "Say which counter explains a time, and verify it",
            "Work out the ceiling that one resource sets",
            "Put a kernel under its roofline, and say which bytes are meant",
        ),
    ),
    Lesson(
        number="05c",
        slug="find_the_bug",
        title="Find the bug",
        minutes=40,
        goals=(
            "Find a fault by what a report, a print or a tool says of it",
            "Say what each of compute-sanitizer's tools looks for, and what none of them sees",
            "Mend a kernel whose numbers were right",
        ),
    ),
    Lesson(
        number="06",
        slug="tile_size_and_occupancy",
        title="Tile size and occupancy",
        minutes=40,
        goals=(
            "Say which limit stops a tile first, on any GPU",
            "Name the budget that limits the blocks on an SM",
            "Explain what occupancy is good for, and what it is not",
        ),
    ),
    Lesson(
        number="07",
        slug="bank_conflicts",
        title="Bank conflicts: when shared memory queues",
        minutes=50,
        goals=(
            "Predict how many wavefronts one shared-memory access of a warp takes",
            "Cure a column access by padding, or by an XOR with enough bits",
            "Add up a thousand numbers in ten rounds, without races and without conflicts",
        ),
    ),
    Lesson(
        number="08",
        slug="register_tiling",
        title="Register tiling: several outputs per thread",
        minutes=60,
        goals=(
            "Derive loads per multiply-add for a thread that owns TM x TN outputs",
            "Read a hot loop in machine code, and mend what Numba made of it",
            "Explain how a kernel gets faster while its occupancy falls",
        ),
        rung="register_2d",
    ),
    Lesson(
        number="08b",
        slug="profile_it_yourself",
        title="Profile it yourself",
        minutes=30,
        goals=(
            "Read Nsight Compute's report of your own kernel, and say which counter shows a fault",
            "Say where a GPU's counter may differ from a count of the source, and why",
            "Work out a hit rate, and say what it does not tell",
        ),
    ),
    Lesson(
        number="09",
        slug="wide_loads_and_warp_tiles",
        title="Wide loads and warp-shaped tiles",
        minutes=50,
        goals=(
            "Load and store 16 bytes with one instruction, and say what that saves",
            "Turn a tile on its way without a bank conflict",
            "Lay out a warp's lanes so that its loads take half the wavefronts",
        ),
        rung="warp_tiled",
    ),
    Lesson(
        number="09b",
        slug="copies_in_the_background",
        title="Copies in the background",
        minutes=45,
        goals=(
            "Turn a kernel with one buffer into one with two, and prove its one barrier",
            "Hand copies over to the hardware, and wait for them where one must",
            "Say from a profile what a kernel waits for",
        ),
    ),
    Lesson(
        number="10",
        slug="tensor_cores",
        title="Tensor cores: one instruction, one small product",
        minutes=60,
        goals=(
            "Write a warp's product with mma and ldmatrix, lane by lane",
            "Lay out a tile so that neither copies nor fragments conflict",
            "Choose a format by its measured error, and name what binds next",
        ),
    ),
    Lesson(
        number="10b",
        slug="hopper",
        title="Hopper: copies and products in the background",
        minutes=60,
        goals=(
            "Describe a tile to wgmma, and say what the warps are spared",
            "Work out how many stages keep tensor cores busy, with a producer and its consumers",
            "Predict which ingredient of a fast kernel gains, and say why from a profile",
        ),
    ),
    Lesson(
        number="10c",
        slug="row_softmax",
        title="A softmax of every row, roofline first",
        minutes=45,
        goals=(
            "Work out the least time of a kernel before it is written",
            "Reduce a row in shared memory, and in a warp by shuffles alone",
            "Say which bytes a kernel moves again, and keep a row where it costs none",
        ),
    ),
    Lesson(
        number="11",
        slug="flash_attention",
        title="FlashAttention: two products and a softmax",
        minutes=55,
        goals=(
            "Count the bytes that attention moves, in three kernels and in one",
            "Type an online softmax, and say what a new maximum changes",
            "Write attention as one kernel that never stores the scores",
        ),
    ),
    Lesson(
        number="11b",
        slug="attention_on_tensor_cores",
        title="Attention on tensor cores",
        minutes=65,
        goals=(
            "Chain two products on tensor cores, the sums of one as an operand of the next",
            "Keep an online softmax of rows that four lanes share",
            "Mask what a query may not see, and merge parts by their log-sum-exps",
        ),
    ),
    Lesson(
        number="12",
        slug="at_the_whiteboard",
        title="At the whiteboard",
        minutes=50,
        goals=(
            "Draw the whole climb on one page, with the reason for every step",
            "Teach tiling in ten minutes, and find the wrong sentence in an explanation",
            "Choose between a library, a language of tiles, and a kernel of your own",
        ),
    ),
    Lesson(
        number="13",
        slug="the_same_product_in_tiles",
        title="The same product, in tiles",
        minutes=60,
        goals=(
            "Write a product, a sum and a softmax in cuTile and in Triton",
            "Say what the compiler of a tile language decides, and what it cannot",
            "Predict which bytes a tile asks for, in any of the languages",
        ),
    ),
)


EXERCISES: dict[str, Exercise] = entries.by_id(found_in(exercises, "EXERCISE"), _WITHOUT_EXERCISES)
TASKS: dict[str, Task] = entries.by_id(
    found_in(tasks, "TASK"), _WITHOUT_EXERCISES, taken=EXERCISES.keys()
)
LESSONS: tuple[Lesson, ...] = tuple(
    replace(lesson, exercises=tuple(entries.of_lesson(EXERCISES.values(), lesson.number)))
    for lesson in _WITHOUT_EXERCISES
)

# From the bottom up. The figures are FACTS §6.1: published, on one GPU, at one size.
RUNGS: tuple[Rung, ...] = (
    Rung(
        "naive",
        "02",
        "One thread computes one output, and a warp runs down a column.",
        "L1: 33 sectors for each step along k, where 5 would be enough.",
        309.0,
    ),
    Rung(
        "coalesced",
        "03",
        "The lanes of a warp read neighbouring elements, so one request needs fewer sectors.",
        "Still L1, with two loads for every multiply-add.",
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
        "Shared memory and issue slots, about equally.",
        8474.7,
    ),
    Rung(
        "register_2d",
        "08",
        "A thread computes a small square, so reuse in registers grows in both directions.",
        "Shared memory: wide loads that take twice the wavefronts.",
        15971.7,
    ),
    Rung(
        "vectorised",
        "09",
        "One instruction loads 16 bytes, so fewer instructions just move data.",
        "The same wavefronts. Loading and multiplying still take turns.",
        18237.3,
    ),
    Rung(
        "warp_tiled",
        "09",
        "Each warp owns a block of the tile, so its loads serve all of its lanes.",
        "No unit is full, but its warps wait for the next tile.",
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
        lesson
        for lesson in among
        if stem and {stem, number} & {lesson.stem, lesson.slug, *lesson.numbers}
    )
    if not found:
        numbers = ", ".join(lesson.number for lesson in among)
        raise KeyError(f"there is no lesson {name!r}; there are {numbers}")
    return found


def lessons_meant(names: Iterable[str]) -> list[Lesson]:
    """The lessons of names and of ranges such as "00-05", each once, in the order of the names.

    Raises:
        KeyError: for a name that is none, and for a range that ends before it begins.
    """
    found: dict[str, Lesson] = {}
    for name in names:
        first, dash, last = name.partition("-")
        begins = LESSONS.index(lesson_with_parts(first)[0])
        ends = LESSONS.index(lesson_with_parts(last if dash else first)[-1])
        if ends < begins:
            raise KeyError(f"{name!r} ends before it begins")
        found |= {lesson.number: lesson for lesson in LESSONS[begins : ends + 1]}
    return list(found.values())


def next_lesson(this: Lesson) -> Lesson | None:
    """The lesson after this one, if it is there yet."""
    after = LESSONS.index(this) + 1
    return LESSONS[after] if after < len(LESSONS) else None


def rung(name: str) -> Rung:
    """The rung of this name."""
    return next(candidate for candidate in RUNGS if candidate.name == name)
