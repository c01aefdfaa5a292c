"""Questions of lesson 04: what a block could share, what fits, running totals, who stages what."""

from __future__ import annotations

import numpy as np

from course_lib.curriculum import TASKS
from course_lib.devices import device
from course_lib.emulator import Profile
from course_lib.questions.kinds import Choice, Choose, Number, Slip
from course_lib.questions.runs import ones, run

# Stages a tile of 4 × 2 and one of 2 × 4, and says which threads loaded something.
STAGERS = """\
@cuda.jit
def stagers(A, B, loads):
    sA = cuda.shared.array((4, 2), float32)
    sB = cuda.shared.array((2, 4), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    if tx < 2:
        sA[ty, tx] = A[ty, tx]
        loads[ty, tx] += 1
    if ty < 2:
        sB[ty, tx] = B[ty, tx]
        loads[ty, tx] += 1
"""
A = np.arange(1, 17, dtype=np.float32).reshape(4, 4)
B = np.array([[1, 2, 0, 1], [1, 0, 2, 3], [1, 2, 0, 1], [1, 0, 2, 3]], dtype=np.float32)


def of_one_block() -> Profile:
    """One block of 16 × 16 threads, with K = 64, in the kernel of lesson 03."""
    return run(TASKS["matmul_coalesced"].answer, 1, (16, 16), *map(lambda s: ones(*s), SHAPES))


SHAPES = (16, 64), (64, 16), (16, 16)


def different_numbers() -> float:
    return of_one_block().arrays["A"].distinct_elements_loaded


def loads_of_each() -> float:
    return of_one_block().arrays["A"].loaded_elements / different_numbers()


def strip_kib(rows: int, depth: int) -> float:
    return rows * depth * 4 / 1024


def room_facts() -> dict[str, object]:
    """The most shared memory that a block can have, in KiB."""
    names = "T4", "A6000", "H100"
    return {name: device(name).capability.shared_per_block_kib for name in names}


def room_picture() -> object:
    from course_lib.figures import strips_fit  # only this needs matplotlib

    return strips_fit()


def total_after(step: int, row: int, column: int) -> float:
    """A running total of the lesson's small product, in steps of two."""
    totals = np.zeros(2, dtype=np.float32)
    in_twos = TASKS["running_totals"].answer.replace("4", "2")
    run(in_twos, 1, 1, A[row].copy(), B[:, column].copy(), totals)
    return float(totals[step])


def loaders(count: int) -> int:
    """How many of the 16 threads stage so many elements."""
    loads = np.zeros((4, 4), dtype=np.float32)
    run(STAGERS, 1, (4, 4), A, B, loads)
    return int((loads == count).sum())


QUESTIONS = (
    Number(
        id="04-one-block",
        asks="One block of 16 × 16 threads computes its part of C with your `matmul_coalesced`; "
        "K is 64. Its threads load 16,384 numbers of A. How many different numbers are they?",
        value=different_numbers,
        unit="numbers",
        slips=(
            Slip(lambda: 16 * 16 * 64, "So it is if no two threads want the same number."),
            Slip(lambda: 16 * 16, "That is how many threads there are. What does each need of A?"),
            Slip(lambda: 64, "That is one row of A. How many rows of C has the block?"),
        ),
        reveal="{answer}: 16 rows of 64. Each is loaded {again} times. If one thread loaded it and "
        "put it where the whole block can read it, the others need not ask. Such a place is "
        "**shared memory**: every block has a piece of it, on its SM, and nothing is in it but "
        "what the block has put there.",
        facts=lambda: {"again": loads_of_each()},
        spoilers=("16 rows of 64",),
    ),
    Number(
        id="04-strip",
        asks="A block computes 32 × 32 elements of C, and K is 4096. How many KiB do its rows of A "
        "take, in float32? (1 KiB is 1024 bytes.)",
        value=lambda: strip_kib(32, 4096),
        unit="KiB",
        slips=(
            Slip(lambda: 32 * 4096 * 4, "These are bytes."),
            Slip(lambda: 32 * 4096 / 1024, "These are numbers, in units of 1024."),
            Slip(lambda: 2 * strip_kib(32, 4096), "That is with the columns of B."),
            Slip(lambda: 32 * 32 * 4 / 1024, "That is the part of C. How long is a row of A?"),
        ),
        reveal="{answer} KiB, and as much for its columns of B. But a block gets at most {T4} KiB "
        "of shared memory on a T4, {A6000} on an A6000, {H100} on an H100. So it works in "
        "**steps**: a few columns of A and the same rows of B, then the next ones in their place. "
        "Such a piece is a **tile**.",
        facts=room_facts,
        figure=room_picture,
        spoilers=("512 KiB", "the next ones in their place"),
    ),
    Number(
        id="04-second-output",
        asks="A product in steps of two: row 1 of A is 5, 6, 7, 8, and column 1 of B is "
        "2, 0, 2, 0. What is the running total of `C[1, 1]` after step 0?",
        value=lambda: total_after(0, 1, 1),
        unit="",
        slips=(
            Slip(lambda: total_after(1, 1, 1), "That is the total after both steps."),
            Slip(
                lambda: total_after(1, 1, 1) - total_after(0, 1, 1),
                "That is what step 1 adds, from 7, 8 and 2, 0.",
            ),
        ),
        reveal="5 · 2 + 6 · 0 = {answer}, and after step 1 it is {both}.",
        facts=lambda: {"both": total_after(1, 1, 1)},
        spoilers=("5 · 2 + 6 · 0",),
    ),
    Number(
        id="04-idle",
        asks="A block of 4 × 4 threads stages a tile of A with 4 rows and 2 columns, and one of B "
        "with 2 rows and 4 columns: a thread with `threadIdx.x < 2` loads an element of A, one "
        "with `threadIdx.y < 2` an element of B. How many threads load nothing?",
        value=lambda: loaders(0),
        unit="threads",
        slips=(
            Slip(lambda: 0, "There are 16 elements and 16 threads. But does nobody load two?"),
            Slip(lambda: 8, "So many do not load A. Some of them load B."),
        ),
        reveal="{answer}. Another {both} load twice, and {one} load once.",
        facts=lambda: {"both": loaders(2), "one": loaders(1)},
        spoilers=("load twice",),
    ),
    Choose(
        id="04-bk",
        asks="Blocks compute 32 × 32 elements of C. You double BK from 8 to 16. What happens?",
        choices=(
            Choice(
                "Each loaded number is used twice as often.",
                "That depends on how many elements of C share it: on BM and BN.",
            ),
            Choice(
                "The requested bytes fall by half.",
                "They stay: your function has no BK left in it.",
            ),
            Choice(
                "Twice the shared memory, half the steps.",
                "Larger tiles, and fewer of them. What is loaded stays the same.",
                right=True,
            ),
            Choice(
                "The totals need twice the registers.",
                "A thread has as many totals as elements of C: one.",
            ),
        ),
    ),
)
