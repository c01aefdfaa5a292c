# exercise: strided_sums
# marked: wrong; cause: the sum is stored at the thread's number within its block, so both blocks write the same 32 places; code: wrong-index|incomplete-output|race-write-after-write; lines: [12]
from numba import cuda, float32


@cuda.jit
def strided_sums(x, y):
    t = cuda.threadIdx.x
    k = t + cuda.blockIdx.x * cuda.blockDim.x
    s = float32(0)
    while k < x.shape[0]:
        s += x[k]
        k += cuda.gridsize(1)
    y[t] = s
