"""Quick checks of lesson 05: who loads what, why two barriers, what falls by T."""

from __future__ import annotations

from course_lib.questions.kinds import (
    Choice,
    Choose,
    FillIn,
    Misread,
    Number,
    Slip,
    Suspect,
    WhichLine,
)
from course_lib.questions.runs import line_of, ones, run

TILED = """\
@cuda.jit
def matmul_tiled(A, B, C):
    sA = cuda.shared.array((16, 16), float32)
    sB = cuda.shared.array((16, 16), float32)
    col, row = cuda.grid(2)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y

    total = float32(0)
    start = 0
    while start < A.shape[1]:
        sA[ty, tx] = A[row, start + tx]
        sB[ty, tx] = B[start + ty, col]
        cuda.syncthreads()
        for k in range(16):
            total += sA[ty, k] * sB[k, tx]
        cuda.syncthreads()
        start += 16
    C[row, col] = total
"""

# Its first barrier holds only for the lanes of a warp, as if a warp's own tile row were enough.
WARP_BARRIER = TILED.replace("cuda.syncthreads()", "cuda.syncwarp()", 1)

WRONG_LINE = TILED.replace("B[start + ty, col]", "B[start + ty, row]")


def loads_of_one_thread(n: int, tile: int) -> int:
    """How many numbers one thread loads from global memory, counted by the emulator."""
    kernel = TILED.replace("16", str(tile))
    profile = run(kernel, (n // tile, n // tile), (tile, tile), ones(n, n), ones(n, n), ones(n, n))
    return profile.global_load_bytes // 4 // n**2


def line_that_leaves_b() -> int:
    """The line that the emulator names where C has more rows than columns."""
    profile = run(WRONG_LINE, (2, 4), (16, 16), ones(64, 32), ones(32, 32), ones(64, 32))
    return line_of(profile, "out-of-bounds-read")


QUESTIONS = (
    Number(
        id="05-loads-of-a-thread",
        asks="Take matrices of 96 × 96 and tiles of 32 × 32. How many numbers does one thread "
        "load from global memory, from A and B together?",
        value=lambda: loads_of_one_thread(96, 32),
        unit="numbers",
        why="96 / 32 = 3 steps, and in each the thread brings one element of A and one of B: "
        "{answer}. The other numbers that it needs are brought by its neighbours.",
        slips=(
            Slip(
                lambda: 2 * 96,
                "That is what its output needs: a row of A and a column of B, "
                "96 numbers each. Most of them are brought by other threads of the block.",
            ),
            Slip(
                lambda: 96 // 32,
                "That is the number of steps. In each step a thread loads for two tiles.",
            ),
        ),
        other="Count the steps along k first: K divided by T. Then ask how many cells one thread "
        "fills in one step, in both tiles.",
        hint="A tile has as many cells as the block has threads.",
    ),
    Choose(
        id="05-which-barrier",
        asks="The block is 32 × 32, so a warp is one row of threads. Only `cuda.syncwarp()` stands "
        "after the loads. Which read is still a race?",
        choices=(
            Choice(
                "Thread (0, 0) reads `sA[0, 5]`.",
                "Thread (5, 0) filled it, a lane of the same warp: `syncwarp` orders the two. A "
                "row of `sA` is written and read by one warp.",
            ),
            Choice(
                "Thread (0, 0) reads `sB[0, 0]`.",
                "It filled that cell itself. Nobody needs to wait for oneself.",
            ),
            Choice(
                "Thread (0, 0) reads `sB[5, 0]`.",
                "Thread (0, 5) fills it, in warp 5. Nothing makes warp 5 come first, but a barrier "
                "of the whole block does.",
                right=True,
            ),
            Choice(
                "Thread (0, 0) reads `A[0, 5]`.",
                "Nobody writes A in this launch. Reads alone never race.",
            ),
        ),
    ),
    Choose(
        id="05-one-barrier",
        asks="A friend keeps the first barrier only: one is enough, since every tile is complete "
        "before it is used. The test with one tile of 16 × 16 passes. What do you say?",
        choices=(
            Choice(
                "One is enough, the test shows it.",
                "With a single tile nothing is ever overwritten, so this test cannot fail. A race "
                "may also pass by luck.",
            ),
            Choice(
                "With more tiles, a slow warp may read numbers of the next tile.",
                "A fast warp goes on and overwrites cells that the slow one still needs. The "
                "numbers look plausible, and the sum is wrong.",
                right=True,
            ),
            Choice(
                "With more tiles, NaN will show up, so we would notice.",
                "Every cell holds a proper number at any time; it may belong to the wrong step.",
            ),
            Choice(
                "With more tiles, the kernel hangs.",
                "All threads reach the same barrier equally often. Nobody waits for ever.",
            ),
        ),
    ),
    FillIn(
        id="05-padding",
        asks="Suppose a kernel keeps the largest product, not the sum: `total = max(total, ...)`. "
        "Zero is no good as padding then. Which number, in the place of a product that does not "
        "exist, leaves every maximum as it is?",
        accepts=(
            "-inf",
            "-infinity",
            "minus infinity",
            "negative infinity",
            "-∞",
            "float32(-inf)",
            "float('-inf')",
            "-np.inf",
            "-math.inf",
            "np.float32(-np.inf)",
            "float32(-np.inf)",
            "−inf",
            "−∞",
        ),
        why="Nothing is smaller, so it never wins a maximum, as zero never changes a sum. Each "
        "operation has its own neutral number.",
        misread=(
            Misread(
                ("0", "zero", "0.0"),
                "If all products of a row are negative, zero would win, and it is no product.",
            ),
            Misread(
                ("1", "one", "1.0"),
                "One changes no product of factors. Here a maximum is taken.",
            ),
            Misread(
                ("inf", "infinity", "+inf", "np.inf", "math.inf", "∞"),
                "That would win every time. Look to the other end.",
            ),
            Misread(
                ("nan", "np.nan"),
                "A NaN spoils what it touches, or is passed over, depending on the operation.",
            ),
            Misread(
                ("-1", "minus one", "-1.0"),
                "All products may be smaller than that.",
            ),
        ),
        other="It must lose against every number there is, however small.",
        hint="float32 has a value below all others.",
    ),
    WhichLine(
        id="05-wrong-line",
        asks="This kernel is wrong. With square matrices it runs without a word, and C is wrong; "
        "if C has more rows than columns, a thread leaves an array. Which line is it?",
        code=WRONG_LINE,
        line="sB[ty, tx] = B",
        why="`B[start + ty, row]` takes its column from the row of C. A thread that loads for the "
        "block brings the cell at its own place of the tile: `B[start + ty, col]`.",
        innocent="This line is as it should be. Look at the loads: which element of the tile does "
        "each thread bring?",
        suspects=(
            Suspect(
                "sA[ty, tx] = A",
                "This one is right: the row is that of the thread's output, "
                "the column moves along k with the tile.",
            ),
            Suspect(
                "for k in range", "A tile is 16 wide, however long K is, so 16 steps are right."
            ),
        ),
        hint="Which row and which column of B does the output `C[row, col]` need?",
        proof=line_that_leaves_b,
    ),
    Choose(
        id="05-what-falls",
        asks="Tiles of 32 × 32 instead of none, at 4096 on an A6000. What falls by a factor of 32?",
        choices=(
            Choice(
                "the bytes that the threads request",
                "Each number that is fetched serves 32 threads. It is the only one of the four "
                "that falls by T.",
                right=True,
            ),
            Choice(
                "the time",
                "Published: 1.5 times faster, not 32. The kernel was not waiting for those bytes.",
            ),
            Choice(
                "the bytes that come from DRAM",
                "They were 1.4 % of the requested ones before: the caches had done that reuse.",
            ),
            Choice(
                "the loads per multiply-add",
                "There are still two for each, or 1.25 in compiled code. They go to shared memory "
                "now.",
            ),
        ),
    ),
    Choose(
        id="05-compute-bound",
        asks="Somebody writes: with T = 32 the float32 kernel is compute-bound on an H100, since "
        "its ridge is 20. What do you answer?",
        choices=(
            Choice(
                "True: 32 is more than 20.",
                "This compares an edge with an intensity. How many FLOP per requested byte does a "
                "tile of 32 give?",
            ),
            Choice(
                "False: T = 32 gives 8, and 8 is less than 20.",
                "Intensity is T / 4. To pass 20 a tile would need an edge of 80, and a block has "
                "not that many threads.",
                right=True,
            ),
            Choice(
                "False: the ridge of an H100 is 148.",
                "148 is for TF32 on the tensor cores. A plain float32 kernel has 20.",
            ),
            Choice(
                "True: shared memory makes any kernel compute-bound.",
                "It brings the operands from nearer. The 12.8 % of cuBLAS, published for an A6000, "
                "do not look compute-bound.",
            ),
        ),
    ),
)
