"""Questions of lesson 00: who runs which line, whose number is whose, what an addition costs."""

from __future__ import annotations

import re

import numpy as np

from course_lib.devices import device
from course_lib.questions.kinds import Drawn, Number, Suspect, Trap, WhichLine
from course_lib.questions.runs import line_of, ones, run
from course_lib.wording.sentences import whole

SIGN_IN = """\
@cuda.jit
def sign_in(book):
    i = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    book[i] = 100 * cuda.blockIdx.x + cuda.threadIdx.x
"""

PUT_SEVEN = """\
@cuda.jit
def put_seven(out):
    out[2] = 7
"""

MAT_ADD = """\
@cuda.jit
def mat_add(A, B, C):
    x, y = cuda.grid(2)
    if y < C.shape[0] and x < C.shape[1]:
        C[y, x] = A[y, x] + B[y, x]
"""

UPSIDE_DOWN = """\
@cuda.jit
def upside_down(A, C):
    x, y = cuda.grid(2)
    rows = A.shape[0]
    columns = A.shape[1]
    if y < rows and x < columns:
        C[y, x] = A[rows - y, x]
"""


def place_of(block: int, thread: int) -> int:
    """Where this thread signs in, in a launch of 5 blocks of 64 threads."""
    book = np.zeros(5 * 64, dtype=np.int32)
    run(SIGN_IN, 5, 64, book)
    return int(np.flatnonzero(book == 100 * block + thread)[0])


def writers_of_one_place() -> int:
    profile = run(PUT_SEVEN, 1, 4, ones(4))
    return profile.global_store_bytes // 4


def complaint_about_one_place() -> str:
    profile = run(PUT_SEVEN, 1, 4, ones(4))
    return whole(profile.findings[0].message, "student")


def idle_threads(rows: int, columns: int, side: int) -> int:
    blocks = -(-rows // side) * -(-columns // side)
    return blocks * side * side - rows * columns


def idle_picture() -> Drawn:
    from course_lib.figures.grids import grid_of_threads  # only this needs matplotlib

    return grid_of_threads((2, 2), (4, 4), (5, 7), first_warp=False)


def bytes_per_addition() -> float:
    profile = run(MAT_ADD, (4, 4), (4, 4), ones(16, 16), ones(16, 16), ones(16, 16))
    return (profile.global_load_bytes + profile.global_store_bytes) / profile.flops


def limits_of_addition() -> dict[str, object]:
    """Billions a second: bytes from memory, additions that these allow, additions of all cores."""
    h200 = device("H200")  # the rate of the data sheet counts a multiplication with each addition
    return {
        "bandwidth": h200.dram_gb_per_s,
        "additions": round(h200.dram_gb_per_s / bytes_per_addition()),
        "peak": round(h200.fp32_gflops / 2),
    }


def line_outside() -> int:
    profile = run(UPSIDE_DOWN, (2, 2), (4, 4), ones(5, 7), ones(5, 7))
    return line_of(profile, "out-of-bounds-read")


QUESTIONS = (
    Number(
        id="00-same-line",
        asks="How many of the four threads write to `out[2]`?",
        value=writers_of_one_place,
        unit="threads",
        slips=(
            Trap(lambda: 1, "Nothing in the kernel singles out one thread."),
            Trap(lambda: 0, "The kernel runs even if there are more threads than it needs."),
        ),
        reveal="Every thread runs the whole kernel, so all {answer} write to the same place. The "
        "emulator rightly complains: “{complaint}” Here this does no harm, because each thread "
        "writes a 7. But so far, nothing tells the threads apart.",
        facts=lambda: {"complaint": complaint_about_one_place()},
        spoilers=("every thread runs", "all four", re.compile(r"both write")),
    ),
    Number(
        id="00-my-number",
        asks="A launch has 5 blocks of 64 threads. What is `i` in thread 10 of block 3, if "
        "`i = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x`?",
        value=lambda: place_of(block=3, thread=10),
        unit="",
        why="Blocks 0, 1 and 2 have 64 threads each, and ten threads of block 3 come before "
        "thread 10: 3 · 64 + 10 = {answer}.",
        slips=(
            Trap(lambda: 3 + 10 * 64, "You swapped the block and the thread: this is 10 · 64 + 3."),
            Trap(lambda: 3 * 5 + 10, "You multiplied by the number of blocks."),
            Trap(
                lambda: 2 * 64 + 10,
                "Counting starts at zero, so three whole blocks come before block 3.",
            ),
        ),
        other="Count the threads in all blocks before block 3, and then add the thread's place in "
        "its own block.",
        hint="Block 0 is the first one. How many threads do the blocks before block 3 have?",
    ),
    Number(
        id="00-idle",
        asks="`A` has 5 rows and 7 columns. A block has 4 × 4 threads, so the grid has 2 × 2 "
        "blocks. How many threads of the grid have no element?",
        value=lambda: idle_threads(rows=5, columns=7, side=4),
        unit="threads",
        slips=(
            Trap(
                lambda: 0,
                "The launch has 64 threads, but A has fewer elements.",
            ),
            Trap(
                lambda: 3 * 8 + 1 * 8,
                "Three rows of eight threads are below the matrix, and one column of eight is to "
                "its right. But you counted the corner twice.",
            ),
        ),
        reveal="The 2 × 2 blocks have {threads} threads for only {elements} elements. So "
        "{answer} threads, the hatched ones, have nothing to do. In a large matrix, only the "
        "last blocks of each row and column have such threads.",
        facts=lambda: {"threads": 2 * 2 * 4 * 4, "elements": 5 * 7},
        figure=idle_picture,
        spoilers=(re.compile(r"\b29\b"),),
    ),
    Number(
        id="00-bytes",
        asks="How many bytes does the kernel read and write for each addition?",
        value=bytes_per_addition,
        unit="bytes",
        slips=(
            Trap(lambda: 8, "The two reads move 8 bytes. The sum has to be written, too."),
            Trap(
                lambda: 3, "The kernel does move three numbers, but each of them takes up 4 bytes."
            ),
            Trap(
                lambda: 4,
                "One number takes up 4 bytes. How many numbers does the kernel read and write?",
            ),
        ),
        reveal="Two reads and one write of 4 bytes each make {answer} bytes for one **FLOP** (an "
        "addition or multiplication of floating-point numbers). An H200 can fetch {bandwidth} "
        "billion bytes a second from its memory. That is enough for {additions} billion such "
        "additions a second, on a chip that could do {peak} billion. Almost everything in this "
        "course is about this gap.",
        facts=limits_of_addition,
        spoilers=(re.compile(r"\b(12|twelve) bytes\b"),),
    ),
    WhichLine(
        id="00-wrong-line",
        asks="This kernel should turn a picture upside down: the last row of A becomes the first "
        "row of C. Which line is wrong?",
        code=UPSIDE_DOWN,
        line="C[y, x] = A[rows - y, x]",
        why="For y = 0, this line reads row `rows`, which does not exist: the last row is `rows - "
        "1`. It should read `A[rows - 1 - y, x]`. The guard checks the row that a thread writes, "
        "not the row that it reads.",
        innocent="This line is right. Follow the thread with y = 0 to the end.",
        suspects=(
            Suspect(
                "if y < rows",
                "The guard is right: it compares each index of C with the length of its axis. "
                "Does the thread use the same index for A?",
            ),
            Suspect("cuda.grid(2)", "This is right: x comes first, and x is the column."),
        ),
        hint="Which row of A does the thread with y = 0 read, if A has 5 rows?",
        proof=line_outside,
    ),
)
