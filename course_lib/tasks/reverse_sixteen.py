"""Reverse 16 numbers through shared memory: the first barrier."""

from course_lib.registry.exercise import Task, WrongIdea

TASK = Task(
    id="reverse_sixteen",
    title="Reverse 16 numbers through shared memory",
    lesson="05",
    position=2,
    parameters=("x", "y"),
    output="y",
    grid=(1,),
    block=(16,),
    shapes=("16", "16"),
    reference=lambda x: x[::-1],
    asks=("shared-memory", "race-free"),
    formula="y[i] = x[15 - i]",
    hints=(
        "Thread i writes `x[i]` into `buffer[i]`, and then reads what another thread has written.",
        "Which thread's number does thread 0 read, and has that thread written it yet?",
        "`cuda.syncthreads()` belongs between the write and the read.",
    ),
    given='''\
@cuda.jit
def reverse_sixteen(x, y):
    """y holds the numbers of x in reverse order. They go through shared memory."""
    buffer = cuda.shared.array(16, float32)
    i = cuda.threadIdx.x
    ...
''',
    answer='''\
@cuda.jit
def reverse_sixteen(x, y):
    """y holds the numbers of x in reverse order. They go through shared memory."""
    buffer = cuda.shared.array(16, float32)
    i = cuda.threadIdx.x
    buffer[i] = x[i]
    cuda.syncthreads()
    y[i] = buffer[15 - i]
''',
    another='''\
@cuda.jit
def reverse_sixteen(x, y):
    """y holds the numbers of x in reverse order. They go through shared memory."""
    buffer = cuda.shared.array(16, float32)
    i = cuda.threadIdx.x
    buffer[15 - i] = x[i]
    cuda.syncthreads()
    y[i] = buffer[i]
''',
    compared="This version reverses the numbers as it writes them to shared memory. The barrier is "
    "still needed.",
    par=3,
    meaning="Each thread used a number that another thread had loaded. That is the whole idea of "
    "tiling, and the barrier is its price.",
    wrong_ideas=(
        WrongIdea(
            lambda x: x[[0, *range(15, 0, -1)]],
            "each thread reads the element of `buffer` after the one that it should read",
            "The indices of `buffer` end at 15. Which element of `buffer` does thread 0 read?",
        ),
    ),
)
