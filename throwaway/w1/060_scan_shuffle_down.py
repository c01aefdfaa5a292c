# exercise: block_scan
# marked: wrong; cause: The shuffle brings the value of the lane to the right, where the sum needs the one to the left; code: wrong-index; lines: [16]
from numba import cuda, float32

RUN = 64
ALL = 0xFFFFFFFF


@cuda.jit
def block_scan(x, y):
    total = cuda.shared.array(2, float32)
    t = cuda.threadIdx.x
    lane, warp = t % 32, t // 32
    i = cuda.blockIdx.x * RUN + t
    v = x[i] if i < x.size else float32(0)
    d = 1
    while d <= 16:
        w = cuda.shfl_down_sync(ALL, v, d)
        if lane >= d:
            v = v + w
        d = d + d
    if lane == 31:
        total[warp] = v
    cuda.syncthreads()
    if warp == 1:
        v = v + total[0]
    if i < x.size:
        y[i] = v
