"""Predictions of lesson 06: what limits a tile, how many blocks fit, what occupancy is worth."""

from __future__ import annotations

from typing import Any

import numpy as np

from course_lib.devices import device, occupancy
from course_lib.measurements import load
from course_lib.questions.kinds import Choice, Choose, Number, Trap, tells_times
from course_lib.questions.runs import run

GPU, SIZE = "H200", 4096
TILED = (1024, 32, 8192)  # threads of a block, registers of a thread, shared bytes of a block


def fits(threads: int, registers: int, shared_bytes: int, gpu: str = GPU) -> Any:
    return occupancy(gpu, threads, registers, shared_bytes)


EIGHT_EACH = fits(512, 44, 4096)
ON_A6000 = fits(*TILED, gpu="A6000").share


def gflops(name: str) -> float:
    entry = load(GPU).entry(name)
    cell = entry and entry.cell(SIZE)
    assert cell
    return cell.gflops


def wall_facts() -> dict[str, object]:
    sm = device(GPU).sm
    return {"threads": 64 * 64, "most": sm.threads_per_block, "kib": 2 * 64 * 64 * 4 // 1024}


def one_more_facts() -> dict[str, object]:
    found = fits(1024, 33, 8192)
    return {
        "unit": found.sm.register_unit,
        "exact": 33 * 32,
        "rounded": found.registers_per_warp,
        "warps": found.warps_per_partition * found.sm.partitions,
        "share": f"{found.share:.0%}",
    }


def means_facts() -> dict[str, object]:
    return {
        "device": load(GPU).label,
        **{name: f"{gflops(name):,.0f}" for name in ("tiled", "register_1d")},
    }


_TWO_TILES = """\
@cuda.jit
def two_tiles(out):
    ones = cuda.shared.array(0, float32)
    twos = cuda.shared.array(0, float32)
    t = cuda.threadIdx.x
    ones[t] = 1
    twos[t] = 2
    out[t] = ones[t]
"""


def first_of_two_tiles() -> float:
    """What a launch of them leaves in the first element."""
    out = np.zeros(32, np.float32)
    run(_TWO_TILES, 1, 32, out, shared_bytes=256)
    return float(out[0])


FEW_TILES = 4096 // 16  # of 16 × 16, in a C of 16 rows
BLOCKS_EACH = fits(256, 32, 0).blocks  # of 16 × 16 threads, on one SM
ROOM = BLOCKS_EACH * device(GPU).sms


def filled_by_few_tiles() -> float:
    """Per cent of the blocks that all SMs could hold."""
    return float(100 * FEW_TILES / ROOM)


def few_tiles_facts() -> dict[str, object]:
    return {"tiles": FEW_TILES, "room": f"{ROOM:,}", "sms": device(GPU).sms}


QUESTIONS = (
    Choose(
        id="06-first-wall",
        asks="You launch the tiled kernel with T = 64 and one output for each thread. On an H200, "
        "a block may have 227 KiB of shared memory, and an SM holds 2048 threads. What happens?",
        choices=(
            Choice(
                "It fails: the two tiles take too much shared memory.",
                "Count the bytes of the two tiles.",
            ),
            Choice("It fails: the block has too many threads.", "", right=True),
            Choice(
                "It runs in two halves, since the SM holds 2048 threads at a time.",
                "A block is never split: its threads share barriers, so all of them must be on "
                "the SM at once.",
            ),
        ),
        reveal="With T = 64, a block has {threads} threads, but every GPU allows at most {most}. "
        "So with one output for each thread, T = 32 is the end. Shared memory would have been no "
        "problem: the two tiles take {kib} KiB.",
        facts=wall_facts,
        spoilers=("at most 1024 threads, so T", "T = 32 is the end"),
    ),
    Number(
        id="06-dynamic",
        asks="A launch of this kernel asks for 256 bytes of dynamic shared memory, enough for "
        "two tiles of 32 numbers. What does `out[0]` hold afterwards?",
        value=first_of_two_tiles,
        unit="",
        slips=(
            Trap(
                lambda: 1,
                "It would if `twos` began where `ones` ends. But where does `twos` begin?",
            ),
        ),
        reveal="{answer}: `ones` and `twos` begin at the same byte, so the second store overwrites "
        "the first.",
        spoilers=("begin at the same byte", "is the whole of it"),
    ),
    Number(
        id="06-blocks",
        asks="A block of the tiled kernel with T = 32 has 1024 threads with 32 registers each, "
        "and 8 KiB of shared memory. How many of these blocks does one SM of an H200 hold?",
        value=lambda: fits(*TILED).blocks,
        unit="blocks",
        slips=(
            Trap(
                lambda: fits(*TILED).shared_limit,
                "That many would fit into its shared memory. Check the other budgets, too.",
            ),
            Trap(lambda: 32, "That is the number of slots. Which budget runs out first?"),
            Trap(
                lambda: fits(*TILED).warps, "That is the number of warps. How many blocks is that?"
            ),
        ),
        reveal="{answer} blocks: together they have {warps} warps and take all {registers} "
        "registers. Shared memory, which everybody worries about, would hold {shared} blocks.",
        facts=lambda: {
            "warps": fits(*TILED).warps,
            "registers": f"{fits(*TILED).registers_used:,}",
            "shared": fits(*TILED).shared_limit,
        },
        spoilers=("2 blocks per SM", "would hold 25"),
    ),
    Number(
        id="06-one-more",
        asks="With the next version of the compiler, each thread of the same kernel (T = 32, 1024 "
        "threads) takes 33 registers instead of 32. How many blocks does the SM hold now?",
        value=lambda: fits(1024, 33, 8192).blocks,
        unit="blocks",
        slips=(
            Trap(lambda: 2, "Two blocks together would need more registers than the SM has."),
            Trap(lambda: 0, "One block still fits."),
        ),
        reveal="{answer} block, which has {share} of the warps that the SM can hold. A block fits "
        "as a whole or not at all. Besides, a warp's registers are rounded up to a multiple of "
        "{unit}, from {exact} to {rounded}, so the registers are enough for only {warps} warps.",
        facts=one_more_facts,
        spoilers=("rounded up to a multiple of 256", "cliff"),
    ),
    Choose(
        id="06-small",
        asks="On an H200, a kernel has blocks of 32 threads, uses 24 registers per thread and "
        "uses no shared memory. Which budget limits the number of its blocks on an SM?",
        choices=(
            Choice("Warps.", "The SM has room for 64 of them."),
            Choice("Registers.", "A warp takes only 768 of the 65,536 registers."),
            Choice("Shared memory.", "Each block takes only the 1 KiB that is reserved."),
            Choice("Block slots.", "", right=True),
        ),
        reveal="An SM has 32 block slots, and each of these blocks has only one warp. That makes "
        "{share} of the warps that the SM can hold. Very small blocks cannot fill an SM.",
        facts=lambda: {"share": f"{fits(32, 24, 0).share:.0%}"},
        spoilers=("very small blocks",),
    ),
    Number(
        id="06-means",
        asks="In `register_1d`, a kernel of lesson 08, each thread computes 8 outputs. A block "
        f"has 512 threads with 44 registers each. An SM of an H200 holds {EIGHT_EACH.warps} "
        f"warps of this kernel ({100 * EIGHT_EACH.share:.0f} %), but {fits(*TILED).warps} warps "
        f"of the tiled kernel ({100 * fits(*TILED).share:.0f} %). For 4096 × 4096 matrices, how "
        "many times as fast as the tiled kernel is `register_1d`?",
        value=lambda: gflops("register_1d") / gflops("tiled"),
        unit="times",
        within=0.2,
        slips=(
            Trap(lambda: 0.5, "It would be, if speed followed occupancy."),
            Trap(lambda: 1, "Occupancy is not the only difference between the two kernels."),
        ),
        reveal="{answer} times: {tiled} against {register_1d} GFLOP/s (both in Numba with "
        "`range`, {device}). `register_1d` has half the warps and more than twice the speed. The "
        "next kernel of lesson 08 halves the occupancy again.",
        facts=means_facts,
        spoilers=(
            tells_times(gflops("register_1d") / gflops("tiled")),
            "more than twice the speed",
            "can be the faster one",
        ),
    ),
    Choose(
        id="06-smaller-blocks",
        asks=f"On an A6000 the tiled kernel has an occupancy of {100 * ON_A6000:.1f} %. A "
        f"colleague wants smaller blocks, since “at 100 % it will be {1 / ON_A6000:.1f} times as "
        "fast”. What do you say?",
        hint="What did the warps of this kernel wait for in lesson 05b?",
        choices=(
            Choice(
                "Yes: speed follows occupancy.",
                "You have just seen a kernel with fewer warps run faster.",
            ),
            Choice(
                "Ask first what the warps wait for. If they queue for shared memory, more warps "
                "only lengthen the queue.",
                "More warps help where the schedulers of an SM have nothing to issue.",
                right=True,
            ),
            Choice(
                "No: occupancy never matters.",
                "Occupancy matters where latency is not hidden: a lone warp that waits for one "
                "load after the other leaves its scheduler idle.",
            ),
        ),
    ),
    Number(
        id="06-few-tiles",
        asks="C has 16 rows and 4096 columns, and each block computes a 16 × 16 tile. An H200 "
        "has 132 SMs, and each SM has room for 8 such blocks. What percentage of this room do "
        "the blocks fill?",
        value=filled_by_few_tiles,
        unit="%",
        within=0.05,
        slips=(
            Trap(lambda: 100, "There are more tiles than SMs. But an SM has room for 8 blocks."),
            Trap(
                lambda: 100 * ROOM / FEW_TILES,
                "You divided the room by the tiles. There is more room than there are tiles.",
            ),
        ),
        reveal="There are {tiles} tiles, and there is room for {room} blocks on {sms} SMs, so "
        "they fill {answer} %. A longer K gives every block more work, but it gives no SM more "
        "blocks.",
        facts=few_tiles_facts,
        spoilers=("room for 1,056 blocks", "no SM more blocks"),
    ),
)
