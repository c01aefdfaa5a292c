"""Hold counts as compiled against a GPU's own counters, on kernels of many styles.

    python benchmarks/as_compiled.py                   all kernels, for compute capability 9.0
    python benchmarks/as_compiled.py --json FILE       and store what was counted
    python benchmarks/as_compiled.py --cc 7.5          for another GPU
    python benchmarks/as_compiled.py --hardware FILE   where there is a GPU: count there alone, and
                                                       store it; later, elsewhere: compare with it

Needs numba-cuda's compiler and nvdisasm; for the GPU's side also a GPU, Nsight Compute (`ncu`) and
the right to read its counters. All kernels are launched once in one process under
`ncu --clock-control none`; without a GPU the emulator's and the machine code's side are printed
alone.
"""

from __future__ import annotations

import argparse
import csv
import json
import re
import shutil
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
from numba import cuda

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE)]

import as_compiled_kernels  # noqa: E402
from emulator_kernels import CASES  # noqa: E402

import course_lib  # noqa: E402
from course_lib.compiled_counts import NotCounted  # noqa: E402
from course_lib.host import runtime  # noqa: E402
from course_lib.kernels import RUNG_KERNELS  # noqa: E402
from course_lib.kernels.accuracy import bits_of_bf16  # noqa: E402
from course_lib.machine_code import CompileFailed  # noqa: E402
from course_lib.ncu.reading import METRICS, counters_of  # noqa: E402

SECONDS = 900
RUNGS = (
    "tiled", "tiled_while", "register_1d", "register_2d", "vectorised", "warp_tiled",
    "double_buffered", "cp_async", "tensor_core_f16", "tensor_core_tf32", "tensor_core_bf16",
)  # fmt: skip
SHARED = (
    "shared_load_requests", "shared_load_wavefronts", "shared_load_bank_conflicts",
    "shared_store_wavefronts", "shared_store_bank_conflicts",
)  # fmt: skip
GLOBAL = (
    "global_load_requests", "global_load_sectors", "global_store_requests", "global_store_sectors",
)  # fmt: skip
# What traffic of other kinds adds to a counter of passes: up to so many of 100, or a few.
NOISE, FEW = 0.02, 300

Launch = tuple[Any, Any, Any, list[Any], int]


def launches() -> dict[str, Launch]:
    """By name: kernel, grid, block, arguments and bytes of dynamic shared memory."""
    found: dict[str, Launch] = dict(as_compiled_kernels.launches())
    for name, case in CASES.items():
        grid, block = case.launch(256)
        found[name] = cuda.jit(case.kernel), grid, block, list(case.arrays(256)), 0
    rng = np.random.default_rng(5)
    for name in RUNGS:
        rung = RUNG_KERNELS.get(name)
        if rung is None:
            continue
        A, B = (rng.random((256, 256), np.float32) for _ in "AB")
        A, B = (
            bits_of_bf16(each) if rung.dtype == "uint16" else each.astype(rung.dtype)
            for each in (A, B)
        )
        grid, block = rung.grid_and_block(256, 256, 256)
        C = np.zeros((256, 256), np.float32)
        found[f"rung {name}"] = rung.kernel, grid, block, [A, B, C], rung.dynamic_shared
    found.update(answers())
    return found


def answers() -> dict[str, Launch]:
    """The course's answers to tasks that are kernels, on their first even problem."""
    from course_lib.curriculum import TASKS
    from course_lib.problems.inputs import as_held, expected_of, make_inputs
    from course_lib.problems.problem import Case
    from course_lib.problems.table import problem_of
    from course_lib.shown_answers import ours

    found: dict[str, Launch] = {}
    for task in TASKS.values():
        if "cuda.shared" not in task.answer or not hasattr(task, "launch"):
            continue
        try:
            kernel = ours(task.id)
            problem = problem_of(task)
            shapes = [each.shape for each in problem.cases(problem.tiny, 1)]
            case = Case(max(shapes, key=np.prod))
            inputs = make_inputs(problem, case, 1)
            expected, _ = expected_of(problem, case, inputs)
            output = np.zeros(expected.shape, np.float32, problem.order)
            launch = task.launch(problem.covered(case.shape), {}, None)
        except Exception as reason:
            print(f"left out: {task.id} ({type(reason).__name__}: {reason})")
            continue
        if hasattr(kernel, "targetoptions") and not kernel.targetoptions.get("device"):
            arguments = [*as_held(problem, inputs), output]
            found[f"task {task.id}"] = kernel, launch.grid, launch.block, arguments, 0
    return found


def triple(sizes: Any) -> tuple[int, int, int]:
    """(x, y, z) from one to three sizes."""
    parts = tuple(sizes) if isinstance(sizes, tuple | list) else (sizes,)
    x, y, z = (*(int(part) for part in parts), 1, 1)[:3]
    return x, y, z


def launch_on_gpu(names: list[str]) -> None:
    """Launch every kernel once, in order; what Nsight Compute runs."""
    everything = launches()
    for name in names:
        launch_once(everything[name])
    cuda.synchronize()


def launch_once(launch: Launch) -> None:
    """Launch a kernel on the GPU, on copies of its arrays."""
    kernel, grid, block, arguments, dynamic = launch
    given = [cuda.to_device(each) if isinstance(each, np.ndarray) else each
             for each in arguments]  # fmt: skip
    if dynamic > 48 * 1024:
        from course_lib.kernels import large_shared

        large_shared.allow(kernel, tuple(given), dynamic)
    kernel[grid, block, 0, dynamic](*given)


Counts = dict[str, float]


def read_hardware(names: list[str]) -> tuple[dict[str, Counts], str]:
    """What the GPU counts of each launch, by the emulator's names, or why there is nothing."""
    ncu = shutil.which("ncu") or next(Path("/usr/local/cuda/bin").glob("ncu"), None)
    if ncu is None or not cuda.is_available():
        return {}, "There is no GPU here, or no `ncu`: the counts as compiled stand alone."
    wanted = sorted({metric for parts in METRICS.values() for metric in parts})
    command = [str(ncu), "--csv", "--print-units", "base", "--clock-control", "none"]
    command += ["--metrics", ",".join(wanted), sys.executable, __file__, "--launch", *names]
    done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS)
    rows = csv.DictReader(line for line in done.stdout.splitlines() if line.startswith('"'))
    found: dict[int, Counts] = {}
    for row in rows:
        metrics = found.setdefault(int(row["ID"]), {})
        try:
            metrics[row["Metric Name"]] = float(row["Metric Value"].replace(",", ""))
        except ValueError:
            continue
    if len(found) != len(names):
        tail = "\n".join((done.stdout + done.stderr).splitlines()[-15:])
        return {}, f"ncu saw {len(found)} launches of {len(names)}:\n{tail}"
    counted = (dict(counters_of(found[at])) for at in sorted(found))
    return dict(zip(names, counted, strict=True)), ""


def agreement(ours: float, theirs: float) -> str:
    """ "equal", "noise" for what other traffic may add, or by which factor they differ."""
    if ours == theirs:
        return "equal"
    if 0 <= theirs - ours <= max(NOISE * max(ours, 1), FEW):
        return "noise"
    return f"x {theirs / ours:.3g}" if ours else "differs"


def compare(name: str, launch: Launch, cc: str, counted: Counts | None) -> dict[str, Any]:
    """One kernel's counts as written, as compiled and as counted."""
    kernel, grid, block, arguments, dynamic = launch
    row: dict[str, Any] = {"kernel": name, "note": "", "counts": {}}
    more = {"max_dynamic_shared": dynamic} if dynamic else {}
    emulated = course_lib.emulate(kernel, steps=runtime.PATIENT_STEPS, **more)
    written = emulated[grid, block, 0, dynamic](*arguments)
    try:
        compiled = written.as_compiled(cc)
    except (NotCounted, CompileFailed) as reason:
        row["note"] = str(reason)
        return row
    for counter in (*SHARED, *GLOBAL, "flops"):
        entry: dict[str, Any] = {
            "written": int(getattr(written, counter)),
            "compiled": int(getattr(compiled, counter)),
        }
        if counted is not None:
            entry["ncu"] = counted.get(counter, 0)
            entry["agreement"] = agreement(entry["compiled"], entry["ncu"])
        row["counts"][counter] = entry
    row["instructions"] = compiled.executed
    return row


def show(rows: list[dict[str, Any]]) -> None:
    """Print the table of shared counts, and how many agree."""
    print(f"{'kernel':24} {'counter':28} {'written':>12} {'compiled':>12} {'ncu':>12}")
    told: dict[str, dict[str, int]] = {}
    for row in rows:
        if row["note"]:
            print(f"{row['kernel']:24} {row['note'][:150]}")
        for counter, entry in row["counts"].items():
            verdict = entry.get("agreement", "")
            if verdict:
                sums = told.setdefault(counter, {})
                kind = verdict if verdict in ("equal", "noise") else "differ"
                sums[kind] = sums.get(kind, 0) + 1
            if any(entry.get(side) for side in ("written", "compiled", "ncu")):
                numbers = " ".join(
                    f"{'-' if entry.get(side) is None else format(entry[side], ',.0f'):>12}"
                    for side in ("written", "compiled", "ncu")
                )
                print(f"{row['kernel']:24} {counter:28} {numbers}  {verdict}".rstrip())
    for counter, sums in told.items():
        print(f"{counter:28} " + ", ".join(f"{kind} {n}" for kind, n in sorted(sums.items())))


def write(path: Path, plain: dict[str, Any]) -> None:
    """Write a file of results, with a line for each kernel."""
    path.parent.mkdir(parents=True, exist_ok=True)
    rows = re.sub(r"\n {3,}|\n  (?=[}\]])", "", json.dumps(plain, indent=1))
    path.write_text(rows + "\n", encoding="utf-8")


def main() -> int:
    """Compare all kernels, or those whose names have one of the given parts."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("kernels", nargs="*", help="parts of names; all kernels without any")
    parser.add_argument("--cc", default="9.0")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--hardware", type=Path)
    parser.add_argument("--launch", nargs="+", help=argparse.SUPPRESS)  # what runs under ncu
    options = parser.parse_args()
    if options.launch:
        launch_on_gpu(options.launch)
        return 0
    everything = launches()
    parts = options.kernels
    names = [name for name in everything if not parts or any(part in name for part in parts)]
    if options.hardware and options.hardware.exists():
        stored = json.loads(options.hardware.read_text(encoding="utf-8"))
        hardware, device, problem = stored["kernels"], stored["device"], ""
        names = [name for name in names if name in hardware]
    else:
        (hardware, problem), device = read_hardware(names), runtime.device_name()
    today = f"{datetime.now(UTC):%Y-%m-%d}"
    if options.hardware and not options.hardware.exists():
        if not problem:
            write(options.hardware, {"device": device, "counted": today, "kernels": hardware})
        print(problem or f"{len(hardware)} launches counted")
        return 1 if problem else 0
    rows = [compare(name, everything[name], options.cc, hardware.get(name)) for name in names]
    show(rows)
    if problem:
        print(problem)
    if options.json:
        whose = {"counted": today, "device": device if hardware else "", "cc": options.cc}
        write(options.json, {**whose, "kernels": rows})
    return 0


if __name__ == "__main__":
    sys.exit(main())
