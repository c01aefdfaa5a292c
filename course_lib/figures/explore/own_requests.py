"""Sort a traced launch's requests by line, warp and visit (each time a warp comes by)."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, Literal

import numpy as np

from course_lib.figures.requests import Lanes, lanes_by_warp
from course_lib.words import element, joined

MOST_PLACES = 8
MOST_WARPS = 8
MOST_VISITS = 16
MOST_STATES = 256


@dataclass(frozen=True, eq=False)
class Asked:
    """One request of one warp: what its active lanes ask for."""

    lanes: np.ndarray
    addresses: np.ndarray
    indices: np.ndarray  # of the elements, shape (lanes, axes)

    def cells(self, array: str) -> str:
        """The first different elements: "A[0, 0], A[1, 0], A[2, 0] and so on"."""
        different = list(dict.fromkeys(map(tuple, self.indices.tolist())))
        named = [element(array, each) for each in different[:3]]
        if len(different) == 1 < len(self.indices):
            return f"one element, {named[0]}"
        return ", ".join(named) + (" and so on" if len(different) > len(named) else "")


@dataclass(frozen=True, eq=False)
class AccessLine:
    """A line of the kernel that loads from, or stores to, one array; with all its requests."""

    line: int
    kind: str
    array: str
    space: str
    itemsize: int
    source: str
    warps: tuple[tuple[Asked | None, ...], ...]  # warp -> visits

    @property
    def name(self) -> str:
        """ "line 12, load of sA"."""
        return f"line {self.line}, {self.kind} of {self.array}"

    def asked(self, warp: int, visit: int) -> Asked | None:
        """The request, or None where this warp has no such one."""
        requests = self.warps[warp] if warp < len(self.warps) else ()
        return requests[visit] if visit < len(requests) else None


@dataclass(frozen=True, eq=False)
class OwnRequests:
    """What a figure can step through, and in words what it leaves out."""

    places: tuple[AccessLine, ...]
    warps: int
    visits: int
    left_out: str

    def positions(self) -> Iterator[tuple[int, int, int]]:
        """Every place, warp and visit."""
        return product(range(len(self.places)), range(self.warps), range(self.visits))


def own_requests(
    profile: Any, space: Literal["global", "shared"], block: Sequence[int] = (0, 0)
) -> OwnRequests:
    """The loads and stores of one block, as many as a figure can hold.

    Args:
        profile: a launch with `emulate(kernel, trace=True)`.
        block: which block, as (x, y).
    """
    found = _by_place(profile, space, block)
    places = [_place(profile, space, key, requests) for key, requests in found.items()]
    places.sort(key=lambda each: (each.line, each.kind, each.array))
    kept = tuple(places[:MOST_PLACES])
    most_warps = max((len(each.warps) for each in kept), default=0)
    most = max((len(requests) for each in kept for requests in each.warps), default=0)
    warps = min(most_warps, MOST_WARPS)
    room = MOST_STATES // max(1, len(kept) * warps)
    visits = min(most, MOST_VISITS, room)
    shown = (
        (len(kept), len(places), "lines"),
        (warps, most_warps, "warps"),
        (visits, most, "visits of a warp"),
    )
    left_out = [f"the first {few} of {many} {what}" for few, many, what in shown if few < many]
    return OwnRequests(kept, warps, visits, joined(left_out))


def costliest(
    places: Sequence[AccessLine], cost: Callable[[np.ndarray, np.ndarray, int], int]
) -> tuple[AccessLine, Asked]:
    """Of the first request of each warp at each place, the one that costs most.

    Args:
        places: where to look; some warp asks for something at one of them.
        cost: of the addresses, the lanes and the bytes of a lane.
    """
    found = [
        (place, asked)
        for place in places
        for warp in place.warps
        for asked in warp[:1]
        if asked is not None
    ]
    return max(found, key=lambda each: cost(each[1].addresses, each[1].lanes, each[0].itemsize))


def why_nothing(profile: Any, space: str, block: Sequence[int] = (0, 0)) -> str:
    """A sentence if this is no launch to step through; nothing if it is."""
    launch = "course_lib.emulate(kernel, trace=True)[grid, block](...)"
    if not hasattr(profile, "kernel_name"):
        return (
            "This is no launch: one draws the accesses of a run, not of a kernel. Launch it with "
            f"profile = {launch} and give the profile."
        )
    name = profile.kernel_name
    if not profile.trace and (not profile.counted or (profile.executed and _touched(profile))):
        return f"This launch of {name} was not traced. Launch it with {launch}."
    accesses = [each for each in profile.trace if each.space == space]
    if not accesses:
        if not profile.trace:
            return f"{name} touches no memory yet. Write it, run this cell again, and look."
        return f"{name} neither loads from nor stores to {space} memory: nothing to draw."
    if not _by_place(profile, space, block):
        x, y, z = profile.grid
        return (
            f"Block {tuple(block)} of {name} loads and stores nothing in {space} memory. "
            f"The grid has {x} × {y} × {z} blocks, numbered from 0."
        )
    return ""


def _touched(profile: Any) -> bool:
    counters = ("global_load_requests", "global_store_requests", "shared_load_requests", "atomics")
    return any(getattr(profile, each) for each in (*counters, "shared_store_requests"))


_Key = tuple[int, str, str, int]
_ByWarp = dict[int, list[Asked | None]]


def _by_place(profile: Any, space: str, block: Sequence[int]) -> dict[_Key, _ByWarp]:
    """(line, kind, array, elements a lane) -> warp -> its requests in order.

    None stands for those that nobody will see.
    """
    found: dict[_Key, _ByWarp] = {}
    whose: dict[bytes, Lanes] = {}  # a launch traces the same threads again and again
    for access in profile.trace:
        if access.space != space or access.kind == "atomic":
            continue
        kind = "load" if access.kind == "load" else "store"
        key = access.threads.tobytes()
        if key not in whose:
            whose[key] = lanes_by_warp(access.threads, profile.block, block)
        by_warp = found.setdefault((access.line, kind, access.array, access.elements), {})
        for warp, (chosen, lanes) in whose[key].items():
            visits = by_warp.setdefault(warp, [])
            seen = len(visits) < MOST_VISITS
            visits.append(
                Asked(lanes, access.addresses[chosen], access.indices[chosen]) if seen else None
            )
    return {key: by_warp for key, by_warp in found.items() if by_warp}


def _place(profile: Any, space: str, key: _Key, requests: _ByWarp) -> AccessLine:
    line, kind, array, elements = key
    warps = tuple(tuple(requests.get(warp, ())) for warp in range(max(requests) + 1))
    size = elements * _itemsize(profile, array)  # a wide access is one of a wide element
    return AccessLine(line, kind, array, space, size, _source(profile, line), warps)


def _itemsize(profile: Any, array: str) -> int:
    if array in profile.arrays:
        return int(profile.arrays[array].dtype.itemsize)
    sizes = [each.dtype.itemsize for each in profile.shared_arrays if each.name == array]
    return int(sizes[0]) if sizes else 4


def _source(profile: Any, line: int) -> str:
    """The text of a line, or nothing where it stands in another cell than the kernel."""
    lines = textwrap.dedent(profile.source).split("\n")
    place = line - profile.first_line
    return lines[place].strip() if 0 <= place < len(lines) else ""
