"""Figures on roofline, occupancy and thread tiles say what the data sheet and the formulas say."""

import random
import re

import pytest
from test_gallery import look_at

from course_lib import figures
from course_lib.devices import occupancy
from course_lib.figures.interactive import Interactive
from course_lib.roofline import Point

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


@pytest.mark.parametrize("name", ["roofs", "launches", "thread_tile"])
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
