"""The contestants of a benchmark: rungs in Python, their twins in CUDA C++, cuBLAS; C = A @ B."""

from __future__ import annotations

import importlib
import importlib.util
import os
import subprocess
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from course_lib.bench import fingerprints
from course_lib.kernels.tuning import Tuned, tuned
from course_lib.kernels.variants import TEMPLATES
from course_lib.machine_code.compiler import find_tool
from course_lib.measurements import Kind, Precision

# How the numbers of a precision lie in memory. TF32 is float32 that tensor cores round themselves.
STORED_AS: Mapping[str, str] = {
    "float32": "float32",
    "tf32": "float32",
    "float16": "float16",
    "bfloat16": "bfloat16",
}
# The largest error that rounding explains, as a share of the result's root mean square. The inputs
# count as they are stored, so only sums are rounded; TF32 rounds its inputs, too. A forgotten term
# costs about 0.03 at the odd shapes (contest.py), an unwritten element is NaN.
MOST_ERROR: Mapping[str, float] = {
    "float32": 1e-4,
    "tf32": 6e-3,
    "float16": 1e-3,
    "bfloat16": 1e-3,
}
ROUNDED_RESULT = 2e-2  # of a result that is itself rounded to 16 bits, on top


class MatmulProblem(Protocol):
    """One product to compute, and the judge of what was computed."""

    shape: tuple[int, int, int]  # M, N, K

    def operands(self, precision: str, result: str = "float32") -> tuple[Any, Any, Any]:
        """A, B and C on the GPU, A and B in the numbers of this precision, C in this format.

        There is one C in memory. A result of 16 bits fills the first half of it.
        """

    def poison(self) -> None:
        """Fill C with NaN, so that an element that nobody writes is noticed."""

    def judge(self, precision: str, result: str) -> tuple[float, float]:
        """The error and the accuracy of what C holds now (see `measurements.Cell`)."""


Launch = Callable[[], None]


@dataclass(frozen=True)
class Contestant:
    """One way to multiply.

    Attributes:
        name, kind, precision, tile, source: as in `measurements.Entry`.
        prepare: makes a launch for a problem; raises if this one can't compute it.
        result: how C is stored: float32, or the inputs' own format.
        multiples: sizes of which M, N or K must be multiples.
        least: the smallest M and N.
    """

    name: str
    kind: Kind
    precision: Precision
    prepare: Callable[[MatmulProblem], Launch]
    result: str = "float32"
    tile: tuple[int, ...] = ()
    source: str = ""
    multiples: Mapping[str, int] = field(default_factory=dict)
    least: tuple[int, int] = (1, 1)

    @property
    def most_error(self) -> float:
        """The largest error that still counts as right."""
        rounded = ROUNDED_RESULT if self.result != "float32" else 0.0
        return MOST_ERROR[self.precision] + rounded

    def shape_like(self, shape: tuple[int, int, int]) -> tuple[int, int, int]:
        """The nearest shape, at least as large, that this contestant can compute."""
        at_least = (max(shape[0], self.least[0]), max(shape[1], self.least[1]), shape[2])
        M, N, K = (
            -(-side // self.multiples.get(name, 1)) * self.multiples.get(name, 1)
            for name, side in zip("MNK", at_least, strict=True)
        )
        return M, N, K


def rungs(table: Mapping[str, Any], cc: tuple[int, int]) -> Iterable[Contestant | str]:
    """The rungs of the table that a GPU of this compute capability can run; else why not."""
    for name, rung in table.items():
        if tuple(rung.min_cc) > cc:
            needed = ".".join(map(str, rung.min_cc))
            yield f"{name} needs compute capability {needed}; this GPU has {cc[0]}.{cc[1]}."
        else:
            yield rung_in_python(rung)


def rung_in_python(rung: Any) -> Contestant:
    """A rung of the table as a contestant."""
    precision = precision_of(rung)

    result = format_of_result(rung)

    def prepare(problem: MatmulProblem) -> Launch:
        A, B, C = problem.operands(precision, result)
        return lambda: rung.launch(A, B, C)

    return Contestant(
        name=rung.name,
        kind="rung",
        precision=precision,
        prepare=prepare,
        result=result,
        tile=tuple(rung.tile),
        source=fingerprints.of_python(rung.source),
        **limits_of(rung),
    )


def tuned_rungs(table: Mapping[str, Any], device: str) -> Iterable[Contestant]:
    """Those rungs once more that were tuned on this device, with the tile that suits each size."""
    for name in TEMPLATES:
        choice = tuned(name, device)
        if name in table and choice.found and choice.found.sizes(name):
            usual = rung_in_python(choice.usual)
            yield replace(usual, kind="tuned", tile=(), prepare=_launches_of(choice))


def _launches_of(choice: Tuned) -> Callable[[MatmulProblem], Launch]:
    def prepare(problem: MatmulProblem) -> Launch:
        A, B, C = problem.operands(precision_of(choice.usual))
        return lambda: choice.launch(A, B, C)

    return prepare


def limits_of(rung: Any) -> dict[str, Any]:
    """The sizes that a rung, and its twin with it, cannot compute."""
    least = tuple(rung.tile[:2]) if getattr(rung, "room", False) else (1, 1)
    return {"multiples": dict(rung.multiples), "least": least}


def format_of_result(rung: Any) -> str:
    """How a rung stores C: uint16 means the bits of bfloat16."""
    return "bfloat16" if rung.result == "uint16" else str(rung.result)


def precision_of(rung: Any) -> Precision:
    """What a rung multiplies, in its own words, or the format of its inputs."""
    if getattr(rung, "precision", None):
        result: Precision = rung.precision
        return result
    if rung.dtype == "float32":
        return "tf32" if "tf32" in rung.name else "float32"
    return "float16" if rung.dtype == "float16" else "bfloat16"


# --- Twins of the rungs in CUDA C++, built with nvcc where it is installed: what does Python cost?
# `benchmarks/twins/tiled.cu` holds a kernel `tiled(A, B, C, M, N, K)` with C linkage, of the same
# tiles and the same launch as the rung `tiled`.


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
        arrays = tuple(cupy.asarray(operand) for operand in operands)
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
