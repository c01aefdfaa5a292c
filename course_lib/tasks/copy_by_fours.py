"""A copy in which one instruction moves 16 bytes for each lane."""

from course_lib.registry.exercise import Task, WrongIdea

TASK = Task(
    id="copy_by_fours",
    title="Four numbers at once",
    lesson="09",
    position=2,
    parameters=("source", "target"),
    output="target",
    grid=(2,),
    block=(32,),
    shapes=("256", "256"),
    reference=lambda source: source,
    wide=("source", "target"),
    formula="target[i] = source[i], four elements for each thread",
    wrong_ideas=(
        WrongIdea(
            lambda source: [number if i < 128 else 0 for i, number in enumerate(source)],
            "your kernel never copies the second half of the numbers",
            "How many threads are there in all, and how many numbers does each of them copy?",
        ),
    ),
    hints=(
        "Thread 0 copies elements 0 to 3. With which element does thread 1 begin?",
        "`load4(source, i)` returns a tuple of four numbers, and `store4(target, i, …)` takes "
        "such a tuple.",
    ),
    given='''\
from course_lib.intrinsics import load4, store4


@cuda.jit
def copy_by_fours(source, target):
    """target = source. Each thread copies four neighbouring numbers with one load and one store."""
    ...
''',
    answer='''\
from course_lib.intrinsics import load4, store4


@cuda.jit
def copy_by_fours(source, target):
    """target = source. Each thread copies four neighbouring numbers with one load and one store."""
    i = 4 * cuda.grid(1)
    store4(target, i, load4(source, i))
''',
    another='''\
from course_lib.intrinsics import load4, store4


@cuda.jit
def copy_by_fours(source, target):
    """target = source. Each thread copies four neighbouring numbers with one load and one store."""
    first = 4 * cuda.grid(1)
    x, y, z, w = load4(source, first)
    store4(target, first, (x, y, z, w))
''',
    compared="This version gives each of the four numbers a name, so you could change the numbers "
    "before you store them.",
    par=2,
    meaning="Now each load and each store moves four numbers instead of one. What do these wide "
    "loads and stores save?",
)
