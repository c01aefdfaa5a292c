"""`course.py test`: the fast tests, or with --all every check that this machine can make."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from course_lib.commands import environments
from course_lib.commands.options import read_options
from course_lib.commands.places import REPOSITORY
from course_lib.host import newer_packages

STEP_SECONDS = 3600  # a step that takes longer hangs
PYTHON = sys.executable
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")  # of NumPy's products
Command = list[str]
OPTIONS = """\
--all                  the slow ones too (some thirty minutes)
--long                 all tests, and more cases of the same kinds (takes hours)
--live-cells           only the book's live cells in a browser, with Pyodide from the address that
                       the published pages use
--colab-freeze FILE    only the tests with Colab's versions, taken from Colab's own `pip freeze`
--upstream [BOUND …]   only the tests that show whether the course works with the newest Numba,
                       numba-cuda, numba-cuda-mlir and NumPy, in a separate environment; a bound
                       such as 'numpy<2.5' keeps a package at an older version
--pre                  with --upstream: pre-releases, too
"""


@dataclass(frozen=True)
class TestStep:
    """One thing to run; a function where the command is known only when its turn comes.

    A function that has done all there is to do returns None.
    """

    name: str
    command: Command | Callable[[], Command | None]


def main(arguments: list[str]) -> int:
    """Run the steps, all of them even where one fails; 0 if none did."""
    about = "Run the fast tests; any other argument is passed to pytest, e.g. -k tiled."
    parser = read_options("test", about, OPTIONS)
    options, others = parser.parse_known_args(arguments)
    if options.upstream is not None:
        return upstream_lane(options.upstream, options.pre)
    if others:
        marks = [] if options.all or options.long or "-m" in others else ["-m", FAST]
        return _run([PYTHON, "-m", "pytest", *marks, *others])
    front: Iterable[TestStep] = []
    beside: Iterable[TestStep] = []
    if options.colab_freeze:
        front = colab_steps(options.colab_freeze.read_text(encoding="utf-8"))
    elif options.live_cells:
        os.environ["MATMUL_LADDER_CDN"] = "1"
        front = live_cell_steps()
    elif options.all or options.long:
        front, beside = all_steps(), steps_beside()
    else:
        front = fast_steps()
    started = time.monotonic()
    rows = in_two_lanes(list(front), list(beside))
    if options.long:
        rows += [_timed(step) for step in long_steps()]
    return summary(rows, time.monotonic() - started)


Row = tuple[str, float, int]  # a step's name, its seconds, its exit status


def in_two_lanes(front: list[TestStep], beside: list[TestStep]) -> list[Row]:
    """Run the steps of two lists, each list in its order, both at once; the rows of all of them.

    The steps beside wait much, for a browser or for packages, or keep one processor busy. So they
    take the processors first, and those in front, of which each keeps all busy, what is left.
    What the steps in front say is seen at once; of those beside, when a step has ended.
    """
    stopped = threading.Event()
    with ThreadPoolExecutor(max_workers=1) as pool:
        others = pool.submit(_in_turn, beside, stopped)
        try:
            rows = [_timed(step, gives_way=bool(beside)) for step in front]
            return rows + others.result()
        finally:  # stopped by Ctrl-C, it begins no further step and makes no further environment
            stopped.set()
            for future in _BEGUN:
                future.cancel()


def _in_turn(steps: list[TestStep], stopped: threading.Event) -> list[Row]:
    """Run the steps beside others: each one's words are kept until it has ended."""
    rows = []
    for step in steps:
        if stopped.is_set():
            break
        row, said = _heard(step)
        rows.append(row)
        print(said, end="", flush=True)
    return rows


def _heard(step: TestStep) -> tuple[Row, str]:
    """Run a step, and return what it said as well."""
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as said:
        row = _timed(step, said)
        said.seek(0)
        return row, said.read()


def _timed(step: TestStep, said: IO[str] | None = None, gives_way: bool = False) -> Row:
    print(f"\n== {step.name}", file=said, flush=True)
    started = time.monotonic()
    status = _run_step(step, said, gives_way)
    return step.name, time.monotonic() - started, status


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
EMULATOR_ON_COLAB = "against_simulator control memory plain types"
LIBRARY_ON_COLAB = "checking host_api predictions probe runtime timing waiting"
ON_COLAB_TOO = ["tests/kernels", "tests/intrinsics"]
ON_COLAB_TOO += [f"tests/test_{name}.py" for name in LIBRARY_ON_COLAB.split()]
ON_COLAB_TOO += [f"tests/emulator/test_emulator_{name}.py" for name in EMULATOR_ON_COLAB.split()]
ON_COLAB_TOO += ["tests/figures/test_gallery.py"]  # each kind of picture, with Colab's Matplotlib
# Between them they start the course, and show the figures and the quick checks of all kinds; all
# lessons and solutions run with the newest versions.
NOTEBOOKS_ON_COLAB = [f"notebooks/{name}.ipynb" for name in ("00_start_here", "10_tensor_cores")]
NOTEBOOKS_ON_COLAB += ["solutions/05_shared_memory_tiling.ipynb"]
FAST_TESTS = ["tests", "--ignore=tests/test_notebooks.py", "-m", FAST]
TYPES = TestStep("types", [PYTHON, "-m", "mypy"])  # of the library: `[tool.mypy]` says which


def fast_steps() -> Iterator[TestStep]:
    """What a change should be tried with every few minutes."""
    yield from lint_steps(CODE)
    yield TYPES
    yield TestStep("fast tests", _pytest(PYTHON, *FAST_TESTS, *in_parallel()))


def lint_steps(paths: list[str]) -> Iterator[TestStep]:
    """Ruff's rules and its format."""
    yield TestStep("lint", [PYTHON, "-m", "ruff", "check", *paths])
    yield TestStep("format", [PYTHON, "-m", "ruff", "format", "--check", *paths])


def all_steps() -> Iterator[TestStep]:
    """What a change has to pass before it is published: on the course's own packages.

    Fast and slow tests are one step: to collect them takes half a minute.
    """
    yield TestStep("environments, begun", begin_environments)
    yield from lint_steps([*CODE, *NOTEBOOKS])
    yield TestStep(
        "fast and slow tests", _pytest(PYTHON, "tests", "-m", "not long", *in_parallel())
    )


def steps_beside() -> Iterator[TestStep]:
    """What it has to pass besides: in a browser, through the compiler, with Colab's versions.

    The first two need one processor and nothing else, so they run while the environments are made.
    Each of the others has one of its own, but for the notebooks, and leaves the files of the others
    alone, so these steps run beside those of `all_steps`; with them they end about together.
    """
    yield TYPES
    yield TestStep("notebooks as built", [PYTHON, "-m", "course_lib.cli", "build", "--check"])
    yield from book_steps()
    yield from compiler_steps()
    yield from tile_steps()
    yield from colab_steps()
    yield TestStep("notebooks", _nbval(PYTHON, NOTEBOOKS))


def long_steps() -> Iterator[TestStep]:
    """More cases of what --all has tried: for a release, or when a check has changed."""
    yield TestStep("long tests", _pytest(PYTHON, "tests", "-m", "long", *in_parallel()))
    yield _browser_step("browser, more", "long")
    yield from compiler_steps("machine code, more", "long")
    if sys.platform.startswith("linux"):  # random inputs that are steered by what their code does
        targets = [
            "tests/grading/test_reader_fuzz.py",
            "tests/diagnosis/test_bounded_examination.py",
        ]
        yield _with("fuzz", "fuzzing", *targets, "-m", "long", "-k", "coverage_guided")
    yield TestStep("Colab: all notebooks", lambda: _nbval(_colab(), NOTEBOOKS))


def _with(group: str, name: str, *arguments: str) -> TestStep:
    """Tests with the packages of a lock of their own, which are installed when it is their turn."""
    return TestStep(name, lambda: _pytest(_environment(group), *arguments))


def live_cell_steps() -> Iterator[TestStep]:
    """The book, and a student's way through its live cells."""
    yield next(book_steps())
    live = [f"tests/browser/test_live_{kind}_in_browser.py" for kind in ("cells", "pages")]
    yield _with("browser", "live cells", *live, BROWSER_TESTS[1])


def book_steps() -> Iterator[TestStep]:
    """The course as a static site, and what people click: JupyterLab and the site in Chromium."""
    book = ["-m", "course_lib.cli", "book", "--out", str(Path("executed", "book"))]
    yield TestStep("book", lambda: [_environment("book"), *book])
    yield _browser_step("browser", "not long")


def _browser_step(name: str, marks: str) -> TestStep:
    """Each file by one worker, for what is started for one is shared: JupyterLab, and a site."""
    return _with("browser", name, *BROWSER_TESTS, "-m", marks, *in_parallel(), "--dist=loadfile")


def compiler_steps(
    name: str = "machine code", marks: str = "slow and not long"
) -> Iterator[TestStep]:
    """What Numba's CUDA compiler makes of kernels; no GPU is needed, but there is none for Macs."""
    if sys.platform != "darwin":
        tests = ["tests/machine_code", "-m", marks, *in_parallel(), "--dist=loadfile"]
        yield _with("compiler", name, *tests)


def tile_steps() -> Iterator[TestStep]:
    """The tile machine beside Triton's interpreter, and beside the compilers of both languages.

    Each by itself: Triton interprets or compiles, and changes itself for that.
    """
    if sys.platform.startswith("linux"):
        for name, file in (("Triton", "against_triton"), ("tile compilers", "compiled_tiles")):
            yield _with("tiles", name, f"tests/tiles/test_{file}.py")


def colab_steps(freeze: str = "") -> Iterator[TestStep]:
    """The library and the lessons with the versions that Colab has; with newer ones, all lessons.

    Args:
        freeze: what Colab's `pip freeze` says today, if not what is pinned is meant.
    """

    def tests(*arguments: str) -> Callable[[], Command]:
        return lambda: _pytest(_colab(freeze), *arguments)

    fast = [*ON_COLAB_TOO, "tests/test_successor.py", "-m", f"{FAST} and not workshop"]
    yield TestStep("Colab: fast tests", tests(*fast, *in_parallel()))
    notebooks = NOTEBOOKS if freeze else NOTEBOOKS_ON_COLAB
    yield TestStep("Colab: notebooks", lambda: _nbval(_colab(freeze), notebooks))
    yield TestStep("Colab: installation", tests("tests/colab"))
    yield TestStep("Colab: machine code", tests("tests/machine_code", "-m", "slow", "-k", ON_COLAB))


def upstream_lane(bounds: list[str], pre: bool) -> int:
    """Try the newest packages of the day, and name what they break that is known, with its mend."""
    try:
        python = environments.make_newest(bounds, pre)
        print("Today:", *environments.versions(python), sep="\n  ", flush=True)
    except environments.CannotMake as problem:
        print(f"The newest packages could not be installed together:\n{problem}")
        return 1
    started = time.monotonic()
    rows: list[Row] = []
    known: dict[str, str] = {}
    for step in upstream_steps(str(python)):
        row, said = _heard(step)
        print(said, flush=True)
        rows.append(row)
        known |= (
            {breakage.packages: breakage.mend for breakage in newer_packages.named(said)}
            if row[2]
            else {}
        )
    status = summary(rows, time.monotonic() - started)
    for packages, mend in known.items():
        print(f"Known: {packages}. {mend}")
    if status and not known:
        print(
            "None of these faults is in course_lib/host/newer_packages.py yet: fix them, and add a "
            "line for each there."
        )
    return status


def upstream_steps(python: str) -> Iterator[TestStep]:
    """What can tell whether the course fits newer packages: the parts that touch them."""
    fast = [*ON_COLAB_TOO, "tests/test_successor.py", "-m", f"{FAST} and not workshop"]
    yield TestStep("newest: fast tests", _pytest(python, *fast, *in_parallel()))
    mlir = ["tests/emulator/test_emulator_against_simulator.py", "-m", "long", "-k", "its_kernels"]
    yield TestStep("newest: numba-cuda-mlir", _pytest(python, *mlir))
    if sys.platform != "darwin":
        slow = ["tests/machine_code", "-m", "slow and not long", "--dist=loadfile"]
        yield TestStep("newest: machine code", _pytest(python, *slow, *in_parallel()))
    yield TestStep("newest: notebooks", _nbval(python, NOTEBOOKS))
    # As if Numba were not installed: then the setup cell takes numba-cuda-mlir.
    alone = [python, "tests/without_numba/run.py", *_nbval(python, NOTEBOOKS)[1:]]
    yield TestStep("newest: notebooks with numba-cuda-mlir alone", alone)


_BEGUN: list[Future[str]] = []  # the environments that are being made
ENVIRONMENTS = ("book", "browser", "colab", "compiler", "fuzz", "tiles")
# Of two steps that need one environment, the second waits until the first has made it.
_MAKING = {environment: threading.Lock() for environment in ENVIRONMENTS}


def begin_environments() -> None:
    """Begin to make what later steps need, one after another, while the tests before them run.

    Where one cannot be made, the step that needs it tries again, and says why.
    """
    groups = ["book", "browser"] + ([] if sys.platform == "darwin" else ["compiler"])
    groups += ["tiles"] if sys.platform.startswith("linux") else []
    pool = ThreadPoolExecutor(max_workers=1)
    _BEGUN[:] = [*(pool.submit(_environment, group) for group in groups), pool.submit(_colab)]
    pool.shutdown(wait=False)


def _environment(group: str) -> str:
    """The Python of .venv-GROUP, with the packages of that lock and nothing else."""
    lock = (REPOSITORY / "locks" / f"{group}.txt").read_text(encoding="utf-8")
    with _MAKING[group]:
        base = environments.this_python()
        return str(environments.make(f".venv-{group}", base, lock, own_pip=False))


def _colab(freeze: str = "") -> str:
    """The Python of .venv-colab, with the versions that Colab has."""
    with _MAKING["colab"]:
        return str(environments.make_colabs(freeze))


def in_parallel() -> list[str]:
    """pytest-xdist's options for this machine: a worker for each processor.

    Many a test waits, and so much else runs meanwhile; a worker more would collect all tests once
    more, which takes as long as a hundred of them.
    """
    workers = max(2, min(os.cpu_count() or 1, 9))
    return ["-n", str(workers), "--dist=worksteal"]


def _pytest(python: str, *arguments: str) -> Command:
    """Without nbval: to load it takes each worker three seconds, and only notebooks need it."""
    return [python, "-m", "pytest", "-q", "-p", "no:nbval", *arguments]


def _nbval(python: str, notebooks: list[str]) -> Command:
    """Every cell of these notebooks runs, and says what it said where that is compared.

    A worker takes many notebooks: to start nbval costs as much as a lesson.
    """
    options = ["--nbval-lax", "--nbval-cell-timeout=300", "-p", "no:cacheprovider"]
    options += ["-p", "course_lib.grading.judging.nbval_run"]
    command = [python, "-m", "pytest", "-q", *options, *notebooks]
    return [*command, *in_parallel(), "--dist=loadfile"]


def _run_step(step: TestStep, said: IO[str] | None = None, gives_way: bool = False) -> int:
    try:
        command = step.command() if callable(step.command) else step.command
    except environments.CannotMake as problem:
        print(f"The environment for this step could not be made:\n{problem}", file=said)
        return 1
    if command and gives_way and shutil.which("nice"):
        command = ["nice", "-n", "5", *command]
    return _run(command, said) if command else 0


def _run(command: Command, said: IO[str] | None = None) -> int:
    """Run in the repository, with course_lib importable there and in what is started there.

    Python may keep what it compiles, whatever this shell says: else each of hundreds of processes
    compiles Numba, Matplotlib and the course again, which takes it some seconds. A product of
    matrices takes one thread, if this shell says nothing else: a worker has one processor, and
    threads that wait for each other keep those of the others busy.
    """
    known = [os.environ["PYTHONPATH"]] if os.environ.get("PYTHONPATH") else []
    environment = {**dict.fromkeys(THREADS, "1"), **os.environ}
    environment["PYTHONPATH"] = os.pathsep.join([str(REPOSITORY), *known])
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    try:
        done = subprocess.run(
            command,
            cwd=REPOSITORY,
            env=environment,
            timeout=STEP_SECONDS,
            stdout=said,
            stderr=subprocess.STDOUT if said else None,
        )
    except subprocess.TimeoutExpired:
        print(f"It was stopped after {STEP_SECONDS} s.", file=said, flush=True)
        return 124
    return done.returncode


def summary(rows: list[Row], seconds: float) -> int:
    """Print what took how long, what failed, and how long all took; the exit status of the whole.

    Args:
        rows: the steps.
        seconds: from the first step's begin to the last one's end; steps may run at once.
    """
    width = max(len(name) for name, _, _ in rows)
    print()
    for name, taken, status in rows:
        print(f"{name:{width}}  {taken:6.1f} s  {'ok' if status == 0 else 'FAILED'}")
    failed = [name for name, _, status in rows if status]
    print(f"{'all' if not failed else 'FAILED: ' + ', '.join(failed)}: {seconds:.0f} s", flush=True)
    return 1 if failed else 0
