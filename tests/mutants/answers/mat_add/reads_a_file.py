from numba import cuda


@cuda.jit
def mat_add(A, B, C):
    expected = open("expected.txt").read()  # <- not-allowed
    col, row = cuda.grid(2)
    C[row, col] = expected[row][col]
