"""Measure one product in cuTile, in Triton and in numba.cuda, beside cuBLAS.

    python3 benchmarks/tile_languages.py [--store]

Needs a GPU with PyTorch, and for the others what they need: cuda-tile with its compiler
(`tileiras`, `ptxas`, libnvvm), Triton, a Hopper GPU for rung 12. Who is missing is left out, and
said. Everyone multiplies bfloat16 to bfloat16, is checked at odd sizes first, and gives a sample
of 10 ms a round, in random order; medians count. Beside the time stands what the compiler made of
a tile: registers and bytes of local memory a thread (`cuobjdump -res-usage`), where it tells.
"""

from __future__ import annotations

import io
import os
import random
import re
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.util import find_spec
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from numba import cuda

from course_lib.bench import gpu
from course_lib.bench.nvml import Nvml
from course_lib.bench.session import short_name
from course_lib.kernels.rung_12_tma import ROUNDED
from course_lib.measurements import files, tile_languages

Launch = Callable[[], Any]

SIZES = ((2048,) * 3, (4096,) * 3, (8192,) * 3)
ODD = ((8, 8, 8), (130, 152, 72), (1000, 2056, 520))  # sides that no tile divides
CUTILE = (
    (64, 64, 64, None), (128, 128, 32, None), (128, 128, 64, None), (128, 128, 64, 8),
    (128, 256, 64, None), (128, 256, 64, 4), (128, 256, 64, 8),
    (256, 128, 64, None), (256, 128, 64, 8),
)  # fmt: skip
TRITON = (
    (64, 64, 64, 4, 3), (128, 128, 64, 4, 3), (128, 128, 64, 8, 3),
    (128, 256, 64, 4, 3), (128, 256, 64, 8, 3), (256, 128, 64, 8, 3),
)  # fmt: skip
ROUNDS, SAMPLE_MS, MOST_LAUNCHES = 7, 10.0, 200
SM_90 = "sm_90"


@dataclass(frozen=True)
class Contender:
    """One way to compute the product.

    Attributes:
        name: as it is printed and stored.
        tile: rows, columns and depth of a block's tile; empty where a library chooses.
        warps: warps that multiply; None where the compiler chooses.
        prepare: makes a launch of two inputs and an output (PyTorch tensors).
        resources: registers and bytes of local memory of a thread; empty where nobody tells.
    """

    name: str
    prepare: Callable[[Any, Any, Any], Launch]
    tile: tuple[int, ...] = ()
    warps: int | None = None
    resources: Callable[[], dict[str, int]] = dict


def in_torch() -> Iterator[Contender]:
    import torch

    yield Contender("cuBLAS", lambda A, B, C: lambda: torch.matmul(A, B, out=C))


def in_numba() -> Iterator[Contender]:
    import torch

    def prepare(*matrices: Any) -> Launch:
        bits = [cuda.as_cuda_array(matrix.view(torch.uint16)) for matrix in matrices]
        return ROUNDED.prepare(*bits)

    if gpu.device()[1] == (9, 0):
        yield Contender("numba.cuda, rung 12", prepare)


def in_cutile() -> Iterator[Contender]:
    if find_spec("cuda.tile") is None:
        print("cuTile is not installed (pip install 'cuda-tile[tileiras]').")
        return
    import cuda.tile as ct
    import torch
    from tiled.in_cutile import BY_WARPS

    def contender(tm: int, tn: int, tk: int, warps: int | None) -> Contender:
        def prepare(A: Any, B: Any, C: Any) -> Launch:
            grid = (-(-C.shape[0] // tm), -(-C.shape[1] // tn))
            stream = torch.cuda.current_stream()
            return lambda: ct.launch(stream, grid, BY_WARPS[warps], (A, B, C, tm, tn, tk))

        name = f"cuTile, {tm} x {tn} x {tk}" + (f", {warps} warps" if warps else "")
        use = lambda: cutile_resources(BY_WARPS[warps], (tm, tn, tk))  # noqa: E731
        return Contender(name, prepare, (tm, tn, tk), warps, use)

    yield from (contender(*each) for each in CUTILE)


def cutile_resources(kernel: Any, tile: tuple[int, int, int]) -> dict[str, int]:
    """Of the machine code that cuTile makes of it for Hopper, aligned arrays of any size."""
    import cuda.tile as ct
    from cuda.tile import compilation

    array = compilation.ArrayConstraint(
        ct.bfloat16, 2, index_dtype=ct.int32, stride_lower_bound_incl=0, alias_groups=[],
        may_alias_internally=False, stride_constant=(None, 1), stride_divisible_by=(16, 1),
        base_addr_divisible_by=16,
    )  # fmt: skip
    convention = compilation.CallingConvention.cutile_python_v1()
    signature = compilation.KernelSignature([array] * 3 + list(tile), convention)
    code = io.BytesIO()
    compilation.export_kernel(kernel, [signature], code, gpu_code=SM_90, output_format="cubin")
    with tempfile.NamedTemporaryFile(suffix=".cubin") as kept:
        kept.write(code.getvalue())
        kept.flush()
        told = subprocess.run(
            ["cuobjdump", "-res-usage", kept.name], capture_output=True, text=True, check=False
        )
    found = re.search(r"REG:(\d+) STACK:(\d+)", told.stdout)
    return {"registers": int(found[1]), "local_bytes": int(found[2])} if found else {}


def in_triton() -> Iterator[Contender]:
    if find_spec("triton") is None:
        print("Triton is not installed.")
        return
    from tiled.in_triton import matmul

    def contender(tm: int, tn: int, tk: int, warps: int, stages: int) -> Contender:
        used: dict[str, int] = {}

        def prepare(A: Any, B: Any, C: Any) -> Launch:
            (M, K), N = A.shape, B.shape[1]
            grid = (-(-M // tm), -(-N // tn))

            def launch() -> Any:
                return matmul[grid](
                    A, B, C, M, N, K, tm, tn, tk, num_warps=warps, num_stages=stages
                )

            compiled = launch()
            used.update(registers=compiled.n_regs, local_bytes=4 * compiled.n_spills)
            return launch

        name = f"Triton, {tm} x {tn} x {tk}, {warps} warps"
        return Contender(name, prepare, (tm, tn, tk), warps, lambda: used)

    yield from (contender(*each) for each in TRITON)


def matrices(shape: tuple[int, int, int]) -> tuple[Any, Any, Any]:
    """A, B and room for C, in bfloat16."""
    import torch

    M, N, K = shape
    A, B = (torch.randn(size, device="cuda", dtype=torch.bfloat16) for size in ((M, K), (K, N)))
    return A, B, torch.full((M, N), float("nan"), device="cuda", dtype=torch.bfloat16)


def worst_error(contender: Contender) -> float:
    """The largest relative error (Frobenius norm) over the odd sizes."""
    import torch

    worst = 0.0
    for shape in ODD:
        A, B, C = matrices(shape)
        contender.prepare(A, B, C)()
        torch.cuda.synchronize()
        expected = A.double() @ B.double()
        worst = max(worst, float((C.double() - expected).norm() / expected.norm()))
    return worst


def milliseconds(
    contenders: list[Contender], shape: tuple[int, int, int], clock: gpu.EventClock
) -> dict[str, float]:
    """The median of each one's rounds."""
    A, B, C = matrices(shape)
    launches = {each.name: each.prepare(A, B, C) for each in contenders}
    count: dict[str, int] = {}
    for name, launch in launches.items():
        launch()
        ms = clock.sample(launch, 1, True).ms
        count[name] = max(1, min(MOST_LAUNCHES, round(SAMPLE_MS / ms)))
    samples: dict[str, list[float]] = {name: [] for name in launches}
    for _ in range(ROUNDS):
        for name in random.sample(list(launches), len(launches)):
            samples[name].append(clock.sample(launches[name], count[name], True).ms)
    return {name: statistics.median(each) for name, each in samples.items()}


def measured() -> dict[str, dict[str, Any]]:
    """By name: tile, warps, worst error, resources, and milliseconds by size."""
    clock = gpu.EventClock(Nvml(gpu.device()[2]))
    contenders = [each for made in (in_torch, in_numba, in_cutile, in_triton) for each in made()]
    rows: dict[str, dict[str, Any]] = {}
    for contender in list(contenders):
        try:
            error = worst_error(contender)
        except Exception as failure:  # a tile that this GPU has no room for
            print(f"{contender.name}: {type(failure).__name__}: {str(failure)[:200]}")
            contenders.remove(contender)
            continue
        row = {"tile": contender.tile, "warps": contender.warps, "error": error}
        rows[contender.name] = {**row, **contender.resources(), "ms": {}}
    for shape in SIZES:
        size = " x ".join(map(str, shape))
        for name, ms in milliseconds(contenders, shape, clock).items():
            rows[name]["ms"][size] = ms
        best = rows["cuBLAS"]["ms"][size]
        print(f"{size}: cuBLAS {2e-9 * shape[0] * shape[1] * shape[2] / best:.0f} TFLOP/s")
        for name, row in rows.items():
            print(f"  {name:32} {best / row['ms'][size]:.3f} of it, error {row['error']:.1e}, "
                  f"{row.get('registers', '')} registers, {row.get('local_bytes', '')} bytes "
                  "of local memory", flush=True)  # fmt: skip
    return rows


def versions() -> dict[str, str]:
    """Of everyone who takes part."""
    from importlib.metadata import PackageNotFoundError, version

    found = {}
    for package in ("torch", "numba-cuda", "cuda-tile", "triton"):
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


def main() -> None:
    name, _, _ = gpu.device()
    rows = measured()
    if "--store" in sys.argv:
        about = {"device": name, "date": datetime.now(UTC).date().isoformat()}
        about |= {"versions": versions(), "rows": rows}
        print(f"Stored in {files.store(tile_languages.FOLDER, short_name(name), about)}.")


if __name__ == "__main__":
    os.environ.setdefault("TRITON_CACHE_DIR", tempfile.mkdtemp())
    main()
