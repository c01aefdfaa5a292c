from numba import cuda


@cuda.jit
def transpose_tiled(A, B):  # <- missing-answer, compile-error (any line)
    B = A.T
