"""Draw the small multiples that stand beside the figures on banks, sectors and bytes."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.axes import Axes

from course_lib.devices import CACHE_LINE_BYTES, SECTOR_BYTES, SHARED_MEMORY_BANKS, WARP_SIZE
from course_lib.emulator.profile.cache import ASSUMPTIONS
from course_lib.figures import style
from course_lib.figures.bank_passes import phases_of
from course_lib.figures.explore.dram_model import ONE_OUTPUT, TILES, UNTILED, dram_bytes
from course_lib.figures.explore.sector_map import Footprint, percent
from course_lib.figures.picture import Picture

_PANEL = 2.4


@style.drawn
def bank_examples(examples: Sequence[tuple[str, Sequence[int]]]) -> Picture:
    """Small boards of 32 banks: for each example, which bank serves which lane in which pass.

    Args:
        examples: name and the word that each of the 32 lanes asks for; three in a row.
    """
    rows = -(-len(examples) // 3)
    figure = style.card(
        0.75 + 1.72 * rows,
        "Which bank serves which lane, and in which pass",
        "32 banks side by side, passes downwards, a mark for each word; hatched: bank conflicts",
    )
    axes = style.canvas(figure)
    told = []
    for number, (name, words) in enumerate(examples):
        corner = (0.2 + (number % 3) * (_PANEL + 0.06), 0.72 + (number // 3) * 1.72)
        told.append(_draw_board(axes, corner, name, words))
    return Picture(figure, f"How the banks of shared memory serve 32 lanes. {'; '.join(told)}.")


def _draw_board(axes: Axes, corner: tuple[float, float], name: str, words: Sequence[int]) -> str:
    (phase,) = phases_of([4 * word for word in words], range(WARP_SIZE), 4)
    left, top = corner
    count = f"{phase.passes} pass{'es' * (phase.passes != 1)}"
    style.write(axes, left, top, name, fontweight="bold")
    style.write(
        axes, left, top + 0.2, count, color=style.VERMILION if phase.passes > 1 else style.INK,
        fontweight="bold", fontsize=style.NORMAL,
    )  # fmt: skip
    cell, row = 2.3 / SHARED_MEMORY_BANKS, 1.12 / WARP_SIZE
    frame = {"fill": False, "edgecolor": style.FAINT, "linewidth": 0.8}
    style.rectangle(axes, (left, top + 0.34), 2.3, 1.12, **frame)
    for each in phase.served:
        style.rectangle(
            axes,
            (left + each.bank * cell, top + 0.34 + each.turn * row),
            cell,
            row * (1 if phase.passes > 4 else 2.4),
            facecolor=style.VERMILION if each.turn else style.tint(style.BLUE, 0.55),
            edgecolor=style.PAPER,
            linewidth=0.3,
            hatch="////" if each.turn and phase.passes <= 4 else None,
        )
    return f"{name}: {count}"


_LINE = 0.2  # how high a line of memory is drawn
_MOST_LINES = 6  # more are shortened


@style.drawn
def sector_examples(examples: Sequence[tuple[str, Footprint]]) -> Picture:
    """Small maps of memory lines: the sectors that a request moves, and the bytes that it uses.

    Args:
        examples: name and footprint; three in a row.
    """
    rows = [examples[first : first + 3] for first in range(0, len(examples), 3)]
    heights = [0.62 + _LINE * max(len(_shown_lines(each)) for _, each in row) for row in rows]
    figure = style.card(
        0.72 + sum(heights),
        "What one load of a warp moves",
        "Each row is a line of 128 bytes, in four sectors. Shaded sectors are moved, filled bytes "
        "used",
    )
    axes = style.canvas(figure)
    told = []
    top = 0.76
    for row, height in zip(rows, heights, strict=True):
        for number, (name, touched) in enumerate(row):
            corner = (0.2 + number * (_PANEL + 0.06), top)
            told.append(_draw_lines(axes, corner, name, touched))
        top += height
    return Picture(figure, f"What one load of 32 lanes moves. {'; '.join(told)}.")


def _shown_lines(touched: Footprint) -> list[int | None]:
    """The lines that are drawn; None stands for those left out."""
    lines: list[int | None] = list(touched.lines)
    return lines if len(lines) <= _MOST_LINES else [*lines[: _MOST_LINES - 2], None, lines[-1]]


def _draw_lines(axes: Axes, corner: tuple[float, float], name: str, touched: Footprint) -> str:
    left, top = corner
    count = f"{len(touched.sectors)} sector{'s' * (len(touched.sectors) != 1)}"
    bad = len(touched.sectors) > touched.fewest_sectors
    style.write(axes, left, top, name, fontweight="bold")
    style.write(
        axes, left, top + 0.2, f"{count}, {percent(touched)} used",
        color=style.VERMILION if bad else style.INK, fontweight="bold", fontsize=style.NORMAL,
    )  # fmt: skip
    for place, line in enumerate(_shown_lines(touched)):
        y = top + 0.36 + place * _LINE
        if line is None:
            left_out = len(touched.lines) - _MOST_LINES + 1
            words = f"… {left_out} more lines like these"
            style.write(axes, left, y + 0.08, words, color=style.GREY)
        else:
            _draw_line(axes, (left, y), line, touched)
    return f"{name}: {count}, {percent(touched)} of the bytes used"


def _draw_line(axes: Axes, corner: tuple[float, float], line: int, touched: Footprint) -> None:
    """One line of memory: its four sectors, and the bytes in it that are used."""
    sector, high = 2.3 / 4, _LINE * 0.86
    for part in range(4):
        moved = line * 4 + part in touched.sectors
        style.rectangle(
            axes, (corner[0] + part * sector, corner[1]), sector, high, linewidth=0.6,
            facecolor=style.tint(style.BLUE, 0.25) if moved else style.PAPER,
            edgecolor=style.BLUE if moved else style.FAINT, zorder=2 if moved else 1,
        )  # fmt: skip
    for address in set(touched.addresses):
        if address // CACHE_LINE_BYTES == line:
            x = corner[0] + address % CACHE_LINE_BYTES / SECTOR_BYTES * sector
            style.rectangle(
                axes, (x, corner[1]), touched.width / SECTOR_BYTES * sector, high,
                facecolor=style.BLUE, edgecolor=style.PAPER, linewidth=0.3, zorder=3,
            )  # fmt: skip


@style.drawn
def bytes_by_tile(size: int, gpus: Sequence[str]) -> Picture:
    """Requested bytes and (model) DRAM bytes with tiles, against those without, for some GPUs."""
    figure = style.card(
        1.72 + 0.29 * (len(gpus) + 1),
        f"Tiling divides what the threads request; DRAM has its own story (N = {size})",
        "Bytes loaded with tiles of T × T, against no tiles; requested: counted, DRAM: a model",
    )
    axes = style.canvas(figure)
    columns = [_TABLE_LEFT + place * _COLUMN for place in range(len(TILES))]
    for x, tile in zip(columns, TILES, strict=True):
        name = f"T = {tile}{'*' * (tile not in ONE_OUTPUT)}"
        style.write(axes, x + _COLUMN / 2, 0.84, name, ha="center", fontweight="bold")
    without = {"ha": "right", "color": style.GREY}
    style.write(axes, _TABLE_LEFT - 0.12, 0.84, "no tiles", **without)
    requested = [8 * size**3 // max(1, tile) for tile in (UNTILED, *TILES)]
    _draw_ratios(axes, 1.1, "requested", requested)
    for place, gpu in enumerate(gpus):
        found = [dram_bytes(gpu, tile, size) for tile in (UNTILED, *TILES)]
        y = 1.1 + 0.29 * (place + 1) + 0.1
        _draw_ratios(axes, y, f"from DRAM, {gpu}", found)
    style.footnote(figure, f"* several outputs per thread, a later lesson.\n{ASSUMPTIONS}")
    told = "; ".join(_bytes_told(gpu, size) for gpu in gpus)
    once = 2 * 4 * size * size
    return Picture(
        figure,
        f"Bytes loaded by a matmul of {size} × {size} float32 with tiles, against those without. "
        f"Requested bytes fall from {style.short_bytes(requested[0])} without tiles to "
        f"{style.short_bytes(requested[3])} at T = 32, 32 times. DRAM bytes by the model, without "
        f"tiles and at T = 32: {told}. A and B once are {style.short_bytes(once)}.",
    )


_TABLE_LEFT, _COLUMN = 2.55, 0.97


def _draw_ratios(axes: Axes, y: float, name: str, found: Sequence[int]) -> None:
    """One row: by what factor the bytes with tiles are fewer or more than those without."""
    style.write(axes, 0.2, y, name)
    without = style.short_bytes(float(f"{found[0]:.3g}"))
    style.write(axes, _TABLE_LEFT - 0.12, y, without, ha="right", color=style.GREY)
    for place, amount in enumerate(found[1:]):
        ratio = found[0] / amount
        same = 0.97 < ratio < 1.03
        colour = style.GREY if same else style.BLUE if ratio > 1 else style.VERMILION
        words = "the same" if same else f"÷ {ratio:.3g}" if ratio > 1 else f"× {1 / ratio:.3g}"
        style.rectangle(
            axes, (_TABLE_LEFT + place * _COLUMN, y - 0.13), _COLUMN - 0.05, 0.26,
            facecolor=style.tint(colour, 0.1 if same else 0.3), edgecolor="none",
        )  # fmt: skip
        middle = _TABLE_LEFT + (place + 0.5) * _COLUMN - 0.025
        weight = "normal" if same else "bold"
        style.write(axes, middle, y, words, ha="center", fontweight=weight, zorder=3)


def _bytes_told(gpu: str, size: int) -> str:
    before, after = (dram_bytes(gpu, tile, size) for tile in (UNTILED, 32))
    return f"{gpu} {style.short_bytes(before)} and {style.short_bytes(after)}"


@style.drawn
def lines_of_text(title: str, lines: Sequence[str]) -> Picture:
    """A card that holds a sentence where there is nothing to draw."""
    figure = style.card(0.62 + 0.2 * len(lines), title)
    axes = style.canvas(figure)
    for number, line in enumerate(lines):
        style.write(axes, 0.16, 0.52 + 0.2 * number, line)
    return Picture(figure, " ".join(lines))
