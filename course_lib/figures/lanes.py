"""Draw which outputs the lanes of a warp own."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from course_lib.figures.interactive import Grid, Scene
from course_lib.figures.interactive.player import Panel
from course_lib.figures.interactive.still import draw_still
from course_lib.figures.picture import Picture
from course_lib.figures.requests import NOBODY, lanes_by_warp, traced
from course_lib.wording.words import joined

_MOST = 3
_CELL = 18.0
_SQUARES = (4, 2, 1)  # outputs that one cell of the map may stand for, along each axis
# The first lanes, so that pairs can be seen; all others are light green.
_CSS = {0: ("c", "small on-c"), 1: ("a", "small on-a"), 2: ("lit bare", "small")}


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
    panels = [_panel(piece) for piece in pieces]
    room = 700 / max(panel.scene.width for panel in panels)
    told = "; ".join(
        f"{piece.name}: {', '.join(piece.told)}, {_first_lanes(piece)}" for piece in pieces
    )
    return draw_still(
        title or f"Which lane of a warp owns which outputs of {output}", panels,
        f"The piece of {output} that one warp owns. {told}.",
        across=max(1, min(len(panels), int(room))),
        subtitle="A cell is a square of outputs, with the number of its lane. Green: lane 0. Blue: "
        "lane 1. Yellow: lane 2",
        below="Drawn from a run: what warp 0 of block (0, 0) stores.",
    )  # fmt: skip


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


def _panel(piece: Piece) -> Panel:
    """The map, and what it says below it."""
    rows, columns = piece.map.shape
    grid = Grid(6, 4, (rows, columns), _CELL)
    scene = Scene(max(grid.right, 7 * max(map(len, piece.told))) + 6, grid.bottom + 46)
    for (row, column), lane in np.ndenumerate(piece.map):
        css, words = _CSS.get(int(lane), ("c-soft", "small") if lane >= 0 else ("cell", "small"))
        label = str(lane) if lane >= 0 else ""
        scene.cell(*grid.corner(row, column), _CELL, _CELL, label, css, words)
    for number, line in enumerate(piece.told):
        scene.text(6, grid.bottom + 18 + 18 * number, line, "small")
    return Panel(scene, {}, (piece.name,))


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
