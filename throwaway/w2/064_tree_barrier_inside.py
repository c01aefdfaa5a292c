# exercise: tree_sum
# marked: wrong; cause: the barrier stands in the branch that only the lower half of the threads takes; code: barrier-divergence; lines: [14]
from numba import cuda, float32


@cuda.jit
def tree_sum(x, y):
    s = cuda.shared.array(1024, float32)
    me = cuda.threadIdx.x
    s[me] = x[me]
    cuda.syncthreads()
    half = 512
    while half >= 1:
        if me < half:
            s[me] = s[me] + s[me + half]
            cuda.syncthreads()
        half = half // 2
    if me == 0:
        y[0] = s[0]
