"""A map: four threads, each adds 10 to its own element."""

from course_lib.registry.exercise import Task

TASK = Task(
    id="add_ten",
    title="Add 10 to your own element",
    lesson="00",
    position=2,
    parameters=("a", "out"),
    output="out",
    grid=(1,),
    block=(4,),
    shapes=("4", "4"),
    reference=lambda a: a + 10,
    formula="out[i] = a[i] + 10",
    hints=(
        "What is the value of `cuda.threadIdx.x` in the first thread, and what is it in the last?",
        "Give the value of `cuda.threadIdx.x` a name, such as `i`, and use it as an index.",
    ),
    given='''\
@cuda.jit
def add_ten(a, out):
    """out[i] = a[i] + 10, for each of the four elements."""
    ...
''',
    answer='''\
@cuda.jit
def add_ten(a, out):
    """out[i] = a[i] + 10, for each of the four elements."""
    i = cuda.threadIdx.x
    out[i] = a[i] + 10
''',
    par=2,
    meaning="There is no loop: the launch started one thread for each element, and each thread "
    "ran the body once. A kernel of this kind is called a **map**.",
)
