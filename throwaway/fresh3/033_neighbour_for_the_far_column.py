# exercise: two_by_two
# marked: wrong; cause: the thread's second column is eight further on, but B's number for it is taken from the next column; code: wrong-index; lines: [14]
from numba import cuda, float32


@cuda.jit
def two_by_two(A, B, C):
    """Rows y and y + 8, columns x and x + 8."""
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    nn = nf = fn = ff = float32(0)
    k = 0
    while k < B.shape[0]:
        upper = A[y, k]
        lower = A[y + 8, k]
        near = B[k, x]
        far = B[k, x + 1]
        nn += upper * near
        nf += upper * far
        fn += lower * near
        ff += lower * far
        k += 1
    C[y, x] = nn
    C[y, x + 8] = nf
    C[y + 8, x] = fn
    C[y + 8, x + 8] = ff
