"""Runs one launch under Nsight Compute, and reads the metrics as the emulator's counters.

Both say the same number where the compiler leaves an access as the source has it; docs/counters.md
says where it does not.
"""

from __future__ import annotations

import csv
import io
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from course_lib.host import runtime
from course_lib.ncu.kernel_file import write_launch

# The emulator's counter: the metrics of Nsight Compute that add up to it, each with a factor.
METRICS: dict[str, dict[str, int]] = {
    "global_load_requests": {"l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum": 1},
    "global_load_sectors": {"l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum": 1},
    "global_store_requests": {"l1tex__t_requests_pipe_lsu_mem_global_op_st.sum": 1},
    "global_store_sectors": {"l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum": 1},
    "shared_load_requests": {"sm__sass_inst_executed_op_shared_ld.sum": 1},
    "shared_load_wavefronts": {"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum": 1},
    "shared_load_bank_conflicts": {"l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum": 1},
    "shared_store_wavefronts": {"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum": 1},
    "shared_store_bank_conflicts": {"l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum": 1},
    "flops": {
        "smsp__sass_thread_inst_executed_op_fadd_pred_on.sum": 1,
        "smsp__sass_thread_inst_executed_op_fmul_pred_on.sum": 1,
        "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum": 2,
        "smsp__sass_thread_inst_executed_op_dadd_pred_on.sum": 1,
        "smsp__sass_thread_inst_executed_op_dmul_pred_on.sum": 1,
        "smsp__sass_thread_inst_executed_op_dfma_pred_on.sum": 2,
    },
    "float64_flops": {
        "smsp__sass_thread_inst_executed_op_dadd_pred_on.sum": 1,
        "smsp__sass_thread_inst_executed_op_dmul_pred_on.sum": 1,
        "smsp__sass_thread_inst_executed_op_dfma_pred_on.sum": 2,
    },
}

# What no emulator can know: what is measured, the metric, its unit.
SEEN: dict[str, tuple[str, str]] = {
    "time": ("gpu__time_duration.sum", "ns"),
    "read from DRAM": ("dram__bytes_read.sum", "bytes"),
    "written to DRAM": ("dram__bytes_write.sum", "bytes"),
    "hit rate of L1": ("l1tex__t_sector_hit_rate.pct", "%"),
    "hit rate of L2": ("lts__t_sector_hit_rate.pct", "%"),
    "achieved occupancy": ("sm__warps_active.avg.pct_of_peak_sustained_active", "%"),
    "stall long scoreboard": (
        "smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio",
        "warps",
    ),
    "stall short scoreboard": (
        "smsp__average_warps_issue_stalled_short_scoreboard_per_issue_active.ratio",
        "warps",
    ),
    "stall MIO throttle": (
        "smsp__average_warps_issue_stalled_mio_throttle_per_issue_active.ratio",
        "warps",
    ),
    "stall barrier": ("smsp__average_warps_issue_stalled_barrier_per_issue_active.ratio", "warps"),
}

EVERY_METRIC: tuple[str, ...] = tuple(
    sorted({m for parts in METRICS.values() for m in parts} | {m for m, _ in SEEN.values()})
)


class NoCounters(Exception):
    """The hardware's counters could not be read; the message says why, in one sentence."""


def parse_ncu(text: str, kernel: str) -> dict[str, float]:
    """The metrics of the launches of `kernel` in ncu's CSV output, by name; added up.

    Every line of the table begins with a quotation mark. Others, before and after it, are what ncu
    and the program print, warnings among them.
    """
    lines = text.splitlines()
    start = next((i for i, line in enumerate(lines) if line.startswith('"ID"')), len(lines))
    table = [line for line in lines[start:] if line.startswith('"')]
    metrics: dict[str, float] = {}
    for row in csv.DictReader(io.StringIO("\n".join(table))):
        value = _number(row["Metric Value"])
        if kernel in row["Kernel Name"] and value is not None:
            metrics[row["Metric Name"]] = metrics.get(row["Metric Name"], 0.0) + value
    return metrics


def _number(written: str) -> float | None:
    """The number in ncu's table; None for "n/a", where this GPU has no such counter."""
    try:
        return float(written.replace(",", ""))
    except ValueError:
        return None


def counters_of(metrics: Mapping[str, float]) -> Mapping[str, float]:
    """The hardware's counts under the emulator's names, where all their metrics are there."""
    return MappingProxyType(
        {
            counter: sum(metrics[metric] * factor for metric, factor in parts.items())
            for counter, parts in METRICS.items()
            if metrics.keys() >= parts.keys()
        }
    )


# --- The command, and what it printed -------------------------------------------------------------


SECONDS = 300
FORBIDDEN = "ERR_NVGPUCTRPERM"
# Where the CUDA toolkit lies if nobody has put it on the path.
USUAL_PLACES = ("/usr/local/cuda/bin/ncu", "/opt/cuda/bin/ncu")


def command(ncu: str, program: Sequence[str]) -> list[str]:
    """The command line: all metrics of the course, as a table, with the clocks as they are."""
    asked = ["--csv", "--print-units", "base", "--clock-control", "none"]
    return [ncu, *asked, "--metrics", ",".join(EVERY_METRIC), *program]


def find_ncu() -> str:
    """Where Nsight Compute's command is.

    Raises:
        NoCounters: if there is no GPU, or no `ncu`.
    """
    if not runtime.on_gpu():
        raise NoCounters("There is no GPU here.")
    ncu = shutil.which("ncu") or next(filter(os.path.exists, USUAL_PLACES), None)
    if ncu is None:
        raise NoCounters("There is a GPU, but no `ncu` here; it comes with the CUDA toolkit.")
    return ncu


def read_metrics(
    text: str, name: str, launch: Sequence[Any], arguments: Sequence[Any]
) -> tuple[dict[str, float], list[np.ndarray]]:
    """The metrics of one launch, by NVIDIA's names, and what the arrays held after it.

    Args: as `write_launch` has them.

    Raises:
        NoCounters: if there is no GPU, no ncu, or no right to read the counters.
    """
    ncu = find_ncu()
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        write_launch(folder, text, name, launch, arguments)
        program = [sys.executable, "-m", "course_lib.ncu.kernel_file", str(folder)]
        printed, status = _run(command(ncu, program))
        return judged(printed, status, name), _results(folder)


def judged(printed: str, status: int, name: str) -> dict[str, float]:
    """The metrics in what ncu printed.

    Raises:
        NoCounters: if there are none, with the reason.
    """
    if FORBIDDEN in printed:
        raise NoCounters(
            "This machine does not let you read its GPU's counters "
            f"({FORBIDDEN}); Colab and most shared machines do not."
        )
    metrics = parse_ncu(printed, name)
    if status or not metrics:
        last = printed.strip().splitlines()[-1:] or ["it printed nothing"]
        raise NoCounters(f"`ncu` could not profile {name}: {last[0]}")
    return metrics


def _run(words: list[str]) -> tuple[str, int]:
    """What a command prints, and its status. The child finds the course where this process does."""
    paths = os.pathsep.join(path for path in sys.path if path)
    try:
        done = subprocess.run(
            words,
            capture_output=True,
            text=True,
            timeout=SECONDS,
            env={**os.environ, "PYTHONPATH": paths},
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise NoCounters(f"`ncu` did not finish within {SECONDS} seconds.") from None
    return done.stdout + done.stderr, done.returncode


def _results(folder: Path) -> list[np.ndarray]:
    with np.load(folder / "results.npz") as stored:
        return [stored[f"arr_{place}"] for place in range(len(stored.files))]
