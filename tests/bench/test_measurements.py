"""What bench writes and lessons read: the files, and what follows from them."""

import json
import math
import re
from dataclasses import fields
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from canned import measurements as canned
from every_case import every_case

from course_lib import bench, curriculum, figures, measurements
from course_lib.bench import fingerprints, libraries
from course_lib.bench.contestants import MOST_ERROR
from course_lib.bench.matrices import as_float64, random_inputs, rounded
from course_lib.host import runtime
from course_lib.kernels import RUNG_KERNELS
from course_lib.measurements import (
    Cell,
    Entry,
    Measurements,
    UnreadableMeasurements,
    attention,
    files,
    load,
    what_binds,
)
from course_lib.measurements.attention import CUDNN, OURS, AttentionProblem, AttentionRun, Row
from course_lib.measurements.banks import transpose
from course_lib.measurements.memory import forms, in_flight, levels

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


def test_every_field_is_documented_and_stored_files_hold_only_what_can_be():
    page = (REPOSITORY / "docs" / "bench.md").read_text(encoding="utf-8")
    named = set(re.findall(r"^\| `(\w+)`", page, re.MULTILINE))
    written = {each.name for kind in (Measurements, Entry, Cell) for each in fields(kind)}
    assert named >= written | {"schema"}
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
    files = [path.read_text(encoding="utf-8") for path in measurements.FOLDER.rglob("*.json")]
    dates = set(re.findall(r"\d{4}-\d\d-\d\d", "\n".join(files)))
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
    rungs = [each for each in stored.entries if each.kind == "rung"]
    shares = {each.name: 100 * (stored.share_of_twin(each, 4096) or 0) for each in rungs}
    shares = {name: share for name, share in shares.items() if share}
    named = ("coalesced", "tiled", "coalesced_while", "tiled_while")
    assert [round(shares.pop(name)) for name in named] == [int(each) for each in said.groups()[:4]]
    assert int(min(shares.values())) == int(said[5])
    readme = (REPOSITORY / "README.md").read_text(encoding="utf-8")
    said = re.search(r"reach (\S+) % \(`mma`\), (\S+) % \(`wgmma`\) and (\S+) % \(`tma`\)", readme)
    assert said is not None
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


def test_without_a_gpu_the_published_ladder_is_shown_or_a_stored_file(stored):
    found = bench.speeds(["naive", "tiled"])
    assert found.origin == "published" and set(found.gflops) == {"naive", "tiled"}
    assert curriculum.PUBLISHED_ON in str(found) and "Not measured by us" in str(found)
    assert "12.8%" in str(found)
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


FULL = AttentionProblem(4, 16, 4096, 128)
CAUSAL = AttentionProblem(4, 16, 4096, 128, causal=True)
MADE = AttentionRun("NVIDIA Made-up", "2026-01-02", {"torch": "2"}, (
    Row(OURS, FULL, (1.0, 3.0, 2.0), 2e-3),
    Row(CUDNN, FULL, (1.0, 1.0, 1.0), 2e-3),
    Row(OURS, CAUSAL, why_not="did not end"),
))  # fmt: skip


def test_the_files_of_attention_are_read_back_and_none_of_benchs() -> None:
    text = files.as_text(MADE.content())
    assert attention.parse(text) == MADE
    with pytest.raises(ValueError, match="schema 1"):
        attention.parse(text.replace('"schema": 1', '"schema": 2'))
    for device in measurements.devices():
        assert measurements.load(device).entries
    for device in attention.devices():
        made = attention.load(device)
        assert made.rows and made.date and made.versions


def test_the_table_has_every_row_and_what_was_not_measured_is_refused():
    table = str(MADE)
    assert MADE.label in table and table.count(OURS) == 2 and "did not end" in table
    assert table.index(CUDNN) < table.index(OURS)  # the fastest first
    with pytest.raises(KeyError, match="was not measured on batch 4"):
        MADE.find(OURS, CAUSAL)
    with pytest.raises(KeyError, match="not measured on 'T4'"):
        attention.load("T4")
    with pytest.raises(KeyError, match="naive at 1024"):
        levels("naive", 1000)
    for load_of in (in_flight, transpose):
        with pytest.raises(KeyError, match="there are: H200"):
            load_of("T4")


def test_the_transposes_lie_between_a_copy_and_no_tile() -> None:
    seen = transpose()
    assert seen.size == 16384 and seen.label.startswith("NVIDIA H200")
    order = ["copy", "padded", "row & 31", "row & 7", "tile", "no tile"]
    assert sorted(seen.ms, key=seen.ms.__getitem__) == order
    assert seen.gb_per_s["copy"] == pytest.approx(2 * 4 * 16384**2 / (seen.ms["copy"] / 1e3) / 1e9)


def test_what_a_kernel_moved_and_a_time_with_its_form() -> None:
    naive, tiled = levels("naive"), levels("tiled")
    assert naive.requested_gb == pytest.approx(8 * 4096**3 / 1e9)
    assert tiled.requested_gb == pytest.approx(naive.requested_gb / 32)
    twin = load("H200").entry("naive", "twin")
    assert twin is not None and naive.ms == twin.cell(4096).median_ms  # type: ignore[union-attr]
    lines = str(naive).splitlines()
    assert len(lines) == 3 and naive.label in lines[0]
    assert "549.8 GB" in lines[1] and f"{naive.dram_gb:,.1f}" in lines[1]
    coalesced = forms("coalesced")
    assert list(coalesced) == ["Numba, range", "Numba, while", "CUDA C++"]
    rung, typed = load("H200").entry("coalesced"), coalesced["Numba, range"]
    assert rung and rung.cell(4096).median_ms == typed.ms  # type: ignore[union-attr]
    assert coalesced["CUDA C++"].ms == levels("coalesced").ms
    assert all(timed.label.startswith("NVIDIA H200, 2026-11-") for timed in coalesced.values())
    assert list(forms("tiled")) == ["Numba, range", "CUDA C++"] and not forms("tiled", 1000)


def test_what_a_kernel_is_asked_for_and_what_was_not_counted_is_a_question(tmp_path, monkeypatch):
    seen = what_binds.seen("tensor_core_bf16")
    assert seen.fullest == "L2" and seen.label.startswith("NVIDIA H200, ")
    assert what_binds.seen("wgmma").fullest == what_binds.TENSOR_CORES
    assert str(seen).startswith("tensor_core_bf16: issue slots ")
    with pytest.raises(KeyError, match="not profiled on H200; there are: naive"):
        what_binds.seen("nobody")
    launches = {
        "full": {"busy": {"L2": 0.5, "DRAM": 0.04}, "l2_gb": 1.5, "shared_load_wavefronts": 3e9},
        "bare": {"busy": {"L2": 1.0, "DRAM": 0.01}},
    }
    head = {"device": "NVIDIA X", "counted": "2026-12-24", "size": 4096}
    files.store(tmp_path, "X", head | {"launches": launches})
    monkeypatch.setattr(what_binds, "FOLDER", tmp_path)
    assert what_binds.table("full", "bare", device="X").splitlines() == [
        "busy, in %, on an NVIDIA X, 2026-12-24, 4096 x 4096 x 4096",
        "       L2  GB from L2",
        "full   50        1.50",
        "bare  100           ?",
    ]
    assert what_binds.seen("full", "X").wavefronts == pytest.approx(3e9 / (4096**3 / 32))
    assert math.isnan(what_binds.seen("bare", "X").wavefronts)


TWINS = Path(__file__).parents[2] / "benchmarks" / "twins"
PYTHON = '"""Why."""\n\n\ndef kernel(A, B):\n    """What."""\n    # how\n    A[0] = B[1] + 2\n'
CUDA_C = "// why\n#pragma unroll\nfor (int i = 0; i < 4; ++i) a[i] = b[i];  /* how */\n"


WORDS = (("Why.", "Because."), ("    # how\n", ""), ("B[1] + 2", "(\n        B[1] + 2\n    )"))
CODE = (("B[1]", "B[0]"), ("+ 2", "+ 2.0"), ("+", "-"), ("A[0] =", "A[0] +="))


@every_case(("old", "new"), [*WORDS, *CODE])
def test_code_counts_in_python_and_words_and_layout_do_not(old, new):
    changed = fingerprints.of_python(PYTHON.replace(old, new))
    assert (changed == fingerprints.of_python(PYTHON)) == ((old, new) in WORDS)


def test_code_alone_counts_in_cuda_c_and_fingerprints_do_not_follow_pythons_version():
    same = CUDA_C.replace("// why\n", "").replace("/* how */", "// how").replace("; i", ";\n   i")
    assert fingerprints.of_cuda_c(same) == fingerprints.of_cuda_c(CUDA_C)
    for old, new in (("#pragma unroll", "#pragma unroll 2"), ("i < 4", "i < 5"), ("b[i]", "c[i]")):
        assert fingerprints.of_cuda_c(CUDA_C.replace(old, new)) != fingerprints.of_cuda_c(CUDA_C)
    assert fingerprints.of_python(PYTHON) == "cf9702547398"


@pytest.mark.parametrize("device", measurements.devices())
def test_what_is_stored_was_measured_with_these_kernels(device):
    changed = set()
    for entry in measurements.load(device).entries:
        if entry.kind in ("rung", "tuned"):
            now = fingerprints.of_python(RUNG_KERNELS[entry.name].source)
        elif entry.kind == "twin":
            now = fingerprints.of_cuda_c((TWINS / f"{entry.name}.cu").read_text(encoding="utf-8"))
        else:
            continue
        if entry.source != now:
            changed.add(entry.name)
    assert not changed, "run `course.py bench --nvcc --store` on a GPU"
