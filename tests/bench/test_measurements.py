"""What bench writes and lessons read: the file, what follows from it, and its label."""

import json
import math
import re
from dataclasses import fields
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from canned import measurements as canned

from course_lib import bench, curriculum, figures, measurements
from course_lib.bench import libraries
from course_lib.bench.contestants import MOST_ERROR
from course_lib.bench.matrices import as_float64, random_inputs, rounded
from course_lib.host import runtime
from course_lib.measurements import Cell, Entry, Measurements, UnreadableMeasurements, attention

REPOSITORY = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize(("text", "why"), [
    ("no json", "Expecting value"),
    ("3", "int"),
    ('{"schema": 2, "entries": []}', "schema 2"),
    ('{"schema": 1, "entries": []}', "missing"),
    ('{"schema": 1, "entries": [], "colour": 3}', "colour"),
])  # fmt: skip
def test_a_foreign_file_is_refused_with_the_reason(text, why):
    with pytest.raises(UnreadableMeasurements, match=why):
        measurements.parse(text)


def test_every_field_is_documented():
    page = (REPOSITORY / "docs" / "bench.md").read_text(encoding="utf-8")
    named = set(re.findall(r"^\| `(\w+)`", page, re.MULTILINE))
    written = {each.name for kind in (Measurements, Entry, Cell) for each in fields(kind)}
    assert named >= written | {"schema"}


def test_stored_files_are_complete_and_hold_only_what_can_be(tmp_path):
    for name in measurements.devices():
        found = measurements.load(name)
        assert found.complete and found.short_name == name and found.versions and found.facts
        for each in found.entries:
            for cell in each.cells:
                assert cell.problem or min(cell.samples_ms) > 0
                peak = found.peaks_gflops.get(each.precision)
                assert cell.problem or not peak or cell.gflops <= 1.05 * peak
        # Byte for byte what bench writes: nobody has been at it by hand.
        path = measurements.FOLDER / f"{name}.json"
        assert path.read_text(encoding="utf-8") == found.as_json()


def labels_shown(text: str) -> set[str]:
    """Dates that stand beside the name of a GPU, as labels of measurements do."""
    return set(re.findall(r"NVIDIA [A-Z]+\d\w*, (\d{4}-\d\d-\d\d)", text))


@pytest.mark.parametrize("lesson", curriculum.LESSONS, ids=lambda each: each.number)
def test_a_lesson_shows_no_measurement_that_was_replaced(lesson):
    """A stored output with a date that no file has is of an older measurement: run it anew."""
    files = measurements.FOLDER.rglob("*.json")
    dates = {
        date
        for path in files
        for date in re.findall(r"\d{4}-\d\d-\d\d", path.read_text(encoding="utf-8"))
    }
    text = (REPOSITORY / "notebooks" / f"{lesson.stem}.ipynb").read_text(encoding="utf-8")
    assert labels_shown(text) <= dates
    by_bench = re.findall(r"Measured by `course.py bench` on [^,]+, (\d{4}-\d\d-\d\d)", text)
    newest = measurements.latest()
    assert newest is not None and set(by_bench) <= {newest.date[:10]}


def test_the_pages_say_what_is_stored():
    # Shares of the twins at 4096, rounded as the page has them.
    page = (REPOSITORY / "docs" / "bench.md").read_text(encoding="utf-8")
    said = re.search(
        r"On an H200 at 4096³, `coalesced` reaches only (\d+) % of the speed of its C\+\+ twin, "
        r"and `tiled` reaches (\d+) %\..*? "
        r"they reach (\d+) % and (\d+) % of the speed of the same twins\. "
        r"Lesson 08 shows both forms of the loop\. All other rungs reach (\d+) % or more",
        page,
    )
    assert said is not None
    stored = measurements.load("H200")
    shares = {
        each.name: 100 * share
        for each in stored.entries
        if each.kind == "rung" and (share := stored.share_of_twin(each, 4096))
    }
    named = ("coalesced", "tiled", "coalesced_while", "tiled_while")
    assert [round(shares.pop(name)) for name in named] == [int(each) for each in said.groups()[:4]]
    assert int(min(shares.values())) == int(said[5])
    readme = (REPOSITORY / "README.md").read_text(encoding="utf-8")
    said = re.search(r"reach (\S+) % \(`mma`\), (\S+) % \(`wgmma`\) and (\S+) % \(`tma`\)", readme)
    assert said is not None
    stored = measurements.load("H200")
    found = [stored.entry(name) for name in ("tensor_core_bf16", "wgmma", "tma_bf16")]
    shares = [100 * (stored.share_of_cublas(each, 4096) or 0) for each in found if each]
    assert [f"{shares[0]:.0f}", f"{shares[1]:.0f}", f"{shares[2]:.1f}"] == list(said.groups())
    seen = attention.load("H200")
    assert "`flash_attention` is at least as fast as cuDNN's" in readme
    problems = seen.problems("bfloat16")
    assert all(seen.share(attention.OURS, attention.CUDNN, each) >= 1 for each in problems)


@pytest.fixture
def stored(tmp_path, monkeypatch):
    """Where lessons look for files; no GPU."""
    monkeypatch.setattr(runtime, "on_gpu", lambda: False)
    monkeypatch.setattr(measurements.latest, "__defaults__", (tmp_path,))
    return tmp_path


def test_without_a_gpu_and_a_file_the_published_ladder_says_so(stored):
    found = bench.speeds(["naive", "tiled"])
    assert found.origin == "published" and set(found.gflops) == {"naive", "tiled"}
    assert curriculum.PUBLISHED_ON in str(found) and "Not measured by us" in str(found)
    assert "12.8%" in str(found)


def test_without_a_gpu_a_stored_file_is_shown_with_device_and_date(stored):
    measurements.store(canned(), stored)
    found = bench.speeds(size=4096)
    assert list(found.gflops) == ["naive", "tiled"]
    assert "NVIDIA Example 1, 2026-11-20, 4096 x 4096 x 4096" in str(found)
    both = bench.speeds(size=4096, precisions=("float32", "bfloat16"))
    assert both.of_cublas["tensor_core_bf16"] == pytest.approx(0.5)
    assert bench.speeds(size=3000).origin == "published"


def test_the_ladder_and_the_roofline_show_what_was_measured():
    picture = figures.ladder("tiled", speeds=canned().speeds(4096))
    assert "measured GFLOP/s on NVIDIA Example 1, 2026-11-20" in picture.alt
    assert "tiled 429 (20.0%)" in picture.alt and "You are on the rung tiled" in picture.alt
    assert figures.ladder(speeds=bench.published()).alt == figures.ladder().alt
    with pytest.raises(ValueError, match="register_2d"):
        figures.ladder("register_2d", speeds=canned().speeds(4096))
    words = figures.measured_roofline(canned()).alt
    assert "naive: 0.25 FLOP per requested byte" in words
    assert "tiled: 8 FLOP per requested byte, 429 GFLOP/s" in words
    assert "400 GB/s" in words and "tensor_core" not in words
    with pytest.raises(ValueError, match="2048"):
        figures.measured_roofline(canned(), 2048)


def test_bfloat16_rounds_to_nearest_even():
    # One place of bfloat16 above 1 is 2**-7; halves go to the even neighbour.
    values = np.float32([1, 1 + 2**-8, 1 + 3 * 2**-8, 1 + 2**-8 + 2**-20, -1.5, 0])
    back = as_float64(rounded(values, "bfloat16"), "bfloat16")
    assert back.tolist() == [1, 1, 1 + 2**-6, 1 + 2**-7, -1.5, 0]
    assert json.dumps(rounded(values, "bfloat16").tolist()[:2]) == "[16256, 16256]"


def test_one_element_too_few_shows():
    a, b = random_inputs((1100, 40, 200), seed=3)
    judge = libraries.NumpyOnly()
    product = as_float64(a, "float32") @ as_float64(b, "float32")

    def error(c: np.ndarray) -> float:
        return judge.difference(SimpleNamespace(copy_to_host=lambda: c), "float32", product)[0]

    right = a @ b
    unwritten, short = right.copy(), right.copy()
    unwritten[1050, 3] = np.nan
    short[1099, 39] -= a[1099, 199] * b[199, 39]  # the last step of K was left out
    assert error(right) < MOST_ERROR["float32"] < error(short)
    assert math.isnan(error(unwritten))
