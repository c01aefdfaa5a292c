# exercise: one_mma
# marked: wrong; cause: the second and third word of A's fragment are exchanged: right comes before below; code: wrong-index; lines: [27, 28]
import numpy as np
from numba import cuda, float32
from course_lib.intrinsics import mma_m16n8k16_bf16


@cuda.jit(device=True)
def pair(low, high):
    return np.uint32(low | high << 16)


@cuda.jit(device=True)
def along(M, r, c):
    return pair(M[r, c], M[r, c + 1])


@cuda.jit(device=True)
def down(M, r, c):
    return pair(M[r, c], M[r + 1, c])


@cuda.jit
def one_mma(A, B, C):
    lane = np.uint32(cuda.threadIdx.x)
    g, t = lane // 4, lane % 4
    sums = float32(0), float32(0), float32(0), float32(0)
    a0 = along(A, g, 2 * t)
    a1 = along(A, g, 2 * t + 8)
    a2 = along(A, g + 8, 2 * t)
    a3 = along(A, g + 8, 2 * t + 8)
    b = down(B, 2 * t, g), down(B, 2 * t + 8, g)
    sums = mma_m16n8k16_bf16(sums, (a0, a1, a2, a3), b)
    C[g, 2 * t], C[g, 2 * t + 1] = sums[0], sums[1]
    C[g + 8, 2 * t], C[g + 8, 2 * t + 1] = sums[2], sums[3]
