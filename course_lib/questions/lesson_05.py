"""Predictions and quick checks of lesson 05: who loads what, who waits, and for whom."""

from __future__ import annotations

import numpy as np

from course_lib.curriculum import TASKS
from course_lib.emulator import emulate, load_program
from course_lib.questions.kinds import (
    Choice,
    Choose,
    FillIn,
    Misread,
    Number,
    Suspect,
    Trap,
    WhichLine,
)
from course_lib.questions.runs import line_of, ones, run

REVERSE = """\
@cuda.jit
def reverse(x, y):
    buffer = cuda.shared.array(64, float32)
    i = cuda.threadIdx.x
    buffer[i] = x[i]
    y[i] = buffer[63 - i]
"""

TIMES_X = """\
@cuda.jit
def times_x(A, x, y):
    part = cuda.shared.array(64, float32)
    t, row = cuda.threadIdx.x, cuda.grid(1)
    total = float32(0)
    for start in range(0, x.shape[0], 64):
        part[t] = x[start + row]
        cuda.syncthreads()
        for k in range(64):
            total += A[row, start + k] * part[k]
        cuda.syncthreads()
    y[row] = total
"""

COALESCED = TASKS["matmul_coalesced"].answer
ONE_TILE = f"{TASKS['load_tile'].answer}\n\n{TASKS['one_tile_product'].answer}"
SUM_OF_THREE = TASKS["sum_of_three"].answer
GONE_HOME = SUM_OF_THREE.replace(
    "    part[t + 1] =", "    if i >= x.shape[0]:\n        return\n    part[t + 1] =", 1
)
BARRIERS = TASKS["place_the_barriers"].answer
ONE_BARRIER = "".join(BARRIERS.rsplit("        cuda.syncthreads()\n", 1))
HEAD = "from numba import cuda, float32\n"


def wrong(text: str, schedule: str) -> dict[str, int]:
    """How many of 64 numbers a kernel gets wrong with its warps in this order, and how many of
    these are NaN; it reverses each 64 numbers of x, and adds up."""
    turns = 1 if text is REVERSE else 4
    x, y = np.arange(64 * turns, dtype=np.float32), ones(64)
    kernel = next(iter(load_program(HEAD + text).functions.values()))
    emulate(kernel, schedule=schedule)[1, 64](x, y)
    right = x.reshape(turns, 64)[:, ::-1].sum(axis=0)
    return {"wrong": int((y != right).sum()), "nan": int(np.isnan(y).sum())}


def luck_facts() -> dict[str, object]:
    return {
        "in_step": wrong(REVERSE, "lockstep")["wrong"],
        "in_turn": wrong(REVERSE, "warps")["wrong"],
    }


def next_turn_facts() -> dict[str, object]:
    return {**wrong(ONE_BARRIER, "warps")}


def gone_home_facts() -> dict[str, object]:
    """What comes out wrong for 100 numbers when the threads past the end have returned."""
    x, y = ones(100), ones(100)
    run(GONE_HOME, 1, 128, x, y)
    padded = np.pad(x, 1)
    lost = np.flatnonzero(y != padded[:-2] + x + padded[2:])
    return {"lost": ", ".join(f"`y[{i}]`" for i in lost)}


def threads_that_load(row: int, column: int) -> int:
    """How many threads of one block of `matmul_coalesced` load this element of A."""
    profile = run(COALESCED, 1, (16, 16), *(ones(16, 16) for _ in range(3)), trace=True)
    loads = [access for access in profile.trace if access.array == "A"]
    return sum(int((load.indices == (row, column)).all(axis=1).sum()) for load in loads)


def loaded(text: str) -> int:
    """Numbers that the last kernel of a text loads from global memory for 64 x 16 by 16 x 64."""
    profile = run(text, (4, 4), (16, 16), ones(64, 16), ones(16, 64), ones(64, 64))
    return profile.global_load_bytes // 4


def line_that_leaves_x() -> int:
    """The line that the emulator names where there are two blocks."""
    profile = run(TIMES_X, 2, 64, ones(128, 128), ones(128), ones(128))
    return line_of(profile, "out-of-bounds-read")


QUESTIONS = (
    Number(
        id="05-who-asks",
        asks="In `matmul_coalesced`, how many of the 16 × 16 threads in block (0, 0) load the "
        "number `A[5, 3]`?",
        value=lambda: threads_that_load(5, 3),
        unit="threads",
        slips=(
            Trap(lambda: 1, "`A[5, 3]` is needed for all of row 5 of C."),
            Trap(lambda: 256, "Only the threads of one row of C need it."),
        ),
        reveal="{answer}: the whole row of threads with y = 5. One of these threads could load "
        "the number for all of them, if only there were a place to put it.",
        spoilers=("16 threads load", "whole row of threads"),
    ),
    Choose(
        id="05-luck",
        asks="64 threads reverse 64 numbers without waiting for each other. What does `y` contain?",
        code=REVERSE,
        choices=(
            Choice(
                "The right numbers.",
                "Only if both warps happen to run each line together.",
            ),
            Choice("Wrong numbers.", "Only if one warp runs ahead of the other."),
            Choice(
                "It depends on the order of the warps.",
                "Nothing guarantees the order in which warps run.",
                right=True,
            ),
        ),
        reveal="The emulator tried two orders. If all warps run **in step**, line by line, "
        "{in_step} of the 64 numbers are wrong. If the warps run one after the other, {in_turn} "
        "are wrong, because the first warp reads what the second has not written yet. This is a "
        "**race**: the result depends on who comes first.",
        facts=luck_facts,
        spoilers=("depends on who comes first", "right by luck"),
    ),
    Choose(
        id="05-go-home",
        asks="Someone begins `sum_of_three` with `if i >= x.shape[0]: return`, because threads "
        "past the end have nothing to store. x has 100 numbers. What happens?",
        choices=(
            Choice(
                "The same sums, a little sooner.",
                "These threads own no sum. Do they have another job?",
            ),
            Choice(
                "A cell of `part` stays empty.",
                "A thread without a sum of its own still loads for its neighbours.",
                right=True,
            ),
            Choice(
                "The kernel hangs.",
                "A barrier ignores threads that have returned. (On GPUs older than the Volta "
                "generation of 2017 it might hang.)",
            ),
        ),
        reveal="{lost} is wrong: thread 100 should have written a zero next to the last number, "
        "but it had already returned. The other threads were lucky that it had *returned*: if a "
        "thread merely skips the barrier, they may wait for it forever. So guard the loads and "
        "guard the store, but never the barrier.",
        facts=gone_home_facts,
        spoilers=("never the barrier", "gone home"),
    ),
    Choose(
        id="05-next-turn",
        asks="Suppose the second of your two barriers is missing, and a fast warp runs ahead "
        "into the next iteration. What does the slow warp read?",
        choices=(
            Choice("Zeros.", "Nothing clears the buffer."),
            Choice("NaN, or garbage.", "Every cell was written, so every cell holds a number."),
            Choice(
                "Valid numbers, from the next iteration.",
                "The fast warp has stored them where the slow one still reads.",
                right=True,
            ),
        ),
        reveal="If one warp runs after the other, {wrong} sums are wrong and {nan} of them are "
        "NaN, so nothing looks broken. And a test with a single iteration would pass.",
        facts=next_turn_facts,
        spoilers=("nothing looks broken", "from the next iteration"),
    ),
    Number(
        id="05-loads",
        asks="To multiply 64 × 16 by 16 × 64, `matmul_coalesced` loads 131,072 numbers from "
        "global memory. How many numbers does your `one_tile_product` load?",
        value=lambda: loaded(ONE_TILE),
        unit="numbers",
        slips=(
            Trap(lambda: 2048, "That is all of A and B. But each block loads its own tiles."),
            Trap(lambda: 512, "One block loads that many numbers. How many blocks cover C?"),
        ),
        reveal="{answer}: each of the {blocks} blocks loads two tiles. That is {times} times "
        "fewer numbers, because every loaded number serves as many threads as a tile is wide.",
        facts=lambda: {"blocks": (64 // 16) ** 2, "times": loaded(COALESCED) // loaded(ONE_TILE)},
        spoilers=("8,192", "16 times fewer"),
    ),
    WhichLine(
        id="05-wrong-line",
        asks="This kernel computes y = A @ x in blocks of 64 threads. Each thread takes one row of "
        "A, and all sizes are multiples of 64. With one block, y is right, but with two blocks, a "
        "thread reads out of bounds. Which line is wrong?",
        code=TIMES_X,
        line="part[t] = x",
        why="`row` is the thread's number in the whole grid, but every block needs all of x, so "
        "the index must be `start + t`.",
        innocent="This line is right. Which number does a thread load for its block?",
        suspects=(
            Suspect("total += A", "Each thread sums along its own row, and all use the same x."),
        ),
        hint="Which numbers of x does block 1 need?",
        proof=line_that_leaves_x,
    ),
    FillIn(
        id="05-padding",
        asks="Suppose a kernel looks for the largest number of a row instead of its sum: `most = "
        "max(most, tile[k])`. What should a cell of the tile hold if it lies outside the matrix?",
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
        why="Minus infinity never wins a maximum, just as zero never changes a sum.",
        misread=(
            Misread(
                ("0", "zero", "0.0"),
                "If all numbers are negative, zero would win without being one of them.",
            ),
            Misread(
                ("inf", "infinity", "+inf", "np.inf", "math.inf", "∞"),
                "Infinity would win every time. Try the other end of the range.",
            ),
        ),
        other="It must lose against every other number, however small.",
        hint="float32 has a value below all others.",
    ),
)
