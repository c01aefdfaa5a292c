# exercise: turn_tile
# marked: wrong; cause: the store goes down a column of B, so the lanes of a warp write 32 rows apart and the tile turns nothing; code: uncoalesced-store; lines: [10]
from numba import cuda, float32


@cuda.jit
def turn_tile(A, B):
    tile = cuda.shared.array((32, 32), float32)
    lane, warp = cuda.threadIdx.x, cuda.threadIdx.y
    tile[warp, lane] = A[warp, lane]
    cuda.syncthreads()
    B[lane, warp] = tile[warp, lane]
