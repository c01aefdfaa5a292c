"""Draw who accesses what: how often each element, swizzled rows, the outputs of a warp's lanes."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from course_lib.figures.interactive import Grid, Scene
from course_lib.figures.interactive.scene import Panel
from course_lib.figures.interactive.still import draw_scene, draw_still
from course_lib.figures.picture import Picture
from course_lib.figures.requests import NOBODY, lanes_by_warp, traced
from course_lib.wording.words import counted, joined


def matrix_reads(
    counts: Any, arrays: Sequence[str] | None = None, *, kind: str = "load"
) -> Picture:
    """Heat maps of how often each element is accessed in global memory.

    Args:
        counts: a traced profile, or a mapping from names to matrices of counts.
        arrays: which of them to draw; all that are accessed, unless given.
    """
    found = counts if isinstance(counts, Mapping) else element_counts(counts, kind, arrays or ())
    names = list(found) if arrays is None else list(arrays)
    maps = {name: np.atleast_2d(np.asarray(found[name])) for name in names}
    verb = {"load": "loaded", "store": "stored"}.get(kind, "accessed")
    width = 710 / len(names) - 24
    most = max(1, *(int(matrix.max()) for matrix in maps.values()))
    cells = [
        min((width - 43) / matrix.shape[1], 250 / matrix.shape[0], 44) for matrix in maps.values()
    ]
    tall = max(cell * matrix.shape[0] for cell, matrix in zip(cells, maps.values(), strict=True))
    scene = Scene(720, tall + 84)
    for place, ((name, found_here), cell) in enumerate(zip(maps.items(), cells, strict=True)):
        rows, columns = found_here.shape
        grid = Grid(34 + place * (width + 24), 34, (rows, columns), cell)
        _draw_counts(scene, grid, name, found_here, most)
        scene.lines(grid.x, grid.bottom + 20, _how_often(found_here, verb).split("\n"))
    return draw_scene(
        scene,
        f"How often each element is {verb}",
        _count_words(maps, verb),
        "Global memory, one launch, all threads",
    )


def element_counts(
    profile: Any, kind: str = "load", names: Sequence[str] = ()
) -> dict[str, np.ndarray]:
    """How often each element of each global array was accessed, from a trace.

    Only arrays that were accessed are in the result, and those in `names`.
    """
    counts = {name: np.zeros(profile.arrays[name].shape, dtype=np.int64) for name in names}
    for access in traced(profile):
        if access.kind != kind or access.space != "global":
            continue
        if access.array not in counts:
            counts[access.array] = np.zeros(profile.arrays[access.array].shape, dtype=np.int64)
        np.add.at(counts[access.array], tuple(np.asarray(access.indices).T), 1)
    return counts


def _draw_counts(scene: Scene, grid: Grid, name: str, counts: np.ndarray, most: int) -> None:
    """A map, the stronger the colour the more often."""
    css = {"A": "a", "B": "b", "C": "c"}.get(name, "d")
    scene.text(grid.x, grid.y - 12, f"{name}  ({grid.shape[0]} × {grid.shape[1]})", "bold")
    for count in np.unique(counts[counts > 0]).tolist():
        cells = map(tuple, np.argwhere(counts == count).tolist())
        scene.path(grid.squares(cells), f"{css} bare", opacity=0.08 + 0.8 * count / most)
    if grid.wide > 9:
        scene.path(grid.lattice(), "lattice")
    scene.path(grid.outline(), "outline thin")
    for (row, column), count in np.ndenumerate(counts) if grid.wide >= 23 else ():
        x, y = grid.corner(row + 0.5, column + 0.5)
        ink = f"small on-{css}" if count > 0.6 * most else "small"
        scene.text(x, y + 4.5, str(int(count)), ink, "middle")


def _how_often(counts: np.ndarray, verb: str) -> str:
    low, high, total = int(counts.min()), int(counts.max()), int(counts.sum())
    times = f"{verb} {low} to {high} times" if low < high else f"each {verb} {low} times"
    if low == high == 1:
        times = f"each {verb} once"
    return f"{times}\n{total:,} {verb} in all"


def _count_words(maps: Mapping[str, np.ndarray], verb: str) -> str:
    told = "; ".join(
        f"{name}, {matrix.shape[0]} by {matrix.shape[1]}: "
        + _how_often(matrix, verb).replace("\n", ", ")
        for name, matrix in maps.items()
    )
    return f"How often each element of global memory is {verb}. {told}."


# --- Eight rows of pieces after a swizzle, and their banks ----------------------------------------


_ROWS = _PIECES = 8
_NUMBERS = 64  # of 16 bits, in a row of 128 bytes
_OF_A_PIECE = 8
_PICKED = 2  # the piece that is followed down the rows


def swizzled_rows(piece_at: Callable[[int, int], int]) -> Picture:
    """Eight rows of eight pieces, each piece where `piece_at` puts it.

    Args:
        piece_at: of a row and a piece the index of its first number, in a tile with rows of 64
            numbers of 16 bits: a plain function, or a device function of Numba.

    Raises:
        ValueError: if two pieces share a place, or one lies outside these eight rows.
    """
    places = places_of(getattr(piece_at, "py_func", piece_at))
    grid = Grid(70, 48, (_ROWS, _PIECES), 60, 26)
    scene = Scene(720, grid.bottom + 8)
    for place in range(_PIECES):
        x = grid.corner(0, place + 0.5)[0]
        scene.text(x, 22, f"place {place}", "small muted", "middle")
        scene.text(x, 40, f"{4 * place}–{4 * place + 3}", "small muted", "middle")
    for (_, piece), at in places.items():
        x, y = grid.corner(*at)
        css = ("lit", "small lit") if piece == _PICKED else ("a-soft bare", "small")
        scene.cell(x + 1, y + 1, 58, 24, str(piece), *css)
    for row in range(_ROWS):
        scene.text(60, grid.corner(row + 0.5, 0)[1] + 4.5, f"row {row}", "small muted", "end")
    met = {place for (_, piece), (_, place) in places.items() if piece == _PICKED}
    told = f"Piece {_PICKED} of the eight rows is in {counted(len(met), 'different place')}"
    passes = _ROWS // len(met) if _ROWS % len(met) == 0 else _ROWS
    passes_words = "one wavefront" if passes == 1 else f"{passes} wavefronts"
    words = f"{told}, so ldmatrix fetches it in {passes_words}."
    return draw_scene(
        scene,
        "Eight rows of 128 bytes: where each piece lies",
        f"A grid of eight rows and eight places of 16 bytes. {words}",
        "Columns: where in the row, and in which banks. Numbers: which piece lies there", words,
    )  # fmt: skip


def places_of(piece_at: Callable[[int, int], int]) -> dict[tuple[int, int], tuple[int, int]]:
    """Row and place of every (row, piece).

    Raises ValueError if two pieces share a place, or one lies outside.
    """
    found = {
        (row, piece): divmod(int(piece_at(row, piece)), _NUMBERS)
        for row in range(_ROWS)
        for piece in range(_PIECES)
    }
    places = {key: (row, start // _OF_A_PIECE) for key, (row, start) in found.items()}
    if len(set(places.values())) < len(places):
        raise ValueError("Two pieces share a place.")
    if any(not 0 <= row < _ROWS for row, _ in places.values()):
        raise ValueError("A piece lies outside the eight rows.")
    return places


# --- The outputs that each lane of a warp owns ----------------------------------------------------


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
    (y0, x0), (y1, x1), (y2, x2) = (places[0] for places in found)
    sides = []
    for lane, y, x in ((1, y1, x1), (2, y2, x2)):
        side = "a row" if y == y0 else "a column" if x == x0 else "neither row nor column"
        sides.append(f"lane {lane} shares {side} with lane 0")
    return joined(sides)
