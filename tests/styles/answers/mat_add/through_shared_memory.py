from numba import cuda, float32


@cuda.jit
def mat_add(A, B, C):
    a = cuda.shared.array((16, 16), dtype=float32)
    b = cuda.shared.array((16, 16), dtype=float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    col, row = cuda.grid(2)
    mine = row < C.shape[0] and col < C.shape[1]
    if mine:
        a[ty, tx] = A[row, col]
        b[ty, tx] = B[row, col]
    cuda.syncthreads()
    if mine:
        C[row, col] = a[ty, tx] + b[ty, tx]
