"""Two barriers for a kernel that is complete but for them."""

from course_lib.registry.exercise import Task, WrongIdea

TASK = Task(
    id="place_the_barriers",
    title="Place the two barriers",
    lesson="05",
    position=4,
    parameters=("x", "y"),
    output="y",
    grid=(1,),
    block=(64,),
    shapes=("256", "64"),
    reference=lambda x: x.reshape(4, 64)[:, ::-1].sum(axis=0),
    asks=("race-free",),
    formula="y[i] = the sum of x[64 * t + 63 - i] over t",
    hints=(
        "Which line reads a number that another thread has written?",
        "The next iteration writes into `buffer` again. Is it certain that every thread has read "
        "its number by then?",
    ),
    given='''\
@cuda.jit
def place_the_barriers(x, y):
    """Each thread adds up four numbers that others have loaded."""
    buffer = cuda.shared.array(64, float32)
    i = cuda.threadIdx.x
    total = float32(0)
    for t in range(4):
        buffer[i] = x[64 * t + i]
        total += buffer[63 - i]
    y[i] = total
''',
    answer='''\
@cuda.jit
def place_the_barriers(x, y):
    """Each thread adds up four numbers that others have loaded."""
    buffer = cuda.shared.array(64, float32)
    i = cuda.threadIdx.x
    total = float32(0)
    for t in range(4):
        buffer[i] = x[64 * t + i]
        cuda.syncthreads()
        total += buffer[63 - i]
        cuda.syncthreads()
    y[i] = total
''',
    another='''\
@cuda.jit
def place_the_barriers(x, y):
    """Each thread adds up four numbers that others have loaded."""
    buffer = cuda.shared.array((2, 64), float32)
    i = cuda.threadIdx.x
    total = float32(0)
    for t in range(4):
        buffer[t % 2, i] = x[64 * t + i]
        cuda.syncthreads()
        total += buffer[t % 2, 63 - i]
    y[i] = total
''',
    compared="With two buffers, the kernel needs half the barriers but twice the memory.",
    par=2,
    meaning="The first barrier keeps a thread from reading a buffer that is not yet full. The "
    "second barrier keeps a thread from overwriting a buffer that other threads are "
    "still reading.",
    wrong_ideas=(
        WrongIdea(
            lambda x: 4 * x[:191:-1],
            "the last 64 numbers are added four times, and the other numbers are never added",
            "This line must run after the current 64 numbers have been stored in `buffer`, and "
            "before the next 64 are stored there.",
            place=("sum",),
        ),
    ),
)
