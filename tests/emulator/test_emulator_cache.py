"""The cache model: by hand where that can be done, against the reference sheet, against itself."""

from pathlib import Path

import numpy as np
import pytest
from by_path import module_at
from known_kernels import matmul_naive as coalesced
from known_kernels import matmul_strided as strided
from numba import cuda, float32
from sampling import few

from course_lib.emulator import KernelRejected, emulate
from course_lib.emulator.observers import meter
from course_lib.emulator.profile.cache import CacheSizes, matmul_traffic, traffic
from course_lib.roofline.memory_levels import cache_sizes, levels_of, matmul_levels

TILE = 32
KIB = 1024


def copy(x, out):
    i = cuda.grid(1)
    out[i] = x[i]


def walk(x, out):
    """Every thread of one warp walks over x, one whole line a step, twice."""
    for _ in range(2):
        for i in range(x.size // 32):
            out[cuda.threadIdx.x] = x[32 * i + cuda.threadIdx.x]


def add_to_one(x, out):
    cuda.atomic.add(out, 0, x[cuda.grid(1)])


def tiled(A, B, C):
    sA = cuda.shared.array((TILE, TILE), float32)
    sB = cuda.shared.array((TILE, TILE), float32)
    x, y = cuda.grid(2)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    acc = float32(0)
    for t in range(A.shape[1] // TILE):
        sA[ty, tx] = A[y, t * TILE + tx]
        sB[ty, tx] = B[t * TILE + ty, x]
        cuda.syncthreads()
        for k in range(TILE):
            acc += sA[ty, k] * sB[k, tx]
        cuda.syncthreads()
    C[y, x] = acc


def vector(kernel, grid, block, size, out=None):
    x = np.ones(size, np.float32)
    out = np.zeros(grid * block if out is None else out, np.float32)
    return emulate(kernel, stream=True, races=False)[grid, block](x, out)


def matmul(kernel, n):
    A, B, C = (np.ones((n, n), np.float32) for _ in range(3))
    grid = (n // TILE, n // TILE)
    return emulate(kernel, stream=True, races=False)[grid, (TILE, TILE)](A, B, C)


def sizes(l1_lines: int, l2_lines: int, sms: int = 1, blocks: int = 1) -> CacheSizes:
    return CacheSizes(128 * l1_lines, 128 * l2_lines, sms, blocks)


@pytest.mark.parametrize(("lines", "rounds"), [(9, 1), (8, 2), (4, 2)])
def test_a_walk_longer_than_the_cache_gains_nothing(lines, rounds):
    """Of 8 lines and the one of `out`, least recently used keeps all or nothing of x."""
    profile = vector(walk, 1, 32, 8 * 32, out=32)
    assert traffic(profile, sizes(0, lines)).dram_bytes == rounds * 8 * 128
    # Stores go past L1, so there the eight lines are among themselves.
    assert traffic(profile, sizes(8, 0)).dram_bytes == 8 * 128


def test_a_cell_that_is_stored_often_is_written_once_if_l2_keeps_it():
    profile = vector(walk, 1, 32, 8 * 32, out=32)
    assert traffic(profile, sizes(0, 16)).dram_store_bytes == 128
    assert traffic(profile, sizes(0, 1)).dram_store_bytes == 16 * 128


def test_atomics_go_past_l1():
    found = traffic(vector(add_to_one, 4, 32, 128, out=8), sizes(64, 64))
    # x once, and the four blocks' atomics, of which the first fetches the sector.
    assert found.l2_bytes == 4 * 128 + 4 * 32
    assert found.dram_bytes == 4 * 128 + 32
    assert found.dram_store_bytes == 32


@pytest.mark.parametrize("kernel", [coalesced, strided, tiled])
def test_the_stream_is_what_the_trace_says(kernel):
    """Every block, instruction and line, from the trace lane by lane."""
    n = 64
    A, B, C = (np.ones((n, n), np.float32) for _ in range(3))
    profile = emulate(kernel, stream=True, trace=True)[(2, 2), (TILE, TILE)](A, B, C)
    expected = set()
    accesses = [access for access in profile.trace if access.space == "global"]
    for step, access in enumerate(accesses):
        blocks = access.threads[:, 1] * 2 + access.threads[:, 2]
        sectors = access.addresses // 32 - meter.GLOBAL_BASE // 32
        expected |= {
            (int(b), step, int(s), access.kind) for b, s in zip(blocks, sectors, strict=True)
        }
    found = profile.stream
    told = {
        (int(block), int(step), 4 * int(line) + part, meter.KINDS[kind])
        for block, step, line, bits, kind in zip(
            found.blocks, found.steps, found.lines, found.sectors, found.kinds, strict=True
        )
        for part in range(4)
        if bits >> part & 1
    }
    assert told == expected
    assert found.block_count == 4


def test_no_stream_without_end(monkeypatch):
    monkeypatch.setattr("course_lib.emulator.observers.meter.MAX_ENTRIES", 10)
    with pytest.raises(KernelRejected, match="smaller"):
        vector(copy, 4, 128, 512)


@pytest.mark.parametrize("kernel", [coalesced, strided, tiled])
@pytest.mark.parametrize("l2_kib", few([96, 16, 160]))
def test_tiles_say_what_the_stream_says(kernel, l2_kib):
    """A toy GPU on which 192³ is large: nothing, half, and all of B stay in L2."""
    gpu = CacheSizes(16 * KIB, l2_kib * KIB, 6)
    by_stream = traffic(matmul(kernel, 192), gpu)
    by_tiles = matmul_traffic((192, 192, 192), (TILE, TILE), gpu)
    for name in ("l2_bytes", "dram_bytes"):
        assert getattr(by_tiles, name) == pytest.approx(getattr(by_stream, name), rel=0.06)
    assert by_tiles.dram_store_bytes == by_stream.dram_store_bytes


# FACTS §4.3: GB for tiles of 32 and of 128 at N = 4096, by a model of whole tiles in lockstep.
REFERENCE = {
    "4090": (0.13, 0.13), "T4": (8.9, 1.84), "A6000": (8.8, 0.93), "L4": (8.7, 1.31),
    "A100-40": (5.2, 0.76), "H100": (4.3, 0.62),
}  # fmt: skip


@pytest.mark.parametrize("gpu", few(REFERENCE, 2))
def test_dram_bytes_of_4096_are_those_of_the_reference_sheet(gpu):
    of_32, of_128 = REFERENCE[gpu]
    shape = (4096, 4096, 4096)
    small = matmul_traffic(shape, (32, 32), cache_sizes(gpu, 1024))
    assert small.dram_bytes / 1e9 == pytest.approx(of_32, rel=0.04)
    assert small.requested_bytes == 2 * 4096**3 * 4 // 32
    large = matmul_traffic(shape, (128, 128), cache_sizes(gpu, 256, resident_blocks=1))
    assert large.dram_bytes / 1e9 == pytest.approx(of_128, rel=0.04)


def test_tiles_at_the_edge_are_smaller():
    everything = CacheSizes(10**6, 10**9, 4)
    found = matmul_traffic((33, 70, 5), (32, 32), everything)
    assert found.dram_bytes == 4 * (33 * 5 + 5 * 70)
    assert found.requested_bytes == 4 * (33 * 5 * 3 + 5 * 70 * 2)
    assert found.dram_store_bytes == 4 * 33 * 70


def test_what_no_model_tells():
    with pytest.raises(ValueError, match="on a small launch"):  # L1 cannot keep it
        matmul_traffic((64, 64, 64), (32, 32), sizes(16, 64), l1_bytes=10**6)
    with pytest.raises(ValueError, match="No GPU"):
        CacheSizes(1, 1, 0)
    with pytest.raises(ValueError, match="stream=True"):
        traffic(emulate(copy)[1, 32](*np.ones((2, 32), np.float32)), sizes(1, 1))
    with pytest.raises(ValueError, match="does not fit"):
        cache_sizes("T4", 64, 65 * KIB)


def test_three_kernels_ask_dram_for_the_same_though_not_l1():
    """FACTS §4.3: what tiling cuts 32 times is requests, not DRAM bytes."""
    shape = (4096, 4096, 4096)
    naive, rows, tiles = (
        matmul_levels(matmul(kernel, 64), shape, "A6000") for kernel in (strided, coalesced, tiled)
    )
    assert naive.requested_bytes == rows.requested_bytes == 549_755_813_888
    assert rows.requested_bytes == 32 * tiles.requested_bytes
    # FACTS §3.2: sectors of a warp in 32 steps of k.
    assert naive.l1_bytes * 160 == rows.l1_bytes * 1056
    assert rows.l1_bytes * 8 == tiles.l1_bytes * 160
    assert naive.l2_bytes == rows.l2_bytes == tiles.l2_bytes
    assert naive.dram_bytes == rows.dram_bytes == tiles.dram_bytes
    assert tiles.dram_bytes / tiles.requested_bytes == pytest.approx(0.51, abs=0.005)


def test_shared_memory_takes_from_l1():
    assert cache_sizes("T4", 1024).l1_bytes == (96 - 32) * KIB
    assert cache_sizes("A6000", 1024).l1_bytes == 128 * KIB
    # 8 KiB and the driver's 1 KiB: the next size that shared memory can be set to is 16.
    assert cache_sizes("A6000", 1024, 8 * KIB).l1_bytes == (128 - 16) * KIB
    assert cache_sizes("H100", 256, 8 * KIB).resident_blocks == 8
    assert cache_sizes("H100", 256, 8 * KIB).l1_bytes == (256 - 100) * KIB
    assert cache_sizes("T4", 64, 32 * KIB).resident_blocks == 2


def test_levels_of_a_launch_know_its_block():
    found = levels_of(matmul(tiled, 64), "A100-40")
    assert found.sizes.resident_blocks == 2
    assert str(found) == (
        "A100 SXM 40 GB, the last two by a model: 0.066 MB requested, 0.066 MB through L1, "
        "0.066 MB from L2, 0.033 MB from DRAM"
    )
    assert found.dram_bytes == 2 * 64 * 64 * 4


def test_the_benchmark_knows_what_its_kernels_ask_of_l1():
    path = Path(__file__).parents[2] / "benchmarks" / "cache_model.py"
    benchmark = module_at(path)
    for name, kernel in (("naive", strided), ("coalesced", coalesced), ("tiled", tiled)):
        estimated = benchmark.estimated(name, 64, CacheSizes(64 * KIB, 10**6, 4))
        counted = matmul(kernel, 64)
        assert estimated.l1_bytes == 32 * counted.global_load_sectors
        assert estimated.requested_bytes == counted.global_load_bytes
