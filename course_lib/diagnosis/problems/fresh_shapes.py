"""Draws shapes that nobody has seen, of the same kinds as those that everybody may try.

What a shape is for lies in its kind: ragged in every direction, smaller than a tile, one row, a
few more than a whole tile. A size of the same kind lies between the same two multiples of a unit,
which divides all usual tiles; and which of two sizes is the larger one stays as it was.
"""

from __future__ import annotations

import numpy as np

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
