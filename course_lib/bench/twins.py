"""The rungs once more in CUDA C++, built with nvcc where it is: what does Python cost?

`benchmarks/twins/tiled.cu` holds a kernel `tiled(A, B, C, M, N, K)` with C linkage, of the same
tiles and the same launch as the rung `tiled`.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

from course_lib.bench import fingerprints
from course_lib.bench.contestants import (
    Contestant,
    Launch,
    MatmulProblem,
    limits_of,
    precision_of,
)
from course_lib.machine_code.compiler import find_tool

BUILD_SECONDS = 120
OPTIONS = ("-O3", "-std=c++17", "-cubin")


class CannotBuild(Exception):
    """A twin that can't take part; the message says why."""


def twins(
    table: Mapping[str, Any], folder: Path, cc: tuple[int, int]
) -> Iterator[Contestant | str]:
    """The twins of those rungs that this GPU can run; else why not."""
    nvcc = find_tool("nvcc")
    if nvcc is None:
        yield "There is no nvcc here, so the C++ twins are left out."
        return
    if importlib.util.find_spec("cupy") is None:
        yield "The C++ twins are launched through CuPy, which is not installed here."
        return
    sources = {
        name: source
        for name, rung in table.items()
        if tuple(rung.min_cc) <= cc and (source := folder / f"{name}.cu").exists()
    }
    with ThreadPoolExecutor(os.cpu_count()) as builders:
        building = {
            name: builders.submit(build, nvcc, source, cc) for name, source in sources.items()
        }
    for name, source in sources.items():
        try:
            kernel = _load(building[name].result(), name, table[name].dynamic_shared)
        except CannotBuild as reason:
            yield f"{name} in C++ is left out: {reason}"
            continue
        yield _contestant(table[name], kernel, source.read_text(encoding="utf-8"))


def target(cc: tuple[int, int]) -> str:
    """nvcc's name for a compute capability; from Hopper on, with what only that chip has."""
    return f"sm_{cc[0]}{cc[1]}" + ("a" if cc[0] >= 9 else "")


def build(nvcc: str, source: Path, cc: tuple[int, int]) -> bytes:
    """Machine code of a twin.

    Raises:
        CannotBuild: with nvcc's first complaint.
    """
    with tempfile.TemporaryDirectory(prefix="twin-") as folder:
        cubin = Path(folder, "twin.cubin")
        command = [nvcc, *OPTIONS, f"-arch={target(cc)}", "-o", str(cubin), str(source)]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=BUILD_SECONDS)
        except (OSError, subprocess.TimeoutExpired) as problem:
            raise CannotBuild(f"nvcc does not run: {problem}") from None
        if done.returncode:
            complaints = [line for line in done.stderr.splitlines() if "error" in line]
            raise CannotBuild((complaints or [done.stderr.strip() or "no reason given"])[0])
        return cubin.read_bytes()


def _load(cubin: bytes, name: str, dynamic_shared: int) -> Any:
    cupy = importlib.import_module("cupy")
    with tempfile.NamedTemporaryFile(suffix=".cubin", delete=False) as file:
        file.write(cubin)
    try:
        kernel = cupy.RawModule(path=file.name).get_function(name)
    except Exception as problem:
        raise CannotBuild(f"it does not load: {problem}") from None
    finally:
        Path(file.name).unlink()
    if dynamic_shared:
        kernel.max_dynamic_shared_size_bytes = dynamic_shared
    return kernel


def _contestant(rung: Any, kernel: Any, text: str) -> Contestant:
    precision = precision_of(rung)

    def prepare(problem: MatmulProblem) -> Launch:
        cupy = importlib.import_module("cupy")
        A, B, C = operands = problem.operands(precision)
        rung.check_inputs(A, B, C)
        grid, block = rung.grid_and_block(*problem.shape)
        arrays = tuple(cupy.asarray(each) for each in operands)
        arguments = (*arrays, *(np.int32(side) for side in problem.shape))
        return lambda: kernel(grid, block, arguments, shared_mem=rung.dynamic_shared)

    return Contestant(
        name=rung.name,
        kind="twin",
        precision=precision,
        prepare=prepare,
        tile=tuple(rung.tile),
        source=fingerprints.of_cuda_c(text),
        **limits_of(rung),
    )
