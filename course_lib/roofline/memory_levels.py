"""Say what a launch moves at each level of a named GPU's memory: the cache model with real sizes.

The model and what it assumes stand in `course_lib.emulator.profile.cache`; this module looks the
sizes up in the data sheet.
"""

from __future__ import annotations

from course_lib.devices import SECTOR_BYTES, WARP_SIZE, Capability, Device, device
from course_lib.emulator import Profile
from course_lib.emulator.profile.cache import CacheSizes, CacheTraffic, matmul_traffic, traffic

KIB = 1024


def cache_sizes(
    gpu: str | Device,
    threads: int,
    shared_bytes: int = 0,
    *,
    resident_blocks: int | None = None,
) -> CacheSizes:
    """The caches of a GPU for blocks of so many threads and so much shared memory.

    L1 is what shared memory leaves of the array that both live in; shared memory gets the
    smallest of the sizes that it can be set to which holds the resident blocks.

    Args:
        resident_blocks: blocks per SM; as many as threads and shared memory allow unless given.
            Registers may allow fewer.

    Raises:
        ValueError: if not even one block fits.
    """
    row = device(gpu)
    most = _blocks_that_fit(row.capability, threads, shared_bytes)
    if most < 1:
        raise ValueError(f"A block of {threads} threads and {shared_bytes} bytes does not fit.")
    blocks = min(resident_blocks or most, most)
    used = blocks * _rounded(row.capability, shared_bytes) if shared_bytes else 0
    carved = min(kib for kib in row.capability.carve_outs_kib if kib * KIB >= used)
    return CacheSizes(
        l1_bytes=(row.capability.l1_and_shared_kib - carved) * KIB,
        l2_bytes=round(row.l2_mib * KIB * KIB),
        sms=row.sms,
        resident_blocks=blocks,
        name=row.product,
    )


def _blocks_that_fit(sm: Capability, threads: int, shared_bytes: int) -> int:
    """Blocks per SM by warps, shared memory and the fixed cap; registers are not asked."""
    warps = -(-threads // WARP_SIZE)
    by_shared = sm.shared_per_sm_kib * KIB // max(1, _rounded(sm, shared_bytes))
    return min(sm.warps_per_sm // warps, by_shared, sm.blocks_per_sm)


def _rounded(sm: Capability, shared_bytes: int) -> int:
    """What a block's shared memory takes: with the driver's share, in whole units."""
    unit = sm.shared_unit_bytes
    return -(-(shared_bytes + sm.shared_reserved_bytes) // unit) * unit


def levels_of(profile: Profile, gpu: str | Device) -> CacheTraffic:
    """What a launch, emulated with `stream=True`, would move at each level of this GPU's memory."""
    return traffic(profile, _sizes_for(profile, gpu))


def matmul_levels(profile: Profile, shape: tuple[int, int, int], gpu: str | Device) -> CacheTraffic:
    """The same for a matmul too large to emulate: counts of a small launch, scaled up.

    Requested bytes and sectors grow with M · N · K as long as the small matrices are made of
    whole tiles; the model's part is worked out anew for the large ones.

    Args:
        profile: a launch of the same kernel with the same block on small matrices A, B and C; a
            block computes a tile of C of its own shape.
        shape: the large (M, N, K).
    """
    rows, columns, depth = _shape_of(profile)
    scale = shape[0] * shape[1] * shape[2] / (rows * columns * depth)
    return matmul_traffic(
        shape,
        (profile.block[1], profile.block[0]),
        _sizes_for(profile, gpu),
        requested_bytes=profile.global_load_bytes * scale,
        l1_bytes=profile.global_load_sectors * SECTOR_BYTES * scale,
    )


def _sizes_for(profile: Profile, gpu: str | Device) -> CacheSizes:
    """The caches of a GPU for the blocks of a launch."""
    threads = profile.block[0] * profile.block[1] * profile.block[2]
    return cache_sizes(gpu, threads, sum(use.bytes for use in profile.shared_arrays))


def _shape_of(profile: Profile) -> tuple[int, int, int]:
    """(M, N, K) of a launch with the arrays A and C."""
    rows, depth = profile.arrays["A"].shape
    return rows, profile.arrays["C"].shape[1], depth
