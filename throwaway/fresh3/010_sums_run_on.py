# exercise: filter_bank
# marked: wrong; cause: the two sums are set to zero before the loop over the filters, so each filter goes on with the sums of those before; code: accumulator-error; lines: [12, 13]
from numba import cuda, float32


@cuda.jit
def filter_bank(x, w, y):
    t = cuda.threadIdx.x
    here = cuda.local.array(5, float32)
    there = cuda.local.array(5, float32)
    for j in range(5):
        here[j] = x[t + 8 * j]
        there[j] = x[t + 8 * (j + 8)]
    one = float32(0)
    two = float32(0)
    for f in range(w.shape[0]):
        for j in range(5):
            c = w[f, j]
            one += c * here[j]
            two += c * there[j]
        y[f, t] = one
        y[f, t + 64] = two
