# exercise: repair_copy
# marked: wrong; cause: the flat number is split the wrong way round, so neighbouring lanes still walk down a column; code: uncoalesced-load|uncoalesced-store; lines: [7, 8]
from numba import cuda


@cuda.jit
def repair_copy(A, B):
    t = 16 * cuda.threadIdx.y + cuda.threadIdx.x
    row = 16 * cuda.blockIdx.y + t % 16
    column = 16 * cuda.blockIdx.x + t // 16
    if row >= A.shape[0] or column >= A.shape[1]:
        return
    B[row, column] = A[row, column]
