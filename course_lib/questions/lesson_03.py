"""Predictions of lesson 03: which bytes move, how many sectors, and what fewer of them gain."""

from __future__ import annotations

import numpy as np

from course_lib.curriculum import TASKS
from course_lib.devices import SECTOR_BYTES, WARP_SIZE
from course_lib.measurements.memory import forms, levels
from course_lib.questions.kinds import Choice, Choose, Drawn, Number, Trap, tells_times
from course_lib.questions.runs import ones, run

WHO_AM_I = """\
@cuda.jit
def who_am_i(lane):
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    lane[y, x] = (y * cuda.blockDim.x + x) % 32
"""

RUN_SUMS = """\
@cuda.jit
def run_sums(x, y):
    i = cuda.grid(1)
    total = float32(0)
    for k in range(16):
        total += x[16 * i + k]
    y[i] = total
"""

ROW_SUMS = """\
@cuda.jit
def row_sums(A, y):
    row = cuda.grid(1)
    if row < y.shape[0]:
        total = float32(0)
        for column in range(A.shape[1]):
            total += A[row, column]
        y[row] = total
"""

TYPED = "Numba, range"
STRIDED_SUMS = TASKS["strided_sums"].answer
# Sectors of a warp for both operands, down a column and along a row; the other load takes one.
FEWER = (WARP_SIZE + 1) / (4 * WARP_SIZE // SECTOR_BYTES + 1)


def lane_of(x: int, y: int) -> int:
    """The lane of a thread in a block of 16 x 16."""
    lane = np.zeros((16, 16), dtype=np.int32)
    run(WHO_AM_I, 1, (16, 16), lane)
    return int(lane[y, x])


def bytes_moved(text: str) -> int:
    """By the loads of 64 threads that add up 1024 numbers."""
    return SECTOR_BYTES * run(text, 2, 32, ones(1024), ones(64)).global_load_sectors


def sums_facts() -> dict[str, object]:
    yours, theirs = bytes_moved(STRIDED_SUMS), bytes_moved(RUN_SUMS)
    return {
        "yours": yours,
        "theirs": theirs,
        "times": theirs / yours,
        "sector": SECTOR_BYTES,
        "warp": WARP_SIZE,
    }


def sectors_of_sums(text: str) -> float:
    """Sectors for each load of a warp that adds up the rows, or columns, of 64 x 64 numbers."""
    traffic = run(text, 2, 32, ones(64, 64), ones(64)).arrays["A"]
    return traffic.load_sectors / traffic.load_requests


def of_a_step(task: str) -> float:
    """Sectors that a warp's loads touch in one step of k, in a block of 32 x 32."""
    matrices = ones(32, 32), ones(32, 32), ones(32, 32)
    return run(TASKS[task].answer, 1, (32, 32), *matrices).global_load_sectors / (32 * 32)


def times_faster() -> float:
    """Both as a student types them."""
    return forms("naive")[TYPED].ms / forms("coalesced")[TYPED].ms


def speed_facts() -> dict[str, object]:
    before, after = levels("naive"), levels("coalesced")
    return {
        "device": forms("naive")[TYPED].label,
        "before_l1": f"{before.l1_gb:,.0f}",
        "after_l1": f"{after.l1_gb:,.0f}",
        "before": f"{forms('naive')[TYPED].ms:,.0f}",
        "after": f"{forms('coalesced')[TYPED].ms:,.0f}",
    }


def first_loads() -> Drawn:
    from course_lib.figures.explore.sectors import warp_access  # only this needs matplotlib
    from course_lib.figures.requests import request_of

    requests = []
    for name, text in (("yours", STRIDED_SUMS), ("your colleague's", RUN_SUMS)):
        profile = run(text, 2, 32, ones(1024), ones(64), trace=True)
        requests.append(request_of(profile, "x", title=f"{name}: the first load of x"))
    return warp_access(*requests)


QUESTIONS = (
    Choose(
        id="03-own-run",
        asks="Your kernel and your colleague's load the same 1,024 numbers with the same "
        "number of loads. Whose loads move fewer bytes?",
        choices=(
            Choice(
                "Yours.",
                "At any time, your 32 threads ask for 32 neighbours.",
                right=True,
            ),
            Choice(
                "Your colleague's.",
                "Each thread asks for its neighbours one after the other. What do all threads ask "
                "for at the same time?",
            ),
            Choice("Neither's.", "That would be true if a single number could travel alone."),
        ),
        reveal="Your loads move {yours} bytes, and your colleague's loads move {theirs}, which is "
        "{times} times as many. The smallest piece that memory delivers is a **sector** of "
        "{sector} bytes, or eight float32 numbers. And a thread never asks alone: a whole "
        "**warp** of {warp} threads asks together.",
        facts=sums_facts,
        figure=first_loads,
        spoilers=("sectors per request", "ask for 32 neighbours"),
    ),
    Number(
        id="03-lane",
        asks="A block has 16 × 16 threads. Which lane of its warp is the thread with "
        "`threadIdx.x = 3` and `threadIdx.y = 5`?",
        value=lambda: lane_of(x=3, y=5),
        unit="",
        why="Threads are numbered along x first. So the thread has the number 5 · 16 + 3 = 83 in "
        "its block, and it is lane {answer} of warp 2.",
        slips=(
            Trap(
                lambda: 5 * 16 + 3,
                "That is the thread's number in its block. Each warp takes 32 of these numbers.",
            ),
            Trap(
                lambda: (5 * 16 + 3) // 32,
                "That is the number of its warp. Which place does the thread have in this warp?",
            ),
            Trap(
                lambda: (3 * 16 + 5) % 32,
                "That would be true if threads were numbered along y first. They are numbered "
                "along x first.",
            ),
            Trap(lambda: 3, "Two rows of 16 threads share a warp, so x alone does not decide."),
        ),
        other="Number the threads of the block, along x first. Then divide the numbers into "
        "groups of 32.",
        hint="Five whole rows of 16 threads come before the row of this thread.",
    ),
    Number(
        id="03-row-sums",
        asks="A is 64 × 64 and row-major. Each thread adds up one row, so it reads neighbours one "
        "after the other. How many sectors does each load of a warp touch?",
        value=lambda: sectors_of_sums(ROW_SUMS),
        unit="sectors",
        slips=(
            Trap(
                lambda: 4,
                "That would be true if the *lanes* read neighbours. Here each lane "
                "has its own row.",
            ),
            Trap(
                lambda: 1,
                "The next number of this thread is in the same sector. But 32 threads ask at "
                "the same time.",
            ),
        ),
        reveal="Each load touches {answer} sectors, because the lanes read from as many different "
        "rows. With one thread for each **column**, a load touches only {columns}.",
        facts=lambda: {"columns": sectors_of_sums(TASKS["column_totals"].answer)},
        spoilers=("as many different rows",),
    ),
    Number(
        id="03-step",
        asks="In a block of 32 × 32, all lanes of a warp have the same y. In one step along k, a "
        "warp of `naive_by_rows` touches 32 sectors of A and 1 of B. How many sectors of A and B "
        "does a warp of your kernel touch?",
        value=lambda: of_a_step("matmul_coalesced"),
        unit="sectors",
        slips=(
            Trap(
                lambda: 33,
                "Then nothing would have changed. Which elements of A do the lanes of your kernel "
                "ask for?",
            ),
            Trap(
                lambda: 8,
                "The load of B touches four sectors. But all lanes share one row of A, so they "
                "ask for a single element of A.",
            ),
            Trap(lambda: 4, "The load of B alone touches that many."),
        ),
        reveal="{answer} sectors: one for A, because all lanes ask for the same number (a "
        "**broadcast**), and four for 32 neighbours of B.",
        spoilers=("because all lanes ask for the same number", "33 to 5"),
    ),
    Number(
        id="03-faster",
        asks="We timed both kernels as you typed them, in Numba, with 4096 × 4096 matrices and "
        f"blocks of 32 × 32. Your kernel touches {FEWER:.1f} times fewer sectors. By what factor "
        "is your kernel faster on an H200?",
        value=times_faster,
        unit="times",
        within=0.15,
        slips=(
            Trap(
                lambda: 6.6,
                "That would be true if a load cost nothing but its sectors.",
            ),
            Trap(
                lambda: 1,
                "Both kernels move about the same number of bytes from DRAM, but DRAM "
                "was not the limit.",
            ),
        ),
        reveal="It is {answer} times as fast: {before} ms for `naive_by_rows`, {after} ms for "
        "yours ({device}, Numba, `range`). Fewer bytes pass through L1: {after_l1} GB instead of "
        "{before_l1}. So the sectors tell you which kernel wins, and why. They do not tell you by "
        "how much, because something else limits your kernel now. Counts explain; clocks measure.",
        facts=speed_facts,
        spoilers=(tells_times(times_faster()), "something else limits your kernel"),
    ),
)
