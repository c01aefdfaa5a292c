"""Draw the ladder: every rung with its published speed, and the rung where we stand lit."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.axes import Axes

from course_lib import curriculum
from course_lib.curriculum import Rung
from course_lib.figures import style
from course_lib.figures.picture import Picture

_ROW = 0.44
_FIRST_BAR, _FULL_BAR = 2.42, 3.2  # where bars begin, and how long 100 % of cuBLAS is
_RAILS = (0.32, 1.82)


@style.drawn
def ladder(
    current: str | None = None,
    *,
    rungs: Sequence[Rung] = curriculum.RUNGS,
    cublas_gflops: float = curriculum.PUBLISHED_CUBLAS_GFLOPS,
    measured_on: str = curriculum.PUBLISHED_ON,
    source: str = curriculum.PUBLISHED_BY,
) -> Picture:
    """The rungs from the bottom up; `current` is the one that is lit.

    Raises:
        ValueError: if no rung has that name.
    """
    names = [rung.name for rung in rungs]
    if current is not None and current not in names:
        raise ValueError(f"No rung {current!r} on the ladder; there are {', '.join(names)}.")
    here = names.index(current) if current is not None else len(rungs)

    height = 1.32 + _ROW * len(rungs)
    figure = style.card(height, "The ladder", f"{measured_on}: GFLOP/s, and the share of cuBLAS")
    axes = style.canvas(figure)
    bottom = height - 0.55
    _draw_rails(axes, bottom, len(rungs))
    _draw_cublas(axes, bottom, len(rungs), cublas_gflops)
    for place, rung in enumerate(rungs):
        y = bottom - _ROW * (place + 0.5)
        _draw_rung(axes, y, rung, place - here, rung.published_gflops / cublas_gflops)
        if place:
            gain = rung.published_gflops / rungs[place - 1].published_gflops
            style.write(axes, 2.12, y + _ROW / 2, f"×{gain:.1f}", ha="center", color=style.GREY)
    style.footnote(figure, f"Published by {source}, not measured by us.")
    return Picture(figure, _words(rungs, current, cublas_gflops, measured_on))


def _draw_rails(axes: Axes, bottom: float, count: int) -> None:
    for x in _RAILS:
        axes.plot(
            [x, x],
            [bottom + 0.12, bottom - _ROW * count - 0.1],
            color=style.GREY,
            linewidth=4,
            solid_capstyle="round",
            zorder=1,
        )


def _draw_cublas(axes: Axes, bottom: float, count: int, gflops: float) -> None:
    x = _FIRST_BAR + _FULL_BAR
    top = bottom - _ROW * count
    axes.plot([x, x], [bottom, top], color=style.INK, linewidth=1, linestyle=(0, (4, 3)), zorder=0)
    style.write(axes, x, top - 0.05, f"cuBLAS {gflops:,.0f}", va="bottom", ha="center")


def _draw_rung(axes: Axes, y: float, rung: Rung, steps_from_here: int, share: float) -> None:
    lit, climbed = steps_from_here == 0, steps_from_here < 0
    colour = style.ORANGE if lit else style.BLUE
    strength = 1.0 if lit else 0.75 if climbed else 0.16
    left, right = _RAILS
    style.box(
        axes,
        left - 0.07,
        y - 0.13,
        right - left + 0.14,
        0.26,
        colour=colour if lit or climbed else style.GREY,
        fill=0.9 if lit else 0.14,
        linewidth=2 if lit else 1.2,
        zorder=2,
    )
    weight = "bold" if lit else "normal"
    style.write(
        axes,
        (left + right) / 2,
        y,
        rung.name,
        ha="center",
        fontfamily=style.MONO,
        fontweight=weight,
        zorder=3,
        fontsize=style.NORMAL,
    )
    bar = axes.barh(
        y,
        _FULL_BAR * share,
        0.24,
        left=_FIRST_BAR,
        color=style.tint(colour, strength),
        edgecolor=colour,
        hatch=None if lit or climbed else "////",
        linewidth=1,
    )
    bar.set_label(rung.name)
    label = f"{style.whole(rung.published_gflops)}  ({share:.1%})" + ("  ◀ here" if lit else "")
    # A number beside a long bar would sit on cuBLAS's line, so it moves behind it.
    x = _FIRST_BAR + (_FULL_BAR + 0.08 if share > 0.6 else _FULL_BAR * share + 0.08)
    style.write(axes, x, y, label, fontweight=weight)


def _words(
    rungs: Sequence[Rung], current: str | None, cublas_gflops: float, measured_on: str
) -> str:
    steps = ", ".join(
        f"{rung.name} {style.whole(rung.published_gflops)} "
        f"({rung.published_gflops / cublas_gflops:.1%})"
        for rung in rungs
    )
    here = f" You are on the rung {current}." if current else ""
    return (
        f"The ladder of kernels from slow to fast, published GFLOP/s on {measured_on} and share of "
        f"cuBLAS ({style.whole(cublas_gflops)}): {steps}.{here}"
    )
