"""Predictions of lesson 05b: what tiles gain, which counter says so, what a loop costs."""

from __future__ import annotations

from math import ceil

from course_lib.devices import device
from course_lib.measurements import load
from course_lib.measurements.memory import forms, label, levels
from course_lib.questions.kinds import Choice, Choose, Number, Trap, tells_times
from course_lib.roofline import tile_intensity

GPU, TYPED, TWIN = "H200", "Numba, range", "CUDA C++"


def times_faster(form: str = TYPED) -> float:
    return forms("coalesced")[form].ms / forms("tiled")[form].ms


def speed_facts() -> dict[str, object]:
    """Both kernels as a student types them, and in C++, where the loop costs little."""
    before, after = forms("coalesced"), forms("tiled")
    return {
        "device": before[TYPED].label,
        "before": f"{before[TYPED].ms:.0f}",
        "after": f"{after[TYPED].ms:.1f}",
        "twin_before": f"{before[TWIN].ms:.1f}",
        "twin_after": f"{after[TWIN].ms:.1f}",
        "twin_times": f"{times_faster(TWIN):.1f}",
    }


def level_facts() -> dict[str, object]:
    before, after = levels("coalesced"), levels("tiled")
    return {
        "device": label(),
        "after": f"{after.ms:.1f}",
        "dram_before": f"{before.dram_gb:.1f}",
        "dram_after": f"{after.dram_gb:.1f}",
        "dram_ms": f"{after.dram_ms:.0f}",
    }


def loop_facts() -> dict[str, object]:
    """Where issue slots bind, an SM issues for each multiply-add as many as it could multiply."""
    typed, found = forms("coalesced"), load(GPU).entry("coalesced")
    assert found and found.binds == "issue slots" and found.ceiling
    return {
        "device": f"{typed[TYPED].label} and {typed['Numba, while'].label.split(', ')[-1]}",
        "range": f"{typed[TYPED].ms:.0f}",
        "while": f"{typed['Numba, while'].ms:.0f}",
        "instructions": round(1 / found.ceiling),
    }


def least_edge() -> int:
    """Of a square tile at the ridge."""
    ridge = device(GPU).ridge_fp32
    edge = ceil(4 * ridge)
    assert tile_intensity(edge) >= ridge > tile_intensity(edge - 1)
    return edge


QUESTIONS = (
    Number(
        id="05b-faster",
        asks="Your coalesced kernel and your tiled kernel with T = 32, both in Numba with "
        "`range`, multiply 4096 × 4096 matrices. The threads of the tiled kernel request 32 "
        "times fewer bytes. By what factor is the tiled kernel faster on an H200?",
        value=times_faster,
        unit="times",
        within=0.15,
        slips=(
            Trap(
                lambda: 32,
                "The factor would be 32 if the kernel had been waiting for the requested bytes.",
            ),
        ),
        reveal="{answer} times: {before} ms, then {after} ms ({device}, Numba, `range`). But that "
        "is two gains in one: a loop inside a tile has a fixed length, and there `range` costs "
        "little. In CUDA C++, where loops cost little anyway, the times are {twin_before} ms and "
        "{twin_after} ms, a factor of {twin_times}.",
        facts=speed_facts,
        spoilers=(tells_times(times_faster()), tells_times(times_faster(TWIN)), "×1.5"),
    ),
    Choose(
        id="05b-counter",
        asks=f"In CUDA C++ on an H200, the time fell by a factor of {times_faster(TWIN):.1f} "
        "from `coalesced` to `tiled`. Which of these counts changed by about the same factor?",
        choices=(
            Choice("The bytes that the threads request.", "They fell by a factor of 32."),
            Choice(
                "The bytes from DRAM.",
                "They did not fall at all.",
            ),
            Choice("The bytes from L2.", "They are nearly the same."),
            Choice(
                "The wavefronts through L1 and shared memory.",
                "Each multiply-add still takes both of its numbers from this memory.",
                right=True,
            ),
        ),
        reveal="The caches had long been doing what tiles do. DRAM delivered {dram_before} GB for "
        "`coalesced` and {dram_after} GB for `tiled`, **twice** as much, but that takes only "
        "{dram_ms} of the kernel's {after} ms ({device}, CUDA C++).",
        facts=level_facts,
        spoilers=("twice as much", "had long been doing", "fell by a quarter"),
    ),
    Choose(
        id="05b-range",
        asks="You replace your `while` loop with `for k in range(A.shape[0])`. Which of the "
        "emulator's counts changes?",
        choices=(
            Choice("The bytes requested.", "Each iteration still loads the same two numbers."),
            Choice("The wavefronts.", "The lanes still load the same numbers together."),
            Choice("The FLOP.", "One multiply-add in each iteration, as before."),
            Choice(
                "None of them.",
                "All of these counters count what the source code asks for.",
                right=True,
            ),
        ),
        reveal="None of them changes, but the time does: {range} ms with `range`, {while} ms "
        "with `while` (`coalesced` in Numba, {device}). At {instructions} machine instructions "
        "per multiply-add, another resource is the limit: the **issue slots**, in which an SM "
        "starts instructions.",
        facts=loop_facts,
        spoilers=("another resource is the limit", "but the time does"),
    ),
    Number(
        id="05b-edge",
        asks="A T × T tile reaches T / 4 FLOP per requested byte, which is 8 at T = 32. The data "
        f"sheet of an H200 promises {device(GPU).fp32_gflops:,.0f} GFLOP/s and "
        f"{device(GPU).dram_gb_per_s:,.0f} GB/s. What is the smallest T for which DRAM is not "
        "the limit, even if no cache helps?",
        value=least_edge,
        unit="",
        slips=(
            Trap(lambda: 14, "That is the ridge, in FLOP per byte. Which T reaches it?"),
            Trap(lambda: 32, "T = 32 gives only 8 FLOP per byte. Where is the ridge?"),
        ),
        reveal="T = {answer}: the ridge lies at {ridge} FLOP per byte. Why not simply take such a "
        "tile? The next lesson asks this question.",
        facts=lambda: {"ridge": f"{device(GPU).ridge_fp32:.1f}"},
        spoilers=("T = 56", "56 would be enough"),
    ),
)
