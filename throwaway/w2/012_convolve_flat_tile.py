# exercise: convolve
# marked: right
from numba import cuda, float32

R = 2
EDGE = 16 + 2 * R


@cuda.jit
def convolve(image, weights, result):
    tile = cuda.shared.array(EDGE * EDGE, float32)
    n = cuda.threadIdx.y * cuda.blockDim.x + cuda.threadIdx.x
    top = cuda.blockIdx.y * cuda.blockDim.y - R
    left = cuda.blockIdx.x * cuda.blockDim.x - R
    while n < EDGE * EDGE:
        r, c = top + n // EDGE, left + n % EDGE
        value = float32(0)
        if not (r < 0 or c < 0 or r > image.shape[0] - 1 or c > image.shape[1] - 1):
            value = image[r, c]
        tile[n] = value
        n += cuda.blockDim.x * cuda.blockDim.y
    cuda.syncthreads()
    r, c = top + R + cuda.threadIdx.y, left + R + cuda.threadIdx.x
    if r >= result.shape[0]:
        return
    if c >= result.shape[1]:
        return
    total = float32(0)
    for j in range(-R, R + 1):
        corner = (cuda.threadIdx.y + R) * EDGE + cuda.threadIdx.x + R + j
        for i in range(-R, R + 1):
            total += weights[i + R, j + R] * tile[corner + i * EDGE]
    result[r, c] = total
