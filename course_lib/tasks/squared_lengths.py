"""Points of three numbers each: loads with a stride, to be mended by a detour."""

from course_lib.registry.exercise import Task, WrongIdea


def _in_planes(p):
    """The sums if thread t takes the numbers t, t + 128 and t + 256 of its block."""
    import numpy as np  # the registry is read without it, too

    block, t = np.divmod(np.arange(len(p)), 128)
    at = (384 * block + t)[:, None] + 128 * np.arange(3)
    numbers = np.append(p.ravel(), np.nan)  # nobody brings what is not there
    return (numbers[np.minimum(at, p.size)] ** 2).sum(axis=1)


TASK = Task(
    id="squared_lengths",
    title="Three numbers for each thread",
    lesson="08b",
    position=3,
    parameters=("p", "out"),
    output="out",
    block=(128,),
    shapes=("N,3", "N"),
    reference=lambda p: (p * p).sum(axis=1),
    asks=("bounds", "coalesced", "shared-memory", "race-free", "conflict-free", "float32"),
    formula="out[i] = x² + y² + z² of point i",
    hints=(
        "128 points are 384 consecutive numbers. Which of these numbers does each thread load?",
        "If you number all coordinates in order, number f is `p[f // 3, f % 3]`. Let neighbouring "
        "threads load neighbouring numbers.",
        "Load 384 numbers into a shared array in three rounds of 128, and then wait at a barrier. "
        "The three numbers of thread t begin at 3 * t.",
    ),
    wrong_ideas=(
        WrongIdea(
            lambda p: (p * p)[:, :2].sum(axis=1),
            "z² is missing from each sum",
            "How many numbers does a point have?",
        ),
        WrongIdea(
            _in_planes,
            "thread t takes the numbers t, t + 128 and t + 256 of its block, but these belong to "
            "three different points",
            "At which of the 384 numbers does the thread's own point begin?",
        ),
        WrongIdea(
            lambda p: 3 * p[:, 0] ** 2,
            "each sum contains x² three times and neither y² nor z²",
            "Which three of the 384 numbers belong to the point of thread t?",
        ),
        WrongIdea(
            lambda p: p.sum(axis=1),
            "your kernel adds the numbers without squaring them first",
            "What should happen to each number before it is added?",
        ),
    ),
    given='''\
@cuda.jit
def squared_lengths(p, out):
    """out[i] = x * x + y * y + z * z for point i, in blocks of 128 threads."""
    i = cuda.grid(1)
    if i < out.shape[0]:
        x, y, z = p[i, 0], p[i, 1], p[i, 2]
        out[i] = x * x + y * y + z * z
''',
    answer='''\
@cuda.jit
def squared_lengths(p, out):
    """out[i] = x * x + y * y + z * z for point i, in blocks of 128 threads."""
    numbers = cuda.shared.array(384, float32)
    t = cuda.threadIdx.x
    for at in range(t, 384, 128):
        f = 384 * cuda.blockIdx.x + at
        if f < 3 * out.shape[0]:
            numbers[at] = p[f // 3, f % 3]
    cuda.syncthreads()
    i = cuda.grid(1)
    if i < out.shape[0]:
        x, y, z = numbers[3 * t], numbers[3 * t + 1], numbers[3 * t + 2]
        out[i] = x * x + y * y + z * z
''',
    another='''\
@cuda.jit
def squared_lengths(p, out):
    """out[i] = x * x + y * y + z * z for point i, in blocks of 128 threads."""
    squares = cuda.shared.array(384, float32)
    t, n = cuda.threadIdx.x, out.shape[0]
    first = 384 * cuda.blockIdx.x
    for round in range(3):
        f = first + 128 * round + t
        number = p[f // 3, f % 3] if f < 3 * n else float32(0)
        squares[128 * round + t] = number * number
    cuda.syncthreads()
    i = cuda.grid(1)
    if i < n:
        out[i] = squares[3 * t] + squares[3 * t + 1] + squares[3 * t + 2]
''',
    compared="This version squares the numbers before it stores them in shared memory, and it "
    "fills the elements past the end with zeros.",
    par=8,
    meaning="Your kernel needs only a third as many sectors as the one that you were given. And "
    "since the stride of 3 is odd, its loads from shared memory have no bank conflicts.",
)
