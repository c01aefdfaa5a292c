"""The solutions of lesson 08 keep its habits: unsigned indices, and the loop over k written out."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from by_path import module_at

from course_lib import machine_code
from course_lib.machine_code import compile_report

ROOT = Path(__file__).resolve().parents[2]
SIGNATURE = "void(float32[:, ::1], float32[:, ::1], float32[:, ::1])"
# Multiply-adds of a thread for a tile, and the most instructions for each on sm_75. With `range` it
# is 4.6 and 2.9; what is left over 1 are loads, and tests against edges on every element.
MOST = {"matmul_1d": (8 * 8, 2.0), "matmul_2d": (8 * 16, 1.65)}


@pytest.mark.slow
@pytest.mark.skipif(bool(machine_code.missing()), reason="no compiler here")
@pytest.mark.parametrize("name", MOST)
def test_a_solution_spends_few_instructions_for_each_multiply_add(name: str, tmp_path: Path):
    cells = json.loads((ROOT / "solutions" / "08_register_tiling.ipynb").read_text())["cells"]
    (text,) = (t for t in ("".join(c["source"]) for c in cells) if f"# EXERCISE {name}\n" in t)
    file = tmp_path / f"{name}.py"
    file.write_text(f"import numpy as np\nfrom numba import cuda, float32\n{text}")
    report = compile_report(getattr(module_at(file), name), SIGNATURE, cc="7.5")
    if report.mix is None:
        pytest.skip(report.note)
    multiply_adds, most = MOST[name]
    each = report.over_a_tile(multiply_adds)
    assert each is not None and each <= most
    assert report.spill_store_bytes == 0
