# exercise: causal_sums
# marked: wrong; cause: all four warps of a block hand their scores round in the same 32 cells; code: race-write-after-write|race-read-after-write|race-write-after-read; lines: [8, 17, 21, 24]
import math

from numba import cuda, float32


@cuda.jit
def causal_sums(S, L):
    shared_scores = cuda.shared.array(32, float32)
    lane = cuda.threadIdx.x
    q = 4 * cuda.blockIdx.x + cuda.threadIdx.y
    if q < S.shape[0]:
        m = float32(-math.inf)
        s = float32(0)
        first = 0
        while first <= q:
            seen = first + lane <= q
            shared_scores[lane] = S[q, first + lane] if seen else float32(-math.inf)
            cuda.syncwarp()
            new = m
            for j in range(32):
                new = max(new, shared_scores[j])
            s *= math.exp(m - new)
            for j in range(32):
                s += math.exp(shared_scores[j] - new)
            m = new
            cuda.syncwarp()
            first += 32
        if lane == 0:
            L[q] = m + math.log(s)
