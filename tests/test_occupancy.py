"""Occupancy: the fact sheet's vectors and worked examples, and what must hold for any launch."""

import pytest
from every_case import every_case
from hypothesis import given
from hypothesis import strategies as st

from course_lib.devices import DEVICES, occupancy

# FACTS §2.3: GPU, threads, registers, shared bytes, the four limits, blocks, warps, the most warps.
VECTORS = [
    ("A6000", 1024, 37, 8192, (1, 1, 11, 16), 1, 32, 48),
    ("A6000", 1024, 64, 8192, (1, 1, 11, 16), 1, 32, 48),
    ("A6000", 1024, 65, 8192, (1, 0, 11, 16), 0, 0, 48),
    ("A6000", 768, 40, 8192, (2, 2, 11, 16), 2, 48, 48),
    ("A6000", 256, 40, 2048, (6, 6, 33, 16), 6, 48, 48),
    ("A6000", 256, 128, 8192, (6, 2, 11, 16), 2, 16, 48),
    ("A6000", 256, 64, 49_152, (6, 4, 2, 16), 2, 16, 48),
    ("A6000", 32, 32, 0, (48, 64, 100, 16), 16, 16, 48),
    ("L4", 32, 32, 0, (48, 64, 100, 24), 24, 24, 48),
    ("L4", 256, 38, 2048, (6, 6, 33, 24), 6, 48, 48),
    ("T4", 1024, 46, 8192, (1, 1, 8, 16), 1, 32, 32),
    ("T4", 256, 128, 32_768, (4, 2, 2, 16), 2, 16, 32),
    ("T4", 256, 42, 2100, (4, 5, 28, 16), 4, 32, 32),
    ("T4", 256, 42, 2048, (4, 5, 32, 16), 4, 32, 32),
    ("A100-40", 1024, 32, 8192, (2, 2, 18, 32), 2, 64, 64),
    ("A100-40", 1024, 37, 8192, (2, 1, 18, 32), 1, 32, 64),
    ("A100-40", 256, 32, 2100, (8, 8, 52, 32), 8, 64, 64),
    ("A100-40", 96, 40, 0, (21, 16, 164, 32), 16, 48, 64),
    ("A100-40", 256, 128, 98_304, (8, 2, 1, 32), 1, 8, 64),
    ("H100", 1024, 37, 8192, (2, 1, 25, 32), 1, 32, 64),
    ("H100", 256, 128, 8192, (8, 2, 25, 32), 2, 16, 64),
    ("H100", 256, 130, 8192, (8, 1, 25, 32), 1, 8, 64),
    ("H100", 384, 168, 196_608, (5, 1, 1, 32), 1, 12, 64),
    ("5090", 1024, 38, 8192, (1, 1, 11, 24), 1, 32, 48),
]

gpus = st.sampled_from(sorted(DEVICES))
threads = st.integers(1, 1100)
registers = st.integers(1, 260)
shared = st.integers(0, 240_000)


@every_case("gpu, threads, registers, shared_bytes, limits, blocks, warps, max_warps", VECTORS)
def test_the_vectors_of_the_fact_sheet(
    gpu, threads, registers, shared_bytes, limits, blocks, warps, max_warps
):
    found = occupancy(gpu, threads, registers, shared_bytes)
    assert tuple(found.limits.values()) == limits
    assert (found.blocks, found.warps, found.max_warps) == (blocks, warps, max_warps)
    assert found.share == warps / max_warps
    assert found.launches == (blocks > 0)


def test_the_a6000_example_step_by_step():
    found = occupancy("A6000", 1024, 37, 8192)
    assert (found.registers_used, found.limiters) == (40_960, ("warps", "registers"))
    assert found.arithmetic == {
        "warps": "⌈1024 / 32⌉ = 32 warps per block; ⌊48 / 32⌋ = 1 block",
        "registers": (
            "37 × 32 = 1184 → 1280 registers per warp; ⌊16384 / 1280⌋ = 12 warps per "
            "sub-partition, 4 × 12 = 48 per SM; ⌊48 / 32⌋ = 1 block"
        ),
        "shared memory": "8192 + 1024 reserved = 9216 B per block; ⌊102400 / 9216⌋ = 11 blocks",
        "blocks": "A6000 holds at most 16 blocks per SM",
    }


@pytest.mark.parametrize("launch, reason", [
    ((1025, 32, 0), "at most 1024 threads, not 1025"),
    ((32, 256, 0), "at most 255 registers, not 256"),
    ((32, 32, 99 * 1024 + 1), "101376 bytes of shared memory, not 101377"),
    ((1024, 65, 0), "32 warps with 2304 registers each needs 73728"),
    # 9 warps would find room, but the launch is refused as if they were 12.
    ((288, 200, 0), "9 warps (counted as 12) with 6400 registers each needs 76800"),
])  # fmt: skip
def test_why_a_launch_fails(launch, reason):
    found = occupancy("A6000", *launch)
    assert not found.launches
    assert (found.blocks, found.warps, found.share) == (0, 0, 0)
    assert reason in found.why_not
    assert found.why_not in str(found)


@pytest.mark.parametrize("launch, sentence", [
    ((0, 32, 0), "Threads per block are 1 or more, not 0."),
    ((32, 0, 0), "Registers per thread are 1 or more, not 0."),
    ((32, 32, -1), "Shared bytes per block are 0 or more, not -1."),
    ((32.0, 32, 0), "Threads per block are a whole number, not 32.0."),
    ((True, 32, 0), "Threads per block are a whole number, not True."),
])  # fmt: skip
def test_nonsense_is_refused_in_a_sentence(launch, sentence):
    with pytest.raises(ValueError) as refusal:
        occupancy("T4", *launch)
    assert str(refusal.value) == sentence


@given(gpus, threads, registers, shared)
def test_what_is_resident_fits_and_one_block_more_would_not(gpu, threads, registers, shared_bytes):
    found = occupancy(gpu, threads, registers, shared_bytes)
    sm = found.sm
    assert 0 <= found.share <= 1
    assert found.registers_used <= sm.registers_per_sm
    assert found.blocks * found.shared_per_block <= sm.shared_per_sm_bytes
    assert found.blocks <= sm.blocks_per_sm
    assert bool(found.why_not) == (found.blocks == 0) == (not found.launches)
    if not found.launches:
        return
    more = found.blocks + 1
    warps = more * found.warps_per_block
    too_much = {
        "warps": warps > sm.warps_per_sm,
        "registers": warps > sm.partitions * found.warps_per_partition,
        "shared memory": more * found.shared_per_block > sm.shared_per_sm_bytes,
        "blocks": more > sm.blocks_per_sm,
    }
    assert tuple(name for name, full in too_much.items() if full) == found.limiters


@given(gpus, threads, registers, shared, st.integers(0, 64), st.integers(0, 4096))
def test_asking_for_more_never_gives_more(gpu, threads, registers, shared_bytes, up, bytes_up):
    blocks = occupancy(gpu, threads, registers, shared_bytes).blocks
    assert occupancy(gpu, threads + up, registers, shared_bytes).blocks <= blocks
    assert occupancy(gpu, threads, registers + up, shared_bytes).blocks <= blocks
    assert occupancy(gpu, threads, registers, shared_bytes + bytes_up).blocks <= blocks
