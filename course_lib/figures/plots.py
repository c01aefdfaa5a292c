"""Draw plots with scales: what all share, threads in flight, what a number format costs."""

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from course_lib.devices import Device, device
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


# --- What a number format buys and costs: roofs over the same DRAM, and its error -----------------


ErrorsByDepth = Mapping[str, Mapping[int, float]]  # format -> steps of k -> relative error

_LOW, _HIGH = 0.2, 4096.0  # FLOP per byte
_LINE = 11.0  # points from one label to the next
# A colour and a marker for each format, so that neither has to tell them apart alone.
_LOOKS: dict[str, tuple[str, str]] = {
    "float32": (style.INK, "o"),
    "tf32": (style.VERMILION, "s"),
    "float16": (style.GREEN, "^"),
    "bfloat16": (style.BLUE, "D"),
}
_CLOSE = 4  # a roof so many times as high leaves no room for a name below it
_MORE_LOOKS = (style.PURPLE, "v")


# --- The roofs ---------------------------------------------------------------------------------


@style.drawn
def roofs_of_formats(gpu: str | Device, points: Sequence[Point] = ()) -> Picture:
    """One DRAM roof, and above it a flat roof for each format, with its ridge.

    A point without a speed is drawn hollow, under the highest roof: at most so fast.
    """
    row = device(gpu)
    roofs = _roofs(row)
    figure = style.card(
        4.3, f"The roofs of {row.product}", "Both axes are logarithmic; tensor cores: dense"
    )
    axes = style.area(figure, 0.85, 1.0, 0.3, 0.72)
    _draw_scales(axes, row, roofs)
    peak = max(roofs.values())
    top_ridge = peak / row.dram_gb_per_s
    slope = [_LOW * row.dram_gb_per_s, peak]
    axes.plot([_LOW, top_ridge], slope, color=style.BLUE, linewidth=2.4, zorder=2)
    for name, gflops in roofs.items():
        is_close = any(gflops < other < _CLOSE * gflops for other in roofs.values())
        _draw_roof(axes, name, gflops, gflops / row.dram_gb_per_s, below=is_close)
    heights = {
        point: point.gflops or min(peak, point.intensity * row.dram_gb_per_s) for point in points
    }
    for point, up in zip(heights, _apart(axes, list(heights.values())), strict=True):
        dot(axes, point, heights[point], style.VERMILION)
        words = (
            f"{point.label}  {'≤ ' * (point.gflops is None)}{heights[point] / 1000:,.0f} TFLOP/s"
        )
        place = point.intensity, heights[point]
        beside(axes, words, place, (-9, up), ha="right", va="center", zorder=6)
    if any(point.gflops is None for point in points):
        handle = hollow(style.VERMILION, "at most, if every requested byte came from DRAM")
        axes.legend(handles=[handle], loc="upper left", handletextpad=0.4, frameon=False)
    style.footnote(figure, _sources(row, points))
    return Picture(figure, _roof_words(row, roofs, points))


def _roofs(row: Device) -> dict[str, float]:
    """Names of formats -> GFLOP/s; formats with the same roof share a line."""
    tera = {"float32": row.fp32_tflops, "TF32": row.tf32_tflops, "16 bits": row.fp16_tflops}
    by_height: dict[float, list[str]] = {}
    for name, height in tera.items():
        if height:
            by_height.setdefault(height * 1000, []).append(name)
    return {", ".join(names): height for height, names in sorted(by_height.items())}


def _draw_scales(axes: Axes, row: Device, roofs: Mapping[str, float]) -> None:
    heights = _LOW * row.dram_gb_per_s / 1.5, max(roofs.values()) * 3
    across = [2.0**power for power in range(-2, 12, 2)]
    log_scales(axes, across, (_LOW, _HIGH), heights, unit=1000)
    axes.set_xlabel("FLOP per byte")
    axes.set_ylabel("TFLOP/s")
    place, words = (0.6, 0.6 * row.dram_gb_per_s), f"DRAM roof {row.dram_gb_per_s:,.0f} GB/s"
    beside(axes, words, place, (8, -5), va="top", color=style.BLUE)


def _draw_roof(axes: Axes, name: str, gflops: float, ridge: float, below: bool) -> None:
    """A flat roof and its ridge, with its name above, or below where the next roof is near."""
    axes.plot([ridge, _HIGH], [gflops, gflops], color=style.INK, linewidth=2.4, zorder=2)
    foot = axes.get_ylim()[0]
    axes.plot([ridge, ridge], [foot, gflops], color=style.GREY, linewidth=1, linestyle=":")
    axes.plot([ridge], [gflops], marker="o", markersize=6, color=style.INK, zorder=3)
    offset, hangs = ((-4, -4), "top") if below else ((-4, 4), "bottom")
    words = f"{name} {gflops / 1000:,.1f} TFLOP/s"
    beside(axes, words, (_HIGH, gflops), offset, ha="right", va=hangs, gid=name)
    looks = {"ha": "left", "va": "bottom", "gid": f"ridge {name}"}
    beside(axes, f"{ridge:.0f}", (ridge, foot), (4, 5), **looks)


def _apart(axes: Axes, heights: Sequence[float]) -> list[float]:
    """How far each label is above its dot, in points, so that none covers another."""
    figure = axes.get_figure()
    assert figure is not None
    own = [axes.transData.transform((1, height))[1] * 72 / figure.dpi for height in heights]
    from_top = sorted(range(len(own)), key=lambda place: -own[place])
    found = dict.fromkeys(from_top, 0.0)
    for above, below in pairwise(from_top):
        found[below] = min(0.0, own[above] + found[above] - _LINE - own[below])
    lowest = min(found.values(), default=0.0)  # none stands lower than its dot, on the slope
    return [found[place] - lowest for place in range(len(own))]


def _sources(row: Device, points: Sequence[Point]) -> str:
    named = sorted({point.source for point in points if point.source})
    lacks = "" if row.tf32_tflops else f" {row.name} has no TF32."
    first = f"Roofs: data sheet. At the bottom: the ridges, in FLOP per byte.{lacks}"
    return "\n".join([first, *(f"Speeds: {source}." for source in named)])


def _roof_words(row: Device, roofs: Mapping[str, float], points: Sequence[Point]) -> str:
    told = "; ".join(
        f"{name} {gflops / 1000:,.1f} TFLOP/s from {gflops / row.dram_gb_per_s:.0f} FLOP per byte"
        for name, gflops in roofs.items()
    )
    dots = "; ".join(
        f"{point.label} at {point.intensity:.3g} FLOP per requested byte"
        + ("" if point.gflops is None else f", {point.gflops / 1000:,.0f} TFLOP/s")
        for point in points
    )
    return (
        f"One DRAM roof of {row.dram_gb_per_s:,.0f} GB/s on {row.product}, and over it the flat "
        f"roofs of its number formats: {told}." + (f" Kernels: {dots}." if dots else "")
    )


# --- The errors --------------------------------------------------------------------------------


@style.drawn
def errors_of_formats(
    counted: ErrorsByDepth, measured: ErrorsByDepth | None = None, *, measured_on: str = ""
) -> Picture:
    """The relative error of a product in each format, over the steps of k.

    Args:
        counted: on the emulator; drawn hollow.
        measured: on a GPU; drawn filled.
        measured_on: which GPU, and when.
    """
    measured = measured or {}
    figure = style.card(
        3.9,
        "How wrong is a product?",
        "Error against float64, as a share of the result (norms); both axes are logarithmic",
    )
    axes = style.area(figure, 0.75, 0.95, 1.45, 0.72)
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    depths = sorted({k for counts in (*counted.values(), *measured.values()) for k in counts})
    axes.set_xticks(depths, [str(depth) for depth in depths])
    axes.minorticks_off()
    axes.set_xlabel("K, the steps of each sum")
    axes.grid(which="major", color=style.FAINT, linewidth=0.6)
    for name in {**counted, **measured}:
        _draw_errors(axes, name, counted.get(name, {}), measured.get(name, {}))
    low, high = axes.get_ylim()
    low, high = low / 1.5, high * 1.5
    powers = [power for power in range(-20, 3) if low <= 10.0**power <= high]
    axes.set_yticks([10.0**power for power in powers], [f"1e{power:+03d}" for power in powers])
    axes.set_ylim(low, high)
    note = "Hollow: the emulator."
    style.footnote(figure, f"{note} Filled: measured on {measured_on}." if measured else note)
    return Picture(figure, _error_words(counted, measured, measured_on))


def _draw_errors(
    axes: Axes, name: str, counted: Mapping[int, float], measured: Mapping[int, float]
) -> None:
    colour, marker = _LOOKS.get(name, _MORE_LOOKS)
    for found, fill in ((counted, style.PAPER), (measured, colour)):
        depths = sorted(found)
        axes.plot(
            depths,
            [found[depth] for depth in depths],
            color=colour, marker=marker, markerfacecolor=fill, markersize=6, linewidth=1.4,
            gid=f"{name} {'counted' if found is counted else 'measured'}",
        )  # fmt: skip
    last = (measured or counted)[max(measured or counted)]
    looks = {"xycoords": ("axes fraction", "data"), "va": "center", "color": colour}
    beside(axes, f"{name}, {last:.1e}", (1, last), (6, 0), **looks)


def _error_words(counted: ErrorsByDepth, measured: ErrorsByDepth, measured_on: str) -> str:
    def told(errors: ErrorsByDepth) -> str:
        return "; ".join(
            f"{name} {found[min(found)]:.1e} at K = {min(found)}, "
            f"{found[max(found)]:.1e} at K = {max(found)}"
            for name, found in errors.items()
        )

    words = f"Relative error of a product against float64. On the emulator: {told(counted)}."
    return words + (f" Measured on {measured_on}: {told(measured)}." if measured else "")
