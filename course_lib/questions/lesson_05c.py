"""Predictions of lesson 05c: what the tools see of five bugs, and what they do not."""

from __future__ import annotations

from course_lib.measurements import sanitizer
from course_lib.questions.kinds import Choice, Choose, Number, Trap

ROWS, COLUMNS = 33, 20
THREADS, WARP = 128, 32


def reads_past_the_array() -> int:
    """Of `A[row, COLUMNS]` in every row: those whose address lies behind the whole array."""
    return sum(row * COLUMNS + COLUMNS >= ROWS * COLUMNS for row in range(ROWS))


def pairs_between_warps() -> int:
    """Neighbours t and t + 1 of which one warp has the first and another one the second."""
    return sum(t // WARP != (t + 1) // WARP for t in range(THREADS - 1))


def facts_of(kernel: str, tool: str) -> dict[str, object]:
    """How many errors a tool counted, and on what."""
    run = sanitizer.load()
    return {"device": run.label, "errors": run.said[kernel][tool].errors}


QUESTIONS = (
    Number(
        id="05c-rows",
        asks="A is 33 × 20, and the kernel computes a column 20 as well. memcheck knows where an "
        "array begins and ends in memory, and nothing of rows. How many of the 33 loads of "
        "`A[row, 20]` leave the array?",
        value=reads_past_the_array,
        unit="",
        slips=(
            Trap(lambda: ROWS, "What is the address of `A[0, 20]`, counted from `A[0, 0]`?"),
            Trap(lambda: 0, "`A[32, 20]` is 660 elements behind `A[0, 0]`. How many are there?"),
        ),
        reveal="{answer}. `A[0, 20]` is `A[1, 0]`, and so on; only row 32 has no row after it. "
        "What gave the bug away is `bias[20]`: memcheck counted {errors} errors, all of them loads "
        "of `bias` ({device}). Its threads then end before they store anything.",
        facts=lambda: facts_of("add_bias", "memcheck"),
        spoilers=("is `A[1, 0]`", "gave the bug away"),
    ),
    Number(
        id="05c-warps",
        asks="Say that every lane of a warp has loaded before any lane of it stores. Between how "
        "many pairs of neighbouring threads can the first step, with `step = 1`, still go wrong?",
        value=pairs_between_warps,
        unit="pairs",
        slips=(
            Trap(lambda: THREADS - 1, "Lanes of one warp are said to be safe. Which pairs are left?"),
            Trap(lambda: THREADS // WARP, "So many warps there are. Where do two of them meet?"),
        ),
        reveal="{answer}: 31 and 32, 63 and 64, 95 and 96. That is why the numbers are right so "
        "often. racecheck does not wait for bad luck: it displayed {errors} hazards, one for each "
        "step but one ({device}).",
        facts=lambda: facts_of("prefix_sums", "racecheck"),
        spoilers=("31 and 32", "bad luck"),
    ),
    Choose(
        id="05c-silent",
        asks="Threads 36 to 63 of the second block never reach the barrier. synccheck looks for "
        "barriers that not all threads reach. What does it say on an H200?",
        choices=(
            Choice(
                "It names the barrier's line.",
                "It would, had these threads been waiting elsewhere. What do they do instead?",
            ),
            Choice("The kernel never ends, so it says nothing.", "It ended, and y was right."),
            Choice(
                "0 errors.",
                "These threads have nothing left to do, so they end.",
                right=True,
            ),
        ),
        reveal="{errors} errors ({device}), and `y` was right. The hardware counts threads that "
        "have ended as arrived. Nothing promises you that: a barrier in a branch is allowed only "
        "where all threads of the block take the branch.",
        facts=lambda: facts_of("differences", "synccheck"),
        spoilers=("have ended as arrived", "counts threads that"),
    ),
    Choose(
        id="05c-nobody",
        asks="In `block_sums`, 28 cells of shared memory are read that nobody has written. Which "
        "tool names that?",
        choices=(
            Choice("memcheck", "All 64 cells exist. Is it the index that is wrong?"),
            Choice("racecheck", "Nobody writes these cells, so nobody races for them."),
            Choice("initcheck", "It follows what was written to global memory."),
            Choice("None of the four", "So it takes a print, or the emulator.", right=True),
        ),
        reveal="None: all four counted {errors} errors, and on an H200 the sums were right, since "
        "the cells happened to hold 0 ({device}).",
        facts=lambda: facts_of("block_sums", "initcheck"),
        spoilers=("happened to hold 0",),
    ),
)
