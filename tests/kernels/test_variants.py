"""A rung's file with other constants: right on the emulator, in the order that is drawn."""

import numpy as np
import pytest
from exact_products import product
from numba import cuda

import course_lib
from course_lib.bench import tuner
from course_lib.kernels import RUNG_KERNELS, block_order
from course_lib.kernels.block_order import place_of_block
from course_lib.kernels.variants import TEMPLATES, variant

SOME = {  # of each rung one that differs in every constant
    "cp_async": {"WARPS_DOWN": 2, "WARPS_ACROSS": 2, "A_GROUPS": 1, "B_GROUPS": 2, "BK": 16},
    "tensor_core_bf16": {"WARPS_DOWN": 1, "WARPS_ACROSS": 4, "DOWN": 4, "ACROSS": 4, "STAGES": 4},
}


@pytest.mark.parametrize("name", SOME)
def test_another_tile_is_right_at_the_edges(name):
    rung = variant(name, **SOME[name])
    assert rung.tile[:2] == ((64, 64) if name == "cp_async" else (64, 128))
    product(rung, 70, 136, 64 if rung.dtype == "uint16" else 36)


@pytest.mark.parametrize("name", SOME)
def test_strips_change_the_order_and_nothing_else(name):
    """Three rows of tiles in strips of two: the last strip is lower."""
    rung = variant(name, **SOME[name], STRIP=2)
    product(rung, 3 * rung.tile[0], 2 * rung.tile[1], 32)


@cuda.jit
def numbered(strip, numbers):
    row, column = place_of_block(strip)
    if cuda.threadIdx.x == 0:
        numbers[row, column] = cuda.blockIdx.y * cuda.gridDim.x + cuda.blockIdx.x


def test_the_order_is_the_one_that_its_page_draws():
    rows = block_order.__doc__.split("strips of 2\n")[1].splitlines()[:3]
    drawn = [[int(number) for number in row.split()[:8]] for row in rows]
    for strip, columns in ((1, slice(0, 4)), (2, slice(4, 8))):
        numbers = np.full((3, 4), -1)
        course_lib.emulate(numbered)[(4, 3), 32](strip, numbers)
        assert numbers.tolist() == [row[columns] for row in drawn]


@pytest.mark.parametrize("name", tuner.CANDIDATES)
def test_every_candidate_can_be_made(name):
    for constants in tuner.CANDIDATES[name]:
        rung = variant(name, **constants)
        assert rung.block[0] <= 1024 and rung.dynamic_shared <= 227 * 1024
    assert variant(name).tile == RUNG_KERNELS[name].tile
    assert vars(TEMPLATES[name])["STRIP"] == 1


def test_what_no_file_has_and_what_cannot_be_shared_is_refused():
    with pytest.raises(KeyError, match="cp_async has no constant BLOCK"):
        variant("cp_async", BLOCK=3)
    with pytest.raises(KeyError):
        variant("tiled", TILE=16)
    with pytest.raises(ValueError, match="256 threads can't share a tile of B: it has 8 rows"):
        variant("cp_async", WARPS_DOWN=4, WARPS_ACROSS=2, A_GROUPS=1, B_GROUPS=1)
    with pytest.raises(ValueError, match="a tile of A: it has 128 rows, and they copy 32 at once"):
        variant("tensor_core_bf16", WARPS_ACROSS=2)
