"""Draw the whole climb on one page: each rung, why it is faster, and what holds it back then."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from matplotlib.axes import Axes

from course_lib import curriculum
from course_lib.curriculum import Rung
from course_lib.figures import style
from course_lib.figures.picture import Picture

# Published TFLOP/s of another climb: other GPU, other numbers, so never beside the bars below.
TENSOR_WHERE = "H100 SXM, 4096 x 4096 x 4096, BF16"
TENSOR_STEPS = (
    ("the ladder below, on CUDA cores", 32),
    ("tensor cores, TMA", 317),
    ("larger tiles, specialised warps", 631),
    ("clusters, order of tiles, stores", 764),
)
TENSOR_CUBLAS = 716
TENSOR_SOURCE = "public worklog “Outperforming cuBLAS on H100”, 2024"

_ROW, _TOP, _PANEL = 0.55, 0.88, 1.06
# Where the columns begin; the first one also ends.
_NAMES, _WHY, _BINDS = (0.2, 1.62), 1.82, 4.95


@style.drawn
def climb(rungs: Sequence[Rung] = curriculum.RUNGS) -> Picture:
    """The ladder as a page to teach from: speeds, reasons, limits; tensor cores above it."""
    height = _TOP + _PANEL + _ROW * len(rungs) + 0.44
    figure = style.card(
        height,
        "The climb on one page",
        f"{curriculum.PUBLISHED_ON}: GFLOP/s, and the share of cuBLAS. Read it from the bottom up.",
    )
    axes = style.canvas(figure)
    _draw_tensor_panel(axes)
    head = _TOP + _PANEL - 0.12
    for x, words in ((_WHY, "why it is faster"), (_BINDS, "what holds it back then")):
        style.write(axes, x, head, words, color=style.GREY, fontweight="bold")
    bottom = _TOP + _PANEL + _ROW * len(rungs)
    for place, rung in enumerate(rungs):
        y = bottom - _ROW * (place + 0.5)
        _draw_rung(axes, y, rung)
        if place:
            gain = rung.published_gflops / rungs[place - 1].published_gflops
            _draw_gain(axes, y + _ROW / 2, gain)
    style.footnote(
        figure,
        f"Speeds published by {curriculum.PUBLISHED_BY}. Limits counted in compiled code or\n"
        f"modelled. Above: {TENSOR_SOURCE}.",
    )
    return Picture(figure, _words(rungs))


def _draw_tensor_panel(axes: Axes) -> None:
    style.box(axes, 0.16, 0.66, 7.28, 0.98, colour=style.PURPLE, fill=0.1)
    style.write(
        axes, 0.3, 0.82, f"Another ladder: tensor cores. TFLOP/s on {TENSOR_WHERE}",
        fontweight="bold",
    )  # fmt: skip
    width = 7.0 / (len(TENSOR_STEPS) + 1)
    steps = (*TENSOR_STEPS, ("cuBLAS, for comparison", TENSOR_CUBLAS))
    for place, (name, tflops) in enumerate(steps):
        x = 0.3 + (place + 0.5) * width
        last = place == len(TENSOR_STEPS)
        style.write(
            axes, x, 1.07, str(tflops), ha="center", fontsize=style.LARGE,
            fontweight="bold", color=style.GREY if last else style.INK,
        )  # fmt: skip
        style.write(
            axes, x, 1.37, textwrap.fill(name, 18), ha="center", linespacing=1.1,
            color=style.GREY if last else style.INK,
        )  # fmt: skip
        if 0 < place < len(TENSOR_STEPS):
            style.arrow(axes, (x - width + 0.28, 1.07), (x - 0.28, 1.07), colour=style.PURPLE)


def _draw_rung(axes: Axes, y: float, rung: Rung) -> None:
    left, right = _NAMES
    style.box(axes, left, y - 0.185, right - left, 0.37, colour=style.BLUE)
    style.write(
        axes, (left + right) / 2, y - 0.085, rung.name, ha="center",
        fontfamily=style.MONO, fontweight="bold",
    )  # fmt: skip
    speed = f"{style.whole(rung.published_gflops)}  ({rung.share_of_cublas:.1%})"
    style.write(axes, (left + right) / 2, y + 0.1, speed, ha="center")
    for x, words, letters in ((_WHY, rung.why, 44), (_BINDS, rung.binds, 36)):
        style.write(axes, x, y, textwrap.fill(words, letters), linespacing=1.15)
    axes.plot([_WHY, 7.44], [y + _ROW / 2] * 2, color=style.FAINT, linewidth=0.8)


def _draw_gain(axes: Axes, y: float, gain: float) -> None:
    style.arrow(axes, (0.72, y + 0.085), (0.72, y - 0.085), colour=style.ORANGE)
    style.write(axes, 0.82, y, f"× {gain:.2f}", color=style.GREY)


def _words(rungs: Sequence[Rung]) -> str:
    told = " ".join(
        f"{rung.name} {style.whole(rung.published_gflops)}: {rung.why} {rung.binds}"
        for rung in rungs
    )
    return (
        f"The climb, {curriculum.PUBLISHED_ON}: GFLOP/s, why faster, what then binds. {told} "
        f"Tensor cores, H100 BF16: {TENSOR_STEPS[0][1]} to {TENSOR_STEPS[-1][1]} TFLOP/s; "
        f"cuBLAS {TENSOR_CUBLAS}."
    )
