"""Draw what one warp asks of memory: 32 addresses, the sectors they fall into, the bytes moved."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from course_lib.devices import CACHE_LINE_BYTES, SECTOR_BYTES, WARP_SIZE
from course_lib.figures import style
from course_lib.figures.pen import Pen
from course_lib.figures.picture import Picture
from course_lib.words import counted, stretches


@dataclass(frozen=True)
class Request:
    """One memory instruction of one warp: the byte address that each active lane asks for."""

    title: str
    addresses: Sequence[int] | np.ndarray
    lanes: Sequence[int] | np.ndarray | None = None  # 0, 1, 2, ... unless given
    array: str = ""


def addresses_of(
    rows: int | Sequence[int] | np.ndarray,
    columns: int | Sequence[int] | np.ndarray,
    width: int,
    itemsize: int = 4,
) -> np.ndarray:
    """Byte addresses of the elements [row, column] of a row-major matrix `width` elements wide.

    A number stands for 32 equal ones: `addresses_of(range(32), 0, 1024)` walks down column 0.
    """
    row, column = np.broadcast_arrays(np.asarray(rows), np.asarray(columns))
    if row.ndim == 0:
        row, column = np.full(WARP_SIZE, row), np.full(WARP_SIZE, column)
    result: np.ndarray = (row.astype(np.int64) * width + column) * itemsize
    return result


def request_of(
    profile: Any,
    array: str,
    *,
    kind: str = "load",
    line: int | None = None,
    warp: int = 0,
    block: tuple[int, int] = (0, 0),
    occurrence: int = 0,
    title: str = "",
) -> Request:
    """One request of one warp out of a traced launch: `emulate(kernel, trace=True)[...](...)`.

    Args:
        array: the kernel's name for it, "B".
        line: the source line, where several lines access that array.
        warp: which warp of the block, counted from 0.
        block: which block, as (x, y).
        occurrence: 0 for the first time that this warp does it, 1 for the second, ...

    Raises:
        ValueError: if the trace has no such access.
    """
    seen = 0
    for access in traced(profile):
        if (access.kind, access.array) != (kind, array) or line not in (None, access.line):
            continue
        lanes, mine = _lanes_of(access, profile.block, warp, block)
        if lanes.size and seen == occurrence:
            name = title or f"{kind} of {array}, line {access.line}"
            return Request(name, np.asarray(access.addresses)[mine], lanes, array)
        seen += bool(lanes.size)
    where = f" at line {line}" if line is not None else ""
    raise ValueError(
        f"Warp {warp} of block {block} has no {kind} number {occurrence} of {array}{where}."
    )


def traced(profile: Any) -> Sequence[Any]:
    trace = getattr(profile, "trace", None)
    # An empty trace is right for a kernel that touches nothing, as an unsolved exercise's does.
    if trace is None or (not trace and _touches_memory(profile)):
        raise ValueError(
            "This profile has no trace: launch with course_lib.emulate(kernel, trace=True)."
        )
    result: Sequence[Any] = trace
    return result


def _touches_memory(profile: Any) -> bool:
    counters = ("global_load_requests", "global_store_requests", "shared_load_requests", "atomics")
    return any(getattr(profile, each, 1) for each in counters)


def _lanes_of(
    access: Any, block_shape: Sequence[int], warp: int, block: tuple[int, int]
) -> tuple[np.ndarray, np.ndarray]:
    """The lanes of one warp in an access, and where they are in its arrays."""
    bz, by, bx, tz, ty, tx = np.asarray(access.threads).T
    size_x, size_y = (*block_shape, 1, 1)[:2]
    linear = tx + size_x * (ty + size_y * tz)
    here = (bx == block[0]) & (by == block[1]) & (bz == 0) & (linear // WARP_SIZE == warp)
    mine = np.flatnonzero(here)
    return linear[mine] % WARP_SIZE, mine


@dataclass(frozen=True)
class _Footprint:
    """Where the addresses of a request fall."""

    lines: list[int]  # the 128-byte lines touched, in order
    sectors: set[int]
    cells: dict[int, list[int]]  # item number -> lanes that ask for it
    itemsize: int

    @property
    def used_share(self) -> float:
        return len(self.cells) * self.itemsize / (len(self.sectors) * SECTOR_BYTES)


def footprint(request: Request, itemsize: int = 4) -> _Footprint:
    """The lines, sectors and items that a request touches."""
    addresses = np.asarray(request.addresses, dtype=np.int64)
    lanes = np.arange(addresses.size) if request.lanes is None else np.asarray(request.lanes)
    cells: dict[int, list[int]] = {}
    for lane, address in zip(lanes.tolist(), addresses.tolist(), strict=True):
        cells.setdefault(address // itemsize, []).append(lane)
    last = addresses + itemsize - 1
    sectors = set((addresses // SECTOR_BYTES).tolist()) | set((last // SECTOR_BYTES).tolist())
    lines = sorted({sector * SECTOR_BYTES // CACHE_LINE_BYTES for sector in sectors})
    return _Footprint(lines, sectors, cells, itemsize)


@style.drawn
def warp_access(*requests: Request, itemsize: int = 4) -> Picture:
    """One or two requests side by side: lines, the sectors that are moved, the items that are used.

    Raises:
        ValueError: if there are not one or two requests.
    """
    if len(requests) not in (1, 2):
        raise ValueError(f"One or two requests fit a picture, not {len(requests)}.")
    prints = [footprint(request, itemsize) for request in requests]
    most_lines = max(len(each.lines) for each in prints)
    tall = min(3.1, 0.28 * most_lines)
    figure = style.card(
        2.42 + tall,
        "What one warp asks for",
        f"Each row is a cache line of {CACHE_LINE_BYTES} bytes: "
        f"{CACHE_LINE_BYTES // SECTOR_BYTES} sectors of {SECTOR_BYTES}",
    )
    pen = Pen.on(figure)
    pitch = 7.3 / len(requests)
    for place, (request, found) in enumerate(zip(requests, prints, strict=True)):
        _draw_request(pen, 0.16 + place * pitch, pitch, request, found, tall)
    _draw_key(pen, figure.get_size_inches()[1] - 0.24, itemsize)
    return Picture(figure, _words(requests, prints))


def _draw_request(
    pen: Pen, left: float, pitch: float, request: Request, found: _Footprint, tall: float
) -> None:
    colour = style.MATRIX_COLOUR.get(request.array, style.BLUE)
    pen.write(left, 0.84, request.title, bold=True, size=style.NORMAL)
    count = len(found.sectors)
    pen.write(
        left,
        1.12,
        _sectors(found),
        colour=style.VERMILION if count > 8 else style.INK,
        bold=True,
        size=style.LARGE,
    )
    moved = f"{count * SECTOR_BYTES:,} bytes moved, {_percent(found.used_share)} of them used"
    pen.write(left, 1.36, moved)
    per_line = CACHE_LINE_BYTES // found.itemsize
    cell = (pitch - 1.35) / per_line
    row_height = min(0.28, tall / len(found.lines))
    x0, y0 = left + 0.68, 1.78
    for place, line in enumerate(found.lines):
        _draw_line(
            pen, (x0, y0 + place * row_height), (cell, row_height * 0.86), line, found, colour
        )
    _draw_margins(pen, x0, y0, cell * per_line, row_height, found)


def _sectors(found: _Footprint) -> str:
    return f"{counted(len(found.sectors), 'sector')} per request"


def _percent(share: float) -> str:
    return f"{share * 100:.3g} %"


def _draw_line(
    pen: Pen,
    corner: tuple[float, float],
    size: tuple[float, float],
    line: int,
    found: _Footprint,
    colour: str,
) -> None:
    """One cache line: its four sectors, and the items asked for."""
    cell, height = size
    per_sector = SECTOR_BYTES // found.itemsize
    for part in range(CACHE_LINE_BYTES // SECTOR_BYTES):
        sector = line * CACHE_LINE_BYTES // SECTOR_BYTES + part
        moved = sector in found.sectors
        x = corner[0] + part * per_sector * cell
        pen.rectangle(
            x,
            corner[1],
            per_sector * cell,
            height,
            line=0.7,
            face=style.tint(colour, 0.22) if moved else style.PAPER,
            edge=style.GREY if moved else style.FAINT,
            z=2 if moved else 1,
        )
        for item in range(per_sector):
            number = sector * per_sector + item
            if number in found.cells:
                pen.rectangle(
                    x + item * cell,
                    corner[1],
                    cell,
                    height,
                    face=colour,
                    edge=style.PAPER,
                    line=0.6,
                    z=3,
                )


def _draw_margins(
    pen: Pen, x: float, y: float, width: float, row_height: float, found: _Footprint
) -> None:
    """Byte offsets on the left, the lanes that a line serves on the right; every 4th if tight."""
    step = 1 if row_height > 0.15 else 4
    per_line = CACHE_LINE_BYTES // found.itemsize
    pen.write(x - 0.06, y - 0.14, "byte", ha="right", colour=style.GREY)
    pen.write(x + width + 0.06, y - 0.14, "lane")
    for place, line in enumerate(found.lines):
        if place % step and place != len(found.lines) - 1:
            continue
        if step > 1 and place == len(found.lines) - 1 and place % step < 2:
            continue
        middle = y + (place + 0.43) * row_height
        offset = (line - found.lines[0]) * CACHE_LINE_BYTES
        pen.write(x - 0.06, middle, f"+{offset:,}", ha="right", colour=style.GREY)
        lanes = sorted(
            lane
            for item, asking in found.cells.items()
            if item // per_line == line
            for lane in asking
        )
        pen.write(x + width + 0.06, middle, _span(lanes), ha="left")


def _span(lanes: Sequence[int]) -> str:
    told = stretches(lanes)
    return f"{len(lanes)} of them" if "," in told else told


def _draw_key(pen: Pen, y: float, itemsize: int) -> None:
    entries = (
        (1.0, f"asked for ({itemsize} bytes)"),
        (0.22, f"moved with it ({SECTOR_BYTES}-byte sector)"),
        (0.0, "not moved"),
    )
    x = 0.2
    for strength, words in entries:
        pen.rectangle(
            x,
            y - 0.08,
            0.18,
            0.16,
            face=style.tint(style.BLUE, strength),
            edge=style.GREY,
            line=0.7,
        )
        pen.write(x + 0.26, y, words)
        x += 0.55 + 0.078 * len(words)


def _words(requests: Sequence[Request], prints: Sequence[_Footprint]) -> str:
    told = "; ".join(
        f"{request.title}: {_sectors(found)} in "
        f"{counted(len(found.lines), 'cache line')}, "
        f"{_percent(found.used_share)} of the bytes moved are used"
        for request, found in zip(requests, prints, strict=True)
    )
    return f"What one warp asks of memory. {told}."


@style.drawn
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
    width = (7.6 - 0.2 - 0.25 * len(names)) / len(names)
    cells = [
        min((width - 0.45) / each.shape[1], 2.6 / each.shape[0], 0.46) for each in maps.values()
    ]
    most = max(1, *(int(each.max()) for each in maps.values()))
    tall = max(cell * each.shape[0] for cell, each in zip(cells, maps.values(), strict=True))
    figure = style.card(
        1.75 + tall, f"How often each element is {verb}", "Global memory, one launch, all threads"
    )
    pen = Pen.on(figure)
    for place, (name, cell) in enumerate(zip(names, cells, strict=True)):
        corner = (0.35 + place * (width + 0.25), 1.05)
        _draw_counts(pen, corner, cell, name, maps[name], most)
        pen.write(
            corner[0],
            corner[1] + cell * maps[name].shape[0] + 0.14,
            _how_often(maps[name], verb),
            va="top",
            linespacing=1.3,
        )
    return Picture(figure, _count_words(maps, verb))


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


def _draw_counts(
    pen: Pen, corner: tuple[float, float], cell: float, name: str, counts: np.ndarray, most: int
) -> None:
    colour = style.MATRIX_COLOUR.get(name, style.PURPLE)
    left, top = corner
    rows, columns = counts.shape
    pen.write(left, top - 0.17, f"{name}  ({rows} × {columns})", bold=True, size=style.NORMAL)
    shades = np.array(
        [[style.tint(colour, 0.08 + 0.8 * count / most if count else 0) for count in row]
         for row in counts]
    )  # fmt: skip
    # One mesh rather than thousands of rectangles; a large picture is drawn in no time.
    pen.axes.pcolormesh(
        left + cell * np.arange(columns + 1),
        top + cell * np.arange(rows + 1),
        shades,
        edgecolors=style.PAPER if cell > 0.1 else "none",
        linewidth=0.7,
    )
    pen.rectangle(*corner, columns * cell, rows * cell, edge=style.FAINT, line=1)
    if cell >= 0.24:
        for (row, column), count in np.ndenumerate(counts):
            x, y = left + (column + 0.5) * cell, top + (row + 0.5) * cell
            ink = style.readable_on(tuple(shades[row, column]))
            pen.write(x, y, str(int(count)), ha="center", colour=ink)


def _how_often(counts: np.ndarray, verb: str) -> str:
    low, high, total = int(counts.min()), int(counts.max()), int(counts.sum())
    times = f"{verb} {low} to {high} times" if low < high else f"each {verb} {low} times"
    if low == high == 1:
        times = f"each {verb} once"
    return f"{times}\n{total:,} {verb} in all"


def _count_words(maps: Mapping[str, np.ndarray], verb: str) -> str:
    told = "; ".join(
        f"{name}, {each.shape[0]} by {each.shape[1]}: " + _how_often(each, verb).replace("\n", ", ")
        for name, each in maps.items()
    )
    return f"How often each element is {verb} in global memory. {told}."
