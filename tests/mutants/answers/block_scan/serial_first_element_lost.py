from numba import cuda, float32

RUN = 64


@cuda.jit
def block_scan(x, y):
    s = cuda.shared.array(RUN, float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    s[t] = x[i] if i < x.size else float32(0)
    cuda.syncthreads()
    if t == 0:
        for k in range(2, RUN):  # <- wrong-loop-bound
            s[k] += s[k - 1]
    cuda.syncthreads()
    if i < x.size:
        y[i] = s[t]
