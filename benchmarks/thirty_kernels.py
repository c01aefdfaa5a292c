"""Time the emulator against Numba's CUDA simulator on thirty kernels of public projects' kinds.

    python benchmarks/thirty_kernels.py                   all of them: some minutes
    python benchmarks/thirty_kernels.py --only soft-DTW   those with this in their name
    python benchmarks/thirty_kernels.py --ours            without Numba's simulator
    python benchmarks/thirty_kernels.py --large           ours, 50 x 50 blocks of 32 x 32 threads
    python benchmarks/thirty_kernels.py --json FILE       also writes the figures

Every array that a kernel was given must be equal after both, to the last digits of float32; then
the processor times are compared: medians of seven runs of ours after one to warm up, and of three
of Numba's simulator, each in a process of its own, or its only run where that takes long. Kernel
follows kernel, so that both meet the machine in the same state. The kernels are in public_kernels/.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE)]

import numpy as np  # noqa: E402
from emulator import EVERYTHING, PATIENCE, PLAIN, Seconds, machine, timed  # noqa: E402
from numba import cuda  # noqa: E402
from public_kernels import CASES  # noqa: E402
from public_kernels.grids import LARGE  # noqa: E402

REPEATS = 7
SHORT, SHORT_REPEATS = 1.0, 3  # seconds: a run of Numba's simulator that is repeated, how often
AIM, AIM_MEDIAN, AIMS = 10, 50, {"tiled matmul": 1000}
TOLERANCE = 2e-5  # of the largest element: sums of float32, rounded in another order


@dataclass(frozen=True)
class Row:
    """One kernel's processor times, in seconds: medians of ours and of Numba's simulator."""

    kernel: str
    everything: float
    plain: float
    numba: float | None

    @property
    def ratio(self) -> float:
        """How many times as long Numba's simulator took as ours did with everything on."""
        return self.numba / self.everything if self.numba else float("nan")


def launches(name: str, launch: Callable[..., Any]) -> tuple[list[np.ndarray], list[Any]]:
    """Launch a case, turn by turn: the arrays afterwards, and what each launch returned."""
    case = CASES[name]
    arguments = case.arguments()
    returned = [launch(*arguments, *turn) for turn in case.turns]
    return [each for each in arguments if isinstance(each, np.ndarray)], returned


def ours(name: str, options: dict[str, Any]) -> tuple[list[np.ndarray], float]:
    """The arrays after a run on our emulator, and the median of the processor times."""
    from course_lib.emulator import emulate

    case = CASES[name]
    configured = emulate(case.kernel, **options)[case.launch]
    times = []
    for _ in range(1 + REPEATS):
        (arrays, profiles), seconds = timed(lambda: launches(name, configured))
        times.append(seconds.processor)
    errors = [each for profile in profiles for each in profile.findings if each.severity == "error"]
    if errors:
        raise SystemExit(f"our emulator finds fault with {name}: {errors}")
    return arrays, statistics.median(times[1:])


def numba_here(name: str, out: Path) -> Seconds:
    """One run on Numba's simulator in this process; its arrays go to a file."""
    case = CASES[name]
    launch = cuda.jit(case.kernel)[case.launch]
    (arrays, _), seconds = timed(lambda: launches(name, launch))
    np.savez(out, *arrays)
    return seconds


def numba(name: str) -> tuple[list[np.ndarray], float] | None:
    """The arrays and the median processor time of Numba's simulator; None if it takes too long."""
    once = numba_once(name)
    if once is None or once[1] > SHORT:
        return once
    again = [numba_once(name) for _ in range(SHORT_REPEATS - 1)]
    return once[0], statistics.median(each[1] for each in (once, *again) if each)


def numba_once(name: str) -> tuple[list[np.ndarray], float] | None:
    """One run in a process of its own; None if it takes too long."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "arrays.npz"
        command = [sys.executable, __file__, "--numba-simulator", name, str(out)]
        environment = os.environ | {"NUMBA_ENABLE_CUDASIM": "1"}
        try:
            done = subprocess.run(
                command, env=environment, capture_output=True, text=True, timeout=PATIENCE
            )
        except subprocess.TimeoutExpired:
            return None
        if done.returncode:
            raise SystemExit(done.stderr)
        with np.load(out) as kept:
            return list(kept.values()), json.loads(done.stdout)["processor"]


def must_be_equal(name: str, mine: Sequence[np.ndarray], theirs: Sequence[np.ndarray]) -> None:
    """No time is given for a result that is not the peer's; whole numbers are equal exactly."""
    for number, (one, other) in enumerate(zip(mine, theirs, strict=True)):
        close = one.dtype.kind != "f" or np.allclose(
            one, other, rtol=TOLERANCE, atol=TOLERANCE * np.abs(other[np.isfinite(other)]).max()
        )
        if not close or (one.dtype.kind != "f" and not np.array_equal(one, other)):
            raise SystemExit(f"{name}: array {number} differs from Numba's simulator's")


def measure(names: Sequence[str], with_numba: bool) -> Iterator[Row]:
    """A row for each kernel."""
    for name in names:
        theirs = numba(name) if with_numba else None
        arrays, everything = ours(name, EVERYTHING)
        if theirs is not None:
            must_be_equal(name, arrays, theirs[0])
        row = Row(name, everything, ours(name, PLAIN)[1], theirs[1] if theirs else None)
        print(f"{name}: {row.ratio:.1f}x", file=sys.stderr, flush=True)
        yield row


def large() -> None:
    """Print how long 2,560,000 threads take, by the clock, without counters."""
    from course_lib.emulator import emulate

    for name, case in LARGE.items():
        launch = emulate(case.kernel, **PLAIN)[case.launch]
        arguments = case.arguments()
        seconds = [timed(partial(launch, *arguments))[1].clock for _ in range(3)]
        print(f"{name}: {statistics.median(seconds):.2f} s")


def table(rows: Sequence[Row]) -> str:
    """The rows as a Markdown table."""
    lines = [
        "| kernel | Numba's simulator | ours, everything on | ratio | ours, plain |",
        "|---|---|---|---|---|",
    ]
    for row in rows:
        theirs = "not run" if row.numba is None else f"{row.numba:.2f} s"
        lines.append(
            f"| {row.kernel} | {theirs} | {1000 * row.everything:.1f} ms | {row.ratio:.0f}x "
            f"| {1000 * row.plain:.1f} ms |"
        )
    return "\n".join(lines)


def verdict(rows: Sequence[Row]) -> str:
    """The aims beside what was reached."""
    below = [row.kernel for row in rows if row.ratio < AIMS.get(row.kernel, AIM)]
    median = statistics.median(row.ratio for row in rows)
    higher = "".join(f", and {aim} for {kernel}" for kernel, aim in AIMS.items())
    return (
        f"The median ratio is {median:.0f} (we aim for {AIM_MEDIAN}), and the smallest is "
        f"{min(row.ratio for row in rows):.1f} (we aim for {AIM}{higher}). "
        f"Kernels below their aim: {', '.join(below) or 'none'}."
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", help="the kernels with this in their name")
    parser.add_argument("--ours", action="store_true", help="without Numba's simulator")
    parser.add_argument("--large", action="store_true", help="50 x 50 blocks, without counters")
    parser.add_argument("--json", type=Path, help="also write the figures to this file")
    parser.add_argument("--numba-simulator", nargs=2, metavar=("KERNEL", "FILE"), help="internal")
    options = parser.parse_args()
    if options.numba_simulator:
        name, out = options.numba_simulator
        print(json.dumps(asdict(numba_here(name, Path(out)))))
        return
    if options.large:
        large()
        return
    here = machine()
    names = [name for name in CASES if not options.only or options.only in name]
    rows = list(measure(names, not options.ours))
    print(", ".join(f"{name} {value}" for name, value in here.items()))
    print(table(rows))
    print(verdict(rows))
    if options.json:
        record = {"machine": here, "rows": [asdict(row) for row in rows]}
        options.json.write_text(json.dumps(record, indent=1) + "\n")


if __name__ == "__main__":
    main()
