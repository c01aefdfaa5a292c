"""Quick checks of lesson 08: what binds, loads per multiply-add, habits, registers."""

from __future__ import annotations

from course_lib.devices import occupancy
from course_lib.questions.kinds import (
    Choice,
    Choose,
    Number,
    Slip,
    Suspect,
    WhichLine,
)
from course_lib.questions.runs import line_of, ones, run

# One warp whose threads own 4 x 8 outputs each: the inner part of a 2-D tile, and nothing else.
FOUR_BY_EIGHT = """\
@cuda.jit
def one_step(C):
    sA = cuda.shared.array((4, 1), float32)
    sB = cuda.shared.array((1, 256), float32)
    sums = cuda.local.array((4, 8), float32)
    a = cuda.local.array(4, float32)
    b = cuda.local.array(8, float32)
    t = cuda.threadIdx.x
    if t < 4:
        sA[t, 0] = 1
    for j in range(8):
        sB[0, 32 * j + t] = 1
    cuda.syncthreads()
    for i in range(4):
        a[i] = sA[i, 0]
    for j in range(8):
        b[j] = sB[0, 32 * j + t]
    for i in range(4):
        for j in range(8):
            sums[i, j] = 0
            sums[i, j] += a[i] * b[j]
    C[t] = sums[0, 0]
"""

# A thread loads where it should, with one exception: there it takes the row that it owns.
OWNED_ROW = """\
@cuda.jit
def matmul_1d(A, B, C):
    sA = cuda.shared.array((64, 8), float32)
    sB = cuda.shared.array((8, 64), float32)
    sums = cuda.local.array(8, float32)
    t = cuda.threadIdx.x
    y, x = t // 64 * 8, t % 64
    for i in range(8):
        sums[i] = 0
    start = 0
    while start < A.shape[1]:
        sA[y, t % 8] = A[y, start + t % 8]
        sB[t // 64, x] = B[start + t // 64, x]
        cuda.syncthreads()
        for k in range(8):
            b = sB[k, x]
            for i in range(8):
                sums[i] += sA[y + i, k] * b
        cuda.syncthreads()
        start += 8
    for i in range(8):
        C[y + i, x] = sums[i]
"""


def loads_for_each_multiply_add() -> float:
    """Of a thread with 4 x 8 outputs, counted by the emulator."""
    profile = run(FOUR_BY_EIGHT, 1, 32, ones(32))
    multiply_adds = profile.flops / 2 / 32  # of the whole warp
    return profile.shared_load_requests / multiply_adds


def line_that_loads_the_wrong_row() -> int:
    """The line in which several threads write one cell of a tile."""
    profile = run(OWNED_ROW, 1, 512, ones(64, 64), ones(64, 64), ones(64, 64))
    return line_of(profile, "race-write-after-write")


QUESTIONS = (
    Choose(
        id="08-what-helps",
        asks="The tiled kernel, T = 32, on an A6000. You may change one thing of the machine or of "
        "the kernel. What can raise its ceiling most?",
        hint="The lowest of the ceilings is the one that binds. Which resource was it?",
        choices=(
            Choice(
                "DRAM of twice the bandwidth",
                "DRAM allows 31 % of peak, almost twice the ceiling that binds. A wider road "
                "to the depot would stand half empty.",
            ),
            Choice(
                "twice as many warps on each SM",
                "The warps queue at one door, which serves one of them per clock. More of them "
                "make the queue longer.",
            ),
            Choice(
                "more multiply–adds for each shared load",
                "The shared memory can serve one access of a warp per clock. So the fewer "
                "accesses a multiply–add needs, the higher this ceiling.",
                right=True,
            ),
            Choice(
                "one more column in both shared tiles",
                "The kernel has no bank conflict, so there is nothing to cure; and the extra "
                "column would stop the compiler from loading four values at once.",
            ),
        ),
    ),
    Number(
        id="08-four-by-eight",
        asks="A thread owns 4 × 8 outputs of C. As written in the source, how many loads from "
        "shared memory does it need for each multiply–add?",
        value=loads_for_each_multiply_add,
        unit="loads per multiply–add",
        within=0.01,
        why="In one step of k it picks up 4 values of A and 8 of B, and each meets each: 12 loads "
        "for 32 multiply–adds, {answer}.",
        slips=(
            Slip(lambda: 12, "That is the number of loads. How many multiply–adds do they serve?"),
            Slip(
                lambda: 1 / 32,
                "So few it would be if one value served all 32 totals. A value of A serves one row "
                "of the small tile, a value of B one column.",
            ),
            Slip(lambda: 2, "That is a thread with a single output."),
            Slip(lambda: 32 / 12, "The other way round: this is multiply–adds for each load."),
        ),
        other="In one step of k: count the values of A and of B that this thread needs, and divide "
        "by the number of totals that they update.",
        hint="4 rows need 4 values of A, 8 columns need 8 values of B.",
    ),
    WhichLine(
        id="08-wrong-row",
        asks="This 1-D kernel runs as one block of 512 threads on matrices of 64 × 64. Seven of "
        "eight rows of C come out wrong. Which line is it?",
        code=OWNED_ROW,
        line="sA[y, t % 8] =",
        why="`y` is the first row that a thread owns: 0, 8, 16 and so on. Loading by it fills only "
        "these rows of the tile, and writes each of their cells eight times. To load, the 512 "
        "threads must spread over all 64 × 8 cells: row `t // 8`, column `t % 8`.",
        innocent="Ask of each line: is it about what a thread owns, or about what it loads for the "
        "block? They are two different jobs.",
        suspects=(
            Suspect(
                "y, x =",
                "This is the ownership, and it is right: 64 columns, and eight rows for each "
                "thread.",
            ),
            Suspect(
                "sB[t // 64, x] =",
                "Here the two jobs happen to agree on the column: 8 rows of 64, one cell each.",
            ),
            Suspect(
                "sums[i] +=",
                "It reads the eight rows that the thread owns. Are they all there?",
            ),
            Suspect(
                "C[y + i, x] =",
                "Each thread stores its own eight outputs, one below the other.",
            ),
        ),
        proof=line_that_loads_the_wrong_row,
        hint="Which rows of the two tiles are ever filled?",
    ),
    Choose(
        id="08-which-habit",
        asks="A colleague's 2-D kernel has `tid = cuda.threadIdx.x`, a `while` loop over the tiles "
        "and totals of float32. Its hot loop is a third integer arithmetic, and all its shared "
        "loads are 32 bits wide. What do you try first?",
        hint="Which habit tells the compiler that an index cannot be negative?",
        choices=(
            Choice(
                "`@cuda.jit(fastmath=True)`",
                "It changes how float32 is rounded, and multiply–adds are fused without it. The "
                "integers stay as they are.",
            ),
            Choice(
                "`tid = np.uint32(cuda.threadIdx.x)`",
                "Signed indices carry a test for negative values through every access. Without it "
                "the compiler sees which elements are neighbours, and merges their loads.",
                right=True,
            ),
            Choice(
                "one column of padding in both tiles",
                "Rows that do not begin at a multiple of 16 bytes rule wide loads out for good.",
            ),
            Choice(
                "blocks with more threads",
                "The instructions of a warp stay the same, whoever stands beside it.",
            ),
        ),
    ),
    Number(
        id="08-occupancy",
        asks="Another kernel: 256 threads with 96 registers each and 8192 bytes of shared memory, "
        "on an A6000 (48 warps, 65,536 registers). What is its occupancy, in percent?",
        value=lambda: 100 * occupancy("A6000", 256, 96, 8192).share,
        unit="%",
        within=0.015,
        why="A warp takes 96 × 32 = 3072 registers, so 5 warps fit into each of the four "
        "sub-partitions: 20 warps, two blocks of 8. 16 of 48 warps are {answer} %, just what "
        "128 registers gave. Half a block cannot come.",
        slips=(
            Slip(
                lambda: 100 * 20 / 48,
                "20 warps would fit, but they come in whole blocks of 8.",
            ),
            Slip(lambda: 16, "That is the number of warps. How many could there be?"),
            Slip(lambda: 100 * 24 / 48, "Three blocks need 24 warps; the registers hold only 20."),
        ),
        other="Registers of a warp; warps in each of the four sub-partitions of 16,384 registers; "
        "whole blocks of 8 warps; then divide by 48.",
        hint="16,384 / 3072, rounded down, times four: so many warps fit.",
    ),
)
