"""What all plots with scales share: words beside a point, a grid, the dots of kernels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from course_lib.figures import style
from course_lib.roofline import Point


def beside(
    axes: Axes, words: str, place: tuple[float, float], offset: tuple[float, float], **looks: Any
) -> None:
    """Small words beside a point of the plot; the offset is in points."""
    axes.annotate(
        words, place, xytext=offset, textcoords="offset points",
        **{"fontsize": style.SMALL, **looks},
    )  # fmt: skip


def rule(axes: Axes, line: float = 0.6, **more: Any) -> None:
    """A faint grid below what is drawn."""
    axes.grid(which="major", color=style.FAINT, linewidth=line, **more)
    axes.set_axisbelow(True)


def log_scales(axes: Axes, across: Sequence[float]) -> None:
    """Both scales logarithmic; across, these FLOP per byte have names: "1/4", "16"."""
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.set_xticks(across, [f"{tick:g}" if tick >= 1 else f"1/{1 / tick:g}" for tick in across])


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
