# exercise: padded_scores
# marked: wrong; cause: the block's x chooses the queries and its y the keys, the other way round than the task says; code: wrong-index|out-of-bounds-read|incomplete-output; lines: [9, 10]
from numba import cuda, float32


@cuda.jit
def padded_scores(Q, K, S):
    queries = cuda.shared.array((16, 33), float32)
    keys = cuda.shared.array((32, 33), float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    q0 = cuda.blockIdx.x * 16
    k0 = cuda.blockIdx.y * 32
    queries[y, x] = Q[q0 + y, x]
    for r in range(y, 32, 16):
        keys[r, x] = K[k0 + r, x]
    cuda.syncthreads()
    dot = float32(0)
    d = 0
    while d < 32:
        dot += queries[y, d] * keys[x, d]
        d += 1
    S[q0 + y, k0 + x] = dot
