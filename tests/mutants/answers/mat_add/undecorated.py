# EXERCISE mat_add
from numba import cuda


def mat_add(
    A, B, C
):  # <- compile-error, invalid-launch, not-used, not-allowed, missing-answer (any line)
    x, y = cuda.grid(2)
    if y < C.shape[0] and x < C.shape[1]:
        C[y, x] = A[y, x] + B[y, x]
