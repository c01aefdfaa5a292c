"""The form of a problem: what a family of exercises computes, and the launches it is tried on.

First shapes that nobody has seen, of the same kinds as those that everybody may try.

What a shape is for lies in its kind: ragged in every direction, smaller than a tile, one row, a
few more than a whole tile. A size of the same kind lies between the same two multiples of a unit,
which divides all usual tiles; and which of two sizes is the larger one stays as it was.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import lcm
from typing import ClassVar, Literal

import numpy as np

from course_lib.curriculum import Launch
from course_lib.registry.exercise import WrongIdea
from course_lib.wording.sentences import Audience, Told

# M, N, K of a product, with K = 0 where nothing is summed; n alone where arrays have one axis.
Shape = tuple[int, ...]

UNIT = 8  # where there are two sizes or more
UNIT_OF_ONE = 32  # a single size has to be the fresher for it
MOST_DRAWS = 100


def like(shape: Shape, rng: np.random.Generator) -> Shape:
    """A shape of the same kind; sizes of 0 and 1 are kinds of their own."""
    unit = UNIT if len(shape) > 1 else UNIT_OF_ONE
    for _ in range(MOST_DRAWS):
        drawn = tuple(_size_like(size, unit, rng) for size in shape)
        if np.array_equal(_order(drawn), _order(shape)):
            return drawn
    return shape


def _size_like(size: int, unit: int, rng: np.random.Generator) -> int:
    if size <= 1:
        return size
    below = (size - 1) // unit * unit
    # One more than a whole tile, or one less, is a kind of its own: it stays where it was.
    first = below + (1 if size == below + 1 else 2)
    last = below + unit - (1 if size == below + unit - 1 else 2)
    return int(rng.integers(max(2, first), last + 1))


def _order(shape: Shape) -> np.ndarray:
    """Of every two sizes, whether the first is larger, equal or smaller."""
    sizes = np.array(shape)
    result: np.ndarray = np.sign(sizes[:, None] - sizes)
    return result


# --- Problems and their launches ------------------------------------------------------------------


@dataclass(frozen=True)
class OtherSize:
    """An axis that is longer in one more launch: its name, "x.shape[0]", and its two sizes."""

    axis: str
    usual: int
    other: int


Array = np.ndarray
EPSILON = float(np.finfo(np.float32).eps)
# What the output holds before a launch. Not-a-number spreads through whatever reads it; an odd
# number shows which elements were left alone.
NAN, ODD = float("nan"), -7251.625
# Budgets of steps for one launch, and for a long one. Warp by warp, the same work takes more steps;
# each budget is several times what the most laborious right answer needs.
STEPS = {"lockstep": 15_000, "warps": 40_000, "shuffled": 40_000, "long": 25_000}
FEW_STEPS = {"lockstep": 5_000, "warps": 12_000, "shuffled": 12_000, "long": 5_000}
ORDERS = {
    "lockstep": "warps in step",
    "warps": "warp after warp",
    "shuffled": "warps shuffled",
}
TINY_DRAW = 50  # the launch of the smallest shape
# How long a long launch is: longer than what an index in 8 bits reaches, and than 16 tiles of 16.
LENGTHS = tuple(size for size in range(258, 320) if math.gcd(size, 2 * 3 * 5 * 7) == 1)
LESS_LONG = tuple(size for size in range(130, 180) if math.gcd(size, 2 * 3 * 5 * 7) == 1)
LOWEST, HIGHEST = -2.0, 2.0  # the inputs' range: large enough that cut-off fractions show


@dataclass(frozen=True)
class Geometry:
    """The tile of the output that a block computes, and what one thread computes of it."""

    tile_rows: int
    tile_columns: int
    thread_rows: int = 1
    thread_columns: int = 1


@dataclass(frozen=True)
class Case:
    """One launch to try.

    Attributes:
        shape: the sizes of the problem.
        schedule: the order in which the emulator runs the warps.
        poison: what the output holds before.
        draw: which inputs; the same shape with another draw has other numbers.
        exact: a multiple of every tile, and square: any index stays inside, any count is exact.
        further: made to tell more about some answers alone, and not counted.
        counted: uneven, and held to what the exercise asks for in cost as well.
        along: long in this direction, a place in the shape, and short in all others.
        allowed: just beyond a number that may be a limit (see limits.py), with so many steps; its
            inputs are such that what comes last counts.
    """

    shape: Shape
    schedule: str = "lockstep"
    poison: float = ODD
    draw: int = 0
    exact: bool = False
    further: bool = False
    counted: bool = False
    along: int | None = None
    allowed: int = 0

    def steps(self, problem: Problem) -> int:
        """The emulator's budget."""
        if self.allowed:
            return self.allowed
        if max(self.shape) <= 1:
            return problem.fewest_steps
        return problem.steps[self.schedule if self.along is None else "long"]

    @property
    def is_counted(self) -> bool:
        """Is it one of those that every answer has, and that are told from try to try?"""
        return not (self.further or self.allowed)

    def label(self, problem: Problem) -> str:
        """The sizes as a student writes them: "(33 x 37) @ (37 x 19)"."""
        return problem.label(self.shape)


@dataclass(frozen=True)
class SeenLaunch(Told):
    """A launch as a fact of what is said of an answer.

    A student is told its sizes; whoever grades, all that it takes to make it again.

    Attributes:
        case: what was tried.
        label: its sizes.
        grid, block: as it was launched, x first.
        seed: what drew the shapes and inputs.
    """

    case: Case
    label: str
    grid: tuple[int, ...]
    block: tuple[int, ...]
    seed: int

    def told(self, audience: Audience) -> str:
        """ "(33 x 37) @ (37 x 19)", and for an instructor how it was launched, on what."""
        if audience != "instructor":
            return self.label
        return (
            f"{self.label} (grid {self.grid}, block {self.block}, {ORDERS[self.case.schedule]}, "
            f"seed {self.seed}, draw {self.case.draw})"
        )


@dataclass(frozen=True)
class Problem:
    """What a family of exercises computes.

    Attributes:
        formula: as a student writes it.
        shapes: the uneven shapes to try, beside the exact one.
        order: how matrices lie in memory: "C" row after row, "F" column after column.
        formats: of the inputs, in order; none means that all are float32.
        multiples: of what each of the sizes is a multiple; none means of nothing.
        boxes: of the inputs that a kernel gets as tensor maps, by their places.
        letters: the arrays, the output last.
        has_steps: a sum runs along K, perhaps in tiles.
        fewest_steps: the emulator's budget on the smallest shape, where a loop without end is met.
        steps: its budgets elsewhere.
        steps_of_all: the budget of all launches together.
        steps_beyond: of one just beyond a number that stands in an answer: few right ones have any.
        schedules: those of the first uneven shapes; the others run in lockstep.
        tiny: the smallest shape.
        short: a small one, which the long launches make long in one direction each.
        directions: in which; places in a shape.
        gpu_shapes: what a real GPU is tried on as well.
        counted: which of the shapes, several tiles each way, is held to the cost as well, if any.
        sizes_vary: an answer has to be right for other sizes as well.
        starts_blank: what the output holds before a launch says nothing, and may not be read.
        rises: whether inputs that rise are a case of their own.
        falling_draw: the launch whose inputs are `falling`.
        any_range: whether the room for rounding grows with the inputs, so that some may be large.
    """

    formula: str
    shapes: tuple[Shape, ...]
    order: Literal["C", "F"] = "C"
    formats: tuple[str, ...] = ()
    multiples: tuple[int, ...] = ()
    boxes: Mapping[int, tuple[int, ...]] = field(default_factory=dict)

    letters: ClassVar[Sequence[str]] = "ABC"
    has_steps: ClassVar[bool] = False
    fewest_steps: ClassVar[int] = 3000
    steps: ClassVar[Mapping[str, int]] = STEPS
    steps_of_all: ClassVar[int] = 70_000
    steps_beyond: ClassVar[int] = 24_000
    schedules: ClassVar[tuple[str, ...]] = ("warps", "shuffled")
    tiny: ClassVar[Shape] = (1, 1, 0)
    short: ClassVar[Shape] = (5, 6, 0)
    directions: ClassVar[tuple[int, ...]] = (0, 1)
    gpu_shapes: ClassVar[tuple[Shape, ...]] = ((1000, 517, 0), (512, 512, 0))
    counted: ClassVar[int | None] = None
    sizes_vary: ClassVar[bool] = True
    starts_blank: ClassVar[bool] = True
    rises: ClassVar[bool] = False
    falling_draw: ClassVar[int] = TINY_DRAW
    any_range: ClassVar[bool] = False

    def cases(self, first: Shape, seed: int) -> list[Case]:
        """The launches to try; `first` is the exact one."""
        return make_cases(self, first, seed)

    def other_sizes(self) -> Iterable[tuple[Case, OtherSize]]:
        """Where all sizes are fixed: launches with others, for an answer that is right."""
        return ()

    def before(self, case: Case) -> float:
        """The value of every element of the output before a launch."""
        return case.poison

    def gpu_cases(self) -> list[Case]:
        """The launches that are tried on a real GPU as well."""
        shapes = map(self.fitted, self.gpu_shapes)
        return [Case(shape, draw=100 + number) for number, shape in enumerate(shapes)]

    def fitted(self, shape: Shape) -> Shape:
        """The next larger shape that this problem allows, with no more whole tiles than needed."""
        if not self.multiples:
            return shape
        return tuple(map(_odd_multiple, shape, self.multiples))

    def operands(self, shape: Shape, rng: np.random.Generator) -> tuple[Array, ...]:
        """Fresh inputs, float32."""
        return tuple(
            rng.uniform(LOWEST, HIGHEST, size).astype(np.float32)
            for size in self.operand_shapes(shape)
        )

    def operand_shapes(self, shape: Shape) -> tuple[Shape, ...]:
        """The shapes of the inputs."""
        raise NotImplementedError

    def lengths(self, along: int) -> Sequence[int]:
        """The lengths that a launch may have that is long in this direction."""
        return LENGTHS

    def telling_operands(self, shape: Shape, rng: np.random.Generator) -> tuple[Array, ...]:
        """Inputs among which every element counts, above all the last: small whole numbers, none
        of them zero, whose sums float32 holds exactly in any order."""
        return tuple(
            rng.choice(np.array([-2, -1, 1, 2], np.float32), size)
            for size in self.operand_shapes(shape)
        )

    def answer(self, *inputs: Array) -> tuple[Array, Array]:
        """What should come out, in float64, and how far float32 may be off."""
        raise NotImplementedError

    def result(self, *inputs: Array) -> Array:
        """What should come out, in float64, where nobody asks how far float32 may be off."""
        return self.answer(*inputs)[0]

    def telling_answer(self, *inputs: Array) -> tuple[Array, Array]:
        """The answer for telling operands."""
        return self.answer(*inputs)

    def rising(self, inputs: tuple[Array, ...]) -> tuple[Array, ...]:
        """The inputs, some of which rise from the first number to the last, if it `rises`."""
        return inputs

    def falling(self, inputs: tuple[Array, ...]) -> tuple[Array, ...]:
        """The inputs as they are in the launch where some lie far below the usual ones."""
        return inputs

    def wrong_ideas(self) -> Iterable[WrongIdea]:
        """What wrong answers usually compute from inputs in float64."""
        return ()

    def shows_all(self, shape: Shape) -> bool:
        """Does every input of this shape show in the output, as far as it takes part?"""
        return True

    def has_answer(self, *inputs: Array) -> bool:
        """Whether these inputs have a finite answer, as sums and products always do."""
        return True

    def label(self, shape: Shape) -> str:
        return f"{shape[0]} x {shape[1]}"

    def covered(self, shape: Shape) -> Shape:
        """The shape that the grid covers with tiles: rows first."""
        return shape[:2]

    def exact(self, side: int) -> Shape:
        """The problem of a side that all tiles divide."""
        return (side, side, 0)

    def first(self, launch: Launch, tile: Sequence[int], step: int, seed: int) -> Shape:
        """The exact problem for a launch, with tiles of these sizes."""
        return self.exact(exact_side(launch, lcm(*tile, step), seed))

    def random_shape(self, rng: np.random.Generator) -> Shape:
        M, N, _ = (int(size) for size in rng.integers(2, 60, 3))
        return (M, N, 0)

    def geometry(self, tile: Sequence[int]) -> Geometry:
        """The tiles of the output; `tile` as the launch has it, x first."""
        width, height = (*tile, 1)[:2]
        return Geometry(height, width)

    def fetches(self, shape: Shape, tile: Sequence[int]) -> tuple[int, ...]:
        """How many elements of each input all blocks fetch, if each block fetches each once."""
        M, N, _ = shape
        return (M * N, M * N)

    def fetches_at_most(
        self, shape: Shape, tile: Sequence[int], step: int, thread_tile: Sequence[int]
    ) -> tuple[float, ...]:
        """How many an honest answer may fetch on an uneven shape, with its detours at the edges."""
        return tuple(math.inf for _ in self.operand_shapes(shape))

    def barriers(self, shape: Shape, step_tile: int | None) -> int | None:
        """How many barriers a block needs; None if that is up to the kernel's design."""
        return 0


def _odd_multiple(size: int, multiple: int) -> int:
    """The size if it is a multiple, else the next one, but no even one: tiles would divide that."""
    if size % multiple == 0:
        return size
    return -(-(size + multiple) // (2 * multiple)) * 2 * multiple - multiple


def make_cases(problem: Problem, first: Shape, seed: int) -> list[Case]:
    """The launches to try; `first` is the exact one.

    Seed 0 tries the shapes that everybody may try, and draws one more; any other seed draws all of
    them. The smallest comes first: a loop that never ends costs least there.
    """
    rng = np.random.default_rng((seed, 98))
    shapes = [shape if seed == 0 else like(shape, rng) for shape in problem.shapes]
    cases = [Case(problem.tiny, draw=TINY_DRAW), Case(first, exact=True)]
    schedules = (*problem.schedules, *["lockstep"] * len(shapes))
    poisons = (ODD, NAN)
    for number, shape in enumerate(shapes):
        counted = number == problem.counted
        poison = poisons[number % 2]
        cases.append(Case(shape, schedules[number], poison, draw=number + 1, counted=counted))
    again = len(cases) + 1
    drawn = problem.random_shape(np.random.default_rng((seed, 99)))
    cases.append(Case(drawn, "lockstep", NAN, draw=again + 1))
    cases.append(Case(shapes[0], "lockstep", NAN, draw=again, further=True))
    cases += long_cases(problem, seed)
    return [replace(case, shape=problem.fitted(case.shape)) for case in cases]


def long_cases(problem: Problem, seed: int) -> list[Case]:
    """One launch for each direction that is long in it: by some hundreds, no multiple of anything.

    They come last: only what the others leave open can be told by them alone.
    """
    rng = np.random.default_rng((seed, 96))
    cases = []
    for along in problem.directions:
        shape = list(problem.short if seed == 0 else like(problem.short, rng))
        shape[along] = int(rng.choice(problem.lengths(along)))
        cases.append(Case(tuple(shape), draw=60 + along, along=along))
    return cases


def more_tiles(seed: int, most: int) -> int:
    """By how many tiles the exact problem is longer than need be: with seed 0 by none."""
    return int(np.random.default_rng((seed, 97)).integers(0, most + 1)) if seed else 0


def exact_side(launch: Launch, tile: int, seed: int) -> int:
    """The side of a square problem that block and tile both divide, 48 or more if that is small."""
    unit = lcm(*launch.block[:2], tile)
    if unit > 128:  # an unusual block, such as 1024 x 1: some of its threads stay idle
        return 64
    more = 2 if unit <= 16 else 1 if unit <= 64 else 0  # the work grows with the cube of the side
    return unit * (-(-48 // unit) + more_tiles(seed, more))
