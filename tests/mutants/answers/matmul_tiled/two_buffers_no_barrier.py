# EXERCISE matmul_tiled
from numba import cuda, float32

TILE = 16


@cuda.jit(device=True)
def get(X, r, c):
    return X[r, c] if r < X.shape[0] and c < X.shape[1] else float32(0)


@cuda.jit
def matmul_tiled(A, B, C):
    sA = cuda.shared.array((2, TILE, TILE), float32)
    sB = cuda.shared.array((2, TILE, TILE), float32)
    col, row = cuda.grid(2)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    steps = (A.shape[1] + TILE - 1) // TILE
    acc = float32(0)
    sA[0, ty, tx] = get(A, row, tx)
    sB[0, ty, tx] = get(B, ty, col)
    cuda.syncthreads()
    for t in range(steps):
        now = t % 2
        nxt = 1 - now
        if t + 1 < steps:
            sA[nxt, ty, tx] = get(A, row, (t + 1) * TILE + tx)  # <- race-read-after-write, race-write-after-read
            sB[nxt, ty, tx] = get(B, (t + 1) * TILE + ty, col)  # <- race-read-after-write, race-write-after-read
        for k in range(TILE):
            acc += sA[now, ty, k] * sB[now, k, tx]  # <- race-read-after-write, race-write-after-read
    if row < C.shape[0] and col < C.shape[1]:
        C[row, col] = acc
