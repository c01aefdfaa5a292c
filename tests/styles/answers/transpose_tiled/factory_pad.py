# EXERCISE transpose_tiled
from numba import cuda, float32


def make(edge, pitch):
    @cuda.jit
    def transpose(A, B):
        tile = cuda.shared.array((edge, pitch), float32)
        tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
        left, top = edge * cuda.blockIdx.x, edge * cuda.blockIdx.y
        if top + ty < A.shape[0] and left + tx < A.shape[1]:
            tile[ty, tx] = A[top + ty, left + tx]
        cuda.syncthreads()
        if left + ty < A.shape[1] and top + tx < A.shape[0]:
            B[left + ty, top + tx] = tile[tx, ty]

    return transpose


transpose_tiled = make(32, 35)
