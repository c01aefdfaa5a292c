from numba import cuda, float32

TILE = 16


@cuda.jit(device=True)
def part_of_sum(left, tile, row, start, x):
    total = float32(0)
    for k in range(TILE):
        if row < left.shape[0] and start + k < left.shape[1]:
            total += left[row, start + k] * tile[k, x]  # <- excess-global-traffic, not-used
    return total


@cuda.jit
def matmul_tiled(A, B, C):
    a = cuda.shared.array((TILE, TILE), float32)
    b = cuda.shared.array((TILE, TILE), float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    row, column = cuda.blockIdx.y * TILE + y, cuda.blockIdx.x * TILE + x
    total = float32(0)
    for start in range(0, A.shape[1], TILE):
        a[y, x] = float32(0)
        b[y, x] = float32(0)
        if row < A.shape[0] and start + x < A.shape[1]:
            a[y, x] = A[row, start + x]
        if column < B.shape[1] and start + y < B.shape[0]:
            b[y, x] = B[start + y, column]
        cuda.syncthreads()
        total += part_of_sum(A, b, row, start, x)
        cuda.syncthreads()
    if row < C.shape[0] and column < C.shape[1]:
        C[row, column] = total + float32(0) * a[y, x]
