# exercise: block_scan
# marked: wrong; cause: The lane that is exactly one distance away from the start gets nothing added, as the test is a strict one; code: wrong-bounds-check|wrong-index; lines: [18]
from numba import cuda, float32

RUN = 64


@cuda.jit
def block_scan(x, y):
    firsts = cuda.shared.array(2, float32)
    t = cuda.threadIdx.x
    lane = t % 32
    i = cuda.grid(1)
    v = float32(0)
    if i < x.size:
        v = x[i]
    d = 1
    while d < 32:
        other = cuda.shfl_up_sync(0xFFFFFFFF, v, d)
        if lane > d:
            v += other
        d *= 2
    if lane == 31:
        firsts[t // 32] = v
    cuda.syncthreads()
    if t >= 32:
        v += firsts[0]
    if i < x.size:
        y[i] = v
