"""The softmax of every row, a block a row: lanes side by side, and a tree in shared memory."""

from course_lib.registry.exercise import Task, WrongIdea
from course_lib.tasks import softmax_naive as before

THREADS = 128


_MAXIMUM = '''\
import math


@cuda.jit
def softmax_tree(X, Y):
    """Y = the softmax of each row of X, for any number of columns. A block of 128 threads computes
    row `cuda.blockIdx.y`."""
    parts = cuda.shared.array(128, float32)
    row, t, columns = cuda.blockIdx.y, cuda.threadIdx.x, X.shape[1]
    top = float32(-math.inf)
    for j in range(t, columns, 128):
        top = max(top, X[row, j])
    parts[t] = top
    half = 64
    while half > 0:
        cuda.syncthreads()
        if t < half:
            parts[t] = max(parts[t], parts[t + half])
        half //= 2
    cuda.syncthreads()
    top = parts[0]
'''

TASK = Task(
    id="softmax_tree",
    title="A softmax with one block per row",
    lesson="10c",
    position=2,
    parameters=("X", "Y"),
    output="Y",
    grid=(1, "M"),
    block=(THREADS, 1),
    shapes=("M,N", "M,N"),
    reference=before.softmax_of_rows,
    offsets=before.TASK.offsets,
    rises=before.TASK.rises,
    falls=before.TASK.falls,
    before=before.TASK.before,
    visits={"X": 3},
    asks=("bounds", "coalesced", "race-free", "conflict-free", "float32"),
    rung="block_a_row",
    ladder="row softmax",
    wrong_ideas=(
        *before.IDEAS_OF_ROWS,
        WrongIdea(
            lambda X: before.over_sums_of(X, THREADS, lambda sums: sums[:, :1]),
            "the sum contains only the terms of thread 0",
            "In which round of your tree is the sum of another thread added to element 0?",
            place=("sum",),
        ),
        WrongIdea(
            lambda X: before.over_sums_of(X, THREADS, lambda sums: sums.max(axis=1, keepdims=True)),
            "your kernel keeps the largest sum of any thread instead of adding up the sums",
            "The tree of the maximum keeps the larger of two numbers. What should the tree of the "
            "sum do with its two numbers?",
            place=("sum",),
            code="wrong-formula",
        ),
    ),
    formula=before.TASK.formula,
    hints=(
        "Your kernel can find the sum in the same way as the maximum: each thread adds up its own "
        "columns, and then a tree adds up the results of the threads.",
        "Every thread reads the maximum from `parts[0]`, and then thread 0 stores its sum there. "
        "Which threads have to wait for which?",
        "You need a barrier, a loop that adds up the terms of the thread's own columns, a tree "
        "that adds, another barrier, and a last loop that divides.",
    ),
    given=_MAXIMUM
    + """\
    ...
""",
    answer=_MAXIMUM
    + """\
    total = float32(0)
    for j in range(t, columns, 128):
        total += math.exp(X[row, j] - top)
    cuda.syncthreads()
    parts[t] = total
    half = 64
    while half > 0:
        cuda.syncthreads()
        if t < half:
            parts[t] += parts[t + half]
        half //= 2
    cuda.syncthreads()
    total = parts[0]
    for j in range(t, columns, 128):
        Y[row, j] = math.exp(X[row, j] - top) / total
""",
    another=_MAXIMUM
    + """\
    sums = cuda.shared.array(128, float32)
    sums[t] = float32(0)
    for j in range(t, columns, 128):
        sums[t] += math.exp(X[row, j] - top)
    for k in range(6, -1, -1):
        cuda.syncthreads()
        if t < 2**k:
            sums[t] += sums[t + 2**k]
    cuda.syncthreads()
    for j in range(t, columns, 128):
        Y[row, j] = math.exp(X[row, j] - top) / sums[0]
""",
    compared="In this version, the sums have an array of their own, so no thread has to wait "
    "before it stores its sum. This saves one barrier.",
    par=15,
    meaning="Now 128 threads share each row, and they load whole sectors. The price is eight "
    "barriers for each tree.",
)
