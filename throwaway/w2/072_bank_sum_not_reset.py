# exercise: filter_bank
# marked: wrong; cause: the sum is set to zero once per filter, so the thread's second output starts from its first; code: accumulator-error; lines: [8]
from numba import cuda, float32


@cuda.jit
def filter_bank(x, w, y):
    t = cuda.threadIdx.x
    for f in range(w.shape[0]):
        acc = float32(0)
        for i in range(t, y.shape[1], 64):
            for j in range(w.shape[1]):
                acc += w[f, j] * x[i + 8 * j]
            y[f, i] = acc
