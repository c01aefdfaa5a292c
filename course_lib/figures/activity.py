"""Draw what a block does over time: the lines of memory it touches, the lanes that are active."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from course_lib.devices import CACHE_LINE_BYTES, WARP_SIZE
from course_lib.figures import style
from course_lib.figures.accesses import traced
from course_lib.figures.picture import Picture

Block = Sequence[int]


# -- accesses over time --------------------------------------------------------------------------


@dataclass(frozen=True)
class _History:
    """What one block did to one array: which memory instruction touched which line."""

    array: str
    space: str
    steps: np.ndarray
    lines: np.ndarray  # numbered from 0 among the lines that were touched, by address
    stores: np.ndarray

    @property
    def line_count(self) -> int:
        return int(self.lines.max()) + 1


_PANEL = 1.22
_LEFT, _RIGHT = 1.0, 5.55


@style.drawn
def block_accesses(
    profile: Any, block: Block = (0, 0), arrays: Sequence[str] | None = None
) -> Picture:
    """Which lines of each array a block touches, one memory instruction after another.

    Args:
        profile: a traced launch, `emulate(kernel, trace=True)[...](...)`.
        block: which block, as (x, y).
        arrays: which arrays, four at most; the global ones unless given.

    Raises:
        ValueError: if the block touches none of these arrays, or there are more than four.
    """
    histories, barriers, steps = _histories(profile, block, arrays)
    if not 1 <= len(histories) <= 4:
        raise ValueError(f"One to four arrays fit a picture, not {len(histories)}.")
    figure = style.card(
        1.3 + _PANEL * len(histories),
        f"What block {_place(block)} touches over time",
        f"Each row is a line of {CACHE_LINE_BYTES} bytes, each column one memory instruction "
        "of the block",
    )
    axes = style.canvas(figure)
    for place, history in enumerate(histories):
        _draw_history(axes, 0.72 + place * _PANEL, history, barriers, steps)
    bottom = 0.72 + _PANEL * len(histories)
    _draw_time(axes, bottom, steps, len(barriers))
    told = "; ".join(f"{each.array}: {_visits(each)}" for each in histories)
    return Picture(
        figure,
        f"What block {_place(block)} touches in {steps} memory instructions, "
        f"{_barriers(len(barriers))} between them. {told}.",
    )


def _histories(
    profile: Any, block: Block, arrays: Sequence[str] | None
) -> tuple[list[_History], list[int], int]:
    """The histories, the steps before which a barrier stands, and the number of steps."""
    touched: dict[str, list[tuple[int, np.ndarray, str, str]]] = {}
    barriers: list[int] = []
    step, interval = 0, None
    for access in traced(profile):
        mine = _of_block(access, block)
        if not mine.any() or access.space == "local":
            continue
        if interval is not None and access.interval != interval:
            barriers.append(step)
        interval = access.interval
        lines = np.unique(access.addresses[mine] // CACHE_LINE_BYTES)
        touched.setdefault(access.array, []).append((step, lines, access.kind, access.space))
        step += 1
    names = [
        name
        for name, found in touched.items()
        if (name in arrays if arrays is not None else found[0][3] == "global")
    ]
    return [_history(name, touched[name]) for name in sorted(names)], barriers, step


def _history(name: str, found: Sequence[tuple[int, np.ndarray, str, str]]) -> _History:
    counts = [len(lines) for _, lines, _, _ in found]
    lines = np.concatenate([lines for _, lines, _, _ in found])
    return _History(
        name,
        found[0][3],
        np.repeat([step for step, _, _, _ in found], counts),
        np.unique(lines, return_inverse=True)[1],
        np.repeat([kind != "load" for _, _, kind, _ in found], counts),
    )


def _of_block(access: Any, block: Block) -> np.ndarray:
    z, y, x = (*block, 0, 0)[:3][::-1]
    result: np.ndarray = np.all(np.asarray(access.threads)[:, :3] == (z, y, x), axis=1)
    return result


def _draw_history(
    axes: Axes, top: float, history: _History, barriers: Sequence[int], steps: int
) -> None:
    colour = style.MATRIX_COLOUR.get(history.array, style.PURPLE)
    height, width = _PANEL - 0.4, _RIGHT - _LEFT
    title = f"{history.array}, {history.space}"
    style.write(axes, _LEFT, top + 0.1, title, fontweight="bold", fontsize=style.NORMAL)
    shades = np.full((history.line_count, steps, 3), style.tint(colour, 0.07))
    shades[history.lines, history.steps] = style.tint(colour, 0.75)
    shades[history.lines[history.stores], history.steps[history.stores]] = style.tint(
        style.INK, 0.85
    )
    axes.pcolormesh(
        _LEFT + width * np.arange(steps + 1) / steps,
        top + 0.24 + height * np.arange(history.line_count + 1) / history.line_count,
        shades,
        edgecolors=style.PAPER if width / steps > 0.09 and height / history.line_count > 0.09
        else "none",
        linewidth=0.5,
    )  # fmt: skip
    style.rectangle(
        axes, (_LEFT, top + 0.24), width, height, fill=False, edgecolor=style.FAINT, linewidth=1
    )
    for step in barriers:
        x = _LEFT + width * step / steps
        axes.plot(
            [x, x],
            [top + 0.24, top + 0.24 + height],
            color=style.INK,
            linewidth=0.8,
            linestyle=(0, (2, 2)),
        )
    style.write(axes, _LEFT - 0.1, top + 0.32, "0", ha="right", color=style.GREY)
    style.write(axes, _LEFT - 0.1, top + 0.5, "line", ha="right", color=style.GREY)
    if history.line_count > 1:
        last = str(history.line_count - 1)
        style.write(axes, _LEFT - 0.1, top + 0.16 + height, last, ha="right", color=style.GREY)
    words = _visits(history).replace(", ", "\n")
    style.write(axes, _RIGHT + 0.14, top + 0.24 + height / 2, words, linespacing=1.4)


def _visits(history: _History) -> str:
    """How many lines, and how often each is loaded and stored on average."""
    count = history.line_count
    stores = int(history.stores.sum())
    told = [
        f"{verb} {f'{visits / count:.3g} times' if visits != count else 'once'}"
        for verb, visits in (("loaded", len(history.lines) - stores), ("stored", stores))
        if visits
    ]
    each = "each " if len(history.lines) % count == 0 else "on average "
    return f"{count} line{'s' * (count != 1)}, {each * (count > 1)}{', '.join(told)}"


def _draw_time(axes: Axes, y: float, steps: int, barriers: int) -> None:
    style.write(axes, _LEFT, y + 0.05, "0", color=style.GREY)
    style.write(axes, _RIGHT, y + 0.05, f"{steps - 1}", ha="right", color=style.GREY)
    middle = (_LEFT + _RIGHT) / 2
    style.write(axes, middle, y + 0.05, "memory instruction", ha="center", color=style.GREY)
    x = _LEFT
    for colour, words in (
        (style.PURPLE, "load (in the array's colour)"),
        (style.INK, "store"),
    ):
        style.rectangle(
            axes,
            (x, y + 0.22),
            0.16,
            0.14,
            facecolor=style.tint(colour, 0.8),
            edgecolor=colour,
            linewidth=0.7,
        )
        style.write(axes, x + 0.22, y + 0.29, words)
        x += 0.55 + 0.078 * len(words)
    if barriers:
        axes.plot(
            [x + 0.08] * 2,
            [y + 0.2, y + 0.38],
            color=style.INK,
            linewidth=0.9,
            linestyle=(0, (2, 2)),
        )
        style.write(axes, x + 0.18, y + 0.29, f"barrier ({barriers})")


def _barriers(count: int) -> str:
    return {0: "no barrier", 1: "1 barrier"}.get(count, f"{count} barriers")


def _place(block: Block) -> str:
    shown = tuple(block[:2]) if len(block) < 3 or block[2] == 0 else tuple(block)
    return str(shown).replace(",)", ")")


# -- active lanes --------------------------------------------------------------------------------

_ROW = 0.185
_CODE_LEFT = 0.58
_MOST_WARPS = 3


@dataclass(frozen=True)
class _Row:
    """One executed statement, and the lanes of the chosen warps that took part."""

    line: int
    lanes: np.ndarray  # booleans, shape (warps, 32)


@style.drawn
def active_lanes(
    profile: Any,
    block: Block = (0, 0),
    warps: Sequence[int] = (0,),
    *,
    first: int = 0,
    most: int = 24,
) -> Picture:
    """Which lanes of some warps take part in each statement that the block executes, in order.

    Where the lanes of a warp take different branches, the branches are executed one after the
    other: some lanes wait while others work.

    Args:
        profile: a traced launch, `emulate(kernel, trace=True)[...](...)`.
        block: which block, as (x, y).
        warps: which warps of the block, three at most.
        first, most: from which executed statement on, and how many.

    Raises:
        ValueError: if there are more than three warps, or these warps execute nothing there.
    """
    if not 1 <= len(warps) <= _MOST_WARPS:
        raise ValueError(f"One to {_MOST_WARPS} warps fit a picture, not {len(warps)}.")
    rows = _rows(profile, block, warps)
    shown = rows[first : first + most]
    if not shown:
        raise ValueError(
            f"Block {_place(block)} executes {len(rows)} statements, none from {first}."
        )
    left_out = len(rows) - first - len(shown)
    figure = style.card(
        1.58 + _ROW * len(shown) + (0.2 if left_out else 0),
        f"Active lanes of block {_place(block)}",
        "Each row is one executed statement, from top to bottom; what a warp's lanes do "
        "differently takes turns",
    )
    axes = style.canvas(figure)
    _draw_statements(axes, shown, profile, warps, block)
    bottom = 1.12 + _ROW * len(shown)
    if left_out:
        style.write(axes, _CODE_LEFT, bottom, f"… and {left_out} more", color=style.GREY)
    _draw_activity_key(axes, figure.get_size_inches()[1] - 0.2)
    return Picture(figure, _activity_words(rows[first:], warps, block, profile))


def _rows(profile: Any, block: Block, warps: Sequence[int]) -> list[_Row]:
    traced(profile)
    x, y, z = (*block, 0, 0)[:3]
    rows = []
    for statement in profile.activity:
        lanes = statement.lanes_of((x, y, z))
        if lanes is None:
            continue
        if max(warps) >= len(lanes):
            raise ValueError(f"The block has {len(lanes)} warps, so there is no {max(warps)}.")
        mine = lanes[list(warps)]
        if mine.any():
            rows.append(_Row(statement.line, mine))
    return rows


def _draw_statements(
    axes: Axes, rows: Sequence[_Row], profile: Any, warps: Sequence[int], block: Block
) -> None:
    cell = (11, 7, 5)[len(warps) - 1] / style.DPI  # whole pixels, so that all are equally wide
    span = cell * WARP_SIZE
    gap = 0.14
    first = 7.42 - len(warps) * span - (len(warps) - 1) * gap
    room = int((first - _CODE_LEFT - 0.12) / 0.0757)
    top = 1.02
    for place, warp in enumerate(warps):
        x = _on_pixel(first + place * (span + gap))
        style.write(axes, x, top - 0.3, f"warp {warp}", fontweight="bold")
        style.write(axes, x, top - 0.13, "lane 0", color=style.GREY)
        style.write(axes, x + span, top - 0.13, "31", ha="right", color=style.GREY)
    exists = _existing(profile, warps)
    for number, row in enumerate(rows):
        y = top + _ROW * (number + 0.5)
        style.write(
            axes, 0.48, y, str(row.line), ha="right", color=style.GREY, fontfamily=style.MONO
        )
        code = _code(profile, row.line)
        style.write(
            axes,
            _CODE_LEFT,
            y,
            code if len(code) <= room else code[: room - 1] + "…",
            fontfamily=style.MONO,
        )
    for place in range(len(warps)):
        lanes = np.array([row.lanes[place] for row in rows])
        corner = (_on_pixel(first + place * (span + gap)), top)
        _draw_lane_grid(axes, corner, cell, lanes, exists[place])


def _draw_lane_grid(
    axes: Axes, corner: tuple[float, float], cell: float, lanes: np.ndarray, exists: np.ndarray
) -> None:
    """Filled where a lane works, an outlined empty cell where it waits, blank where none is."""
    x, y = corner
    for (row, lane), active in np.ndenumerate(lanes):
        if not exists[lane]:
            continue
        style.rectangle(
            axes,
            (x + lane * cell, y + row * _ROW + 0.02),
            cell - 1 / style.DPI,
            _ROW - 0.04,
            facecolor=style.BLUE if active else style.PAPER,
            edgecolor=style.BLUE if active else style.FAINT,
            linewidth=0.5,
        )


def _on_pixel(x: float) -> float:
    return round(x * style.DPI) / style.DPI


def _existing(profile: Any, warps: Sequence[int]) -> np.ndarray:
    """Which lanes of these warps there are; a block's last warp may be short."""
    threads = int(np.prod(profile.block))
    numbers = np.asarray(warps)[:, None] * WARP_SIZE + np.arange(WARP_SIZE)
    there: np.ndarray = numbers < threads
    return there


def _code(profile: Any, line: int) -> str:
    """The line's text, indented as in the kernel."""
    lines = profile.source.expandtabs(4).splitlines()
    place = line - profile.first_line
    if not 0 <= place < len(lines):
        return ""
    executed = [at - profile.first_line for at in profile.lines]
    margins = [len(lines[at]) - len(lines[at].lstrip()) for at in executed if 0 <= at < len(lines)]
    result: str = lines[place][min(margins, default=0) :].rstrip()
    return result


def _draw_activity_key(axes: Axes, y: float) -> None:
    for x, colour, edge, words in (
        (0.58, style.BLUE, style.BLUE, "takes part"),
        (1.7, style.PAPER, style.FAINT, "waits"),
    ):
        style.rectangle(
            axes, (x, y - 0.08), 0.1, 0.15, facecolor=colour, edgecolor=edge, linewidth=0.8
        )
        style.write(axes, x + 0.18, y, words)


def _activity_words(rows: Sequence[_Row], warps: Sequence[int], block: Block, profile: Any) -> str:
    exists = _existing(profile, warps)
    told = []
    for place, warp in enumerate(warps):
        mine = [row for row in rows if row.lanes[place].any()]
        partly = sorted({row.line for row in mine if not row.lanes[place][exists[place]].all()})
        active = sum(int(row.lanes[place].sum()) for row in mine)
        share = 100 * active / max(1, len(mine) * int(exists[place].sum()))
        where = f"not all of them at line{'s' * (len(partly) > 1)} {', '.join(map(str, partly))}"
        told.append(
            f"warp {warp} executes {len(mine)} statements with {share:.3g} % of its lanes active"
            + (f", {where}" if partly else "")
        )
    return f"Active lanes of block {_place(block)}. {'; '.join(told)}."
