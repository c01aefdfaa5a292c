"""Print what each rung keeps busy on a GPU: the part of the machine that is fullest binds.

    python3 benchmarks/what_binds.py                     # every rung and cuBLAS, 4096 on a side
    python3 benchmarks/what_binds.py wgmma cuBLAS --size 8192

Needs a GPU, Nsight Compute (`ncu`), the right to read its counters, and CuPy or PyTorch for cuBLAS.
Each contestant of `course.py bench` is launched once under `ncu --clock-control none`. A marker
kernel stands between two of them, so that every kernel is known to belong to one, whatever cuBLAS
calls its own. Speeds and right results are the bench's business.

The SM clock is that of the launch itself. The driver's own reading is an average over a longer
time and misses that a GPU slows down within milliseconds to stay below its power limit.
"""

from __future__ import annotations

import argparse
import csv
import io
import json
import math
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

OF_PEAK = ".avg.pct_of_peak_sustained_elapsed"
# Column of the table: how full that part was, in percent of what it can do.
SHARES = {
    "issue slots": f"sm__inst_issued{OF_PEAK}",
    "FP32 lanes": f"sm__inst_executed_pipe_fma{OF_PEAK}",
    "tensor cores": f"sm__pipe_tensor_cycles_active{OF_PEAK}",
    "L1 and shared memory": f"l1tex__throughput{OF_PEAK}",
    "L2": f"lts__throughput{OF_PEAK}",
    "DRAM": f"dram__throughput{OF_PEAK}",
}
BYTES_OF_L2, CLOCK = "lts__t_bytes.sum", "sm__cycles_elapsed.avg.per_second"
DURATION = "gpu__time_duration.sum"
MARKER = "between_two_contestants"
SECONDS = 500


class NoCounters(Exception):
    """The hardware's counters could not be read; the message says why, in one sentence."""


def chosen(parts: Sequence[str], contestants: Sequence[Any]) -> list[Any]:
    """The contestants whose names hold one of these parts; all of them without any."""
    return [each for each in contestants if not parts or any(part in each.name for part in parts)]


def contestants() -> tuple[list[Any], Any]:
    """Every rung that this GPU can run, cuBLAS in each precision, and the library behind it."""
    from course_lib.bench import gpu, libraries
    from course_lib.bench.contestants import rungs
    from course_lib.kernels import RUNG_KERNELS

    _, cc, _ = gpu.device()
    library = libraries.find()
    able = [each for each in rungs(RUNG_KERNELS, cc) if not isinstance(each, str)]
    return [*able, *library.contestants(cc)], library


def launch_all(parts: Sequence[str], size: int) -> None:
    """What runs under ncu: a marker, a contestant, a marker, the next contestant …"""
    from numba import cuda

    from course_lib.bench.matrices import Matrices

    @cuda.jit
    def between_two_contestants(nothing):
        nothing[0] = 0

    everyone, library = contestants()
    matrices = Matrices((size, size, size), library, seed=0)
    nothing = cuda.device_array(1)
    for each in chosen(parts, everyone):
        launch = each.prepare(matrices)
        between_two_contestants[1, 1](nothing)
        launch()
        cuda.synchronize()
        print(f"launched: {each.name}", flush=True)


def profile(parts: Sequence[str], size: int, metrics: Sequence[str]) -> str:
    """What ncu prints about them: a table, with the lines of `launch_all` before it.

    Raises:
        NoCounters: if there is no ncu, or no right to read the counters.
    """
    ncu = shutil.which("ncu")
    if ncu is None:
        raise NoCounters("There is no `ncu` here; it comes with the CUDA toolkit.")
    command = [ncu, "--csv", "--print-units", "base", "--clock-control", "none"]
    command += ["--metrics", ",".join(metrics)]
    command += [sys.executable, __file__, *parts, "--size", str(size), "--launch"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS)
    if "ERR_NVGPUCTRPERM" in done.stdout + done.stderr:
        raise NoCounters("This user may not read the GPU's counters (ERR_NVGPUCTRPERM).")
    if done.returncode:
        last = (done.stderr or done.stdout).strip().splitlines()[-1:] or ["nothing was printed"]
        raise NoCounters(f"ncu could not profile: {last[0]}")
    return done.stdout


def launches(text: str) -> Iterator[tuple[str, dict[str, float]]]:
    """Kernel and metrics of each launch in ncu's table, in their order.

    A metric that this GPU does not have is not-a-number.
    """
    lines = text.splitlines()
    start = next((i for i, line in enumerate(lines) if line.startswith('"ID"')), len(lines))
    by_launch: dict[str, tuple[str, dict[str, float]]] = {}
    for row in csv.DictReader(io.StringIO("\n".join(lines[start:]))):
        _, metrics = by_launch.setdefault(row["ID"], (row["Kernel Name"], {}))
        value = row["Metric Value"].replace(",", "")
        metrics[row["Metric Name"]] = float(value) if value[:1].isdigit() else float("nan")
    yield from by_launch.values()


def by_contestant(text: str) -> dict[str, dict[str, float]]:
    """The metrics of each contestant; of several kernels, those of the longest one."""
    prefix = "launched: "
    names = [line.removeprefix(prefix) for line in text.splitlines() if line.startswith(prefix)]
    groups: list[list[dict[str, float]]] = []
    for kernel, metrics in launches(text):
        if MARKER in kernel:
            groups.append([])
        elif groups:
            groups[-1].append(metrics)
    longest = [max(group, key=lambda each: each[DURATION]) for group in groups if group]
    return dict(zip(names, longest, strict=True))


def show(found: dict[str, dict[str, float]], metrics: dict[str, str]) -> None:
    """A table in Markdown; what has no unit is in percent."""
    titles = ["", "ms", "clock, MHz", "GB through L2", *metrics]
    print("| " + " | ".join(titles) + " |\n" + "|---" * len(titles) + "|")
    for name, values in found.items():
        ms, clock, moved = values[DURATION] / 1e6, values[CLOCK] / 1e6, values[BYTES_OF_L2] / 1e9
        cells = " | ".join(f"{values.get(metric, float('nan')):.0f}" for metric in metrics.values())
        print(f"| {name} | {ms:.3f} | {clock:.0f} | {moved:.2f} | {cells} |")


def shares(found: dict[str, dict[str, float]]) -> dict[str, dict[str, float]]:
    """How full each part of the GPU was, by contestant: 1 is full. Parts it lacks are left out."""
    return {
        name: {
            part: round(values[metric] / 100, 3)
            for part, metric in SHARES.items()
            if not math.isnan(values.get(metric, math.nan))
        }
        for name, values in found.items()
    }


def main() -> int:
    """Profile the chosen contestants; 1 if the hardware could not be read."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help="parts of names; everyone without any")
    parser.add_argument("--size", type=int, default=4096, help="edge of the matrices (4096)")
    parser.add_argument("--metrics", default="", help="more of ncu's metrics, with commas between")
    parser.add_argument("--json", type=Path, help="write the shares there, too, for `bench --ncu`")
    parser.add_argument("--launch", action="store_true", help=argparse.SUPPRESS)  # under ncu
    options = parser.parse_args()
    if options.launch:
        launch_all(options.names, options.size)
        return 0
    more = [each for each in options.metrics.split(",") if each]
    metrics = {**SHARES, **{each: each for each in more}}
    try:
        wanted = [DURATION, CLOCK, BYTES_OF_L2, *metrics.values()]
        text = profile(options.names, options.size, wanted)
    except NoCounters as problem:
        print(problem)
        return 1
    found = by_contestant(text)
    show(found, metrics)
    if options.json:
        options.json.write_text(json.dumps(shares(found)), encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
