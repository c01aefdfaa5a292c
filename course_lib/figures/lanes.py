"""Draw where each lane of one access goes: lane, address, sector; or lane, word, bank."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.patches import Polygon

from course_lib.devices import (
    BANK_WIDTH_BYTES,
    CACHE_LINE_BYTES,
    SECTOR_BYTES,
    SHARED_MEMORY_BANKS,
    WARP_SIZE,
)
from course_lib.figures import style
from course_lib.figures.accesses import Request
from course_lib.figures.bank_passes import phase_count
from course_lib.figures.pen import Pen
from course_lib.figures.picture import Picture
from course_lib.words import counted

_LEFT, _RIGHT = 0.95, 7.42
_LANE = (_RIGHT - _LEFT) / WARP_SIZE


def _lanes_and_addresses(request: Request) -> tuple[np.ndarray, np.ndarray]:
    addresses = np.asarray(request.addresses, dtype=np.int64)
    lanes = np.arange(addresses.size) if request.lanes is None else np.asarray(request.lanes)
    return lanes, addresses


def _one_or_two(requests: Sequence[Request]) -> None:
    if len(requests) not in (1, 2):
        raise ValueError(f"One or two requests fit a picture, not {len(requests)}.")


def _middle_of(lane: int) -> float:
    return _LEFT + (lane + 0.5) * _LANE


def _draw_lanes(pen: Pen, y: float, lanes: Sequence[int], colour: str) -> None:
    """A row of 32 lanes; those that take part are filled."""
    pen.write(_LEFT - 0.1, y, "lane", ha="right", colour=style.GREY)
    for lane in range(WARP_SIZE):
        active = lane in lanes
        pen.rectangle(
            _LEFT + lane * _LANE,
            y - 0.1,
            _LANE,
            0.2,
            face=style.tint(colour, 0.25) if active else style.PAPER,
            edge=colour if active else style.FAINT,
            line=0.8,
            z=3 if active else 2,
        )
        ink = style.INK if active else style.GREY
        pen.write(_middle_of(lane), y, str(lane), ha="center", colour=ink)


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
    pen.write(
        _RIGHT, y, verdict, ha="right", bold=True, colour=style.VERMILION if bad else style.INK
    )


# -- lane, address, sector -----------------------------------------------------------------------

_SECTOR_PANEL = 1.92


@style.drawn
def lane_to_sector(*requests: Request, itemsize: int = 4) -> Picture:
    """Where in global memory each lane's element lies, and the sectors that have to be moved.

    Raises:
        ValueError: if there are not one or two requests.
    """
    _one_or_two(requests)
    figure = style.card(
        0.86 + _SECTOR_PANEL * len(requests),
        "Lane, address, sector",
        f"One load of one warp. Memory moves in sectors of {SECTOR_BYTES} bytes; "
        f"four neighbours make a line of {CACHE_LINE_BYTES}",
    )
    pen = Pen.on(figure)
    told = [
        _draw_sectors(pen, 0.78 + place * _SECTOR_PANEL, request, itemsize)
        for place, request in enumerate(requests)
    ]
    return Picture(figure, f"Which sectors the lanes of a warp ask for. {'; '.join(told)}.")


def _draw_sectors(pen: Pen, top: float, request: Request, itemsize: int) -> str:
    lanes, addresses = _lanes_and_addresses(request)
    colour = style.MATRIX_COLOUR.get(request.array, style.BLUE)
    ends = (addresses + itemsize - 1) // SECTOR_BYTES
    sectors = sorted({*(addresses // SECTOR_BYTES).tolist(), *ends.tolist()})
    starts, width = _places(sectors)
    count = counted(len(sectors), "sector")
    moved = f"{count}, {len(sectors) * SECTOR_BYTES} bytes"
    _heading(pen, top, request, moved, len(sectors) > 8)
    _draw_lanes(pen, top + 0.3, lanes.tolist(), colour)
    y = top + 0.98
    for sector in sectors:
        _draw_sector(pen, (starts[sector], y), width, sector, addresses, itemsize, colour)
    inside = addresses % SECTOR_BYTES + itemsize / 2
    targets = [
        (lane, starts[sector] + width * part / SECTOR_BYTES)
        for lane, sector, part in zip(
            lanes.tolist(), (addresses // SECTOR_BYTES).tolist(), inside.tolist(), strict=True
        )
    ]
    _draw_threads(pen, top + 0.4, y, targets, colour)
    _draw_offsets(pen, y + 0.34, sectors, starts)
    used = len(set(addresses.tolist())) * itemsize
    share = 100 * used / max(1, len(sectors) * SECTOR_BYTES)
    pen.write(_LEFT, y + 0.56, f"{used} of these bytes are used: {share:.3g} %", colour=style.GREY)
    return f"{request.title}: {count} for {len(lanes)} lanes, {share:.3g} % of the bytes used"


def _places(sectors: Sequence[int]) -> tuple[dict[int, float], float]:
    """The left edge of each sector, with a gap where memory between two is left out."""
    gaps = [later - earlier > 1 for earlier, later in itertools.pairwise(sectors)]
    width = min(1.2, (_RIGHT - _LEFT) / (len(sectors) + 0.25 * sum(gaps)))
    starts, x = {}, _LEFT
    for sector, gap in zip(sectors, [*gaps, False], strict=True):
        starts[sector] = x
        x += width * (1.25 if gap else 1)
    return starts, width


def _draw_sector(
    pen: Pen,
    corner: tuple[float, float],
    width: float,
    sector: int,
    addresses: np.ndarray,
    itemsize: int,
    colour: str,
) -> None:
    """One sector: tinted, with the elements asked for filled."""
    pen.rectangle(
        *corner, width, 0.22, face=style.tint(colour, 0.22), edge=style.GREY, line=0.9, z=2
    )
    part = width * itemsize / SECTOR_BYTES
    for address in set(addresses[addresses // SECTOR_BYTES == sector].tolist()):
        x = corner[0] + width * (address % SECTOR_BYTES) / SECTOR_BYTES
        pen.rectangle(
            x,
            corner[1],
            min(part, corner[0] + width - x),
            0.22,
            face=colour,
            edge=style.PAPER,
            line=0.5,
            z=3,
        )


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


@dataclass(frozen=True)
class _Phase:
    """The lanes that are served together, and the different words that they ask of each bank."""

    lanes: list[int]
    words: dict[int, list[int]]  # bank -> its words, each once

    @property
    def wavefronts(self) -> int:
        return max((len(words) for words in self.words.values()), default=0)


def phases_of(request: Request, itemsize: int = 4) -> list[_Phase]:
    """How shared memory serves a request: wide lanes by half or a quarter of a warp at a time."""
    lanes, addresses = _lanes_and_addresses(request)
    words_per_lane = max(1, itemsize // BANK_WIDTH_BYTES)
    size = WARP_SIZE // phase_count(addresses, lanes, itemsize)
    phases = []
    for first in range(0, WARP_SIZE, size):
        mine = (lanes >= first) & (lanes < first + size)
        words: dict[int, list[int]] = {}
        for word in (addresses[mine] // BANK_WIDTH_BYTES).tolist():
            for part in range(word, word + words_per_lane):
                stack = words.setdefault(part % SHARED_MEMORY_BANKS, [])
                if part not in stack:
                    stack.append(part)
        if words:
            phases.append(_Phase(lanes[mine].tolist(), words))
    return phases


@style.drawn
def lane_to_bank(*requests: Request, itemsize: int = 4) -> Picture:
    """Which bank of shared memory each lane's word lies in, and how many passes that takes.

    Raises:
        ValueError: if there are not one or two requests.
    """
    _one_or_two(requests)
    served = [phases_of(request, itemsize) for request in requests]
    stacks = [max((phase.wavefronts for phase in phases), default=1) for phases in served]
    tallest = 1.4 if len(requests) == 1 else 0.9
    pitches = [min(0.2, tallest / max(1, stack)) for stack in stacks]
    heights = [
        1.75 + pitch * stack for pitch, stack in zip(pitches, stacks, strict=True)
    ]  # one panel each
    figure = style.card(
        0.75 + sum(heights),
        "Lane, word, bank",
        f"Word n of shared memory lies in bank n mod {SHARED_MEMORY_BANKS}, row "
        f"n // {SHARED_MEMORY_BANKS}; a bank gives one word a pass (wavefront)",
    )
    pen = Pen.on(figure)
    told, top = [], 0.78
    for request, phases, pitch, height in zip(requests, served, pitches, heights, strict=True):
        told.append(_draw_banks(pen, top, request, phases, pitch, itemsize))
        top += height
    return Picture(figure, f"Which banks the lanes of a warp ask. {'; '.join(told)}.")


def _draw_banks(
    pen: Pen, top: float, request: Request, phases: Sequence[_Phase], pitch: float, itemsize: int
) -> str:
    lanes, addresses = _lanes_and_addresses(request)
    colour = style.MATRIX_COLOUR.get(request.array[-1:], style.BLUE)
    wavefronts = sum(phase.wavefronts for phase in phases)
    conflicts = wavefronts - len(phases)
    verdict = counted(wavefronts, "wavefront")
    extra = f", {conflicts} of them by bank conflicts" if conflicts else ", no bank conflict"
    _heading(pen, top, request, verdict + extra, conflicts > 0)
    _draw_lanes(pen, top + 0.3, lanes.tolist(), colour)
    banks = addresses // BANK_WIDTH_BYTES % SHARED_MEMORY_BANKS
    ends = [(lane, _middle_of(bank)) for lane, bank in zip(lanes.tolist(), banks, strict=True)]
    _draw_threads(pen, top + 0.4, top + 0.9, ends, colour)
    _draw_bank_row(pen, top + 1.0, set(banks.tolist()))
    busiest = max(phases, key=lambda phase: phase.wavefronts, default=_Phase([], {}))
    for bank, words in busiest.words.items():
        for depth, word in enumerate(words):
            _draw_word(pen, bank, top + 1.14 + depth * pitch, pitch, word, colour)
    if busiest.words:
        pen.write(
            _LEFT - 0.1, top + 1.14 + max(pitch, 0.16) / 2, "row", ha="right", colour=style.GREY
        )
    note = _note(busiest, len(phases), itemsize)
    pen.write(_LEFT, top + 1.3 + busiest.wavefronts * pitch, note, colour=style.GREY)
    return f"{request.title}: {verdict}{extra}; {note}"


def _draw_bank_row(pen: Pen, y: float, used: set[int]) -> None:
    pen.write(_LEFT - 0.1, y, "bank", ha="right", colour=style.GREY)
    for bank in range(SHARED_MEMORY_BANKS):
        ink = style.INK if bank in used else style.GREY
        pen.write(_middle_of(bank), y, str(bank), ha="center", bold=bank in used, colour=ink)


def _draw_word(pen: Pen, bank: int, y: float, pitch: float, word: int, colour: str) -> None:
    """One of the words asked of a bank; the second and later ones have to wait."""
    pen.rectangle(
        _LEFT + bank * _LANE + 0.01,
        y,
        _LANE - 0.02,
        pitch * 0.9,
        face=style.tint(colour, 0.45),
        edge=colour,
        line=0.6,
        z=2,
    )
    row = word // SHARED_MEMORY_BANKS
    if pitch >= 0.16 and row < 100:
        pen.write(_middle_of(bank), y + pitch * 0.45, str(row), ha="center")


def _note(busiest: _Phase, phases: int, itemsize: int) -> str:
    """What the stacks under the banks show."""
    most = busiest.wavefronts
    asked = f"the busiest bank is asked for {most} different words"
    if most == 1:
        asked = "no bank is asked for two different words"
    if phases == 1 or itemsize == BANK_WIDTH_BYTES:
        return asked
    return f"{itemsize} bytes a lane are served in {phases} phases; in each, {asked}"
