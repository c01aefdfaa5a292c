# exercise: reverse_sixteen
# marked: wrong; cause: the barrier stands before the store to shared memory instead of after it; code: race-read-after-write; lines: [9, 11]
from numba import cuda, float32


@cuda.jit
def reverse_sixteen(x, y):
    s = cuda.shared.array(shape=16, dtype=float32)
    i = cuda.threadIdx.x
    mine = x[i]
    cuda.syncthreads()
    s[i] = mine
    y[i] = s[16 - 1 - i]
