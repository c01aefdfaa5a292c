"""Draw how fast a kernel gets its numbers, by the number of threads that wait for them."""

from __future__ import annotations

from course_lib.figures import style
from course_lib.figures.pen import Pen
from course_lib.figures.picture import Picture
from course_lib.figures.plots import beside, rule
from course_lib.measurements.memory import InFlight


@style.drawn
def threads_in_flight(measured: InFlight) -> Picture:
    """GB/s of a grid-stride loop against its threads, and what DRAM delivers at most.

    Args:
        measured: what was seen on one GPU, with its label.
    """
    threads = sorted(measured.gb_per_s)
    speeds = [measured.gb_per_s[each] for each in threads]
    figure = style.card(
        4.1,
        "The same kernel with more and more threads",
        f"y[i] = 2 * x[i] over an array that no cache holds; measured on {measured.label}",
    )
    axes = style.area(figure, 0.95, 0.75, 0.35, 0.85)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.axhline(measured.dram_gb_per_s, color=style.GREY, linewidth=1.2, linestyle=(0, (4, 3)))
    Pen(axes).write(
        threads[0] * 1.2, measured.dram_gb_per_s / 1.7,
        f"the most that DRAM was seen to deliver: {measured.dram_gb_per_s:,.0f} GB/s",
        colour=style.GREY,
    )  # fmt: skip
    axes.plot(
        threads, speeds, color=style.BLUE, marker="o", markersize=7, linewidth=1.8,
        markeredgecolor=style.PAPER,
    )  # fmt: skip
    for count, speed in zip(threads, speeds, strict=True):
        if count in (1, 32, 1024, 16_384, threads[-1]):
            words = f"{count:,}: {_three_figures(speed)} GB/s"
            beside(axes, words, (count, speed), (9, -5), va="top")
    axes.set_xlim(0.6, threads[-1] * 20)
    axes.set_ylim(min(speeds) / 3, measured.dram_gb_per_s * 3)
    ticks = [10**power for power in range(6)]
    axes.set_xticks(ticks, [f"{tick:,}" for tick in ticks])
    axes.set_yticks([0.1, 1, 10, 100, 1000], ["0.1", "1", "10", "100", "1,000"])
    axes.minorticks_off()
    rule(axes, 0.7)
    axes.set_xlabel("threads in the launch", loc="right")
    axes.set_ylabel("GB/s, read and written")
    told = ", ".join(f"{count:,} → {_three_figures(measured.gb_per_s[count])}"
                     for count in threads)  # fmt: skip
    alt = (
        f"Threads and their GB/s, measured on {measured.label}: {told}. DRAM delivers at most "
        f"{measured.dram_gb_per_s:,.0f} GB/s."
    )
    return Picture(figure, alt)


def _three_figures(speed: float) -> str:
    return f"{speed:,.0f}" if speed >= 100 else f"{speed:.3g}"
