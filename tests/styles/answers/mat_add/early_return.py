import numba.cuda as cu


@cu.jit
def mat_add(A, B, C):
    x = cu.blockIdx.x * cu.blockDim.x + cu.threadIdx.x
    y = cu.blockIdx.y * cu.blockDim.y + cu.threadIdx.y
    M, N = C.shape
    if y >= M or x >= N:
        return
    a = A[y, x]
    b = B[y, x]
    C[y, x] = a + b
