# exercise: segmented_max
# marked: wrong; cause: The running maximum starts at 0, so the largest of negative numbers comes out as 0; code: accumulator-error|wrong-result|wrong-formula; lines: [13]
from numba import cuda, float32


@cuda.jit
def segmented_max(x, y):
    seg = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    i = cuda.blockIdx.x * 64 + t
    if i < x.shape[0]:
        seg[t] = x[i]
    cuda.syncthreads()
    if i < x.shape[0]:
        largest = float32(0)
        for k in range(t + 1):
            if seg[k] > largest:
                largest = seg[k]
        y[i] = largest
