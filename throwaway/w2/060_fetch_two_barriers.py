# exercise: fetch_and_add
# marked: right
from numba import cuda, float32


@cuda.jit
def fetch_and_add(x, y):
    desk = cuda.shared.array(32, float32)
    lane = cuda.threadIdx.x % 32
    adds = cuda.threadIdx.x // 32
    acc = float32(0)
    for r in range(x.shape[0]):
        if adds == 0:
            desk[lane] = x[r, lane]
        cuda.syncthreads()          # it lies there
        if adds == 1:
            acc += desk[lane]
        cuda.syncthreads()          # it has been taken
    if adds == 0:
        return
    y[lane] = acc
