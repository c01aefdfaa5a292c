"""Draw the small multiples that stand beside the figures on banks, sectors and bytes."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.axes import Axes

from course_lib.devices import CACHE_LINE_BYTES, SECTOR_BYTES, SHARED_MEMORY_BANKS, WARP_SIZE
from course_lib.emulator.cache import ASSUMPTIONS
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


@style.drawn
def sector_examples(examples: Sequence[tuple[str, Footprint]]) -> Picture:
    """Small maps of memory lines: the sectors that a request moves, and the bytes that it uses.

    Args:
        examples: name and footprint; three in a row.
    """
    rows = -(-len(examples) // 3)
    figure = style.card(
        0.75 + 1.82 * rows,
        "What one load of a warp moves",
        "Each row is a line of 128 bytes, in four sectors. Shaded sectors are moved, filled bytes "
        "used",
    )
    axes = style.canvas(figure)
    told = []
    for number, (name, touched) in enumerate(examples):
        corner = (0.2 + (number % 3) * (_PANEL + 0.06), 0.72 + (number // 3) * 1.82)
        told.append(_draw_lines(axes, corner, name, touched))
    return Picture(figure, f"What one load of 32 lanes moves. {'; '.join(told)}.")


def _draw_lines(axes: Axes, corner: tuple[float, float], name: str, touched: Footprint) -> str:
    left, top = corner
    count = f"{len(touched.sectors)} sector{'s' * (len(touched.sectors) != 1)}"
    bad = len(touched.sectors) > touched.fewest_sectors
    style.write(axes, left, top, name, fontweight="bold")
    style.write(
        axes, left, top + 0.2, f"{count}, {percent(touched)} used",
        color=style.VERMILION if bad else style.INK, fontweight="bold", fontsize=style.NORMAL,
    )  # fmt: skip
    row = min(0.16, 1.3 / len(touched.lines))
    sector = 2.3 / 4
    for place, line in enumerate(touched.lines):
        y = top + 0.36 + place * row
        for part in range(4):
            moved = line * 4 + part in touched.sectors
            style.rectangle(
                axes, (left + part * sector, y), sector, row * 0.86, linewidth=0.6,
                facecolor=style.tint(style.BLUE, 0.25) if moved else style.PAPER,
                edgecolor=style.BLUE if moved else style.FAINT, zorder=2 if moved else 1,
            )  # fmt: skip
    for address in set(touched.addresses):
        y = top + 0.36 + touched.lines.index(address // CACHE_LINE_BYTES) * row
        x = left + address % CACHE_LINE_BYTES / SECTOR_BYTES * sector
        wide = touched.width / SECTOR_BYTES * sector
        style.rectangle(
            axes, (x, y), wide, row * 0.86, facecolor=style.BLUE, edgecolor=style.PAPER,
            linewidth=0.3, zorder=3,
        )  # fmt: skip
    return f"{name}: {count}, {percent(touched)} of the bytes used"


@style.drawn
def bytes_by_tile(size: int, gpus: Sequence[str]) -> Picture:
    """Requested bytes and (model) DRAM bytes against the tile, for one size and several GPUs."""
    figure = style.card(
        4.3,
        f"Tiling by T divides the requested bytes by T, not the DRAM bytes (N = {size})",
        "Bytes loaded by a float32 matmul; requested: counted, DRAM: a model of the caches",
    )
    axes = style.area(figure, 0.85, 0.95, 2.35, 0.8)
    names = ["no tiles", *(f"{tile}{'*' * (tile not in ONE_OUTPUT)}" for tile in TILES)]
    requested = [8 * size**3 / max(1, tile) for tile in (UNTILED, *TILES)]
    axes.set_yscale("log")
    axes.plot(
        names, requested, color=style.VERMILION, marker="o", linewidth=2.2,
        label="requested (every GPU)",
    )  # fmt: skip
    for gpu, looks in zip(gpus, _LOOKS, strict=False):
        colour, marker = looks
        found = [dram_bytes(gpu, tile, size) for tile in (UNTILED, *TILES)]
        axes.plot(
            names,
            found,
            color=colour,
            marker=marker,
            linestyle="--",
            linewidth=1.3,
            label=f"DRAM, {gpu}",
        )  # fmt: skip
    once = 2 * 4 * size * size
    axes.axhline(once, color=style.GREEN, linewidth=1.4, linestyle=":", label="A and B once")
    ticks = [10.0**power for power in range(8, 13)]
    axes.set_yticks(ticks, [style.short_bytes(tick) for tick in ticks])
    axes.minorticks_off()
    axes.grid(axis="y", color=style.FAINT, linewidth=0.7)
    axes.set_xlabel("tile T")
    figure.legend(loc="upper right", bbox_to_anchor=(0.995, 0.82))
    style.footnote(figure, f"* several outputs per thread, a later lesson.\n{ASSUMPTIONS}")
    told = "; ".join(_bytes_told(gpu, size) for gpu in gpus)
    return Picture(
        figure,
        f"Bytes loaded by a matmul of {size} × {size} float32 against the tile T. Requested bytes "
        f"fall from {style.short_bytes(requested[0])} without tiles to "
        f"{style.short_bytes(requested[3])} at T = 32, 32 times. DRAM bytes by the model, without "
        f"tiles and at T = 32: {told}. A and B once are {style.short_bytes(once)}.",
    )


def _bytes_told(gpu: str, size: int) -> str:
    before, after = (dram_bytes(gpu, tile, size) for tile in (UNTILED, 32))
    return f"{gpu} {style.short_bytes(before)} and {style.short_bytes(after)}"


_LOOKS = (
    (style.BLUE, "s"),
    (style.SKY, "^"),
    (style.ORANGE, "v"),
    (style.PURPLE, "D"),
    (style.INK, "P"),
    (style.GREY, "X"),
    (style.YELLOW, "*"),
)
