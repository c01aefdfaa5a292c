"""Counts what the machine code does, line by line, by the rules that the emulator's meter has."""

from __future__ import annotations

import numpy as np

from course_lib.compiled_counts.operands import WARP
from course_lib.emulator import LineCounters
from course_lib.emulator.profile.request_costs import (
    GlobalCost,
    SharedCost,
    global_cost,
    shared_cost,
)

_BANK_CYCLE = np.int64(128)  # moving a warp's addresses by this changes no count


class Tally:
    """The counters of each line; `executed` counts warp instructions."""

    def __init__(self) -> None:
        self.lines: dict[int, LineCounters] = {}
        # Counting lanes takes its time, and a mask serves many instructions.
        self._active: np.ndarray | None = None
        self._lanes = self._warps = 0

    def line(self, number: int) -> LineCounters:
        """The counters of a line."""
        return self.lines.setdefault(number, LineCounters())

    def instruction(self, line: int, lanes: np.ndarray, acting: np.ndarray, flops: int) -> None:
        """One instruction, by the lanes that come to it; those in `acting` do so many FLOP each."""
        if lanes is not self._active:
            self._active, self._lanes = lanes, int(np.count_nonzero(lanes))
            self._warps = int(np.count_nonzero(lanes.reshape(-1, WARP).any(axis=1)))
        counters = self.line(line)
        counters.executed += self._warps
        counters.active_lanes += self._lanes
        if flops:
            counters.flops += int(np.count_nonzero(acting)) * flops

    def count(
        self,
        kind: str,
        space: str,
        addresses: np.ndarray,
        active: np.ndarray,
        width: int,
        line: int,
    ) -> None:
        """One access of the active lanes, `width` bytes each."""
        rows, taking_part = addresses.reshape(-1, WARP), active.reshape(-1, WARP)
        some = taking_part.any(axis=1)
        if not some.any():
            return
        counters = self.line(line)
        size = int(np.count_nonzero(active)) * width
        if kind == "atomic":
            counters.atomics += int(np.count_nonzero(some))
        elif space == "local":
            name = f"local_{kind}_requests"
            setattr(counters, name, getattr(counters, name) + int(np.count_nonzero(some)))
        elif space == "shared":
            found = self._cost(space, rows[some], taking_part[some], width)
            assert isinstance(found, SharedCost)
            _add_shared(counters, kind, found, size)
        else:
            cost = self._cost(space, rows[some], taking_part[some], width)
            assert isinstance(cost, GlobalCost)
            _add_global(counters, "load" if kind == "copy" else kind, cost, size)

    def count_matrices(self, rows: np.ndarray, warps: np.ndarray, line: int) -> None:
        """One LDSM: 8, 16 or 32 rows of 16 bytes for each of the warps; 8 are served at a time.

        Nsight Compute counts its passes with those of loads, but not the instruction (measured on
        an H200).
        """
        eights = rows[warps].reshape(-1, 8)
        cost = shared_cost(_padded(eights), _padded(np.ones(eights.shape, bool)), 16)
        found = SharedCost(0, cost.wavefronts, cost.wavefronts - len(eights))
        _add_shared(self.line(line), "load", found, eights.size * 16)

    def _cost(
        self, space: str, rows: np.ndarray, active: np.ndarray, width: int
    ) -> SharedCost | GlobalCost:
        """The cost of an access; where all warps do alike, one is looked at."""
        first = rows[np.arange(len(rows)), active.argmax(axis=1)]
        moved = np.where(active, rows - (first & -_BANK_CYCLE)[:, None], 0)
        times = 1
        if (moved == moved[0]).all() and (active == active[0]).all():
            times, moved, active = len(rows), moved[:1], active[:1]
        if space == "shared":
            # Lower than the first lane's row of banks there may be others: keep them above zero.
            shared = shared_cost(moved + (1 << 24), active, width)
            return SharedCost(
                shared.requests * times, shared.wavefronts * times, shared.bank_conflicts * times
            )
        cost = global_cost(moved + (np.int64(1) << 40), active, width)
        return GlobalCost(cost.requests * times, cost.sectors * times)


def _padded(eights: np.ndarray) -> np.ndarray:
    """Groups of eight lanes as warps of which only they take part."""
    return np.pad(eights, ((0, 0), (0, WARP - 8)))


def _add_shared(counters: LineCounters, kind: str, cost: SharedCost, size: int) -> None:
    for name, amount in (
        ("requests", cost.requests),
        ("wavefronts", cost.wavefronts),
        ("bank_conflicts", cost.bank_conflicts),
        ("bytes", size),
    ):
        full = f"shared_{kind}_{name}"
        setattr(counters, full, getattr(counters, full) + amount)


def _add_global(counters: LineCounters, kind: str, cost: GlobalCost, size: int) -> None:
    for name, amount in (("requests", cost.requests), ("sectors", cost.sectors), ("bytes", size)):
        full = f"global_{kind}_{name}"
        setattr(counters, full, getattr(counters, full) + amount)
