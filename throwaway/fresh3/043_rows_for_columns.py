# exercise: one_tile_product
# marked: wrong; cause: the tile of B is fetched from the column that has the number of the block's first row; code: wrong-index; lines: [17]
from numba import cuda, float32


@cuda.jit(device=True)
def bring(dest, src, r0, c0):
    r, c = r0 + cuda.threadIdx.y, c0 + cuda.threadIdx.x
    ok = r < src.shape[0] and c < src.shape[1]
    dest[cuda.threadIdx.y, cuda.threadIdx.x] = src[r, c] if ok else float32(0)


@cuda.jit
def one_tile_product(A, B, C):
    p = cuda.shared.array((16, 16), float32)
    q = cuda.shared.array((16, 16), float32)
    r0, c0 = 16 * cuda.blockIdx.y, 16 * cuda.blockIdx.x
    bring(p, A, r0, 0)
    bring(q, B, 0, r0)
    cuda.syncthreads()
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    s = float32(0)
    for k in range(16):
        s += p[y, k] * q[k, x]
    if r0 + y < C.shape[0] and c0 + x < C.shape[1]:
        C[r0 + y, c0 + x] = s
