"""Time what bank conflicts cost a transpose and what padding costs a tiled matmul, in CUDA C++.

    python3 benchmarks/bank_conflicts.py [--store]    needs a GPU, nvcc and nvdisasm

`bank_conflicts.cu` has the kernels. Each is launched 15 times, in three turns, and the best of the
three medians counts. Of the matmuls the machine code says how many loads from shared memory there
are for each multiply-add.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from course_lib.bench import gpu
from course_lib.bench.session import short_name
from course_lib.machine_code.compiler import disassemble, find_tool, release
from course_lib.machine_code.sass import hot_loop, parse
from course_lib.measurements import banks, files

SOURCE = Path(__file__).resolve().with_suffix(".cu")
TRANSPOSES = {
    "copy": "copy", "no-tile": "no tile", "tile-32": "tile", "tile-33": "padded",
    "xor-7": "row & 7", "xor-31": "row & 31",
}  # fmt: skip
TILES = (32, 16)


def build(nvcc: str, cc: tuple[int, int], target: Path, *options: str) -> Path:
    """The kernels for this GPU, as a program or as machine code."""
    arch = f"-arch=sm_{cc[0]}{cc[1]}"
    subprocess.run([nvcc, "-O3", arch, *options, "-o", str(target), str(SOURCE)], check=True)
    return target


def best(printed: str) -> dict[str, float]:
    """The best of the medians of each kernel.

    Raises:
        SystemExit: if CUDA reports an error.
    """
    *rows, said = printed.strip().splitlines()
    if said != "no error":
        raise SystemExit(f"bank_conflicts.cu: {said}")
    found: dict[str, float] = {}
    for row in rows:
        name, ms = row.split()
        found[name] = min(float(ms), found.get(name, float(ms)))
    return found


def loads(disassembly: str, tile: int, padded: bool) -> dict[str, int]:
    """Shared loads and multiply-adds in the loop over a tile."""
    loop = hot_loop(parse(disassembly, f"_Z2mmILi{tile}ELi{tile + padded}EEvPKfS1_Pf"))
    operations = [each.operation for each in loop]
    return {"lds": operations.count("LDS"), "ffma": operations.count("FFMA")}


def content(device: str, compiler: str, ms: dict[str, float], disassembly: str) -> dict[str, Any]:
    """What the file says."""
    rows = [
        {
            "tile": tile,
            "padded": padded,
            "ms": ms[f"matmul-{tile}" + "-padded" * padded],
            **loads(disassembly, tile, padded),
        }
        for tile in TILES
        for padded in (False, True)
    ]
    return {
        "device": device,
        "timed": f"{datetime.now(UTC):%Y-%m-%d}",
        "timed_with": f"benchmarks/bank_conflicts.cu, {compiler}; best of three medians of 15",
        "counted_with": "nvdisasm: LDS and FFMA in the loop over a tile",
        "transpose": {
            "size": 16384,
            "ms": {name: ms[printed] for printed, name in TRANSPOSES.items()},
        },
        "matmul": {"size": 4096, "rows": rows},
    }


def main() -> None:
    """Build, time, count, print, and with --store keep it."""
    nvcc = find_tool("nvcc")
    if nvcc is None:
        raise SystemExit("There is no nvcc here; it comes with the CUDA toolkit.")
    device, cc, _ = gpu.device()
    with tempfile.TemporaryDirectory() as folder:
        program = build(nvcc, cc, Path(folder, "banks"))
        disassembly, why_not = disassemble(build(nvcc, cc, Path(folder, "cubin"), "-cubin"), cc)
        if disassembly is None:
            raise SystemExit(why_not)
        printed = subprocess.run([str(program)], check=True, capture_output=True, text=True).stdout
    measured = content(device, release(nvcc), best(printed), disassembly)
    print(json.dumps(measured, indent=1))
    if sys.argv[1:] == ["--store"]:
        files.store(banks.FOLDER, short_name(device), measured)


if __name__ == "__main__":
    main()
