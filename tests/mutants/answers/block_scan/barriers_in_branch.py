# EXERCISE block_scan
from numba import cuda, float32

RUN = 64


@cuda.jit
def block_scan(x, y):
    buf = cuda.shared.array(RUN, float32)
    tid = cuda.threadIdx.x
    gid = cuda.blockIdx.x * cuda.blockDim.x + tid
    if gid < x.shape[0]:
        buf[tid] = x[gid]
    else:
        buf[tid] = float32(0)
    cuda.syncthreads()
    stride = 1
    while stride < RUN:
        if tid >= stride:  # <- barrier-divergence
            left = buf[tid - stride]
            cuda.syncthreads()  # <- barrier-divergence
            buf[tid] += left
            cuda.syncthreads()  # <- barrier-divergence
        stride = stride * 2
    if gid < x.shape[0]:
        y[gid] = buf[tid]
