"""A bias and a ReLU before the only store of a product: a fused epilogue."""

from course_lib.registry.exercise import Task, WrongIdea


def _relu(C):
    """What is negative becomes zero."""
    return C.clip(min=0)


GIVEN = '''\
@cuda.jit
def bias_and_relu(A, B, bias, C):
    """C = max(A @ B + bias, 0), where bias has one number for each column of C. A block of 32 × 2
    threads computes 8 rows and 32 columns of C."""
    column = cuda.grid(1)
    top = 8 * cuda.blockIdx.y + 4 * cuda.threadIdx.y
    if column >= C.shape[1]:
        return
    sums = cuda.local.array(4, float32)
    for i in range(4):
        sums[i] = 0
    for k in range(A.shape[1]):
        b = B[k, column]
        for i in range(4):
            sums[i] += A[min(top + i, A.shape[0] - 1), k] * b
    ...
'''
EPILOGUE = """\
    for i in range(4):
        if top + i < C.shape[0]:
            C[top + i, column] = max(sums[i] + bias[column], float32(0))
"""
FROM_THE_BIAS = """\
    for row in range(top, min(top + 4, C.shape[0])):
        if sums[row - top] > 0:
            C[row, column] = sums[row - top]
        else:
            C[row, column] = 0
"""

TASK = Task(
    id="bias_and_relu",
    title="Before you store",
    lesson="08",
    position=7,
    parameters=("A", "B", "bias", "C"),
    output="C",
    block=(32, 2),
    tile=(32, 8),
    shapes=("M,K", "K,N", "N", "M,N"),
    reference=lambda A, B, bias: _relu(A @ B + bias),
    asks=("bounds", "float32"),
    visits={"C": 0},
    wrong_ideas=(
        WrongIdea(
            lambda A, B, bias: _relu(A @ B) + bias,
            "the bias is added after ReLU, not before",
            "Which comes first in the formula, the bias or ReLU?",
        ),
        WrongIdea(
            lambda A, B, bias: _relu(A @ B + A.shape[1] * bias),
            "your kernel adds the bias in each step along k",
            "How many times does the formula add the bias to each element of C?",
        ),
        WrongIdea(
            lambda A, B, bias: _relu(A @ B - bias),
            "your kernel subtracts the bias",
            "Which sign does the bias have in the formula?",
        ),
        WrongIdea(
            lambda A, B, bias: A @ B + bias,
            "your kernel leaves negative numbers as they are",
            "What does max(…, 0) return for a negative number?",
        ),
        WrongIdea(
            lambda A, B, bias: _relu(A @ B),
            "the bias is missing from every element",
            "In the formula, what is added to the sum of products before max(…, 0)?",
        ),
        WrongIdea(
            lambda A, B, bias: -_relu(-(A @ B + bias)),
            "your kernel turns positive numbers into zero and keeps the negative ones",
            "What does ReLU return for 3, and what does it return for -3?",
        ),
        WrongIdea(
            lambda A, B, bias: _relu(A @ B + bias[0]),
            "your kernel adds the first element of bias to every column",
            "Which element of bias belongs to this thread's column?",
            place=("load", "bias"),
        ),
    ),
    formula="C = max(A @ B + bias, 0)",
    hints=(
        "A thread's four sums belong to rows `top` to `top + 3`. Which of these rows exist in C?",
        "All four sums of a thread belong to one column, so they all need the same element "
        "of bias.",
        "Write `max(…, float32(0))`: with a plain 0, the comparison would be done in float64.",
    ),
    given=GIVEN,
    answer=GIVEN.replace("    ...\n", EPILOGUE),
    another=GIVEN.replace("sums[i] = 0", "sums[i] = bias[column]").replace(
        "    ...\n", FROM_THE_BIAS
    ),
    compared="In this version, each sum starts from the bias instead of 0, and an `if` replaces "
    "`max`.",
    par=3,
    meaning="Your lines are a **fused epilogue**: it works on sums that are still in registers, "
    "so the kernel needs no extra loads or stores of C.",
)
