# exercise: two_buffers
# marked: wrong; cause: B's numbers are always read from the first buffer, also when the second one holds the current tile; code: stale-shared-read|wrong-index|race-write-after-read; lines: [28]
from numba import cuda, float32

from course_lib.intrinsics import load4, store4


@cuda.jit
def two_buffers(A, B, C):
    ba = cuda.shared.array(512, float32, alignment=16)
    bb = cuda.shared.array(512, float32, alignment=16)
    acc = cuda.local.array((4, 4), float32)
    t = cuda.threadIdx.x
    r, c = t // 8 * 4, t % 8 * 4
    for i in range(4):
        for j in range(4):
            acc[i, j] = 0
    tiles = A.shape[0] // 8
    next_a, next_b = load4(A, 4 * t), load4(B, 4 * t)
    for n in range(tiles):
        base = 256 * (n % 2)
        store4(ba, base + 4 * t, next_a)
        store4(bb, base + 4 * t, next_b)
        cuda.syncthreads()
        if n + 1 < tiles:
            next_a = load4(A, 256 * (n + 1) + 4 * t)
            next_b = load4(B, 256 * (n + 1) + 4 * t)
        for k in range(8):
            u = load4(ba, base + 32 * k + r)
            v = load4(bb, 32 * k + c)
            for i in range(4):
                for j in range(4):
                    acc[i, j] += u[i] * v[j]
    for i in range(4):
        store4(C, 32 * (r + i) + c, (acc[i, 0], acc[i, 1], acc[i, 2], acc[i, 3]))
