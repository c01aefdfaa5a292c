# exercise: sum_of_three
# marked: right
from numba import cuda, float32


@cuda.jit
def sum_of_three(x, y):
    window = cuda.shared.array(130, float32)
    first = cuda.blockIdx.x * cuda.blockDim.x - 1
    p = cuda.threadIdx.x
    while p < 130:
        j = first + p
        window[p] = float32(0)
        if 0 <= j and j < x.shape[0]:
            window[p] = x[j]
        p += cuda.blockDim.x
    cuda.syncthreads()
    mine = first + 1 + cuda.threadIdx.x
    if mine >= y.shape[0]:
        return
    s = float32(0)
    for d in range(3):
        s += window[cuda.threadIdx.x + d]
    y[mine] = s
