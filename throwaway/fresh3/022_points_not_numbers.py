# exercise: squared_lengths
# marked: wrong; cause: the guard of the load compares the number of a coordinate with the count of points, which is three times too small; code: wrong-bounds-check|uninitialised-read; lines: [12]
from numba import cuda, float32


@cuda.jit
def squared_lengths(p, out):
    pool = cuda.shared.array(384, float32)
    t = cuda.threadIdx.x
    base = cuda.blockIdx.x * 384
    n = out.shape[0]
    slot = t
    while slot < 384:
        if base + slot < n:
            pool[slot] = p[(base + slot) // 3, (base + slot) % 3]
        slot += 128
    cuda.syncthreads()
    i = cuda.grid(1)
    if i < n:
        s = float32(0)
        for c in range(3):
            s += pool[3 * t + c] * pool[3 * t + c]
        out[i] = s
