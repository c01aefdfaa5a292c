"""Lay out how the banks of shared memory serve one request: which lane in which wavefront."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from course_lib.devices import BANK_WIDTH_BYTES, SHARED_MEMORY_BANKS, WARP_SIZE
from course_lib.emulator.profile.cost import paired

Ints = Sequence[int] | np.ndarray


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
        """Wavefronts: the most different words that any bank is asked for."""
        return 1 + max(each.turn for each in self.served)

    def words(self) -> dict[int, list[int]]:
        """By bank the different words that it is asked for."""
        found: dict[int, list[int]] = {}
        for each in self.served:
            for word in range(each.word, each.word + each.banks):
                found.setdefault(word % SHARED_MEMORY_BANKS, []).append(word)
        return found


def phases_of(addresses: Ints, lanes: Ints, width: int) -> tuple[Phase, ...]:
    """How one warp's request is served; phases in which no lane is active are left out.

    The rules are those by which the emulator counts (`course_lib.emulator.profile.cost`): one word
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
    """Each different element once; those that want the same bank take turns."""
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
