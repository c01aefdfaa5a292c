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
        "Threads 4 to 7 have no element.",
        "One `if` keeps those threads away from the arrays.",
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
    compared="In this version, the surplus threads return first.",
    par=2,
    meaning="That `if` is called the guard, or bounds check. Almost every kernel needs one, and "
    "no check in this course forgives a missing one.",
)
