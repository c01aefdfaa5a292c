"""Reverse 16 numbers through shared memory: the first barrier."""

from course_lib.exercise import Task

TASK = Task(
    id="reverse_sixteen",
    title="Reverse 16 numbers on the shelf",
    lesson="05",
    parameters=("x", "y"),
    output="y",
    grid=(1,),
    block=(16,),
    shapes=("16", "16"),
    reference=lambda x: x[::-1],
    asks=("shared-memory", "race-free"),
    formula="y[i] = x[15 - i]",
    hints=(
        "Thread i puts x[i] on the shelf, and takes what another thread has put there.",
        "Whose number does thread 0 take, and has that thread put it there yet?",
        "Between putting and taking, all threads have to wait for each other.",
    ),
    given='''\
@cuda.jit
def reverse_sixteen(x, y):
    """y = x from its end, through shared memory."""
    shelf = cuda.shared.array(16, float32)
    i = cuda.threadIdx.x
    ...
''',
    answer='''\
@cuda.jit
def reverse_sixteen(x, y):
    """y = x from its end, through shared memory."""
    shelf = cuda.shared.array(16, float32)
    i = cuda.threadIdx.x
    shelf[i] = x[i]
    cuda.syncthreads()
    y[i] = shelf[15 - i]
''',
    par=3,
)
