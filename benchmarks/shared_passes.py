"""Which passes through shared memory a GPU counts beyond a kernel's pattern: by launch and by line.

    python benchmarks/shared_passes.py --store FILE    with a GPU: count there, and store it
    python benchmarks/shared_passes.py FILE            anywhere: hold it against counts as compiled

`l1tex__data_…` counters sit at the hardware's shared memory and see everything that passes there:
they count each of several launches of a kernel. What Nsight Compute tells of each instruction is
made from the addresses, as the counts as compiled are. Four kernels of our own differ only in what
else is under way while they store and load.

Needs what `as_compiled.py` needs. Beside FILE the GPU's side leaves Nsight Compute's own report.
"""

from __future__ import annotations

import argparse
import csv
import json
import shutil
import subprocess
import sys
from collections import Counter, defaultdict
from datetime import UTC, datetime
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

import as_compiled
import numpy as np
from numba import cuda, float32

import course_lib
from course_lib.compiled_counts import count
from course_lib.emulator import copies_of
from course_lib.host import runtime
from course_lib.machine_code.compiler import compile_kernel
from course_lib.machine_code.sass import parse

TIMES = 10
SECONDS = 900
# The kernels of as_compiled.py whose counts differed, and two alike that did not.
NAMES = (
    "tiled matmul", "rung tiled", "matmul, padded", "rung register_1d", "rung register_2d",
    "rung vectorised", "rung warp_tiled", "rung double_buffered",
    "rung tensor_core_tf32", "rung tensor_core_bf16",
)  # fmt: skip
COUNTERS = as_compiled.SHARED[1:]
COMPILER = "nvidia-cuda-nvcc"  # which decides at which addresses the instructions stand
OPERATIONS = {"shared_load_wavefronts": ("LDS", "LDSM"), "shared_store_wavefronts": ("STS",)}
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


def ncu() -> Path:
    """Where Nsight Compute's command is."""
    return Path(shutil.which("ncu") or "/usr/local/cuda/bin/ncu").resolve()


def run_ncu(options: list[str], times: int) -> str:
    """What `ncu` prints of so many launches of each kernel; its last lines if it fails."""
    program = [sys.executable, __file__, "--launch", str(times)]
    done = subprocess.run([str(ncu()), *options, *program], capture_output=True, text=True,
                          timeout=SECONDS)  # fmt: skip
    if done.returncode:
        raise SystemExit("\n".join((done.stdout + done.stderr).splitlines()[-15:]))
    return done.stdout


def counted_by_launch(names: list[str]) -> dict[str, dict[str, list[float]]]:
    """The hardware's counters of each kernel, in the order of its launches."""
    metrics = {each: next(iter(as_compiled.METRICS[each])) for each in COUNTERS}
    options = ["--csv", "--print-units", "base", "--clock-control", "none", "--metrics"]
    lines = run_ncu([*options, ",".join(metrics.values())], TIMES).splitlines()
    rows = csv.DictReader(line for line in lines if line.startswith('"'))
    values = {
        (int(row["ID"]), row["Metric Name"]): float(row["Metric Value"].replace(",", ""))
        for row in rows
    }
    ids = sorted({at for at, _ in values})
    assert len(ids) == TIMES * len(names), f"{len(ids)} launches"
    return {
        name: {
            counter: [values[at, metric] for at in ids[place * TIMES : (place + 1) * TIMES]]
            for counter, metric in metrics.items()
        }
        for place, name in enumerate(names)
    }


def counted_by_instruction(names: list[str], report: Path) -> dict[str, list[list[int]]]:
    """Of each kernel the instructions on shared memory: where they stand, and their passes."""
    run_ncu(["-f", "-o", str(report.with_suffix("")), "--section", "SourceCounters"], 1)
    shown = ["--import", str(report), "--page", "source", "--csv", "--print-source", "sass"]
    text = subprocess.run([str(ncu()), *shown], capture_output=True, text=True, check=True).stdout
    found = passes_by_place(text)
    assert len(found) == len(names), f"{len(found)} tables"
    return dict(zip(names, found, strict=True))


def passes_by_place(text: str) -> list[list[list[int]]]:
    """Of every kernel's table on Nsight Compute's source page: place and passes of instructions.

    The place is counted in bytes from the kernel's first instruction. A table begins with a line
    that names its kernel.
    """
    tables = []
    for part in text.split('"Kernel Name",')[1:]:
        rows = list(csv.DictReader(part.splitlines()[1:]))
        first = min(int(row["Address"], 0) for row in rows)
        tables.append(
            [
                [int(row["Address"], 0) - first, int(row["L1 Wavefronts Shared"])]
                for row in rows
                if "Shared" in row["Address Space"]
            ]
        )
    return tables


def store(path: Path) -> None:
    """Count on the GPU here, and write it down."""
    names = list(launches())
    launched = counted_by_launch(names)
    path.parent.mkdir(parents=True, exist_ok=True)
    instructions = counted_by_instruction(names, path.with_suffix(".ncu-rep"))
    kernels = {
        name: {"launches": launched[name], "instructions": instructions[name]} for name in names
    }
    write(path, runtime.device_name(), f"{datetime.now(UTC):%Y-%m-%d}", kernels)
    print(f"{len(names)} kernels counted, {TIMES} launches each: {path}")


def write(path: Path, device: str, counted: str, kernels: dict[str, Any]) -> None:
    """One line for each kernel."""
    rows = ",\n".join(f"  {json.dumps(name)}: {json.dumps(row)}" for name, row in kernels.items())
    facts = {"device": device, "counted": counted, "compiler": version(COMPILER)}
    head = "".join(f' "{name}": {json.dumps(fact)},\n' for name, fact in facts.items())
    path.write_text(f'{{\n{head} "kernels": {{\n{rows}\n }}\n}}\n', encoding="utf-8")


Lines = dict[int, tuple[int, int, str]]


def by_line(launch: as_compiled.Launch, counted: Any) -> dict[str, Lines]:
    """By counter and line: the passes as compiled, those that Nsight Compute tells of the line's
    instructions, and which instructions these are."""
    kernel, grid, block, arguments, dynamic = launch
    more = {"max_dynamic_shared": dynamic} if dynamic else {}
    made = compile_kernel(kernel, copies_of(arguments), (9, 0))[9, 0]
    emulated = course_lib.emulate(kernel, steps=runtime.PATIENT_STEPS, **more)
    emulated.recount = partial(count, made=made)
    ours = emulated[grid, block, 0, dynamic](*copies_of(arguments)).as_compiled("9.0").lines
    at = {each.address: each for each in parse(made.sass or "", made.entry).instructions}
    found: dict[str, Lines] = {}
    for counter, operations in OPERATIONS.items():
        theirs: Counter[int] = Counter()
        names: dict[int, Counter[str]] = defaultdict(Counter)
        for place, passes in counted["instructions"]:
            if at[place].opcode.split(".")[0] in operations:
                theirs[at[place].line] += passes
                names[at[place].line][at[place].opcode] += 1
        mine = {line: int(getattr(each, counter)) for line, each in ours.items()}
        found[counter] = {
            line: (
                mine.get(line, 0),
                theirs[line],
                ", ".join(f"{n} {name}" for name, n in sorted(names[line].items())),
            )
            for line in sorted({line for line, passes in mine.items() if passes} | set(theirs))
        }
    return found


def compare(path: Path) -> int:
    """Print every line's passes, and what the hardware counted beyond them; 1 if a line differs."""
    stored, everything, odd = json.loads(path.read_text(encoding="utf-8")), launches(), 0
    for name, counted in stored["kernels"].items():
        for counter, lines in by_line(everything[name], counted).items():
            pattern = sum(passes for passes, _, _ in lines.values())
            beyond = [int(each) - pattern for each in counted["launches"][counter]]
            print(f"{name}, {counter}: {pattern:,}; beyond it {sorted(beyond)}")
            for line, (passes, told, names) in lines.items():
                odd += passes != told
                verdict = "" if passes == told else f", Nsight Compute {told:,}"
                print(f"    line {line}: {passes:,}{verdict}  {names}")
    print(f"{odd} lines differ")
    return min(odd, 1)


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
    elif options.file:
        return compare(options.file)
    return 0


if __name__ == "__main__":
    sys.exit(main())
