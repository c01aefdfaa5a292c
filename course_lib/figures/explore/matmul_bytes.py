"""Say what a matmul kernel loads for each multiply-add: requested, and through L1."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from course_lib.devices import DEVICES, SECTOR_BYTES
from course_lib.figures.explore.dram_model import ONE_OUTPUT, UNTILED, sizes_for
from course_lib.memory_levels import cache_sizes

UNTILED_KERNELS = {
    "coalesced": "coalesced: a warp along a row of C",
    "naive": "naive: a warp down a column of C",
}
# Sectors that a warp of a 32 x 32 block moves for its 32 multiply-adds of one k.
_SECTORS = {"coalesced": 1 + 4, "naive": 32 + 1}


@dataclass(frozen=True)
class Counted:
    """Bytes that a kernel loads for each multiply-add; both follow from counts."""

    requested: float
    through_l1: float


@dataclass(frozen=True)
class OwnKernel:
    """The student's kernel: its loads for each multiply-add, and its tile if the table has it."""

    name: str
    counted: Counted
    tile: int | None


def untiled_kernel(name: str) -> Counted:
    """Two loads of 4 bytes a multiply-add; sectors by how the warp lies."""
    return Counted(8, _SECTORS[name] * SECTOR_BYTES / 32)


def tiled_kernel(tile: int) -> Counted:
    """Each loaded value serves T multiply-adds, and rows of 8 or more fill their sectors."""
    return Counted(8 / tile, 8 / tile)


def compulsory_loads(size: int) -> int:
    """A and B, once each."""
    return 2 * 4 * size * size


def why_no_matmul(profile: Any) -> str:
    """A sentence if this is no launch of a matmul; nothing if it is."""
    arrays = getattr(profile, "arrays", None)
    if arrays is None:
        return (
            "This is no launch. Launch the kernel on small matrices with "
            "profile = course_lib.emulate(kernel)[grid, block](A, B, C) and give the profile."
        )
    if any(name not in arrays or len(arrays[name].shape) != 2 for name in "ABC"):
        return f"{profile.kernel_name} has no three matrices called A, B and C: no matmul."
    if not profile.global_load_bytes:
        return f"{profile.kernel_name} loads nothing yet. Write it, run this cell again, and look."
    return ""


def own_kernel(profile: Any) -> OwnKernel:
    """What a small launch loads for each multiply-add."""
    (rows, depth), (_, columns) = profile.arrays["A"].shape, profile.arrays["C"].shape
    steps = rows * depth * columns
    counted = Counted(
        profile.global_load_bytes / steps, profile.global_load_sectors * SECTOR_BYTES / steps
    )
    return OwnKernel(profile.kernel_name, counted, _tile_in_table(profile))


def _tile_in_table(profile: Any) -> int | None:
    """The tile of the table whose blocks fill the caches as this launch's do; None if none does."""
    width, height, deep = profile.block
    shared = sum(each.bytes for each in profile.shared_arrays)
    tile = UNTILED if not shared and width == 32 else width
    if width != height or deep != 1 or tile not in (UNTILED, *ONE_OUTPUT):
        return None
    try:
        same = all(
            cache_sizes(gpu, width * width, shared) == sizes_for(gpu, tile) for gpu in DEVICES
        )
    except ValueError:  # more shared memory than some GPU has
        return None
    return tile if same else None
