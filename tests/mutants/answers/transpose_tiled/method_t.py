# EXERCISE transpose_tiled
from numba import cuda


@cuda.jit
def transpose_tiled(A, B):
    x, y = cuda.grid(2)
    if y < A.shape[0] and x < A.shape[1]:
        B = A.T  # <- compile-error, unsupported, missing-answer, incomplete-output, not-allowed
