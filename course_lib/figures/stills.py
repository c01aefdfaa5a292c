"""Draw the stills beside figures to play with: banks, sectors, a missing barrier, owners of C."""

from collections.abc import Sequence

import numpy as np

from course_lib.devices import SHARED_MEMORY_BANKS, WARP_SIZE
from course_lib.figures import style
from course_lib.figures.accesses import draw_line
from course_lib.figures.pen import Colour, Looks, Pen
from course_lib.figures.picture import Picture
from course_lib.figures.requests import Footprint, phases_of
from course_lib.figures.watch.hazard import Showing, WrongRead
from course_lib.figures.watch.ownership_scene import Ownership
from course_lib.figures.watch.race_scene import key_of
from course_lib.wording.words import counted, element

_PANEL = 2.4


@style.drawn
def bank_examples(examples: Sequence[tuple[str, Sequence[int]]]) -> Picture:
    """Small boards of 32 banks, three in a row: which bank serves which lane in which wavefront."""
    rows = -(-len(examples) // 3)
    pen = Pen.card(
        0.75 + 1.72 * rows,
        "Which bank serves which lane, and in which wavefront",
        "32 banks, wavefronts downwards, a mark for each word; hatched: bank conflicts",
    )
    told = []
    for number, (name, words) in enumerate(examples):
        corner = (0.2 + (number % 3) * (_PANEL + 0.06), 0.72 + (number // 3) * 1.72)
        told.append(_draw_board(pen, corner, name, words))
    return pen.picture(f"How the banks of shared memory serve 32 lanes. {'; '.join(told)}.")


def _draw_board(pen: Pen, corner: tuple[float, float], name: str, words: Sequence[int]) -> str:
    (phase,) = phases_of([4 * word for word in words], range(WARP_SIZE), 4)
    left, top = corner
    count = counted(phase.passes, "wavefront")
    pen.write(left, top, name, bold=True)
    ink = style.VERMILION if phase.passes > 1 else style.INK
    pen.write(left, top + 0.2, count, colour=ink, bold=True, size=style.NORMAL)
    pen.rectangle(left, top + 0.34, 2.3, 1.12, edge=style.FAINT, line=0.8)
    board = pen.at(left, top + 0.34, 2.3 / SHARED_MEMORY_BANKS, 1.12 / WARP_SIZE)
    for served in phase.served:
        face = style.VERMILION if served.turn else style.tint(style.BLUE, 0.55)
        high, hatch = (1, None) if phase.passes > 4 else (2.4, "////" if served.turn else None)
        looks: Looks = {"face": face, "hatch": hatch, "edge": style.PAPER, "line": 0.3}
        board.rectangle(served.bank, served.turn, 1, high, **looks)
    return f"{name}: {count}"


_LINE = 0.2  # how high a line of memory is drawn
_MOST_LINES = 6  # more are shortened


@style.drawn
def sector_examples(examples: Sequence[tuple[str, Footprint]]) -> Picture:
    """Small maps of memory lines, three in a row: the sectors that a request moves, and the bytes
    that it uses.
    """
    rows = [examples[first : first + 3] for first in range(0, len(examples), 3)]
    heights = [0.62 + _LINE * max(len(_shown_lines(each)) for _, each in row) for row in rows]
    pen = Pen.card(
        0.72 + sum(heights),
        "What one load of a warp moves",
        "Each row is a line of 128 bytes, in four sectors. Shaded sectors are moved, filled bytes "
        "used",
    )
    told = []
    top = 0.76
    for row, height in zip(rows, heights, strict=True):
        for number, (name, touched) in enumerate(row):
            corner = (0.2 + number * (_PANEL + 0.06), top)
            told.append(_draw_lines(pen, corner, name, touched))
        top += height
    return pen.picture(f"What one load of 32 lanes moves. {'; '.join(told)}.")


def _shown_lines(touched: Footprint) -> list[int | None]:
    """The lines that are drawn; None for those left out."""
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
            draw_line(pen.at(left, y, 2.3 / 4, _LINE * 0.86), line, touched, style.BLUE)
    return f"{name}: {count}, {touched.percent} of the bytes used"


@style.drawn
def lines_of_text(title: str, lines: Sequence[str]) -> Picture:
    """A card that holds a sentence where there is nothing to draw."""
    pen = Pen.card(0.62 + 0.2 * len(lines), title)
    for number, line in enumerate(lines):
        pen.write(0.16, 0.52 + 0.2 * number, line)
    return pen.picture(" ".join(lines))


# --- A missing barrier: the warps in time ---------------------------------------------------------


_LEFT, _RIGHT = 0.95, 7.4
_LANE = 0.52
_WORD = 0.62  # how wide a box is that holds a word
_COLOUR = {"load": style.BLUE, "multiply": style.GREEN, "use": style.GREEN, "store": style.PURPLE}


@style.drawn
def races_in_time(runs: Sequence[tuple[str, Showing]], warps: int) -> Picture:
    """Runs of one block, one under the other, each with its title and its wrong reads."""
    panel = 0.75 + warps * _LANE
    narrow = any((_RIGHT - _LEFT) / len(run.beats) <= _WORD for _, run in runs)
    key = key_of(run for _, run in runs) if narrow else ""
    pen = Pen.card(
        0.75 + panel * len(runs),
        "What a missing barrier does",
        f"One block, one warp after the other; time runs to the right{key}",
    )
    for number, (title, run) in enumerate(runs):
        top = 0.8 + panel * number
        pen.write(0.2, top, f"barriers: {title}", bold=True, size=style.NORMAL)
        _draw_run(pen, top + 0.42, run, warps)
    return pen.picture(" ".join(_words(title, run) for title, run in runs))


def _draw_run(pen: Pen, top: float, run: Showing, warps: int) -> None:
    column = (_RIGHT - _LEFT) / len(run.beats)
    for warp in range(warps):
        y = top + warp * _LANE
        pen.line((_LEFT, y), (_RIGHT, y), colour=style.FAINT, line=1.5, z=0)
        pen.write(_LEFT - 0.12, y, f"warp {warp}", ha="right")
    for number, beat in enumerate(run.beats):
        for warp in beat.warps:
            bad = any(each.warps[0] == warp for each in beat.wrong)
            x, y = _LEFT + number * column, top + warp * _LANE
            colour = style.VERMILION if bad else _COLOUR[beat.kind]
            pen.box(x + 0.03, y - 0.15, column - 0.06, 0.3, colour=colour, fill=0.2)
            word = beat.kind if column > _WORD else beat.kind[0]
            words = ("✗ " if bad else "") + (word[:4] if bad else word)
            pen.write(x + column / 2, y, words, ha="center", z=4)
    for after, _ in run.openings:
        x = _LEFT + after * column
        ends = (x, top - 0.24), (x, top + (warps - 1) * _LANE + 0.24)
        pen.line(*ends, colour=style.INK, line=3, solid_capstyle="butt", z=5)
    wrong = _first_between_warps(run)
    if wrong is not None:
        _draw_why(pen, top, column, wrong)


def _draw_why(pen: Pen, top: float, column: float, wrong: WrongRead) -> None:
    """An arrow from a wrong read to the write that was late or early."""
    assert wrong.culprit is not None
    reader, writer = wrong.warps
    way = 1 if writer > reader else -1
    start = (_LEFT + (wrong.read.beat + 0.5) * column, top + reader * _LANE + way * 0.15)
    end = (_LEFT + (wrong.culprit.beat + 0.5) * column, top + writer * _LANE - way * 0.16)
    pen.arrow(start, end, colour=style.VERMILION)
    words = "written too late" if wrong.late else "overwritten too early"
    x = max(start[0], end[0]) + 0.1
    over = {"facecolor": style.PAPER, "edgecolor": "none", "pad": 1.5}
    y = (start[1] + end[1]) / 2
    pen.write(x, y, words, colour=style.VERMILION, z=6, bbox=over)


def _first_between_warps(run: Showing) -> WrongRead | None:
    """The first wrong read whose cause lies in another warp."""
    every = (wrong for beat in run.beats for wrong in beat.wrong)
    return next((wrong for wrong in every if wrong.is_between_warps), None)


def _words(title: str, run: Showing) -> str:
    wrong = int(run.wrong.sum())
    told = f"The kernel {title.split(':')[0]}, one warp after the other:"
    first = _first_between_warps(run)
    if first is not None:
        array, cell = first.read.place
        name = element(array, cell)
        what = "before it is written" if first.late else "after it was overwritten"
        told += f" warp {first.warps[0]} reads {name} {what} by another warp;"
    return f"{told} {wrong} of {run.wrong.size} elements are wrong, {run.nan} of them NaN."


# --- The block that wrote each element of C -------------------------------------------------------


_TINTS = (0.18, 0.34, 0.5)


@style.drawn
def map_of_owners(owned: Ownership) -> Picture:
    """C, tinted by the block that wrote each element.

    Hatched elements were written by nobody; crossed ones hold a wrong value.
    """
    rows, columns = owned.shape
    cell = min(5.2 / columns, 3.4 / rows, 0.4)
    pen = Pen.card(
        max(1.15 + rows * cell, 2.2),
        f"Who wrote which element of C ({rows} × {columns})",
        "From the run itself; each block's (x, y) is drawn on the elements that it wrote",
    )
    left, top = 0.3, 0.85
    cells = pen.at(left, top, cell)
    writer = np.full(owned.shape, -1)
    for number in range(len(owned.blocks)):
        for place in owned.cells_of(number):
            writer[place] = number
    _draw_cells(cells, owned, writer)
    _draw_names(cells, owned)
    nobody, bad = int((writer < 0).sum()), int((owned.wrong & (writer >= 0)).sum())
    several = int((owned.writers > 1).sum())
    lines = [
        f"grid {owned.grid[0]} × {owned.grid[1]}, blocks of {owned.block[0]} × {owned.block[1]}",
        f"{nobody} by nobody (hatched)" if nobody else "no element is left out",
        f"{several} by several threads" if several else "none has several writers",
        f"{bad} with a wrong value (crossed)" if bad else "all values are right",
    ]
    x = left + columns * cell + 0.3
    pen.write(x, top, "\n".join(lines), va="top", linespacing=1.6)
    return pen.picture(
        f"A map of C, {rows} by {columns}, by the block that wrote each element: "
        f"{'; '.join(lines)}."
    )


def _draw_cells(pen: Pen, owned: Ownership, writer: np.ndarray) -> None:
    """Each element, tinted by the number of the block in `writer`."""
    for (row, column), number in np.ndenumerate(writer):
        wrong = owned.wrong[row, column] or owned.writers[row, column] > 1
        face: Colour = style.PAPER
        hatch: str | None = "///"  # written by nobody
        if number >= 0:
            face = style.tint(style.GREEN, _TINTS[sum(owned.blocks[number]) % 3])
            hatch = "xxx" if wrong else None
        edge = style.tint(style.VERMILION, 0.6) if hatch else style.FAINT
        pen.cell(row, column, face=face, hatch=hatch, edge=edge, line=0.6)


def _draw_names(pen: Pen, owned: Ownership) -> None:
    """Each block's (x, y) amid the elements that it wrote."""
    over = {"facecolor": style.PAPER, "alpha": 0.85, "edgecolor": "none", "pad": 1.5}
    for number, place in enumerate(owned.blocks):
        mine = sorted(owned.cells_of(number))
        if mine:
            row = mine[len(mine) // 2][0]
            along = [column for each, column in mine if each == row]
            pen.centred(row, sum(along) / len(along), str(place), bbox=over, z=4)
