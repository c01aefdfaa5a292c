"""A map over four elements with eight threads: the guard."""

from course_lib.registry.exercise import Task

TASK = Task(
    id="add_ten_guarded",
    title="Four elements, eight threads",
    lesson="00",
    position=3,
    parameters=("a", "out"),
    output="out",
    grid=(1,),
    block=(8,),
    shapes=("4", "4"),
    reference=lambda a: a + 10,
    asks=("bounds",),
    formula="out[i] = a[i] + 10",
    hints=(
        "Which values does `cuda.threadIdx.x` take in the eight threads?",
        "Threads 4 to 7 have no element to work on.",
        "A single `if` can keep threads 4 to 7 away from both arrays.",
    ),
    given='''\
@cuda.jit
def add_ten_guarded(a, out):
    """out[i] = a[i] + 10, for each of the four elements."""
    i = cuda.threadIdx.x
    out[i] = a[i] + 10
''',
    answer='''\
@cuda.jit
def add_ten_guarded(a, out):
    """out[i] = a[i] + 10, for each of the four elements."""
    i = cuda.threadIdx.x
    if i < a.shape[0]:
        out[i] = a[i] + 10
''',
    another='''\
@cuda.jit
def add_ten_guarded(a, out):
    """out[i] = a[i] + 10, for each of the four elements."""
    i = cuda.threadIdx.x
    if i >= a.shape[0]:
        return
    out[i] = a[i] + 10
''',
    compared="In this version, a thread that has no element returns at once.",
    par=2,
    meaning="This `if` is called a guard, or a bounds check. Almost every kernel needs a guard, "
    "and no check in this course forgives a missing one.",
)
