"""What a kernel is tried on: shapes, inputs, what should come out, and how it is launched."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import lcm

import numpy as np

from course_lib.curriculum import Launch
from course_lib.diagnosis.numbers import diagnose_add, diagnose_matmul
from course_lib.diagnosis.outcome import Outcome
from course_lib.diagnosis.slips import Geometry, Slip

Array = np.ndarray
Shape = tuple[int, int, int]  # M, N, K; K is 0 where nothing is summed

EPSILON = float(np.finfo(np.float32).eps)
# What the output holds before a launch. Not-a-number spreads through whatever reads it; an odd
# number shows which elements were left alone.
NAN, ODD = float("nan"), -7251.625
# Budgets of steps for one launch. Warp by warp, the same work takes more steps; each budget is some
# ten times what a right answer needs.
FEWEST_STEPS = 3000
STEPS = {"lockstep": 15_000, "warps": 120_000, "shuffled": 120_000}
LOWEST, HIGHEST = -2.0, 2.0  # the inputs' range: large enough that cut-off fractions show


@dataclass(frozen=True)
class Case:
    """One launch to try.

    Attributes:
        shape: M, N, K.
        schedule: the order in which the emulator runs the warps.
        poison: what the output holds before.
        draw: which inputs; the same shape with another draw has other numbers.
        exact: a multiple of every tile, and square: any index stays inside, any count is exact.
        steps: the emulator's budget.
    """

    shape: Shape
    schedule: str = "lockstep"
    poison: float = ODD
    draw: int = 0
    exact: bool = False

    @property
    def steps(self) -> int:
        if self.shape[:2] == (1, 1):
            return FEWEST_STEPS
        return STEPS[self.schedule]

    def label(self, problem: Problem) -> str:
        """The sizes as a student writes them: "(33 x 37) @ (37 x 19)"."""
        M, N, K = self.shape
        return f"{M} x {N}" if problem.is_sum else f"({M} x {K}) @ ({K} x {N})"


@dataclass(frozen=True)
class Problem:
    """What a family of exercises computes.

    Attributes:
        formula: as a student writes it.
        shapes: the uneven shapes to try, beside the exact one.
        diagnose: finds the slip behind a wrong output.
        is_sum: A + B, element by element, and not a product.
    """

    formula: str
    shapes: tuple[Shape, ...]
    diagnose: Callable[[Outcome], Slip | None]
    is_sum: bool = False

    def operands(self, shape: Shape, rng: np.random.Generator) -> tuple[Array, Array]:
        """Fresh inputs, float32 and row-major."""
        M, N, K = shape
        sizes = ((M, N), (M, N)) if self.is_sum else ((M, K), (K, N))
        return tuple(rng.uniform(LOWEST, HIGHEST, size).astype(np.float32) for size in sizes)  # type: ignore[return-value]

    def answer(self, A: Array, B: Array) -> tuple[Array, Array]:
        """What should come out, in float64, and how far float32 may be off.

        A float32 sum of K products, in any order and with or without fused multiply-adds, is off
        by at most about K rounding errors of the sum of absolute products.
        """
        a, b = A.astype(np.float64), B.astype(np.float64)
        if self.is_sum:
            return a + b, EPSILON * (np.abs(a) + np.abs(b)) + 1e-30
        return a @ b, EPSILON * (a.shape[1] + 2) / 2 * (np.abs(a) @ np.abs(b)) + 1e-30

    def random_shape(self, rng: np.random.Generator) -> Shape:
        M, N, K = (int(size) for size in rng.integers(2, 60, 3))
        return (M, N, 0) if self.is_sum else (M, N, K)


PRODUCT = Problem(
    "C = A @ B",
    ((33, 19, 37), (31, 33, 17), (17, 40, 5), (20, 23, 50), (1, 33, 31)),
    diagnose_matmul,
)
SUM = Problem(
    "C = A + B",
    ((33, 19, 0), (31, 40, 0), (1, 33, 0), (33, 1, 0)),
    diagnose_add,
    is_sum=True,
)
PROBLEMS: dict[str, Problem] = {
    "mat_add": SUM,
    "matmul_naive": PRODUCT,
    "matmul_coalesced": PRODUCT,
    "matmul_tiled": PRODUCT,
}


def make_cases(problem: Problem, launch: Launch, tile: int | None, seed: int) -> list[Case]:
    """The launches to try; the seed draws inputs and one shape more.

    The smallest comes first: a loop that never ends costs least there.
    """
    side = exact_side(launch, tile)
    first = (side, side, 0 if problem.is_sum else side)
    tiny = (1, 1, 0 if problem.is_sum else 1)
    cases = [Case(tiny, draw=50), Case(first, exact=True)]
    schedules = ("warps", "shuffled", *["lockstep"] * len(problem.shapes))
    poisons = (ODD, NAN)
    for number, shape in enumerate(problem.shapes):
        cases.append(Case(shape, schedules[number], poisons[number % 2], draw=number + 1))
    wide = (2, 300, 0 if problem.is_sum else 3)  # an index in 8 bits does not reach that far
    cases.append(Case(wide, draw=60))
    again = problem.shapes[0]
    cases.append(Case(again, "lockstep", NAN, draw=len(cases)))  # other inputs, other poison
    drawn = problem.random_shape(np.random.default_rng((seed, 99)))
    cases.append(Case(drawn, "lockstep", NAN, draw=len(cases)))
    return cases


def exact_side(launch: Launch, tile: int | None) -> int:
    """The side of a square problem that block and tile both divide, 48 or more if that is small."""
    unit = lcm(*launch.block[:2], tile or 1)
    if unit > 128:  # an unusual block, such as 1024 x 1: some of its threads stay idle
        return 64
    return unit * -(-48 // unit)


def make_inputs(problem: Problem, case: Case, seed: int) -> tuple[Array, Array]:
    return problem.operands(case.shape, np.random.default_rng((seed, case.draw)))


def geometry(case: Case, tile: Sequence[int], step_tile: int | None) -> Geometry:
    """The sizes of a case, with the tile of C that a block computes (x first)."""
    M, N, K = case.shape
    width, height = (*tile, 1)[:2]
    return Geometry(M, N, K, height, width, step_tile)
