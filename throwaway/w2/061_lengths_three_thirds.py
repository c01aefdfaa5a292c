# exercise: squared_lengths
# marked: wrong; cause: the tile is read as if all x came first, then all y, then all z, but the three numbers of a point lie side by side; code: wrong-index|uninitialised-read; lines: [18]
from numba import cuda, float32


@cuda.jit
def squared_lengths(p, out):
    s = cuda.shared.array(384, float32)
    t, b = cuda.threadIdx.x, cuda.blockIdx.x
    for at in range(t, 384, 128):
        flat = b * 384 + at
        if flat < p.shape[0] * 3:
            s[at] = p[flat // 3, flat % 3]
    cuda.syncthreads()
    i = b * 128 + t
    if i >= out.shape[0]:
        return
    total = float32(0)
    for axis in range(3):
        v = s[t + 128 * axis]
        total += v * v
    out[i] = total
