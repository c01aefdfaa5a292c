# exercise: two_buffers
# marked: wrong; cause: the next tile is stored into the very buffer that other threads are still reading, since the side is never changed; code: race-write-after-read|wrong-index; lines: [25, 30, 31]
from numba import cuda, float32
from course_lib.intrinsics import load4, store4


@cuda.jit
def two_buffers(A, B, C):
    sA = cuda.shared.array(512, float32, alignment=16)
    sB = cuda.shared.array(512, float32, alignment=16)
    sums = cuda.local.array((4, 4), float32)
    t = cuda.threadIdx.x
    y, x = t // 8 * 4, t % 8 * 4
    for i in range(4):
        for j in range(4):
            sums[i, j] = 0
    store4(sA, 4 * t, load4(A, 4 * t))
    store4(sB, 4 * t, load4(B, 4 * t))
    cuda.syncthreads()
    side = 0
    start = 8
    while start <= A.shape[0]:
        more = start < A.shape[0]
        if more:
            a, b = load4(A, 32 * start + 4 * t), load4(B, 32 * start + 4 * t)
        for k in range(8):
            p, q = load4(sA, side + 32 * k + y), load4(sB, side + 32 * k + x)
            for i in range(4):
                for j in range(4):
                    sums[i, j] += p[i] * q[j]
        if more:
            store4(sA, side + 4 * t, a)
            store4(sB, side + 4 * t, b)
        cuda.syncthreads()
        start += 8
    for i in range(4):
        store4(C, 32 * (y + i) + x, (sums[i, 0], sums[i, 1], sums[i, 2], sums[i, 3]))
