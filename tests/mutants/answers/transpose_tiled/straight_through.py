# EXERCISE transpose_tiled
from numba import cuda


@cuda.jit
def transpose_tiled(A, B):
    c, r = cuda.grid(2)
    if r < A.shape[0] and c < A.shape[1]:
        B[c, r] = A[r, c]  # <- uncoalesced-store, not-used
