"""The figure on bytes: counts as the emulator counts them, DRAM bytes as the model has them."""

from __future__ import annotations

import numpy as np
import pytest
from numba import cuda, float32
from test_gallery import look_at

from course_lib import figures
from course_lib.devices import DEVICES
from course_lib.emulator import emulate
from course_lib.emulator.profile.cost import SECTOR_BYTES
from course_lib.figures.explore.bytes_moved import GPUS
from course_lib.figures.explore.dram_model import SIZES, TILES, UNTILED, dram_bytes, worked_out
from course_lib.figures.explore.matmul_bytes import tiled_kernel, untiled_kernel

N = 64


def naive(A, B, C):
    row, column = cuda.grid(2)
    total = float32(0)
    for k in range(A.shape[1]):
        total += A[row, k] * B[k, column]
    C[row, column] = total


def coalesced(A, B, C):
    column, row = cuda.grid(2)
    total = float32(0)
    for k in range(A.shape[1]):
        total += A[row, k] * B[k, column]
    C[row, column] = total


def tiled_with(T):
    def tiled(A, B, C):
        sA = cuda.shared.array((T, T), float32)
        sB = cuda.shared.array((T, T), float32)
        column, row = cuda.grid(2)
        tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
        total = float32(0)
        start = 0
        while start < A.shape[1]:
            sA[ty, tx] = A[row, start + tx]
            sB[ty, tx] = B[start + ty, column]
            cuda.syncthreads()
            for k in range(T):
                total += sA[ty, k] * sB[k, tx]
            cuda.syncthreads()
            start += T
        C[row, column] = total

    return tiled


def unsolved(A, B, C):
    """Nothing yet."""


def launched(kernel, T=32):
    matrices = [np.ones((N, N), np.float32) for _ in range(3)]
    return emulate(kernel)[(N // T, N // T), (T, T)](*matrices)


@pytest.fixture(scope="module")
def start():
    return figures.explore_bytes()


@pytest.mark.parametrize(
    ("kernel", "T", "counted"),
    [
        (naive, 32, untiled_kernel("naive")),
        (coalesced, 32, untiled_kernel("coalesced")),
        *((tiled_with(T), T, tiled_kernel(T)) for T in (8, 16, 32)),
    ],
)
def test_counts_are_the_emulators(kernel, T, counted):
    profile = launched(kernel, T)
    assert profile.global_load_bytes == counted.requested * N**3
    assert profile.global_load_sectors * SECTOR_BYTES == counted.through_l1 * N**3


def test_the_table_holds_every_gpu_and_is_the_models():
    for gpu in DEVICES:
        for tile in (UNTILED, *TILES):
            for size in SIZES:
                assert dram_bytes(gpu, tile, size) >= 2 * 4 * size * size
    for gpu in ("T4", "H100"):
        for tile in (UNTILED, *TILES):
            assert dram_bytes(gpu, tile, 1024) == worked_out(gpu, tile, 1024)


@pytest.mark.parametrize(
    "gpu",
    [
        pytest.param(gpu, marks=pytest.mark.long if number % 3 else pytest.mark.slow)
        for number, gpu in enumerate(DEVICES)
    ],
)
def test_the_whole_table_is_the_models(gpu):
    for tile in (UNTILED, 16, 32, 64, 128):
        for size in SIZES[:4]:
            assert dram_bytes(gpu, tile, size) == worked_out(gpu, tile, size)


# FACTS §4.3, LRU model at N = 4096: GB with tiles of 32, and of 128.
@pytest.mark.parametrize(
    ("gpu", "of_32", "of_128"),
    [("T4", 8.9, 1.84), ("A6000", 8.8, 0.93), ("L4", 8.7, 1.31), ("A100-40", 5.2, 0.76),
     ("H100", 4.3, 0.62), ("4090", 0.13, 0.13)],
)  # fmt: skip
def test_the_table_is_that_of_the_facts(gpu, of_32, of_128):
    assert dram_bytes(gpu, 32, 4096) / 1e9 == pytest.approx(of_32, abs=0.06)
    assert dram_bytes(gpu, 128, 4096) / 1e9 == pytest.approx(of_128, abs=0.006)


def test_correction_1_is_what_one_sees(start):
    state = start.state()
    assert state["requested untiled bytes"]["text"] == "549.8 GB"
    assert state["requested tiled bytes"]["text"] == "17.18 GB"
    assert state["requested ratio"]["text"] == "÷ 32" and state["l1 ratio"]["text"] == "÷ 20"
    assert state["dram ratio"]["text"] == "the same"
    assert "134.2 MB" in state["compulsory bytes"]["text"]
    words = start.sentence()
    assert "32 times fewer" in words and "by a model" in words and "A model, not" in words


def test_bars_are_in_order_and_on_a_scale_of_tens(start):
    widths = {
        size: start.state(size=SIZES.index(size))["requested untiled"]["width"]
        for size in (512, 1024)
    }
    # Twice the size is 8 times the bytes: 0.903 of a power of ten.
    assert widths[1024] - widths[512] == pytest.approx(0.903 * 64, abs=0.1)
    for size in range(len(SIZES)):
        state = start.state(size=size, untiled=1)
        assert state["l1 untiled"]["width"] > state["requested untiled"]["width"]
        assert 96 + state["l1 untiled"]["width"] < 640  # its number stands beside it


def test_gpus_and_words(start):
    for gpu in range(len(GPUS)):
        for tile, side in enumerate(TILES):
            words = start.sentence(gpu=gpu, tile=tile)
            assert ("own several" in words) == (side > 32)
    assert "SXM" in start.state(gpu=GPUS.index("H100"))["caches"]["text"]
    assert start.size_bytes < 100_000
    look_at(start.still)


def test_another_gpu_and_nonsense():
    figure = figures.explore_bytes("B200", size=512, tile=8, untiled="naive")
    assert "B200" in figure.state()["caches"]["text"]
    look_at(figure.still)
    with pytest.raises(ValueError, match="Choose a size"):
        figures.explore_bytes(size=4000)
    with pytest.raises(ValueError, match="No GPU"):
        figures.explore_bytes("Voodoo")


def test_own_kernel_is_scaled_up():
    figure = figures.explore_bytes(profile=launched(tiled_with(16), 16))
    state = figure.state()
    assert state["requested tiled label"]["text"] == "yours"
    assert state["requested ratio"]["text"] == "÷ 16"
    same = figure.state(tile=TILES.index(16))
    assert state["dram tiled bytes"] == same["dram tiled bytes"]
    assert "tiled, counted small" in figure.sentence()


def test_own_kernel_with_another_block_has_no_dram_bytes():
    matrices = [np.ones((32, 32), np.float32) for _ in range(3)]
    profile = emulate(coalesced)[(2, 4), (16, 8)](*matrices)
    figure = figures.explore_bytes(profile=profile)
    assert figure.state()["dram tiled bytes"]["text"] == "not worked out"
    assert "matmul_levels" in figure.sentence()


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (lambda: coalesced, "This is no launch"),
        (lambda: launched(unsolved), "loads nothing yet"),
        (lambda: emulate(lonely)[1, 32](np.ones(32)), "no three matrices"),
    ],
)
def test_a_sentence_where_there_is_nothing_to_draw(given, words):
    assert words in figures.explore_bytes(profile=given()).sentence()


def lonely(A):
    A[cuda.threadIdx.x] = 1.0
