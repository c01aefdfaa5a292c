# exercise: segmented_max
# marked: wrong; cause: After six steps the result lies in the buffer that was written last, but the one before it is stored; code: wrong-index|stale-shared-read|wrong-result|wrong-loop-bound; lines: [22]
from numba import cuda, float32


@cuda.jit
def segmented_max(x, y):
    ping = cuda.shared.array(64, float32)
    pong = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    ping[t] = x[i] if i < x.shape[0] else float32(-1e38)
    cuda.syncthreads()
    # two steps at a time: from ping to pong and back
    d = 1
    while d < 64:
        pong[t] = max(ping[t], ping[t - d]) if t >= d else ping[t]
        cuda.syncthreads()
        d *= 2
        ping[t] = max(pong[t], pong[t - d]) if t >= d else pong[t]
        cuda.syncthreads()
        d *= 2
    if i < y.shape[0]:
        y[i] = pong[t]
