"""Compare the emulator's counters with a GPU's own, kernel by kernel.

    python benchmarks/hardware_counters.py            all kernels, 256 on a side
    python benchmarks/hardware_counters.py tiled      those with "tiled" in their name
    python benchmarks/hardware_counters.py --size 512

Needs a GPU, Nsight Compute (`ncu`) and the right to read its counters. Each kernel is launched
once in a process of its own under `ncu --clock-control none`; the same kernel with the same arrays
runs on the emulator. A line that differs is marked: docs/counters.md says where the compiler may
change what the source asks for. Without a GPU the emulator's side is printed alone.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numba import cuda, float32

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE)]

from emulator_kernels import CASES, Case, square_matrix, squares_of, transposed  # noqa: E402

from course_lib.emulator import Profile, emulate  # noqa: E402
from course_lib.ncu import METRICS, NoCounters, parse_ncu  # noqa: E402

SIDE = 32
SECONDS_EACH = 300


def transpose_rows_to_columns(A, B):
    """Loads coalesced, stores down the columns of B."""
    x, y = cuda.grid(2)
    if y < A.shape[0] and x < A.shape[1]:
        B[x, y] = A[y, x]


def transpose_without_padding(A, B):
    """Through a tile whose columns all lie in one bank."""
    tile = cuda.shared.array((SIDE, SIDE), float32)
    x, y = cuda.grid(2)
    tx = cuda.threadIdx.x
    ty = cuda.threadIdx.y
    if y < A.shape[0] and x < A.shape[1]:
        tile[ty, tx] = A[y, x]
    cuda.syncthreads()
    column = cuda.blockIdx.y * SIDE + tx
    row = cuda.blockIdx.x * SIDE + ty
    if row < B.shape[0] and column < B.shape[1]:
        B[row, column] = tile[tx, ty]


def _transpose(kernel: Callable[..., None]) -> Case:
    return Case(kernel, square_matrix, squares_of(SIDE), transposed, (256,), "²")


ALL_CASES = {
    **CASES,
    "naive transpose": _transpose(transpose_rows_to_columns),
    "unpadded transpose": _transpose(transpose_without_padding),
}


@dataclass(frozen=True)
class Comparison:
    """One counter of one kernel; `hardware` is None where there was no GPU."""

    counter: str
    emulator: int
    hardware: float | None

    @property
    def verdict(self) -> str:
        """Whether the two agree, or by what factor they do not."""
        if self.hardware is None:
            return ""
        if self.hardware == self.emulator:
            return "equal"
        return f"x {self.hardware / self.emulator:.3f}" if self.emulator else "differs"


def launch_on_gpu(name: str, size: int) -> None:
    """Launch one kernel once on the GPU and see that its result is right."""
    case = ALL_CASES[name]
    arrays = case.arrays(size)
    on_device = [cuda.to_device(array) for array in arrays]
    grid, block = case.launch(size)
    cuda.jit(case.kernel)[grid, block](*on_device)
    cuda.synchronize()
    output = on_device[-1].copy_to_host()
    expected = case.expected(*arrays[:-1])
    if not np.allclose(output, expected, rtol=1e-4, atol=1e-4 * np.abs(expected).max()):
        raise SystemExit(f"{name}: the GPU's result is wrong, so its counters mean nothing.")


def run_on_emulator(name: str, size: int) -> Profile:
    """The same launch on the emulator."""
    case = ALL_CASES[name]
    grid, block = case.launch(size)
    return emulate(case.kernel)[grid, block](*case.arrays(size))


def read_hardware(name: str, size: int) -> dict[str, float]:
    """The metrics of one launch under Nsight Compute, by their names.

    Raises:
        NoCounters: if there is no GPU, no ncu, or no right to read the counters.
    """
    ncu = shutil.which("ncu")
    if ncu is None:
        raise NoCounters("There is no `ncu` here; it comes with the CUDA toolkit.")
    wanted = sorted({metric for parts in METRICS.values() for metric in parts})
    command = [ncu, "--csv", "--clock-control", "none", "--metrics", ",".join(wanted)]
    command += [sys.executable, __file__, "--launch", name, "--size", str(size)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS_EACH)
    if "ERR_NVGPUCTRPERM" in done.stdout + done.stderr:
        raise NoCounters("This user may not read the GPU's counters (ERR_NVGPUCTRPERM).")
    metrics = parse_ncu(done.stdout, ALL_CASES[name].kernel.__name__)
    if done.returncode or not metrics:
        last = (done.stderr or done.stdout).strip().splitlines()[-1:] or ["nothing was printed"]
        raise NoCounters(f"ncu could not profile {name}: {last[0]}")
    return metrics


def compare(profile: Profile, metrics: dict[str, float] | None) -> list[Comparison]:
    """Emulator beside hardware, counter by counter, as far as either is not zero."""
    rows = []
    for counter, parts in METRICS.items():
        ours = int(getattr(profile, counter))
        theirs = None
        if metrics is not None:
            theirs = sum(metrics.get(metric, 0.0) * factor for metric, factor in parts.items())
        if ours or theirs:
            rows.append(Comparison(counter, ours, theirs))
    return rows


def show(name: str, size: int, rows: list[Comparison]) -> None:
    """Print the comparison of one kernel."""
    print(f"\n{name}, size {size}")
    print(f"  {'counter':28} {'emulator':>14} {'hardware':>14}")
    for row in rows:
        hardware = "-" if row.hardware is None else f"{row.hardware:,.0f}"
        print(f"  {row.counter:28} {row.emulator:14,} {hardware:>14}  {row.verdict}".rstrip())


def main() -> int:
    """Compare the chosen kernels; 1 if the hardware could not be read."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("kernels", nargs="*", help="parts of names; all kernels without any")
    parser.add_argument("--size", type=int, default=256)
    parser.add_argument("--launch", help=argparse.SUPPRESS)  # what runs under ncu
    options = parser.parse_args()
    if options.launch:
        launch_on_gpu(options.launch, options.size)
        return 0
    chosen = [n for n in ALL_CASES if not options.kernels or any(k in n for k in options.kernels)]
    if not chosen:
        print(f"No kernel is called so; there are: {', '.join(ALL_CASES)}.")
        return 2
    problem = None if cuda.is_available() else "There is no GPU here: the emulator's side alone."
    for name in chosen:
        metrics = None
        if problem is None:
            try:
                metrics = read_hardware(name, options.size)
            except NoCounters as reason:
                problem = str(reason)
        show(name, options.size, compare(run_on_emulator(name, options.size), metrics))
    if problem:
        print(f"\n{problem}")
    return 1 if problem else 0


if __name__ == "__main__":
    sys.exit(main())
