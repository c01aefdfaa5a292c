# exercise: matmul_coalesced
# marked: right; style: counts k down to zero, early returns, a row view of A
from numba import cuda, float32


@cuda.jit
def matmul_coalesced(A, B, C):
    here, down = cuda.grid(2)
    if down >= C.shape[0] or here >= C.shape[1]:
        return
    mine = A[down]
    s = float32(0)
    left = A.shape[1]
    while left > 0:
        left -= 1
        s += mine[left] * B[left, here]
    C[down, here] = s
