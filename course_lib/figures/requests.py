"""The requests of a warp: addresses, made up or traced, with their sectors and their wavefronts."""

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

# No matplotlib here: a browser asks for this, and has none.
from course_lib.devices import (
    BANK_WIDTH_BYTES,
    CACHE_LINE_BYTES,
    SECTOR_BYTES,
    SHARED_MEMORY_BANKS,
    WARP_SIZE,
)
from course_lib.emulator.profile.request_costs import paired

Ints = Sequence[int] | np.ndarray


@dataclass(frozen=True)
class Footprint:
    """The memory that a request touches."""

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


def footprint_of(addresses: Ints, lanes: Ints, width: int) -> Footprint:
    """The lines and sectors that a warp's active lanes touch, with `width` bytes each."""
    first = np.asarray(addresses, dtype=np.int64)
    ends = np.concatenate([first, first + width - 1])
    return Footprint(
        tuple(map(int, lanes)),
        tuple(first.tolist()),
        width,
        tuple(np.unique(ends // CACHE_LINE_BYTES).tolist()),
        tuple(np.unique(ends // SECTOR_BYTES).tolist()),
    )


# --- One instruction of one warp: made up, or taken from a traced launch --------------------------

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
    if trace is None or (not trace and touches_memory(profile)):
        raise ValueError(
            "This profile has no trace: launch with course_lib.emulate(kernel, trace=True)."
        )
    result: Sequence[Any] = trace
    return result


def touches_memory(profile: Any) -> bool:
    kinds = ("global_load", "global_store", "shared_load", "shared_store")
    counters = ("atomics", *(f"{kind}_requests" for kind in kinds))
    return any(getattr(profile, counter, 1) for counter in counters)


def source_line(profile: Any, line: int) -> str:
    """The text of a line; "" if it is in another cell than the kernel."""
    lines = textwrap.dedent(profile.source).split("\n")
    place = line - profile.first_line
    return lines[place].strip() if 0 <= place < len(lines) else ""


def lanes_by_warp(threads: np.ndarray, shape: Sequence[int], block: Sequence[int]) -> Lanes:
    """Warp of a block (x, y, z) -> the places of its threads in an access, and their lanes."""
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


# --- The banks of shared memory: which lane is served in which wavefront --------------------------


@dataclass(frozen=True)
class Served:
    """An element that a bank (or several) hands out in one wavefront, to all who asked."""

    lanes: tuple[int, ...]
    bank: int  # the first one
    banks: int  # how many: 2 for 8 bytes, 4 for 16
    word: int  # the first one of shared memory
    turn: int  # 0 for the first wavefront of its phase, 1 for the next, …


@dataclass(frozen=True)
class Phase:
    """The lanes that are served together."""

    first_lane: int
    last_lane: int
    served: tuple[Served, ...]

    @property
    def passes(self) -> int:
        """Wavefronts: the largest number of different words asked of one bank."""
        return 1 + max(served.turn for served in self.served)

    def words(self) -> dict[int, list[int]]:
        """For each bank the different words that are asked of it."""
        found: dict[int, list[int]] = {}
        for served in self.served:
            for word in range(served.word, served.word + served.banks):
                found.setdefault(word % SHARED_MEMORY_BANKS, []).append(word)
        return found


def phases_of(addresses: Ints, lanes: Ints, width: int) -> tuple[Phase, ...]:
    """How one warp's request is served; phases in which no lane is active are left out.

    The rules are those by which the emulator counts (see emulator/profile/counters.py): one word
    of each bank in a wavefront, half a warp at a time for 8 bytes a lane and a quarter for 16, or
    twice as many lanes where they share addresses in pairs.

    Args:
        addresses: the byte address that each active lane asks for.
        lanes: the active lanes.
        width: bytes per lane.
    """
    at = dict(zip(map(int, lanes), map(int, addresses), strict=True))
    size = WARP_SIZE // phase_count(addresses, lanes, width)
    starts = range(0, WARP_SIZE, size)
    found = [(first, {lane: at[lane] for lane in at if first <= lane < first + size})
             for first in starts]  # fmt: skip
    return tuple(
        Phase(first, first + size - 1, _serve(mine, width)) for first, mine in found if mine
    )


def phase_count(addresses: Ints, lanes: Ints, width: int) -> int:
    """In how many phases a warp is served: 1, or 2 and 4 for wide lanes, or half as many."""
    words = max(1, width // BANK_WIDTH_BYTES)
    if words == 1:
        return 1
    row, active = np.zeros((1, WARP_SIZE), np.int64), np.zeros((1, WARP_SIZE), bool)
    row[0, list(lanes)], active[0, list(lanes)] = list(addresses), True
    return words // 2 if paired(row, active)[0] else words


def _serve(at: dict[int, int], width: int) -> tuple[Served, ...]:
    """Each different element once; those in the same bank take turns."""
    banks = max(1, width // BANK_WIDTH_BYTES)
    asking: dict[int, list[int]] = {}
    for lane in sorted(at):
        asking.setdefault(at[lane] // BANK_WIDTH_BYTES, []).append(lane)
    turns: dict[int, int] = {}
    served = []
    for word, lanes in asking.items():
        bank = word % SHARED_MEMORY_BANKS
        served.append(Served(tuple(lanes), bank, banks, word, turns.get(bank, 0)))
        turns[bank] = turns.get(bank, 0) + 1
    return tuple(served)
