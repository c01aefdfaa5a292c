"""What a kernel is tried on: shapes, inputs, what should come out, and how it is launched."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import ceil, lcm
from typing import ClassVar, Literal

import numpy as np

from course_lib.curriculum import Launch
from course_lib.diagnosis.families.attention import (
    ROWS,
    WIDTH,
    diagnose_attention,
    scores_of,
    softmax,
)
from course_lib.diagnosis.families.index_search import Geometry, Slip
from course_lib.diagnosis.families.product import diagnose_add, diagnose_matmul
from course_lib.diagnosis.families.register_tile import diagnose_register_tile, register_mapping
from course_lib.diagnosis.families.scan import RUN, diagnose_scan, run_sums
from course_lib.diagnosis.families.transpose import diagnose_transpose, transpose_mapping
from course_lib.diagnosis.launches.outcome import Outcome
from course_lib.diagnosis.launches.trail import Trail, mapping_slip, run_mapping_slip
from course_lib.diagnosis.problems.fresh_shapes import Shape, like
from course_lib.diagnosis.sizes.written_out import OtherSize
from course_lib.number_formats import encoded, rounded
from course_lib.sentences import Audience, Told

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
# How long a long launch is: longer than what an index in 8 bits reaches, and than 16 tiles of 16.
LENGTHS = tuple(size for size in range(258, 320) if math.gcd(size, 2 * 3 * 5 * 7) == 1)
LESS_LONG = tuple(size for size in range(130, 180) if math.gcd(size, 2 * 3 * 5 * 7) == 1)
# The draws that hold exact zeros: one launch with each kind of poison.
DRAWS_WITH_ZEROS = (2, 3)
SHARE_OF_ZEROS = 1 / 16
FEW_ELEMENTS = 8  # an array that small gets no zeros: it might be left with nothing else
LOWEST, HIGHEST = -2.0, 2.0  # the inputs' range: large enough that cut-off fractions show


@dataclass(frozen=True)
class Case:
    """One launch to try.

    Attributes:
        shape: the sizes of the problem.
        schedule: the order in which the emulator runs the warps.
        poison: what the output holds before.
        draw: which inputs; the same shape with another draw has other numbers.
        exact: a multiple of every tile, and square: any index stays inside, any count is exact.
        again: a shape that was tried before, with other inputs; it only tells about wrong answers.
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
    again: bool = False
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
        diagnose: finds the slip behind a wrong output.
        mapping: finds what is wrong with where the blocks write, from what they touched.
        order: how matrices lie in memory: "C" row after row, "F" column after column.
        formats: of the inputs, in order; none means that all are float32.
        letters: the arrays, the output last.
        has_steps: a sum runs along K, perhaps in tiles.
        fewest_steps: the emulator's budget on the smallest shape, where a loop without end is met.
        steps: its budgets elsewhere.
        steps_of_all: the budget of all launches together.
        schedules: those of the first uneven shapes; the others run in lockstep.
        tiny: the smallest shape.
        short: a small one, which the long launches make long in one direction each.
        directions: in which; places in a shape.
        gpu_shapes: what a real GPU is tried on as well.
        counted: which of the shapes, several tiles each way, is held to the cost as well, if any.
        sizes_vary: an answer has to be right for other sizes as well.
        starts_blank: what the output holds before a launch says nothing, and may not be read.
    """

    formula: str
    shapes: tuple[Shape, ...]
    diagnose: Callable[[Outcome], Slip | None]
    mapping: Callable[[Trail, Geometry], Slip | None] = mapping_slip
    order: Literal["C", "F"] = "C"
    formats: tuple[str, ...] = ()

    letters: ClassVar[Sequence[str]] = "ABC"
    has_steps: ClassVar[bool] = False
    fewest_steps: ClassVar[int] = 3000
    steps: ClassVar[Mapping[str, int]] = STEPS
    steps_of_all: ClassVar[int] = 70_000
    schedules: ClassVar[tuple[str, ...]] = ("warps", "shuffled")
    tiny: ClassVar[Shape] = (1, 1, 0)
    short: ClassVar[Shape] = (5, 6, 0)
    directions: ClassVar[tuple[int, ...]] = (0, 1)
    gpu_shapes: ClassVar[tuple[Shape, ...]] = ((1000, 517, 0), (512, 512, 0))
    counted: ClassVar[int | None] = None
    sizes_vary: ClassVar[bool] = True
    starts_blank: ClassVar[bool] = True

    def cases(self, first: Shape, seed: int) -> list[Case]:
        """The launches to try; `first` is the exact one."""
        return make_cases(self, first, seed)

    def other_sizes(self) -> Iterable[tuple[Case, OtherSize]]:
        """Where all sizes are fixed: launches with others, for an answer that is right."""
        return ()

    def gpu_cases(self) -> list[Case]:
        """What a real GPU is tried on as well."""
        return [Case(shape, draw=100 + number) for number, shape in enumerate(self.gpu_shapes)]

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
        """How long a launch may be that is long in this direction."""
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

    def telling_answer(self, *inputs: Array) -> tuple[Array, Array]:
        """The same for telling operands."""
        return self.answer(*inputs)

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

    def geometry(self, shape: Shape, tile: Sequence[int], step_tile: int | None) -> Geometry:
        """The sizes of the output and of its tiles; `tile` as the launch has it, x first."""
        M, N, K = shape
        width, height = (*tile, 1)[:2]
        return Geometry(M, N, K, height, width, step_tile)

    def tiles_of(self, tile: Sequence[int], step: int) -> tuple[Shape, ...]:
        """The tile of each array, the output last; `step` along k."""
        wide, high = tile
        return ((high, wide),) * 3

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


class Product(Problem):
    """C = A @ B."""

    has_steps = True
    tiny = (1, 1, 1)
    short = (5, 6, 3)
    directions = (0, 1, 2)
    gpu_shapes = ((1000, 517, 733), (512, 512, 512))
    counted = 0

    def operand_shapes(self, shape: Shape) -> tuple[Shape, ...]:
        M, N, K = shape
        return (M, K), (K, N)

    def answer(self, *inputs: Array) -> tuple[Array, Array]:
        """A float32 sum of K products, in any order and with or without fused multiply-adds, is
        off by at most about K rounding errors of the sum of absolute products."""
        a, b = (each.astype(np.float64) for each in inputs)
        return a @ b, EPSILON * (a.shape[1] + 2) / 2 * (np.abs(a) @ np.abs(b)) + 1e-30

    def telling_answer(self, *inputs: Array) -> tuple[Array, Array]:
        """Sums of whole numbers are exact: none of thousands of products may be missing."""
        exact, _ = self.answer(*inputs)
        return exact, np.full(exact.shape, 0.25)

    def label(self, shape: Shape) -> str:
        M, N, K = shape
        return f"({M} x {K}) @ ({K} x {N})"

    def exact(self, side: int) -> Shape:
        return (side, side, side)

    def random_shape(self, rng: np.random.Generator) -> Shape:
        M, N, K = (int(size) for size in rng.integers(2, 60, 3))
        return (M, N, K)

    def tiles_of(self, tile: Sequence[int], step: int) -> tuple[Shape, ...]:
        wide, high = tile
        return (high, step), (step, wide), (high, wide)

    def fetches(self, shape: Shape, tile: Sequence[int]) -> tuple[int, ...]:
        (M, N, K), (wide, high) = shape, tile
        return M * K * ceil(N / wide), K * N * ceil(M / high)

    def fetches_at_most(
        self, shape: Shape, tile: Sequence[int], step: int, thread_tile: Sequence[int]
    ) -> tuple[float, ...]:
        """Whole tiles, as if every index were clamped and no load left out; the last, partial one
        along K in the same way, or without shared memory."""
        (M, N, K), (wide, high), (columns, rows) = shape, tile, thread_tile
        across, down, rest = ceil(N / wide), ceil(M / high), K % step
        staged, alone = ceil(K / step) * step, K - rest
        rows_of_a, columns_of_b = down * high, across * wide
        return (
            rows_of_a * max(staged * across, alone * across + rest * columns_of_b / columns),
            columns_of_b * max(staged * down, alone * down + rest * rows_of_a / rows),
        )

    def barriers(self, shape: Shape, step_tile: int | None) -> int | None:
        """Two for each tile."""
        return 2 * ceil(shape[2] / step_tile) if step_tile else 0


class RegisterProduct(Product):
    """C = A @ B by blocks of 64 x 64 or so, in which every thread computes several elements."""

    fewest_steps = 12_000
    # Some loops run once for each element of a thread, and a thread has up to a hundred of them.
    steps = {"lockstep": 30_000, "warps": 80_000, "long": 120_000}  # noqa: RUF012
    steps_of_all = 250_000
    schedules = ("warps",)
    counted = 1

    def lengths(self, along: int) -> Sequence[int]:
        """A step of k takes a thread many times as long here as elsewhere."""
        return LESS_LONG if along == 2 else LENGTHS

    def first(self, launch: Launch, tile: Sequence[int], step: int, seed: int) -> Shape:
        """Two tiles of C each way, and steps enough for at least two tiles."""
        wide, high = tile
        return (2 * high, 2 * wide, step * (max(2, -(-24 // step)) + more_tiles(seed, 2)))

    def random_shape(self, rng: np.random.Generator) -> Shape:
        M, N, K = (int(size) for size in rng.integers((2, 2, 2), (130, 130, 20)))
        return (M, N, K)


class Sum(Problem):
    """C = A + B, element by element."""

    steps = FEW_STEPS
    steps_of_all = 25_000
    counted = 0

    def operand_shapes(self, shape: Shape) -> tuple[Shape, ...]:
        return shape[:2], shape[:2]

    def answer(self, *inputs: Array) -> tuple[Array, Array]:
        a, b = (each.astype(np.float64) for each in inputs)
        return a + b, EPSILON * (np.abs(a) + np.abs(b)) + 1e-30


class Transpose(Problem):
    """B = A.T; M and N are the rows and columns of A, which the grid covers."""

    letters = "AB"
    steps_of_all = 50_000
    fewest_steps = 8000  # a warp may pass a tile round by shuffles: 32 x 32 of them
    counted = 0

    def operand_shapes(self, shape: Shape) -> tuple[Shape, ...]:
        return (shape[:2],)

    def answer(self, *inputs: Array) -> tuple[Array, Array]:
        """Nothing is computed, so nothing may be off."""
        moved = inputs[0].T.astype(np.float64)
        return moved, np.zeros(moved.shape)

    def label(self, shape: Shape) -> str:
        return f"A of {shape[0]} x {shape[1]}"

    def geometry(self, shape: Shape, tile: Sequence[int], step_tile: int | None) -> Geometry:
        M, N, _ = shape
        width, height = (*tile, 1)[:2]
        return Geometry(N, M, 0, width, height)

    def tiles_of(self, tile: Sequence[int], step: int) -> tuple[Shape, ...]:
        wide, high = tile
        return (high, wide), (wide, high)

    def fetches(self, shape: Shape, tile: Sequence[int]) -> tuple[int, ...]:
        return (shape[0] * shape[1],)

    def barriers(self, shape: Shape, step_tile: int | None) -> int | None:
        """Between filling the tile and emptying it."""
        return 1


class Scan(Problem):
    """y = the running sums of x, which start again with every run."""

    letters = "xy"
    steps = FEW_STEPS
    steps_of_all = 25_000
    tiny = (1,)
    short = (5,)
    directions = (0,)
    gpu_shapes = ((100_003,), (1 << 16,))

    def operand_shapes(self, shape: Shape) -> tuple[Shape, ...]:
        return (shape,)

    def answer(self, *inputs: Array) -> tuple[Array, Array]:
        """A sum of at most RUN numbers, in any order."""
        x = inputs[0].astype(np.float64)
        return run_sums(x), EPSILON * (RUN + 2) / 2 * run_sums(np.abs(x)) + 1e-30

    def label(self, shape: Shape) -> str:
        return f"n = {shape[0]}"

    def covered(self, shape: Shape) -> Shape:
        return shape[:1]

    def exact(self, side: int) -> Shape:
        return (4 * RUN,)

    def first(self, launch: Launch, tile: Sequence[int], step: int, seed: int) -> Shape:
        return ((4 + more_tiles(seed, 4)) * RUN,)

    def random_shape(self, rng: np.random.Generator) -> Shape:
        return (int(rng.integers(2, 250)),)

    def geometry(self, shape: Shape, tile: Sequence[int], step_tile: int | None) -> Geometry:
        return Geometry(1, shape[0], 0, 1, RUN)

    def tiles_of(self, tile: Sequence[int], step: int) -> tuple[Shape, ...]:
        return (RUN,), (RUN,)

    def fetches(self, shape: Shape, tile: Sequence[int]) -> tuple[int, ...]:
        return (shape[0],)

    def barriers(self, shape: Shape, step_tile: int | None) -> int | None:
        return None


class Attention(Problem):
    """O = softmax(Q Kᵀ / √32) V. A shape is queries, keys, and a factor that makes scores large."""

    letters = "QKVO"
    tiny = (1, 1, 1)
    short = (5, 3, 1)
    fewest_steps = 12_000
    steps = {"lockstep": 50_000, "warps": 100_000, "long": 50_000}  # noqa: RUF012
    steps_of_all = 140_000
    schedules = ("lockstep", "warps")  # warp by warp where there are fewest keys: it takes long
    gpu_shapes = ((1000, 517, 1), (512, 512, 8))

    def operands(self, shape: Shape, rng: np.random.Generator) -> tuple[Array, ...]:
        """Where scores are large, every second query looks away from the first key; so a query with
        that key alone has only scores far below zero, whatever the seed. Every fourth looks at it,
        and has a score far above. Two later keys equal the first one, in its tile and in the last:
        those queries have three keys with the same, largest score. For the others, the last key is
        the opposite of the first, and far better than any before. Those between look at keys all
        over a tile, so that no maximum over a part of it is enough."""
        Q, K, V = super().operands(shape, rng)
        if shape[2] > 1:
            K[-1] = -K[0] if len(K) > 1 else K[0]
            K[[len(K) // 8, -min(2, len(K))]] = K[0]
            Q[1::2] = Q[1::2] / 8 - K[0]
            Q[::4] = Q[::4] / 8 + K[0]
            between = np.arange(2, len(Q), 4)
            Q[between] = Q[between] / 8 + K[(3 * between + 16) % len(K)]
        return Q * np.float32(shape[2]), K, V

    def telling_operands(self, shape: Shape, rng: np.random.Generator) -> tuple[Array, ...]:
        """The last key alone has as much weight as all others together."""
        Q, K, V = super().telling_operands(shape, rng)
        Q[:] = Q[0]
        K[:-1] /= 16
        K[-1] = Q[0] * np.float32(math.log(len(K) + 1) * math.sqrt(WIDTH) / np.sum(Q[0] ** 2))
        return Q, K, V

    def operand_shapes(self, shape: Shape) -> tuple[Shape, ...]:
        return (shape[0], WIDTH), (shape[1], WIDTH), (shape[1], WIDTH)

    def answer(self, *inputs: Array) -> tuple[Array, Array]:
        """An error in a score is a relative error of its weight; the sums add their own."""
        Q, K, V = (each.astype(np.float64) for each in inputs)
        scores = scores_of(Q, K)
        weights = softmax(scores)
        reach = scores_of(np.abs(Q), np.abs(K)).max(axis=1, keepdims=True)
        rounding = EPSILON * ((WIDTH + 2) * reach + len(K) + 16)
        return weights @ V, rounding * (weights @ np.abs(V)) + 1e-30

    def label(self, shape: Shape) -> str:
        queries, keys, factor = shape
        large = ", with large scores" if factor > 1 else ""
        numbers = (
            f"{queries} {'query' if queries == 1 else 'queries'}",
            f"{keys} {'key' if keys == 1 else 'keys'}",
        )
        return f"{', '.join(numbers)}{large}"

    def covered(self, shape: Shape) -> Shape:
        return shape[:1]

    def exact(self, side: int) -> Shape:
        return (3 * ROWS, 128, 1)

    def first(self, launch: Launch, tile: Sequence[int], step: int, seed: int) -> Shape:
        return ((3 + more_tiles(seed, 2)) * ROWS, 128, 1)

    def random_shape(self, rng: np.random.Generator) -> Shape:
        queries, keys = (int(size) for size in rng.integers((2, 2), (40, 90)))
        return (queries, keys, 1)

    def geometry(self, shape: Shape, tile: Sequence[int], step_tile: int | None) -> Geometry:
        return Geometry(shape[0], WIDTH, 0, ROWS, WIDTH)

    def tiles_of(self, tile: Sequence[int], step: int) -> tuple[Shape, ...]:
        return (ROWS, WIDTH), (step, WIDTH), (step, WIDTH), (ROWS, WIDTH)

    def fetches(self, shape: Shape, tile: Sequence[int]) -> tuple[int, ...]:
        blocks = ceil(shape[0] / ROWS)
        return (shape[0] * WIDTH,) + (blocks * shape[1] * WIDTH,) * 2

    def barriers(self, shape: Shape, step_tile: int | None) -> int | None:
        return None


# The families of problems; each exercise of one brings the sizes to try.
FAMILIES: dict[str, Problem] = {
    "sum": Sum("C = A + B", (), diagnose_add),
    "product": Product("C = A @ B", (), diagnose_matmul),
    "register product": RegisterProduct("C = A @ B", (), diagnose_register_tile, register_mapping),
    "transpose": Transpose("B = A.T", (), diagnose_transpose, transpose_mapping),
    "scan": Scan(
        "y = running sums of x, run by run",
        (),
        diagnose_scan,
        lambda trail, sizes: run_mapping_slip(trail, RUN, "y", "element"),
    ),
    "attention": Attention(
        "O = softmax(Q Kᵀ / √32) V",
        (),
        diagnose_attention,
        lambda trail, sizes: run_mapping_slip(trail, ROWS, "O", "row"),
    ),
}


def make_cases(problem: Problem, first: Shape, seed: int) -> list[Case]:
    """The launches to try; `first` is the exact one.

    Seed 0 tries the shapes that everybody may try, and draws one more; any other seed draws all of
    them. The smallest comes first: a loop that never ends costs least there.
    """
    rng = np.random.default_rng((seed, 98))
    shapes = [shape if seed == 0 else like(shape, rng) for shape in problem.shapes]
    cases = [Case(problem.tiny, draw=50), Case(first, exact=True)]
    schedules = (*problem.schedules, *["lockstep"] * len(shapes))
    poisons = (ODD, NAN)
    for number, shape in enumerate(shapes):
        counted = number == problem.counted
        poison = poisons[number % 2]
        cases.append(Case(shape, schedules[number], poison, draw=number + 1, counted=counted))
    again = len(cases) + 1
    drawn = problem.random_shape(np.random.default_rng((seed, 99)))
    cases.append(Case(drawn, "lockstep", NAN, draw=again + 1))
    cases.append(Case(shapes[0], "lockstep", NAN, draw=again, again=True))
    return cases + long_cases(problem, seed)


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


def make_inputs(problem: Problem, case: Case, seed: int) -> tuple[Array, ...]:
    """The numbers that a launch begins with, in the order in which the problem has them in memory.

    All are float32, and numbers of the inputs' own formats; `as_held` is what the kernel gets.
    """
    drawn = _drawn(problem, case, seed)
    if problem.formats:
        pairs = zip(drawn, problem.formats, strict=True)
        drawn = tuple(rounded(each, name) for each, name in pairs)
    return drawn if problem.order == "C" else tuple(map(np.asfortranarray, drawn))


def as_held(problem: Problem, inputs: Sequence[Array]) -> tuple[Array, ...]:
    """Copies of the inputs as a kernel gets them, each in its format."""
    if not problem.formats:
        return tuple(each.copy(order="K") for each in inputs)
    return tuple(encoded(each, name) for each, name in zip(inputs, problem.formats, strict=True))


def _drawn(problem: Problem, case: Case, seed: int) -> tuple[Array, ...]:
    """Some draws hold exact zeros, where the formula allows them."""
    rng = np.random.default_rng((seed, case.draw))
    draw = problem.telling_operands if case.allowed else problem.operands
    inputs = draw(case.shape, rng)
    if case.allowed or case.draw not in DRAWS_WITH_ZEROS:
        return inputs
    rng = np.random.default_rng((seed, case.draw, 96))
    holed = tuple(_with_zeros(each, rng) for each in inputs)
    return holed if problem.has_answer(*holed) else inputs


def expected_of(problem: Problem, case: Case, inputs: Sequence[Array]) -> tuple[Array, Array]:
    """What should come out of a case's inputs, in float64, and how far float32 may be off."""
    return (problem.telling_answer if case.allowed else problem.answer)(*inputs)


def _with_zeros(array: Array, rng: np.random.Generator) -> Array:
    """A copy in which some elements are exactly 0; one at least, if there are more than a few."""
    if np.size(array) < FEW_ELEMENTS:
        return array
    zeros = rng.random(array.shape) < SHARE_OF_ZEROS
    zeros.reshape(-1)[rng.integers(array.size)] = True
    return np.where(zeros, np.float32(0), array)
