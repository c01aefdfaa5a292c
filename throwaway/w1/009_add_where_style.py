# exercise: mat_add
# marked: right
from numba import cuda


@cuda.jit(device=True)
def mine(axis_block, axis_size, axis_thread):
    return axis_thread + axis_size * axis_block


@cuda.jit
def mat_add(A, B, C):
    i = mine(cuda.blockIdx.y, cuda.blockDim.y, cuda.threadIdx.y)
    j = mine(cuda.blockIdx.x, cuda.blockDim.x, cuda.threadIdx.x)
    left_over = min(C.shape[0] - 1 - i, C.shape[1] - 1 - j)
    if left_over < 0:
        return
    for _ in range(1):
        C[i][j] = B[i][j] + A[i][j]
