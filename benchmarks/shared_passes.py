"""Which passes through shared memory a GPU counts beyond a kernel's pattern: by launch and by line.

    python benchmarks/shared_passes.py --store FILE    with a GPU: count there, and store it
    python benchmarks/shared_passes.py FILE            anywhere: hold it against counts as compiled

`l1tex__data_…` counters sit at the hardware's shared memory and see everything that passes there.
`smsp__sass_l1tex_data_…` counters are made from the addresses of each instruction, as the counts as
compiled are. Every kernel is launched several times under the first, and once under the second;
four kernels of our own differ only in what else is under way while they store and load.

Needs what `as_compiled.py` needs. Beside FILE the GPU's side leaves Nsight Compute's own report.
"""

from __future__ import annotations

import argparse
import csv
import io
import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import as_compiled
import numpy as np
from numba import cuda, float32

from course_lib import runtime

TIMES = 10
SECONDS = 900
# The kernels of as_compiled.py whose counts differed, and two alike that did not.
NAMES = (
    "tiled matmul", "rung tiled", "matmul, padded", "rung register_1d", "rung register_2d",
    "rung vectorised", "rung warp_tiled", "rung double_buffered",
    "rung tensor_core_tf32", "rung tensor_core_bf16",
)  # fmt: skip
COUNTERS = as_compiled.SHARED[1:]
BY_LINE = tuple(
    f"smsp__sass_l1tex_data_{what}_mem_shared_op_{op}"
    for what in ("pipe_lsu_wavefronts", "bank_conflicts_pipe_lsu")
    for op in ("ld", "st")
)
# What to ask for, the next where this Nsight Compute does not know the one before.
QUESTIONS = (
    ",".join(BY_LINE) + ",regex:^smsp__sass_l1tex_t_sectors_pipe_lsu_mem_global.*",
    ",".join(BY_LINE),
    "regex:^smsp__sass_l1tex.*",
    "",
)
ROUNDS, BLOCKS, TILE = 64, 132, 512


def rounds_kernel(reads_global: bool) -> Any:
    """A kernel that stores and loads shared memory in turns, without any conflict."""

    @cuda.jit
    def in_turns(data, out):
        tile = cuda.shared.array(TILE, float32)
        tx, i = cuda.threadIdx.x, cuda.grid(1)
        value, total = float32(tx), float32(0)
        for turn in range(ROUNDS):
            if reads_global:
                value = data[turn * cuda.gridsize(1) + i]
            else:
                value += float32(1)
            tile[tx] = value
            cuda.syncthreads()
            total += tile[tx ^ 1]
            cuda.syncthreads()
        out[i] = total

    return in_turns


def launches() -> dict[str, as_compiled.Launch]:
    """The kernels to count, by name."""
    everything = as_compiled.launches()
    found = {name: everything[name] for name in NAMES}
    rng = np.random.default_rng(7)
    for reads_global in (False, True):
        kernel = rounds_kernel(reads_global)
        for threads in (32, TILE):
            data = rng.random(ROUNDS * BLOCKS * threads, np.float32)
            out = np.zeros(BLOCKS * threads, np.float32)
            what = "loads from global memory" if reads_global else "no global memory"
            found[f"{threads // 32} warps, {what}"] = kernel, BLOCKS, threads, [data, out], 0
    return found


def launch_on_gpu(times: int) -> None:
    """Launch every kernel so many times, on fresh copies; what Nsight Compute runs."""
    for launch in launches().values():
        for _ in range(times):
            as_compiled.launch_once(launch)
    cuda.synchronize()


def run_ncu(options: list[str], program: list[str]) -> str:
    """What `ncu` prints; ends the benchmark with its last lines if it fails."""
    ncu = shutil.which("ncu") or str(next(Path("/usr/local/cuda/bin").glob("ncu"), "ncu"))
    done = subprocess.run([ncu, *options, *program], capture_output=True, text=True,
                          timeout=SECONDS)  # fmt: skip
    if done.returncode:
        raise RuntimeError("\n".join((done.stdout + done.stderr).splitlines()[-15:]))
    return done.stdout


def table(text: str, begin: str) -> list[dict[str, str]]:
    """The rows of the CSV table in `text` whose header has the column `begin`."""
    lines = [line for line in text.splitlines() if line.startswith('"')]
    start = next((at for at, line in enumerate(lines) if f'"{begin}"' in line), len(lines))
    return list(csv.DictReader(io.StringIO("\n".join(lines[start:]))))


def counted_by_launch(names: list[str]) -> dict[str, dict[str, list[float]]]:
    """The hardware's counters of each kernel, in the order of its launches."""
    metrics = {each: next(iter(as_compiled.METRICS[each])) for each in COUNTERS}
    options = ["--csv", "--print-units", "base", "--clock-control", "none", "--metrics"]
    program = [sys.executable, __file__, "--launch", str(TIMES)]
    text = run_ncu([*options, ",".join(metrics.values())], program)
    values: dict[tuple[int, str], float] = {}
    for row in table(text, "Metric Name"):
        values[int(row["ID"]), row["Metric Name"]] = float(row["Metric Value"].replace(",", ""))
    ids = sorted({at for at, _ in values})
    assert len(ids) == TIMES * len(names), f"{len(ids)} launches"
    return {
        name: {
            counter: [values[at, metric] for at in ids[place * TIMES : (place + 1) * TIMES]]
            for counter, metric in metrics.items()
        }
        for place, name in enumerate(names)
    }


def counted_by_line(names: list[str], report: Path) -> dict[str, list[dict[str, Any]]]:
    """Of each kernel the instructions on shared memory, with what Nsight Compute counts of each."""
    program = [sys.executable, __file__, "--launch", "1"]
    collect = ["-f", "-o", str(report.with_suffix("")), "--import-source", "no"]
    collect += ["--section", "SourceCounters"]
    for metrics in QUESTIONS:
        try:
            run_ncu([*collect, *(["--metrics", metrics] if metrics else [])], program)
            break
        except RuntimeError as reason:
            print(f"not with {metrics or 'the section alone'}: {reason}")
    of_report = ["--import", str(report), "--page", "source", "--csv"]
    of_report += ["--print-metric-name", "name", "--launch-count", "1"]
    found = {}
    for place, name in enumerate(names):
        text = run_ncu([*of_report, "--launch-skip", str(place)], [])
        rows = table(text, "Source")
        found[name] = [kept(at, row) for at, row in enumerate(rows) if touches_memory(row)]
        if not found[name]:
            print(f"{name}: no instruction found in\n{text[:3000]}")
    return found


def touches_memory(row: dict[str, str]) -> bool:
    """Whether a row of the source page is an instruction on shared or global memory."""
    return any(name in row["Source"] for name in ("LDS", "STS", "ATOMS", "LDG", "STG", "LDSM"))


def kept(at: int, row: dict[str, str]) -> dict[str, Any]:
    """Number, text and counts of an instruction."""
    words = ("shared", "global", "inst_executed", "sectors", "wavefronts")
    counts = {
        name: value
        for name, value in row.items()
        if name and value and any(word in name.lower() for word in words)
    }
    return {"at": at, "text": row["Source"].strip(), **counts}


def store(path: Path) -> None:
    """Count on the GPU here, and write it down."""
    names = list(launches())
    plain: dict[str, Any] = {"device": runtime.device_name(), "times": TIMES}
    plain["by launch"] = counted_by_launch(names)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(plain, indent=1) + "\n", encoding="utf-8")
    plain["by line"] = counted_by_line(names, path.with_suffix(".ncu-rep"))
    path.write_text(json.dumps(plain, indent=1) + "\n", encoding="utf-8")
    print(f"{len(names)} kernels counted, {TIMES} launches each: {path}")


def main() -> int:
    """Store, or compare with what was stored."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", nargs="?", type=Path)
    parser.add_argument("--store", type=Path)
    parser.add_argument("--launch", type=int, help=argparse.SUPPRESS)  # what runs under ncu
    options = parser.parse_args()
    if options.launch:
        launch_on_gpu(options.launch)
    elif options.store:
        store(options.store)
    return 0


if __name__ == "__main__":
    sys.exit(main())
