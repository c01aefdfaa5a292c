"""Read how fast one product is in cuTile, Triton and numba.cuda, beside cuBLAS.

One file per device; benchmarks/tile_languages.py measures it and says how.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from course_lib.measurements.files import content_of

FOLDER = Path(__file__).resolve().parent
WRITTEN_BY = ("tile_languages.py",)
CUBLAS = "cuBLAS"
LANES = 32
USUAL_WARPS = 4  # that multiply, where cuTile chooses: one warpgroup


class TileRow(NamedTuple):
    """One way to compute the product, bfloat16 to bfloat16.

    Attributes:
        ms: milliseconds by size, "4096 x 4096 x 4096".
        error: the largest relative error (Frobenius norm) at sizes that no tile divides.
        tile: rows, columns and depth of a block's tile; empty where a library chooses.
        warps: warps that multiply; None where the compiler chooses.
        registers, local_bytes: of a thread; None where the compiler does not tell.
    """

    ms: dict[str, float]
    error: float
    tile: tuple[int, ...] = ()
    warps: int | None = None
    registers: int | None = None
    local_bytes: int | None = None

    @property
    def sums_of_a_thread(self) -> float | None:
        """How many of a tile's float32 sums a thread keeps, one in each of its registers."""
        if not self.tile:
            return None
        return self.tile[0] * self.tile[1] / (LANES * (self.warps or USUAL_WARPS))


class TileLanguages(NamedTuple):
    """All ways by name: "cuBLAS", "cuTile, 128 x 128 x 64"."""

    label: str
    versions: dict[str, str]
    rows: dict[str, TileRow]

    def share_of_cublas(self, name: str, size: str) -> float:
        """The speed of a way beside cuBLAS's in the same run."""
        return self.rows[CUBLAS].ms[size] / self.rows[name].ms[size]


def load(device: str = "H200") -> TileLanguages:
    """What was stored for a device, by its short name.

    Raises:
        KeyError: if nothing was measured on it.
    """
    plain = content_of(FOLDER, device, "tile languages were not measured on")
    rows = {
        name: TileRow(**{**row, "tile": tuple(row["tile"])}) for name, row in plain["rows"].items()
    }
    return TileLanguages(f"{plain['device']}, {plain['date']}", plain["versions"], rows)
