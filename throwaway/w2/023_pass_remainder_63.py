# exercise: pass_it_on
# marked: wrong; cause: the remainder is taken by 63, the last thread's number, instead of by 64, the number of threads; code: wrong-index; lines: [11]
from numba import cuda, float32


@cuda.jit
def pass_it_on(x, y):
    hand = cuda.shared.array(64, float32)
    seat = cuda.threadIdx.x
    me = cuda.blockIdx.x * 64 + seat
    hand[seat] = x[me]
    cuda.syncthreads()
    neighbour = (seat + 1) % 63
    y[me] = hand[neighbour]
