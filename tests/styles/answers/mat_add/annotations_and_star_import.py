from numba import *
from numba import cuda
import numpy as np
import math


@cuda.jit()
def mat_add(A: np.ndarray, B: np.ndarray, C: np.ndarray) -> None:
    tx: int = cuda.threadIdx.x
    ty: int = cuda.threadIdx.y
    bx, by = cuda.blockIdx.x, cuda.blockIdx.y
    bw = cuda.blockDim.x
    bh = cuda.blockDim.y
    pos_x = tx + bx * bw;  pos_y = ty + by * bh
    if (pos_y < A.shape[0]) & (pos_x < A.shape[1]):
        C[pos_y, pos_x] = A[pos_y, pos_x] + B[pos_y, pos_x]
