"""A product with any number of steps along k: one stage is copied while the other is multiplied."""

from course_lib.registry.exercise import Task, WrongIdea

GIVEN = '''\
import numpy as np
from course_lib.intrinsics import cp_async16, cp_async_commit, cp_async_wait


@cuda.jit(device=True)
def start_copy(sA, sB, A, B, start):
    """Start copying the tiles for the 64 steps along k from `start` on, as one group."""
    for i in range(np.uint32(cuda.threadIdx.x), 512, 32):
        row, piece = i // 8, i % 8
        if row < 32:
            cp_async16(sA, piece_at(row, piece), A, row * A.shape[1] + start + 8 * piece)
        cp_async16(sB, piece_at(row, piece), B, (start + row) * B.shape[1] + 8 * piece)
    cp_async_commit()


@cuda.jit
def two_stages(A, B, C):
    """One warp computes C = A @ B, which has 32 x 64 outputs. K is a multiple of 64."""
    sA = cuda.shared.array((2, 32, 64), np.uint16, alignment=128)
    sB = cuda.shared.array((2, 64, 64), np.uint16, alignment=128)
    sums = cuda.local.array((2, 8, 4), float32)
    for i in range(2):
        for j in range(8):
            sums[i, j, 0] = sums[i, j, 1] = sums[i, j, 2] = sums[i, j, 3] = 0
    K = A.shape[1]
    ...
    g, t = cuda.threadIdx.x // 4, cuda.threadIdx.x % 4
    for i in range(2):
        for j in range(8):
            for c in range(4):
                C[16 * i + c // 2 * 8 + g, 8 * j + 2 * t + c % 2] = sums[i, j, c]
'''
WRITTEN = """\
    start_copy(sA[0], sB[0], A, B, 0)
    here = 0
    for start in range(0, K, 64):
        cp_async_wait(0)
        cuda.syncthreads()
        if start + 64 < K:
            start_copy(sA[1 - here], sB[1 - here], A, B, start + 64)
        warp_product(sums, sA[here], sB[here])
        here = 1 - here
"""
TWO_BARRIERS = """\
    start_copy(sA[0], sB[0], A, B, 0)
    here = 0
    for start in range(0, K, 64):
        if start + 64 < K:
            start_copy(sA[1 - here], sB[1 - here], A, B, start + 64)
        else:
            cp_async_commit()
        cp_async_wait(1)
        cuda.syncthreads()
        warp_product(sums, sA[here], sB[here])
        cuda.syncthreads()
        here = 1 - here
"""

TASK = Task(
    id="two_stages",
    title="Two stages",
    lesson="10",
    position=6,
    parameters=("A", "B", "C"),
    output="C",
    grid=(1,),
    block=(32,),
    shapes=("32,192", "192,64", "32,64"),
    other_sizes=({"192": 320},),
    dtypes={"A": "bfloat16", "B": "bfloat16"},
    reference=lambda A, B: A @ B,
    asks=("float32", "conflict-free"),
    uses=("piece_at", "warp_product"),
    loads=2 * (32 + 64) / (32 * 64),
    overlaps=True,
    wrong_ideas=(
        WrongIdea(
            lambda A, B: A[:, :64] @ B[:64],
            "the sums contain only the products of the first 64 steps along k",
            "Which tiles does each iteration of the loop multiply?",
        ),
        WrongIdea(
            lambda A, B: 3 * A[:, :64] @ B[:64],
            "each iteration of the loop adds the first tiles again",
            "Which stage holds the tiles of the next iteration?",
            place=("call", "warp_product"),
        ),
        WrongIdea(
            lambda A, B: A[:, :64] @ B[:64] + A[:, :-64] @ B[:-64],
            "your kernel multiplies the first tiles twice and never the last ones",
            "At which value of k do the tiles of the next iteration begin?",
            place=("call", "start_copy"),
        ),
        WrongIdea(
            lambda A, B: A[:, 64:] @ B[64:],
            "the products of the first 64 steps along k are missing",
            "Which tiles should your kernel start to copy before the loop begins?",
        ),
        WrongIdea(
            lambda A, B: A[:, :-64] @ B[:-64],
            "the products of the last 64 steps along k are missing",
            "How many tiles does K span, and how many of them does your kernel multiply?",
        ),
    ),
    formula="C = A @ B",
    hints=(
        "Start the copy of the first tiles before the loop. In each iteration, wait for the "
        "current tiles, start the copy of the next ones, and multiply.",
        "The next tiles are copied into the other stage. At which point of the loop has every lane "
        "finished reading that stage?",
        "The order is: wait, barrier, start the copy, multiply. The barrier ensures that all of "
        "the tiles have arrived, and that no thread still reads the other stage.",
    ),
    given=GIVEN,
    answer=GIVEN.replace("    ...\n", WRITTEN),
    another=GIVEN.replace("    ...\n", TWO_BARRIERS),
    compared="This version starts the next copy before it waits, and the wait leaves that one "
    "group in flight. The price is a second barrier in each iteration.",
    par=9,
    meaning="While the tensor cores multiply one stage, the next one is on its way, and one "
    "barrier per iteration is enough.",
)
