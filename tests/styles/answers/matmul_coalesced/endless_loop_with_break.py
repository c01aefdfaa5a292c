import numba.cuda as cu
import numpy
from numba import types

ZERO = numpy.float32(0)


@cu.jit
def matmul_coalesced(A, B, C):
    j, i = cu.grid(2)
    if i < C.shape[0] and j < C.shape[1]:
        s = types.float32(0)
        k = -1
        while True:
            k += 1
            if k == A.shape[1]:
                break
            if A[i, k] == ZERO:
                continue
            s = s + A[i, k] * B[k, j]
        C[i, j] = s
