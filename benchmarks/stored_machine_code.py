"""Count what the compiler makes of the kernels of lessons 08 and 08b, for a T4.

python3 benchmarks/stored_machine_code.py [--store]    needs numba-cuda and nvdisasm, and no GPU

"""

from __future__ import annotations

import importlib.util
import json
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import course_lib
from course_lib.curriculum import TASKS
from course_lib.kernels import RUNG_KERNELS
from course_lib.machine_code import CompilerMissing
from course_lib.machine_code.report import CompileReport
from course_lib.measurements import files
from course_lib.measurements.machine_code import FOLDER
from course_lib.questions.lesson_08b import TWICE
from course_lib.wording.errors import PlainError

TARGET, CC = "sm_75", "7.5"
MATRICES = "void(float32[:, ::1], float32[:, ::1], float32[:, ::1])"
RUNGS = ("coalesced", "coalesced_while", "tiled", "register_1d", "register_2d")
WRITTEN = TASKS["eight_by_eight"].answer
UNSIGNED = ("cuda.threadIdx.x, cuda.threadIdx.y", "np.uint32(cuda.threadIdx.x), "
            "np.uint32(cuda.threadIdx.y)")  # fmt: skip
SIXTEEN = (("(8, 8)", "(16, 16)"), ("array(8,", "array(16,"), ("range(8)", "range(16)"),
           ("8 * x", "16 * x"), ("8 * y", "16 * y"), ("128", "256"))  # fmt: skip
# Variants of a task's answer: what is written instead of what. And the multiply-adds of a tile.
VARIANTS: Mapping[str, tuple[tuple[tuple[str, str], ...], int]] = {
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


def compiled(kernel: Any, types: str) -> CompileReport:
    """The report on a kernel.

    Raises:
        CompilerMissing: if there is none, or no disassembler.
    """
    report = course_lib.compile_report(kernel, types, cc=CC)
    if report.mix is None:
        raise CompilerMissing(report.note)
    return report


def global_loads(name: str, folder: Path) -> int:
    """How many instructions of a kernel load from global memory."""
    report = compiled(_kernel(ASKED[name], "asks_twice", folder), ARRAYS)
    return sum(each.opcode.startswith("LDG") for each in report.code)


def counted(name: str, folder: Path) -> tuple[CompileReport, float]:
    """The report on a rung or a variant, and its instructions for each multiply-add."""
    if name in RUNGS:
        report = compiled(RUNG_KERNELS[name].kernel, MATRICES)
        assert report.mix is not None and report.mix.instructions_per_ffma is not None
        return report, report.mix.instructions_per_ffma
    changes, multiply_adds = VARIANTS[name]
    text = WRITTEN
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    report = compiled(_kernel(text, "eight_by_eight", folder), MATRICES)
    each = report.over_a_tile(multiply_adds)
    assert each is not None
    return report, each


def _kernel(text: str, name: str, folder: Path) -> Any:
    """The kernel of this name, from a file with the text."""
    file = folder / f"text_{abs(hash(text))}.py"
    file.write_text(f"import numpy as np\nfrom numba import cuda, float32\n{text}")
    return getattr(_module(file), name)


def _module(file: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(file.stem, file)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def row(report: CompileReport, each: float) -> dict[str, object]:
    """What the file says of a kernel."""
    assert report.mix is not None and report.mix.lds_per_ffma is not None
    return {
        "registers": report.registers,
        "spilled_bytes": report.spill_store_bytes,
        "kinds": dict(report.mix.kinds),
        "instructions": round(each, 4),
        "loads": round(report.mix.lds_per_ffma, 4),
    }


def content() -> dict[str, Any]:
    """What the file says."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        reports = {each: counted(each, folder) for each in (*RUNGS, *VARIANTS)}
        loads = {each: global_loads(each, folder) for each in ASKED}
    versions = reports["tiled"][0].versions
    return {
        "label": f"{versions}, for {TARGET}",
        "kernels": {name: row(*found) for name, found in reports.items()},
        "global_loads": loads,
    }


def main() -> None:
    """Count, print, and with --store keep it."""
    try:
        found = content()
    except PlainError as problem:
        raise SystemExit(str(problem)) from None
    print(json.dumps(found, indent=1))
    if sys.argv[1:] == ["--store"]:
        files.store(FOLDER, TARGET, found)


if __name__ == "__main__":
    main()
