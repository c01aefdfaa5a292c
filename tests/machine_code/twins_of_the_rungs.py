"""What nvcc makes of the C++ twins, kept in twins.json, so that no test needs nvcc.

`PYTHONPATH=. .venv-compiler/bin/python tests/machine_code/twins_of_the_rungs.py` writes it anew.
"""

import json
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from course_lib.bench import fingerprints
from course_lib.machine_code import CompileFailed, CompileReport, CompilerMissing, compiler
from course_lib.machine_code.compiler import Compiled, find_tool
from course_lib.machine_code.report import report_of
from course_lib.wording.errors import PIP_INSTALL

GET_NVCC = f"{PIP_INSTALL} nvidia-cuda-nvcc nvidia-nvvm nvidia-cuda-crt nvidia-cuda-runtime"
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


def nvcc_report(source: Path, cc: str) -> CompileReport:
    """Compile a .cu file and say what came out; its kernel has the file's name.

    The kernel is declared `extern "C"`, so that its name is the same in the machine code.

    Raises:
        CompilerMissing: with the packages to install; a host compiler is needed, too.
        CompileFailed: with the compiler's reason.
    """
    wanted = compiler.capability(cc)
    nvcc = find_tool("nvcc")
    if nvcc is None:
        raise CompilerMissing(f"CUDA C++ is compiled by nvcc, which is not here: {GET_NVCC}.")
    with tempfile.TemporaryDirectory(prefix="machine-code-") as folder:
        cubin = Path(folder, "kernel.cubin")
        target = f"--gpu-architecture={compiler.target(wanted)}"
        flags = ["--cubin", "--generate-line-info", "--resource-usage", target]
        done = compiler.run([nvcc, *flags, str(source), "--output-file", str(cubin)])
        if done.returncode:
            lines = [line for line in done.stderr.splitlines() if "error" in line]
            raise CompileFailed(f"nvcc refuses {source.name}: {' '.join(lines[:1])}")
        sass, note = compiler.disassemble(cubin, wanted)
    versions = compiler.release(nvcc)
    log = done.stdout + done.stderr
    return report_of(Compiled(source.stem, "", log, sass, note, versions), source.stem, wanted)


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
    rows = (f" {json.dumps(name)}: {json.dumps(row)}" for name, row in table.items())
    KEPT.write_text("{\n" + ",\n".join(rows) + "\n}\n", encoding="utf-8")
