"""Print the cache model's estimates beside what Nsight Compute counts on this machine's GPU.

    python3 benchmarks/cache_model.py [N ...]        needs nvcc, ncu and leave to read counters

One launch per kernel and size, caches flushed by ncu before it. The model is given the number of
SMs, the L2 size and the blocks per SM that the driver reports; nothing is fitted.
"""

from __future__ import annotations

import csv
import json
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from course_lib.emulator.profile.cache import CacheSizes, CacheTraffic, matmul_traffic  # noqa: E402

KERNELS = ("naive", "coalesced", "tiled")
# Sectors that a warp asks of L1 in 32 steps of k, with blocks of 32 x 32.
L1_SECTORS = {"naive": 32 * 33, "coalesced": 32 * 5, "tiled": 8}
METRICS = {
    "L1": "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
    "L2": "lts__t_sectors_srcunit_tex_op_read.sum",
    "DRAM read": "dram__bytes_read.sum",
    "DRAM write": "dram__bytes_write.sum",
    "ms": "gpu__time_duration.sum",
}
SECTOR_BYTES = 32
L1_BYTES = 128 * 1024  # enough for what the blocks come back to, on every GPU of the course


def build(folder: str) -> str:
    """Compile the kernels; returns the program."""
    program = f"{folder}/cache_model"
    source = str(HERE / "cache_model.cu")
    subprocess.run(["nvcc", "-O3", "-arch=native", "-o", program, source], check=True)
    return program


def counted(program: str, kernel: str, size: int) -> dict[str, float]:
    """What ncu counts in one launch."""
    command = ["ncu", "--csv", "--print-units", "base", "--clock-control", "none"]
    command += ["--metrics", ",".join(METRICS.values()), program, kernel, str(size)]
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
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


def main(sizes: list[int]) -> None:
    """Print the table."""
    with tempfile.TemporaryDirectory() as folder:
        program = build(folder)
        gpu = json.loads(subprocess.check_output([program, "device"], text=True))
        print(f"{gpu['name']}: {gpu['sms']} SMs, {gpu['l2_bytes'] / 2**20:g} MiB of L2")
        print("GB                    through L1       from L2          from DRAM        to DRAM")
        print("   N kernel          model    ncu    model    ncu    model    ncu    model    ncu")
        for size in sizes:
            for kernel in KERNELS:
                model = estimated(
                    kernel, size, CacheSizes(L1_BYTES, gpu["l2_bytes"], gpu["sms"], gpu[kernel])
                )
                real = counted(program, kernel, size)
                pairs = (
                    (model.l1_bytes, real["L1"] * SECTOR_BYTES),
                    (model.l2_bytes, real["L2"] * SECTOR_BYTES),
                    (model.dram_bytes, real["DRAM read"]),
                    (model.dram_store_bytes, real["DRAM write"]),
                )
                cells = " ".join(f"{a / 1e9:8.3f} {b / 1e9:7.3f}" for a, b in pairs)
                print(f"{size:5d} {kernel:10s} x{gpu[kernel]} {cells}  {real['ms'] / 1e6:.2f} ms")


if __name__ == "__main__":
    main([int(word) for word in sys.argv[1:]] or [1024, 2048, 4096, 8192])
