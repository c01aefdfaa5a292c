"""Sums of blocks through shared memory, of which the last block fills only a part."""

from typing import Any

from course_lib.registry.exercise import Task

SIDE = 64


def _of_blocks(x: Any) -> Any:
    import numpy as np  # the registry is read without it, too

    return np.add.reduceat(x, range(0, len(x), SIDE))


TASK = Task(
    id="block_sums",
    title="Bug 5: the sum of each block",
    lesson="05c",
    position=5,
    parameters=("x", "sums"),
    output="sums",
    grid=(2,),
    block=(SIDE,),
    shapes=("100", "2"),
    reference=_of_blocks,
    asks=("bounds", "race-free"),
    formula="sums[b] = x[64 * b] + … + x[64 * b + 63], as far as x goes",
    hints=(
        "The second block has only 36 numbers of x, but it adds up all 64 elements of `part`. "
        "Which threads have written the other 28 elements of `part`?",
        "Let one thread of the second block print each `part[k]` after the barrier.",
        "Which number can you add to a sum without changing the sum? A thread for which x has no "
        "element can store that number in `part`.",
    ),
    given='''\
@cuda.jit
def block_sums(x, sums):
    """sums[b] = the sum of the 64 numbers of block b. x has 100, so the last block has fewer."""
    part = cuda.shared.array(64, float32)
    i, t = cuda.grid(1), cuda.threadIdx.x
    if i < x.shape[0]:
        part[t] = x[i]
    cuda.syncthreads()
    if t == 0:
        total = float32(0)
        for k in range(64):
            total += part[k]
        sums[cuda.blockIdx.x] = total
''',
    answer='''\
@cuda.jit
def block_sums(x, sums):
    """sums[b] = the sum of the 64 numbers of block b. x has 100, so the last block has fewer."""
    part = cuda.shared.array(64, float32)
    i, t = cuda.grid(1), cuda.threadIdx.x
    part[t] = x[i] if i < x.shape[0] else float32(0)
    cuda.syncthreads()
    if t == 0:
        total = float32(0)
        for k in range(64):
            total += part[k]
        sums[cuda.blockIdx.x] = total
''',
    another='''\
@cuda.jit
def block_sums(x, sums):
    """sums[b] = the sum of the 64 numbers of block b. x has 100, so the last block has fewer."""
    part = cuda.shared.array(64, float32)
    i, t = cuda.grid(1), cuda.threadIdx.x
    if i < x.shape[0]:
        part[t] = x[i]
    cuda.syncthreads()
    if t == 0:
        total = float32(0)
        for k in range(min(64, x.shape[0] - i)):
            total += part[k]
        sums[cuda.blockIdx.x] = total
''',
    compared="This version adds up only those elements of `part` that a thread has written. That "
    "takes fewer additions, but the loop has to stop in the right place.",
    par=1,
    meaning="Shared memory still contains whatever an earlier block on this SM left there. None "
    "of compute-sanitizer's tools reports a read of shared memory that no thread has written.",
)
