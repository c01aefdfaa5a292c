# exercise: block_scan
# marked: right
from numba import cuda, float32

RUN = 64
TWICE = 128


@cuda.jit
def block_scan(x, y):
    # one flat array; the halves change roles. 64 zeros stand in front so nobody needs a test
    a = cuda.shared.array(TWICE, float32)
    b = cuda.shared.array(TWICE, float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    a[t] = float32(0)
    b[t] = float32(0)
    a[t + RUN] = x[i] if i < x.size else float32(0)
    cuda.syncthreads()
    for pair in range(3):
        d = 1 << 2 * pair
        b[t + RUN] = a[t + RUN] + a[t + RUN - d]
        cuda.syncthreads()
        d = d * 2
        a[t + RUN] = b[t + RUN] + b[t + RUN - d]
        cuda.syncthreads()
    if i < x.size:
        y[i] = a[t + RUN]
