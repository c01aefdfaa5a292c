"""Run the kernels of numba-cuda's own tests on the emulator, which nobody here wrote.

    python benchmarks/language/numba_tests.py --python PYTHON            all, about ten minutes
    python benchmarks/language/numba_tests.py --python PYTHON test_ssa   the kernels of one file
    python benchmarks/language/numba_tests.py --python PYTHON --fix-list write the list anew

PYTHON is one that has numba-cuda, whose package brings its tests. Each test runs under Numba's
simulator, with the emulator in the simulator's place: the test's own assertions judge what the
emulator computed, and so does a second run of the same launch on the simulator. The list of
kernels (`kernels_of_numba_cuda.json`: names and hashes of sources) was written by the run that
measured first, not before it; only `--fix-list` writes it anew. No source of others is kept here.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
LIST = HERE / "kernels_of_numba_cuda.json"
RESULTS = HERE / "results_of_numba_cuda.json"
SECONDS_PER_FILE = 300
FOLDERS = ("cudapy", "doc_examples", "cudadrv", "cudasim", "nrt")

OUTSIDE = "outside: the test is not about what a kernel computes"

# What a kernel came to, best first; a kernel that was launched several times is as its worst.
OUTCOMES = (
    "right",
    OUTSIDE,
    "unsupported: the rest",
    "unsupported: a limit of ours",
    "to be looked at: other values",
    "to be looked at: a race",
    "to be looked at: an error is named",
    "to be looked at: the compiler refuses it",
    "to be looked at: compile-error",
    "crashed",
)


def test_files(python: str) -> list[Path]:
    """The files of numba-cuda's tests, for the interpreter that has them."""
    code = "import numba.cuda; print(numba.cuda.__file__)"
    where = subprocess.run([python, "-c", code], capture_output=True, text=True, check=True)
    tests = Path(where.stdout.strip()).parent / "tests"
    return sorted(file for each in FOLDERS for file in (tests / each).glob("test_*.py"))


def launches_of(python: str, file: Path, program: str) -> list[dict[str, Any]]:
    """Run one file of tests in a process of its own; what is known of every launch."""
    with tempfile.NamedTemporaryFile(suffix=".jsonl") as kept:
        command = [python, str(HERE / program), str(file), kept.name]
        simulated = {"NUMBA_ENABLE_CUDASIM": str(int(program == "launches.py"))}
        try:
            subprocess.run(
                command,
                env=os.environ | simulated,
                capture_output=True,
                timeout=SECONDS_PER_FILE,
                check=False,
            )
        except subprocess.TimeoutExpired:
            print(f"{file.stem}: out of time", file=sys.stderr)
        return [json.loads(line) for line in Path(kept.name).read_text().splitlines()]


def outcome_of(launches: list[dict[str, Any]]) -> dict[str, Any]:
    """The worst that a kernel's launches came to, with what was said of that one."""
    equal = [each for each in launches if each.get("simulator") == "equal"]
    meet = any(each.get("threads meet") for each in launches)
    passed = any(each.get("compiler") and each["test"] == "passed" for each in launches)
    compiled = [each for each in launches if each.get("compiler")]
    judged = [
        (outcome_of_launch(each, bool(equal), meet, passed), each)
        for each in launches
        # What the compiler says of the types at hand is heard first.
        if each.get("compiler") or not compiled or each["emulator"] in ("ran", "crashed")
    ]
    outcome, worst = max(judged, key=lambda each: OUTCOMES.index(each[0]))
    kept = {key: worst[key] for key in ("said", "line", "compiler") if worst.get(key)}
    return {"outcome": outcome, **kept, "races": meet}


def outcome_of_launch(launch: dict[str, Any], equal: bool, meet: bool, passed: bool) -> str:
    """What a launch came to.

    `equal`, `meet` and `passed` are known of all launches of the kernel: the simulator had the same
    values; threads of the simulator met; a test passed on what Numba compiled and we computed.
    """
    refused = launch.get("compiler", "").startswith("refuses")
    if refused and launch["compiler"].split()[1].startswith("PicklingError"):
        return OUTSIDE  # the cache on disk; it had compiled
    if launch.get("outside") and not (equal or passed):
        return OUTSIDE
    rest = "the rest" if launch["rest"] else "a limit of ours"
    match launch["emulator"]:
        case "crashed":
            return "crashed"
        case "compile-error" | "invalid-launch":
            return "right" if refused else "to be looked at: compile-error"
        case "unsupported":
            return f"unsupported: {rest}"
        case "not-allowed":  # nothing that a course needs: addresses, for example
            return f"unsupported: {rest}"
    if refused:
        # No declared signature fits the arguments: that is said before anything is compiled.
        unmatched = launch["compiler"].startswith("refuses: TypeError: ")
        return "right" if unmatched else "to be looked at: the compiler refuses it"
    if any(code.startswith("race-") for code in launch["findings"]) and not meet:
        return "to be looked at: a race"
    if launch["test"] == "passed" or equal or passed:
        return "right"
    if launch.get("simulator", "").endswith(("Error", "Exception")) and launch["findings"]:
        return "right"  # both say that something goes wrong
    if launch["findings"]:
        return "to be looked at: an error is named"
    return "to be looked at: other values"


def table(results: dict[str, dict[str, Any]]) -> str:
    """Results by file of tests, as Markdown."""
    counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for name, result in results.items():
        counts[name.split("::")[0]][result["outcome"]] += 1
    lines = [
        "file | kernels | right | outside | the rest | a limit | to be looked at | crashed",
        "|".join(["---"] * 8),
    ]
    for family, found in [*sorted(counts.items()), ("all", sum(counts.values(), Counter()))]:
        looked = sum(n for each, n in found.items() if each.startswith("to be looked at"))
        cells = (*(found[each] for each in OUTCOMES[:4]), looked)
        row = (family, found.total(), *cells, found["crashed"])
        lines.append(" | ".join(map(str, row)))
    return "\n".join(f"| {line} |" for line in lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="*", help="names of files of tests, such as test_ssa")
    parser.add_argument("--python", default=sys.executable, help="one that has numba-cuda")
    parser.add_argument("--fix-list", action="store_true", help="write the list of kernels anew")
    parser.add_argument("--store", action="store_true", help="keep the results")
    options = parser.parse_args()
    found: dict[str, dict[str, Any]] = {}
    for file in test_files(options.python):
        if options.files and file.stem not in options.files:
            continue
        kernels: defaultdict[str, list[dict[str, Any]]] = defaultdict(list)
        for program in ("launches.py", "with_the_compiler.py"):
            for launch in launches_of(options.python, file, program):
                kernels[launch["kernel"]].append(launch)
        for name, launches in kernels.items():
            rest = sorted({each for launch in launches for each in launch["rest"]})
            found[name] = outcome_of(launches) | {"sha": launches[0]["sha"], "rest": rest}
        print(file.stem, len(kernels), file=sys.stderr, flush=True)
    if options.fix_list:
        names = {name: found[name]["sha"] for name in sorted(found)}
        LIST.write_text(json.dumps(names, indent=1) + "\n", encoding="utf-8")
    listed = json.loads(LIST.read_text(encoding="utf-8"))
    results = {name: found[name] for name in sorted(found) if name in listed}
    for name, result in results.items():
        if result["outcome"] not in OUTCOMES[:3]:
            print(f"{name}\n    {result['outcome']}: {result.get('said', '')}")
    print(table(results))
    if options.store:
        RESULTS.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
