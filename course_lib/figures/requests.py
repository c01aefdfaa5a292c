"""Say what one request of a warp touches: lines and sectors of memory, bytes used and moved."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from course_lib.devices import CACHE_LINE_BYTES, SECTOR_BYTES, WARP_SIZE
from course_lib.figures import style
from course_lib.figures.pen import Pen
from course_lib.figures.picture import Picture

Ints = Sequence[int] | np.ndarray


@dataclass(frozen=True)
class Footprint:
    """What a request touches."""

    lanes: tuple[int, ...]
    addresses: tuple[int, ...]
    width: int
    lines: tuple[int, ...]  # numbers of 128-byte lines, in order
    sectors: tuple[int, ...]  # numbers of 32-byte sectors, in order

    @property
    def used_bytes(self) -> int:
        """Different bytes that the lanes want."""
        return len(set(self.addresses)) * self.width

    @property
    def moved_bytes(self) -> int:
        return len(self.sectors) * SECTOR_BYTES

    @property
    def fewest_sectors(self) -> int:
        """Into how many sectors the wanted bytes would fit."""
        return -(-self.used_bytes // SECTOR_BYTES)

    @property
    def percent(self) -> str:
        """Bytes used as a share of the bytes moved."""
        return f"{100 * self.used_bytes / max(1, self.moved_bytes):.3g} %"

    def lanes_in_line(self, line: int) -> list[int]:
        """The lanes whose element begins in a line."""
        pairs = zip(self.lanes, self.addresses, strict=True)
        return sorted(lane for lane, address in pairs if address // CACHE_LINE_BYTES == line)


def footprint_of(addresses: Ints, lanes: Ints, width: int) -> Footprint:
    """The lines and sectors that a warp's request touches.

    Args:
        addresses: the byte address that each active lane asks for.
        lanes: the active lanes.
        width: bytes per lane.
    """
    first = np.asarray(addresses, dtype=np.int64)
    ends = np.concatenate([first, first + width - 1])
    return Footprint(
        tuple(map(int, lanes)),
        tuple(first.tolist()),
        width,
        tuple(np.unique(ends // CACHE_LINE_BYTES).tolist()),
        tuple(np.unique(ends // SECTOR_BYTES).tolist()),
    )


# --- What one warp asked of memory in one instruction: made up, or taken from a traced launch -----


# By warp where its threads stand in an access, and their lanes.
Lanes = dict[int, tuple[np.ndarray, np.ndarray]]
NOBODY = np.empty(0, int), np.empty(0, int)


@dataclass(frozen=True)
class Request:
    """One memory instruction of one warp: the byte address that each active lane asks for."""

    title: str
    addresses: Sequence[int] | np.ndarray
    lanes: Sequence[int] | np.ndarray | None = None  # 0, 1, 2, ... unless given
    array: str = ""

    @property
    def active(self) -> Sequence[int] | np.ndarray:
        """The lanes that take part."""
        return range(len(self.addresses)) if self.lanes is None else self.lanes

    def footprint(self, itemsize: int = 4) -> Footprint:
        """What the request touches."""
        return footprint_of(self.addresses, self.active, itemsize)


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
        mine, lanes = lanes_by_warp(access.threads, profile.block, block).get(warp, NOBODY)
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


def lanes_by_warp(threads: np.ndarray, shape: Sequence[int], block: Sequence[int]) -> Lanes:
    """Warp of a block (x, y, z) -> where its threads stand in an access, and their lanes."""
    wanted = (*block, 0, 0)[:3][::-1]
    mine = np.flatnonzero((threads[:, :3] == wanted).all(axis=1))
    z, y, x = threads[mine, 3:].T
    size_x, size_y = (*shape, 1, 1)[:2]
    linear = x + size_x * (y + size_y * z)
    warps = linear // WARP_SIZE
    return {
        warp: (mine[warps == warp], linear[warps == warp] % WARP_SIZE)
        for warp in np.unique(warps).tolist()
    }


# --- Draw how often each element of global memory is accessed in a launch -------------------------


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
        _draw_counts(pen.at(*corner, cell), name, maps[name], most)
        below = corner[1] + cell * maps[name].shape[0] + 0.14
        pen.write(corner[0], below, _how_often(maps[name], verb), va="top", linespacing=1.3)
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


def _draw_counts(pen: Pen, name: str, counts: np.ndarray, most: int) -> None:
    colour = style.MATRIX_COLOUR.get(name, style.PURPLE)
    (rows, columns), cell = counts.shape, pen.wide
    title = f"{name}  ({rows} × {columns})"
    pen.write(0, -0.17 / cell, title, bold=True, size=style.NORMAL)
    shades = np.array(
        [[style.tint(colour, 0.08 + 0.8 * count / most if count else 0) for count in row]
         for row in counts]
    )  # fmt: skip
    # One mesh rather than thousands of rectangles; a large picture is drawn in no time.
    pen.axes.pcolormesh(
        pen.x + cell * np.arange(columns + 1), pen.y + cell * np.arange(rows + 1), shades,
        edgecolors=style.PAPER if cell > 0.1 else "none", linewidth=0.7,
    )  # fmt: skip
    pen.rectangle(0, 0, columns, rows, edge=style.FAINT, line=1)
    if cell >= 0.24:
        for (row, column), count in np.ndenumerate(counts):
            ink = style.readable_on(tuple(shades[row, column]))
            pen.centred(row, column, str(int(count)), colour=ink)


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
