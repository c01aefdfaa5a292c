# exercise: stencil5
# marked: right
from numba import cuda, float32


@cuda.jit
def stencil5(A, B):
    """Zeros everywhere first, then what lies in A over them; rows of four directions at the end."""
    cells = cuda.shared.array(shape=(18, 20), dtype=float32)
    tid = cuda.threadIdx.x + cuda.threadIdx.y * cuda.blockDim.x
    k = tid
    while k < 360:
        cells[k // 20, k % 20] = float32(0)
        k += 256
    cuda.syncthreads()

    up = cuda.blockIdx.y * 16 - 1
    left = cuda.blockIdx.x * 16 - 1
    r = cuda.threadIdx.y
    while r < 18:
        c = cuda.threadIdx.x
        while c < 18:
            if not (up + r < 0 or up + r >= A.shape[0] or left + c < 0 or left + c >= A.shape[1]):
                cells[r, c] = A[up + r, left + c]
            c += 16
        r += 16
    cuda.syncthreads()

    r = cuda.threadIdx.y + 1
    c = cuda.threadIdx.x + 1
    if up + r < A.shape[0] and left + c < A.shape[1]:
        result = cells[r, c]
        for side in range(4):
            dr = 1 if side == 0 else (-1 if side == 1 else 0)
            dc = 1 if side == 2 else (-1 if side == 3 else 0)
            result -= cells[r + dr, c + dc] * float32(0.25)
        B[up + r, left + c] = result
