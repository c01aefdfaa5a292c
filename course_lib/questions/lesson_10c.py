"""Predictions of lesson 10c: the least time of a softmax, barriers of a tree, too few warps."""

from __future__ import annotations

import re

import numpy as np

from course_lib.curriculum import TASKS
from course_lib.devices import device
from course_lib.measurements import row_softmax
from course_lib.measurements.row_softmax import COPY, PYTORCH, least_bytes, size_name
from course_lib.questions.kinds import Choice, Choose, Number, Trap
from course_lib.questions.runs import run

SIDE = 4096
LONG = (513, 20011)  # few rows, each of them long


def least_us() -> float:
    """Of a square matrix on an H200, whose DRAM is as fast as its data sheet says."""
    return least_bytes(SIDE, SIDE) / device("H200").dram_gb_per_s / 1e3


def dram_speed() -> str:
    return f"{device('H200').dram_gb_per_s:,.0f}"


def least_facts() -> dict[str, object]:
    return {"mb": f"{least_bytes(SIDE, SIDE) / 1e6:.0f}", "speed": dram_speed()}


def barriers_of_a_block() -> float:
    """Counted: what one block passes."""
    X, Y = np.zeros((2, 1, 128), np.float32)
    return float(run(TASKS["softmax_tree"].answer, 1, 128, X, Y).barriers)


def microseconds(name: str, size: tuple[int, int]) -> float:
    """The median on an H200."""
    return 1000 * row_softmax.load("H200").median_ms(name, size_name(*size))


def few_facts() -> dict[str, object]:
    h200 = device("H200")
    return {
        "label": row_softmax.load("H200").label,
        "warps": f"{microseconds('softmax_warps', LONG):.0f}",
        "tree": f"{microseconds('softmax_tree', LONG):.0f}",
        "each": f"{LONG[0] / h200.sms:.1f}",
        "room": h200.capability.threads_per_sm // 32,
    }


def once_over_pytorch() -> float:
    """The speed of the course's answer as a share of PyTorch's."""
    return row_softmax.load("H200").of_pytorch("softmax_once", size_name(SIDE, SIDE))


def once_facts() -> dict[str, object]:
    square = SIDE, SIDE
    return {
        "label": row_softmax.load("H200").label,
        "once": f"{microseconds('softmax_once', square):.1f}",
        "torch": f"{microseconds(PYTORCH, square):.1f}",
        "copy": f"{microseconds(COPY, square):.1f}",
        "least": f"{least_us():.0f}",
    }


QUESTIONS = (
    Number(
        id="10c-least",
        asks="A kernel computes the softmax of every row of a 4096 × 4096 float32 matrix on an "
        f"H200. According to the data sheet, the DRAM of this GPU moves {dram_speed()} GB/s. What "
        f"is the "
        "least time that the kernel can take?",
        value=least_us,
        unit="µs",
        within=0.03,
        slips=(
            Trap(lambda: least_us() / 2, "X has to be loaded. What has to happen with Y?"),
            Trap(
                lambda: 2 * least_us(),
                "X is loaded once and Y is stored once. Which other bytes would have to move?",
            ),
            Trap(lambda: least_us() / 4, "That would be right if each number had one byte."),
        ),
        reveal="{answer} µs on an H200: loading X once and storing Y once moves {mb} MB, at "
        "{speed} GB/s. The kernel does only a few FLOP for every 8 bytes, so it is far to the left "
        "under its roofline, where only bytes count.",
        facts=least_facts,
        spoilers=(re.compile(r"\b134 MB"), re.compile(r"\b28 µs")),
    ),
    Number(
        id="10c-barriers",
        asks="`softmax_tree` has two trees over 128 numbers, one for the maximum and one for the "
        "sum. How many barriers does a block pass? Include the barrier that lets every thread "
        "read the maximum before `parts` is overwritten.",
        value=barriers_of_a_block,
        unit="barriers",
        within=0,
        slips=(
            Trap(
                lambda: 14,
                "Those are the barriers of the rounds alone. When may the other threads read the "
                "result?",
            ),
            Trap(lambda: 16, "Which barrier comes before `parts` is written again?"),
        ),
        reveal="{answer}: each of the two trees takes seven barriers for its rounds and one more "
        "for its result, and there is one between the trees. At each barrier, four warps wait for "
        "the slowest of them.",
        spoilers=("one between the trees",),
    ),
    Choose(
        id="10c-early",
        asks="`softmax_warps` is launched for a matrix with 20 columns. Somebody has put the "
        "whole body of the kernel inside `if lane < X.shape[1]:`, since the other lanes have "
        "nothing to do. What happens?",
        choices=(
            Choice(
                "Nothing: lanes without numbers add nothing.",
                "These lanes should add 0. Can they do that if they never enter the `if`?",
            ),
            Choice(
                "The results of the shuffles are undefined.",
                "The mask names 32 lanes, but 12 of them do not reach the shuffle.",
                right=True,
            ),
            Choice("The warp hangs.", "It may hang, but not even that is guaranteed."),
        ),
        reveal="Every lane that the mask names has to call the shuffle. So lanes without a column "
        "have to take part: their loops end at once, and they contribute -∞ to the maximum and 0 "
        "to the sum.",
        spoilers=("12 of them do not reach",),
    ),
    Choose(
        id="10c-few",
        asks="For 513 rows of 20,011 columns on an H200, `softmax_warps` in Numba takes several "
        "times as long as `softmax_tree`, although `softmax_warps` has no barriers. Why?",
        choices=(
            Choice("Shuffles are slow.", "There are only ten shuffles in a row of 20,011 numbers."),
            Choice(
                "Its loads are not coalesced.",
                "The 32 lanes read 32 neighbours, as in `softmax_tree`.",
            ),
            Choice(
                "Too few loads are in flight.",
                "There are only 513 warps, for 132 SMs.",
                right=True,
            ),
        ),
        reveal="`softmax_warps` takes {warps} µs, and `softmax_tree` takes {tree} µs ({label}). An "
        "SM holds only {each} warps, although it has room for {room}, so DRAM idles. With a block "
        "of four warps per row, four times as many loads are in flight.",
        facts=few_facts,
        spoilers=("so DRAM idles",),
    ),
    Number(
        id="10c-once",
        asks="For 4096 × 4096 numbers on an H200, by what factor is `softmax_once`, in Numba, "
        "faster than PyTorch's own softmax? (A factor below 1 means that `softmax_once` is "
        "slower.)",
        value=once_over_pytorch,
        unit="times",
        within=0.2,
        slips=(
            Trap(
                lambda: 0.5,
                "You might fear so. But how many bytes does `softmax_once` move, and "
                "can any kernel move fewer?",
            ),
            Trap(lambda: 3, "PyTorch's kernel was written by people who knew the roofline, too."),
        ),
        reveal="{answer} times: `softmax_once` takes {once} µs, and PyTorch's {torch} ({label}). A "
        "copy of the matrix takes {copy} µs. According to the data sheet, {least} µs would be "
        "enough.",
        facts=once_facts,
        spoilers=(re.compile(r"PyTorch's [\d.]+ \("),),
    ),
)
