# EXERCISE matmul_tiled
from numba import cuda, float32

TILE = 16
CELLS = 256


@cuda.jit
def matmul_tiled(A, B, C):
    fa = cuda.shared.array(CELLS, float32)
    fb = cuda.shared.array(CELLS, float32)
    col, row = cuda.grid(2)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    me = ty * TILE + tx
    acc = float32(0)
    for start in range(0, A.shape[1], TILE):
        a_ok = row < A.shape[0] and start + tx < A.shape[1]
        b_ok = start + ty < B.shape[0] and col < B.shape[1]
        fa[me] = A[row, start + tx] if a_ok else float32(0)
        fb[me] = B[start + ty, col] if b_ok else float32(0)
        cuda.syncthreads()
        for k in range(TILE):
            acc += fa[ty * TILE + k] * fb[tx * TILE + k]  # <- wrong-index
        cuda.syncthreads()
    if row < C.shape[0] and col < C.shape[1]:
        C[row, col] = acc
