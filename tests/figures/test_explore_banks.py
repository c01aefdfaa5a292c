"""The figure on banks agrees with the emulator's counts, for made-up tiles and for launches."""

import numpy as np
import pytest
from numba import cuda, float32
from test_gallery import look_at

from course_lib import figures
from course_lib.emulator import emulate
from course_lib.emulator.profile.request_costs import shared_cost
from course_lib.figures.explore.banks import (
    CURES,
    ROW_LENGTHS,
    WALKS,
    WIDTHS,
    passes_of,
    tile_phases,
)
from course_lib.figures.requests import phases_of

COLUMN, ROWS, *_ = range(len(WALKS))


@pytest.fixture(scope="module")
def made_up():
    return figures.explore_banks()


def transpose(A, C):
    tile = cuda.shared.array((32, 32), float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    tile[y, x] = A[y, x]
    cuda.syncthreads()
    if y < 3:
        C[y, x] = tile[x, y]


def copy(A, C):
    C[cuda.threadIdx.x, 0] = A[cuda.threadIdx.x, 0]


def unsolved(A, C):
    """Nothing yet."""


def launched(kernel, **options):
    A, C = np.ones((32, 32), np.float32), np.zeros((32, 32), np.float32)
    return emulate(kernel, **{"trace": True, **options})[(1, 1), (32, 32)](A, C)


@pytest.mark.parametrize(
    ("cure", "degree"),
    {"none": 32, "+1 column": 1, "XOR row & 7": 4, "XOR row & 15": 2, "XOR row & 31": 1}.items(),
)
def test_cures_of_a_column(cure, degree):
    assert passes_of(tile_phases(COLUMN, 32, cure, 4)) == degree
    for width in WIDTHS:  # no swizzle spoils the way along the rows
        if cure != "+1 column":
            phases = tile_phases(ROWS, 32, cure, width)
            assert passes_of(phases) == len(phases)


def test_passes_are_those_that_the_emulator_counts():
    chance = np.random.default_rng(4)
    for width in (1, 2, 4, 8, 16):
        for _ in range(60):
            addresses = width * chance.integers(0, chance.choice([3, 60, 900]), (1, 32))
            if chance.random() < 0.3:
                addresses = np.repeat(addresses[:, ::2], 2, axis=1)
            active = chance.random((1, 32)) < chance.choice([0.2, 1.0])
            lanes = np.flatnonzero(active[0])
            phases = phases_of(addresses[0][lanes], lanes, width)
            cost = shared_cost(addresses, active, width)
            assert passes_of(phases) == cost.wavefronts
            assert passes_of(phases) - len(phases) == cost.bank_conflicts
            served = [lane for phase in phases for each in phase.served for lane in each.lanes]
            assert sorted(served) == lanes.tolist()


def test_made_up_tile_in_numbers_and_words(made_up):
    assert made_up.size_bytes < 200_000
    start = made_up.state()
    assert start["number"]["text"].startswith("32 wavefronts")
    assert "32-way bank conflict" in made_up.sentence()
    cured = {"cure": CURES.index("+1 column")}
    assert made_up.state(**cured)["number"]["text"].startswith("1 wavefront ")
    assert "no conflict" in made_up.sentence(**cured)
    small = {"cure": CURES.index("XOR row & 31"), "length": ROW_LENGTHS.index(8)}
    assert "nothing is changed" in made_up.sentence(**small)
    assert made_up.state(**small)["formula"]["text"] == "i × 8"
    look_at(made_up.still)


def test_own_kernel_line_by_line():
    profile = launched(transpose)
    figure = figures.explore_banks(profile)
    assert [control.label for control in figure.controls] == ["access", "warp", "visit"]
    assert len(figure.controls[0].values) == 2
    assert figure.state(place=0)["number"]["text"].startswith("1 wavefront ")
    assert figure.state(place=1)["number"]["text"].startswith("32 wavefronts")
    assert "read tile[0, 0], tile[1, 0], tile[2, 0]" in figure.sentence(place=1)
    line = profile.lines[figure_line(figure, 1)]
    assert f"{line.shared_load_wavefronts:,} wavefronts" in figure.sentence(place=1)
    assert "first 8 of 32 warps" in figure.sentence()
    assert "does not reach" in figure.sentence(place=1, warp=5)
    assert figure.state(place=1, warp=5)["number"]["text"] == "–"
    assert figure.size_bytes < 100_000
    assert "32 wavefronts" in figure.still.alt
    look_at(figure.still)


def figure_line(figure, place):
    """The line number that a position of the first control names."""
    return int(figure.controls[0].values[place].split(",")[0].removeprefix("line "))


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (lambda: transpose, "This is no launch"),
        (lambda: np.ones((3, 3)), "This is no launch"),  # arrays have a trace, too
        (lambda: launched(transpose, trace=False), "was not traced"),
        (lambda: launched(unsolved), "touches no memory yet"),
        (lambda: launched(copy), "neither loads from nor stores to shared memory"),
    ],
)
def test_a_sentence_where_there_is_nothing_to_draw(given, words):
    figure = figures.explore_banks(given())
    assert words in figure.sentence() and words in figure.still.alt
    assert not figure.controls
    look_at(figure.still)


def test_a_block_that_does_not_exist():
    figure = figures.explore_banks(launched(transpose), block=(4, 4))
    assert "Block (4, 4)" in figure.sentence() and "1 × 1 × 1" in figure.sentence()
