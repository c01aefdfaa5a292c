"""What wrong products of boxes compute: other boxes than the tile's, or sums that forget."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from math import ceil

import numpy as np

from course_lib.registry.exercise import WrongIdea

Array = np.ndarray
Box = Callable[[Array, int, int, int, int], Array]  # of a matrix: top, left, step, side
COORDINATES = (
    "At which column and which row does this box begin? In which order do you pass the column and "
    "the row?"
)
OF_A, OF_B = ("call", "tma_load", "with", "A"), ("call", "tma_load", "with", "B")


def box_ideas(side: int) -> Iterator[WrongIdea]:
    """Ideas for boxes of so many rows and columns."""
    product = partial(_product, side=side)
    yield WrongIdea(
        partial(product, a=lambda A, top, _left, _k, n: _box(A, top, 0, n)),
        "every step along k uses the first tile of A",
        COORDINATES,
        OF_A,
        "wrong-index",
    )
    yield WrongIdea(
        partial(product, b=lambda B, _top, left, _k, n: _box(B, 0, left, n)),
        "every step along k uses the first tile of B",
        COORDINATES,
        OF_B,
        "wrong-index",
    )
    yield WrongIdea(
        partial(product, a=lambda A, _top, _left, k, n: _box(A, 0, k, n)),
        "all blocks multiply the first rows of A",
        COORDINATES,
        OF_A,
        "wrong-index",
    )
    yield WrongIdea(
        partial(product, b=lambda B, _top, _left, k, n: _box(B, k, 0, n)),
        "all blocks multiply the first columns of B",
        COORDINATES,
        OF_B,
        "wrong-index",
    )
    yield WrongIdea(
        partial(product, a=lambda A, top, _left, k, n: _box(A, k, top, n)),
        "the row and the column at which a box of A begins are swapped",
        COORDINATES,
        OF_A,
        "wrong-index",
    )
    yield WrongIdea(
        partial(product, b=lambda B, _top, left, k, n: _box(B, left, k, n)),
        "the row and the column at which a box of B begins are swapped",
        COORDINATES,
        OF_B,
        "wrong-index",
    )
    yield WrongIdea(
        partial(product, swapped=True),
        "the kernel multiplies the box of B by the box of A",
        "A stage holds two boxes. Which one comes first, the box of A or the box of B?",
        ("call", "wgmma_a"),
        "wrong-formula",
    )
    yield WrongIdea(
        partial(product, last_only=True),
        "only the last tile counts, because the sums start again with each tile",
        "The product should ignore the old sums for one tile only. Which tile is that?",
        ("call", "wgmma_a"),
        "accumulator-error",
    )


def _box(matrix: Array, top: int, left: int, side: int) -> Array:
    """A box of a matrix; zeros outside."""
    found = np.zeros((side, side))
    inside = matrix[top : top + side, left : left + side]
    found[: inside.shape[0], : inside.shape[1]] = inside
    return found


def _of_a(A: Array, top: int, left: int, k: int, side: int) -> Array:
    return _box(A, top, k, side)


def _of_b(B: Array, top: int, left: int, k: int, side: int) -> Array:
    return _box(B, k, left, side)


def _product(
    A: Array,
    B: Array,
    K: float,
    side: int,
    a: Box = _of_a,
    b: Box = _of_b,
    swapped: bool = False,
    last_only: bool = False,
) -> Array:
    """A product, block by block and step by step, of these boxes."""
    (M, N), steps = (len(A), B.shape[1]), range(0, int(K), side)
    C = np.zeros((ceil(M / side) * side, ceil(N / side) * side))
    for top in range(0, M, side):
        for left in range(0, N, side):
            for k in steps[-1:] if last_only else steps:
                one, other = a(A, top, left, k, side), b(B, top, left, k, side)
                block = other @ one if swapped else one @ other
                C[top : top + side, left : left + side] += block
    return C[:M, :N]
