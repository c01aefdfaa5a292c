"""What a profiler saw of a launch: how it is read, and what is said of what nobody counted."""

from __future__ import annotations

import math

import pytest

from course_lib.measurements import files, what_binds


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
