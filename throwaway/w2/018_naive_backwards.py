# exercise: naive_by_rows
# marked: right
import numba as nb
from numba import cuda


@cuda.jit(device=True)
def one_term(A, B, r, k, c):
    return A[r, k] * B[k, c]


@cuda.jit
def naive_by_rows(A, B, C):
    M, N = C.shape
    me = cuda.grid(2)
    if not (me[0] < M and me[1] < N):
        return
    acc = nb.float32(0)
    k = A.shape[1] - 1
    while k >= 0:      # from the far end
        acc += one_term(A, B, me[0], k, me[1])
        k -= 1
    C[me[0], me[1]] = acc
