# exercise: reverse_sixteen
# marked: right
from numba import cuda, float32

N = 16


@cuda.jit
def reverse_sixteen(x, y):
    turned = cuda.shared.array(N, float32)
    t = cuda.threadIdx.x
    turned[N + ~t] = x[t]      # ~t is -t - 1
    cuda.syncthreads()
    y[t] = turned[t]
