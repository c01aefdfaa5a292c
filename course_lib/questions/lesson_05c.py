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
        asks="A is 33 × 20, but the kernel also computes a column 20. The tool memcheck knows "
        "where an array begins and ends in memory, but not where its rows end. How many of the "
        "33 loads of `A[row, 20]` are outside the array?",
        value=reads_past_the_array,
        unit="",
        slips=(
            Trap(lambda: ROWS, "What is the address of `A[0, 20]`, counted from `A[0, 0]`?"),
            Trap(
                lambda: 0,
                "`A[32, 20]` is 660 elements after `A[0, 0]`. How many elements does A have?",
            ),
        ),
        reveal="Only {answer}. `A[0, 20]` is `A[1, 0]`, and so on; only row 32 has no row "
        "after it. But `bias[20]` is past the end of `bias` in every row, so memcheck "
        "counted {errors} errors ({device}).",
        facts=lambda: facts_of("add_bias", "memcheck"),
        spoilers=("is `A[1, 0]`", "lies behind `bias`"),
    ),
    Number(
        id="05c-warps",
        asks="Suppose that in every warp, all lanes load before any lane stores. For how many "
        "pairs of neighbouring threads can the first step still go wrong?",
        value=pairs_between_warps,
        unit="pairs",
        slips=(
            Trap(
                lambda: THREADS - 1,
                "Within a warp, the question says, nothing can go wrong. Which pairs are left?",
            ),
            Trap(
                lambda: THREADS // WARP,
                "That is the number of warps. How many borders are there between neighbouring "
                "warps?",
            ),
        ),
        reveal="{answer} pairs: those where one warp ends and the next one begins. This is why "
        "the numbers are right so often. racecheck does not wait for bad luck: it counted "
        "{errors} errors ({device}), as many as there are steps that can go wrong. In the last "
        "step, nobody writes what another thread reads.",
        facts=lambda: facts_of("prefix_sums", "racecheck"),
        spoilers=("where one warp ends", "bad luck"),
    ),
    Choose(
        id="05c-silent",
        asks="With 100 numbers, threads 36 to 63 of the second block never reach the barrier. "
        "What did synccheck report about this on an H200?",
        choices=(
            Choice(
                "It named the line of the barrier.",
                "It would if these threads waited somewhere else. What do these threads still "
                "have to do below the branch?",
            ),
            Choice(
                "Nothing, because the kernel never ended.",
                "Which threads does the barrier wait for? Have these threads ended?",
            ),
            Choice(
                "0 errors.",
                "These threads have nothing left to do, so they end.",
                right=True,
            ),
        ),
        reveal="The answer is {errors} errors ({device}), and `y` was right: there is nothing "
        "below the branch, so these threads end. If you write one more barrier there, these "
        "threads wait at the new barrier while the others wait at the old one.",
        facts=lambda: facts_of("differences", "synccheck"),
        spoilers=("so these threads end", "one more barrier there"),
    ),
    Choose(
        id="05c-nobody",
        asks="In `block_sums`, a thread reads 28 elements of shared memory that nobody has "
        "written. Which tool reports this?",
        choices=(
            Choice("memcheck", "All 64 elements exist. Is it the index that is wrong?"),
            Choice("racecheck", "Nobody writes these elements, so there is no race."),
            Choice("initcheck", "It watches only what is written to global memory."),
            Choice("None of the four", "So you need a print, or the emulator.", right=True),
        ),
        reveal="None of them: all four counted {errors} errors. On an H200 the sums were even "
        "right, since these elements happened to hold 0 ({device}).",
        facts=lambda: facts_of("block_sums", "initcheck"),
        spoilers=("happened to hold 0",),
    ),
)
