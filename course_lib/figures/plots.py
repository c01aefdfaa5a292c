"""Draw plots with scales: what all share, and bandwidth by threads in flight."""

import math
from collections.abc import Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from course_lib.figures import style
from course_lib.figures.picture import Picture
from course_lib.measurements.memory import InFlight
from course_lib.roofline import Point

Pair = tuple[float, float]


def beside(axes: Axes, words: str, place: Pair, offset: Pair, **looks: Any) -> None:
    """Small words beside a point of the plot; the offset is in points."""
    axes.annotate(
        words, place, xytext=offset, textcoords="offset points",
        **{"fontsize": style.SMALL, **looks},
    )  # fmt: skip


def rule(axes: Axes, line: float = 0.6, **more: Any) -> None:
    """A faint grid below what is drawn."""
    axes.grid(which="major", color=style.FAINT, linewidth=line, **more)
    axes.set_axisbelow(True)


def log_scales(
    axes: Axes, across: Sequence[float], reach: Pair, heights: Pair, unit: float = 1.0
) -> None:
    """Both scales logarithmic; across, these FLOP per byte have names: "1/4", "16"."""
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.set_xticks(across, [f"{tick:g}" if tick >= 1 else f"1/{1 / tick:g}" for tick in across])
    axes.set_xlim(*reach)
    axes.set_ylim(*heights)
    first, last = math.ceil(math.log10(heights[0])), math.floor(math.log10(heights[1]))
    decades = [10.0**power for power in range(first, last + 1)]
    axes.set_yticks(decades, [f"{decade / unit:,.10g}" for decade in decades])
    rule(axes)


def dot(axes: Axes, point: Point, height: float, colour: str, marker: str = "o") -> None:
    """A kernel; hollow where it has no speed of its own."""
    axes.plot(
        [point.intensity], [height], marker=marker, markersize=8,
        markerfacecolor=style.PAPER if point.gflops is None else colour,
        markeredgecolor=colour, markeredgewidth=2, linestyle="none", zorder=5, gid=point.label,
    )  # fmt: skip


def hollow(colour: str, label: str) -> Line2D:
    """What a hollow dot means, for a legend."""
    return Line2D(
        [], [], marker="o", markersize=8, linestyle="none", label=label,
        markerfacecolor=style.PAPER, markeredgecolor=colour, markeredgewidth=2,
    )  # fmt: skip


# --- Bandwidth by the number of threads that wait for numbers -------------------------------------


@style.drawn
def threads_in_flight(measured: InFlight) -> Picture:
    """GB/s of a grid-stride loop against its threads, and what DRAM delivers at most.

    Args:
        measured: what was seen on one GPU, with its label.
    """
    threads = sorted(measured.gb_per_s)
    speeds = [measured.gb_per_s[thread] for thread in threads]
    figure = style.card(
        4.1,
        "The same kernel with more and more threads",
        f"y[i] = 2 * x[i] over an array that no cache holds; measured on {measured.label}",
    )
    axes = style.area(figure, 0.95, 0.75, 0.35, 0.85)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.axhline(measured.dram_gb_per_s, color=style.GREY, linewidth=1.2, linestyle=(0, (4, 3)))
    words = f"the most that DRAM was seen to deliver: {measured.dram_gb_per_s:,.0f} GB/s"
    beside(
        axes, words, (threads[0] * 1.2, measured.dram_gb_per_s), (0, -6), va="top", color=style.GREY
    )
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
