# exercise: stencil5
# marked: wrong; cause: Threads outside of the matrix return before they have loaded their part of the tile and reached the barrier; code: barrier-divergence|uninitialised-read|wrong-bounds-check; lines: [12, 13]
from numba import cuda, float32

SIDE = 18


@cuda.jit
def stencil5(A, B):
    window = cuda.shared.array((SIDE, SIDE), float32)
    lx = cuda.threadIdx.x
    ly = cuda.threadIdx.y
    gx, gy = cuda.grid(2)
    if gy >= A.shape[0] or gx >= A.shape[1]:
        return

    k = ly * 16 + lx
    while k < SIDE * SIDE:
        wr = k // SIDE
        wc = k - wr * SIDE
        ar = cuda.blockIdx.y * 16 + wr - 1
        ac = cuda.blockIdx.x * 16 + wc - 1
        if ar < 0 or ac < 0 or ar >= A.shape[0] or ac >= A.shape[1]:
            window[wr, wc] = float32(0)
        else:
            window[wr, wc] = A[ar, ac]
        k += 256
    cuda.syncthreads()

    acc = window[ly, lx + 1]
    acc += window[ly + 2, lx + 1]
    acc += window[ly + 1, lx]
    acc += window[ly + 1, lx + 2]
    B[gy, gx] = window[ly + 1, lx + 1] - acc * float32(0.25)
