# exercise: squared_lengths
# marked: wrong; cause: the guard of the load compares the number's place with the number of points instead of three times as many; code: wrong-bounds-check|uninitialised-read; lines: [12]
from numba import cuda, float32


@cuda.jit
def squared_lengths(p, out):
    numbers = cuda.shared.array(384, float32)
    t = cuda.threadIdx.x
    points = out.shape[0]
    k = t
    while k < 384:
        f = 384 * cuda.blockIdx.x + k
        if f < points:
            numbers[k] = p[f // 3, f % 3]
        k += 128
    cuda.syncthreads()
    i = cuda.grid(1)
    if i < points:
        x, y, z = numbers[3 * t], numbers[3 * t + 1], numbers[3 * t + 2]
        out[i] = x * x + y * y + z * z
