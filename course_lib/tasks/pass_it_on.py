"""Hand each number to the left within a block: shared memory and a barrier, unaided."""

from course_lib.registry.exercise import Task, WrongIdea

THREADS = 64


LEFT = [*range(1, THREADS), 0]  # whose number a thread gets


def _passed_on(x):
    return x.reshape(-1, THREADS)[:, LEFT].ravel()


TASK = Task(
    id="pass_it_on",
    title="Pass it on",
    lesson="06",
    position=1,
    parameters=("x", "y"),
    output="y",
    grid=(4,),
    block=(THREADS,),
    shapes=("256", "256"),
    reference=_passed_on,
    asks=("shared-memory", "race-free"),
    formula="y[i] = x[i + 1], and the last thread of a block gets the block's first number",
    hints=(
        "Let each thread store its number in shared memory, where the whole block can read it.",
        "Which number does thread t of a block take, and is it certain that this number has "
        "already been stored?",
        "`(t + 1) % 64` is 0 for the last thread.",
    ),
    given='''\
@cuda.jit
def pass_it_on(x, y):
    """y[i] = x[i + 1] within each block of 64 threads, and the last thread takes the block's first
    number. The numbers go through shared memory."""
    ...
''',
    answer='''\
@cuda.jit
def pass_it_on(x, y):
    """y[i] = x[i + 1] within each block of 64 threads, and the last thread takes the block's first
    number. The numbers go through shared memory."""
    numbers = cuda.shared.array(64, float32)
    i, t = cuda.grid(1), cuda.threadIdx.x
    numbers[t] = x[i]
    cuda.syncthreads()
    y[i] = numbers[(t + 1) % 64]
''',
    another='''\
@cuda.jit
def pass_it_on(x, y):
    """y[i] = x[i + 1] within each block of 64 threads, and the last thread takes the block's first
    number. The numbers go through shared memory."""
    numbers = cuda.shared.array(65, float32)
    i, t = cuda.grid(1), cuda.threadIdx.x
    numbers[t] = x[i]
    if t == 0:
        numbers[64] = x[i]
    cuda.syncthreads()
    y[i] = numbers[t + 1]
''',
    compared="Instead of a remainder, this version uses one extra element of shared memory, which "
    "holds the first number a second time.",
    par=5,
    meaning="Each block took 64 threads and 256 bytes of shared memory. How many threads may a "
    "block have, and how much shared memory?",
    wrong_ideas=(
        WrongIdea(
            lambda x: x.reshape(-1, THREADS)[:, [THREADS - 1, *range(THREADS - 1)]].ravel(),
            "the numbers move in the wrong direction",
            "From which thread should thread 0 get its number?",
        ),
        WrongIdea(
            lambda x: x.reshape(-1, THREADS)[[0] * 4][:, LEFT].ravel(),
            "every block passes on the numbers of block 0",
            "Which number of x belongs to thread 0 of block 1?",
            ("load", "x"),
        ),
        WrongIdea(
            lambda x: x,
            "every thread gets its own number back",
            "From which thread should thread 0 get its number?",
        ),
    ),
)
