"""Which outputs a lane owns, so that its warp's loads from shared memory take half as long."""

from course_lib.registry.exercise import Task, WrongIdea

GIVEN = '''\
from course_lib.intrinsics import load4, store4


@cuda.jit
def warp_piece(A, B, C):
    """C = A.T @ B, where A is K x 64 and B is K x 128. Each thread computes 8 x 8 outputs."""
    sA = cuda.shared.array((8, 64), float32, alignment=16)
    sB = cuda.shared.array((8, 128), float32, alignment=16)
    sums = cuda.local.array((8, 8), float32)
    a = cuda.local.array(8, float32)
    b = cuda.local.array(8, float32)
    t = cuda.threadIdx.x
    y, x = t // 16 * 8, t % 16 * 8  # where this thread's rows and columns begin
    for i in range(8):
        for j in range(8):
            sums[i, j] = 0
    for start in range(0, A.shape[0], 8):
        store4(sA, 4 * t, load4(A, 64 * start + 4 * t))
        for s in range(0, 1024, 512):
            store4(sB, s + 4 * t, load4(B, 128 * start + s + 4 * t))
        cuda.syncthreads()
        for k in range(8):
            for g in range(0, 8, 4):
                a[g], a[g + 1], a[g + 2], a[g + 3] = load4(sA, 64 * k + y + g)
                b[g], b[g + 1], b[g + 2], b[g + 3] = load4(sB, 128 * k + x + g)
            for i in range(8):
                for j in range(8):
                    sums[i, j] += a[i] * b[j]
        cuda.syncthreads()
    for i in range(8):
        for g in range(0, 8, 4):
            four = (sums[i, g], sums[i, g + 1], sums[i, g + 2], sums[i, g + 3])
            store4(C, 128 * (y + i) + x + g, four)
'''
STRIP = "    y, x = t // 16 * 8, t % 16 * 8  #"
ANSWER = """\
    row, column = lane_place(t % 32)
    y, x = 8 * row, t // 32 * 32 + 8 * column  #"""
BITS = """\
    warp, lane = t >> 5, t & 31
    y = (lane >> 3 << 4) + ((lane & 2) << 2)
    x = (warp << 5) + ((lane & 4) << 2) + ((lane & 1) << 3)  #"""


def _stored(place):
    """C as it comes out if the thread t begins at the row and the column of place(t)."""

    def computes(A, B):
        import numpy as np

        C, right = np.zeros((64, 128)), A.T @ B
        for t in range(128):
            y, x = place(t)
            C[y : y + 8, x : x + 8] = right[y : y + 8, x : x + 8]
        return C

    return computes


def _zigzag(lane: int) -> tuple[int, int]:
    return lane // 8 * 2 + lane // 2 % 2, lane // 4 % 2 * 2 + lane % 2


TASK = Task(
    id="warp_piece",
    title="Give each warp a piece of its own",
    lesson="09",
    position=5,
    parameters=("A", "B", "C"),
    output="C",
    grid=(1,),
    block=(128,),
    shapes=("8,64", "8,128", "64,128"),
    other_sizes=({"8": 16},),
    reference=lambda A, B: A.T @ B,
    asks=("shared-memory", "race-free", "float32"),
    uses=("lane_place",),
    passes=10 / 64,
    picture="lanes",
    formula="C = A.T @ B",
    wrong_ideas=(
        WrongIdea(
            _stored(lambda t: (8 * _zigzag(t % 32)[0], 8 * _zigzag(t % 32)[1])),
            "all four warps compute the same part of C",
            "Each warp computes 32 columns of the block's tile, and `t // 32` is the number of the "
            "warp. At which column does warp 1 begin?",
        ),
    ),
    hints=(
        "Each of a warp's 8 × 4 lanes owns 8 × 8 outputs, so a warp computes 64 × 32 outputs. How "
        "can four such parts fill the block's 64 × 128 outputs?",
        "`t // 32` is the warp, and `t % 32` is the lane. `lane_place` returns the row and the "
        "column of a lane within its warp.",
        "You only need to change the line that computes y and x; all lines below it use these two.",
    ),
    given=GIVEN,
    answer=GIVEN.replace(STRIP, ANSWER),
    another=GIVEN.replace(STRIP, BITS),
    compared="This version computes the same zigzag bit by bit: two bits of the lane's number "
    "give its column, and three give its row.",
    par=2,
    meaning="The same loops now take only two fifths of the wavefronts, although you changed only "
    "*which* outputs each lane owns.",
)
