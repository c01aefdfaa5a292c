"""Draw an SM as four budgets that its resident blocks share, and the one that runs out first."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from course_lib.devices import REGISTERS_PER_SM, Device, device, occupancy
from course_lib.figures import style
from course_lib.figures.pen import Looks, Pen, tinted
from course_lib.figures.picture import Picture
from course_lib.words import counted, joined

Launch = tuple[int, int, int]  # threads per block, registers per thread, shared bytes per block

_LEFT, _FULL = 1.42, 3.5  # where the bars begin, and how long a whole budget is
_OVER = 0.55  # how far a block that does not fit may stick out
_ROW, _BAR, _HEAD, _GAP = 0.3, 0.22, 0.31, 0.16
_MOST = 3  # launches in one picture


@dataclass(frozen=True)
class _Budget:
    """One budget of the SM: what a block takes of it, and how often that goes in."""

    name: str
    need: int  # of one block
    whole: int
    fits: int  # blocks, roundings included
    binds: bool


@style.drawn
def sm_budget(gpu: str | Device, launches: Launch | Mapping[str, Launch]) -> Picture:
    """The four budgets of one SM, filled with the blocks of a launch; the binding one is lit.

    Args:
        gpu: a name of the data sheet, or its row.
        launches: threads per block, registers per thread and shared bytes per block; up to three
            of them by name to compare.

    Raises:
        ValueError: if there are none, or too many for a page.
    """
    row = device(gpu)
    named = dict(launches) if isinstance(launches, Mapping) else {_title(launches): launches}
    if not 1 <= len(named) <= _MOST:
        raise ValueError(f"One to {_MOST} launches fit, not {len(named)}.")
    height = 0.98 + len(named) * (_HEAD + 4 * _ROW + _GAP) + 0.05
    figure = style.card(
        height,
        f"What the blocks of one SM share: {row.product}",
        "Each bar is one budget of the SM. A block goes in whole or not at all.",
    )
    pen = Pen.on(figure)
    y, told = 0.72, []
    for name, launch in named.items():
        told.append(_draw_launch(pen, y, name, row, launch))
        y += _HEAD + 4 * _ROW + _GAP
    style.footnote(figure, "Hatched: the next block, which no longer fits. White: room left over.")
    return Picture(figure, f"The four budgets of one SM of {row.product}. {' '.join(told)}")


def _title(launch: Launch) -> str:
    threads, registers, shared = launch
    return f"{threads} threads, {registers} registers, {shared:,} B of shared memory"


def _draw_launch(pen: Pen, y: float, name: str, row: Device, launch: Launch) -> str:
    found = occupancy(row, *launch)
    share = f"{100 * found.share:.3g} %"
    verdict = f"{counted(found.blocks, 'block')}, {found.warps} of {found.max_warps} warps: {share}"
    if not found.launches:
        verdict = "the launch fails"
    pen.write(0.16, y + 0.13, name, size=style.NORMAL, bold=True)
    pen.write(7.44, y + 0.13, verdict, ha="right", size=style.NORMAL)
    y += _HEAD
    budgets = _budgets(found)
    for budget in budgets:
        _draw_budget(pen, y, budget, found.blocks)
        y += _ROW
    limits = ", ".join(f"{each.name} {each.fits}" for each in budgets)
    binding = joined(found.limiters, none="nothing")
    return f"{name}: {verdict}; blocks that fit by {limits}; binding: {binding}."


def _budgets(found: Any) -> list[_Budget]:
    needs = {
        "warps": (found.warps_per_block, found.max_warps),
        "registers": (found.warps_per_block * found.registers_per_warp, REGISTERS_PER_SM),
        "shared memory": (found.shared_per_block, found.sm.shared_per_sm_bytes),
        "blocks": (1, found.sm.blocks_per_sm),
    }
    return [
        _Budget(name, need, whole, found.limits[name], name in found.limiters)
        for name, (need, whole) in needs.items()
    ]


def _draw_budget(pen: Pen, y: float, budget: _Budget, resident: int) -> None:
    colour = style.ORANGE if budget.binds else style.BLUE
    size = _FULL * budget.need / budget.whole
    pen.write(_LEFT - 0.1, y + _BAR / 2, budget.name, ha="right", bold=budget.binds)
    for place in range(resident):
        _draw_block(pen, _LEFT + place * size, y, size, colour, str(place + 1))
    if budget.binds:
        start = resident * size
        width = min(size, _FULL + _OVER - start)
        looks: Looks = {"face": style.PAPER, "edge": style.VERMILION, "hatch": "////"}
        pen.rectangle(_LEFT + start, y, width, _BAR, line=1, z=1, **looks)
    pen.rectangle(_LEFT, y, _FULL, _BAR, edge=style.INK, line=1.3, z=4)
    used = _of(resident * budget.need, budget)
    pen.write(_LEFT + _FULL + _OVER + 0.1, y + _BAR / 2, used, bold=budget.binds)
    fits = f"fits {budget.fits}" + ("  ◀" if budget.binds else "")
    pen.write(6.92, y + _BAR / 2, fits, bold=budget.binds)


def _draw_block(pen: Pen, x: float, y: float, size: float, colour: str, label: str) -> None:
    words = label if size > 0.16 else ""
    pen.at(x, y, size, _BAR).cell(0, 0, words, **tinted(colour, 0.35, 0.9))


def _of(used: int, budget: _Budget) -> str:
    if budget.name == "shared memory":
        return f"{used / 1024:g} of {budget.whole / 1024:g} KiB"
    return f"{used:,} of {budget.whole:,}"
