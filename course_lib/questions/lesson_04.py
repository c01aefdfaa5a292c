"""Questions of lesson 04: what a block could share, what fits, running totals, what BK does."""

from __future__ import annotations

import numpy as np

from course_lib.curriculum import TASKS
from course_lib.devices import device
from course_lib.emulator import ArrayTraffic
from course_lib.questions.kinds import Choice, Choose, Drawn, Number, Trap
from course_lib.questions.runs import ones, run

A = np.arange(1, 17, dtype=np.float32).reshape(4, 4)
B = np.array([[1, 2, 0, 1], [1, 0, 2, 3], [1, 2, 0, 1], [1, 0, 2, 3]], dtype=np.float32)


def of_one_block() -> ArrayTraffic:
    """What one block of 16 × 16 threads loads of A, with K = 64, in the kernel of lesson 03."""
    matrices = ones(16, 64), ones(64, 16), ones(16, 16)
    return run(TASKS["matmul_coalesced"].answer, 1, (16, 16), *matrices).arrays["A"]


def different_numbers() -> float:
    return of_one_block().distinct_elements_loaded


def loads_of_each() -> float:
    return of_one_block().loaded_elements / different_numbers()


def strip_kib(rows: int, depth: int) -> float:
    return rows * depth * 4 / 1024


def room_facts() -> dict[str, object]:
    """The most shared memory that a block can have, in KiB."""
    return {name: device(name).capability.shared_per_block_kib for name in ("T4", "H100")}


def room_picture() -> Drawn:
    from course_lib.figures.hierarchy import strips_fit  # only this needs matplotlib

    return strips_fit()


def total_after(step: int, row: int, column: int) -> float:
    """A running total of the lesson's small product, in steps of two."""
    totals = np.zeros(2, dtype=np.float32)
    in_twos = TASKS["running_totals"].answer.replace("4", "2")
    run(in_twos, 1, 1, A[row].copy(), B[:, column].copy(), totals)
    return float(totals[step])


QUESTIONS = (
    Number(
        id="04-one-block",
        asks="In your `matmul_coalesced`, the 16 × 16 threads of one block load 16,384 elements "
        "of A if K is 64. How many different elements of A are among them?",
        value=different_numbers,
        unit="numbers",
        slips=(
            Trap(
                lambda: 16 * 16 * 64, "That would be true if no two threads needed the same number."
            ),
            Trap(lambda: 64, "That is one row of A."),
        ),
        reveal="There are {answer} different numbers: 16 rows of 64. Each of them is loaded "
        "{again} times. Instead, one thread could load each number for the whole block and put it "
        "into **shared memory**. Each block has a part of this memory to itself.",
        facts=lambda: {"again": loads_of_each()},
        spoilers=("16 rows of 64",),
    ),
    Number(
        id="04-strip",
        asks="A block computes 32 × 32 elements of C, and K is 4096. How large, in KiB, are the "
        "rows of A that this block needs? (1 KiB is 1024 bytes.)",
        value=lambda: strip_kib(32, 4096),
        unit="KiB",
        slips=(
            Trap(lambda: 32 * 4096 * 4, "That is the size in bytes."),
            Trap(lambda: 32 * 4096 / 1024, "A float32 takes up 4 bytes."),
            Trap(lambda: 2 * strip_kib(32, 4096), "That number includes the columns of B."),
        ),
        reveal="The rows of A take {answer} KiB, and the columns of B take just as much. But a "
        "block gets at most {T4} KiB of shared memory on a T4, and {H100} KiB on an H100. So the "
        "block goes along K in **steps**: it loads a few columns of A and a few rows of B, and "
        "then the next ones in their place. Such a piece of a matrix is called a **tile**.",
        facts=room_facts,
        figure=room_picture,
        spoilers=("512 KiB", "the next ones in their place"),
    ),
    Number(
        id="04-second-output",
        asks="Row 1 of A is 5, 6, 7, 8, and column 1 of B is 2, 0, 2, 0. Each step takes two "
        "values of k. What is the total of `C[1, 1]` after step 0?",
        value=lambda: total_after(0, 1, 1),
        unit="",
        slips=(
            Trap(lambda: total_after(1, 1, 1), "That is the total after both steps."),
            Trap(
                lambda: total_after(1, 1, 1) - total_after(0, 1, 1),
                "That is the part that step 1 adds.",
            ),
        ),
        reveal="The total is 5 · 2 + 6 · 0 = {answer}. After step 1, it is {both}.",
        facts=lambda: {"both": total_after(1, 1, 1)},
        spoilers=("5 · 2 + 6 · 0",),
    ),
    Choose(
        id="04-bk",
        asks="You change BK from 8 to 16. What happens?",
        choices=(
            Choice(
                "Each loaded number serves twice as many threads.",
                "How many threads a number serves depends on BM and BN.",
            ),
            Choice(
                "Half the bytes are requested.",
                "Compute `staged_bytes` for both values of BK. Where does BK appear in the result?",
            ),
            Choice(
                "A block needs double the shared memory and half as many steps.",
                "The tiles are larger, so fewer of them are needed.",
                right=True,
            ),
        ),
    ),
)
