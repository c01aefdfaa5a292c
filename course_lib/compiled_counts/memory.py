"""Loads, stores and atomics: addresses from registers, values from bytes, and what they cost."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from course_lib.compiled_counts.operands import (
    WARP,
    ZERO,
    Address,
    LaneRegisters,
    NotFollowed,
    Operand,
    Predicate,
    Register,
)
from course_lib.compiled_counts.tally import Tally
from course_lib.compiled_counts.whole_numbers import Modifiers

SHARED_MASK = np.int64(0xFFFFFF)  # above it, the number of the block in a cluster
_SPACES = {"LDG": "global", "STG": "global", "LDS": "shared", "STS": "shared",
           "LDL": "local", "STL": "local", "ATOMS": "shared", "ATOMG": "global",
           "RED": "global", "REDG": "global", "REDS": "shared",
           "LD": "generic", "ST": "generic", "ATOM": "generic"}  # fmt: skip


@dataclass(eq=False)
class Storage:
    """The bytes of one kind of memory.

    Attributes:
        name: "global", "shared" or "local".
        content: all bytes; of shared memory block after block, of local memory lane after lane.
        start: for each lane what is to be added to an address to come to its place in `content`.
        first, size: the addresses that a lane may use: `size` bytes from `first` on.
    """

    name: str
    content: np.ndarray
    start: np.ndarray
    first: int
    size: int

    def places(self, addresses: np.ndarray, active: np.ndarray, width: int) -> np.ndarray:
        """Where in `content` the active lanes' bytes lie; 0 for the others.

        Raises:
            NotFollowed: for an address outside, or one that is not a multiple of its width.
        """
        inside = (addresses >= self.first) & (addresses <= self.first + self.size - width)
        if not (inside | ~active).all():
            raise NotFollowed(f"an access outside of the {self.name} memory of the launch")
        if not ((addresses % width == 0) | ~active).all():
            raise NotFollowed(f"an access to {self.name} memory that is not aligned")
        return np.where(active, addresses + self.start, 0)


def address_of(lanes: LaneRegisters, where: Address, wide: bool) -> np.ndarray:
    """The addresses of all lanes: int64. `wide`: registers hold 64 bits."""
    total = np.full(lanes.count, where.offset, np.int64)
    if where.register is not None and where.register.number != ZERO:
        if wide and where.scale == 1:
            total = total + lanes.pair(where.register).view(np.int64)
        else:
            total = total + lanes.integer(where.register).astype(np.int64) * where.scale
    if where.uniform is not None and where.uniform.number != ZERO:
        alone = where.register is None
        if wide and (alone or where.wide):
            total = total + lanes.pair(where.uniform).view(np.int64)
        else:
            total = total + lanes.signed(where.uniform)
    return total if wide else total & np.int64(0xFFFFFFFF)


def width_of(how: Modifiers) -> int:
    """Bytes of an access for each lane."""
    for name, width in (("128", 16), ("64", 8), ("U16", 2), ("S16", 2), ("U8", 1), ("S8", 1)):
        if name in how:
            return width
    return 2 if "16" in how else 1 if "8" in how else 4


class Memories:
    """The three kinds of memory, and the count of what is done to them."""

    def __init__(self, storages: Sequence[Storage], tally: Tally) -> None:
        self._storages = {storage.name: storage for storage in storages}
        self._tally = tally
        self.does: dict[
            str, Callable[[LaneRegisters, str, Modifiers, Sequence[Operand], int], None]
        ] = {
            **dict.fromkeys(("LDG", "LDS", "LDL", "LD"), self.load),
            **dict.fromkeys(("STG", "STS", "STL", "ST"), self.store),
            **dict.fromkeys(("ATOMS", "ATOMG", "ATOM", "RED", "REDG", "REDS"), self.atomic),
            "LDSM": self.load_matrices,
            "LDGSTS": self.copy,
        }

    def _find(
        self, lanes: LaneRegisters, name: str, how: Modifiers, where: Operand, width: int
    ) -> tuple[Storage, np.ndarray]:
        """The memory that an instruction accesses, and the addresses."""
        if not isinstance(where, Address):
            raise NotFollowed(f"{name} without an address")
        space = _SPACES.get(name, "shared")
        wide = space in ("global", "generic") and ("E" in how or where.wide)
        addresses = address_of(lanes, where, wide)
        if space == "generic":
            space = "global"  # Numba's arrays are
        if space == "shared":
            addresses = addresses & SHARED_MASK
        return self._storages[space], addresses

    # -- loads --------------------------------------------------------------------------------

    def load(
        self, lanes: LaneRegisters, name: str, how: Modifiers, given: Sequence[Operand], line: int
    ) -> None:
        """LDG, LDS, LDL of 1 to 16 bytes a lane."""
        result, where = [operand for operand in given if isinstance(operand, Register | Address)][
            :2
        ]
        width = width_of(how)
        storage, addresses = self._find(lanes, name, how, where, width)
        places = storage.places(addresses, lanes.active, width)
        self._tally.count("load", storage.name, addresses, lanes.active, width, line)
        if width < 4:
            kind = np.dtype(f"{'i' if how & {'S8', 'S16'} else 'u'}{width}")
            lanes.put(result, storage.content.view(kind)[places // width].astype(np.int64))
            return
        words = storage.content.view(np.uint32)
        for at in range(width // 4):
            lanes.put(result, words[places // 4 + at], at)

    def load_matrices(
        self, lanes: LaneRegisters, name: str, how: Modifiers, given: Sequence[Operand], line: int
    ) -> None:
        """LDSM: one, two or four 8 x 8 matrices of 16-bit elements for a whole warp."""
        result, where = given
        storage, addresses = self._find(lanes, name, how, where, 16)
        count = 4 if "4" in how else 2 if "2" in how else 1
        rows = addresses.reshape(-1, WARP)[:, : 8 * count]
        starts = storage.start.reshape(-1, WARP)[:, :1] if storage.start.ndim else 0
        warps = np.asarray(lanes.active.reshape(-1, WARP).any(axis=1))
        self._tally.count_matrices(rows, warps, line)
        lane = np.arange(WARP)
        halves = storage.content.view(np.uint16)
        for at in range(count):
            if how & {"T", "MT88"}:
                first = rows[:, 8 * at + 2 * (lane % 4)] + starts + 2 * (lane // 4)
                second = rows[:, 8 * at + 2 * (lane % 4) + 1] + starts + 2 * (lane // 4)
            else:
                first = rows[:, 8 * at + lane // 4] + starts + 4 * (lane % 4)
                second = first + 2
            active = lanes.active.reshape(-1, WARP)
            low = halves[np.where(active, first, 0) // 2].astype(np.uint32)
            high = halves[np.where(active, second, 0) // 2].astype(np.uint32)
            lanes.put(result, (low | (high << np.uint32(16))).reshape(-1), at)

    # -- stores -------------------------------------------------------------------------------

    def store(
        self, lanes: LaneRegisters, name: str, how: Modifiers, given: Sequence[Operand], line: int
    ) -> None:
        """STG, STS, STL of 1 to 16 bytes a lane; of several to one place, the last lane wins."""
        where, source = given[:2]
        width = width_of(how)
        storage, addresses = self._find(lanes, name, how, where, width)
        active = lanes.active
        places = storage.places(addresses, active, width)[active]
        self._tally.count("store", storage.name, addresses, active, width, line)
        kind = np.dtype(f"u{min(width, 4)}")
        content = storage.content.view(kind)
        for at in range(max(width // 4, 1)):
            value = np.broadcast_to(lanes.word(source, at), (lanes.count,))[active]
            content[places // kind.itemsize + at] = value.astype(kind)

    def copy(
        self, lanes: LaneRegisters, name: str, how: Modifiers, given: Sequence[Operand], line: int
    ) -> None:
        """LDGSTS: from global to shared memory past the registers; it arrives at once here.

        Lanes for which a last predicate does not hold ask for nothing and write zeros.
        """
        to, source = [operand for operand in given if isinstance(operand, Address)]
        asks = lanes.active
        for operand in given:
            if isinstance(operand, Predicate):
                asks = asks & lanes.predicate(operand)
        width = width_of(how)
        active = lanes.active
        shared, near = self._find(lanes, "STS", how - {"E"}, to, width)
        far, addresses = self._find(lanes, "LDG", how, source, width)
        self._tally.count("copy", "global", addresses, asks, width, line)
        targets = shared.places(near, active, width)[active] // 4
        sources = far.places(addresses, asks, width)[active] // 4
        for at in range(max(width // 4, 1)):
            words = far.content.view(np.uint32)[sources + at]
            shared.content.view(np.uint32)[targets + at] = np.where(asks[active], words, 0)

    # -- atomics ------------------------------------------------------------------------------

    def atomic(
        self, lanes: LaneRegisters, name: str, how: Modifiers, given: Sequence[Operand], line: int
    ) -> None:
        """ATOMS, ATOMG, RED: one lane after the other."""
        at = next(place for place, operand in enumerate(given) if isinstance(operand, Address))
        result = next((operand for operand in given[:at] if isinstance(operand, Register)), None)
        wide = bool(how & {"64", "F64"})
        storage, addresses = self._find(lanes, name, how - {"64"}, given[at], 8 if wide else 4)
        active = lanes.active
        places = storage.places(addresses, active, 8 if wide else 4)
        self._tally.count("atomic", storage.name, addresses, active, 8 if wide else 4, line)
        kind = _kind(how, wide)
        operands = [
            np.broadcast_to(_value(lanes, operand, wide), (lanes.count,)).view(kind)[active]
            for operand in given[at + 1 :]
            if isinstance(operand, Register)
        ]
        cells = storage.content.view(kind)
        targets = places[active] // kind.itemsize
        unused = result is None or result.number == ZERO
        swaps = bool(how & {"CAS", "CAST"})
        old = _update(cells, targets, how, operands, unused and not swaps)
        if swaps and isinstance(given[0], Predicate):
            swapped = np.zeros(lanes.count, bool)
            swapped[active] = old == operands[0]
            lanes.set_predicate(given[0], swapped)
        if "CAST" in how:  # tells whether it swapped, not what it found
            old = (old == operands[0]).astype(kind)
        if result is not None and not unused:
            full = np.zeros(lanes.count, kind)
            full[active] = old
            if wide:
                lanes.put_pair(result, full)
            else:
                lanes.put(result, full.view(np.uint32))


def _kind(how: Modifiers, wide: bool) -> np.dtype:
    if how & {"F32", "F64"}:
        return np.dtype("f8" if wide else "f4")
    signed = bool(how & {"S32", "S64"})
    return np.dtype(f"{'i' if signed else 'u'}{8 if wide else 4}")


def _value(lanes: LaneRegisters, operand: Operand, wide: bool) -> np.ndarray:
    return np.ascontiguousarray(lanes.pair(operand) if wide else lanes.integer(operand))


_COMBINE: dict[str, Callable[..., np.ndarray]] = {
    "ADD": np.add, "MIN": np.minimum, "MAX": np.maximum, "AND": np.bitwise_and,
    "OR": np.bitwise_or, "XOR": np.bitwise_xor,
}  # fmt: skip


def _update(
    cells: np.ndarray,
    targets: np.ndarray,
    how: Modifiers,
    operands: Sequence[np.ndarray],
    unused: bool,
) -> np.ndarray:
    """Carry out an atomic for each lane; the values that the lanes found."""
    if "POPC" in how:  # one more for each lane
        operands, how = [np.ones(len(targets), cells.dtype)], frozenset({"ADD"})
    name = next((modifier for modifier in _COMBINE if modifier in how), "")
    if name and unused:
        _COMBINE[name].at(cells, targets, operands[0])  # type: ignore[attr-defined]
        return operands[0]
    old = np.empty(len(targets), cells.dtype)
    for lane, target in enumerate(targets):
        old[lane] = found = cells[target]
        cells[target] = _after(name, how, found, [operand[lane] for operand in operands])
    return old


def _after(name: str, how: Modifiers, found: np.generic, operands: Sequence[np.generic]) -> object:
    if name:
        return _COMBINE[name](found, operands[0])
    if how & {"CAS", "CAST"}:
        return operands[1] if found == operands[0] else found
    if "EXCH" in how:
        return operands[0]
    if "INC" in how:
        return 0 if found >= operands[0] else found + 1  # type: ignore[operator]
    raise NotFollowed(f"the atomic {'.'.join(sorted(how))}")
