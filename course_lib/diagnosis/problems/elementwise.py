"""Results of which each element is made of few: the sum of two matrices, and a transposed one."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from course_lib.diagnosis.launches.outcome import Geometry
from course_lib.diagnosis.problems.fresh_shapes import Shape
from course_lib.diagnosis.problems.problem import EPSILON, FEW_STEPS, Array, Problem


class Sum(Problem):
    """C = A + B, element by element."""

    steps = FEW_STEPS
    steps_of_all = 25_000
    counted = 0
    any_range = True

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
    any_range = True

    def operand_shapes(self, shape: Shape) -> tuple[Shape, ...]:
        return (shape[:2],)

    def answer(self, *inputs: Array) -> tuple[Array, Array]:
        """Nothing is computed, so nothing may be off."""
        moved = inputs[0].T.astype(np.float64)
        return moved, np.zeros(moved.shape)

    def label(self, shape: Shape) -> str:
        return f"A of {shape[0]} x {shape[1]}"

    def geometry(self, tile: Sequence[int]) -> Geometry:
        width, height = (*tile, 1)[:2]
        return Geometry(width, height)

    def tiles_of(self, tile: Sequence[int], step: int) -> tuple[Shape, ...]:
        wide, high = tile
        return (high, wide), (wide, high)

    def fetches(self, shape: Shape, tile: Sequence[int]) -> tuple[int, ...]:
        return (shape[0] * shape[1],)

    def barriers(self, shape: Shape, step_tile: int | None) -> int | None:
        """Between filling the tile and emptying it."""
        return 1
