# exercise: two_by_two
# marked: right; style: row views of A, four scalars, k counted down
from numba import cuda, float32


@cuda.jit
def two_by_two(A, B, C):
    c0 = cuda.threadIdx.x * 2
    r0 = cuda.threadIdx.y * 2
    upper, lower = A[r0], A[r0 + 1]
    p = q = r = s = float32(0)
    for back in range(A.shape[1]):
        k = A.shape[1] - 1 - back
        u, v = upper[k], lower[k]
        g, h = B[k, c0], B[k, c0 + 1]
        p += u * g
        q += u * h
        r += v * g
        s += v * h
    C[r0, c0], C[r0, c0 + 1] = p, q
    C[r0 + 1, c0], C[r0 + 1, c0 + 1] = r, s
