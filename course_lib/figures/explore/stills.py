"""Draw the small multiples that stand beside the figures on banks and sectors."""

from __future__ import annotations

from collections.abc import Sequence

from course_lib.devices import CACHE_LINE_BYTES, SECTOR_BYTES, SHARED_MEMORY_BANKS, WARP_SIZE
from course_lib.figures import style
from course_lib.figures.pen import Looks, Pen, tinted
from course_lib.figures.picture import Picture
from course_lib.figures.requests import Footprint, phases_of
from course_lib.wording.words import counted

_PANEL = 2.4


@style.drawn
def bank_examples(examples: Sequence[tuple[str, Sequence[int]]]) -> Picture:
    """Small boards of 32 banks: for each example, which bank serves which lane in which wavefront.

    Args:
        examples: name and the word that each of the 32 lanes asks for; three in a row.
    """
    rows = -(-len(examples) // 3)
    figure = style.card(
        0.75 + 1.72 * rows,
        "Which bank serves which lane, and in which wavefront",
        "32 banks, wavefronts downwards, a mark for each word; hatched: bank conflicts",
    )
    pen = Pen.on(figure)
    told = []
    for number, (name, words) in enumerate(examples):
        corner = (0.2 + (number % 3) * (_PANEL + 0.06), 0.72 + (number // 3) * 1.72)
        told.append(_draw_board(pen, corner, name, words))
    return Picture(figure, f"How the banks of shared memory serve 32 lanes. {'; '.join(told)}.")


def _draw_board(pen: Pen, corner: tuple[float, float], name: str, words: Sequence[int]) -> str:
    (phase,) = phases_of([4 * word for word in words], range(WARP_SIZE), 4)
    left, top = corner
    count = counted(phase.passes, "wavefront")
    pen.write(left, top, name, bold=True)
    ink = style.VERMILION if phase.passes > 1 else style.INK
    pen.write(left, top + 0.2, count, colour=ink, bold=True, size=style.NORMAL)
    pen.rectangle(left, top + 0.34, 2.3, 1.12, edge=style.FAINT, line=0.8)
    board = pen.at(left, top + 0.34, 2.3 / SHARED_MEMORY_BANKS, 1.12 / WARP_SIZE)
    for each in phase.served:
        face = style.VERMILION if each.turn else style.tint(style.BLUE, 0.55)
        high, hatch = (1, None) if phase.passes > 4 else (2.4, "////" if each.turn else None)
        looks: Looks = {"face": face, "hatch": hatch, "edge": style.PAPER, "line": 0.3}
        board.rectangle(each.bank, each.turn, 1, high, **looks)
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
    pen = Pen.on(figure)
    told = []
    top = 0.76
    for row, height in zip(rows, heights, strict=True):
        for number, (name, touched) in enumerate(row):
            corner = (0.2 + number * (_PANEL + 0.06), top)
            told.append(_draw_lines(pen, corner, name, touched))
        top += height
    return Picture(figure, f"What one load of 32 lanes moves. {'; '.join(told)}.")


def _shown_lines(touched: Footprint) -> list[int | None]:
    """The lines that are drawn; None stands for those left out."""
    lines: list[int | None] = list(touched.lines)
    return lines if len(lines) <= _MOST_LINES else [*lines[: _MOST_LINES - 2], None, lines[-1]]


def _draw_lines(pen: Pen, corner: tuple[float, float], name: str, touched: Footprint) -> str:
    left, top = corner
    count = counted(len(touched.sectors), "sector")
    bad = len(touched.sectors) > touched.fewest_sectors
    pen.write(left, top, name, bold=True)
    ink, words = style.VERMILION if bad else style.INK, f"{count}, {touched.percent} used"
    pen.write(left, top + 0.2, words, colour=ink, bold=True, size=style.NORMAL)
    for place, line in enumerate(_shown_lines(touched)):
        y = top + 0.36 + place * _LINE
        if line is None:
            left_out = len(touched.lines) - _MOST_LINES + 1
            words = f"… {left_out} more lines like these"
            pen.write(left, y + 0.08, words, colour=style.GREY)
        else:
            _draw_line(pen.at(left, y, 2.3 / 4, _LINE * 0.86), line, touched)
    return f"{name}: {count}, {touched.percent} of the bytes used"


def _draw_line(pen: Pen, line: int, touched: Footprint) -> None:
    """One line of memory, a cell to a sector: those that are moved, and the bytes used in them."""
    for part in range(4):
        looks: Looks = {"face": style.PAPER, "edge": style.FAINT, "z": 1}
        if line * 4 + part in touched.sectors:
            looks = tinted(style.BLUE, 0.25)
        pen.rectangle(part, 0, 1, 1, **{**looks, "line": 0.6})
    for address in sorted(set(touched.addresses)):
        if address // CACHE_LINE_BYTES == line:
            x, wide = address % CACHE_LINE_BYTES / SECTOR_BYTES, touched.width / SECTOR_BYTES
            pen.rectangle(x, 0, wide, 1, face=style.BLUE, edge=style.PAPER, line=0.3, z=3)


@style.drawn
def lines_of_text(title: str, lines: Sequence[str]) -> Picture:
    """A card that holds a sentence where there is nothing to draw."""
    figure = style.card(0.62 + 0.2 * len(lines), title)
    pen = Pen.on(figure)
    for number, line in enumerate(lines):
        pen.write(0.16, 0.52 + 0.2 * number, line)
    return Picture(figure, " ".join(lines))
