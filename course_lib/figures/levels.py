"""Draw how the bytes of a launch shrink on their way to DRAM, as the cache model estimates it."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from course_lib.emulator.profile.cache import ASSUMPTIONS
from course_lib.figures import style
from course_lib.figures.picture import Picture

LEVELS = {
    "requested_bytes": "requested\nby the threads",
    "l1_bytes": "through L1,\nwarps merged",
    "l2_bytes": "from L2",
    "dram_bytes": "from DRAM",
}
_COUNTED = 2  # the first two are counts, the others the model's
_LOOKS = (
    (style.VERMILION, "o", "-"),
    (style.ORANGE, "s", (0, (5, 2))),
    (style.BLUE, "^", (0, (1, 1.5))),
    (style.GREEN, "D", (0, (4, 2, 1, 2))),
)
# Numbers closer than this, as a ratio, are written once.
_SAME = 1.06


@style.drawn
def memory_levels(levels: Mapping[str, Any]) -> Picture:
    """Bytes loaded at each level of memory, kernel by kernel, on a scale of powers of ten.

    Args:
        levels: kernel -> CacheTraffic, all for the same GPU and problem; four at most.

    Raises:
        ValueError: if there are none, more than four, or several GPUs.
    """
    gpus = {each.sizes.name for each in levels.values()}
    if not 1 <= len(levels) <= len(_LOOKS) or len(gpus) != 1:
        raise ValueError(f"One to {len(_LOOKS)} kernels on one GPU fit, not {len(levels)}.")
    (gpu,) = gpus
    place = f" on {gpu}" if gpu else ""
    figure = style.card(
        4.5,
        f"Bytes loaded{place}, level by level",
        "What the caches hold never reaches DRAM; each line up is ten times the bytes",
    )
    axes = style.area(figure, 0.85, 0.95, 0.2, 0.95)
    _draw_scale(axes, [value for each in levels.values() for value in _values(each)])
    for (name, each), looks in zip(levels.items(), _LOOKS, strict=False):
        colour, marker, line = looks
        axes.plot(
            range(len(LEVELS)),
            _values(each),
            color=colour,
            marker=marker,
            linestyle=line,
            linewidth=1.8,
            markersize=8,
            label=name,
            markeredgecolor=style.PAPER,
        )
    for column, attribute in enumerate(LEVELS):
        _write_numbers(axes, column, [getattr(each, attribute) for each in levels.values()])
    figure.legend(
        loc="upper left",
        bbox_to_anchor=(0.1, 1 - 0.56 / 4.5),
        ncols=len(levels),
        handlelength=3.2,
    )
    style.footnote(figure, "\n".join(textwrap.wrap(ASSUMPTIONS, 108)))
    return Picture(figure, _words(levels, place))


def _values(levels: Any) -> list[float]:
    return [max(1.0, float(getattr(levels, name))) for name in LEVELS]


def _draw_scale(axes: Axes, values: Sequence[float]) -> None:
    low = np.floor(np.log10(min(values)) - 0.15)
    high = np.ceil(np.log10(max(values)) + 0.15)
    axes.set_yscale("log")
    axes.set_ylim(10**low, 10**high)
    axes.set_xlim(-0.6, len(LEVELS) - 0.4)
    ticks = [10.0**power for power in range(int(low), int(high) + 1)]
    axes.set_yticks(ticks, [style.short_bytes(tick) for tick in ticks])
    axes.minorticks_off()
    axes.grid(axis="y", color=style.FAINT, linewidth=0.7)
    axes.set_axisbelow(True)
    axes.axvspan(_COUNTED - 0.5, len(LEVELS), color=style.WASH, zorder=0)
    axes.set_xticks(range(len(LEVELS)), list(LEVELS.values()))
    axes.tick_params(length=0)
    edge = _COUNTED - 0.5
    for x, side, words in ((edge - 0.05, "right", "counted"), (edge + 0.05, "left", "model")):
        axes.text(
            x, 1.0, words, transform=axes.get_xaxis_transform(), ha=side, va="top",
            fontsize=style.SMALL, color=style.GREY, fontweight="bold",
        )  # fmt: skip


def _write_numbers(axes: Axes, column: int, values: Sequence[float]) -> None:
    """The numbers beside their marks; those that are nearly the same once."""
    groups: list[list[float]] = []
    for value in sorted(values):
        if groups and value <= groups[-1][0] * _SAME:
            groups[-1].append(value)
        else:
            groups.append([value])
    for group in groups:
        # Where lines neither come from nor go to: left of the first column, else above the
        # highest number and below the others.
        highest = group is groups[-1]
        offset, side, height = ((8, 5), "left", "bottom") if highest else ((-6, -6), "right", "top")
        if column == 0:
            offset, side, height = (-9, 0), "right", "center"
        axes.annotate(
            style.short_bytes(float(f"{group[0]:.3g}")),
            (column, group[0]),
            xytext=offset,
            textcoords="offset points",
            ha=side,
            va=height,
            fontsize=style.SMALL,
            zorder=5,
        )


def _words(levels: Mapping[str, Any], place: str) -> str:
    names = [name.replace("\n", " ") for name in LEVELS.values()]
    told = "; ".join(
        f"{kernel}: "
        + ", ".join(
            f"{style.short_bytes(getattr(each, attribute))} {name}"
            for attribute, name in zip(LEVELS, names, strict=True)
        )
        for kernel, each in levels.items()
    )
    return f"Bytes loaded{place}, level by level. {told}. {ASSUMPTIONS}"
