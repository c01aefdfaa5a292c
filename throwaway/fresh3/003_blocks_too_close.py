# exercise: squared_lengths
# marked: wrong; cause: a block's numbers begin at 128 times its number, as its points do, though they are three times as many; code: wrong-index; lines: [13]
from numba import cuda, float32


@cuda.jit(device=True)
def square(v):
    return v * v


@cuda.jit
def squared_lengths(p, out):
    held = cuda.shared.array(384, float32)
    t = cuda.threadIdx.x
    first = 128 * cuda.blockIdx.x
    for turn in range(3):
        f = first + 128 * turn + t
        row = f // 3
        if row < p.shape[0]:
            held[128 * turn + t] = square(p[row, f - 3 * row])
        else:
            held[128 * turn + t] = 0
    cuda.syncthreads()
    i = cuda.grid(1)
    if i >= out.shape[0]:
        return
    out[i] = held[3 * t] + held[3 * t + 1] + held[3 * t + 2]
