# exercise: mirror_rows
# marked: right
from numba import cuda


@cuda.jit(device=True)
def opposite(place, length):
    return length - (place + 1)


@cuda.jit
def mirror_rows(A, B):
    me = cuda.grid(2)
    if me[1] < B.shape[0]:
        if me[0] < B.shape[1]:
            B[me[1], opposite(me[0], B.shape[1])] = A[me[1], me[0]]
