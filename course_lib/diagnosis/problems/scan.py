"""Running sums that start again with every run: the inputs and the answer."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from course_lib.curriculum import Launch
from course_lib.diagnosis.launches.outcome import Geometry
from course_lib.diagnosis.problems.fresh_shapes import Shape
from course_lib.diagnosis.problems.problem import EPSILON, FEW_STEPS, Problem, more_tiles
from course_lib.diagnosis.problems.scan_ideas import RUN, Array, run_sums, scan_ideas
from course_lib.registry.exercise import WrongIdea


class Scan(Problem):
    """y = the running sums of x, which start again with every run."""

    letters = "xy"
    steps = FEW_STEPS
    steps_of_all = 25_000
    tiny = (1,)
    short = (5,)
    any_range = True
    directions = (0,)
    gpu_shapes = ((100_003,), (1 << 16,))

    def operand_shapes(self, shape: Shape) -> tuple[Shape, ...]:
        return (shape,)

    def answer(self, *inputs: Array) -> tuple[Array, Array]:
        """A sum of at most RUN numbers, in any order."""
        x = inputs[0].astype(np.float64)
        return run_sums(x), EPSILON * (RUN + 2) / 2 * run_sums(np.abs(x)) + 1e-30

    def wrong_ideas(self) -> Iterable[WrongIdea]:
        return scan_ideas()

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

    def geometry(self, tile: Sequence[int]) -> Geometry:
        return Geometry(1, RUN)

    def tiles_of(self, tile: Sequence[int], step: int) -> tuple[Shape, ...]:
        return (RUN,), (RUN,)

    def fetches(self, shape: Shape, tile: Sequence[int]) -> tuple[int, ...]:
        return (shape[0],)

    def barriers(self, shape: Shape, step_tile: int | None) -> int | None:
        return None
