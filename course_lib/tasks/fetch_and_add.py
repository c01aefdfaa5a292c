"""From lesson 09b, unaided, and with roles: one warp fetches rows, the other one adds them up."""

from course_lib.registry.exercise import Task, WrongIdea

HEAD = '''\
@cuda.jit
def fetch_and_add(x, y):
    """y[i] = the sum of column i of x, which is n x 32. One warp only fetches rows, and the other
    one only adds them up."""
'''

TASK = Task(
    id="fetch_and_add",
    title="One warp fetches, one adds",
    lesson="10b",
    position=1,
    parameters=("x", "y"),
    output="y",
    grid=(1,),
    block=(64,),
    shapes=("n,32", "32"),
    reference=lambda x: x.sum(axis=0),
    asks=("shared-memory", "race-free", "float32"),
    barriers=2,
    barriers_along="n",
    wrong_ideas=(
        WrongIdea(
            lambda x: x[:-1].sum(axis=0),
            "the last row is missing from the sums",
            "After warp 0 has fetched the last row, how many more iterations does warp 1 need?",
        ),
        WrongIdea(
            lambda x: x[1:].sum(axis=0),
            "the first row is missing from the sums",
            "Which row does warp 1 add first?",
        ),
        WrongIdea(
            lambda x: x[-1],
            "each row overwrites the sum, so only the last row is left",
            "What should the sum still contain from the earlier rows?",
        ),
    ),
    formula="y[i] = x[0, i] + x[1, i] + …",
    hints=(
        "Keep two rows in shared memory. Warp 0 fills one of them while warp 1 adds the other one "
        "to its sums.",
        "In iteration s, warp 0 fetches row s, and warp 1 adds row s - 1. So there is one "
        "iteration more than there are rows.",
        "Put one barrier at the end of each iteration. Both warps have to reach it, so it must "
        "not be inside a branch.",
    ),
    given=HEAD + "    ...\n",
    answer=HEAD
    + """\
    rows = cuda.shared.array((2, 32), float32)
    warp, lane = cuda.threadIdx.x // 32, cuda.threadIdx.x % 32
    total = float32(0)
    for s in range(x.shape[0] + 1):
        if warp == 0 and s < x.shape[0]:
            rows[s % 2, lane] = x[s, lane]
        if warp == 1 and s > 0:
            total += rows[(s - 1) % 2, lane]
        cuda.syncthreads()
    if warp == 1:
        y[lane] = total
""",
    another=HEAD
    + """\
    rows = cuda.shared.array((2, 32), float32)
    warp, lane = cuda.threadIdx.x // 32, cuda.threadIdx.x % 32
    if warp == 0:
        rows[0, lane] = x[0, lane]
    cuda.syncthreads()
    total = float32(0)
    for s in range(x.shape[0]):
        if warp == 1:
            total += rows[s % 2, lane]
        elif s + 1 < x.shape[0]:
            rows[(s + 1) % 2, lane] = x[s + 1, lane]
        cuda.syncthreads()
    if warp == 1:
        y[lane] = total
""",
    compared="This version fetches the first row before the loop, so there is no extra iteration.",
    par=11,
    meaning="The two warps are a **producer** and a **consumer**. In each iteration, the barrier "
    "makes the faster warp wait for the slower one. This lesson shows a better way.",
)
