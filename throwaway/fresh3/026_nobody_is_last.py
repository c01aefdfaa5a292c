# exercise: sum_of_three
# marked: wrong; cause: no thread has the number blockDim.x, so nobody loads the right neighbour of the block's last element; code: uninitialised-read|wrong-bounds-check|wrong-index; lines: [13]
from numba import cuda, float32


@cuda.jit
def sum_of_three(x, y):
    part = cuda.shared.array(130, float32)
    n = x.shape[0]
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    part[t + 1] = x[i] if i < n else float32(0)
    if t == 0:
        part[0] = x[i - 1] if i > 0 else float32(0)
    elif t == cuda.blockDim.x:
        part[t + 2] = x[i + 1] if i + 1 < n else float32(0)
    cuda.syncthreads()
    if i >= n:
        return
    s = part[t]
    s += part[t + 1]
    s += part[t + 2]
    y[i] = s
