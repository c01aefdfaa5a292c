"""Sums by a grid-stride loop, from an empty cell: what lesson 01 taught, unaided."""

from course_lib.registry.exercise import Task

THREADS = 64


TASK = Task(
    id="strided_sums",
    title="64 threads, 200 numbers",
    lesson="03",
    parameters=("x", "y"),
    output="y",
    grid=(2,),
    block=(32,),
    shapes=("200", "64"),
    reference=lambda x: [x[i::THREADS].sum() for i in range(THREADS)],
    asks=("bounds", "coalesced", "float32"),
    formula="y[i] = x[i] + x[i + 64] + x[i + 128] + …",
    hints=(
        "What is a thread's number among all 64 threads, and which numbers of x should this thread "
        "add up?",
        "`cuda.grid(1)` returns the number of the thread, and `cuda.gridsize(1)` returns how many "
        "threads there are.",
        "You need a sum that starts at `float32(0)`, a grid-stride loop, and one store after the "
        "loop.",
    ),
    given='''\
@cuda.jit
def strided_sums(x, y):
    """y[i] = x[i] + x[i + 64] + x[i + 128] + …, for the 200 numbers of x."""
    ...
''',
    answer='''\
@cuda.jit
def strided_sums(x, y):
    """y[i] = x[i] + x[i + 64] + x[i + 128] + …, for the 200 numbers of x."""
    i = cuda.grid(1)
    total = float32(0)
    for k in range(i, x.shape[0], cuda.gridsize(1)):
        total += x[k]
    y[i] = total
''',
    another='''\
@cuda.jit
def strided_sums(x, y):
    """y[i] = x[i] + x[i + 64] + x[i + 128] + …, for the 200 numbers of x."""
    total = float32(0)
    k = cuda.grid(1)
    while k < x.shape[0]:
        total += x[k]
        k += 64
    y[cuda.grid(1)] = total
''',
    compared="A step of 64 is right only for this launch, but `gridsize` is right for any launch.",
    par=5,
    meaning="In each iteration of the loop, 32 threads read 32 neighbouring numbers. Remember "
    "this for the next section.",
)
