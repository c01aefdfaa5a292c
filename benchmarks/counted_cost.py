"""Does what is counted rank kernels as a clock does? The rungs in float32, and forty variants.

    python3 benchmarks/counted_cost.py            on a GPU: time them, some two minutes on an H200
    python3 benchmarks/counted_cost.py --store    and keep it: course_lib/measurements/counted_cost
    python3 benchmarks/counted_cost.py --count    no GPU: count them anew, ten minutes
    python3 benchmarks/counted_cost.py --stored   the table from what is stored

A board of texts ranked by counted cost could not be forged by a clock, if counted cost ranked as
time does. Each kernel multiplies two square matrices of float32. It is counted as compiled for
compute capability 9.0 (docs/counters.md), on a small result and two lengths of the sum, from which
the counts of the large product follow; this needs Numba's compiler and nvdisasm. It is timed on the
GPU, the result checked first, in rounds in which all take turns. Counts are the same wherever they
are made, so they are kept in one file, that of the H200.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import course_lib
from course_lib.compiled_counts import NotCounted
from course_lib.host import runtime
from course_lib.kernels import (
    rung_01_naive,
    rung_02_coalesced,
    rung_03_tiled,
    rung_04_register_1d,
    rung_05_register_2d,
    rung_06_vectorised,
    rung_07_warp_tiled,
    rung_08_double_buffered,
    rung_09_cp_async,
)
from course_lib.kernels.rung import RungKernel
from course_lib.kernels.variants import read_again
from course_lib.measurements import counted_cost, files, tuning
from course_lib.measurements.counted_cost import COSTS, correlation, faster_half, wrong_pairs

SIZE, SIDE, STEPS = 4096, 256, (64, 128)
ROUNDS = 5
CC = "9.0"
COUNTED = "H200"
SUMS = {
    "wavefronts": ("shared_load_wavefronts", "shared_store_wavefronts"),
    "sectors": ("global_load_sectors", "global_store_sectors"),
}


def one_dimension(rows: int, steps: int, outputs: int) -> dict[str, int]:
    """A square tile of rung 4: each thread computes `outputs` of a column and loads one of each."""
    return {"BM": rows, "BN": rows, "BK": steps, "TM": outputs, "THREADS": rows * steps}


def two_dimensions(rows: int, steps: int, down: int, across: int) -> dict[str, int]:
    """A square tile of rung 5: each thread computes `down` x `across` of it."""
    threads = rows // down * (rows // across)
    return {
        "BM": rows, "BN": rows, "BK": steps, "TM": down, "TN": across, "THREADS": threads,
        "ACROSS": rows // across, "A_ROWS": threads // steps, "B_ROWS": threads // rows,
        "STEPS": rows * steps // threads,
    }  # fmt: skip


def templates() -> Iterator[tuple[ModuleType, list[dict[str, int]]]]:
    """Each rung's file, and the constants of its variants; the rung itself has none."""
    yield rung_01_naive, [{}, {"SIDE": 16}, {"SIDE": 8}]
    yield rung_02_coalesced, [{}, {"SIDE": 16}, {"STEPS": 4}, {"STEPS": 8}]
    yield rung_03_tiled, [{}, {"TILE": 16}, {"TILE": 8}]
    sides = ((64, 8, 8), (64, 4, 16), (64, 16, 4), (32, 8, 4), (32, 4, 8), (128, 8, 16))
    yield rung_04_register_1d, [one_dimension(*sizes) for sizes in sides]
    sides_2d = (
        (128, 8, 8, 8), (128, 16, 8, 8), (128, 4, 8, 8), (128, 8, 4, 8), (128, 8, 8, 4),
        (64, 8, 4, 4), (64, 8, 8, 8), (64, 16, 4, 4), (64, 16, 8, 4), (32, 8, 4, 4),
        (32, 16, 2, 2),
    )  # fmt: skip
    yield rung_05_register_2d, [two_dimensions(*sizes) for sizes in sides_2d]
    yield rung_06_vectorised, [{}, {"LDA": 128}, {"LDA": 136}]
    yield rung_07_warp_tiled, [{}, {"LDA": 128}]
    yield rung_08_double_buffered, [{}]
    yield rung_09_cp_async, _tuned_tiles()


def _tuned_tiles() -> list[dict[str, int]]:
    """The tiles of rung 9 that the tuner tried on an H200."""
    tried = json.loads((tuning.FOLDER / "H200.json").read_text(encoding="utf-8"))["tried"]
    different = {json.dumps(entry["constants"], sort_keys=True) for entry in tried["cp_async"]}
    return [json.loads(text) for text in sorted(different)]


def contestants() -> dict[str, RungKernel]:
    """By name, in the order of the ladder."""
    found: dict[str, RungKernel] = {}
    for module, several in templates():
        for constants in several:
            names: dict[str, Any] = {}
            read_again(module, constants, names)
            for form in ("RUNG", "LEAN"):
                if (rung := names.get(form)) is not None:
                    changed = {
                        name: value
                        for name, value in constants.items()
                        if value != getattr(module, name)
                    }
                    if changed and form == "RUNG" and "STEPS" in constants and "LEAN" in names:
                        continue  # the plain form of rung 2 has no such constant
                    text = " ".join(f"{name}={value}" for name, value in changed.items())
                    found[f"{rung.name} {text}".strip()] = rung
    return found


def matrices(rows: int, steps: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A, B and room for C, the same on every machine."""
    rng = np.random.default_rng(7)
    A, B = (
        rng.uniform(-1, 1, shape).astype(np.float32) for shape in ((rows, steps), (steps, rows))
    )
    return A, B, np.zeros((rows, rows), np.float32)


def count(rung: RungKernel) -> dict[str, dict[str, list[int]]]:
    """What the short launch and the long one count: as compiled, and as the emulator has it."""
    found: dict[str, dict[str, list[int]]] = {"counts": {}, "written": {}}
    for steps in STEPS:
        grid, block = rung.grid_and_block(SIDE, SIDE, steps)
        emulated = course_lib.emulate(rung.kernel, steps=runtime.PATIENT_STEPS)
        profile = emulated[grid, block](*matrices(SIDE, steps))
        compiled = profile.as_compiled(CC)
        found["counts"].setdefault("instructions", []).append(int(compiled.executed))
        for how, counters in (("counts", compiled), ("written", profile)):
            for name, kinds in SUMS.items():
                total = sum(int(getattr(counters, counter)) for counter in kinds)
                found[how].setdefault(name, []).append(total)
    return found


def counted_rows() -> list[dict[str, Any]]:
    """A row for every contestant, with what it counts."""
    rows = []
    for name, rung in contestants().items():
        try:
            found = count(rung)
        except NotCounted as reason:
            print(f"left out: {reason}", flush=True)
            continue
        rows.append({"name": name, "side": SIDE, "steps": list(STEPS), **found})
        print(name, found["counts"], flush=True)
    return rows


def count_anew() -> None:
    """Count everybody once more; the times that are stored stay with their kernels."""
    plain = stored()
    times = {row["name"]: row.get("samples_ms", []) for row in plain["rows"]}
    rows = [{**row, "samples_ms": times.get(row["name"], [])} for row in counted_rows()]
    print(files.store(counted_cost.FOLDER, COUNTED, {**plain, "rows": rows}))


def measure() -> dict[str, Any]:
    """Check every counted kernel, then time them in turns: what the file of this GPU will hold."""
    from numba import cuda

    plain = stored()
    everything = contestants()
    A, B, C = matrices(SIZE, SIZE)
    a, b, c = cuda.to_device(A), cuda.to_device(B), cuda.to_device(C)
    expected = A[:64].astype(np.float64) @ B.astype(np.float64)
    rows = [{**row, "samples_ms": []} for row in plain["rows"] if row["name"] in everything]
    for row in rows:
        c.copy_to_device(C)
        everything[row["name"]].launch(a, b, c)
        if not np.allclose(c[:64].copy_to_host(), expected, atol=2e-2):
            raise SystemExit(f"{row['name']} is wrong: nothing is timed")
    for _ in range(ROUNDS):
        for row in random.Random(11).sample(rows, len(rows)):
            begin, end = cuda.event(), cuda.event()
            begin.record()
            everything[row["name"]].launch(a, b, c)
            end.record()
            end.synchronize()
            row["samples_ms"].append(float(f"{cuda.event_elapsed_time(begin, end):.5g}"))
    today = f"{datetime.now(UTC):%Y-%m-%d}"
    return {**plain, "device": runtime.device_name(), "date": today, "rows": rows}


def stored() -> dict[str, Any]:
    """What the file with the counts holds."""
    return files.content_of(counted_cost.FOLDER, COUNTED, "no counts are stored on")


def show(costs: counted_cost.CountedCosts) -> None:
    """Print each kernel's counts and time, and how well each cost ranks."""
    print(f"{costs.label}, {costs.size}³ in float32")
    for kernel in sorted(costs.kernels, key=lambda kernel: kernel.median_ms):
        counts = f"{kernel.instructions:12.4g} {kernel.wavefronts:12.4g} {kernel.sectors:12.4g}"
        print(f"{kernel.name:60} {kernel.median_ms:9.3f} ms {counts}")
    for how, everybody in (("compiled", costs.kernels), ("written", costs.written)):
        for among, chosen in (("all", everybody), ("the faster half", faster_half(everybody))):
            for by in COSTS if how == "compiled" else ("sectors", "L1 and shared memory"):
                print(f"as {how}, {among}, by {by}: {correlation(chosen, by):.3f}")
    for apart in (1.0, 1.1, 1.2, 1.3, 1.5, 2.0):
        wrong, pairs = wrong_pairs(costs.kernels, apart)
        print(f"{wrong} of {pairs:,} pairs at least {apart} apart are the other way round in time")


def main() -> int:
    """Count, time, or print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--store", action="store_true")
    parser.add_argument("--count", action="store_true")
    parser.add_argument("--stored", action="store_true")
    options = parser.parse_args()
    if options.count:
        count_anew()
    elif options.stored:
        show(counted_cost.load())
    else:
        plain = measure()
        show(counted_cost.read(plain))
        if options.store:
            from course_lib.bench.session import short_name

            print(files.store(counted_cost.FOLDER, short_name(plain["device"]), plain))
    return 0


if __name__ == "__main__":
    sys.exit(main())
