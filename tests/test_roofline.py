"""The roofline's arithmetic gives the numbers of the fact sheet."""

from __future__ import annotations

import pytest

from course_lib.devices import DEVICES, Ceilings, device
from course_lib.roofline import (
    BYTES_KINDS,
    Point,
    compulsory_bytes,
    matmul_flops,
    requested_bytes,
    roof,
    square_tile_for,
    tile_intensity,
)

LARGE = (4096, 4096, 4096)


def test_work_of_the_example_size():
    assert matmul_flops(*LARGE) == pytest.approx(137.4e9, rel=1e-3)


@pytest.mark.parametrize(
    ("tile", "intensity", "gigabytes"),
    [
        ((1, 1), 0.25, 549.8),
        ((16, 16), 4, 34.4),
        ((32, 32), 8, 17.2),
        ((64, 64), 16, 8.6),
        ((128, 128), 32, 4.3),
        ((128, 256), 42.67, 3.2),
    ],
)
def test_requested_bytes_and_their_intensity(tile, intensity, gigabytes):
    assert tile_intensity(*tile) == pytest.approx(intensity, rel=1e-3)
    requested = requested_bytes(LARGE, tile)
    assert requested / 1e9 == pytest.approx(gigabytes, abs=0.05)
    assert matmul_flops(*LARGE) / requested == pytest.approx(intensity, rel=1e-3)


def test_half_precision_doubles_the_intensity():
    assert tile_intensity(32, itemsize=2) == 16


def test_a_ragged_matrix_counts_its_partial_tiles():
    # 5 columns in tiles of 4: every element of A is loaded twice; 3 rows: B once.
    assert requested_bytes((3, 5, 7), (4, 4)) == 4 * (3 * 7 * 2 + 7 * 5 * 1)


def test_compulsory_traffic():
    assert compulsory_bytes(LARGE) / 1e6 == pytest.approx(201.3, abs=0.05)


@pytest.mark.parametrize(
    ("intensity", "a6000", "h100"), [(0.25, 192, 838), (8, 6144, 26_800), (128, 38_700, 66_900)]
)
def test_roofs_of_two_gpus(intensity, a6000, h100):
    assert roof(intensity, "A6000") == pytest.approx(a6000, rel=1e-3)
    assert roof(intensity, device("H100")) == pytest.approx(h100, rel=1e-3)


def test_measured_ceilings_replace_the_data_sheet():
    measured = Ceilings("here", 5000.0, 200.0, "measured here", "measured here")
    assert roof(1, measured) == 200
    assert roof(1000, measured) == 5000


@pytest.mark.parametrize(
    ("name", "edge"),
    [("A100-80", 38), ("B200", 39), ("A100-40", 50), ("H200", 56), ("V100", 70), ("H100", 80),
     ("T4", 101), ("H100-PCIe", 102), ("3090", 152), ("5090", 234), ("4090", 328), ("L4", 404)],
)  # fmt: skip
def test_square_tile_that_reaches_the_ridge(name, edge):
    assert round(square_tile_for(DEVICES[name].ridge_fp32)) == edge


def test_a_point_has_to_say_which_bytes():
    for kind in BYTES_KINDS:
        assert Point("naive", 0.25, None, kind).bytes_kind == kind
    with pytest.raises(ValueError, match="Which bytes"):
        Point("naive", 0.25, None, "bytes")
    with pytest.raises(ValueError, match="intensity is positive"):
        Point("naive", 0, None, "DRAM")
    with pytest.raises(ValueError, match="speed is positive"):
        Point("naive", 1, 0.0, "DRAM")
