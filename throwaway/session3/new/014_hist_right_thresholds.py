# exercise: histogram
# marked: right
from numba import cuda, float32


@cuda.jit(device=True)
def rank(v):
    """How many of the 15 inner borders -7/8, -6/8, ..., 7/8 v has reached."""
    reached = 0
    for k in range(-7, 8):
        if v >= float32(k) * float32(0.125):
            reached += 1
    return reached


@cuda.jit
def histogram(x, out):
    tally = cuda.shared.array(shape=16, dtype=float32)
    who, everyone = cuda.grid(1), cuda.gridsize(1)
    t = cuda.threadIdx.x
    if 0 <= t < 16:
        tally[t] = 0
    cuda.syncthreads()
    # as many rounds for every thread, the last one perhaps for some only
    rounds = (x.shape[0] + everyone - 1) // everyone
    for r in range(rounds):
        i = r * everyone + who
        if i < x.shape[0]:
            cuda.atomic.add(tally, rank(x[i]), float32(1))
    cuda.syncthreads()
    # from the back, by the last threads of the block
    b = cuda.blockDim.x - 1 - t
    if b < 16:
        cuda.atomic.add(out, b, tally[b])
