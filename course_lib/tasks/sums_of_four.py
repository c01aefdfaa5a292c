"""Two rounds of a scan in place: reads and writes of one round need a barrier between them."""

from course_lib.registry.exercise import Task, WrongIdea


def _sums_of_four(x):
    return sum(_moved(x, places) for places in range(4))


def _moved(x, places):
    """x, so many places further on."""
    import numpy as np

    return np.concatenate([np.zeros(places), x])[: len(x)]


def _pairs(x):
    return x + _moved(x, 1)


def _late(x):
    sums = _pairs(x) + _moved(_pairs(x), 1)
    sums[:2] = _pairs(x)[:2]
    return sums


TASK = Task(
    id="sums_of_four",
    title="Fix two rounds of a scan",
    lesson="07",
    position=7,
    parameters=("x", "y"),
    output="y",
    grid=(1,),
    block=(64,),
    shapes=("64", "64"),
    reference=_sums_of_four,
    asks=("shared-memory", "race-free"),
    formula="y[i] = x[i - 3] + x[i - 2] + x[i - 1] + x[i]",
    wrong_ideas=(
        WrongIdea(
            lambda x: _moved(x, 2) + _moved(x, 3),
            "the second round overwrites the sum of the first round instead of adding to it",
            "What does sums[t] hold after the first round, and what should the second round add "
            "to it?",
        ),
        WrongIdea(
            lambda x: _sums_of_four(x) + _moved(x, 2) + _moved(x, 3),
            "your kernel adds the sum of the second round twice",
            "What does sums[t] already hold when y is written?",
        ),
        WrongIdea(
            _pairs,
            "each element is a sum of two numbers, because the second round is missing",
            "Thread t already has a sum of two numbers. From which thread does it need another sum "
            "of two, to make a sum of four?",
        ),
        WrongIdea(
            _late,
            "the second round adds the sum one place to the left, so x[i - 1] is added twice",
            "After the first round, which two elements are in the sum one place to the left?",
        ),
    ),
    hints=(
        "`+=` reads a neighbour's sum and overwrites a sum that another neighbour reads.",
        "Read the neighbour's sum into a local variable, and write your own sum only after all "
        "threads have read.",
        "Threads that add nothing have to reach the barrier as well.",
    ),
    given='''\
@cuda.jit
def sums_of_four(x, y):
    """Each thread adds up its own number and the (at most three) numbers before it."""
    sums = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    sums[t] = x[t]
    cuda.syncthreads()
    if t >= 1:
        sums[t] += sums[t - 1]
    cuda.syncthreads()
    if t >= 2:
        sums[t] += sums[t - 2]
    y[t] = sums[t]
''',
    answer='''\
@cuda.jit
def sums_of_four(x, y):
    """Each thread adds up its own number and the (at most three) numbers before it."""
    sums = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    sums[t] = x[t]
    cuda.syncthreads()
    before = sums[t - 1] if t >= 1 else float32(0)
    cuda.syncthreads()
    sums[t] += before
    cuda.syncthreads()
    before = sums[t - 2] if t >= 2 else float32(0)
    cuda.syncthreads()
    sums[t] += before
    y[t] = sums[t]
''',
    another='''\
@cuda.jit
def sums_of_four(x, y):
    """Each thread adds up its own number and the (at most three) numbers before it."""
    sums, pairs = cuda.shared.array(64, float32), cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    sums[t] = x[t]
    cuda.syncthreads()
    pairs[t] = sums[t] + sums[t - 1] if t >= 1 else sums[t]
    cuda.syncthreads()
    y[t] = pairs[t] + pairs[t - 2] if t >= 2 else pairs[t]
''',
    compared="This version uses double buffering: writes go to a second array, so no thread "
    "overwrites a sum that another thread has yet to read.",
    par=6,
    meaning="Another way is **double buffering**: each round reads from one array and writes into "
    "a second one, which saves half the barriers.",
)
