from numba import cuda


@cuda.jit
def transpose_tiled(A, B):
    col, row = cuda.grid(2)
    M, N = A.shape
    if row < M and col < N:
        B[col, row] = A[row, col]  # <- uncoalesced-store
