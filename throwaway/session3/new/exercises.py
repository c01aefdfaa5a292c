"""Three exercises that the course does not have, with one right answer each.

RIGHT = {id: text of the right answer}; EXERCISES = {id: Exercise or Task}.
"""

from course_lib.exercise import Exercise, Task

BINS = 16
SEGMENT = 64


def _histogram(x):
    import numpy as np

    bins = np.clip(np.floor(8 * x) + 8, 0, BINS - 1).astype(int)
    return np.bincount(bins, minlength=BINS).astype(float)


def _stencil5(A):
    import numpy as np

    padded = np.pad(A, 1)
    around = padded[:-2, 1:-1] + padded[2:, 1:-1] + padded[1:-1, :-2] + padded[1:-1, 2:]
    return A - around / 4


def _segmented_max(x):
    import numpy as np

    pieces = [
        np.maximum.accumulate(x[start : start + SEGMENT]) for start in range(0, len(x), SEGMENT)
    ]
    return np.concatenate(pieces)


HISTOGRAM_RIGHT = '''\
import math

from numba import cuda, float32


@cuda.jit
def histogram(x, out):
    """out[b] += how many numbers of x fall into bin b; by 4 blocks of 64 threads."""
    counts = cuda.shared.array(16, float32)
    t = cuda.threadIdx.x
    if t < 16:
        counts[t] = float32(0)
    cuda.syncthreads()
    for i in range(cuda.grid(1), x.shape[0], cuda.gridsize(1)):
        b = int(math.floor(x[i] * float32(8))) + 8
        b = min(max(b, 0), 15)
        cuda.atomic.add(counts, b, float32(1))
    cuda.syncthreads()
    if t < 16:
        cuda.atomic.add(out, t, counts[t])
'''

STENCIL5_RIGHT = '''\
from numba import cuda, float32


@cuda.jit
def stencil5(A, B):
    """B = A minus the mean of the four neighbours, 0 outside of A; x is the column."""
    tile = cuda.shared.array((18, 18), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    column, row = cuda.grid(2)
    for n in range(16 * ty + tx, 324, 256):
        r, c = row - ty + n // 18 - 1, column - tx + n % 18 - 1
        inside = 0 <= r < A.shape[0] and 0 <= c < A.shape[1]
        tile[n // 18, n % 18] = A[r, c] if inside else float32(0)
    cuda.syncthreads()
    if row < B.shape[0] and column < B.shape[1]:
        around = tile[ty, tx + 1] + tile[ty + 2, tx + 1] + tile[ty + 1, tx] + tile[ty + 1, tx + 2]
        B[row, column] = tile[ty + 1, tx + 1] - around * float32(0.25)
'''

SEGMENTED_MAX_RIGHT = '''\
import math

from numba import cuda, float32


@cuda.jit
def segmented_max(x, y):
    """y[i] = the largest of x up to and including i, within i's segment of 64."""
    best = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    best[t] = x[i] if i < x.shape[0] else float32(-math.inf)
    cuda.syncthreads()
    step = 1
    while step < 64:
        other = best[t]
        if t >= step:
            other = max(other, best[t - step])
        cuda.syncthreads()
        best[t] = other
        cuda.syncthreads()
        step *= 2
    if i < y.shape[0]:
        y[i] = best[t]
'''

RIGHT = {
    "histogram": HISTOGRAM_RIGHT,
    "stencil5": STENCIL5_RIGHT,
    "segmented_max": SEGMENTED_MAX_RIGHT,
}

EXERCISES = {
    # A Task, for only a Task says what its output holds before the launch (`before`, here zeros).
    # The grid cannot depend on the length of x (only on axes of the output), so it is 4 blocks of
    # 64 threads, whatever N is: an answer needs a grid-stride loop.
    "histogram": Task(
        id="histogram",
        title="Counts in 16 bins",
        lesson="07",
        parameters=("x", "out"),
        output="out",
        grid=(4,),
        block=(64,),
        shapes=("N", "16"),
        reference=_histogram,
        before=0.0,
        asks=("bounds", "shared-memory", "race-free", "float32"),
        formula="out[b] = how many i have min(max(floor(8 * x[i]) + 8, 0), 15) = b",
        hints=("Each block has 16 counts of its own, and adds them to `out` when it is done.",),
        given='''\
@cuda.jit
def histogram(x, out):
    """out[b] += how many numbers of x fall into bin b = floor(8 * x) + 8, where what lies below
    bin 0 counts as 0 and what lies above bin 15 as 15. `out` holds zeros; there are 4 blocks of 64
    threads for x of any length. Each block counts in shared memory with cuda.atomic.add, and then
    adds its 16 counts to `out` with cuda.atomic.add."""
    ...
''',
        answer=HISTOGRAM_RIGHT,
        par=11,
    ),
    # B[i, j] = A[i, j] - (A[i-1, j] + A[i+1, j] + A[i, j-1] + A[i, j+1]) / 4, with 0 outside of A;
    # blocks of 16 x 16 threads, each of which stages its tile and the halo in shared memory.
    "stencil5": Exercise(
        id="stencil5",
        title="Each element minus the mean of its four neighbours",
        lesson="07",
        parameters=("A", "B"),
        output="B",
        block=(16, 16),
        shapes=("M,N", "M,N"),
        reference=_stencil5,
        points={"right": 4, "bounds": 1, "shared-memory": 2, "race-free": 2, "float32": 1},
        formula="B[i, j] = A[i, j] - (A[i-1, j] + A[i+1, j] + A[i, j-1] + A[i, j+1]) / 4",
    ),
    # y[i] = the largest element of i's segment of 64 up to and including i; a block of 64 threads
    # has one segment, and works in steps with shared memory and barriers. N is any number.
    "segmented_max": Exercise(
        id="segmented_max",
        title="Running maxima within segments of 64",
        lesson="07",
        parameters=("x", "y"),
        output="y",
        block=(64,),
        shapes=("N", "N"),
        reference=_segmented_max,
        points={"right": 4, "bounds": 1, "shared-memory": 2, "race-free": 2, "float32": 1},
        formula="y[i] = the largest of x[i // 64 * 64], …, x[i]",
    ),
}
