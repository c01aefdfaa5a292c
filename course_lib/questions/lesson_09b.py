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
        asks="Suppose a tile takes 3 ticks to arrive and 2 ticks to be multiplied. With one "
        "buffer, four tiles take 20 ticks. How many ticks do four tiles take with two buffers?",
        value=lambda: ticks(2),
        unit="ticks",
        slips=(
            Trap(lambda: ticks(1), "While one tile is multiplied, the next one may be on its way."),
            Trap(
                lambda: 10,
                "Half of the ticks? Each tile still takes 3 ticks to arrive, one "
                "tile after the other.",
            ),
            Trap(
                lambda: 12,
                "The loads alone take that long. What has to follow the last load?",
            ),
            Trap(
                lambda: 11,
                "Then two tiles would have to be loaded at once. But one of the two buffers is "
                "being read.",
            ),
        ),
        reveal="{answer}: the first load, then three times the longer of the two jobs, then the "
        "last multiplication. The longer job sets the pace, and the other one costs no extra "
        "time.",
        spoilers=(re.compile(r"\b14 ticks"), "sets the pace"),
    ),
    Choose(
        id="09b-one-barrier",
        asks="In your loop with two buffers, one barrier separates the tiles. The kernel with one "
        "buffer had two barriers, and each had its own reason. Which of the two reasons no longer "
        "needs a barrier of its own?",
        choices=(
            Choice(
                "A tile has to be complete before anyone reads it.",
                "As before, one thread stores a number of a tile and other threads read it.",
            ),
            Choice(
                "All threads must have read a tile before anyone overwrites it.",
                "This reason is still there, but the same barrier serves it, because the buffer "
                "that is filled next is not the one that is read now.",
                right=True,
            ),
            Choice(
                "Neither: warps run in step.",
                "Warps need not run in step, and the check ran yours one after the other.",
            ),
        ),
        reveal="While one buffer is read, the *other* is filled. All threads were done reading "
        "that other buffer before they passed the last barrier. So one barrier ensures two things: "
        "the current tile is complete, and no thread needs the previous one any more.",
        spoilers=("one barrier ensures two things",),
    ),
    Choose(
        id="09b-published",
        asks="S. Boehm published a ladder of kernels in CUDA C++ on an A6000, and one of them has "
        "two buffers. How fast is the kernel with two buffers, compared with his kernel that has "
        "warp tiles?",
        choices=(
            Choice("A fifth faster.", "You would expect that, and it is true in our ladder."),
            Choice(
                "Equally fast.",
                "A second buffer changes a lot: the shared memory, the registers, the barriers, "
                "and the reasons for waiting.",
            ),
            Choice(
                "A fifth slower.",
                "A second buffer costs memory, registers and instructions. The wait that it hides "
                "must be worth this price.",
                right=True,
            ),
        ),
        reveal="His kernel with two buffers reaches {slow} GFLOP/s, and his kernel with warp "
        "tiles reaches {fast}. So two buffers alone do not make a kernel faster. In our ladder, "
        "the kernel with two buffers is {ours} times as fast as the one with warp tiles ({where}).",
        facts=published_facts,
        spoilers=("17,278",),
    ),
    Choose(
        id="09b-profile",
        asks="From `warp_tiled` to `double_buffered`, several things changed at once: there are "
        "twice as many warps, 8 × 8 outputs per thread instead of 8 × 16, and fewer steps along k "
        "in a tile. Which counter can show that the wait for global memory disappeared?",
        choices=(
            Choice(
                "The wavefronts for each multiply-add",
                "They have gone up, because with 8 × 8 "
                "outputs each load serves fewer multiply-adds.",
            ),
            Choice(
                "The bytes from DRAM", "DRAM was hardly busy before, so it cannot be the reason."
            ),
            Choice(
                "The warps that wait for global memory",
                "This counter shows the reason itself, and not just something that changes "
                "together with it.",
                right=True,
            ),
            Choice(
                "The registers of a thread",
                "Registers decide how many warps fit on an SM, but not what these warps wait for.",
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
        "has been no barrier yet. Which of the copied numbers may this thread read?",
        hint="For which thread's groups does `cp_async_wait` wait?",
        choices=(
            Choice(
                "all that the block started",
                "This thread has waited for its own copies. Another thread may not even have "
                "started its copies.",
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
            Trap(
                lambda: 48, "An SM has 65,536 registers, and each warp takes about 8,000 of them."
            ),
            Trap(lambda: 16, "That would be two blocks, which need more registers than an SM has."),
            Trap(lambda: 1, "That is the number of blocks. How many warps does a block have?"),
        ),
        reveal="{answer}, which is one block, and a sixth of what fits on the SM. Yet `cp_async` "
        "is the fastest rung so far, with {gflops} GFLOP/s, {share} of cuBLAS ({where}). In the "
        "tiled kernel, other warps had to hide the waits of a warp. In `cp_async`, each warp "
        "hides its own waits: a thread has {sums} sums that do not wait for one another, and the "
        "next tiles are on their way.",
        facts=warps_facts,
        spoilers=(str(warps_facts()["gflops"]), "a sixth of what fits"),
    ),
)
