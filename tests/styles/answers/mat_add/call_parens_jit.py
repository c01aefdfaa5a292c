# EXERCISE mat_add
import os
import time

from numba import cuda

TPB = 16


@cuda.jit()
def mat_add(A, B, C):
    x, y = cuda.grid(2)
    if x < len(C[0]):
        if y < len(C):
            C[y, x] = A[y, x] + B[y, x]
