"""What does compute-sanitizer say of the broken kernels of lesson 05c?

    python3 benchmarks/sanitizer.py            a minute on a GPU
    python3 benchmarks/sanitizer.py --store    keep it: course_lib/measurements/sanitizer

Needs a GPU, numba-cuda and compute-sanitizer (a part of the CUDA Toolkit). Each kernel is launched
as its task gives it, compiled with `lineinfo=True`: alone, to see whether its numbers are right,
then under each of the four tools. Names of kernels are shortened: Numba's hold all types.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from course_lib.curriculum import TASKS
from course_lib.measurements import files, sanitizer
from course_lib.measurements.sanitizer import TOOLS

SECONDS = 120
# How each is launched: arrays, grid, block, and what should come out.
LAUNCHES = {
    "add_bias": ("A=ones((33, 20)), bias=ones(20), B=room((33, 20))", "(2, 3), (16, 16)", "2"),
    "prefix_sums": ("x=ones(128), y=room(128)", "1, 128", "np.arange(1, 129)"),
    "differences": ("x=ones(100).cumsum(), y=room(100)", "2, 64", "1"),
    "column_totals": ("A=ones((8, 100)), y=room(100)", "2, 64", "8"),
    "block_sums": ("x=ones(100), sums=room(2)", "2, 64", "[64, 36]"),
}
SCRIPT = """\
import numpy as np
from numba import cuda, float32


{kernel}

def ones(shape):
    return np.ones(shape, np.float32)


def room(shape):
    return cuda.device_array(shape, np.float32)


given = dict({arrays})
held = [cuda.to_device(each) if isinstance(each, np.ndarray) else each for each in given.values()]
{name}[{launch}](*held)
print("right:", bool(np.allclose(held[-1].copy_to_host(), {expected})))
"""


def find_tool() -> str:
    """compute-sanitizer's path, or an end with a sentence."""
    usual = sorted(Path("/usr/local").glob("cuda*/bin/compute-sanitizer"))
    found = shutil.which("compute-sanitizer") or next(map(str, usual), None)
    if found is None:
        raise SystemExit("compute-sanitizer is not here; the CUDA Toolkit has it.")
    return found


def script_of(name: str, folder: Path) -> Path:
    """A program that launches one kernel once."""
    arrays, launch, expected = LAUNCHES[name]
    kernel = TASKS[name].given.replace("@cuda.jit", "@cuda.jit(lineinfo=True)")
    path = folder / f"{name}.py"
    path.write_text(SCRIPT.format(
        kernel=kernel, arrays=arrays, launch=launch, expected=expected, name=name
    ))  # fmt: skip
    return path


def run(command: list[str]) -> str:
    """What a command says."""
    done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS)
    return done.stdout + done.stderr


def first_error(said: str, name: str) -> list[str]:
    """The lines of the first error, kernel names without Numba's types."""
    lines: list[str] = []
    for line in said.splitlines():
        text = line.removeprefix("=========").rstrip()
        if not line.startswith("=========") or "COMPUTE-SANITIZER" in text:
            continue
        if not text.strip() or "SUMMARY" in text or "Saved host backtrace" in text:
            break
        lines.append(re.sub(rf"__main__::{name}\[.*?\]\(.*?\)(?=\+0x)", name, text).strip())
    return lines


def rows(folder: Path, tool_path: str) -> Iterator[dict[str, Any]]:
    """What every tool says of every kernel."""
    for name in LAUNCHES:
        for tool in TOOLS:
            limit = ["--print-limit", "500"]
            said = run([tool_path, "--tool", tool, *limit, sys.executable,
                        str(script_of(name, folder))])  # fmt: skip
            errors = re.search(r"SUMMARY: (\d+)", said)
            if errors is None:
                raise SystemExit(f"{tool} gave no summary of {name}:\n{said[-2000:]}")
            first = first_error(said, name)
            # A launch that fails counts once more, as an error of the API.
            count = int(errors[1]) - ("Target application returned an error" in said)
            print(f"{name:14} {tool:10} {count:4} {first[:1]}", flush=True)
            yield {"kernel": name, "tool": tool, "errors": count, "first": first}


def main() -> int:
    """Run all, and print or store it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--store", action="store_true")
    options = parser.parse_args()
    tool_path = find_tool()
    from course_lib.bench.session import short_name
    from course_lib.host import runtime

    with tempfile.TemporaryDirectory() as folder:
        right = {
            name: "right: True" in run([sys.executable, str(script_of(name, Path(folder)))])
            for name in LAUNCHES
        }
        print(right)
        found = list(rows(Path(folder), tool_path))
    version = re.search(r"Version (\d+\.\d+\.\d+)", run([tool_path, "--version"]))
    device = runtime.device_name()
    plain = {
        "device": device,
        "date": f"{datetime.now(UTC):%Y-%m-%d}",
        "version": version[1] if version else "",
        "right": right,
        "rows": found,
    }
    if options.store:
        print(files.store(sanitizer.FOLDER, short_name(device), plain))
    return 0


if __name__ == "__main__":
    sys.exit(main())
