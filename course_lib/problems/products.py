"""Products of matrices, sums and transposes as problems: inputs, right results, bytes to fetch."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from math import ceil
from typing import ClassVar

import numpy as np

from course_lib.curriculum import Launch
from course_lib.problems.box_ideas import box_ideas
from course_lib.problems.problem import (
    EPSILON,
    FEW_STEPS,
    LENGTHS,
    LESS_LONG,
    Array,
    Case,
    Geometry,
    Problem,
    Shape,
    more_tiles,
)
from course_lib.registry import entry_checks as entries
from course_lib.registry.exercise import WrongIdea


class Sum(Problem):
    """C = A + B, element by element."""

    steps = FEW_STEPS
    steps_of_all = 25_000
    counted = 0
    any_range = True

    def operand_shapes(self, shape: Shape) -> tuple[Shape, ...]:
        return shape[:2], shape[:2]

    def answer(self, *inputs: Array) -> tuple[Array, Array]:
        a, b = (array.astype(np.float64) for array in inputs)
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

    def fetches(self, shape: Shape, tile: Sequence[int]) -> tuple[int, ...]:
        return (shape[0] * shape[1],)

    def barriers(self, shape: Shape, step_tile: int | None) -> int | None:
        """Between filling the tile and emptying it."""
        return 1


# --- Products -------------------------------------------------------------------------------------


class Product(Problem):
    """C = A @ B."""

    has_steps = True
    any_range = True
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
        a, b = (array.astype(np.float64) for array in inputs)
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
    schedules: ClassVar[tuple[str, ...]] = ("warps",)
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


class BoxProduct(RegisterProduct):
    """C = A @ B for a kernel that gets A and B as tensor maps, and K as a number."""

    letters = "ABKC"
    schedules = ("warps", "shuffled", "shuffled")
    steps = {**RegisterProduct.steps, "shuffled": 80_000}  # noqa: RUF012
    steps_beyond = 4_000  # every warp of every block takes steps of its own

    def operand_shapes(self, shape: Shape) -> tuple[Shape, ...]:
        return (*super().operand_shapes(shape), ())

    def operands(self, shape: Shape, rng: np.random.Generator) -> tuple[Array, ...]:
        return (*super().operands(shape, rng)[:2], _steps(shape))

    def telling_operands(self, shape: Shape, rng: np.random.Generator) -> tuple[Array, ...]:
        return (*super().telling_operands(shape, rng)[:2], _steps(shape))

    def answer(self, *inputs: Array) -> tuple[Array, Array]:
        return super().answer(*inputs[:2])

    def first(self, launch: Launch, tile: Sequence[int], step: int, seed: int) -> Shape:
        """Two tiles of C each way, and so many steps that a ring of stages goes round."""
        wide, high = tile
        return (2 * high, 2 * wide, step * (3 + more_tiles(seed, 1)))

    def wrong_ideas(self) -> Iterable[WrongIdea]:
        return box_ideas(max(self.boxes.get(0, (1,))))

    def gpu_cases(self) -> list[Case]:
        """None: only the host knows how to describe an array to TMA."""
        return []


def _steps(shape: Shape) -> Array:
    return np.array(shape[2], np.int32)[()]


class NarrowProduct(Product):
    """C = A @ B where some of M, N and K are given as numbers."""

    always: ClassVar[tuple[str, ...]]

    def __init__(self, product: Problem, sizes: Sequence[str]) -> None:
        """Take the product of a task; `sizes` has M, N and K, as letters or as numbers."""
        super().__init__(product.formula, product.shapes, formats=product.formats)
        free = tuple(place for place, size in enumerate(sizes) if entries.is_free(size))
        for name, value in (("always", tuple(sizes)), ("directions", free)):
            object.__setattr__(self, name, value)  # the base class is frozen
        object.__setattr__(self, "short", self._narrowed(self.short))

    def exact(self, side: int) -> Shape:
        return self._narrowed(super().exact(side))

    def cases(self, first: Shape, seed: int) -> list[Case]:
        cases = super().cases(first, seed)
        return [replace(case, shape=self._narrowed(case.shape)) for case in cases]

    def gpu_cases(self) -> list[Case]:
        cases = super().gpu_cases()
        return [replace(case, shape=self._narrowed(case.shape)) for case in cases]

    def _narrowed(self, shape: Shape) -> Shape:
        sizes = zip(self.always, shape, strict=True)
        return tuple(size if entries.is_free(axis) else int(axis) for axis, size in sizes)
