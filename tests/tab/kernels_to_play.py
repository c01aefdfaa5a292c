"""Kernels and arrays that a student may have in the playground."""

NEIGHBOURS = """\
@cuda.jit(device=True)
def twice(v):
    return v + v

@cuda.jit
def unused(x):
    x[0] = 1

@cuda.jit
def neighbours(x, y):
    s = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    s[t] = x[t]
    y[t] = twice(s[63 - t])
"""
TILED = """\
TILE = 8

@cuda.jit
def product(A, B, C):
    sA = cuda.shared.array((TILE, TILE), float32)
    sB = cuda.shared.array((TILE, TILE), float32)
    x, y = cuda.grid(2)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    total = float32(0)
    for k in range(0, A.shape[1], TILE):
        sA[ty, tx] = A[y, k + tx]
        sB[ty, tx] = B[k + ty, x]
        cuda.syncthreads()
        for j in range(TILE):
            total += sA[ty, j] * sB[j, tx]
        cuda.syncthreads()
    C[y, x] = total
"""
FLOATS = "dtype=np.float32"
VECTORS = {"x": f"np.arange(64, {FLOATS})", "y": f"np.zeros(64, {FLOATS})"}
MATRICES = {
    "A": f"np.ones((16, 16), {FLOATS})",
    "B": f"np.eye(16, {FLOATS})",
    "C": f"np.zeros((16, 16), {FLOATS})",
}
