"""Add each number to its two neighbours, through shared memory: a stencil and its halo."""

from course_lib.registry.exercise import Task, WrongIdea


def sums(x, left=True, right=True, only_within=0):
    """Each element with some of its neighbours; past the ends there are zeros.

    With `only_within`, a neighbour that is left out is left out at the ends of so many elements
    alone.
    """
    import numpy as np  # the registry is read without it, too

    padded = np.pad(x, 1)
    before, after = padded[:-2].copy(), padded[2:].copy()
    stride = only_within or 1
    before[::stride] *= left
    after[stride - 1 :: stride] *= right
    return before + x + after


TASK = Task(
    id="sum_of_three",
    title="Add each number to its neighbours",
    lesson="05",
    position=3,
    parameters=("x", "y"),
    output="y",
    block=(128,),
    shapes=("N", "N"),
    reference=sums,
    asks=("shared-memory", "race-free", "reuse", "float32"),
    formula="y[i] = x[i - 1] + x[i] + x[i + 1], where numbers past the ends are 0",
    hints=(
        "128 sums need 130 numbers. If `x[i]` goes into `part[t + 1]`, which cells of `part` are "
        "still empty?",
        "Threads 0 and 127 each load one extra number. Which extra number does each of them load?",
        "A cell of `part` gets `float32(0)` if x has no number for it. All threads reach the "
        "barrier; only the load and the store are guarded.",
    ),
    given='''\
@cuda.jit
def sum_of_three(x, y):
    """y[i] = x[i - 1] + x[i] + x[i + 1], where numbers past the ends are 0. Each block has 128
    threads."""
    part = cuda.shared.array(130, float32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    ...
''',
    answer='''\
@cuda.jit
def sum_of_three(x, y):
    """y[i] = x[i - 1] + x[i] + x[i + 1], where numbers past the ends are 0. Each block has 128
    threads."""
    part = cuda.shared.array(130, float32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    part[t + 1] = x[i] if i < x.shape[0] else float32(0)
    if t == 0:
        part[0] = x[i - 1] if i > 0 else float32(0)
    if t == 127:
        part[129] = x[i + 1] if i + 1 < x.shape[0] else float32(0)
    cuda.syncthreads()
    if i < x.shape[0]:
        y[i] = part[t] + part[t + 1] + part[t + 2]
''',
    another='''\
@cuda.jit
def sum_of_three(x, y):
    """y[i] = x[i - 1] + x[i] + x[i + 1], where numbers past the ends are 0. Each block has 128
    threads."""
    part = cuda.shared.array(130, float32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    for n in range(t, 130, 128):
        k = i - t - 1 + n
        part[n] = x[k] if 0 <= k < x.shape[0] else float32(0)
    cuda.syncthreads()
    if i < x.shape[0]:
        y[i] = part[t] + part[t + 1] + part[t + 2]
''',
    compared="In this version, the threads loop over all 130 cells, so the halo is not a special "
    "case.",
    par=8,
    meaning="For its 128 sums, a block loads 130 numbers: its own 128, and a **halo** of one "
    "number on either side. Without shared memory, it would load 384.",
    wrong_ideas=(
        WrongIdea(
            lambda x: sums(x, left=False, only_within=128),
            "the first sum of each block lacks its left neighbour",
            "Which thread writes `part[0]`, and which number belongs there?",
        ),
        WrongIdea(
            lambda x: sums(x, right=False, only_within=128),
            "the last sum of each block lacks its right neighbour",
            "Which thread writes `part[129]`, and which number belongs there?",
        ),
        WrongIdea(
            lambda x: sums(x, left=False, right=False, only_within=128),
            "the first and the last sum of each block lack the neighbour in the next block",
            "Which numbers belong in `part[0]` and `part[129]` of a block in the middle?",
        ),
        WrongIdea(
            lambda x: sums(x, left=False),
            "the left neighbour is missing from each sum",
            "Which cell of `part` has the number before `x[i]`?",
        ),
        WrongIdea(
            lambda x: sums(x, right=False),
            "the right neighbour is missing from each sum",
            "Which cell of `part` has the number after `x[i]`?",
        ),
    ),
)
