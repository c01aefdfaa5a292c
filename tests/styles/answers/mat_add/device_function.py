from numba import cuda, float32


@cuda.jit(device=True)
def add(a, b):
    return a + b


@cuda.jit(device=True, inline=True)
def inside(row, col, array):
    return 0 <= row < array.shape[0] and 0 <= col < array.shape[1]


@cuda.jit("void(float32[:, ::1], float32[:, ::1], float32[:, ::1])")
def mat_add(A, B, C):
    col, row = cuda.grid(2)
    if inside(row, col, C):
        C[row, col] = float32(add(A[row, col], B[row, col]))
