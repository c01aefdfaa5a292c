"""A map over many blocks: the block's offset, and the guard again."""

from course_lib.registry.exercise import Task

TASK = Task(
    id="add_ten_everywhere",
    title="Add 10 in many blocks",
    lesson="00",
    position=4,
    parameters=("a", "out"),
    output="out",
    grid=("N",),
    block=(4,),
    shapes=("N", "N"),
    reference=lambda a: a + 10,
    asks=("bounds",),
    formula="out[i] = a[i] + 10",
    hints=(
        "If each block has four threads, how many threads are in blocks 0 and 1 together?",
        "The blocks before a thread's own block have `cuda.blockIdx.x * cuda.blockDim.x` threads "
        "in all.",
        "The last block may reach beyond the array, so keep the guard.",
    ),
    given='''\
@cuda.jit
def add_ten_everywhere(a, out):
    """out[i] = a[i] + 10 for every element. Blocks of four threads cover the array."""
    ...
''',
    answer='''\
@cuda.jit
def add_ten_everywhere(a, out):
    """out[i] = a[i] + 10 for every element. Blocks of four threads cover the array."""
    i = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    if i < a.shape[0]:
        out[i] = a[i] + 10
''',
    another='''\
@cuda.jit
def add_ten_everywhere(a, out):
    """out[i] = a[i] + 10 for every element. Blocks of four threads cover the array."""
    i = cuda.grid(1)
    if i < a.shape[0]:
        out[i] = a[i] + 10
''',
    compared="`cuda.grid(1)` adds the thread's number within its block to the block's offset.",
    par=3,
    meaning="Now the array may have any length. The line that computes `i` is in almost every "
    "kernel ever written, so Numba has a short form for it: `cuda.grid(1)`.",
)
