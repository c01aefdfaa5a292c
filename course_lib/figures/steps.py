"""Draw steps along k: a block's tiles are overwritten, its totals survive; one step of a thread."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from course_lib.curriculum import Task
from course_lib.figures import style
from course_lib.figures.pen import LIT, Looks, Pen, tinted
from course_lib.figures.picture import Picture

_LARGEST = 6


@dataclass(frozen=True)
class _Moment:
    """The state of a block after one load, or after one round of multiply-adds."""

    step: int
    loads: bool
    first: int  # the k's of this tile: first ... last
    last: int
    tile_a: np.ndarray
    tile_b: np.ndarray
    totals: np.ndarray
    before: np.ndarray  # the totals before this moment


def _moments(
    a: np.ndarray, b: np.ndarray, depth: int, recorded: np.ndarray | None
) -> Iterator[_Moment]:
    """Load, compute, load, compute ...; totals as a run recorded them, or computed here."""
    totals = np.zeros((a.shape[0], b.shape[1]), dtype=np.result_type(a, b))
    for step, first in enumerate(range(0, a.shape[1], depth)):
        last = min(first + depth, a.shape[1]) - 1
        tile_a, tile_b = a[:, first : last + 1], b[first : last + 1, :]
        yield _Moment(step, True, first, last, tile_a, tile_b, totals, totals)
        after = totals + tile_a @ tile_b if recorded is None else recorded[step]
        yield _Moment(step, False, first, last, tile_a, tile_b, after, totals)
        totals = after


@style.drawn
def k_steps(
    A: Sequence[Sequence[float]] | np.ndarray,
    B: Sequence[Sequence[float]] | np.ndarray,
    BK: int = 2,
    *,
    cell: tuple[int, int] = (0, 0),
    totals: np.ndarray | None = None,
) -> Picture:
    """A strip of pictures of one block: load, compute, load, compute ...

    Args:
        A, B: small matrices; the block's tile of C is all of C.
        BK: how many k's a tile holds.
        cell: the element of C whose sum is written out.
        totals: C after each step as a run has recorded it, [step, row, column]; worked out here
            unless given.

    Raises:
        ValueError: if the matrices do not fit a strip of pictures.
    """
    a, b = np.asarray(A), np.asarray(B)
    moments = list(_moments(a, b, BK, totals)) if a.shape[1] == b.shape[0] else []
    if not moments or len(moments) > 4 or max(a.shape + b.shape) > _LARGEST:
        raise ValueError(
            f"A {a.shape} and B {b.shape} in steps of {BK} do not make a strip: at most two steps "
            f"and {_LARGEST} rows or columns, and A has as many columns as B has rows."
        )
    pitch = 7.3 / len(moments)
    places = _Places.of(a, b, pitch - 0.12)
    pen = Pen.card(
        places.sum + 0.7,
        f"K in steps of {BK}: tiles are overwritten, totals survive",
        f"C = A · B with A {a.shape[0]} × {a.shape[1]} and B {b.shape[0]} × {b.shape[1]}; one "
        f"block, from left to right{'' if totals is None else '; totals from a run'}",
    )
    for place, moment in enumerate(moments):
        left = 0.2 + place * pitch
        width = pitch - 0.12
        colour = style.BLUE if moment.loads else style.GREEN
        pen.box(left + 0.04, 0.78, width - 0.12, 0.29, colour=colour, fill=0.18)
        words = f"step {moment.step}: {'load' if moment.loads else 'compute'}"
        pen.write(left + width / 2 - 0.02, 0.925, words, ha="center", bold=True, size=style.NORMAL)
        _draw_moment(pen, left, places, moment, a, b, cell)
        if place:
            pen.arrow((left - 0.14, 0.92), (left, 0.92))
    return pen.picture(_words(moments, cell, BK))


@dataclass(frozen=True)
class _Places:
    """The places of a moment's rows, in inches from the top, and how large their cells are."""

    small: float  # cells of the whole matrices
    tile: float
    total: float
    shared: float
    registers: float
    sum: float

    @classmethod
    def of(cls, a: np.ndarray, b: np.ndarray, width: float) -> _Places:
        small = min((width - 0.35) / (a.shape[1] + b.shape[1]), 0.17)
        tile = min((width - 0.3) / (a.shape[1] // 2 + b.shape[1]), 0.21)
        total = min((width - 0.1) / b.shape[1], 0.29)
        shared = 1.26 + 0.36 + small * max(a.shape[0], b.shape[0])
        registers = shared + 0.36 + tile * a.shape[0]
        return cls(small, tile, total, shared, registers, registers + 0.24 + total * a.shape[0])


def _draw_moment(
    pen: Pen,
    left: float,
    places: _Places,
    moment: _Moment,
    a: np.ndarray,
    b: np.ndarray,
    mark: tuple[int, int],
) -> None:
    """Global memory, shared memory and registers of one moment, from top to bottom."""
    lit = range(moment.first, moment.last + 1) if moment.loads else range(0)
    _caption(pen, left, 1.26, "global memory" if moment.loads else "global (not read)")
    right = left + 0.25 + a.shape[1] * places.small
    _draw_where(pen.at(left + 0.05, 1.4, places.small), a, "A", lit, axis=1)
    _draw_where(pen.at(right, 1.4, places.small), b, "B", lit, axis=0)

    state = "same tiles" if not moment.loads else "overwritten" if moment.step else "new tiles"
    _caption(pen, left, places.shared, f"shared: {state}")
    top, size = places.shared + 0.14, places.tile
    right = left + 0.17 + moment.tile_a.shape[1] * size
    _draw_numbers(pen.at(left + 0.05, top, size), moment.tile_a, "A", bold=moment.loads)
    _draw_numbers(pen.at(right, top, size), moment.tile_b, "B", bold=moment.loads)

    changed = "grow" if not moment.loads else "survive" if moment.step else "start at 0"
    _caption(pen, left, places.registers, f"registers: totals {changed}")
    totals = pen.at(left + 0.05, places.registers + 0.14, places.total)
    _draw_numbers(totals, moment.totals, "C", bold=not moment.loads, mark=mark)
    if not moment.loads:
        words = _sum_text(moment, mark)
        pen.write(left + 0.05, places.sum, words, va="top", linespacing=1.3)


def _caption(pen: Pen, x: float, y: float, words: str) -> None:
    pen.write(x + 0.05, y, words, colour=style.GREY)


def _draw_where(pen: Pen, matrix: np.ndarray, name: str, lit: range, *, axis: int) -> None:
    """A whole matrix with the part that this step fetches, along an axis."""
    colour = style.MATRIX_COLOUR[name]
    for row, column in np.ndindex(matrix.shape):
        fetched = (row, column)[axis] in lit
        edge = style.PAPER if fetched else style.tint(colour, 0.4)
        face = style.tint(colour, 0.75 if fetched else 0.1)
        pen.cell(row, column, face=face, edge=edge, line=0.8, z=1)


def _draw_numbers(
    pen: Pen, values: np.ndarray, name: str, *, bold: bool, mark: tuple[int, int] | None = None
) -> None:
    """A small matrix with its values; one cell may be marked."""
    colour = style.MATRIX_COLOUR[name]
    for (row, column), value in np.ndenumerate(values):
        looks = tinted(colour, 0.3 if bold else 0.1)
        if (row, column) == mark:
            looks = {**LIT, "edge": colour, "line": 1.8}
        pen.cell(row, column, f"{value:g}", bold=bold, **looks)


def _sum_text(moment: _Moment, mark: tuple[int, int], separator: str = "\n") -> str:
    """C[0][0]: 3 + (3·1 + 4·1) = 10"""
    row, column = mark
    products = " + ".join(
        f"{x:g}·{y:g}" for x, y in zip(moment.tile_a[row], moment.tile_b[:, column], strict=True)
    )
    return (
        f"C[{row}][{column}]:{separator or ' '}{moment.before[mark]:g} + {products}"
        f"{separator}= {moment.totals[mark]:g}"
    )


def _words(moments: Sequence[_Moment], mark: tuple[int, int], depth: int) -> str:
    told = " ".join(
        f"Step {moment.step}: load columns {moment.first} to {moment.last} of A and the same rows "
        f"of B{' over the old tiles' if moment.step else ''}."
        if moment.loads
        else f"Compute, {_sum_text(moment, mark, ' ')}."
        for moment in moments
    )
    return (
        f"A product computed in steps of {depth} along k. {told} The tiles change, the totals stay."
    )


# --- One step of k for a thread of a product in large tiles ---------------------------------------


_LEFT, _TOP, _SIDE = 1.05, 1.3, 2.4  # the block's tile of C
_STRIP, _GAP = 0.17, 0.12
_ZOOM_LEFT, _ZOOM = 5.0, 2.0  # the thread's own square
_COLUMN, _ROW = 10, 5  # of the thread that is picked out


def draw_square(task: Task) -> Picture:
    """The outputs of a block, those of one thread, and the numbers from which they come.

    Of the task it needs an output that one block of two directions covers, in equal squares.
    """
    across, down = task.block
    assert isinstance(across, int) and isinstance(down, int)
    rows, columns = (int(size) for size in task.shapes[-1].split(","))
    high, wide = rows // down, columns // across
    first, second, output = task.parameters
    title = f"Wanted: {task.formula}"
    subtitle = f"{rows} × {columns} outputs of one block of {across} × {down} threads"
    pen = Pen.card(_TOP + _SIDE + 0.75, title, subtitle)
    # The tile of the output in squares, one to a thread, and one row of k of each input.
    _draw_step(pen, _LEFT, _SIDE, across, down, (_COLUMN, _ROW))
    end = _LEFT + (_COLUMN + 1) * _SIDE / across, _TOP + (_ROW + 0.5) * _SIDE / down
    pen.arrow(end, (_ZOOM_LEFT - _GAP - _STRIP - 0.1, end[1]), colour=style.INK)
    # The square of one thread, a cell to a sum, between the numbers that it comes from.
    _draw_step(pen, _ZOOM_LEFT, _ZOOM, wide, high, None)
    below = _TOP + _ZOOM + 0.2
    pen.write(_ZOOM_LEFT + _ZOOM / 2, below, f"{wide} × {high} sums", ha="center")
    beside, above = _LEFT - _GAP - _STRIP - 0.1, _TOP - _GAP - _STRIP / 2
    bold: dict[str, Any] = {"bold": True, "size": style.LARGE}
    pen.write(beside, _TOP + _SIDE / 2, first, ha="right", **bold)
    pen.write(_LEFT - 0.14, above, second, ha="right", **bold)
    pen.write(_LEFT + _SIDE + 0.1, _TOP + _SIDE - 0.12, output, **bold)
    middle = _LEFT + _SIDE / 2
    pen.write(middle, above - 0.22, "one step of k", ha="center", colour=style.GREY)
    thread = f"Thread ({_COLUMN}, {_ROW})"
    sentence = (
        f"{thread} has {wide} × {high} sums. In each step of k they take {high} numbers of {first} "
        f"and {wide} numbers of {second}."
    )
    pen.write(0.2, _TOP + _SIDE + 0.45, sentence)
    return pen.picture(f"{title}. {subtitle}. {sentence}")


def _draw_step(
    pen: Pen, left: float, side: float, across: int, down: int, lit: tuple[int, int] | None
) -> None:
    """A square of outputs, with a column of the first input beside it and a row of the second
    above; the lit column and row, and what belongs to them, are highlighted.
    """
    column, row = lit or (-1, -1)
    width, height = side / across, side / down
    first = pen.at(left - _GAP - _STRIP, _TOP, _STRIP, height)
    second = pen.at(left, _TOP - _GAP - _STRIP, width, _STRIP)
    output = pen.at(left, _TOP, width, height)
    for y in range(down):
        first.cell(y, 0, **_looks(style.BLUE, y == row))
        for x in range(across):
            output.cell(y, x, **_looks(style.GREEN, (x, y) == lit))
    for x in range(across):
        second.cell(0, x, **_looks(style.ORANGE, x == column))


def _looks(colour: str, is_lit: bool) -> Looks:
    return {**LIT, "line": 1.6} if is_lit else tinted(colour, 0.25, 0.6)
