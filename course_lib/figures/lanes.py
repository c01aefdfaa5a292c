"""Draw the lanes of a warp: which outputs each owns, and where one access of each goes."""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.colors import to_rgb
from matplotlib.patches import Polygon

from course_lib.devices import (
    BANK_WIDTH_BYTES,
    CACHE_LINE_BYTES,
    SECTOR_BYTES,
    SHARED_MEMORY_BANKS,
    WARP_SIZE,
)
from course_lib.figures import style
from course_lib.figures.accesses import draw_sector
from course_lib.figures.pen import Pen, tinted
from course_lib.figures.picture import Picture
from course_lib.figures.requests import NOBODY, Phase, Request, lanes_by_warp, phases_of, traced
from course_lib.wording.words import counted, joined

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


# --- One access: from lane to address and sector, or to word and bank -----------------------------


_LEFT, _RIGHT = 0.95, 7.42
_LANE = (_RIGHT - _LEFT) / WARP_SIZE


def _middle_of(lane: int) -> float:
    return _LEFT + (lane + 0.5) * _LANE


def _draw_lanes(pen: Pen, y: float, lanes: Sequence[int], colour: str) -> None:
    """A row of 32 lanes; those that take part are filled."""
    pen.write(_LEFT - 0.1, y, "lane", ha="right", colour=style.GREY)
    row = pen.at(_LEFT, y - 0.1, _LANE, 0.2)
    for lane in range(WARP_SIZE):
        active = lane in lanes
        looks = {**tinted(colour, 0.25), "z": 3}
        if not active:
            looks = {"face": style.PAPER, "edge": style.FAINT, "line": 0.8, "z": 2}
        ink = style.INK if active else style.GREY
        row.cell(0, lane, str(lane), colour=ink, **looks)


def _draw_threads(
    pen: Pen, top: float, bottom: float, ends: Sequence[tuple[int, float]], colour: str
) -> None:
    """A thin line from each lane down to where it goes; a wedge for neighbours that go alike."""
    for x, group in itertools.groupby(ends, key=lambda end: end[1]):
        lanes = [lane for lane, _ in group]
        if len(lanes) > 3:
            corners = [(_middle_of(lanes[0]), top), (_middle_of(lanes[-1]), top), (x, bottom)]
            wedge = Polygon(corners, facecolor=style.tint(colour, 0.3), edgecolor="none", zorder=0)
            pen.axes.add_patch(wedge)
            lanes = [lanes[0], lanes[-1]]
        for lane in lanes:
            pen.line((_middle_of(lane), top), (x, bottom), colour=colour, line=0.8, z=1)


def _heading(pen: Pen, y: float, request: Request, verdict: str, bad: bool) -> None:
    pen.write(0.16, y, request.title, bold=True, size=style.NORMAL)
    ink = style.VERMILION if bad else style.INK
    pen.write(_RIGHT, y, verdict, ha="right", bold=True, colour=ink)


# -- lane, address, sector -----------------------------------------------------------------------


@style.drawn
def lane_to_sector(request: Request, *, itemsize: int = 4) -> Picture:
    """Where in global memory each lane's element lies, and the sectors that have to be moved."""
    pen = Pen.card(
        2.78,
        "Lane, address, sector",
        f"One load of one warp. Memory moves in sectors of {SECTOR_BYTES} bytes; "
        f"four neighbours make a line of {CACHE_LINE_BYTES}",
    )
    told = _draw_sectors(pen, 0.78, request, itemsize)
    return pen.picture(f"Which sectors the lanes of a warp ask for. {told}.")


def _draw_sectors(pen: Pen, top: float, request: Request, itemsize: int) -> str:
    found = request.footprint(itemsize)
    colour = style.MATRIX_COLOUR.get(request.array, style.BLUE)
    starts, width = _places(found.sectors)
    count = counted(len(found.sectors), "sector")
    _heading(pen, top, request, f"{count}, {found.moved_bytes} bytes", len(found.sectors) > 8)
    _draw_lanes(pen, top + 0.3, found.lanes, colour)
    y = top + 0.98
    for sector in found.sectors:
        draw_sector(pen.at(starts[sector], y, width, 0.22), sector, found, colour)
    targets = [
        (lane, starts[sector] + width * (inside + itemsize / 2) / SECTOR_BYTES)
        for lane, address in zip(found.lanes, found.addresses, strict=True)
        for sector, inside in [divmod(address, SECTOR_BYTES)]
    ]
    _draw_threads(pen, top + 0.4, y, targets, colour)
    _draw_offsets(pen, y + 0.34, found.sectors, starts)
    used = f"{found.used_bytes} of these bytes are used: {found.percent}"
    pen.write(_LEFT, y + 0.56, used, colour=style.GREY)
    lanes = len(found.lanes)
    return f"{request.title}: {count} for {lanes} lanes, {found.percent} of the bytes used"


def _places(sectors: Sequence[int]) -> tuple[dict[int, float], float]:
    """The left edge of each sector, with a gap where memory between two is left out."""
    gaps = [later - earlier > 1 for earlier, later in itertools.pairwise(sectors)]
    width = min(1.2, (_RIGHT - _LEFT) / (len(sectors) + 0.25 * sum(gaps)))
    starts, x = {}, _LEFT
    for sector, gap in zip(sectors, [*gaps, False], strict=True):
        starts[sector] = x
        x += width * (1.25 if gap else 1)
    return starts, width


def _draw_offsets(pen: Pen, y: float, sectors: Sequence[int], starts: dict[int, float]) -> None:
    """Byte offsets under as many sectors as there is room for, from the first one on."""
    pen.write(_LEFT - 0.1, y, "byte", ha="right", colour=style.GREY)
    free = 0.0
    for sector in sectors:
        words = f"+{(sector - sectors[0]) * SECTOR_BYTES:,}"
        if starts[sector] >= free and starts[sector] + 0.08 * len(words) < 7.5:
            pen.write(starts[sector], y, words, colour=style.GREY)
            free = starts[sector] + 0.085 * len(words) + 0.1


# -- lane, word, bank ----------------------------------------------------------------------------


@style.drawn
def lane_to_bank(request: Request, *, itemsize: int = 4) -> Picture:
    """Which bank of shared memory each lane's word lies in, and how many wavefronts that takes."""
    phases = phases_of(request.addresses, request.active, itemsize)
    stack = max((phase.passes for phase in phases), default=1)
    pitch = min(0.2, 1.4 / stack)
    pen = Pen.card(
        2.5 + pitch * stack,
        "Lane, word, bank",
        f"Word n of shared memory is in bank n mod {SHARED_MEMORY_BANKS}, row "
        f"n // {SHARED_MEMORY_BANKS}; a bank delivers one word per wavefront",
    )
    told = _draw_banks(pen, 0.78, request, phases, pitch, itemsize)
    return pen.picture(f"Which banks the lanes of a warp ask. {told}.")


def _draw_banks(
    pen: Pen, top: float, request: Request, phases: Sequence[Phase], pitch: float, itemsize: int
) -> str:
    lanes = list(map(int, request.active))
    colour = style.MATRIX_COLOUR.get(request.array[-1:], style.BLUE)
    wavefronts = sum(phase.passes for phase in phases)
    conflicts = wavefronts - len(phases)
    verdict = counted(wavefronts, "wavefront")
    extra = f", {conflicts} of them by bank conflicts" if conflicts else ", no bank conflict"
    _heading(pen, top, request, verdict + extra, conflicts > 0)
    _draw_lanes(pen, top + 0.3, lanes, colour)
    banks = np.asarray(request.addresses, np.int64) // BANK_WIDTH_BYTES % SHARED_MEMORY_BANKS
    ends = [(lane, _middle_of(bank)) for lane, bank in zip(lanes, banks, strict=True)]
    _draw_threads(pen, top + 0.4, top + 0.9, ends, colour)
    _draw_bank_row(pen, top + 1.0, set(banks.tolist()))
    most = max((phase.passes for phase in phases), default=0)
    busiest = next((phase.words() for phase in phases if phase.passes == most), {})
    for bank, words in busiest.items():
        for depth, word in enumerate(words):
            _draw_word(pen, bank, top + 1.14 + depth * pitch, pitch, word, colour)
    if busiest:
        y = top + 1.14 + max(pitch, 0.16) / 2
        pen.write(_LEFT - 0.1, y, "row", ha="right", colour=style.GREY)
    note = _note(most, len(phases), itemsize)
    pen.write(_LEFT, top + 1.3 + most * pitch, note, colour=style.GREY)
    return f"{request.title}: {verdict}{extra}; {note}"


def _draw_bank_row(pen: Pen, y: float, used: set[int]) -> None:
    pen.write(_LEFT - 0.1, y, "bank", ha="right", colour=style.GREY)
    for bank in range(SHARED_MEMORY_BANKS):
        ink = style.INK if bank in used else style.GREY
        pen.write(_middle_of(bank), y, str(bank), ha="center", bold=bank in used, colour=ink)


def _draw_word(pen: Pen, bank: int, y: float, pitch: float, word: int, colour: str) -> None:
    """One of the words asked of a bank; the second and later ones have to wait."""
    x, wide = _LEFT + bank * _LANE + 0.01, _LANE - 0.02
    pen.rectangle(x, y, wide, pitch * 0.9, **tinted(colour, 0.45, 0.6))
    row = word // SHARED_MEMORY_BANKS
    if pitch >= 0.16 and row < 100:
        pen.write(_middle_of(bank), y + pitch * 0.45, str(row), ha="center")


def _note(most: int, phases: int, itemsize: int) -> str:
    """What the stacks under the banks show."""
    asked = f"the busiest bank is asked for {most} different words"
    if most == 1:
        asked = "no bank is asked for two different words"
    if phases == 1 or itemsize == BANK_WIDTH_BYTES:
        return asked
    return f"{itemsize} bytes a lane are served in {phases} phases; in each, {asked}"
