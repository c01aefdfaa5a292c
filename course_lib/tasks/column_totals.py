"""Column sums that are added to whatever the output holds before the launch."""

from course_lib.registry.exercise import Task, WrongIdea

BEFORE = 3.0

TASK = Task(
    id="column_totals",
    title="Bug 4: the sum of each column",
    lesson="05c",
    position=4,
    parameters=("A", "y"),
    output="y",
    block=(64,),
    shapes=("M,N", "N"),
    reference=lambda A: A.sum(axis=0),
    asks=("bounds",),
    before=BEFORE,
    formula="y[j] = the sum of column j of A, whatever y held before",
    wrong_ideas=(
        WrongIdea(
            lambda A: A.sum(axis=0) + BEFORE,
            "your kernel adds each sum to what y held before the launch",
            "What does y[j] hold when your kernel adds the first number to it?",
            place=("store",),
        ),
    ),
    hints=(
        "Launch the kernel twice on the same arrays. What does `y` contain when the second launch "
        "begins?",
        "Keep the sum in a local variable, which belongs to one thread alone. What should this "
        "variable contain before the loop?",
    ),
    given='''\
@cuda.jit
def column_totals(A, y):
    """y[j] = the sum of column j of A. Each thread adds up one column, and a block has 64
    threads."""
    j = cuda.grid(1)
    if j < A.shape[1]:
        for k in range(A.shape[0]):
            y[j] += A[k, j]
''',
    answer='''\
@cuda.jit
def column_totals(A, y):
    """y[j] = the sum of column j of A. Each thread adds up one column, and a block has 64
    threads."""
    j = cuda.grid(1)
    if j < A.shape[1]:
        total = float32(0)
        for k in range(A.shape[0]):
            total += A[k, j]
        y[j] = total
''',
    another='''\
@cuda.jit
def column_totals(A, y):
    """y[j] = the sum of column j of A. Each thread adds up one column, and a block has 64
    threads."""
    j = cuda.grid(1)
    if j < A.shape[1]:
        y[j] = float32(0)
        for k in range(A.shape[0]):
            y[j] += A[k, j]
''',
    compared="This version is right as well, but each of its iterations loads `y[j]` from global "
    "memory and stores it again.",
    par=3,
    meaning="`cuda.device_array` reserves memory but does not clear it. The memory often contains "
    "zeros, until one day it contains what another kernel has left there.",
)
