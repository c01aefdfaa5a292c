# exercise: block_scan
# marked: right
from numba import cuda, float32

RUN = 64


@cuda.jit(device=True)
def scan32(v):
    lane = cuda.laneid
    d = 1
    while d != 32:
        u = cuda.shfl_up_sync(0xFFFFFFFF, v, d)
        v += u if lane >= d else float32(0)
        d = d << 1
    return v


@cuda.jit
def block_scan(x, y):
    first_half = cuda.shared.array(1, float32)
    i = cuda.grid(1)
    v = scan32(x[i] if i < x.shape[0] else float32(0))
    if cuda.threadIdx.x == 31:
        first_half[0] = v
    cuda.syncthreads()
    if cuda.threadIdx.x // 32 == 1:
        v += first_half[0]
    if i < y.shape[0]:
        y[i] = v
