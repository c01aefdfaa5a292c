"""Predictions of lesson 01: where two blocks meet, how long a load takes, what few threads move."""

from __future__ import annotations

import re

from course_lib.devices import device
from course_lib.measurements.memory import in_flight
from course_lib.questions.kinds import Choice, Choose, Drawn, Number, Trap

FEW = 1024  # threads
H200 = in_flight("H200")


def cycles_of_latency() -> float:
    return round(H200.latency_ns["DRAM"] * device("H200").clock_mhz / 1000)


def share_of_few() -> str:
    return f"{100 * H200.gb_per_s[FEW] / H200.dram_gb_per_s:.1f} %"


def picture_of_threads() -> Drawn:
    from course_lib.figures.plots import threads_in_flight  # only this needs matplotlib

    return threads_in_flight(H200)


QUESTIONS = (
    Choose(
        id="01-meeting",
        asks="A block has computed a number that a block of the next launch needs. Where can the "
        "block leave this number?",
        choices=(
            Choice("In a register.", "A register is gone when its thread ends."),
            Choice("In shared memory.", "Its contents are lost when the block ends."),
            Choice("In L1.", "You cannot tell a cache what to keep."),
            Choice("In global memory.", "Its contents outlive the launch.", right=True),
        ),
        reveal="Only arrays in global memory outlive a launch. A store to global memory goes "
        "through L2, which all SMs share, so the next launch may find the number in L2.",
        spoilers=("only arrays in global memory",),
    ),
    Number(
        id="01-latency",
        asks=f"On an H200, a load that L1 can answer takes {H200.latency_ns['L1']:.0f} ns. How "
        "many nanoseconds does a load take if it has to go to DRAM?",
        value=lambda: round(H200.latency_ns["DRAM"]),
        unit="ns",
        within=0.2,
        slips=(
            Trap(
                lambda: 7 * round(H200.latency_ns["L1"]),
                "7 is the ratio of the bandwidths in the picture.",
            ),
        ),
        reveal="We measured {L1} ns for L1, {L2} ns for L2 and {answer} ns for DRAM ({label}, a "
        "chain of loads in Numba). In that time, the SM goes through {cycles} clock cycles.",
        facts=lambda: {
            "label": H200.label,
            "L1": round(H200.latency_ns["L1"]),
            "L2": round(H200.latency_ns["L2"]),
            "cycles": cycles_of_latency(),
        },
        spoilers=("342 ns", re.compile(r"388 ns")),
    ),
    Number(
        id="01-few-threads",
        asks=f"With {FEW:,} threads on an H200, `grid_stride` processes "
        f"{H200.array_bytes / 1e6:.0f} MB, which no cache can hold. In our measurements, the DRAM "
        f"of an H200 delivers at most {H200.dram_gb_per_s:,.0f} GB/s, a little less than the data "
        "sheet says. How many GB/s does the kernel read and write together?",
        value=lambda: H200.gb_per_s[FEW],
        unit="GB/s",
        within=0.3,
        slips=(
            Trap(
                lambda: round(H200.dram_gb_per_s),
                "Memory delivers that much only if enough loads are in flight.",
            ),
        ),
        reveal="The kernel moves {answer} GB/s (in Numba, {label}), or {share} of what DRAM can "
        "deliver. Nothing is wrong with the kernel: most of the time, all of its threads are "
        "waiting. From 32 threads on, twice as many threads are twice as fast, as long as memory "
        "keeps up. (A single thread is faster than a thirty-second of that: most of the numbers "
        "that it loads arrive along with the one before.)",
        facts=lambda: {"share": share_of_few(), "label": H200.label},
        figure=picture_of_threads,
        spoilers=("22.8", "22.9", "0.5 %"),
    ),
    Choose(
        id="01-twice",
        asks="The memory of another GPU delivers twice as many bytes per second, with the same "
        f"latency. How much faster does `grid_stride` run on that GPU with {FEW:,} threads?",
        choices=(
            Choice(
                "Twice as fast.", "The kernel would be twice as fast if bandwidth were the limit."
            ),
            Choice("One and a half times as fast.", "Would a load take less time on that GPU?"),
            Choice(
                "Not at all.",
                "Its threads wait just as long, with just as much in flight.",
                right=True,
            ),
        ),
        reveal="The same bytes in flight and the same latency give the same speed. More threads "
        "would help, and so would more loads that a thread starts before it waits.",
        spoilers=("the same speed",),
    ),
)
