# exercise: segmented_max
# marked: wrong; cause: The numbers are loaded with the index within the block, so every block works on the first segment; code: wrong-index; lines: [10]
from numba import cuda, float32


@cuda.jit
def segmented_max(x, y):
    two = cuda.shared.array((2, 64), float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    if i < x.shape[0]:
        two[0, t] = x[t]
    else:
        two[0, t] = float32(-3e38)
    cuda.syncthreads()
    src = 0
    step = 1
    while step < 64:
        if t >= step:
            two[1 - src, t] = max(two[src, t], two[src, t - step])
        else:
            two[1 - src, t] = two[src, t]
        cuda.syncthreads()
        src = 1 - src
        step = step * 2
    if i < x.shape[0]:
        y[i] = two[src, t]
