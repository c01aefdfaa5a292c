# exercise: causal_sums
# marked: wrong; cause: the mask lets only earlier keys through, so a query's own key is lost; code: missing-mask|wrong-bounds-check|wrong-formula; lines: [15]
import math
from numba import cuda, float32


@cuda.jit
def causal_sums(S, L):
    handed = cuda.shared.array((4, 32), float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    query = 4 * cuda.blockIdx.x + y
    if query >= S.shape[0]:
        return
    top, total = float32(-1e30), float32(0)
    for first in range(0, query + 1, 32):
        key = first + x
        if key < query:
            handed[y, x] = S[query, key]
        else:
            handed[y, x] = float32(-math.inf)
        cuda.syncwarp()
        new = top
        for j in range(32):
            new = max(new, handed[y, j])
        total *= math.exp(top - new)
        for j in range(32):
            total += math.exp(handed[y, j] - new)
        top = new
        cuda.syncwarp()
    if x == 0:
        L[query] = top + math.log(total)
