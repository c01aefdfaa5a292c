# exercise: tree_sum
# marked: wrong; cause: the halving stops before the step with half = 1, so the two last partial sums are not added up; code: wrong-loop-bound; lines: [11]
from numba import cuda, float32


@cuda.jit
def tree_sum(x, y):
    sums = cuda.shared.array(1024, float32)
    t = cuda.threadIdx.x
    sums[t] = x[t]
    cuda.syncthreads()
    half = 512
    while half > 1:
        if t < half:
            sums[t] += sums[t + half]
        cuda.syncthreads()
        half >>= 1
    if t == 0:
        y[0] = sums[0]
