"""Print what each rung keeps busy on a GPU: the part of the machine that is fullest binds.

    python3 benchmarks/what_binds.py                     # every rung and cuBLAS, 4096 on a side
    python3 benchmarks/what_binds.py --store             # and keep it for the lessons
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
import math
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

OF_PEAK = ".avg.pct_of_peak_sustained_elapsed"
# Column of the table: how full that part was, in percent of what it can do.
SHARES = {
    "issue slots": f"sm__inst_issued{OF_PEAK}",
    "multiply-add units": f"sm__inst_executed_pipe_fma{OF_PEAK}",
    "tensor cores": f"sm__pipe_tensor_cycles_active{OF_PEAK}",
    "L1 and shared memory": f"l1tex__throughput{OF_PEAK}",
    "L2": f"lts__throughput{OF_PEAK}",
    "DRAM": f"dram__throughput{OF_PEAK}",
}
BYTES_OF_L2, CLOCK = "lts__t_bytes.sum", "sm__cycles_elapsed.avg.per_second"
DURATION = "gpu__time_duration.sum"
MMA = "sm__pipe_tensor_op_hmma_cycles_active.sum", "sm__inst_executed_pipe_tensor_op_hmma.sum"
# What is stored of a launch beside the shares: the metric, and what of it is one of ours.
SEEN = {
    "ms": (DURATION, 1e6),
    "mhz": (CLOCK, 1e6),
    "l2_gb": (BYTES_OF_L2, 1e9),
    "shared_load_wavefronts": ("l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum", 1),
    "waiting_for_global": (
        "smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio", 1
    ),
}  # fmt: skip
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


def as_stored(values: Mapping[str, float]) -> dict[str, Any]:
    """One launch as the file has it; what this GPU did not count is left out."""
    busy = {part: round(values.get(metric, math.nan) / 100, 3) for part, metric in SHARES.items()}
    seen = {name: values.get(metric, math.nan) / one for name, (metric, one) in SEEN.items()}
    cycles, instructions = (values.get(metric, 0) for metric in MMA)
    if instructions:
        seen["clocks_of_an_mma"] = cycles / instructions
    return {"busy": _counted(busy), **_counted(seen)}


def _counted(values: Mapping[str, float]) -> dict[str, float]:
    return {name: value for name, value in values.items() if not math.isnan(value)}


def store(found: Mapping[str, Mapping[str, float]], size: int, device: str) -> Path:
    """Keep what was counted of everyone for the lessons.

    Raises:
        SystemExit: if somebody is missing that the stored file has.
    """
    from course_lib.bench.session import short_name
    from course_lib.measurements import files, what_binds

    short = short_name(device)
    there = what_binds.names(short) if short in files.devices(what_binds.FOLDER) else ()
    for lost in sorted(set(there) - set(found)):
        raise SystemExit(f"Not stored: the file has {lost}, which this run lacks.")
    content = {
        "device": device,
        "counted": f"{datetime.now(UTC):%Y-%m-%d}",
        "counted_with": "Nsight Compute, clocks as they were, one launch of each",
        "size": size,
        "launches": {name: as_stored(values) for name, values in found.items()},
    }
    return files.store(what_binds.FOLDER, short, content)


def main() -> int:
    """Profile the chosen contestants; 1 if the hardware could not be read."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help="parts of names; everyone without any")
    parser.add_argument("--size", type=int, default=4096, help="edge of the matrices (4096)")
    parser.add_argument("--metrics", default="", help="more of ncu's metrics, with commas between")
    parser.add_argument("--store", action="store_true", help="keep all of it for the lessons")
    parser.add_argument("--launch", action="store_true", help=argparse.SUPPRESS)  # under ncu
    options = parser.parse_args()
    if options.launch:
        launch_all(options.names, options.size)
        return 0
    if options.store and options.names:
        parser.error("--store keeps everyone: leave the names out")
    more = [each for each in options.metrics.split(",") if each]
    metrics = {**SHARES, **{each: each for each in more}}
    seen = [metric for metric, _ in SEEN.values()]
    try:
        found = by_contestant(
            profile(options.names, options.size, [*seen, *MMA, *metrics.values()])
        )
    except NoCounters as problem:
        print(problem)
        return 1
    show(found, metrics)
    if options.store:
        from course_lib.bench import gpu

        print(f"Stored in {store(found, options.size, gpu.device()[0])}.")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
