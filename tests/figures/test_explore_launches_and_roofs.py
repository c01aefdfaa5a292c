"""Figures on roofline, occupancy and thread tiles say what the data sheet and the formulas say."""

from __future__ import annotations

import random
import re

import pytest
from test_gallery import look_at

from course_lib import figures
from course_lib.devices import DEVICES, occupancy
from course_lib.figures.interactive import Interactive
from course_lib.roofline import Point, tile_intensity

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


# --- what holds for each --------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["roofs", "launches", "thread_tile"])
def test_a_figure_is_small_and_its_still_stands_alone(name, request):
    figure = request.getfixturevalue(name)
    assert figure.size_bytes < 150_000
    look_at(figure.still)


# --- roofline -------------------------------------------------------------------------------------


def test_the_verdict_is_the_side_of_the_ridge(roofs):
    for gpu, row in DEVICES.items():
        for tile in ("8 × 8", "32 × 32", "64 × 64", "128 × 128", "256 × 256"):
            edge = int(tile.split()[0])
            for kind, ridge, size in (
                ("FP32", row.ridge_fp32, 4),
                ("FP16/BF16", row.ridge_fp16, 2),
            ):
                said = texts(roofs, gpu=gpu, tile=tile, type=kind)["verdict note"]
                left = tile_intensity(edge, itemsize=size) < ridge
                assert said.startswith("memory-bound" if left else "compute-bound")


def test_a_tile_of_ones_own_is_among_the_values_and_nonsense_is_refused():
    own = figures.explore_roofline("3090", tile=(48, 96))
    assert texts(own)["chosen"] == "Tile 48 × 96, FP32"
    assert own.state()["intensity value"]["text"].startswith("16 FLOP")
    with pytest.raises(ValueError, match="at least one"):
        figures.explore_roofline(tile=(0, 4))
    with pytest.raises(ValueError, match="At most 8"):
        figures.explore_roofline(points=POINTS * 5)


# --- occupancy ------------------------------------------------------------------------------------


def test_the_published_example_is_the_start(launches):
    said = texts(launches)
    assert said["result"] == "1 block × 32 warps = 32 of 48 warps: 66.7%"
    numbers = [
        said[f"{limit} number"] for limit in ("warps", "registers", "shared memory", "blocks")
    ]
    assert numbers == ["1 block", "1 block", "11 blocks", "16 blocks"]
    assert "Limited by warp slots and registers." in launches.sentence()


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
        "gpu": "3090 (cc 8.6)",
        "threads": "200",
        "registers": "43",
        "shared": "5,000 B",
    }
    found = occupancy("3090", 200, 43, 5000)
    assert f"{found.warps} of {found.max_warps} warps" in own.sentence()
    with pytest.raises(ValueError):
        figures.explore_occupancy(threads=0)


# --- thread tiles ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("tm", "tn", "ratio", "share"),
    [("1", "1", "= 2", "12.5%"), ("8", "1", "= 1.125", "22.2%"), ("8", "8", "= 0.25", "100.0%"),
     ("4", "4", "= 0.5", "50.0%")],
)  # fmt: skip
def test_loads_for_each_multiply_add(thread_tile, tm, tn, ratio, share):
    said = texts(thread_tile, tm=tm, tn=tn, gpu="A6000")
    assert said["ratio value"].endswith(ratio)
    assert said["share value"] == share
