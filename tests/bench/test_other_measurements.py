"""Stored measurements of attention, banks, memory, and of what a profiler saw."""

import math

import pytest

from course_lib import measurements
from course_lib.measurements import attention, files, load, what_binds
from course_lib.measurements.attention import CUDNN, OURS, AttentionProblem, AttentionRun, Row
from course_lib.measurements.banks import transpose
from course_lib.measurements.memory import forms, in_flight, levels

FULL = AttentionProblem(4, 16, 4096, 128)
CAUSAL = AttentionProblem(4, 16, 4096, 128, causal=True)
MADE = AttentionRun("NVIDIA Made-up", "2026-01-02", {"torch": "2"}, (
    Row(OURS, FULL, (1.0, 3.0, 2.0), 2e-3),
    Row(CUDNN, FULL, (1.0, 1.0, 1.0), 2e-3),
    Row(OURS, CAUSAL, why_not="did not end"),
))  # fmt: skip


def test_a_file_gives_back_what_was_stored() -> None:
    text = files.as_text(MADE.content())
    assert attention.parse(text) == MADE
    with pytest.raises(ValueError, match="schema 1"):
        attention.parse(text.replace('"schema": 1', '"schema": 2'))


def test_what_was_not_measured_is_refused():
    with pytest.raises(KeyError, match="was not measured on batch 4"):
        MADE.find(OURS, CAUSAL)
    with pytest.raises(KeyError, match="not measured on 'T4'"):
        attention.load("T4")
    with pytest.raises(KeyError, match="naive at 1024"):
        levels("naive", 1000)
    with pytest.raises(KeyError, match="there are: H200"):
        in_flight("T4")
    with pytest.raises(KeyError, match="there are: H200"):
        transpose("T4")


def test_the_table_has_every_row_and_its_reason() -> None:
    table = str(MADE)
    assert MADE.label in table and table.count(OURS) == 2 and "did not end" in table
    assert table.index(CUDNN) < table.index(OURS)  # the fastest first


def test_files_of_attention_are_none_of_benchs() -> None:
    for device in measurements.devices():
        assert measurements.load(device).entries
    for device in attention.devices():
        made = attention.load(device)
        assert made.rows and made.date and made.versions


def test_the_transposes_lie_between_a_copy_and_no_tile() -> None:
    seen = transpose()
    assert seen.size == 16384 and seen.label.startswith("NVIDIA H200")
    order = ["copy", "padded", "row & 31", "row & 7", "tile", "no tile"]
    assert sorted(seen.ms, key=seen.ms.__getitem__) == order
    assert seen.gb_per_s["copy"] == pytest.approx(2 * 4 * 16384**2 / (seen.ms["copy"] / 1e3) / 1e9)


def test_three_lines_tell_what_a_kernel_moved_and_how_long_it_took() -> None:
    naive, tiled = levels("naive"), levels("tiled")
    assert naive.requested_gb == pytest.approx(8 * 4096**3 / 1e9)
    assert tiled.requested_gb == pytest.approx(naive.requested_gb / 32)
    twin = load("H200").entry("naive", "twin")
    assert twin is not None and naive.ms == twin.cell(4096).median_ms  # type: ignore[union-attr]
    lines = str(naive).splitlines()
    assert len(lines) == 3 and naive.label in lines[0]
    assert "549.8 GB" in lines[1] and f"{naive.dram_gb:,.1f}" in lines[1]


def test_a_time_names_its_form_and_the_typed_form_is_the_slowest() -> None:
    coalesced = forms("coalesced")
    assert list(coalesced) == ["Numba, range", "Numba, while", "CUDA C++"]
    rung, typed = load("H200").entry("coalesced"), coalesced["Numba, range"]
    assert rung and rung.cell(4096).median_ms == typed.ms  # type: ignore[union-attr]
    assert coalesced["CUDA C++"].ms == levels("coalesced").ms
    assert all(timed.label.startswith("NVIDIA H200, 2026-11-") for timed in coalesced.values())
    assert list(forms("tiled")) == ["Numba, range", "CUDA C++"] and not forms("tiled", 1000)


def test_what_it_is_asked_for() -> None:
    seen = what_binds.seen("tensor_core_bf16")
    assert seen.fullest == "L2" and seen.label.startswith("NVIDIA H200, ")
    assert what_binds.seen("wgmma").fullest == what_binds.TENSOR_CORES
    assert str(seen).startswith("tensor_core_bf16: issue slots ")
    with pytest.raises(KeyError, match="not profiled on H200; there are: naive"):
        what_binds.seen("nobody")


def test_a_table_shows_what_was_not_counted_as_a_question(tmp_path, monkeypatch) -> None:
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
