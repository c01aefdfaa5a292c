"""A running sum by doubling steps, in which a thread adds to what another one still has to read."""

from typing import Any

from course_lib.registry.exercise import Task, WrongIdea


def _running(x: Any) -> Any:
    return x.cumsum()


def _after_one_step(x: Any) -> Any:
    sums = x.copy()
    sums[1:] += x[:-1]
    return sums


TASK = Task(
    id="prefix_sums",
    title="Bug 2: running sums in seven steps",
    lesson="05c",
    position=2,
    parameters=("x", "y"),
    output="y",
    grid=(1,),
    block=(128,),
    shapes=("128", "128"),
    reference=_running,
    asks=("race-free",),
    formula="y[i] = x[0] + … + x[i]",
    wrong_ideas=(
        WrongIdea(
            _after_one_step,
            "your kernel takes only the first of the seven steps",
            "After the first step, a sum contains at most two numbers. How many numbers must the "
            "last of the 128 sums contain at the end?",
            place=("sum",),
        ),
    ),
    hints=(
        "In the first step, thread 5 reads `part[4]`, and thread 4 adds to `part[4]`. Which of the "
        "two threads comes first?",
        "To put a barrier between the read and the write, you need two statements, because `+=` "
        "reads and writes in a single statement.",
        "First let every thread read into a local variable. Then let all threads wait, and only "
        "then let them write.",
    ),
    given='''\
@cuda.jit
def prefix_sums(x, y):
    """y[i] = x[0] + … + x[i] for 128 numbers, computed by one block of 128 threads."""
    part = cuda.shared.array(128, float32)
    t = cuda.threadIdx.x
    part[t] = x[t]
    cuda.syncthreads()
    step = 1
    while step < 128:
        if t >= step:
            part[t] += part[t - step]
        cuda.syncthreads()
        step *= 2
    y[t] = part[t]
''',
    answer='''\
@cuda.jit
def prefix_sums(x, y):
    """y[i] = x[0] + … + x[i] for 128 numbers, computed by one block of 128 threads."""
    part = cuda.shared.array(128, float32)
    t = cuda.threadIdx.x
    part[t] = x[t]
    cuda.syncthreads()
    step = 1
    while step < 128:
        before = float32(0)
        if t >= step:
            before = part[t - step]
        cuda.syncthreads()
        part[t] += before
        cuda.syncthreads()
        step *= 2
    y[t] = part[t]
''',
    another='''\
@cuda.jit
def prefix_sums(x, y):
    """y[i] = x[0] + … + x[i] for 128 numbers, computed by one block of 128 threads."""
    part = cuda.shared.array((2, 128), float32)
    t = cuda.threadIdx.x
    part[0, t] = x[t]
    cuda.syncthreads()
    step, now = 1, 0
    while step < 128:
        part[1 - now, t] = part[now, t]
        if t >= step:
            part[1 - now, t] += part[now, t - step]
        cuda.syncthreads()
        step, now = step * 2, 1 - now
    y[t] = part[now, t]
''',
    compared="This version uses two buffers. Each step reads one buffer and writes the other, so "
    "one barrier per step is enough.",
    par=4,
    meaning="Your kernel is a **scan**. After steps of 1, 2, 4, … each element contains the sum "
    "of up to 2, 4, 8, … numbers. So 128 numbers take seven steps instead of 127.",
)
