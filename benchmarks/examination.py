"""Processor time that the judge needs for one answer, in this checkout beside another one.

    python benchmarks/examination.py --beside ../base            # all solutions and styles
    python benchmarks/examination.py --beside ../base --only matmul_tiled --rounds 5

Both checkouts judge the same right answers, those of this one, in turn: answer by answer, so that
whatever else the machine does meets both alike. Of several rounds the least time counts.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from statistics import geometric_mean
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from stored_answers import right_answers  # noqa: E402

CONTEXT = "import math\nimport numpy as np\nfrom numba import cuda, float32"

# Runs in each checkout: judges what comes in, a line of JSON for each answer.
JUDGE = """
import json, sys, time
import course_lib
for line in sys.stdin:
    exercise, text, seed, context = json.loads(line)
    start = time.process_time()
    report = course_lib.examine_source(exercise, text, seed=seed, context=context)
    spent = time.process_time() - start
    print(json.dumps([spent, report.passed]), flush=True)
"""


class Judge:
    """A process that judges answers with one checkout's code."""

    def __init__(self, checkout: Path) -> None:
        environment = {**os.environ, "PYTHONPATH": str(checkout), "OMP_NUM_THREADS": "1"}
        self.process = subprocess.Popen(
            [sys.executable, "-c", JUDGE],
            cwd=checkout,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def examine(self, exercise: str, text: str, seed: int, context: str) -> tuple[float, bool]:
        """Seconds of processor time, and whether the answer passed."""
        assert self.process.stdin and self.process.stdout
        print(json.dumps([exercise, text, seed, context]), file=self.process.stdin, flush=True)
        spent, passed = json.loads(self.process.stdout.readline())
        return float(spent), bool(passed)

    def end(self) -> None:
        assert self.process.stdin
        self.process.stdin.close()
        self.process.wait()


def answers() -> Iterator[tuple[str, str, str, str]]:
    """Exercise, name, text and context of all solutions and of all answers in other styles."""
    for path in sorted((ROOT / "solutions").glob("*.ipynb")):
        cells: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))["cells"]
        sources = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
        for text in sources:
            if text.startswith("# EXERCISE "):
                yield text.split()[2], "solution", text, CONTEXT
    for (exercise, name), text in right_answers().items():
        yield exercise, name, text, ""


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--beside", type=Path, required=True, help="the other checkout")
    parser.add_argument("--only", nargs="+", help="exercises")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--each", action="store_true", help="a line for every answer")
    options = parser.parse_args()
    here, there = Judge(ROOT), Judge(options.beside.resolve())
    times: dict[str, list[tuple[float, float]]] = defaultdict(list)
    refused = 0
    for exercise, name, text, context in answers():
        if options.only and exercise not in options.only:
            continue
        pairs, compared = [], True
        for _ in range(options.rounds):
            ours, theirs = (
                judge.examine(exercise, text, options.seed, context) for judge in (here, there)
            )
            pairs.append((ours[0], theirs[0]))
            compared &= theirs[1]
            if not ours[1]:
                refused += 1
                print(f"refused: {exercise} {name}", flush=True)
        if not compared:  # a refusal costs next to nothing
            print(f"not compared, as the other checkout refuses it: {exercise} {name}", flush=True)
            continue
        after, before = (min(times) for times in zip(*pairs, strict=True))
        times[exercise].append((before, after))
        if options.each:
            line = f"{exercise} {name}: {1000 * before:.0f} ms, {1000 * after:.0f} ms"
            print(f"{line}, {after / before:.2f}", flush=True)
    here.end()
    there.end()
    print("| exercise | answers | there | here | ratio | greatest |\n|---|---|---|---|---|---|")
    for exercise, pairs in times.items():
        print(row(exercise, pairs))
    print(row("all", [pair for pairs in times.values() for pair in pairs]))
    return 1 if refused else 0


def row(name: str, pairs: list[tuple[float, float]]) -> str:
    """Mean milliseconds, the geometric mean of the ratios, and the greatest of them."""
    before, after = (1000 * sum(each) / len(pairs) for each in zip(*pairs, strict=True))
    ratios = [here / there for there, here in pairs]
    means = f"{before:.0f} ms | {after:.0f} ms | {geometric_mean(ratios):.2f}"
    return f"| {name} | {len(pairs)} | {means} | {max(ratios):.2f} |"


if __name__ == "__main__":
    sys.exit(main())
