# exercise: histogram
# marked: wrong; cause: The counts of the blocks are added to the output by an ordinary +=, although all blocks do so at once; code: race-read-after-write|race-write-after-read|race-write-after-write; lines: [28]
import math
from numba import cuda, float32


@cuda.jit(device=True)
def which_bin(value):
    k = int(math.floor(value * float32(8))) + 8
    if k < 0:
        return 0
    if k > 15:
        return 15
    return k


@cuda.jit
def histogram(x, out):
    mine = cuda.shared.array(16, float32)
    tx = cuda.threadIdx.x
    if tx < 16:
        mine[tx] = float32(0)
    cuda.syncthreads()
    start = cuda.grid(1)
    stride = cuda.gridsize(1)
    for i in range(start, x.shape[0], stride):
        cuda.atomic.add(mine, which_bin(x[i]), float32(1))
    cuda.syncthreads()
    if tx < 16:
        out[tx] += mine[tx]
