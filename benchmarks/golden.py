"""Keeps what is said of every answer of the tests, and compares it after a change.

    python benchmarks/golden.py keep before.jsonl [--one-in 12] [--seeds 0 5 11]
    python benchmarks/golden.py compare before.jsonl after.jsonl

An answer's report is all of it: verdict, points, findings with their words for every reader, what
holds. A change that promises to change nothing is held against it.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from stored_answers import right_answers, wrong_answers  # noqa: E402

from course_lib.checking import examine_source  # noqa: E402
from course_lib.wording.sentences import AUDIENCES, told  # noqa: E402

SEEDS = (0, 5, 11)
Job = tuple[str, int]  # "wrong/EXERCISE/NAME" or "right/EXERCISE/NAME", and the seed


def main(arguments: Sequence[str] | None = None) -> int:
    """0 if all was kept, or nothing differs."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=("keep", "compare"))
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--one-in", type=int, default=1, help="every so many answers")
    parser.add_argument("--seeds", type=int, nargs="+", default=SEEDS)
    options = parser.parse_args(arguments)
    if options.what == "compare":
        before, after = options.files
        return compare(before, after)
    keep(options.files[0], list(_jobs(options.one_in, options.seeds)))
    return 0


def _jobs(one_in: int, seeds: Sequence[int]) -> Iterator[Job]:
    for seed in seeds:
        for name in list(answers())[::one_in]:
            yield name, seed


@cache
def answers() -> dict[str, str]:
    """Every wrong and every right answer of the tests, by the name that a job has."""
    wrong = {"/".join(("wrong", *key)): text for key, text in wrong_answers().items()}
    return wrong | {"/".join(("right", *key)): text for key, text in right_answers().items()}


def keep(out: Path, jobs: Sequence[Job]) -> None:
    """Write one line for each answer and seed."""
    with ProcessPoolExecutor(os.cpu_count()) as pool, out.open("w", encoding="utf-8") as kept:
        for (name, seed), said in zip(jobs, pool.map(report_of, jobs, chunksize=4), strict=True):
            kept.write(json.dumps([name, seed, said], ensure_ascii=False) + "\n")


def report_of(job: Job) -> dict[str, object]:
    """All that is said of an answer."""
    name, seed = job
    report = examine_source(name.split("/")[1], answers()[name], seed=seed, debug=True)
    return {
        "passed": report.passed,
        "earned": dict(report.earned),
        "needs review": report.needs_review,
        "launched": str(report.launched or ""),
        "held": list(report.held),
        "findings": [
            {
                "code": each.code,
                "severity": each.severity,
                "line": each.line,
                "other line": each.other_line,
                "message": [told(each.message, reader) for reader in AUDIENCES],
                "hint": [told(each.hint, reader) for reader in AUDIENCES],
            }
            for each in report.findings
        ],
    }


def compare(before: Path, after: Path) -> int:
    """Print what differs; the number of answers of which something else is said."""
    old, new = (_read(path) for path in (before, after))
    differing = 0
    for key in sorted(old.keys() & new.keys()):
        if old[key] != new[key]:
            differing += 1
            print(f"{key[0]}, seed {key[1]}")
            for name in old[key]:
                if old[key][name] != new[key].get(name):
                    print(f"  {name}\n  - {old[key][name]}\n  + {new[key].get(name)}")
    alone = len(old.keys() ^ new.keys())
    print(f"{len(old.keys() & new.keys())} compared, {differing} differ, {alone} in one file alone")
    return min(differing, 1)


def _read(path: Path) -> dict[Job, dict[str, object]]:
    rows = map(json.loads, path.read_text(encoding="utf-8").splitlines())
    return {(name, seed): said for name, seed, said in rows}


if __name__ == "__main__":
    raise SystemExit(main())
