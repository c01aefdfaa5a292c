"""Which block computes which tile, so that blocks that run at one time share what L2 holds.

Blocks start in the order of their numbers, along a row of tiles first. With 16 columns of tiles or
more, those that run together need a row or two of A's tiles and *all* of B. In strips they go down
a few rows of tiles before they go on to the next column, so that they need a few rows and a few
columns: fewer bytes for as many tiles.

    launched          in strips of 2
    0  1  2  3        0  2  4  6
    4  5  6  7        1  3  5  7
    8  9 10 11        8  9 10 11      the last strip is as high as what is left
"""

import numpy as np
from numba import cuda


@cuda.jit(device=True)
def place_of_block(strip):
    """Row and column of the tile that this block computes, in strips of so many rows of tiles."""
    row, column = np.uint32(cuda.blockIdx.y), np.uint32(cuda.blockIdx.x)
    if strip == 1:
        return row, column
    across, down = np.uint32(cuda.gridDim.x), np.uint32(cuda.gridDim.y)
    number = np.uint32(row * across + column)
    first = np.uint32(row // strip * strip)
    height = np.uint32(min(strip, down - first))
    inside = np.uint32(number - first * across)
    return np.uint32(first + inside % height), np.uint32(inside // height)
