"""Predictions of lesson 07: how many wavefronts an access takes, and what fewer of them gain."""

from __future__ import annotations

import re

import numpy as np

from course_lib.curriculum import TASKS
from course_lib.emulator.profile.request_costs import BANK_BYTES, BANKS, shared_cost
from course_lib.measurements.banks import tiled, transpose
from course_lib.questions.kinds import Choice, Choose, Number, Trap, tells_times
from course_lib.questions.runs import ones, run

NEIGHBOURS_FIRST = """\
@cuda.jit
def neighbours_first(x, y):
    sums = cuda.shared.array(1024, float32)
    t = cuda.threadIdx.x
    sums[t] = x[t]
    apart = 1
    while apart < 1024:
        cuda.syncthreads()
        i = 2 * apart * t
        if i < 1024:
            sums[i] += sums[i + apart]
        apart *= 2
    if t == 0:
        y[0] = sums[0]
"""


def passes_of_turn(along_a_row: bool) -> int:
    """Of one access to the tile in the transpose of lesson 07: along a row, or down a column."""
    profile = run(TASKS["turn_tile"].answer, 1, (32, 32), ones(32, 32), ones(32, 32))
    of_both = (
        profile.shared_store_wavefronts // profile.shared_store_requests,
        profile.shared_load_wavefronts // profile.shared_load_requests,
    )
    return min(of_both) if along_a_row else max(of_both)


def passes_with_bits(bits: int) -> int:
    """Down a column of the strip, if the XOR takes only these bits of the row."""
    text = TASKS["swizzle_strip"].answer.replace("^ y", f"^ (y & {bits})")
    profile = run(text.replace("^ x", f"^ (x & {bits})"), 1, (32, 32), ones(32, 384), ones(384, 32))
    return profile.shared_load_wavefronts // profile.shared_load_requests


def passes_of_wide() -> int:
    """For 16 bytes a lane, one lane after the other."""
    at = 16 * np.arange(32)[None]
    return int(shared_cost(at, at >= 0, 16).wavefronts)


def passes_of_last_warp() -> int:
    """Of a load of `sums` in the round in which 32 sums are made, neighbours first."""
    words = np.arange(32) * (1024 // 32)
    return int(shared_cost(4 * words[None], words[None] >= 0, 4).wavefronts)


def conflicts_of_trees() -> dict[str, object]:
    def conflicts(text: str) -> int:
        return run(text, 1, 1024, ones(1024), ones(1)).shared_load_bank_conflicts

    return {
        "theirs": f"{conflicts(NEIGHBOURS_FIRST):,}",
        "yours": conflicts(TASKS["tree_sum"].answer),
    }


def padded_facts() -> dict[str, object]:
    plain, padded = tiled(32, padded=False), tiled(32, padded=True)
    return {
        "device": plain.label,
        "size": plain.size,
        "more": f"{padded.ms / plain.ms - 1:.0%}".replace("%", " %"),
        "before": f"{plain.ms:.1f}",
        "after": f"{padded.ms:.1f}",
        "loads": plain.loads_per_fma,
        "padded_loads": padded.loads_per_fma,
    }


def cured() -> float:
    ms = transpose().ms
    return ms["tile"] / ms["padded"]


def cured_facts() -> dict[str, object]:
    seen = transpose()
    times = {name.replace(" ", "_"): f"{ms:.2f}" for name, ms in seen.ms.items()}
    return {
        "device": seen.label,
        "no_tile": times["no_tile"],
        "tile": times["tile"],
        "padded": times["padded"],
        "three_bits": times["row_&_7"],
        "copy": times["copy"],
    }


QUESTIONS = (
    Number(
        id="07-turn-passes",
        asks="Your kernel accesses the tile twice: along a row and down a column. How many "
        "wavefronts does the access down the column take?",
        value=lambda: passes_of_turn(along_a_row=False),
        unit="wavefronts",
        slips=(
            Trap(lambda: 1, "That is the number along a row."),
            Trap(lambda: 4, "Sectors are for global memory; shared memory has none."),
        ),
        reveal="{answer}, one for each lane; along the row, the access takes {row}.",
        facts=lambda: {"row": passes_of_turn(along_a_row=True)},
        spoilers=(re.compile(r"\b32 (passes|wavefronts|turns)\b"), "one for each lane; along"),
    ),
    Number(
        id="07-three-bits",
        asks="Many texts use `c ^ (r & 7)`, which takes only three bits of the row. With this "
        "formula, how many wavefronts would a load down a column of your strip take?",
        value=lambda: passes_with_bits(7),
        unit="wavefronts",
        slips=(
            Trap(lambda: 1, "How many different values does `r & 7` take in 32 rows?"),
            Trap(
                lambda: 8,
                "Eight is the number of banks that are used. How many rows share "
                "each of these banks?",
            ),
            Trap(
                lambda: 32,
                "That is the number without any XOR. Rows 0 and 1 are now in different banks.",
            ),
        ),
        reveal="{answer}: three bits give eight places, so 32 rows share 8 banks. With all five "
        "bits, each row uses its own bank, and the load takes {all_bits} wavefront.",
        facts=lambda: {"all_bits": passes_with_bits(31)},
        spoilers=("32 rows share", "XOR row & 7: 4 pass"),
    ),
    Number(
        id="07-wide",
        asks="Now each lane loads **16 bytes**, four neighbouring float32 numbers, and lane k + "
        "1 begins where lane k ends. How many wavefronts does one load of a warp take?",
        value=passes_of_wide,
        unit="wavefronts",
        slips=(Trap(lambda: 1, "No bank can deliver more than one word in a wavefront."),),
        reveal="{answer}. The request is served in **phases** of eight lanes, because a wavefront "
        "moves {most} bytes at most. These wavefronts are normal; conflicts count within a phase. "
        "A row of 32 words has eight such chunks of 16 bytes, so three bits of the row are "
        "enough. This is where `r & 7` comes from.",
        facts=lambda: {"most": BANKS * BANK_BYTES},
        spoilers=("conflicts count within a phase", "chunk ^ (row & 7)"),
    ),
    Choose(
        id="07-pad-matmul",
        asks="In the tiled matmul, a warp reads `sA[ty, k]` and `sB[k, tx]`. To be safe, someone "
        "pads both tiles from 32 × 32 to 32 × 33. What happens?",
        choices=(
            Choice("It gets faster.", "Which of the two accesses walks down a column?"),
            Choice(
                "Nothing.",
                "That is what the conflict counters suggest: they show no "
                "conflicts before and none after.",
            ),
            Choice("It gets slower.", "And no conflict counter tells you why.", right=True),
        ),
        reveal="The kernel gets slower by {more}: {before} ms become {after} ms ({device}, CUDA "
        "C++, {size} × {size}). Where rows begin at multiples of 16 bytes, the compiler loads "
        "four steps of `sA` at once. With rows of 33 words it cannot do that, so {loads} shared "
        "loads for each multiply–add become {padded_loads}.",
        facts=padded_facts,
        spoilers=("padding harms", "padding only harms", "padding without conflicts costs"),
    ),
    Number(
        id="07-seconds",
        asks="On an H200, a kernel transposes a 16384 × 16384 matrix tile by tile. By what "
        "factor does the kernel become faster when padding removes its 32-way bank conflicts?",
        value=cured,
        unit="times",
        within=0.15,
        slips=(Trap(lambda: 32, "It would be, if warps did nothing but wait for banks."),),
        reveal="{answer} times ({device}, CUDA C++). The transpose takes {no_tile} ms without a "
        "tile, {tile} ms with a tile, {padded} ms with a padded tile and {three_bits} ms with `r "
        "& 7`; a plain copy takes {copy} ms. While one warp waits for the banks, others wait for "
        "DRAM anyway, and with `r & 7`, the four wavefronts are almost entirely hidden behind "
        "that wait.",
        facts=cured_facts,
        spoilers=(tells_times(cured()),),
    ),
    Number(
        id="07-neighbours",
        asks="A colleague's kernel adds neighbours first. In the round that leaves 32 sums, only "
        "32 threads add, and thread t reads `sums[32 * t]`. How many wavefronts does this load "
        "take?",
        value=passes_of_last_warp,
        unit="wavefronts",
        slips=(
            Trap(lambda: 1, "The lanes ask for words 0, 32, 64, … In which banks are they?"),
            Trap(lambda: 16, "The load takes 16 wavefronts one round earlier and one round later."),
        ),
        reveal="{answer}: the stride doubles with every round, and so do the wavefronts. The "
        "loads of that kernel have {theirs} conflicts in all, but the loads of your kernel have "
        "{yours}, because its lanes always read neighbouring words.",
        facts=conflicts_of_trees,
        spoilers=("the stride doubles with every round",),
    ),
)
