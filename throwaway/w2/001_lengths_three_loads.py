# exercise: squared_lengths
# marked: right
from numba import cuda, float32


@cuda.jit(device=True)
def square_at(numbers, place):
    return numbers[place] * numbers[place]


@cuda.jit
def squared_lengths(p, out):
    box = cuda.shared.array(3 * 128, float32)
    t = cuda.threadIdx.x
    before = 128 * cuda.blockIdx.x      # points of the blocks before this one
    n = min(128, out.shape[0] - before)
    for round_ in range(3):
        at = 128 * round_ + t
        if at < 3 * n:
            point = at // 3
            box[at] = p[before + point, at - 3 * point]
    cuda.syncthreads()
    if t < n:
        out[before + t] = square_at(box, 3 * t) + square_at(box, 3 * t + 1) + square_at(box, 3 * t + 2)
