# exercise: segmented_max
# marked: right
from numba import cuda, float32


@cuda.jit
def segmented_max(x, y):
    """Two buffers in one flat array; the distance is counted down in powers."""
    both = cuda.shared.array(128, float32)
    lane = cuda.threadIdx.x & 63
    pos = (cuda.blockIdx.x << 6) | lane
    n = min(64, x.shape[0] - (cuda.blockIdx.x << 6))  # numbers in this segment
    if lane < n:
        both[lane] = x[pos]
    turn = 0
    for power in range(6):
        cuda.syncthreads()
        here = turn * 64 + lane
        there = (1 - turn) * 64 + lane
        back = 1 << power
        if lane < n:
            if lane < back:
                both[there] = both[here]
            else:
                a, b = both[here], both[here - back]
                both[there] = a if a >= b else b
        turn ^= 1
    if lane < n:
        y[pos] = both[turn * 64 + lane]
