"""What nvcc makes of the C++ twins, kept in twins.json, so that no test needs nvcc.

`PYTHONPATH=. .venv-compiler/bin/python tests/machine_code/twins_of_the_rungs.py` writes it anew.
"""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from course_lib.bench import fingerprints
from course_lib.machine_code import CompileReport, nvcc_report

FOLDER = Path(__file__).resolve().parents[2] / "benchmarks" / "twins"
KEPT = Path(__file__).with_name("twins.json")
NAMES = (
    "naive coalesced tiled register_1d register_2d vectorised warp_tiled double_buffered cp_async"
).split()
CAPABILITIES = ("7.5", "8.0", "9.0")


def fingerprint(name: str) -> str:
    """Of the twin's code, to notice that it has changed."""
    return fingerprints.of_cuda_c((FOLDER / f"{name}.cu").read_text(encoding="utf-8"))


def numbers(report: CompileReport) -> dict[str, int]:
    """What is compared: registers, and a trip through the hot loop."""
    assert report.mix is not None, report.note
    return {
        "registers": report.registers,
        "instructions": report.mix.total,
        "ffma": report.mix.ffma,
    }


def compiled(names: list[str], capabilities: tuple[str, ...]) -> dict[str, dict[str, Any]]:
    """The numbers of these twins, by name and compute capability."""
    jobs = [
        (name, cc) for name in names for cc in capabilities if (name, cc) != ("cp_async", "7.5")
    ]
    with ThreadPoolExecutor(2) as pool:
        reports = pool.map(lambda job: nvcc_report(FOLDER / f"{job[0]}.cu", job[1]), jobs)
        found: dict[str, dict[str, Any]] = {name: {} for name in names}
        for (name, cc), report in zip(jobs, reports, strict=True):
            found[name][cc] = numbers(report)
            found[name]["compiler"] = report.versions
    return found


if __name__ == "__main__":
    table = compiled(NAMES, CAPABILITIES)
    for each in NAMES:
        table[each]["source"] = fingerprint(each)
    KEPT.write_text(json.dumps(table, indent=1) + "\n", encoding="utf-8")
