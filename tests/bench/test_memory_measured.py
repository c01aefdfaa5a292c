"""What was measured of a GPU's memory: the stored numbers add up."""

from __future__ import annotations

import pytest

from course_lib.measurements import load
from course_lib.measurements.memory import forms, in_flight, levels


def test_three_lines_tell_what_a_kernel_moved_and_how_long_it_took() -> None:
    naive, tiled = levels("naive"), levels("tiled")
    assert naive.requested_gb == pytest.approx(8 * 4096**3 / 1e9)
    assert tiled.requested_gb == pytest.approx(naive.requested_gb / 32)
    twin = load("H200").entry("naive", "twin")
    assert twin is not None and naive.ms == twin.cell(4096).median_ms  # type: ignore[union-attr]
    lines = str(naive).splitlines()
    assert len(lines) == 3 and naive.label in lines[0]
    assert "549.8 GB" in lines[1] and f"{naive.dram_gb:,.1f}" in lines[1]


def test_what_was_not_measured_is_refused_with_what_was() -> None:
    with pytest.raises(KeyError, match="naive at 1024"):
        levels("naive", 1000)
    with pytest.raises(KeyError, match="there are: H200"):
        in_flight("T4")


def test_a_time_names_its_form_and_the_typed_form_is_the_slowest() -> None:
    coalesced = forms("coalesced")
    assert list(coalesced) == ["Numba, range", "Numba, while", "CUDA C++"]
    rung, typed = load("H200").entry("coalesced"), coalesced["Numba, range"]
    assert rung and rung.cell(4096).median_ms == typed.ms  # type: ignore[union-attr]
    assert coalesced["CUDA C++"].ms == levels("coalesced").ms
    assert all(timed.label.startswith("NVIDIA H200, 2026-11-") for timed in coalesced.values())
    assert list(forms("tiled")) == ["Numba, range", "CUDA C++"] and not forms("tiled", 1000)
