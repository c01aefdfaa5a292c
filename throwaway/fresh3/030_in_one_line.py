# exercise: block_scan
# marked: wrong; cause: a thread reads its neighbour's sum and overwrites its own in one line, with no barrier between the reads and the writes of a round; code: race-write-after-read|race-read-after-write; lines: [16]
from numba import cuda, float32

RUN = 64


@cuda.jit
def block_scan(x, y):
    run = cuda.shared.array(RUN, float32)
    me = cuda.threadIdx.x
    i = cuda.blockIdx.x * RUN + me
    run[me] = x[i] if i < x.shape[0] else float32(0)
    cuda.syncthreads()
    for p in range(6):
        back = 1 << p
        if me >= back:
            run[me] += run[me - back]
        cuda.syncthreads()
    if i < y.shape[0]:
        y[i] = run[me]
