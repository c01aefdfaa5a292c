"""Say how fast a kernel can be at most: the roofline's arithmetic, and the three kinds of bytes.

Owns: the arithmetic of rooflines and ceilings.
May import: `devices`, `emulator`, `machine_code`.
Start with: this file, then `ceilings`.

A roofline is min(peak, intensity x bandwidth). Intensity is FLOP per byte, and the question is
always *which* byte, so a `Point` cannot be made without naming its kind:

    requested    what the threads' load instructions ask for, before any merging or cache
    through L1   sectors after a warp's addresses were merged, x 32 bytes
    DRAM         what L2 could not serve; the only kind that DRAM's bandwidth limits

A point of requested bytes may stand *above* the DRAM roof. That is no mistake: it shows how much
the caches took over. Nothing in this module is measured and nothing is guessed.

`ceiling` (ceilings.py) goes further than the roofline: besides DRAM it looks at what one SM can do
in a clock, which is what limits most kernels of the ladder.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from course_lib.devices import Ceilings, Device, ceilings_of
from course_lib.roofline.ceilings import Bound, Ceiling, ceiling

__all__ = [
    "BYTES_KINDS",
    "Bound",
    "BytesKind",
    "Ceiling",
    "Point",
    "ceiling",
    "compulsory_bytes",
    "matmul_flops",
    "requested_bytes",
    "roof",
    "tile_intensity",
]

BytesKind = Literal["requested", "through L1", "DRAM"]
BYTES_KINDS: tuple[BytesKind, ...] = get_args(BytesKind)


@dataclass(frozen=True)
class Point:
    """A kernel on the roofline.

    Attributes:
        label: what to write beside the dot.
        intensity: FLOP per byte of the kind named.
        gflops: the speed, measured or published; None if only the roof above it is meant.
        bytes_kind: which bytes the intensity counts.
        source: where `gflops` is from ("measured here", "published: ..."); empty without one.
    """

    label: str
    intensity: float
    gflops: float | None
    bytes_kind: BytesKind
    source: str = ""

    def __post_init__(self) -> None:
        if self.bytes_kind not in BYTES_KINDS:
            known = ", ".join(repr(kind) for kind in BYTES_KINDS)
            raise ValueError(f"Which bytes? {self.bytes_kind!r} is none of {known}.")
        if not self.intensity > 0:
            raise ValueError(f"An intensity is positive, not {self.intensity!r}.")
        if self.gflops is not None and not self.gflops > 0:
            raise ValueError(f"A speed is positive, not {self.gflops!r} GFLOP/s.")


def roof(intensity: float, gpu: str | Device | Ceilings) -> float:
    """GFLOP/s that this intensity allows if every one of its bytes came from DRAM."""
    ceilings = ceilings_of(gpu)
    return min(ceilings.fp32_gflops, intensity * ceilings.dram_gb_per_s)


def matmul_flops(rows: int, columns: int, depth: int) -> int:
    """FLOP of a matrix product C[rows, columns]: a multiply and an add for each step of k."""
    return 2 * rows * columns * depth


def tile_intensity(tile_rows: int, tile_columns: int | None = None, itemsize: int = 4) -> float:
    """FLOP per requested byte when a block computes such a tile of C; T/4 for a square of floats.

    The naive kernel is the 1 x 1 tile. The step along k does not appear: it sets how much shared
    memory is used, not how much is loaded.
    """
    columns = tile_rows if tile_columns is None else tile_columns
    return 2 * tile_rows * columns / (itemsize * (tile_rows + columns))


def requested_bytes(
    shape: tuple[int, int, int], tile: tuple[int, int] = (1, 1), itemsize: int = 4
) -> int:
    """Bytes of A and B that a matmul of shape (M, N, K) asks for when blocks own such tiles of C.

    Each element of A is loaded once for every tile column, each of B once for every tile row.
    """
    rows, columns, depth = shape
    tile_rows, tile_columns = tile
    loads_of_a = rows * depth * _ceil_divide(columns, tile_columns)
    loads_of_b = depth * columns * _ceil_divide(rows, tile_rows)
    return itemsize * (loads_of_a + loads_of_b)


def compulsory_bytes(shape: tuple[int, int, int], itemsize: int = 4) -> int:
    """Bytes that no kernel can avoid: A and B read once, C written once."""
    rows, columns, depth = shape
    return itemsize * (rows * depth + depth * columns + rows * columns)


def _ceil_divide(number: int, divisor: int) -> int:
    return -(-number // divisor)
