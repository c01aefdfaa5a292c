# EXERCISE mat_add
from numba import cuda


@cuda.jit
def mat_add(A, B, C):
    i, j = cuda.grid(2)  # <- wrong-index, incomplete-output, uncoalesced-load
    n_rows, n_cols = C.shape
    if i >= n_rows or j >= n_cols:
        return
    C[i, j] = A[i, j] + B[i, j]
