"""Figures to explore with agree with the emulator, FACTS, the PTX ISA and the data sheets."""

import random
import re

import numpy as np
import pytest
from every_case import every_case
from known_kernels import matmul_strided
from numba import cuda, float32
from sampling import few
from test_gallery import look_at

from course_lib import figures
from course_lib.devices import occupancy
from course_lib.emulator import emulate
from course_lib.emulator.profile.request_costs import global_cost, shared_cost
from course_lib.figures.explore.banks import (
    CURES,
    ROW_LENGTHS,
    WALKS,
    WIDTHS,
    passes_of,
    tile_phases,
)
from course_lib.figures.explore.fragments import held_by_lanes
from course_lib.figures.explore.sectors import PATTERNS, pattern_footprint
from course_lib.figures.interactive import Interactive
from course_lib.figures.requests import footprint_of, phases_of
from course_lib.roofline import Point

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
    assert figure.size_bytes < 100_000 and "32 wavefronts" in figure.still.alt
    said = figures.explore_banks(profile, block=(4, 4)).sentence()
    assert "Block (4, 4)" in said and "1 × 1 × 1" in said
    look_at(figure.still, height=850)  # 32 wavefronts, one below the other


def figure_line(figure, place):
    """The line number that a position of the first control names."""
    return int(figure.controls[0].values[place].split(",")[0].removeprefix("line "))


@pytest.mark.parametrize(("given", "words"), [
    (lambda: transpose, "This is no launch"),
    (lambda: np.ones((3, 3)), "This is no launch"),  # arrays have a trace, too
    (lambda: launched(transpose, trace=False), "was not traced"),
    (lambda: launched(unsolved), "touches no memory yet"),
    (lambda: launched(copy), "neither loads from nor stores to shared memory"),
])  # fmt: skip
def test_a_sentence_where_there_is_nothing_to_draw(given, words):
    figure = figures.explore_banks(given())
    assert words in figure.sentence() and words in figure.still.alt
    assert not figure.controls
    look_at(figure.still)


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


def launched_product(kernel, dtype=np.float32, **options):
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


def test_sectors_of_ones_own_kernel_line_by_line():
    profile = launched_product(matmul_strided)
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
    assert "32 sectors in 32 lines" in figure.still.alt
    look_at(figure.still)


F16, BF16, TF32 = range(3)


@pytest.fixture(scope="module")
def fragments() -> Interactive:
    return figures.explore_fragments()


def expected(which: int, lane: int) -> dict[str, list[list[tuple[int, int]]]]:
    """PTX ISA, "Matrix Fragments for mma": with g = lane // 4 and t = lane % 4."""
    g, t = divmod(lane, 4)
    c = [[(g, 2 * t)], [(g, 2 * t + 1)], [(g + 8, 2 * t)], [(g + 8, 2 * t + 1)]]
    if which == TF32:
        a = [[(g, t)], [(g + 8, t)], [(g, t + 4)], [(g + 8, t + 4)]]
        return {"A": a, "B": [[(t, g)], [(t + 4, g)]], "C": c}
    halves = (0,) if which == F16 else (0, 8)
    a = [[(row, 2 * t + k), (row, 2 * t + 1 + k)] for k in halves for row in (g, g + 8)]
    return {"A": a, "B": [[(2 * t + k, g), (2 * t + 1 + k, g)] for k in halves], "C": c}


@pytest.mark.parametrize("which", [F16, BF16, TF32])
def test_the_emulators_layout_is_that_of_the_ptx_isa(which):
    held = held_by_lanes(which)
    for lane in range(32):
        for name, registers in expected(which, lane).items():
            assert [list(each) for each in held[name][lane]] == registers


@pytest.mark.parametrize(("which", "lane", "lines"), [
    (F16, 31, {"A line 1": "a1 A[15,6] A[15,7]", "B line 0": "b0 B[6,7] B[7,7]"}),
    (BF16, 5, {"A line 2": "a2 A[1,10] A[1,11]", "B line 1": "b1 B[10,1] B[11,1]"}),
    (TF32, 5, {"A line 3": "a3 A[9,5]", "B line 1": "b1 B[5,1]", "C line 3": "c3 C[9,3]"}),
])  # fmt: skip
def test_a_state_names_registers_and_elements(fragments, which, lane, lines):
    state = fragments.state(which=which, lane=lane)
    assert {name: state[name]["text"] for name in lines} == lines
    assert bool(state["A line 2"].get("text")) == (which != F16)  # it has two registers of A
    assert fragments.sentence(which=which, lane=lane).startswith(f"Lane {lane} = ")


POINTS = (
    Point("naive", 0.25, 309.0, "requested", "published: somewhere"),
    Point("at most", 3.0, None, "DRAM"),
)


@pytest.fixture(scope="module")
def roofs() -> Interactive:
    return figures.explore_roofline("A6000", POINTS)


@pytest.fixture(scope="module")
def launches() -> Interactive:
    return figures.explore_occupancy()


@pytest.fixture(scope="module")
def thread_tile() -> Interactive:
    return figures.explore_register_tile()


def at(figure: Interactive, **shown: str) -> dict[str, int]:
    """The positions at which controls show these values."""
    keys = {control.key: list(control.values) for control in figure.controls}
    return {
        key: next(n for n, value in enumerate(keys[key]) if value.split(" (")[0] == wanted)
        for key, wanted in shown.items()
    }


def texts(figure: Interactive, **shown: str) -> dict[str, str]:
    state = figure.state(**at(figure, **shown))
    return {name: patch["text"] for name, patch in state.items() if "text" in patch}


@pytest.mark.parametrize("name", few(["roofs", "launches", "thread_tile", "fragments"], 3))
def test_a_figure_is_small_and_its_still_stands_alone(name, request):
    figure = request.getfixturevalue(name)
    assert figure.size_bytes < 150_000
    look_at(figure.still)


def test_a_tile_of_ones_own_is_among_the_values_and_nonsense_is_refused():
    own = figures.explore_roofline("3090", tile=(48, 96))
    assert texts(own)["chosen"] == "Tile 48 × 96, FP32"
    assert own.state()["intensity value"]["text"].startswith("16 FLOP")
    with pytest.raises(ValueError, match="at least one"):
        figures.explore_roofline(tile=(0, 4))
    with pytest.raises(ValueError, match="At most 8"):
        figures.explore_roofline(points=POINTS * 5)


def test_every_state_is_the_calculators(launches):
    random.seed(5)
    values = {control.key: control.values for control in launches.controls}
    for _ in range(300):
        positions = {key: random.randrange(len(each)) for key, each in values.items()}
        gpu, threads, registers, shared = (values[key][place] for key, place in positions.items())
        found = occupancy(
            gpu.split(" (")[0], int(threads), int(registers), int(shared.split(" KiB")[0]) * 1024
        )
        state = launches.state(**positions)
        for limit, blocks in found.limits.items():
            assert state[f"{limit} number"]["text"].split()[0] == str(blocks)
            assert (state[f"{limit} binds"]["display"] is None) == (limit in found.limiters)
        if found.launches:
            assert f"{found.warps} of {found.max_warps} warps" in state["result"]["text"]
            slots = sum(float(w) + 3 for w in re.findall(r"h(\d[\d.]*)v", state["resident"]["d"]))
            assert round(slots / 21.6) == found.warps
        else:
            assert state["result"]["text"] == "✗ The launch fails."
            assert found.why_not in launches.sentence(**positions)


def test_an_own_launch_is_the_start_and_among_the_values():
    own = figures.explore_occupancy("3090", 200, 43, 5000)
    shown = {control.key: control.values[control.start] for control in own.controls}
    assert shown == {
        "gpu": "3090 (cc 8.6)", "threads": "200", "registers": "43", "shared": "5,000 B",
    }  # fmt: skip
    found = occupancy("3090", 200, 43, 5000)
    assert f"{found.warps} of {found.max_warps} warps" in own.sentence()
    with pytest.raises(ValueError):
        figures.explore_occupancy(threads=0)
