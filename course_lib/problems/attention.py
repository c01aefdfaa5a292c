"""Attention: the inputs, among them those that lead exponentials astray, and the answer."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from math import ceil
from typing import ClassVar

import numpy as np

from course_lib.curriculum import Launch
from course_lib.problems.attention_ideas import (
    ROWS,
    WIDTH,
    Array,
    scores_of,
    softmax,
)
from course_lib.problems.attention_lanes import attention_ideas
from course_lib.problems.problem import EPSILON, Geometry, Problem, Shape, more_tiles
from course_lib.registry.exercise import WrongIdea


class Attention(Problem):
    """O = softmax(Q Kᵀ / √d) V. A shape is queries, keys, and a factor that makes scores large."""

    width: ClassVar[int] = WIDTH
    rows: ClassVar[int] = ROWS  # queries of a block
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
        K[-1] = Q[0] * np.float32(math.log(len(K) + 1) * math.sqrt(self.width) / np.sum(Q[0] ** 2))
        return Q, K, V

    def operand_shapes(self, shape: Shape) -> tuple[Shape, ...]:
        return (shape[0], self.width), (shape[1], self.width), (shape[1], self.width)

    def answer(self, *inputs: Array) -> tuple[Array, Array]:
        """An error in a score is a relative error of its weight, which moves the output towards or
        away from this key's values; the sums add their own."""
        Q, K, V = (array.astype(np.float64) for array in inputs)
        scores = scores_of(Q, K)
        weights = softmax(scores)
        reach = scores_of(np.abs(Q), np.abs(K)).max(axis=1, keepdims=True)
        output, summed = weights @ V, weights @ np.abs(V)
        apart = np.stack(
            [row @ np.abs(V - mean) for row, mean in zip(weights, output, strict=True)]
        )
        of_scores = EPSILON * (self.width + 2) * reach * apart
        return output, of_scores + (EPSILON * (len(K) + 16) + self.off(scores)) * summed + 1e-30

    def result(self, *inputs: Array) -> Array:
        Q, K, V = (array.astype(np.float64) for array in inputs)
        result: Array = softmax(scores_of(Q, K)) @ V
        return result

    def off(self, scores: Array) -> Array | float:
        """How far each row's weights may be off beside what float32 rounds, as a share of them."""
        return 0.0

    def wrong_ideas(self) -> Iterable[WrongIdea]:
        return attention_ideas()

    def shows_all(self, shape: Shape) -> bool:
        """Not beside a score that is far larger than the others: they have no weight."""
        return shape[2] == 1

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
        return (3 * self.rows, 128, 1)

    def first(self, launch: Launch, tile: Sequence[int], step: int, seed: int) -> Shape:
        return ((3 + more_tiles(seed, 2)) * self.rows, 128, 1)

    def random_shape(self, rng: np.random.Generator) -> Shape:
        queries, keys = (int(size) for size in rng.integers((2, 2), (40, 90)))
        return (queries, keys, 1)

    def geometry(self, tile: Sequence[int]) -> Geometry:
        return Geometry(self.rows, self.width)

    def fetches(self, shape: Shape, tile: Sequence[int]) -> tuple[int, ...]:
        blocks = ceil(shape[0] / self.rows)
        return (shape[0] * self.width,) + (blocks * shape[1] * self.width,) * 2

    def barriers(self, shape: Shape, step_tile: int | None) -> int | None:
        return None
