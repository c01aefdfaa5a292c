# exercise: tree_sum
# marked: right
from numba import cuda, float32

ALL = 0xFFFFFFFF


@cuda.jit(device=True)
def of_the_warp(number):
    step = 16
    while step:
        number += cuda.shfl_down_sync(ALL, number, step)
        step >>= 1
    return number


@cuda.jit
def tree_sum(x, y):
    parts = cuda.shared.array(32, float32)
    t = cuda.threadIdx.x
    mine = of_the_warp(x[t])
    if t & 31 == 0:
        parts[t >> 5] = mine
    cuda.syncthreads()
    if t < 32:
        mine = of_the_warp(parts[t])
        if t == 0:
            y[0] = mine
