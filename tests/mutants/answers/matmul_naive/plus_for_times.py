# EXERCISE matmul_naive
from numba import cuda, float32


@cuda.jit(device=True)
def dot(A, B, r, c):
    acc = float32(0)
    for k in range(A.shape[1]):
        acc += A[r, k] + B[k, c]  # <- wrong-formula
    return acc


@cuda.jit
def matmul_naive(A, B, C):
    col, row = cuda.grid(2)
    if row < C.shape[0] and col < C.shape[1]:
        C[row, col] = dot(A, B, row, col)
