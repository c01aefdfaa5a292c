"""Draw the lanes of a warp: which outputs each owns, and where one access of each goes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.colors import to_rgb

from course_lib.figures import style
from course_lib.figures.pen import Pen
from course_lib.figures.picture import Picture
from course_lib.figures.requests import NOBODY, lanes_by_warp, traced
from course_lib.wording.words import joined

_MOST = 3
_TOP, _LEFT_OF_PIECES, _GAP, _WORDS = 0.78, 0.2, 0.3, 0.62
_LARGEST_CELL = 0.19
_SQUARES = (4, 2, 1)  # outputs that one cell of the map may stand for, along each axis
# The first lanes, so that pairs can be seen; all others are light green.
_LOOKS = {0: to_rgb(style.GREEN), 1: to_rgb(style.SKY), 2: to_rgb(style.YELLOW)}


@dataclass(frozen=True)
class Piece:
    """What warp 0 of block (0, 0) stores: row and column of each element, and its lane."""

    name: str
    at: np.ndarray
    lane: np.ndarray

    @property
    def rows(self) -> int:
        return len(np.unique(self.at[:, 0]))

    @property
    def columns(self) -> int:
        return len(np.unique(self.at[:, 1]))

    @property
    def told(self) -> tuple[str, str]:
        values = self.rows + self.columns
        return (
            f"{self.rows} × {self.columns} = {len(self.at):,} outputs",
            f"{self.rows} + {self.columns} = {values} values a step",
        )

    @property
    def map(self) -> np.ndarray:
        """The lane of each cell; −1 where the warp owns nothing. Cells are as large as they can be
        with one lane in each."""
        top, left = self.at.min(axis=0)
        rows, columns = self.at.T - np.array([[top], [left]])
        whole = np.full((rows.max() + 1, columns.max() + 1), -1)
        whole[rows, columns] = self.lane
        for side in _SQUARES:
            if whole.shape[0] % side == whole.shape[1] % side == 0:
                cells = whole.reshape(whole.shape[0] // side, side, whole.shape[1] // side, side)
                if (cells == cells[:, :1, :, :1]).all():
                    return cells[:, 0, :, 0]
        return whole


@style.drawn
def warp_pieces(profiles: Mapping[str, Any], output: str = "C", title: str = "") -> Picture:
    """The outputs of warp 0 as a map that names the lane of each, one map for each kernel.

    Args:
        profiles: name -> a traced launch, `emulate(kernel, trace=True)[...](...)`.
        output: the kernel's name for the matrix that it stores.
        title: another one than the usual.

    Raises:
        ValueError: if there are more than three, or a kernel stores nothing there.
    """
    if not 1 <= len(profiles) <= _MOST:
        raise ValueError(f"One to {_MOST} kernels fit a picture, not {len(profiles)}.")
    pieces = [piece_of(name, profile, output) for name, profile in profiles.items()]
    cell, rows = _rows_of(pieces)
    heights = [max(each.map.shape[0] for each in row) * cell + _WORDS + 0.28 for row in rows]
    pen = Pen.card(
        _TOP + sum(heights) + 0.3,
        title or f"Which lane of a warp owns which outputs of {output}",
        "A cell is a square of outputs, with the number of its lane. Green: lane 0. Blue: lane 1. "
        "Yellow: lane 2",
    )
    top = _TOP
    for row, height in zip(rows, heights, strict=True):
        left = _LEFT_OF_PIECES
        for each in row:
            _draw(pen, left, top, cell, each)
            left += max(each.map.shape[1] * cell, _least_width(each)) + _GAP
        top += height
    pen.footnote("Drawn from a run: what warp 0 of block (0, 0) stores.")
    told = "; ".join(
        f"{piece.name}: {', '.join(piece.told)}, {_first_lanes(piece)}" for piece in pieces
    )
    return pen.picture(f"The piece of {output} that one warp owns. {told}.")


def piece_of(name: str, profile: Any, output: str) -> Piece:
    """What warp 0 stores of an output. Raises ValueError if it stores nothing there."""
    at, lane = [], []
    for access in traced(profile):
        if access.array == output and access.kind == "store":
            cells, threads = access.all_indices(profile.arrays[output].shape)
            mine, lanes = lanes_by_warp(threads, profile.block, (0, 0)).get(0, NOBODY)
            at.append(cells[mine])
            lane.append(lanes)
    if not at:
        raise ValueError(f"{name} stores nothing in {output}.")
    return Piece(name, np.concatenate(at), np.concatenate(lane))


def _rows_of(pieces: Sequence[Piece]) -> tuple[float, list[list[Piece]]]:
    """The maps in rows that fit the card, and the side of a cell in inches."""
    room = style.WIDTH - 2 * _LEFT_OF_PIECES
    widest = max(piece.map.shape[1] for piece in pieces)
    cell = min(_LARGEST_CELL, room / widest)
    rows: list[list[Piece]] = [[]]
    left = 0.0
    for piece in pieces:
        width = max(piece.map.shape[1] * cell, _least_width(piece))
        if rows[-1] and left + width > room:
            rows.append([])
            left = 0.0
        rows[-1].append(piece)
        left += width + _GAP
    return cell, rows


def _least_width(piece: Piece) -> float:
    """Room for the words under a map."""
    return 0.068 * max(map(len, piece.told))


def _draw(pen: Pen, left: float, top: float, cell: float, piece: Piece) -> None:
    pen.write(left, top + 0.04, piece.name, mono=True, bold=True)
    top += 0.2
    cells = pen.at(left, top, cell)
    for (row, column), lane in np.ndenumerate(piece.map):
        looks = _LOOKS.get(int(lane), style.tint(style.GREEN, 0.14))
        colour = style.PAPER if lane < 0 else looks
        words = str(lane) if lane >= 0 and cell > 0.1 else ""
        cells.cell(
            row, column, words, face=colour, edge=style.tint(style.GREEN, 0.5), line=0.4,
            size=6.5, colour=style.readable_on(colour),
        )  # fmt: skip
    bottom = top + piece.map.shape[0] * cell
    for number, line in enumerate(piece.told):
        pen.write(left, bottom + 0.15 + 0.18 * number, line)


def _first_lanes(piece: Piece) -> str:
    """How the first lanes lie to each other, in words."""
    found = [np.argwhere(piece.map == lane) for lane in range(3)]
    if not all(map(len, found)):
        return "fewer than three lanes"
    (y0, x0), (y1, x1), (y2, x2) = (each[0] for each in found)
    sides = []
    for lane, y, x in ((1, y1, x1), (2, y2, x2)):
        side = "a row" if y == y0 else "a column" if x == x0 else "neither row nor column"
        sides.append(f"lane {lane} shares {side} with lane 0")
    return joined(sides)
