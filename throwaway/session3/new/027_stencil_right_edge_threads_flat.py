# exercise: stencil5
# marked: right
from numba import cuda, float32

P = 18  # cells in a row of the tile


@cuda.jit
def stencil5(A, B):
    """A flat tile; who stands at an edge of the block fetches the halo beside it."""
    s = cuda.shared.array(324, float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    j, i = cuda.grid(2)
    m, n = A.shape
    at = (y + 1) * P + x + 1
    s[at] = A[i, j] if i < m and j < n else float32(0)
    if y == 0:
        s[at - P] = A[i - 1, j] if 0 < i and j < n else float32(0)
    if y == 15:
        s[at + P] = A[i + 1, j] if i < m - 1 and j < n else float32(0)
    if x == 0:
        s[at - 1] = A[i, j - 1] if i < m and 0 < j else float32(0)
    if x == 15:
        s[at + 1] = A[i, j + 1] if i < m and j < n - 1 else float32(0)
    cuda.syncthreads()
    if i >= m or j >= n:
        return
    quarter = float32(0.25)
    B[i, j] = s[at] - quarter * (s[at - P] + s[at - 1] + s[at + 1] + s[at + P])
