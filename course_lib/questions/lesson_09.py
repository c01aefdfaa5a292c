"""Quick checks of lesson 09: wide loads, padding, slack, asynchronous copies."""

from __future__ import annotations

import numpy as np

from course_lib.devices import CACHE_LINE_BYTES, WARP_SIZE, device
from course_lib.emulator.cost import shared_cost
from course_lib.questions.kinds import Choice, Choose, Number, Slip


def passes_of_neighbours() -> int:
    """Of one load of 16 bytes, in which each lane takes the piece behind its neighbour's."""
    addresses = 16 * np.arange(WARP_SIZE).reshape(1, -1)
    return shared_cost(addresses, np.ones((1, WARP_SIZE), bool), 16).wavefronts


def most_share(rows: int, columns: int) -> float:
    """Percent of the A6000's peak that shared memory allows a thread's tile, without conflicts."""
    gpu = device("A6000")
    multiply_adds = gpu.fp32_lanes / WARP_SIZE
    passes = gpu.shared_bytes_per_clock / CACHE_LINE_BYTES
    return min(100.0, 100 * passes * rows * columns / (rows + columns) / multiply_adds)


QUESTIONS = (
    Number(
        id="09-passes",
        asks="A warp loads from shared memory with one `load4`. Lane 0 takes words 0 to 3, lane 1 "
        "words 4 to 7, and so on: 32 different pieces. How many passes does it need?",
        value=passes_of_neighbours,
        unit="passes",
        why="32 lanes ask for 512 bytes, and a pass moves 128: {answer}. That is normal for a wide "
        "load, and no bank conflict. Only what goes beyond is one.",
        slips=(
            Slip(lambda: 1, "That is the number of requests. One instruction may need more."),
            Slip(
                lambda: 16,
                "A lane's 16 bytes lie in neighbouring banks, which work at the same time.",
            ),
            Slip(lambda: 32, "Many lanes are served in the same pass, if their banks differ."),
        ),
        other="How many bytes does the warp ask for, and how many do the banks deliver at once?",
        hint="There are 32 banks, and each delivers one word in a pass. How many are asked for?",
    ),
    Choose(
        id="09-padding",
        asks="A's transposed tile has rows of 128 words, and its scattered stores conflict. It is "
        "read with `load4`. A colleague wants to make the rows longer by one word. What do you "
        "say?",
        hint="Where does row 1 start, in bytes, and what does a wide load ask of its address?",
        choices=(
            Choice(
                "Good: an odd row length is free of conflicts",
                "Not these stores: four rows further is 516 words, and two passes again. And the "
                "rows are read 16 bytes at a time, which makes a demand on where a row may begin.",
            ),
            Choice(
                "Better four: rows must still start at multiples of 16 bytes",
                "Row 1 then starts at word 132, a multiple of 4. The stores land 16 banks apart.",
                right=True,
            ),
            Choice(
                "Better 32, a whole set of banks",
                "Then each row starts at the same bank as before: nothing changes, but memory is "
                "lost.",
            ),
            Choice(
                "Useless: only reading can conflict",
                "The emulator counted two passes for each store. Banks serve both directions.",
            ),
        ),
    ),
    Number(
        id="09-slack",
        asks="A thread owns 4 × 16 outputs, on an A6000 (128 lanes, one pass per clock in an SM). "
        "There are no conflicts, and no two lanes share their pieces. How many percent of FP32 "
        "peak does shared memory allow at most?",
        value=lambda: most_share(4, 16),
        unit="percent",
        within=0.01,
        why="(4 + 16) / (4 · 16) = 0.3125 passes for each multiply–add. At full speed 4 of them "
        "start per clock and would need 1.25 passes; 1 / 1.25 is {answer} percent.",
        slips=(
            Slip(
                lambda: most_share(8, 8),
                "That is the square with as many outputs. This shape has a longer perimeter.",
            ),
            Slip(lambda: 125, "That is how busy shared memory would have to be at full speed."),
            Slip(lambda: 31.25, "These are the passes for each multiply–add, in hundredths."),
        ),
        other="Passes for each multiply–add: (TM + TN) / (TM · TN). Four multiply–adds of warps "
        "can start per clock.",
        hint="How many passes would four multiply–adds need? One per clock is to be had.",
    ),
    Choose(
        id="09-who-may-read",
        asks="A thread has called `cp_async16`, `cp_async_commit()` and `cp_async_wait(0)`. There "
        "was no barrier yet. Which of the copied numbers may it read?",
        hint="Whose groups does the wait look at?",
        choices=(
            Choice(
                "all that the block ordered",
                "It has waited for its own orders only. Another thread may not even have begun.",
            ),
            Choice(
                "none",
                "Its wait was not in vain: something has surely arrived.",
            ),
            Choice(
                "those that its warp ordered",
                "A warp's lanes need not be at the same place, and the wait is each thread's own.",
            ),
            Choice(
                "those that it ordered itself",
                "The wait covers this thread's groups. What the others ordered is there after they "
                "have waited, and the barrier is how one knows.",
                right=True,
            ),
        ),
    ),
)
