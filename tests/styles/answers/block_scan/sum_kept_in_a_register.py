from numba import cuda, float32

RUN = 64


@cuda.jit
def block_scan(x, y):
    """Each thread keeps its sum in a register, and shows it to the others in shared memory."""
    shown = cuda.shared.array(RUN, float32)
    t = cuda.threadIdx.x
    i = cuda.blockIdx.x * cuda.blockDim.x + t
    total = float32(0)
    if i < x.size:
        total = x[i]
    stride = 1
    while stride < RUN:
        shown[t] = total
        cuda.syncthreads()
        if t >= stride:
            total += shown[t - stride]
        cuda.syncthreads()
        stride += stride
    if i < x.size:
        y[i] = total
