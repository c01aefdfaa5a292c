"""Print the cache model's estimates beside what Nsight Compute counts on this machine's GPU.

    python3 benchmarks/cache_model.py [N ...]        needs nvcc, ncu and leave to read counters
    python3 benchmarks/cache_model.py --store        and keep it for the lessons

One launch per kernel and size, caches flushed by ncu before it. The model is given the number of
SMs, the L2 size and the blocks per SM that the driver reports; nothing is fitted.
"""

from __future__ import annotations

import argparse
import csv
import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from course_lib.bench.session import short_name  # noqa: E402
from course_lib.emulator.profile.cache import CacheSizes, CacheTraffic, matmul_traffic  # noqa: E402
from course_lib.measurements import files, memory  # noqa: E402

SIZES = (1024, 2048, 3072, 4096, 6144, 8192)
KERNELS = ("naive", "coalesced", "tiled")
# Sectors that a warp asks of L1 in 32 steps of k, with blocks of 32 x 32.
L1_SECTORS = {"naive": 32 * 33, "coalesced": 32 * 5, "tiled": 8}
METRICS = {
    "L1": "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
    "L2": "lts__t_sectors_srcunit_tex_op_read.sum",
    "DRAM read": "dram__bytes_read.sum",
}
SECTOR_BYTES = 32
L1_BYTES = 128 * 1024  # enough for what the blocks come back to, on every GPU of the course


def build(folder: str) -> str:
    """Compile the kernels; returns the program."""
    for tool in ("nvcc", "ncu"):
        if shutil.which(tool) is None:
            raise SystemExit(f"There is no {tool} here; it comes with the CUDA toolkit.")
    program = f"{folder}/cache_model"
    source = str(HERE / "cache_model.cu")
    subprocess.run(["nvcc", "-O3", "-arch=native", "-o", program, source], check=True)
    return program


def counted(program: str, kernel: str, size: int) -> dict[str, float]:
    """What ncu counts in one launch."""
    command = ["ncu", "--csv", "--print-units", "base", "--clock-control", "none"]
    command += ["--metrics", ",".join(METRICS.values()), program, kernel, str(size)]
    done = subprocess.run(command, capture_output=True, text=True)
    output = done.stdout
    if "ERR_NVGPUCTRPERM" in output + done.stderr:
        raise SystemExit("This user may not read the GPU's counters (ERR_NVGPUCTRPERM).")
    table = [line for line in output.splitlines() if line.startswith('"')]
    values = {row["Metric Name"]: row["Metric Value"] for row in csv.DictReader(table)}
    return {name: float(values[metric].replace(",", "")) for name, metric in METRICS.items()}


def estimated(kernel: str, size: int, sizes: CacheSizes) -> CacheTraffic:
    """The same by the model."""
    warps = size * size // 32
    return matmul_traffic(
        (size, size, size),
        (32, 32),
        sizes,
        requested_bytes=2 * 4 * size**3 // (32 if kernel == "tiled" else 1),
        l1_bytes=L1_SECTORS[kernel] * SECTOR_BYTES * warps * (size // 32),
    )


def row(program: str, kernel: str, size: int, gpu: Mapping[str, Any]) -> dict[str, Any]:
    """GB of reads at each level, as counted and by the model."""
    model = estimated(kernel, size, CacheSizes(L1_BYTES, gpu["l2_bytes"], gpu["sms"], gpu[kernel]))
    real = counted(program, kernel, size)
    return {
        "kernel": kernel,
        "size": size,
        "l1_gb": round(real["L1"] * SECTOR_BYTES / 1e9, 3),
        "l2_gb": round(real["L2"] * SECTOR_BYTES / 1e9, 3),
        "dram_gb": round(real["DRAM read"] / 1e9, 3),
        "model_gb": [
            round(each / 1e9, 3) for each in (model.l1_bytes, model.l2_bytes, model.dram_bytes)
        ],
    }


def show(rows: Iterable[Mapping[str, Any]]) -> None:
    """A table: at each level what the model says, and what ncu counted."""
    print("GB                through L1         from L2            from DRAM")
    print("   N kernel       model     ncu      model     ncu      model     ncu")
    for each in rows:
        pairs = zip(each["model_gb"], (each["l1_gb"], each["l2_gb"], each["dram_gb"]), strict=True)
        cells = " ".join(f"{model:9.3f} {real:9.3f}" for model, real in pairs)
        print(f"{each['size']:5d} {each['kernel']:10s} {cells}")


def main() -> None:
    """Print the table, and with --store keep it; what `bytes_in_flight.py` timed stays."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("sizes", nargs="*", type=int, default=SIZES)
    parser.add_argument("--store", action="store_true", help="all sizes, for the lessons")
    asked = parser.parse_args()
    if asked.store and tuple(asked.sizes) != SIZES:
        parser.error("--store keeps all sizes: leave them out")
    with tempfile.TemporaryDirectory() as folder:
        program = build(folder)
        gpu = json.loads(subprocess.check_output([program, "device"], text=True))
        print(f"{gpu['name']}: {gpu['sms']} SMs, {gpu['l2_bytes'] / 2**20:g} MiB of L2")
        rows = [row(program, kernel, size, gpu) for size in asked.sizes for kernel in KERNELS]
    show(rows)
    if asked.store:
        content = {
            "device": gpu["name"],
            "counted": f"{datetime.now(UTC):%Y-%m-%d}",
            "counted_with": "Nsight Compute, CUDA C++, blocks of 32 x 32, caches flushed before "
            "each launch",
            "levels": rows,
        }
        files.add(memory.FOLDER, short_name(gpu["name"]), content)


if __name__ == "__main__":
    main()
