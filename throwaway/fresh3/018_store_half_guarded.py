# exercise: one_tile_product
# marked: wrong; cause: the store asks only whether the row exists, not whether the column does; code: wrong-bounds-check|out-of-bounds-write; lines: [20, 27]
from numba import cuda, float32


@cuda.jit
def one_tile_product(A, B, C):
    ta = cuda.shared.array((16, 16), float32)
    tb = cuda.shared.array((16, 16), float32)
    n, m = cuda.grid(2)
    x = cuda.threadIdx.x
    y = cuda.threadIdx.y
    if m < A.shape[0]:
        ta[y, x] = A[m, x]
    else:
        ta[y, x] = 0
    if n < B.shape[1]:
        tb[y, x] = B[y, n]
    else:
        tb[y, x] = 0
    cuda.syncthreads()
    if m >= C.shape[0]:
        return
    acc = float32(0)
    k = 15
    while k >= 0:
        acc += ta[y, k] * tb[k, x]
        k -= 1
    C[m, n] = acc
