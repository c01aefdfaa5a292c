"""Estimates what the caches keep from DRAM: requested, through L1, from L2, from DRAM. A MODEL.

Counts of the emulator are exact; what a cache holds is not, since nobody publishes how a GPU's
caches choose what to throw out. The model assumes:

1. Blocks run in waves. As many as fit (SMs × blocks per SM) start together, in the order of
   their numbers, dealt out to the SMs in turn; the next wave starts when all have ended.
2. The blocks of a wave run in lockstep: all do their first memory instruction, then all their
   second. Real blocks drift apart, which costs reuse; so the model is optimistic there.
3. Each cache is fully associative and throws out what was used longest ago (LRU).
4. A line has 128 bytes; only those of its four 32-byte sectors that were asked for are fetched.
5. Every SM has an L1: the array that it shares with shared memory, less what shared memory uses.
   Stores and atomics go past it. One L2 serves all SMs, at its full size.
6. A store leaves the sector in L2 without reading it; DRAM is written when the line is thrown
   out, or at the end. At the start the caches are empty.
7. Local memory, constants, instructions and other work on the GPU take no room.

Two ways to use it. `traffic` takes the stream of lines that the emulator recorded
(`emulate(kernel, stream=True)`), so it knows nothing about matrices, but needs a launch that is
small enough to emulate. `matmul_traffic` moves whole tiles of A and B through the same LRU, so
that it answers for N = 4096; it knows only kernels that walk along K tile by tile.
"""

from collections import OrderedDict
from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np

from course_lib.emulator.profile.counters import KINDS, LINE_BYTES, LineStream
from course_lib.emulator.profile.profile import Profile
from course_lib.emulator.profile.request_costs import SECTOR_BYTES

FLOAT32_BYTES = 4


@dataclass(frozen=True)
class CacheSizes:
    """What the model has to know of a GPU."""

    l1_bytes: int  # the L1 of one SM, without what shared memory takes of it
    l2_bytes: int  # the L2 of the whole GPU
    sms: int  # how many SMs there are
    resident_blocks: int = 1  # how many blocks run on one SM at the same time
    name: str = ""  # the GPU, if it has one

    def __post_init__(self) -> None:
        if min(self.sms, self.resident_blocks) < 1 or min(self.l1_bytes, self.l2_bytes) < 0:
            raise ValueError(f"No GPU has these sizes: {self}")

    @property
    def wave(self) -> int:
        """How many blocks run at the same time."""
        return self.sms * self.resident_blocks


@dataclass(frozen=True)
class CacheTraffic:
    """Bytes at each level of memory during one launch; loads unless a name says store.

    The first two are counts, the others what the model estimates.
    """

    requested_bytes: int  # what the threads' loads ask for
    l1_bytes: int  # sectors asked of L1 once each warp's addresses are merged, × 32
    l2_bytes: int  # sectors that L1 did not hold, × 32
    dram_bytes: int  # sectors that L2 did not hold either, × 32
    dram_store_bytes: int  # sectors written to DRAM, × 32
    sizes: CacheSizes  # the caches
    method: Literal["stream", "tiles"]  # "stream" or "tiles"; see the module

    def __str__(self) -> str:
        amounts = (
            (self.requested_bytes, "requested"),
            (self.l1_bytes, "through L1"),
            (self.l2_bytes, "from L2"),
            (self.dram_bytes, "from DRAM"),
        )
        told = ", ".join(f"{amount / 1e6:,.3f} MB {level}" for amount, level in amounts)
        return f"{self.sizes.name or 'a GPU'}, the last two by a model: {told}"


class _Lru:
    """A cache of lines: each has sector bits; the one used longest ago goes first."""

    def __init__(self, size: int) -> None:
        self._capacity = size // LINE_BYTES
        self._held: OrderedDict[int, int] = OrderedDict()
        self._dirty: dict[int, int] = {}
        self._written_back = 0

    def load(self, line: int, sectors: int) -> int:
        """Ask for sectors of a line; returns those that were not held."""
        held = self._held.pop(line, 0)
        self._keep(line, held | sectors)
        return sectors & ~held

    def store(self, line: int, sectors: int) -> None:
        """Leave sectors here that differ from what DRAM has."""
        self._dirty[line] = self._dirty.get(line, 0) | sectors
        self._keep(line, self._held.pop(line, 0) | sectors)

    def _keep(self, line: int, sectors: int) -> None:
        self._held[line] = sectors
        if len(self._held) > self._capacity:
            oldest, _ = self._held.popitem(last=False)
            self._written_back += self._dirty.pop(oldest, 0).bit_count()

    @property
    def sectors_written(self) -> int:
        """Sectors that went to DRAM, with those that are still to go."""
        return self._written_back + sum(mask.bit_count() for mask in self._dirty.values())


def traffic(profile: Profile, sizes: CacheSizes) -> CacheTraffic:
    """What the caches leave over of a launch that was emulated with `stream=True`.

    Raises ValueError if the profile has no stream.
    """
    if profile.stream is None or not profile.counted:
        raise ValueError("This profile has no stream: launch with emulate(kernel, stream=True).")
    load, store, atomic = (KINDS.index(kind) for kind in ("load", "store", "atomic"))
    l1s = [_Lru(sizes.l1_bytes) for _ in range(sizes.sms)]
    l2 = _Lru(sizes.l2_bytes)
    from_l2 = from_dram = 0
    for sm, line, sectors, kind in _in_time_order(profile.stream, sizes):
        if kind == load:
            sectors = l1s[sm].load(line, sectors)
        if kind != store and sectors:
            from_l2 += sectors.bit_count()
            from_dram += l2.load(line, sectors).bit_count()
        if kind in (store, atomic):
            l2.store(line, sectors)
    return CacheTraffic(
        profile.global_load_bytes,
        profile.global_load_sectors * SECTOR_BYTES,
        from_l2 * SECTOR_BYTES,
        from_dram * SECTOR_BYTES,
        l2.sectors_written * SECTOR_BYTES,
        sizes,
        "stream",
    )


def _in_time_order(stream: LineStream, sizes: CacheSizes) -> Iterator[tuple[int, int, int, int]]:
    """SM, line, sectors and kind of every entry, wave by wave and step by step."""
    place = stream.blocks % sizes.wave
    sm = place % sizes.sms
    order = np.lexsort((place, stream.steps, stream.blocks // sizes.wave))
    columns = (sm, stream.lines, stream.sectors, stream.kinds)
    return zip(*(column[order].tolist() for column in columns), strict=True)


def matmul_traffic(
    shape: tuple[int, int, int],
    tile: tuple[int, int],
    sizes: CacheSizes,
    *,
    requested_bytes: float | None = None,
    l1_bytes: float | None = None,
) -> CacheTraffic:
    """What the caches leave over of a matmul whose blocks own tiles of C and walk along K.

    It moves tiles, not lines, so it does for 4096³ in a second what a stream cannot. A kernel
    without shared memory fits, too, as long as L1 keeps what its blocks touch again from one k
    to the next; by default the bytes are those of a tiled kernel, which loads each tile once.

    Args:
        shape: (M, N, K).
        tile: rows and columns of C that one block computes.
        requested_bytes, l1_bytes: counted on a small launch and scaled up with M · N · K.

    Raises:
        ValueError: if L1 is too small for the blocks' rows of A and B.
    """
    # 32 is one line of A; in a deep matmul longer steps say the same and take less time.
    work = _TiledMatmul(shape, tile, max(32, shape[2] // 16))
    if requested_bytes is not None or l1_bytes is not None:
        _check_reuse_in_l1(tile, sizes)
    l2 = _TileLru(sizes.l2_bytes)
    from_l2 = from_dram = 0
    for first in range(0, work.block_count, sizes.wave):
        wave = range(first, min(first + sizes.wave, work.block_count))
        from_l2 += work.bytes_from_l2(wave, sizes.sms)
        from_dram += sum(l2.load(key, size) for key, size in work.loads(wave))
    once = work.loaded_bytes
    return CacheTraffic(
        round(once if requested_bytes is None else requested_bytes),
        round(once if l1_bytes is None else l1_bytes),
        from_l2,
        from_dram,
        shape[0] * shape[1] * FLOAT32_BYTES,
        sizes,
        "tiles",
    )


def _check_reuse_in_l1(tile: tuple[int, int], sizes: CacheSizes) -> None:
    """From one k to the next a block comes back to a line of every row of A, and to a row of B."""
    rows, columns = tile
    needed = sizes.resident_blocks * (rows * LINE_BYTES + columns * FLOAT32_BYTES)
    if needed > sizes.l1_bytes:
        raise ValueError(
            f"The blocks of an SM reuse {needed} bytes, but L1 has {sizes.l1_bytes}: "
            "what they lose cannot be told tile by tile. Use traffic() on a small launch."
        )


class _TileLru:
    """A cache of pieces of different size; the one used longest ago goes first."""

    def __init__(self, capacity: int) -> None:
        self._room = capacity
        self._held: OrderedDict[Hashable, int] = OrderedDict()

    def load(self, key: Hashable, size: int) -> int:
        """Ask for a piece; returns the bytes that have to be fetched."""
        if key in self._held:
            self._held.move_to_end(key)
            return 0
        self._held[key] = size
        self._room -= size
        while self._room < 0:
            self._room += self._held.popitem(last=False)[1]
        return size


@dataclass(frozen=True)
class _TiledMatmul:
    """Which tiles each block loads; blocks are numbered along the rows of C."""

    shape: tuple[int, int, int]
    tile: tuple[int, int]
    depth_step: int

    @property
    def columns_of_blocks(self) -> int:
        return -(-self.shape[1] // self.tile[1])

    @property
    def block_count(self) -> int:
        return -(-self.shape[0] // self.tile[0]) * self.columns_of_blocks

    @property
    def loaded_bytes(self) -> int:
        """Bytes of A and B that are loaded if each block loads each of its tiles once."""
        rows, columns, depth = self.shape
        rows_of_blocks = -(-rows // self.tile[0])
        elements = rows * depth * self.columns_of_blocks + depth * columns * rows_of_blocks
        return elements * FLOAT32_BYTES

    def loads(self, wave: range) -> Iterator[tuple[Hashable, int]]:
        """The tiles that the blocks of a wave load, step by step, and their bytes."""
        strips = self._strips(wave)
        for start in range(0, self.shape[2], self.depth_step):
            depth = min(self.depth_step, self.shape[2] - start)
            for strip, width in strips.items():
                yield (strip, start), width * depth * FLOAT32_BYTES

    def bytes_from_l2(self, wave: range, sms: int) -> int:
        """Bytes that leave L2: the blocks of one SM get a tile that they share only once."""
        widths = 0
        for sm in range(sms):
            widths += sum(self._strips(wave[sm::sms]).values())
        return widths * self.shape[2] * FLOAT32_BYTES

    def _strips(self, blocks: range) -> dict[tuple[str, int], int]:
        """Strips of A and B that these blocks walk along: rows or columns of each, once each."""
        strips = {}
        for block in blocks:
            row, column = divmod(block, self.columns_of_blocks)
            strips["A", row] = self._width(0, row)
            strips["B", column] = self._width(1, column)
        return strips

    def _width(self, axis: int, number: int) -> int:
        """How many rows (axis 0) or columns (1) of C a tile has; fewer at the edge."""
        return min(self.tile[axis], self.shape[axis] - number * self.tile[axis])
