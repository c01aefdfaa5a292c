"""Four filters over one signal, from an empty cell: a convolution whose tile is in registers."""

from course_lib.registry.exercise import Task, WrongIdea


def _filtered(x, w, taps=5):
    return [[row @ x[i : i + 8 * taps : 8] for i in range(128)] for row in w]


def _replaced_far(x, w):
    import numpy as np

    right = np.array(_filtered(x, w))
    right[:, 64:] = w[:, 4:] * x[96:160]
    return right


TASK = Task(
    id="filter_bank",
    title="Four filters, two places",
    lesson="08",
    position=8,
    parameters=("x", "w", "y"),
    output="y",
    grid=(1,),
    block=(64,),
    shapes=("160", "4,5", "4,128"),
    reference=_filtered,
    asks=("bounds", "coalesced", "float32"),
    loads=(4 + 2) / (4 * 2),
    wrong_ideas=(
        WrongIdea(
            lambda x, w: _filtered(x, w[:, ::-1]),
            "your kernel takes the taps in reverse order, but w[f, 0] belongs to x[i] and w[f, 4] "
            "belongs to x[i + 32]",
            "By which tap should x[i + 8 * j] be multiplied?",
            ("load", "w"),
        ),
        WrongIdea(
            lambda x, w: [[row @ x[i : i + 5] for i in range(128)] for row in w],
            "your kernel applies the taps to neighbouring numbers of x, but these numbers should "
            "be eight apart",
            "Tap 0 is multiplied by x[i]. Which number of x is multiplied by tap 1?",
            ("load", "x"),
        ),
        WrongIdea(
            lambda x, w: _filtered(x[:152], w[:, :4], taps=4),
            "your kernel uses only four of the five taps",
            "How many columns does w have?",
        ),
        WrongIdea(
            lambda x, w: [[row[4] * x[i + 32] for i in range(128)] for row in w],
            "each tap overwrites the sum, so only the product of the last tap is left",
            "What should a sum still contain from the earlier taps?",
            place=("sum",),
        ),
        WrongIdea(
            _replaced_far,
            "in the second half of y, each tap overwrites the sum, so only the product of the "
            "last tap is left",
            "What should `sums[f, 1]` still contain from the earlier taps?",
        ),
        WrongIdea(
            lambda x, w: [2 * list(row[:64]) for row in _filtered(x, w)],
            "the second half of y repeats the first half",
            "According to the formula, which five numbers of x does y[f, i + 64] need?",
        ),
    ),
    formula="y[f, i] = w[f, 0] * x[i] + w[f, 1] * x[i + 8] + … + w[f, 4] * x[i + 32]",
    hints=(
        "Compare this kernel with a matrix product. Which loop corresponds to the loop over k, and "
        "what corresponds to the rows and to the columns of C?",
        "For each tap j, load four elements of w and two numbers of x, and multiply each element "
        "of w by each of the two numbers.",
        "Keep eight sums in a local array, and put a loop over the taps around everything else.",
    ),
    given='''\
@cuda.jit
def filter_bank(x, w, y):
    """y[f, i] = w[f, 0] * x[i] + w[f, 1] * x[i + 8] + … + w[f, 4] * x[i + 32]."""
    ...
''',
    answer='''\
@cuda.jit
def filter_bank(x, w, y):
    """y[f, i] = w[f, 0] * x[i] + w[f, 1] * x[i + 8] + … + w[f, 4] * x[i + 32]."""
    i = cuda.threadIdx.x
    sums = cuda.local.array((4, 2), float32)
    for f in range(4):
        sums[f, 0] = sums[f, 1] = 0
    for j in range(5):
        near, far = x[i + 8 * j], x[i + 64 + 8 * j]
        for f in range(4):
            tap = w[f, j]
            sums[f, 0] += tap * near
            sums[f, 1] += tap * far
    for f in range(4):
        y[f, i] = sums[f, 0]
        y[f, i + 64] = sums[f, 1]
''',
    another='''\
@cuda.jit
def filter_bank(x, w, y):
    """y[f, i] = w[f, 0] * x[i] + w[f, 1] * x[i + 8] + … + w[f, 4] * x[i + 32]."""
    i = cuda.threadIdx.x
    near, far = cuda.local.array(5, float32), cuda.local.array(5, float32)
    for j in range(5):
        near[j], far[j] = x[i + 8 * j], x[i + 64 + 8 * j]
    for f in range(4):
        left = right = float32(0)
        for j in range(5):
            tap = w[f, j]
            left += tap * near[j]
            right += tap * far[j]
        y[f, i], y[f, i + 64] = left, right
''',
    compared="This version swaps the two loops. It keeps ten numbers of x and two sums at a time, "
    "which takes the same number of loads and two more registers.",
    par=13,
    meaning="This kernel is not a matrix product, but a rectangle of sums saves loads here, too. "
    "Its rows are the filters, its columns are the places in x, and the loop over the taps "
    "replaces the loop over k.",
)
