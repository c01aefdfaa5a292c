# exercise: block_scan
# marked: wrong; cause: The second warp reads the sum of the first without a barrier after it was written; code: race-read-after-write; lines: [23, 25]
from numba import cuda, float32

RUN = 64


@cuda.jit(device=True)
def warp_scan(v, lane):
    for e in range(5):
        from_left = cuda.shfl_up_sync(0xFFFFFFFF, v, 1 << e)
        if lane >= 1 << e:
            v += from_left
    return v


@cuda.jit
def block_scan(x, y):
    carry = cuda.shared.array(1, float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    v = x[i] if i < x.size else float32(0)
    v = warp_scan(v, t & 31)
    if t == 31:
        carry[0] = v
    if t > 31:
        v += carry[0]
    if i < x.size:
        y[i] = v
