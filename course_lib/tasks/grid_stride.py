"""More numbers than threads: each thread takes several."""

from course_lib.registry.exercise import Task, WrongIdea

TASK = Task(
    id="grid_stride",
    title="More numbers than threads",
    lesson="01",
    position=2,
    parameters=("x", "y"),
    output="y",
    grid=(2,),
    block=(4,),
    shapes=("N", "N"),
    reference=lambda x: 2 * x,
    asks=("bounds",),
    wrong_ideas=(
        WrongIdea(
            lambda x: x + 2,
            "your kernel adds 2 to each number instead of doubling it",
            "What should `y[i]` be if `x[i]` is 3?",
        ),
    ),
    formula="y[i] = 2 * x[i]",
    hints=(
        "With 64 threads, thread 0 takes numbers 0, 64, 128, …, and thread 1 takes numbers 1, 65, "
        "129, …",
        "In plain Python, `range(5, 20, 4)` gives 5, 9, 13, 17.",
        "The loop starts at the thread's own number and stops at the end of the array. The step of "
        "the loop is the number of threads in the grid.",
    ),
    given='''\
@cuda.jit
def grid_stride(x, y):
    """y[i] = 2 * x[i] for every i, although the grid has fewer threads than x has numbers."""
    i = cuda.grid(1)
    if i < x.shape[0]:
        y[i] = 2 * x[i]
''',
    answer='''\
@cuda.jit
def grid_stride(x, y):
    """y[i] = 2 * x[i] for every i, although the grid has fewer threads than x has numbers."""
    for i in range(cuda.grid(1), x.shape[0], cuda.gridsize(1)):
        y[i] = 2 * x[i]
''',
    another='''\
@cuda.jit
def grid_stride(x, y):
    """y[i] = 2 * x[i] for every i, although the grid has fewer threads than x has numbers."""
    i = cuda.grid(1)
    while i < x.shape[0]:
        y[i] = 2 * x[i]
        i += cuda.gridsize(1)
''',
    compared="The `while` loop of this version shows each step that the thread takes.",
    par=1,
    meaning="Your loop is a **grid-stride loop**. The same kernel works with any number of "
    "threads, so you can now choose how many threads to launch, and see the effect.",
)
