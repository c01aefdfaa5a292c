"""The figure on sectors agrees with FACTS' table and with the emulator's counts."""

import numpy as np
import pytest
from every_case import every_case
from numba import cuda, float32
from test_gallery import look_at

from course_lib import figures
from course_lib.emulator import emulate
from course_lib.emulator.profile.request_costs import global_cost
from course_lib.figures.explore.sectors import PATTERNS, pattern_footprint
from course_lib.figures.requests import footprint_of

NAMES = list(PATTERNS)

# FACTS §3.1: pattern, bytes a lane, shift -> sectors, lines, percent of the bytes used.
TABLE = [
    ("neighbours: x[i]", 4, 0, 4, 1, "100 %"),
    *(("neighbours: x[i]", 4, shift, 5, 2, "80 %") for shift in range(1, 8)),
    ("stride 2: x[2·i]", 4, 0, 8, 2, "50 %"), ("stride 3: x[3·i]", 4, 0, 12, 3, "33.3 %"),
    ("stride 4: x[4·i]", 4, 0, 16, 4, "25 %"), ("stride 8: x[8·i]", 4, 0, 32, 8, "12.5 %"),
    ("stride 32: x[32·i]", 4, 0, 32, 32, "12.5 %"),
    ("a column, rows of 64: X[i, 0]", 4, 0, 32, 32, "12.5 %"),
    ("all the same: x[0]", 4, 0, 1, 1, "12.5 %"), ("reversed: x[31 - i]", 4, 0, 4, 1, "100 %"),
    ("rows of 16: X[i // 16, i % 16]", 4, 0, 4, 2, "100 %"),
    ("rows of 8: X[i // 8, i % 8]", 4, 0, 4, 4, "100 %"),
    ("rows of 4: X[i // 4, i % 4]", 4, 0, 8, 8, "50 %"), ("neighbours: x[i]", 8, 0, 8, 2, "100 %"),
    ("neighbours: x[i]", 16, 0, 16, 4, "100 %"),
]  # fmt: skip


@pytest.fixture(scope="module")
def patterns():
    return figures.explore_sectors()


def strided(A, B, C):
    row, column = cuda.grid(2)
    total = float32(0)
    for k in range(A.shape[1]):
        total += A[row, k] * B[k, column]
    C[row, column] = total


def launched(kernel, dtype=np.float32, **options):
    matrices = [np.ones((32, 32), dtype) for _ in range(3)]
    return emulate(kernel, **{"trace": True, **options})[(1, 1), (32, 32)](*matrices)


@every_case(("pattern", "width", "shift", "sectors", "lines", "used"), TABLE)
def test_the_table(patterns, pattern, width, shift, sectors, lines, used):
    found = pattern_footprint(pattern, width, shift)
    assert (len(found.sectors), len(found.lines), found.percent) == (sectors, lines, used)
    at = {"pattern": NAMES.index(pattern), "width": (4, 8, 16).index(width), "offset": shift}
    state = patterns.state(**at)
    assert state["number"]["text"].split()[0] == str(sectors)
    assert f"{sectors} sector" in patterns.sentence(**at)
    shown = sum(state[f"sector{number}"].get("display") != "none" for number in range(32))
    assert shown == sectors
    assert sum(state[f"line{number}"].get("display") != "none" for number in range(32)) == lines


def test_footprints_are_what_the_emulator_counts():
    chance = np.random.default_rng(5)
    for width in (1, 2, 4, 8, 16):
        for _ in range(40):
            addresses = width * chance.integers(0, chance.choice([9, 90, 9000]), 32)
            lanes = np.flatnonzero(chance.random(32) < chance.choice([0.3, 1.0]))
            active = np.isin(np.arange(32), lanes)[None, :]
            found = footprint_of(addresses[lanes], lanes, width)
            assert len(found.sectors) == global_cost(addresses[None, :], active, width).sectors
            assert found.used_bytes <= found.moved_bytes


def test_the_formula_and_the_size(patterns):
    assert patterns.size_bytes < 200_000
    assert patterns.state(offset=3)["formula"]["text"] == "x[i + 3]"
    column = NAMES.index("a column, rows of 64: X[i, 0]")
    assert patterns.state(pattern=column, offset=3)["formula"]["text"] == "X[i, 3]"
    look_at(patterns.still)


def test_own_kernel_line_by_line():
    profile = launched(strided)
    figure = figures.explore_sectors(profile)
    assert [each.split(", ")[1] for each in figure.controls[0].values] == [
        "load of A", "load of B", "store of C"
    ]  # fmt: skip
    texts = [figure.state(place=place)["number"]["text"] for place in range(3)]
    assert [text.split()[0] for text in texts] == ["32", "1", "32"]
    assert "read A[0, 0], A[1, 0], A[2, 0]" in figure.sentence(place=0)
    assert "A[0, 4]" in figure.sentence(place=0, visit=4)
    assert "read one element, B[2, 0]." in figure.sentence(place=1, visit=2)
    assert f"{profile.global_load_sectors:,} sectors" in figure.sentence(place=0)
    assert "first 8 of 32 warps and the first 10 of 32 visits" in figure.sentence()
    assert figure.size_bytes < 200_000
    assert "32 sectors for 32 lanes" in figure.still.alt
    look_at(figure.still)
