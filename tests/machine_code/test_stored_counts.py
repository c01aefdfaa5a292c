"""What lessons 08 and 08b show where no compiler is, held to a compiler where one is.

`python tests/machine_code/test_stored_counts.py` counts anew and writes the file.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest
from by_path import module_at

import course_lib
from course_lib import machine_code
from course_lib.curriculum import TASKS
from course_lib.kernels import RUNG_KERNELS
from course_lib.machine_code.report import CompileReport
from course_lib.measurements.machine_code import FOLDER, counted, global_loads, names
from course_lib.questions.lesson_08b import TWICE

MATRICES = "void(float32[:, ::1], float32[:, ::1], float32[:, ::1])"
RUNGS = ("coalesced", "coalesced_while", "tiled", "register_1d", "register_2d")
WRITTEN = TASKS["eight_by_eight"].answer
UNSIGNED = ("cuda.threadIdx.x, cuda.threadIdx.y", "np.uint32(cuda.threadIdx.x), "
            "np.uint32(cuda.threadIdx.y)")  # fmt: skip
SIXTEEN = (("(8, 8)", "(16, 16)"), ("array(8,", "array(16,"), ("range(8)", "range(16)"),
           ("8 * x", "16 * x"), ("8 * y", "16 * y"), ("128", "256"))  # fmt: skip
# Variants of a task's answer: what is written instead of what. And the multiply-adds of a tile.
VARIANTS = {
    "eight_by_eight": ((), 1024),
    "eight_by_eight plain": ((("unroll(16)", "range(16)"),), 1024),
    "eight_by_eight unsigned": ((("unroll(16)", "range(16)"), UNSIGNED), 1024),
    "sixteen_by_sixteen": ((("unroll(16)", "range(16)"), *SIXTEEN), 4096),
}

ARRAYS = "void(float32[::1], float32[::1], float32[::1])"
# Kernels that need one number of global memory before a store and after it: asked for twice, or
# held in a variable.
ASKED = {
    "between": TWICE,
    "held": TWICE.replace("    y[i] = a[i] +", "    w = a[i]\n    y[i] = w +").replace(
        "z[i] = a[i]", "z[i] = w"
    ),
}


def global_loads_compiled(text: str, folder: Path) -> int:
    """How many instructions of a kernel for sm_75 load from global memory."""
    report = course_lib.compile_report(_kernel(text, "asks_twice", folder), ARRAYS, cc="7.5")
    _skip_without_disassembler(report)
    return sum(each.opcode.startswith("LDG") for each in report.code)


def compiled(name: str, folder: Path) -> tuple[CompileReport, float]:
    """The report on a kernel for sm_75, and its instructions for each multiply-add."""
    if name in RUNGS:
        report = course_lib.compile_report(RUNG_KERNELS[name].kernel, MATRICES, cc="7.5")
        _skip_without_disassembler(report)
        assert report.mix is not None and report.mix.instructions_per_ffma is not None
        return report, report.mix.instructions_per_ffma
    changes, multiply_adds = VARIANTS[name]
    text = WRITTEN
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    report = course_lib.compile_report(_kernel(text, "eight_by_eight", folder), MATRICES, cc="7.5")
    _skip_without_disassembler(report)
    each = report.over_a_tile(multiply_adds)
    assert each is not None
    return report, each


def _kernel(text: str, name: str, folder: Path) -> Any:
    """The kernel of this name, from a file with the text."""
    file = folder / f"text_{abs(hash(text))}.py"
    file.write_text(f"import numpy as np\nfrom numba import cuda, float32\n{text}")
    return getattr(module_at(file), name)


def _skip_without_disassembler(report: CompileReport) -> None:
    if report.mix is None:
        pytest.skip(report.note)


def row(report: CompileReport, each: float) -> dict[str, object]:
    assert report.mix is not None and report.mix.lds_per_ffma is not None
    return {
        "registers": report.registers,
        "spilled_bytes": report.spill_store_bytes,
        "kinds": dict(report.mix.kinds),
        "instructions": round(each, 4),
        "loads": round(report.mix.lds_per_ffma, 4),
    }


@pytest.mark.slow
@pytest.mark.skipif(bool(machine_code.missing()), reason="no compiler here")
@pytest.mark.parametrize("name", names())
def test_the_stored_counts_are_those_of_this_compiler(name: str, tmp_path: Path) -> None:
    """Compilers differ from version to version; what a lesson says has to stay true."""
    report, each = compiled(name, tmp_path)
    stored = counted(name)
    assert each == pytest.approx(stored.instructions, rel=0.05)
    assert (report.spill_store_bytes > 0) == (stored.spilled_bytes > 0)


@pytest.mark.slow
@pytest.mark.skipif(bool(machine_code.missing()), reason="no compiler here")
@pytest.mark.parametrize("name", ASKED)
def test_a_store_between_two_loads_keeps_both(name: str, tmp_path: Path) -> None:
    assert global_loads_compiled(ASKED[name], tmp_path) == global_loads(name)


def test_what_the_lesson_says_about_them() -> None:
    assert counted("eight_by_eight").instructions <= TASKS["eight_by_eight"].instructions
    assert counted("eight_by_eight unsigned").instructions > TASKS["eight_by_eight"].instructions
    assert (
        counted("sixteen_by_sixteen").spilled_bytes > 0 == counted("eight_by_eight").spilled_bytes
    )
    assert counted("coalesced").instructions > 4 * counted("coalesced_while").instructions
    assert {*RUNGS, *VARIANTS} == set(names())


if __name__ == "__main__":
    kernels, label = {}, ""
    with tempfile.TemporaryDirectory() as place:
        for kernel in (*RUNGS, *VARIANTS):
            made, of_each = compiled(kernel, Path(place))
            kernels[kernel] = row(made, of_each)
            label = f"{made.versions}, for sm_75"
            print(kernel, of_each, made.spill_store_bytes, file=sys.stderr)
        loads = {each: global_loads_compiled(ASKED[each], Path(place)) for each in ASKED}
    (FOLDER / "sm_75.json").write_text(
        json.dumps({"label": label, "kernels": kernels, "global_loads": loads}, indent=1) + "\n"
    )
