"""8 x 8 outputs a thread, brought to few machine instructions for each multiply-add."""

from course_lib.registry.exercise import Task, WrongIdea

GIVEN = '''\
from course_lib.intrinsics import unroll, unrolled


@cuda.jit
@unrolled
def eight_by_eight(A, B, C):
    """C = A.T @ B, where A is K x M. A block computes 128 x 128 outputs, 16 steps along
    k at a time."""
    sA = cuda.shared.array((16, 128), float32)
    sB = cuda.shared.array((16, 128), float32)
    sums = cuda.local.array((8, 8), float32)
    a = cuda.local.array(8, float32)
    b = cuda.local.array(8, float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    top, left = cuda.blockIdx.y * 128, cuda.blockIdx.x * 128
    for i in range(8):
        for j in range(8):
            sums[i, j] = 0
    for start in range(0, A.shape[0], 16):
        for s in range(8):
            sA[y, x + 16 * s] = A[start + y, top + x + 16 * s]
            sB[y, x + 16 * s] = B[start + y, left + x + 16 * s]
        cuda.syncthreads()
        ...
        cuda.syncthreads()
    for i in range(8):
        for j in range(8):
            C[top + 8 * y + i, left + 8 * x + j] = sums[i, j]
'''
LOOP = """\
        for k in unroll(16):
            for i in range(8):
                a[i] = sA[k, 8 * y + i]
                b[i] = sB[k, 8 * x + i]
            for i in range(8):
                for j in range(8):
                    sums[i, j] += a[i] * b[j]
"""


def _squares(rows, columns):
    """Each thread's square, of the columns of A and of B that it takes in all steps of k."""
    import numpy as np

    return np.einsum("kyxi,kyxj->yixj", rows, columns).reshape(128, 128)


def _taken(X, first):
    """Eight columns of X for each thread (y, x), from first(y, x) on."""
    import numpy as np

    y, x, i = np.ogrid[:16, :16, :8]
    return X[:, first(y, x) + i]


def _sides(A, B, rows=lambda y, x: 8 * y + 0 * x, columns=lambda y, x: 8 * x + 0 * y):
    return _squares(_taken(A, rows), _taken(B, columns))


def _apart(X, axis):
    """For each thread (y, x), eight columns of X that lie 16 apart, from its place on an axis."""
    import numpy as np

    first = np.indices((16, 16))[axis]
    return X[:, first[..., None] + 16 * np.arange(8)]


def _own_products(A, B):
    import numpy as np

    products = (A.T @ B).reshape(16, 8, 16, 8)
    return np.einsum("yixi->yxi", products).transpose(0, 2, 1).repeat(8, axis=2).reshape(128, 128)


UNSIGNED = "np.uint32(cuda.{0}Idx.x), np.uint32(cuda.{0}Idx.y)"
TASK = Task(
    id="eight_by_eight",
    title="64 sums, and hardly anything else",
    lesson="08",
    position=5,
    parameters=("A", "B", "C"),
    output="C",
    grid=(1, 1),
    block=(16, 16),
    shapes=("32,128", "32,128", "128,128"),
    other_sizes=({"32": 16},),
    reference=lambda A, B: A.T @ B,
    asks=("float32", "race-free", "shared-memory"),
    loads=(16 + 256) / 1024,
    wrong_ideas=(
        WrongIdea(
            lambda A, B: A[-1:].T @ B[-1:],
            "each step along k overwrites the sums, so only the products of the last step are left",
            "What should `sums[i, j]` still contain from the earlier steps along k?",
            place=("sum",),
        ),
        WrongIdea(
            lambda A, B: A[:8].T @ B[:8] + A[16:24].T @ B[16:24],
            "your loop leaves out half of the steps along k",
            "How many rows does a tile have, and how many of them does your loop visit?",
        ),
        WrongIdea(
            _own_products,
            "each thread multiplies `a[i]` only by `b[i]`, so all eight numbers in a row of its "
            "square are the same",
            "Which element of b does column j of a thread's square need?",
        ),
        WrongIdea(
            lambda A, B: (A.T @ B).reshape(16, 8, 16, 8).swapaxes(1, 3).reshape(128, 128),
            "each thread's square of 8 × 8 outputs is transposed",
            "Which of the arrays a and b belongs to the rows of a thread's square?",
        ),
        WrongIdea(
            lambda A, B: _sides(A, B, rows=lambda y, x: 8 * x + 0 * y),
            "x selects a thread's rows of C, but y should select them",
            "Which of x and y decides where a thread's rows begin?",
        ),
        WrongIdea(
            lambda A, B: _sides(A, B, lambda y, x: y + 0 * x, lambda y, x: x + 0 * y),
            "the rows and columns of neighbouring threads overlap",
            "Thread y = 0 has rows 0 to 7. At which row does thread y = 1 begin?",
        ),
        WrongIdea(
            lambda A, B: _squares(_apart(A, 0), _apart(B, 1)),
            "each thread loads rows and columns that are 16 apart, but it stores a square of "
            "neighbouring rows and columns",
            "Into which eight rows of C does thread y = 0 write its sums?",
        ),
        WrongIdea(
            lambda A, B: _sides(A, B, rows=lambda y, x: y + 0 * x),
            "the rows of neighbouring threads overlap",
            "Thread y = 0 has rows 0 to 7. At which row does thread y = 1 begin?",
        ),
        WrongIdea(
            lambda A, B: _sides(A, B, columns=lambda y, x: x + 0 * y),
            "the columns of neighbouring threads overlap",
            "Thread x = 0 has columns 0 to 7. At which column does thread x = 1 begin?",
        ),
    ),
    instructions=1.25,
    multiply_adds=1024,
    formula="C = A.T @ B",
    hints=(
        "In each step along k, fill a with eight numbers of sA and b with eight numbers of sB. "
        "Then multiply each number in a by each number in b.",
        "A thread's eight numbers begin at column 8 * y of sA and at column 8 * x of sB. In both "
        "tiles, k chooses the row.",
        "If the check counts too many instructions, look for a loop that is not unrolled and for "
        "an index that is signed.",
    ),
    given=GIVEN,
    answer=GIVEN.replace("        ...\n", LOOP),
    another="import numpy as np\n\n"
    + GIVEN.replace("        ...\n", LOOP)
    .replace("cuda.threadIdx.x, cuda.threadIdx.y", UNSIGNED.format("thread"))
    .replace("cuda.blockIdx.y * 128, cuda.blockIdx.x * 128", "128 * top, 128 * left")
    .replace("    top, left", f"    left, top = {UNSIGNED.format('block')}\n    top, left")
    .replace(
        "    for start in range(0, A.shape[0], 16):", "    start = 0\n    while start < A.shape[0]:"
    )
    .replace(
        "        cuda.syncthreads()\n    for",
        "        cuda.syncthreads()\n        start += 16\n    for",
    ),
    compared="This version has unsigned indices and a `while` loop. An unsigned index is never "
    "negative, so no instruction has to test whether it is.",
    par=7,
    meaning="In each step along k, a thread loads 16 numbers for 64 multiply-adds, and its 64 "
    "sums stay in registers. Every fast matmul has such a loop at its core.",
)
