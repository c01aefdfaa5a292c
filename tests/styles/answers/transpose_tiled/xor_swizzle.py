import numba
import numba.cuda as cu
import numpy as np


@cu.jit
def transpose_tiled(source, target):
    """No padding: each row of the tile keeps its elements in another order."""
    tile = cu.shared.array(shape=(32, 32), dtype=np.float32)
    x = cu.threadIdx.x
    y = cu.threadIdx.y
    column, row = cu.grid(2)
    if row < source.shape[0] and column < source.shape[1]:
        tile[y, x ^ y] = source[row, column]
    cu.syncthreads()
    row_out = cu.blockIdx.x * 32 + y
    column_out = cu.blockIdx.y * 32 + x
    if row_out < target.shape[0] and column_out < target.shape[1]:
        target[row_out, column_out] = tile[x, y ^ x]
