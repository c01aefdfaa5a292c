# exercise: block_scan
# marked: wrong; cause: After the downward pass each cell holds the sum of what stands before it, and the element itself is not added; code: wrong-formula|wrong-index|accumulator-error; lines: [33]
from numba import cuda, float32

RUN = 64


@cuda.jit
def block_scan(x, y):
    # up the tree, then down again
    s = cuda.shared.array(RUN, float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    own = x[i] if i < x.size else float32(0)
    s[t] = own
    cuda.syncthreads()
    d = 1
    while d < RUN:
        if (t + 1) % (2 * d) == 0:
            s[t] += s[t - d]
        cuda.syncthreads()
        d *= 2
    if t == RUN - 1:
        s[t] = float32(0)
    cuda.syncthreads()
    d = RUN // 2
    while d > 0:
        if (t + 1) % (2 * d) == 0:
            left = s[t - d]
            s[t - d] = s[t]
            s[t] += left
        cuda.syncthreads()
        d //= 2
    if i < x.size:
        y[i] = s[t]
