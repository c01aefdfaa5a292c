# EXERCISE mat_add
import numpy as np
from numba import cuda


@cuda.jit
def mat_add(A, B, C):
    x0, y0 = cuda.grid(2)
    step_x, step_y = cuda.gridsize(2)
    for y in range(y0, A.shape[0] - 1, step_y):  # <- wrong-loop-bound
        for x in range(x0, A.shape[1], step_x):
            s = A[y, x]
            s += B[y, x]
            C[y, x] = s
