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
        "four tiles take 20 ticks. How many do they take with two?",
        value=lambda: ticks(2),
        unit="ticks",
        slips=(
            Trap(lambda: ticks(1), "While one tile is multiplied, the next may be on its way."),
            Trap(lambda: 10, "Half? Each tile still needs 3 ticks to come, one after the other."),
            Trap(lambda: 12, "Those are the loads alone. What follows the last of them?"),
            Trap(lambda: 11, "That takes two loads at once. But one buffer is being read."),
        ),
        reveal="{answer}: the first load, then three times the longer of the two jobs, then the "
        "last multiplication. Whatever takes longer sets the pace, and the other one is free.",
        spoilers=(re.compile(r"\b14 ticks"), "sets the pace"),
    ),
    Choose(
        id="09b-one-barrier",
        asks="In your loop one barrier separates the tiles; with one buffer there were two. Which "
        "of the two needs is gone?",
        choices=(
            Choice(
                "That a tile is complete before anyone reads it.",
                "Who stores a tile and who reads it are different threads, as before.",
            ),
            Choice(
                "That all have read a tile before anyone overwrites it.",
                "It is still there, but the same barrier serves it: what is filled next is not "
                "what is read now.",
                right=True,
            ),
            Choice(
                "None: warps run in step.",
                "They need not, and the check has run yours one after the other.",
            ),
        ),
        reveal="While one buffer is read, the *other* is filled. Its last readers were done "
        "before the barrier that all have just passed. So one barrier ensures both: this tile is "
        "complete, and nobody needs that one any more.",
        spoilers=("one barrier ensures both",),
    ),
    Choose(
        id="09b-published",
        asks="S. Boehm published a ladder of kernels in CUDA C++ on an A6000, and one of them has "
        "two buffers. How fast is it compared with his warp tiles?",
        choices=(
            Choice("A fifth faster.", "One would think so, and so it is in our ladder."),
            Choice(
                "As fast.",
                "It changes a lot: memory, registers, the barriers, and what waits for what.",
            ),
            Choice(
                "A fifth slower.",
                "A second buffer costs memory, registers and instructions. What it hides must be "
                "worth that.",
                right=True,
            ),
        ),
        reveal="{slow} GFLOP/s against {fast}: two buffers are no gain by themselves. Ours gain a "
        "factor of {ours} over our warp tiles ({where}).",
        facts=published_facts,
        spoilers=("17,278",),
    ),
    Choose(
        id="09b-profile",
        asks="From `warp_tiled` to `double_buffered` several things changed at once: twice as "
        "many warps, 8 × 8 outputs instead of 8 × 16, fewer steps of k in a tile. Which counter "
        "can show that it was the wait that disappeared?",
        choices=(
            Choice("The wavefronts for each multiply-add", "They have gone up: 8 × 8 shares less."),
            Choice("The bytes from DRAM", "DRAM was hardly busy. It cannot matter."),
            Choice(
                "The warps that wait for global memory",
                "It counts the reason itself, not something that goes along with it.",
                right=True,
            ),
            Choice("The registers of a thread", "They say how many warps fit, not what they do."),
        ),
        reveal="At each instruction issued, {before} warps of the scheduler waited for global "
        "memory, and then {after}. The issue slots are busy {fuller} of the time in place of "
        "{slots} ({where}).",
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
                "A warp's lanes need not be at the same place, and the wait is each thread's own.",
            ),
            Choice(
                "those that it started itself",
                "What others started is there after *they* have waited; a barrier ensures that.",
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
            Trap(lambda: 48, "65,536 registers, and each warp takes 8,000 of them."),
            Trap(lambda: 16, "Two blocks need more registers than an SM has."),
            Trap(lambda: 1, "That is how many blocks. How many warps does a block have?"),
        ),
        reveal="{answer}, one block: a sixth of what fits. Yet it is the fastest rung so far, "
        "with {gflops} GFLOP/s, {share} of cuBLAS ({where}). What other warps did for the tiled "
        "kernel, each warp now does for itself: a thread has {sums} sums that do not wait, and "
        "tiles on their way.",
        facts=warps_facts,
        spoilers=(str(warps_facts()["gflops"]), "a sixth of what fits"),
    ),
)
