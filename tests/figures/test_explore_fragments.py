"""The figure of fragments says what the PTX ISA says of lanes and registers."""

import pytest
from test_gallery import look_at

from course_lib import figures
from course_lib.figures.explore.fragments import held_by_lanes
from course_lib.figures.interactive import Interactive

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
    return {
        "A": [
            [(row, 2 * t + k), (row, 2 * t + 1 + k)] for k in halves for row in (g, g + 8)
        ],
        "B": [[(2 * t + k, g), (2 * t + 1 + k, g)] for k in halves],
        "C": c,
    }  # fmt: skip


@pytest.mark.parametrize("which", [F16, BF16, TF32])
def test_the_emulators_layout_is_that_of_the_ptx_isa(which):
    held = held_by_lanes(which)
    for lane in range(32):
        for name, registers in expected(which, lane).items():
            assert [list(each) for each in held[name][lane]] == registers


@pytest.mark.parametrize(
    ("which", "lane", "lines"),
    [
        (F16, 31, {"A line 1": "a1 A[15,6] A[15,7]", "B line 0": "b0 B[6,7] B[7,7]"}),
        (BF16, 5, {"A line 2": "a2 A[1,10] A[1,11]", "B line 1": "b1 B[10,1] B[11,1]"}),
        (TF32, 5, {"A line 3": "a3 A[9,5]", "B line 1": "b1 B[5,1]", "C line 3": "c3 C[9,3]"}),
    ],
)
def test_a_state_names_registers_and_elements(fragments, which, lane, lines):
    state = fragments.state(which=which, lane=lane)
    assert {name: state[name]["text"] for name in lines} == lines
    assert bool(state["A line 2"].get("text")) == (which != F16)  # it has two registers of A
    assert fragments.sentence(which=which, lane=lane).startswith(f"Lane {lane} = ")


@pytest.mark.slow
def test_the_figure_is_small_and_its_still_stands_alone(fragments):
    assert fragments.size_bytes < 100_000
    look_at(fragments.still)
