"""What course.py adds to a command: the same command with and without it, by turns.

    python benchmarks/front_door.py [--rounds 9]

It needs an environment that `python3 course.py prepare` has made.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PYTHON = ROOT / ".venv" / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")
COMMAND = ["prepare"]


def seconds(command: list[str]) -> float:
    """How long one run takes."""
    began = time.perf_counter()
    subprocess.run(command, check=True, capture_output=True, cwd=ROOT)
    return time.perf_counter() - began


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--rounds", type=int, default=9)
    rounds = parser.parse_args().rounds
    if not PYTHON.exists():
        print("There is no .venv yet: `python3 course.py prepare` makes it.", file=sys.stderr)
        return 1
    direct = [str(PYTHON), "-P", "-m", "course_lib.cli", *COMMAND]
    through = [sys.executable, str(ROOT / "course.py"), *COMMAND]
    pairs = [(seconds(direct), seconds(through)) for _ in range(rounds)]
    without, with_it = (statistics.median(each) for each in zip(*pairs, strict=True))
    print(f"without course.py {without:.2f} s, with it {with_it:.2f} s: {with_it / without:.2f} x")
    return 0


if __name__ == "__main__":
    sys.exit(main())
