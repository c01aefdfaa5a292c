"""Predictions of lesson 05b: what tiles gain, which counter says so, what a loop costs."""

from __future__ import annotations

from math import ceil

from course_lib.devices import device
from course_lib.measurements import Entry, load
from course_lib.measurements.memory import levels
from course_lib.questions.kinds import Choice, Choose, Number, Trap, tells_times
from course_lib.roofline import tile_intensity

GPU, SIZE = "H200", 4096


def entry(name: str) -> Entry:
    """A rung as `bench` timed it."""
    found = load(GPU).entry(name)
    assert found
    return found


def gflops(name: str) -> float:
    cell = entry(name).cell(SIZE)
    assert cell
    return cell.gflops


def times_faster() -> float:
    return levels("coalesced").ms / levels("tiled").ms


def level_facts() -> dict[str, object]:
    before, after = levels("coalesced"), levels("tiled")
    return {
        "device": before.label,
        "before": f"{before.ms:.1f}",
        "after": f"{after.ms:.1f}",
        "dram_before": f"{before.dram_gb:.1f}",
        "dram_after": f"{after.dram_gb:.1f}",
        "dram_ms": f"{after.dram_ms:.0f}",
    }


def instructions(name: str) -> float:
    """For each multiply-add, where issue slots bind: an SM issues as many as it could multiply."""
    found = entry(name)
    assert found.binds == "issue slots" and found.ceiling
    return 1 / found.ceiling


def loop_facts() -> dict[str, object]:
    return {
        "device": load(GPU).label,
        "for_loop": f"{gflops('coalesced'):,.0f}",
        "while_loop": f"{gflops('coalesced_while'):,.0f}",
        "instructions": round(instructions("coalesced")),
        "tiled_for": f"{gflops('tiled'):,.0f}",
        "tiled_while": f"{gflops('tiled_while'):,.0f}",
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
        asks="Coalesced against tiled with T = 32, both 4096 × 4096: the threads request 32 times "
        "fewer bytes. How many times faster is it on an H200?",
        value=times_faster,
        unit="times",
        within=0.1,
        slips=(Trap(lambda: 32, "So it would be if it had waited for the requested bytes."),),
        reveal="{answer} times: {before} ms, then {after} ms ({device}, in CUDA C++).",
        facts=level_facts,
        spoilers=(tells_times(times_faster()), "×1.5"),
    ),
    Choose(
        id="05b-counter",
        asks=f"The time fell by a factor of {times_faster():.1f}. Which of these, counted on the "
        "same GPU, changed by about as much?",
        choices=(
            Choice("The bytes that the threads request.", "They fell by 32, more than all else."),
            Choice(
                "The bytes from DRAM.",
                "They did not fall at all.",
            ),
            Choice("The bytes from L2.", "They are nearly the same."),
            Choice(
                "The passes through L1 and shared memory.",
                "Each multiply-add still takes both of its numbers from there.",
                right=True,
            ),
        ),
        reveal="The caches had long been doing what tiles do. DRAM delivered {dram_before} GB "
        "before and {dram_after} GB now, **twice** as much; but it needs {dram_ms} ms for that, of "
        "the {after} ms that the kernel takes.",
        facts=level_facts,
        spoilers=("twice as much", "had long been doing", "fell by a quarter"),
    ),
    Number(
        id="05b-range",
        asks="Written in Numba with `for k in range(K)` in the place of your `while`, the "
        "coalesced kernel computes the same. How many times as long does it take on an H200?",
        value=lambda: gflops("coalesced_while") / gflops("coalesced"),
        unit="times",
        within=0.15,
        slips=(Trap(lambda: 1, "Not for this compiler."),),
        reveal="{answer} times: {for_loop} against {while_loop} GFLOP/s ({device}). Numba "
        "makes {instructions} instructions of each turn, most of them for indices, and now "
        "another resource binds: the **issue slots**, in which an SM starts instructions. Inside "
        "a tile the loop has a fixed length and is unrolled, so there `range` does little harm: "
        "{tiled_for} against {tiled_while}.",
        facts=loop_facts,
        spoilers=(
            tells_times(gflops("coalesced_while") / gflops("coalesced")),
            "another resource binds",
            "does little harm",
        ),
    ),
    Number(
        id="05b-edge",
        asks="A T × T tile reaches T / 4 FLOP per requested byte, so 8 at T = 32. An H200 computes "
        f"{device(GPU).fp32_gflops:,.0f} GFLOP/s, and its data sheet promises "
        f"{device(GPU).dram_gb_per_s:,.0f} GB/s. From which T on is DRAM no limit, even if no "
        "cache helps?",
        value=least_edge,
        unit="",
        slips=(
            Trap(lambda: 14, "That is the ridge, in FLOP per byte. Which T has so many?"),
            Trap(lambda: 32, "That gives 8. Where is the ridge?"),
        ),
        reveal="T = {answer}: the ridge lies at {ridge} FLOP per byte. Why not simply take it? "
        "The next lesson asks that.",
        facts=lambda: {"ridge": f"{device(GPU).ridge_fp32:.1f}"},
        spoilers=("T = 56", "56 would be enough"),
    ),
)
