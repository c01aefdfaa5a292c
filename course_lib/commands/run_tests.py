"""`course.py test`: the fast tests, or with --all every check that this machine can make."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from course_lib.commands import colab, environments
from course_lib.commands.places import REPOSITORY

STEP_SECONDS = 1800  # a step that takes longer hangs
PYTHON = sys.executable
Command = list[str]


@dataclass(frozen=True)
class Step:
    """One thing to run; a function where the command is known only when its turn comes.

    A function that has done all there is to do returns None.
    """

    name: str
    command: Command | Callable[[], Command | None]


def main(arguments: list[str]) -> int:
    """Run the steps in turn, all of them even where one fails; 0 if none did."""
    parser = argparse.ArgumentParser(
        prog="course.py test",
        description="Run the fast tests; any other argument is handed to pytest, e.g. -k tiled.",
    )
    parser.add_argument("--all", action="store_true", help="the slow ones too (about 25 minutes)")
    parser.add_argument(
        "--long", action="store_true", help="all, and more of the same kinds (hours)"
    )
    parser.add_argument(
        "--live-cells",
        action="store_true",
        help="only the book's live cells in a browser, with Pyodide from the address that the "
        "published pages use",
    )
    parser.add_argument(
        "--colab-freeze",
        type=Path,
        metavar="FILE",
        help="only the tests with Colab's versions, taken from Colab's own `pip freeze`",
    )
    options, others = parser.parse_known_args(arguments)
    if others:
        marks = [] if options.all or options.long or "-m" in others else ["-m", FAST]
        return _run([PYTHON, "-m", "pytest", *marks, *others])
    if options.colab_freeze:
        steps = list(colab_steps(options.colab_freeze.read_text(encoding="utf-8")))
    elif options.live_cells:
        os.environ["MATMUL_LADDER_CDN"] = "1"
        steps = list(live_cell_steps())
    else:
        steps = list(all_steps() if options.all or options.long else fast_steps())
        steps += long_steps() if options.long else []
    rows = []
    try:
        for step in steps:
            print(f"\n== {step.name}", flush=True)
            started = time.monotonic()
            status = _run_step(step)
            rows.append((step.name, time.monotonic() - started, status))
    finally:  # stopped by Ctrl-C, it makes no further environment
        for each in _BEGUN:
            each.cancel()
    return summary(rows)


FAST = "not slow and not long"
# What students write into notebooks breaks no promise of the course, so the fast tests pass them
# over; a maintainer's `--all` looks at every cell.
CODE = ["course.py", "course_lib", "tests", "benchmarks"]
NOTEBOOKS = ["notebooks", "solutions"]
# Enough to see that the compiler is found and driven rightly; the rest is about newer versions.
ON_COLAB = "quote or helper or launch"
BROWSER_TESTS = ["tests/browser", "--confcutdir=tests/browser"]  # without what others share
# What could differ with older versions of NumPy, Numba and IPython; lessons draw the figures there.
# Of the emulator, that is what is held against NumPy's and Numba's own arithmetic and types.
EMULATOR_ON_COLAB = (
    "against_simulator arguments control exceptions memory parts plain scalars types"
)
LIBRARY_ON_COLAB = "checking host_api probe quiz runtime timing waiting"
ON_COLAB_TOO = ["tests/kernels", "tests/intrinsics"]
ON_COLAB_TOO += [f"tests/test_{name}.py" for name in LIBRARY_ON_COLAB.split()]
ON_COLAB_TOO += [f"tests/emulator/test_emulator_{name}.py" for name in EMULATOR_ON_COLAB.split()]
ON_COLAB_TOO += ["tests/figures/test_gallery.py"]  # every picture, with Colab's Matplotlib
# Between them they start the course, and show the figures and the quick checks of all kinds; all
# lessons and solutions run with the newest versions.
NOTEBOOKS_ON_COLAB = [f"notebooks/{name}.ipynb" for name in ("00_start_here", "10_tensor_cores")]
NOTEBOOKS_ON_COLAB += ["solutions/05_shared_memory_tiling.ipynb"]
FAST_TESTS = ["tests", "--ignore=tests/test_notebooks.py", "-m", FAST]


def fast_steps() -> Iterator[Step]:
    """What a change should be tried with every few minutes."""
    yield from lint_steps(CODE)
    yield Step("fast tests", _pytest(PYTHON, *FAST_TESTS, *in_parallel()))


def lint_steps(paths: list[str]) -> Iterator[Step]:
    """Ruff's rules and its format."""
    yield Step("lint", [PYTHON, "-m", "ruff", "check", *paths])
    yield Step("format", [PYTHON, "-m", "ruff", "format", "--check", *paths])


def all_steps() -> Iterator[Step]:
    """What a change has to pass before it is published; notebooks under nbval among it.

    Fast and slow tests are one step: to collect them takes half a minute. Packages are fetched and
    unpacked meanwhile, for much of that is waiting.
    """
    yield Step("environments, begun", begin_environments)
    yield from lint_steps([*CODE, *NOTEBOOKS])
    yield Step("notebooks as built", [PYTHON, "-m", "course_lib.cli", "build", "--check"])
    yield Step("fast and slow tests", _pytest(PYTHON, "tests", "-m", "not long", *in_parallel()))
    yield Step("notebooks", _nbval(PYTHON, NOTEBOOKS))
    yield Step("environments", finish_environments)
    yield from book_steps()
    yield from compiler_steps()
    yield from colab_steps()


def long_steps() -> Iterator[Step]:
    """More cases of what --all has tried: for a release, or when a check has changed."""
    yield Step("long tests", _pytest(PYTHON, "tests", "-m", "long", *in_parallel()))
    yield _browser_step("browser, more", "long")
    yield from compiler_steps("machine code, more", "long")
    yield from fuzzing_steps()
    yield Step("Colab: all notebooks", lambda: _nbval(str(colab.make()), NOTEBOOKS))


def fuzzing_steps() -> Iterator[Step]:
    """The reader and the checker under random inputs that are steered by what their code does."""
    if not sys.platform.startswith("linux"):
        return
    targets = ["tests/grading/test_reader_fuzz.py", "tests/diagnosis/test_fuzz_examination.py"]

    def tests() -> Command:
        return _pytest(_environment("fuzz"), *targets, "-m", "long", "-k", "coverage_guided")

    yield Step("fuzzing", tests)


def live_cell_steps() -> Iterator[Step]:
    """The book, and a student's way through its live cells."""
    yield next(book_steps())
    live = ["tests/browser/test_live_cells_in_browser.py", "--confcutdir=tests/browser"]
    yield Step("live cells", lambda: _pytest(_environment("browser"), *live))


def book_steps() -> Iterator[Step]:
    """The course as a static site, and what people click: JupyterLab and the site in Chromium."""
    book = Path("executed", "book")

    def build() -> Command:
        python = _environment("book")
        return [python, "-m", "course_lib.cli", "book", "--out", str(book)]

    yield Step("book", build)
    yield _browser_step("browser", "not long")


def _browser_step(name: str, marks: str) -> Step:
    return Step(
        name,
        lambda: _pytest(_environment("browser"), *BROWSER_TESTS, "-m", marks, *in_parallel()),
    )


def compiler_steps(name: str = "machine code", marks: str = "slow and not long") -> Iterator[Step]:
    """What Numba's CUDA compiler makes of kernels; no GPU is needed, but there is none for Macs."""
    if sys.platform == "darwin":
        return

    def tests() -> Command:
        python = _environment("compiler")
        return _pytest(python, "tests/machine_code", "-m", marks, *in_parallel(), "--dist=loadfile")

    yield Step(name, tests)


def colab_steps(freeze: str = "") -> Iterator[Step]:
    """The library and the lessons with the versions that Colab has; with newer ones, all lessons.

    Args:
        freeze: what Colab's `pip freeze` says today, if not what is pinned is meant.
    """

    def tests(*arguments: str) -> Callable[[], Command]:
        return lambda: _pytest(str(colab.make(freeze)), *arguments)

    fast = [*ON_COLAB_TOO, "-m", f"{FAST} and not workshop"]
    yield Step("Colab: fast tests", tests(*fast, *in_parallel()))
    notebooks = NOTEBOOKS if freeze else NOTEBOOKS_ON_COLAB
    yield Step("Colab: notebooks", lambda: _nbval(str(colab.make(freeze)), notebooks))
    yield Step("Colab: installation", tests("tests/colab"))
    yield Step("Colab: machine code", tests("tests/machine_code", "-m", "slow", "-k", ON_COLAB))


_BEGUN: list[Future[object]] = []  # the environments that are being made


def begin_environments() -> None:
    """Begin to make what later steps need, one after another, while the tests before them run."""
    groups = ["browser", "book"] + ([] if sys.platform == "darwin" else ["compiler"])
    pool = ThreadPoolExecutor(max_workers=1)
    _BEGUN[:] = [pool.submit(colab.make), *(pool.submit(_environment, each) for each in groups)]
    pool.shutdown(wait=False)


def finish_environments() -> None:
    """Wait for them. A step whose environment cannot be made says so when its turn comes."""
    for each in _BEGUN:
        if each.exception() and not isinstance(each.exception(), environments.CannotMake):
            each.result()


def _environment(group: str) -> str:
    """The Python of .venv-GROUP, with the packages of that lock and nothing else."""
    lock = (REPOSITORY / "locks" / f"{group}.txt").read_text(encoding="utf-8")
    return str(environments.make(f".venv-{group}", environments.this_python(), lock))


def in_parallel() -> list[str]:
    """pytest-xdist's options for this machine: one worker more than processors.

    Many a test waits: for a kernel that starts, a package that is installed, a process that ends.
    """
    workers = 1 + min(os.cpu_count() or 1, 8)
    return ["-n", str(workers), "--dist=worksteal"]


def _pytest(python: str, *arguments: str) -> Command:
    """Without nbval: to load it takes each worker three seconds, and only notebooks need it."""
    return [python, "-m", "pytest", "-q", "-p", "no:nbval", *arguments]


def _nbval(python: str, notebooks: list[str]) -> Command:
    """Every cell of these notebooks runs, and says what it said where that is compared.

    A worker takes many notebooks: to start nbval costs as much as a lesson.
    """
    options = ["--nbval-lax", "--nbval-cell-timeout=300", "-p", "no:cacheprovider"]
    options += ["-p", "course_lib.grading.nbval_run"]
    command = [python, "-m", "pytest", "-q", *options, *notebooks]
    return [*command, *in_parallel(), "--dist=loadfile"]


def _run_step(step: Step) -> int:
    try:
        command = step.command() if callable(step.command) else step.command
    except environments.CannotMake as problem:
        print(f"The environment for this step could not be made:\n{problem}")
        return 1
    return _run(command) if command else 0


def _run(command: Command) -> int:
    """Run in the repository, with course_lib importable there and in what is started there.

    Python may keep what it compiles, whatever this shell says: else each of hundreds of processes
    compiles Numba, Matplotlib and the course again, which takes it some seconds.
    """
    known = [os.environ["PYTHONPATH"]] if os.environ.get("PYTHONPATH") else []
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(REPOSITORY), *known])}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    try:
        done = subprocess.run(command, cwd=REPOSITORY, env=environment, timeout=STEP_SECONDS)
    except subprocess.TimeoutExpired:
        print(f"It was stopped after {STEP_SECONDS} s.")
        return 124
    return done.returncode


def summary(rows: list[tuple[str, float, int]]) -> int:
    """Print what took how long and what failed; the exit status of the whole."""
    width = max(len(name) for name, _, _ in rows)
    print()
    for name, seconds, status in rows:
        print(f"{name:{width}}  {seconds:6.1f} s  {'ok' if status == 0 else 'FAILED'}")
    failed = [name for name, _, status in rows if status]
    total = sum(seconds for _, seconds, _ in rows)
    print(f"{'all' if not failed else 'FAILED: ' + ', '.join(failed)}: {total:.0f} s", flush=True)
    return 1 if failed else 0
