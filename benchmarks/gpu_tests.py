"""Run the GPU tests of public projects by `pytest --cuda-emulate`, and on Numba's simulator.

    python benchmarks/gpu_tests.py                     all projects, both ways: an hour
    python benchmarks/gpu_tests.py --only stumpy       one project
    python benchmarks/gpu_tests.py --ours              without Numba's simulator
    python benchmarks/gpu_tests.py --store FILE        keep what each test came to

The list below was fixed before any of these tests had run on the emulator. Packages are installed
into a virtual environment in a folder of their own, and their source archives unpacked beside it;
nothing of theirs is kept here. Each file of tests runs in a process of its own, with the course on
its path: once with `--cuda-emulate`, once more with races as warnings where a race was named, and
once with NUMBA_ENABLE_CUDASIM=1. A test that takes longer than two minutes is ended.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
import venv
import xml.etree.ElementTree as ET
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
SECONDS_PER_TEST = 120  # unless --seconds says so
SECONDS_PER_FILE = 900
TIMED_OUT = "Failed: Timeout ("
TOOLS = (
    "numba==0.68.1", "numpy==2.4.6", "pytest==9.2.0", "pytest-timeout", "matplotlib", "ipython",
    "scipy", "pandas", "h5py", "hypothesis",
)  # fmt: skip
RACES = ("race-read-after-write", "race-write-after-read", "race-write-after-write")


@dataclass(frozen=True)
class Project:
    """One project, and which of its tests launch kernels.

    Attributes:
        name: its name on PyPI.
        version: the version that is installed.
        files: its test files, and how pytest is told to choose among their tests.
        choice: `-k`: which tests of these files use a GPU; "" for all.
    """

    name: str
    version: str
    files: tuple[str, ...]
    choice: str = ""


PROJECTS = (
    Project(
        "stumpy",
        "1.14.1",
        (
            "tests/test_gpu_aamp.py",
            "tests/test_gpu_aamp_ostinato.py",
            "tests/test_gpu_aamp_stimp.py",
            "tests/test_gpu_aampdist.py",
            "tests/test_gpu_mpdist.py",
            "tests/test_gpu_ostinato.py",
            "tests/test_gpu_stimp.py",
            "tests/test_gpu_stump.py",
            "tests/test_core.py",
            "tests/test_precision.py",
            "tests/test_non_normalized_decorator.py",
        ),
        choice="gpu",
    ),
    Project(
        "gamdpy",
        "0.8.3",
        (
            "tests/test_D2.py",
            "tests/test_JIT.py",
            "tests/test_LJ_nogpu.py",
            "tests/test_SLLOD.py",
            "tests/test_bare.py",
            "tests/test_brownian.py",
            "tests/test_energy_gradient.py",
            "tests/test_gradient_descent.py",
            "tests/test_gridsync.py",
            "tests/test_linked_lists_nblist.py",
            "tests/test_nvt_langevin.py",
            "tests/test_planar_interactions.py",
            "tests/test_stress.py",
            "tests/test_widom.py",
        ),
    ),
    # Its package has no tests; those of the repository at 50536a40 lie in FOLDER/read/algotom.
    Project(
        "algotom",
        "1.7.0",
        (
            "tests/test_rec/test_reconstruction.py",
            "tests/test_rec/test_vertrec.py",
            "tests/test_util/test_correlation.py",
        ),
    ),
    Project(
        "numba",
        "0.68.1",
        tuple(
            f"{name}.py"
            for name in (
                "test_cg",
                "test_cpu_gpu_compat",
                "test_laplace",
                "test_matmul",
                "test_montecarlo",
                "test_random",
                "test_reduction",
                "test_sessionize",
                "test_ufunc",
                "test_vecadd",
            )
        ),
    ),
)


# --- packages and tests -------------------------------------------------------------------------


def prepared(folder: Path, projects: list[Project]) -> Path:
    """A Python that has the projects; their tests lie unpacked in FOLDER/src."""
    python = folder / "venv" / ("Scripts" if os.name == "nt" else "bin") / "python"
    if not python.exists():
        venv.create(folder / "venv", with_pip=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", *TOOLS], check=True)
    for project in projects:
        wanted = f"{project.name}=={project.version}"
        subprocess.run([python, "-m", "pip", "install", "--quiet", wanted], check=True)
        home = home_of(folder, project)
        if project.name == "numba" and not home.exists():
            # Beside its package: whatever comes from there counts as Numba's own.
            code = "import numba.cuda.tests.doc_examples as d; print(d.__path__[0])"
            found = subprocess.run([python, "-c", code], capture_output=True, text=True, check=True)
            shutil.copytree(found.stdout.strip(), home)
        if project.name not in ("algotom", "numba") and not home.exists():
            given = ["--no-deps", "--no-binary", ":all:", "--dest", str(folder / "dl"), wanted]
            subprocess.run([python, "-m", "pip", "download", "--quiet", *given], check=True)
            archive = folder / "dl" / f"{project.name}-{project.version}.tar.gz"
            with tarfile.open(archive) as packed:
                packed.extractall(folder / "src", filter="data")
    return python


def home_of(folder: Path, project: Project) -> Path:
    """The folder that a project's tests are run in."""
    if project.name == "algotom":
        return folder / "read" / "algotom"
    return folder / "src" / f"{project.name}-{project.version}"


# --- one file of tests --------------------------------------------------------------------------


@dataclass
class Came:
    """What a file's tests came to in one way of running them.

    Attributes:
        tests: by name, "passed", "skipped", or what was said of the failure.
        seconds: the clock's time for the tests that passed, without what collects them.
        session: the clock's time of the whole session.
    """

    tests: dict[str, str]
    seconds: dict[str, float]
    session: float


def run_file(python: Path, home: Path, project: Project, file: str, *options: str) -> Came:
    """Run one file's tests, on the emulator if `options` say so, else on Numba's simulator."""
    kept = home / "all.xml"
    kept.unlink(missing_ok=True)
    emulated = "--cuda-emulate" in options
    # The tests of a project are run from its folder, but the package is the installed one.
    environment = os.environ | {
        "PYTHONPATH": str(ROOT) if emulated else "",
        "NUMBA_ENABLE_CUDASIM": str(int(not emulated)),
        "NUMBA_NUM_THREADS": "1",
    }
    command = [str(python), "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--junitxml={kept}"]
    command += ["-c", os.devnull, f"--rootdir={home}"]
    if emulated:
        command += ["-p", "course_lib.pytest_plugin"]
    if project.choice:
        command += ["-k", project.choice]
    command += [*options, file]
    start = time.perf_counter()
    try:
        subprocess.run(
            command, cwd=home, env=environment, capture_output=True, timeout=SECONDS_PER_FILE,
            check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return Came({file: "out of time"}, {}, SECONDS_PER_FILE)
    took = time.perf_counter() - start
    if not kept.exists():
        return Came({file: "pytest ended without a report"}, {}, took)
    tests, seconds = {}, {}
    for case in ET.parse(kept).iter("testcase"):
        name = f"{file}::{case.get('name')}"
        said = [child for child in case if child.tag in ("failure", "error", "skipped")]
        tests[name] = "passed" if not said else said[0].get("message") or said[0].text or "failed"
        if said and said[0].tag == "skipped":
            tests[name] = "skipped"
        elif said and TIMED_OUT in (said[0].text or ""):  # while another exception was handled
            tests[name] = TIMED_OUT
        seconds[name] = float(case.get("time", 0))
    return Came(tests, seconds, took)


def kind_of(said: str) -> str:
    """What an outcome is: passed, skipped, refused, a finding, out of time, or failed."""
    if said in ("passed", "skipped"):
        return said
    if "LaunchRefused: " in said or "NoGpuHere: " in said:
        return "refused"
    if "Timeout" in said or "out of time" in said or "[timeout]" in said:
        return "out of time"
    return "finding" if "LaunchFailed: " in said or "The test caught this" in said else "failed"


def measured(
    python: Path, home: Path, project: Project, file: str, ours: bool, seconds: int
) -> list[dict[str, Any]]:
    """What each test of a file came to, in all ways, in so many seconds."""
    rows = []
    limit = f"--timeout={seconds}"
    warn = [f"--cuda-emulate-warn={code}" for code in RACES]
    emulated = again = run_file(python, home, project, file, limit, "--cuda-emulate")
    if any("[race-" in said for said in emulated.tests.values()):
        again = run_file(python, home, project, file, limit, "--cuda-emulate", *warn)
    simulated = None if ours else run_file(python, home, project, file, limit)
    for name in sorted(emulated.tests.keys() | (simulated.tests if simulated else {}).keys()):
        row: dict[str, Any] = {"test": name}
        ways = {"emulator": emulated, "races as warnings": again, "simulator": simulated}
        for way, came in ways.items():
            if came is not None:
                said = came.tests.get(name, "not there")
                row[way] = kind_of(said)
                row[f"{way}, seconds"] = round(came.seconds.get(name, 0.0), 2)
                if row[way] not in ("passed", "skipped"):
                    row[f"{way} said"] = said[:200]
        rows.append(row)
    print(file, *(f"{way} {counted(rows, way)}" for way in WAYS), sep="\n  ", flush=True)
    return rows


WAYS = ("emulator", "races as warnings", "simulator")


def counted(rows: list[dict[str, Any]], way: str) -> str:
    """How many tests came to what."""
    kinds = Counter(row[way] for row in rows if way in row)
    return ", ".join(f"{number} {kind}" for kind, number in kinds.most_common())


# --- the table ----------------------------------------------------------------------------------

KINDS = ("passed", "finding", "refused", "failed", "out of time")
Runs = dict[str, dict[str, Any]]


def table(runs: Runs) -> str:
    """One line for each project, as docs/own_kernels.md shows it."""
    lines = [
        "| project | tests | pass | a finding | refused | fail otherwise | out of time | "
        "races as warnings: pass | Numba's simulator: pass | seconds, ours | simulator |",
        "|---" * 11 + "|",
    ]
    for project, run in runs.items():
        own = [row for row in run["tests"] if row["emulator"] != "skipped"]
        cells = [str(sum(row["emulator"] == kind for row in own)) for kind in KINDS]
        cells.append(str(sum(row[WAYS[1]] == "passed" for row in own)))
        if any(WAYS[2] in row for row in own):
            both = [row for row in own if row[WAYS[1]] == row.get(WAYS[2]) == "passed"]
            cells.append(str(sum(row.get(WAYS[2]) == "passed" for row in own)))
            cells += [f"{sum(row[f'{way}, seconds'] for row in both):.0f}" for way in WAYS[1:]]
        else:
            cells += ["not run", "–", "–"]
        lines.append(f"| {project} {run['version']} | {len(own)} | {' | '.join(cells)} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--only", help="one project's name")
    parser.add_argument("--ours", action="store_true", help="without Numba's simulator")
    parser.add_argument("--seconds", type=int, default=SECONDS_PER_TEST, help="most for a test")
    parser.add_argument(
        "--store",
        type=Path,
        help="keep what each test came to; a file of tests that is kept is not run",
    )
    parser.add_argument(
        "--folder", type=Path, default=Path(tempfile.gettempdir()) / "gpu_tests",
        help="where the environment and the projects' sources lie",
    )  # fmt: skip
    given = parser.parse_args()
    projects = [each for each in PROJECTS if given.only in (None, each.name)]
    given.folder.mkdir(parents=True, exist_ok=True)
    python = prepared(given.folder, projects)
    stored = given.store is not None and given.store.exists()
    runs: Runs = json.loads(given.store.read_text(encoding="utf-8")) if stored else {}
    for project in projects:
        if not home_of(given.folder, project).exists():
            print(f"{project.name}: no tests in {home_of(given.folder, project)}", file=sys.stderr)
            continue
        run = runs.setdefault(project.name, {"version": project.version, "tests": []})
        about = {
            "date": time.strftime("%d %B %Y"),
            "machine": f"{platform.machine()}, {os.cpu_count()} cores",
            "seconds per test": given.seconds,
        }
        run.update(about)
        done = {row["test"].partition("::")[0] for row in run["tests"]}
        for file in project.files:
            if file in done:  # remove it from the kept results to run it anew
                continue
            home = home_of(given.folder, project)
            run["tests"] += measured(python, home, project, file, given.ours, given.seconds)
            if given.store:
                given.store.write_text(json.dumps(runs, indent=1) + "\n", encoding="utf-8")
    print(table(runs))


if __name__ == "__main__":
    main()
