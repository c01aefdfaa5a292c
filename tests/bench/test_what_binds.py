"""What a profiler saw is stored as docs/bench.md has it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from course_lib.measurements import what_binds

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "bench.md").read_text(encoding="utf-8")
IN_THE_PAGE = {"cuBLAS bfloat16": "cuBLAS bfloat16, result bfloat16"}


@pytest.mark.parametrize(
    "name", ["tensor_core_f16", "tensor_core_bf16", "wgmma", "cuBLAS bfloat16"]
)
def test_the_stored_row_is_the_pages(name: str) -> None:
    title = re.escape(IN_THE_PAGE.get(name, name))
    (row,) = re.findall(rf"^\| `?{title}`? \| (.*) \|$", PAGE, re.MULTILINE)
    ms, mhz, *shares, gb = [each.strip(" %") for each in row.split("|")]
    seen = what_binds.busy(name)
    assert [str(seen.mhz), *map(str, seen.share.values())] == [mhz, *shares]
    assert f"{seen.l2_gb:.2f}" == gb and float(ms) > 0


def test_what_it_is_asked_for() -> None:
    assert what_binds.busy("tensor_core_bf16").fullest == "L2"
    assert what_binds.busy("wgmma").fullest == "tensor cores"
    assert what_binds.clocks_of_an_mma() == (6, 4) and what_binds.power_limit() == 700
    warm = what_binds.sustained("wgmma")
    assert (warm.tflops, warm.mhz) == (594, (1455, 1485))
    assert "H200, 2026-11-22, 4096 x" in what_binds.table("wgmma").splitlines()[0]
    with pytest.raises(KeyError):
        what_binds.busy("tiled")
