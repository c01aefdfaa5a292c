"""Draw the funnel: what each level of memory delivers, and what the arithmetic could take in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from matplotlib.patches import Polygon

from course_lib.devices import Device, device
from course_lib.figures import style
from course_lib.figures.pen import Pen
from course_lib.figures.picture import Picture

_TALLEST = 1.9  # inches, of the last station
_WIDE, _GAP, _LEFT = 1.2, 0.92, 0.55


@dataclass(frozen=True)
class _Station:
    name: str
    tb_per_s: float
    colour: str


def stations(gpu: Device) -> tuple[_Station, ...]:
    """What DRAM and shared memory deliver, and what the float32 units take in without any reuse.

    Each multiply-add is two FLOP and wants two numbers of 4 bytes, so every FLOP wants 4 bytes.
    """
    return (
        _Station("DRAM", gpu.dram_gb_per_s / 1000, style.BLUE),
        _Station("shared memory", gpu.shared_tb_per_s, style.ORANGE),
        _Station("float32 units", 4 * gpu.fp32_tflops, style.GREEN),
    )


@style.drawn
def funnel() -> Picture:
    """The way of a number to the multiply units, each station as wide as what goes through it."""
    row = device("H200")
    levels = stations(row)
    figure = style.card(
        3.45,
        f"The funnel: {row.product}",
        "Drawn to scale: TB/s that each level delivers, and that the units could take in",
    )
    pen = Pen.on(figure)
    middle, unit = 1.86, _TALLEST / levels[-1].tb_per_s
    for place, level in enumerate(levels):
        x, half = _LEFT + place * (_WIDE + _GAP), level.tb_per_s * unit / 2
        _draw_station(pen, x, middle, max(half, 0.012), level)
        if place:
            _draw_reuse(pen, x, middle, levels[place - 1], level, unit)
    tensor = 2 * row.fp16_tflops
    x = _LEFT + len(levels) * (_WIDE + _GAP) - 0.62
    factor = f"{tensor / levels[-1].tb_per_s:.1f} times"
    words = f"tensor cores,\n16 bits:\n{tensor:,.0f} TB/s,\n{factor}\nas tall again"
    pen.write(x, middle, words, linespacing=1.25)
    style.footnote(
        figure, "Data sheets. Without reuse: every multiply–add would fetch its own two numbers."
    )
    return Picture(figure, _words(row, levels, tensor))


def _draw_station(pen: Pen, x: float, middle: float, half: float, level: _Station) -> None:
    corners = [(x, middle - half), (x + _WIDE, middle - half)]
    corners += [(x + _WIDE, middle + half), (x, middle + half)]
    pen.axes.add_patch(Polygon(corners, closed=True, facecolor=level.colour, alpha=0.55))
    words = f"{level.name}\n{level.tb_per_s:,.3g} TB/s"
    inside = half > 0.3
    y = middle if inside else middle - half - 0.24
    pen.write(x + _WIDE / 2, y, words, ha="center", bold=True, linespacing=1.25)


def _draw_reuse(
    pen: Pen, x: float, middle: float, before: _Station, after: _Station, unit: float
) -> None:
    """The widening in front of a station, and what closes it."""
    low, high = before.tb_per_s * unit / 2, after.tb_per_s * unit / 2
    corners = [(x - _GAP, middle - low), (x, middle - high)]
    corners += [(x, middle + high), (x - _GAP, middle + low)]
    pen.axes.add_patch(Polygon(corners, closed=True, facecolor=style.FAINT, alpha=0.6))
    words = f"each number\nused {after.tb_per_s / before.tb_per_s:.0f} times"
    pen.write(x - _GAP / 2, middle + _TALLEST / 2 + 0.1, words, ha="center", linespacing=1.2)


def _words(row: Device, levels: Sequence[_Station], tensor: float) -> str:
    told = ", ".join(f"{level.name} {level.tb_per_s:,.3g} TB/s" for level in levels)
    factors = " and ".join(
        f"{after.tb_per_s / before.tb_per_s:.0f}" for before, after in pairwise(levels)
    )
    return (
        f"A funnel from DRAM to the units of an {row.product}: {told}. Between them each number "
        f"has to be used {factors} times. Tensor cores could take in {tensor:,.0f} TB/s."
    )
