"""Two buffers that the hardware fills by itself, with asynchronous copies."""

from course_lib.registry.exercise import Task
from course_lib.tasks import two_buffers as before

ONE, GROWN = "shared.array(256", "shared.array(512"
GIVEN = before.GIVEN.replace("two_buffers", "async_buffers").replace(
    "load4, store4", "cp_async16, cp_async_commit, cp_async_wait, load4, store4"
)
FIRST = """\
    cp_async16(sA, 4 * t, A, 4 * t)
    cp_async16(sB, 4 * t, B, 4 * t)
    cp_async_commit()
"""
MULTIPLY = """\
        for k in range(8):
            p, q = load4(sA, now + 32 * k + y), load4(sB, now + 32 * k + x)
            for i in range(4):
                for j in range(4):
                    sums[i, j] += p[i] * q[j]
"""
WAIT_FIRST = f"""\
{FIRST}\
    for start in range(0, A.shape[0], 8):
        now, after = start // 8 % 2 * 256, start + 8
        cp_async_wait(0)
        cuda.syncthreads()
        if after < A.shape[0]:
            cp_async16(sA, 256 - now + 4 * t, A, 32 * after + 4 * t)
            cp_async16(sB, 256 - now + 4 * t, B, 32 * after + 4 * t)
            cp_async_commit()
{MULTIPLY}"""
WAIT_LAST = f"""\
{FIRST}\
    cp_async_wait(0)
    cuda.syncthreads()
    now = 0
    for start in range(8, A.shape[0] + 8, 8):
        if start < A.shape[0]:
            cp_async16(sA, 256 - now + 4 * t, A, 32 * start + 4 * t)
            cp_async16(sB, 256 - now + 4 * t, B, 32 * start + 4 * t)
            cp_async_commit()
{MULTIPLY}\
        cp_async_wait(0)
        cuda.syncthreads()
        now = 256 - now
"""
TASK = Task(
    id="async_buffers",
    title="Copies that need no register",
    lesson="09b",
    position=3,
    parameters=("A", "B", "C"),
    output="C",
    block=(64,),
    tile=(32, 32),
    shapes=("24,32", "24,32", "32,32"),
    other_sizes=({"24": 40}, {"24": 8}),
    reference=lambda A, B: A.T @ B,
    asks=("shared-memory", "race-free", "reuse", "float32"),
    wide=("A", "B"),
    barriers=4,
    overlaps=True,
    asynchronous=True,
    picture="buffers",
    tile_steps=8,
    formula="C = A.T @ B",
    wrong_ideas=before.IDEAS,
    hints=(
        "One `cp_async16(sA, i, A, j)` replaces a `load4` and the `store4` of the same four "
        "numbers. Where in the loop should the copy of the next tile start, and into which buffer "
        "should it write?",
        "`cp_async_commit()` closes a group of copies. All copies of a group must be complete "
        "before any thread reads the tile that they fill.",
        "First wait, then pass the barrier, then read. `cp_async_wait(0)` waits for the copies "
        "that this thread started, and the barrier ensures that all other threads have waited for "
        "theirs.",
    ),
    given=GIVEN,
    answer=GIVEN.replace(before.LOOP, WAIT_FIRST).replace(ONE, GROWN),
    another=GIVEN.replace(before.LOOP, WAIT_LAST).replace(ONE, GROWN),
    compared="This version waits at the end of each iteration, at the place where `two_buffers` "
    "stored the next tile from registers to shared memory.",
    par=12,
    meaning="While a tile is on its way to shared memory, it takes up no registers, and no thread "
    "has to store it.",
)
