# EXERCISE block_scan
from numba import cuda, float32


@cuda.jit
def block_scan(x, y):
    box = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    start = cuda.blockIdx.x * cuda.blockDim.x
    count = min(64, x.size - start)
    if t < count:
        box[t] = x[start + t]
    cuda.syncthreads()
    if t == 0:
        run = float32(0)
        for j in range(start):  # <- wrong-formula, accumulator-error, wrong-loop-bound, excess-global-traffic
            run += x[j]  # <- wrong-formula, accumulator-error, excess-global-traffic
        for j in range(count):
            run += box[j]
            box[j] = run
    cuda.syncthreads()
    if t < count:
        y[start + t] = box[t]
