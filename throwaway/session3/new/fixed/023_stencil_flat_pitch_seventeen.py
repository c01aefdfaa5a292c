# exercise: stencil5
# marked: right
from numba import cuda, float32


@cuda.jit
def stencil5(A, B):
    flat = cuda.shared.array(324, float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    me = ty * 16 + tx
    row = cuda.blockIdx.y * 16 + ty
    col = cuda.blockIdx.x * 16 + tx
    for cell in range(me, 324, 256):
        r = cuda.blockIdx.y * 16 + cell // 18 - 1
        c = cuda.blockIdx.x * 16 + cell % 18 - 1
        if r >= 0 and r < A.shape[0] and c >= 0 and c < A.shape[1]:
            flat[cell] = A[r, c]
        else:
            flat[cell] = float32(0)
    cuda.syncthreads()
    if row < A.shape[0] and col < A.shape[1]:
        at = (ty + 1) * 18 + tx + 1
        four = flat[at - 18] + flat[at + 18] + flat[at - 1] + flat[at + 1]
        B[row, col] = flat[at] - four * float32(0.25)
