"""Run one launch under Nsight Compute, and read the metrics that it prints."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from course_lib import runtime
from course_lib.ncu import child
from course_lib.ncu.metrics import EVERY_METRIC, NoCounters, parse_ncu

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

    Args: as `child.write` has them.

    Raises:
        NoCounters: if there is no GPU, no ncu, or no right to read the counters.
    """
    ncu = find_ncu()
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        child.write(folder, text, name, launch, arguments)
        program = [sys.executable, "-m", "course_lib.ncu.child", str(folder)]
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
