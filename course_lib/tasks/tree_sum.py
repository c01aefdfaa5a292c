"""A sum by a tree: in every round half as many threads add, and no bank is asked twice."""

from course_lib.registry.exercise import Task, WrongIdea

TASK = Task(
    id="tree_sum",
    title="One sum, by a tree",
    lesson="07",
    position=6,
    parameters=("x", "y"),
    output="y",
    grid=(1,),
    block=(1024,),
    shapes=("1024", "1"),
    reference=lambda x: x.sum(keepdims=True),
    asks=("shared-memory", "race-free", "parallel", "conflict-free", "float32"),
    formula="y[0] = x[0] + x[1] + … + x[1023]",
    wrong_ideas=(
        WrongIdea(
            lambda x: x[:1],
            "the sums of the other threads never reach element 0 of the shared array",
            "In the last round, which other sum should be added to the sum in element 0?",
        ),
        WrongIdea(
            lambda x: x[:1024:2].sum(keepdims=True),
            "the sum includes only every second number, because the last round is missing",
            "How many sums are left when your loop ends?",
        ),
        WrongIdea(
            lambda x: x[1:].sum(keepdims=True),
            "x[0] is missing from the sum",
            "Which number of x should thread 0 store in element 0 before the first round?",
        ),
        WrongIdea(
            lambda x: x[:512].sum(keepdims=True),
            "the upper half of x is missing, because your loop skips the first round",
            "How many threads have to add in the first round?",
        ),
        WrongIdea(
            lambda x: x[-1:],
            "only x[1023] is left, because your kernel overwrites a sum instead of adding to it",
            "`=` replaces the number that was there before. Which operator adds to the old number?",
        ),
    ),
    hints=(
        "In the first round, 512 threads turn 1024 numbers into 512 sums. Which two numbers should "
        "each thread add?",
        "Each thread below `half` adds the number `half` places further on. After each round, "
        "`half` is halved.",
        "All threads must reach the barrier, so it belongs in the loop, but not in the `if`.",
    ),
    given='''\
@cuda.jit
def tree_sum(x, y):
    """y[0] = the sum of the 1024 numbers of x, computed by one block of 1024 threads."""
    ...
''',
    answer='''\
@cuda.jit
def tree_sum(x, y):
    """y[0] = the sum of the 1024 numbers of x, computed by one block of 1024 threads."""
    sums = cuda.shared.array(1024, float32)
    t = cuda.threadIdx.x
    sums[t] = x[t]
    half = 512
    while half > 0:
        cuda.syncthreads()
        if t < half:
            sums[t] += sums[t + half]
        half //= 2
    if t == 0:
        y[0] = sums[0]
''',
    another='''\
@cuda.jit
def tree_sum(x, y):
    """y[0] = the sum of the 1024 numbers of x, computed by one block of 1024 threads."""
    sums = cuda.shared.array(1024, float32)
    t = cuda.threadIdx.x
    sums[t] = x[t]
    cuda.syncthreads()
    for k in range(9, -1, -1):
        if t < 2**k:
            sums[t] += sums[t + 2**k]
        cuda.syncthreads()
    if t == 0:
        y[0] = sums[0]
''',
    compared="This version has the same ten rounds in a `for` loop, with the barrier after each "
    "round instead of before it.",
    par=11,
    meaning="Your kernel is a **reduction**. It takes ten rounds instead of 1023 additions one "
    "after another.",
)
