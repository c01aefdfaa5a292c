"""`pick_a_tile`: the verdict follows the calculator, from a text as from a check cell."""

import itertools

import pytest
from every_case import every_case

import course_lib
from course_lib.checking import CheckFailed
from course_lib.curriculum import EXERCISES
from course_lib.devices import device, occupancy
from course_lib.problems.tile_choice import GPU, INTENSITY, LEAST_BLOCKS, TileConfiguration

NAMES = EXERCISES["pick_a_tile"].parameters
CLASSIC = dict(zip(NAMES, (128, 128, 8, 8, 8), strict=True))


def codes(**numbers: object) -> list[str]:
    report = course_lib.examine("pick_a_tile", {**CLASSIC, **numbers}, debug=True)
    return [each.code for each in report.errors]


def test_the_numbers_asked_for_are_those_of_the_data_sheet():
    assert pytest.approx(device(GPU).ridge_fp32, abs=0.1) == INTENSITY == 20
    tile = TileConfiguration(**CLASSIC)
    assert (tile.threads, tile.shared_bytes, tile.registers) == (256, 8192, 112)
    assert tile.intensity == 32


def test_a_check_cell_passes_and_a_text_does(capsys):
    course_lib.check("pick_a_tile", CLASSIC)
    assert "passed (10 of 10 points)" in capsys.readouterr().out
    text = "\n".join(f"{name} = {value}" for name, value in CLASSIC.items())
    assert course_lib.examine_source("pick_a_tile", text).passed


def test_the_tile_of_lesson_05_is_not_enough(capsys):
    with pytest.raises(CheckFailed):
        course_lib.check("pick_a_tile", dict(zip(NAMES, (32, 32, 32, 1, 1), strict=True)))
    assert "8.0 FLOP per requested byte, but the exercise asks for 20" in capsys.readouterr().out


def test_the_verdict_is_that_of_the_conditions():
    """Every combination of usual sizes, judged by the conditions as the statement has them."""
    sides, steps, outputs = (32, 64, 96, 128, 256), (4, 8, 16, 64), (1, 4, 6, 8)
    seen = set()
    for BM, BN, BK, TM, TN in itertools.product(sides, sides, steps, outputs, outputs):
        fits = BM % TM == 0 and BN % TN == 0
        if fits:
            tile = TileConfiguration(BM, BN, BK, TM, TN)
            found = occupancy(GPU, tile.threads, tile.registers, tile.shared_bytes)
            fits = (
                tile.threads % 32 == 0
                and BM * BK % tile.threads == 0
                and BN * BK % tile.threads == 0
                and found.blocks >= LEAST_BLOCKS
                and tile.intensity >= INTENSITY
            )
        seen.add(fits)
        assert (codes(BM=BM, BN=BN, BK=BK, TM=TM, TN=TN) == []) == fits, (BM, BN, BK, TM, TN)
    assert seen == {True, False}


@every_case("numbers, expected", [
    ({"BM": True}, ["compile-error"]),
    ({"BM": "128"}, ["compile-error"]),
    ({"BM": 128.0}, ["compile-error"]),
    ({"BM": 0}, ["invalid-launch"]),
    ({"BM": -8}, ["invalid-launch"]),
    ({"BM": 10**30}, ["invalid-launch"]),
    ({"BM": None}, ["compile-error"]),
    ({"TM": 256}, ["incomplete-output"]),
])  # fmt: skip
def test_nonsense_is_a_finding(numbers, expected):
    assert codes(**numbers) == expected


@pytest.mark.parametrize("nonsense", [None, 3, "text", {}, [], len])
def test_what_are_no_numbers_is_reported(nonsense):
    report = course_lib.examine("pick_a_tile", nonsense)
    assert [each.code for each in report.errors] == ["missing-answer"]


def test_points_follow_the_conditions():
    def earned(**numbers: int) -> dict[str, int]:
        return course_lib.examine("pick_a_tile", {**CLASSIC, **numbers}).earned

    assert earned(TM=1, TN=1) == {"right": 0, "resident": 0, "intensity": 0}
    assert earned(BM=64, BN=64, TM=4, TN=4) == {"right": 4, "resident": 3, "intensity": 0}
    assert earned(BK=128) == {"right": 4, "resident": 0, "intensity": 3}


def test_numbers_of_numpy_are_whole_numbers_too():
    """`BM = np.int32(128)` is 128 wherever a kernel uses it."""
    text = "\n".join(f"{name} = np.int32({value})" for name, value in CLASSIC.items())
    report = course_lib.examine_source("pick_a_tile", f"import numpy as np\n{text}\n")
    assert report.passed
