# EXERCISE matmul_tiled
from numba import cuda, float32

TILE = 32
PITCH = 33


@cuda.jit
def matmul_tiled(A, B, C):
    a_tile = cuda.shared.array((TILE, TILE), float32)
    b_turned = cuda.shared.array((TILE, PITCH), float32)
    x, y = cuda.grid(2)
    lx = cuda.threadIdx.x
    ly = cuda.threadIdx.y
    rows, cols = C.shape
    inner = A.shape[1]
    done = 0
    result = float32(0)
    while done < inner:
        if y < rows and done + lx < inner:
            a_tile[ly, lx] = A[y, done + lx]
        else:
            a_tile[ly, lx] = float32(0)
        if done + ly < inner and x < cols:
            b_turned[lx, ly] = B[done + ly, x]
        else:
            b_turned[lx, ly] = float32(0)
        cuda.syncthreads()
        for k in range(TILE):
            result += a_tile[ly, k] * b_turned[lx, k]
        cuda.syncthreads()
        done += 16  # <- wrong-loop-bound, wrong-index
    if y < rows and x < cols:
        C[y, x] = result
