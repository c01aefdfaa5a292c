"""Questions of lesson 09b: two buffers in time, one barrier, what waits, warps that are left."""

from __future__ import annotations

import re

from course_lib.curriculum import rung
from course_lib.devices import occupancy
from course_lib.measurements import load
from course_lib.measurements.what_binds import SLOTS, seen
from course_lib.questions.kinds import Choice, Choose, Number, Trap

LOAD, MULTIPLY, TILES = 3, 2, 4  # ticks of the model in explore_double_buffer, and its tiles
PUBLISHED_TWO_BUFFERS = 17_278.3  # GFLOP/s, S. Boehm, SGEMM_CUDA (README table), RTX A6000
OF_CP_ASYNC = (256, 249, 37_248)  # threads, registers, bytes of shared memory; compiled for 8.6
OUTPUTS = (8, 16)  # that a thread of cp_async owns


def ticks(buffers: int) -> int:
    """How long the tiles take with one buffer or two: then the longer job sets the pace."""
    if buffers == 1:
        return TILES * (LOAD + MULTIPLY)
    return LOAD + (TILES - 1) * max(LOAD, MULTIPLY) + MULTIPLY


def waiting_facts() -> dict[str, object]:
    before, after = seen("warp_tiled"), seen("double_buffered")
    return {
        "where": after.label,
        "before": f"{before.waiting_for_global:.2f}",
        "after": f"{after.waiting_for_global:.2f}",
        "slots": f"{before.busy[SLOTS]:.0%}",
        "fuller": f"{after.busy[SLOTS]:.0%}",
    }


def published_facts() -> dict[str, object]:
    warp_tiles = rung("warp_tiled").published_gflops
    found = load("H200").speeds(4096, ("float32",))
    ours = found.gflops["double_buffered"] / found.gflops["warp_tiled"]
    return {
        "slow": f"{PUBLISHED_TWO_BUFFERS:,.0f}",
        "fast": f"{warp_tiles:,.0f}",
        "ours": f"{ours:.2f}",
        "where": found.label,
    }


def warps_left() -> float:
    """Warps of cp_async on an SM of an A6000."""
    return occupancy("A6000", *OF_CP_ASYNC).warps


def warps_facts() -> dict[str, object]:
    found = load("H200").speeds(4096, ("float32",))
    return {
        "sums": OUTPUTS[0] * OUTPUTS[1],
        "gflops": f"{found.gflops['cp_async']:,.0f}",
        "share": f"{found.of_cublas['cp_async']:.0%}",
        "where": found.label,
    }


QUESTIONS = (
    Number(
        id="09b-ticks",
        asks="Suppose a tile takes 3 ticks to arrive and 2 to be multiplied. With one buffer, "
        "four tiles take 20 ticks. How many ticks do they take with two buffers?",
        value=lambda: ticks(2),
        unit="ticks",
        slips=(
            Trap(lambda: ticks(1), "While one tile is multiplied, the next may be on its way."),
            Trap(
                lambda: 10,
                "Half of the ticks? Each tile still takes 3 ticks to arrive, one "
                "tile after the other.",
            ),
            Trap(
                lambda: 12,
                "That is the time for the loads alone. What has to follow the last load?",
            ),
            Trap(
                lambda: 11,
                "For that, two tiles would have to be loaded at once. But one of "
                "the two buffers is being read.",
            ),
        ),
        reveal="{answer}: the first load, then three times the longer of the two jobs, then the "
        "last multiplication. The longer job sets the pace, and the other one costs no extra "
        "time.",
        spoilers=(re.compile(r"\b14 ticks"), "sets the pace"),
    ),
    Choose(
        id="09b-one-barrier",
        asks="In your loop, one barrier separates the tiles. The kernel with one buffer had two "
        "barriers, each for a reason of its own. Which of the two reasons is gone?",
        choices=(
            Choice(
                "That a tile is complete before anyone reads it.",
                "A number of a tile is stored by one thread and read by others, as before.",
            ),
            Choice(
                "That all have read a tile before anyone overwrites it.",
                "This reason is still there, but the same barrier serves it, because the buffer "
                "that is filled next is not the one that is read now.",
                right=True,
            ),
            Choice(
                "None: warps run in step.",
                "They need not run in step, and the check ran your warps one after the other.",
            ),
        ),
        reveal="While one buffer is read, the *other* is filled. The threads that read that "
        "other buffer were done before the barrier that all have just passed. So one barrier "
        "ensures both: the current tile is complete, and no thread needs the previous one any "
        "more.",
        spoilers=("one barrier ensures both",),
    ),
    Choose(
        id="09b-published",
        asks="S. Boehm published a ladder of kernels in CUDA C++ on an A6000, and one of them has "
        "two buffers. How fast is this kernel compared with his kernel with warp tiles?",
        choices=(
            Choice(
                "A fifth faster.", "That is what one would expect, and it is true in our ladder."
            ),
            Choice(
                "As fast.",
                "It changes a lot: the shared memory, the registers, the barriers, and the "
                "reasons for waiting.",
            ),
            Choice(
                "A fifth slower.",
                "A second buffer costs memory, registers and instructions. The wait that it "
                "hides must be worth that.",
                right=True,
            ),
        ),
        reveal="{slow} GFLOP/s against {fast}: two buffers are no gain by themselves. In our "
        "ladder, the kernel with two buffers is {ours} times as fast as the one with warp tiles "
        "({where}).",
        facts=published_facts,
        spoilers=("17,278",),
    ),
    Choose(
        id="09b-profile",
        asks="From `warp_tiled` to `double_buffered` several things changed at once: twice as "
        "many warps, 8 × 8 outputs instead of 8 × 16, fewer steps of k in a tile. Which counter "
        "can show that the wait for global memory disappeared?",
        choices=(
            Choice("The wavefronts for each multiply-add", "They have gone up: 8 × 8 shares less."),
            Choice("The bytes from DRAM", "DRAM was hardly busy, so it cannot be the reason."),
            Choice(
                "The warps that wait for global memory",
                "It counts the reason itself, and not a number that merely changes together with "
                "it.",
                right=True,
            ),
            Choice(
                "The registers of a thread",
                "They say how many warps fit on an SM, but not what these warps do.",
            ),
        ),
        reveal="For each instruction that a scheduler issued, {before} warps waited for global "
        "memory on average in `warp_tiled`, and {after} warps in `double_buffered`. The issue "
        "slots are busy {fuller} of the time instead of {slots} ({where}).",
        facts=waiting_facts,
        spoilers=(str(waiting_facts()["after"]),),
    ),
    Choose(
        id="09b-who-may-read",
        asks="A thread has called `cp_async16`, `cp_async_commit()` and `cp_async_wait(0)`. There "
        "has been no barrier yet. Which of the copied numbers may it read?",
        hint="Whose groups does the wait look at?",
        choices=(
            Choice(
                "all that the block started",
                "It has waited for its own copies. Another thread may not even have begun.",
            ),
            Choice(
                "those that its warp started",
                "The lanes of a warp need not be at the same place in the program, and each "
                "thread waits only for its own copies.",
            ),
            Choice(
                "those that it started itself",
                "The copies of other threads are complete only after *those* threads have "
                "waited. A barrier ensures that they have.",
                right=True,
            ),
        ),
    ),
    Number(
        id="09b-warps",
        asks="`cp_async` needs 249 registers for each of the 256 threads of a block. How many "
        "warps fit on an SM of an A6000, which has room for 48?",
        value=warps_left,
        unit="warps",
        slips=(
            Trap(lambda: 48, "An SM has 65,536 registers, and each warp takes 8,000 of them."),
            Trap(lambda: 16, "Two blocks need more registers than an SM has."),
            Trap(lambda: 1, "That is how many blocks. How many warps does a block have?"),
        ),
        reveal="{answer}, which is one block and a sixth of the warps that the SM has room for. "
        "Yet it is the fastest rung so far, with {gflops} GFLOP/s, {share} of cuBLAS ({where}). "
        "The tiled kernel needed other warps to hide its waits. Here each warp hides its own: a "
        "thread has {sums} sums that do not wait for one another, and the next tiles are on "
        "their way.",
        facts=warps_facts,
        spoilers=(str(warps_facts()["gflops"]), "a sixth of what fits"),
    ),
)
