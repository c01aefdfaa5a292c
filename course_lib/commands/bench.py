"""`course.py bench`: time the rungs of the ladder on this GPU, beside cuBLAS.

With `--store` it measures all that lessons quote, and keeps it; `--only` takes parts of that.
Without a GPU it prints what the emulator counts and what the compiler allows, and never a time.
Here are its options, which need the standard library only; `bench_runs` does the work.
"""

from __future__ import annotations

import argparse
import math
import re

from course_lib.commands.options import read_options
from course_lib.devices import Device, UnknownDevice, device

CEILINGS_FOR = (device("T4"),)  # Colab's
MOST_BUDGET = 86_400.0  # a day
OPTIONS = """\
--sizes N,N         numbers of rows of the square matrices
--rungs A,B         only these
--rounds ROUNDS     how many samples to take of each kernel (20)
--budget SECONDS    time for each kernel at each size (5)
--nvcc              build and time the C++ twins, too
--sustain SECONDS   then run each kernel alone for this long, and name those that the power limit
                    slows down
--ncu               ask Nsight Compute which part of the GPU is busiest
--store             keep the results in course_lib/measurements; without --only, --rungs and
                    --sizes measure all that lessons quote
--only A,B          parts of what lessons quote: ladder, tuning, what_binds, banks …
--tune              try out the tiles of the rungs that have several
--gpu A,B           without a GPU: the GPUs whose ceilings are worked out (T4)
--json FILE         on a GPU: write the results there, too
"""


def main(arguments: list[str]) -> int:
    """Measure, or count where there is no GPU; 0 unless a rung was wrong or a part left out."""
    options = _parser().parse_args(arguments)
    from course_lib.commands import bench_runs  # `--help` has to do without packages

    return bench_runs.run(options)


def _parser() -> argparse.ArgumentParser:
    return read_options(
        "bench",
        "Check every rung of the ladder against float64 and time it on this GPU, beside cuBLAS. "
        "Ctrl-C keeps what has been measured.",
        OPTIONS,
        read={"sizes": _sizes, "A,B": _names, "rounds": _rounds, "SECONDS": _budget, "gpu": _gpus},
        rounds=20,
        budget=5.0,
        sustain=0.0,
        gpu=CEILINGS_FOR,
    )


def _sizes(text: str) -> tuple[int, ...]:
    try:
        sizes = tuple(sorted({int(part) for part in text.split(",")}))
    except ValueError:
        sizes = (0,)
    if sizes[0] < 1:
        raise argparse.ArgumentTypeError(
            "sizes are positive whole numbers, separated by commas: 1024,4096"
        )
    return sizes


def _rounds(text: str) -> int:
    if not re.fullmatch("[1-9][0-9]{0,5}", text):
        raise argparse.ArgumentTypeError("the number of rounds is a whole number from 1 to 999999")
    return int(text)


def _budget(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = math.nan
    if not 0 < seconds <= MOST_BUDGET:  # NaN is not, either
        raise argparse.ArgumentTypeError(
            f"a budget is a number of seconds, more than 0 and at most {MOST_BUDGET:g}"
        )
    return seconds


def _gpus(text: str) -> tuple[Device, ...]:
    try:
        return tuple(device(name) for name in _names(text))
    except UnknownDevice as problem:
        raise argparse.ArgumentTypeError(str(problem)) from problem


def _names(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(","))
