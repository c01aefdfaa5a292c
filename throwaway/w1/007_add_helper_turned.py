# exercise: mat_add
# marked: wrong; cause: The helper takes the element of the second matrix with row and column exchanged; code: wrong-index|out-of-bounds-read; lines: [7]
from numba import cuda


@cuda.jit(device=True)
def sum_at(P, Q, u, v):
    p = P[u, v]
    q = Q[v, u]
    return p + q


@cuda.jit
def mat_add(A, B, C):
    tx = cuda.threadIdx.x + cuda.blockIdx.x * 16
    ty = cuda.threadIdx.y + cuda.blockIdx.y * 16
    if ty < C.shape[0] and tx < C.shape[1]:
        C[ty, tx] = sum_at(A, B, ty, tx)
