"""The same report for CUDA C++: what nvcc makes of a file with one kernel, for comparison."""

from __future__ import annotations

import tempfile
from pathlib import Path

from course_lib.errors import PIP_INSTALL
from course_lib.machine_code import compiler
from course_lib.machine_code.compiler import Compiled, CompileFailed, CompilerMissing, find_tool
from course_lib.machine_code.report import CompileReport, report_of

GET_NVCC = f"{PIP_INSTALL} nvidia-cuda-nvcc nvidia-nvvm nvidia-cuda-crt nvidia-cuda-runtime"


def nvcc_report(source: Path, cc: str | tuple[int, int] = "7.5") -> CompileReport:
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
