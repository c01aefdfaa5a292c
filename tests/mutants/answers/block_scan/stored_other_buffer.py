from numba import cuda, float32

RUN = 64


@cuda.jit
def block_scan(x, y):
    a = cuda.shared.array((2, RUN), float32)
    me = cuda.threadIdx.x
    pos = cuda.grid(1)
    a[0, me] = x[pos] if pos < x.size else float32(0)
    cuda.syncthreads()
    cur = 0
    gap = 1
    while gap < RUN:
        nxt = cur ^ 1
        a[nxt, me] = a[cur, me]
        if me >= gap:
            a[nxt, me] += a[cur, me - gap]
        cuda.syncthreads()
        cur = nxt
        gap <<= 1
    if pos < y.size:
        y[pos] = a[cur ^ 1, me]  # <- wrong-index, stale-shared-read
