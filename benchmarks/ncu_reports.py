"""Count lesson 08b's kernels with Nsight Compute, and store what readers without a GPU see.

    python benchmarks/ncu_reports.py            print the reports
    python benchmarks/ncu_reports.py --store    and write them to course_lib/measurements/ncu
    python benchmarks/ncu_reports.py --compiled without a GPU: count only source and machine code
                                                anew, and write that beside the H200's reports

Needs a GPU, `ncu` and the right to read its counters; `--compiled` needs only the compiler.
"""

from __future__ import annotations

import argparse
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
from numba import cuda

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE)]

from emulator_kernels import CASES  # noqa: E402
from hardware_counters import transpose_without_padding  # noqa: E402

import course_lib  # noqa: E402
from course_lib.bench.session import short_name  # noqa: E402
from course_lib.measurements import files  # noqa: E402
from course_lib.measurements.ncu import FOLDER  # noqa: E402
from course_lib.ncu import METRICS, NcuReport  # noqa: E402
from course_lib.shown_answers import ours  # noqa: E402

SIZE, SIDE = 1024, 32
POINTS = 1 << 20


@cuda.jit
def copy(A, B):
    column, row = cuda.grid(2)
    if row < A.shape[0] and column < A.shape[1]:
        B[row, column] = A[row, column]


def launches() -> dict[str, tuple[Any, Any, Any, list[Any]]]:
    """By the name of the report: kernel, grid, block and arguments."""
    square = (SIZE // SIDE, SIZE // SIDE), (SIDE, SIDE)

    def matrices() -> list[Any]:
        return [np.random.default_rng(0).random((SIZE, SIZE), np.float32) for _ in range(2)]

    points = np.random.default_rng(0).random((POINTS, 3), np.float32)
    found: dict[str, tuple[Any, Any, Any, list[Any]]] = {
        "copy": (copy, *square, matrices()),
        "transpose, no tile": (ours("turn_directly"), *square, matrices()),
        "transpose, tile": (cuda.jit(transpose_without_padding), *square, matrices()),
        "squared_lengths": (
            ours("squared_lengths"), POINTS // 128, 128, [points, np.zeros(POINTS, np.float32)]
        ),
    }  # fmt: skip
    for name, key in (("transpose, padded", "tiled transpose"), ("tiled matmul", "tiled matmul"),
                      ("softmax", "softmax")):  # fmt: skip
        case, size = CASES[key], SIZE if name.startswith("transpose") else 256
        found[name] = (cuda.jit(case.kernel), *case.launch(size), list(case.arrays(size)))
    return found


def as_stored(report: NcuReport, grid: Any, block: Any) -> dict[str, Any]:
    """One entry of the file.

    Raises:
        SystemExit: with the reason, if the counters could not be read or the result was wrong.
    """
    if report.note or not report.counted:
        raise SystemExit(f"{report.kernel}: {report.note}")
    launch = f"grid {grid}, blocks of {block}"
    return {
        "launch": launch,
        "counts": {name: round(n) for name, n in report.counted.items()},
        "seen": dict(report.seen),
        "written": dict(report.emulated),
        "compiled": dict(report.compiled),
    }


def store_ours(device: str) -> None:
    """Count source and machine code of every stored report's kernel, beside the report."""
    plain = files.content_of(FOLDER, device, "no reports of")
    for name, (kernel, grid, block, arguments) in launches().items():
        written = course_lib.emulate(kernel)[grid, block](*arguments)
        compiled = written.as_compiled("9.0")
        for side, counted in (("written", written), ("compiled", compiled)):
            plain["reports"][name][side] = {each: int(getattr(counted, each)) for each in METRICS}
        plain["compiled_with"] = compiled.versions
    files.store(FOLDER, device, plain)


def main() -> int:
    """Count every kernel once."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--store", action="store_true")
    parser.add_argument("--compiled", action="store_true")
    options = parser.parse_args()
    course_lib.start()
    if options.compiled:
        store_ours("H200")
        return 0
    reports = {}
    for name, (kernel, grid, block, arguments) in launches().items():
        report = course_lib.ncu_report(kernel)[grid, block](*arguments)
        report.show()
        reports[name] = as_stored(report, grid, block)
    if options.store:
        device = course_lib.host.runtime.device_name()
        content = {
            "device": device,
            "counted": f"{datetime.now(UTC):%Y-%m-%d}",
            "counted_with": "Nsight Compute, clocks as they were, benchmarks/ncu_reports.py",
            "reports": reports,
        }
        print(f"Stored in {files.store(FOLDER, short_name(device), content)}.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
