"""Differences of neighbours, with a barrier that the last block's idle threads never reach."""

from typing import Any

from course_lib.registry.exercise import Task


def _differences(x: Any) -> Any:
    import numpy as np  # the registry is read without it, too

    return np.diff(x, prepend=0)


TASK = Task(
    id="differences",
    title="Bug 3: differences of neighbours",
    lesson="05c",
    position=3,
    parameters=("x", "y"),
    output="y",
    block=(64,),
    shapes=("N", "N"),
    reference=_differences,
    asks=("bounds", "race-free"),
    formula="y[i] = x[i] - x[i - 1], and y[0] = x[0]",
    hints=(
        "100 numbers take two blocks of 64 threads. Which threads of the second block reach the "
        "barrier?",
        "A thread that has no number loads nothing and stores nothing. What must it still do, "
        "because the other threads of its block wait for it?",
    ),
    given='''\
@cuda.jit
def differences(x, y):
    """y[i] = x[i] - x[i - 1], and y[0] = x[0]. Each block has 64 threads."""
    part = cuda.shared.array(65, float32)
    i, t = cuda.grid(1), cuda.threadIdx.x
    if i < x.shape[0]:
        part[t + 1] = x[i]
        if t == 0:
            part[0] = x[i - 1] if i > 0 else float32(0)
        cuda.syncthreads()
        y[i] = part[t + 1] - part[t]
''',
    answer='''\
@cuda.jit
def differences(x, y):
    """y[i] = x[i] - x[i - 1], and y[0] = x[0]. Each block has 64 threads."""
    part = cuda.shared.array(65, float32)
    i, t = cuda.grid(1), cuda.threadIdx.x
    if i < x.shape[0]:
        part[t + 1] = x[i]
        if t == 0:
            part[0] = x[i - 1] if i > 0 else float32(0)
    cuda.syncthreads()
    if i < x.shape[0]:
        y[i] = part[t + 1] - part[t]
''',
    another='''\
@cuda.jit
def differences(x, y):
    """y[i] = x[i] - x[i - 1], and y[0] = x[0]. Each block has 64 threads."""
    i = cuda.grid(1)
    if i < x.shape[0]:
        before = x[i - 1] if i > 0 else float32(0)
        y[i] = x[i] - before
''',
    compared="This kernel does not use shared memory, so no thread has to wait. The L1 cache "
    "serves the second load of each number.",
    par=2,
    meaning="Every thread of the block has to reach a barrier. So put the loads and the "
    "stores inside the guard, but never the barrier.",
)
