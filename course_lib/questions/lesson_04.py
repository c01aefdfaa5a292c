"""Quick checks of lesson 04: running totals, how often is often, what BK does and does not."""

from __future__ import annotations

import numpy as np

from course_lib.questions.kinds import Choice, Choose, FillIn, Misread, Number, Slip
from course_lib.questions.runs import ones, run

# The lesson's kernel; the diary keeps each total after each step.
TOY = """\
@cuda.jit
def matmul_toy(A, B, C, diary):
    sA = cuda.shared.array((4, 2), float32)
    sB = cuda.shared.array((2, 4), float32)
    col, row = cuda.grid(2)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    total = float32(0)
    start = 0
    while start < A.shape[1]:
        if tx < 2:
            sA[ty, tx] = A[row, start + tx]
        if ty < 2:
            sB[ty, tx] = B[start + ty, col]
        cuda.syncthreads()
        for k in range(2):
            total += sA[ty, k] * sB[k, tx]
        diary[start // 2, row, col] = total
        cuda.syncthreads()
        start += 2
    C[row, col] = total
"""

A = np.arange(1, 17, dtype=np.float32).reshape(4, 4)
B = np.array([[1, 2, 0, 1], [1, 0, 2, 3], [1, 2, 0, 1], [1, 0, 2, 3]], dtype=np.float32)


def total_after(step: int, row: int, column: int) -> float:
    """A running total of the lesson's toy."""
    diary = np.zeros((2, 4, 4), dtype=np.float32)
    run(TOY, 1, (4, 4), A, B, np.zeros((4, 4), np.float32), diary)
    return float(diary[step, row, column])


def loads_of_each_element(n: int) -> float:
    """How often each element of A is loaded from global memory, for n x n matrices."""
    blocks = (n // 4, n // 4)
    profile = run(TOY, blocks, (4, 4), ones(n, n), ones(n, n), ones(n, n), ones(n // 2, n, n))
    return profile.arrays["A"].loaded_elements / n**2


def strip_kib(rows: int, depth: int) -> float:
    return rows * depth * 4 / 1024


QUESTIONS = (
    Number(
        id="04-second-output",
        asks="Row 1 of A is 5, 6, 7, 8, and column 1 of B is 2, 0, 2, 0. With BK = 2, what is the "
        "running total of `C[1, 1]` after step 0?",
        value=lambda: total_after(0, 1, 1),
        unit="",
        why="Step 0 brings 5, 6 and 2, 0: 5 · 2 + 6 · 0 = {answer}.",
        slips=(
            Slip(lambda: total_after(1, 1, 1), "That is the total after both steps."),
            Slip(
                lambda: total_after(1, 1, 1) - total_after(0, 1, 1),
                "That is what step 1 adds, from 7, 8 and 2, 0.",
            ),
            Slip(
                lambda: total_after(0, 0, 0),
                "That is `C[0, 0]`. Here are row 1 and column 1.",
            ),
        ),
        other="Take the first two numbers of the row and the first two of the column, multiply the "
        "pairs, add them up.",
        hint="Step 0 brings k = 0 and k = 1, and nothing else.",
    ),
    FillIn(
        id="04-home",
        asks="Tiles come and go in shared memory. The running total stays. In what kind of memory "
        "does each thread keep it? (One word.)",
        accepts=(
            "register",
            "registers",
            "a register",
            "in a register",
            "in registers",
            "the registers",
            "its registers",
            "register file",
            "hands",
            "the hands",
            "hand",
        ),
        why="In a register: private to the thread, and the nearest place there is. The tiles are "
        "for the block, the total is its own.",
        misread=(
            Misread(
                ("shared memory", "shared", "in shared memory", "bench", "the bench"),
                "There lie the tiles, for all threads of the block, and they are overwritten in "
                "each step. The total belongs to one thread.",
            ),
            Misread(
                ("global memory", "global", "dram", "depot", "C", "in C"),
                "C gets the finished sum, once, after the last step. Until then the total is kept "
                "nearer.",
            ),
            Misread(
                ("cache", "L1", "L2", "L1 cache", "L2 cache"),
                "A cache keeps copies of global memory. The total has no place there yet.",
            ),
            Misread(
                ("local memory", "local"),
                "That is where a thread's own values go when there are too many of them. One "
                "total finds a nearer place.",
            ),
        ),
        other="Lesson 01 named four places. Which one has every thread for itself?",
        hint="In the warehouse it is what a worker has without reaching out at all.",
    ),
    Number(
        id="04-strip",
        asks="How large is the strip of A for a block that computes 16 rows, with K = 2048 in "
        "float32? (In KiB; 1 KiB is 1024 bytes.)",
        value=lambda: strip_kib(16, 2048),
        unit="KiB",
        why="16 · 2048 numbers of 4 bytes are {answer} KiB. An H100 block can have that, one of a "
        "T4 or an A6000 cannot, and the strip of B is still to come.",
        slips=(
            Slip(lambda: 16 * 2048 * 4, "These are bytes. How many KiB?"),
            Slip(lambda: 16 * 2048 / 1024, "That counts numbers. Each of them has 4 bytes."),
            Slip(
                lambda: 2 * strip_kib(16, 2048),
                "That is A's strip and B's together. The question is about A's alone.",
            ),
            Slip(
                lambda: 16 * 2048 * 4 / 1000,
                "That is in kB, thousands of bytes. A KiB has 1024 bytes.",
            ),
        ),
        other="Rows times length times the bytes of a number, divided by 1024.",
        hint="The lesson's strip of 4 rows and K = 4096 takes 64 KiB.",
    ),
    Number(
        id="04-how-often",
        asks="Now A, B and C are 12 × 12, with blocks of 4 × 4 threads and BK = 2. How often is "
        "each element of A loaded from global memory?",
        value=lambda: loads_of_each_element(12),
        unit="times",
        why="12 / 4 = {answer} blocks stand side by side over the same rows of A, and each loads "
        "them for itself.",
        slips=(
            Slip(
                lambda: 1,
                "Once per block. How many blocks need the same row of A?",
            ),
            Slip(lambda: 12, "That is without tiles: once for each output of the row."),
            Slip(lambda: 12 // 2, "That is the number of steps. Each step loads other elements."),
            Slip(
                lambda: (12 // 4) ** 2,
                "That is the number of all blocks. Do blocks further down need the same rows of A?",
            ),
        ),
        other="Which blocks compute outputs in the same rows? Each of them loads those rows of A.",
        hint="Draw the blocks over C. Which of them stand side by side?",
    ),
    Choose(
        id="04-bk",
        asks="Blocks compute 32 × 32 outputs. You double BK from 8 to 16. What happens?",
        choices=(
            Choice(
                "Each loaded number is used twice as often.",
                "How often it is used depends on how many outputs share it, and those are BM and "
                "BN.",
            ),
            Choice(
                "The requested bytes fall by half.",
                "They stay: M·N·K / BN for A and M·N·K / BM for B, times 4. There is no BK in it.",
            ),
            Choice(
                "Twice the shared memory, half the barriers.",
                "Larger tiles, fewer steps, so fewer waits. What is loaded stays the same.",
                right=True,
            ),
            Choice(
                "The totals need twice the registers.",
                "A thread has as many totals as it has outputs: one.",
            ),
        ),
    ),
)
