"""`course.py doctor`: say what this machine can do, and how to fix what it can't.

Needs the standard library only and survives whatever is missing. What could crash or hang is
asked in a Python process of its own.
"""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version

from course_lib.commands import front_door
from course_lib.commands.options import read_options
from course_lib.commands.places import REPOSITORY

INSTALL = "`python3 course.py lab` installs what is missing."
ASK_SECONDS = 120


@dataclass(frozen=True)
class Check:
    """One thing that this machine can do or not; a mend only where something should be done."""

    topic: str
    good: bool
    says: str
    mend: str = ""


def main(arguments: list[str]) -> int:
    """Print one line for each thing looked at, with the mend where there is one."""
    about = "Tell you what this machine can do, and how to fix what it can't."
    read_options("doctor", about, "").parse_args(arguments)
    print(
        f"{platform.system()} {platform.release()} on {platform.machine()}, "
        f"{os.cpu_count()} cores, {shutil.disk_usage(REPOSITORY).free / 1e9:.0f} GB of disk free"
    )
    mends = 0
    for check in examine():
        print(f"  {'ok' if check.good else '--':2}  {check.topic:12} {check.says}", flush=True)
        if check.mend:
            mends += 1
            print(f"{'':19}> {check.mend}", flush=True)
    print(
        "All is well."
        if not mends
        else (f"Things to fix: {mends}. See the lines that begin with >.")
    )
    return 0


def examine() -> Iterator[Check]:
    """Every check, in the order in which one depends on another."""
    yield python()
    needed = packages("packages", ("numpy", "numba", "matplotlib", "ipython"))
    yield needed
    yield packages("notebooks", ("jupyterlab", "ipykernel", "nbclient"))
    yield emulator() if needed.good else Check("emulator", False, "needs the packages above")
    found = driver()
    yield found
    if found.good:
        yield gpu_packages()
        yield gpu()
        yield cublas()
    yield browser()


def python() -> Check:
    """The Python that lessons run with (course.py has refused one that is too old)."""
    return Check("Python", True, f"{platform.python_version()} at {sys.executable}")


def packages(topic: str, names: tuple[str, ...]) -> Check:
    """Are these installed for the Python that runs this?"""
    found, missing = [], []
    for name in names:
        try:
            found.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            missing.append(name)
    if missing:
        return Check(topic, False, f"not installed: {', '.join(missing)}", INSTALL)
    return Check(topic, True, ", ".join(found))


def emulator() -> Check:
    """Does a small kernel give the right numbers on the emulator?"""
    kernel = (
        "from numba import cuda\n"
        "def double(x):\n"
        "    i = cuda.grid(1)\n"
        "    if i < x.size:\n"
        "        x[i] += x[i]\n"
    )
    code = (
        "import numpy as np; from course_lib.emulator import emulate, load_program\n"
        f"double = load_program({kernel!r}).kernel('double')\n"
        "x = np.arange(40, dtype=np.float32)\n"
        "profile = emulate(double)[2, 32](x)\n"
        "assert x[39] == 78 and not profile.findings\n"
        "print('runs kernels on this CPU and counts what they do')"
    )
    return _tried("emulator", code, "`python3 course.py test` shows more; a new .venv may help.")


def driver() -> Check:
    """NVIDIA's driver and the GPUs that it sees."""
    library = front_door.load_driver()
    if not library:
        return Check("GPU", False, "no NVIDIA driver here; the course works without one")
    import ctypes

    number = ctypes.c_int(0)
    library.cuDriverGetVersion(ctypes.byref(number))
    cuda = f"CUDA {number.value // 1000}.{number.value % 1000 // 10}"
    if number.value < 12000:
        says = f"the driver is for {cuda}, too old for the current Numba"
        return Check("GPU", False, says, "Install NVIDIA driver 525 or newer.")
    if front_door.oldest_capability(library) is None:
        mend = (
            "In a container: start it with its GPU (Docker: --gpus all). Otherwise see "
            "`nvidia-smi`."
        )
        return Check("GPU", False, f"a driver for {cuda}, but no GPU that it can use", mend)
    names = _output(["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"])
    return Check("GPU", True, f"{'; '.join(names.splitlines()) or 'found'}; {cuda}")


def gpu_packages() -> Check:
    """Numba's CUDA part and CuPy, in the versions that fit the driver."""
    try:
        wanted = front_door.gpu_group()[0]
    except Exception as problem:
        return Check("GPU packages", False, str(problem))
    if wanted is None:
        says = "not used: MATMUL_LADDER_GPU=off, or they do not exist yet for this Python"
        return Check("GPU packages", False, says)
    cupy = {"gpu-cu12": "cupy-cuda12x"}.get(wanted, "cupy-cuda13x")
    return packages("GPU packages", ("numba-cuda", cupy))


def gpu() -> Check:
    """Does a small kernel give the right numbers on the GPU?"""
    code = (
        "from course_lib import probe\n"
        "v = probe.look()\n"
        "print(v.mend); print(v.banner)\n"
        "raise SystemExit(v.backend != 'gpu')"
    )
    good, said = _ask(code, lines=2)
    mend, _, banner = said.rpartition("\n")
    return Check("kernels", good, banner, "" if good else mend or "`nvidia-smi` should list it.")


def cublas() -> Check:
    """Can CuPy multiply, for the comparison with cuBLAS?"""
    code = (
        "import cupy; a = cupy.ones((64, 64), dtype='f4'); assert (a @ a)[0, 0] == 64\n"
        "print('CuPy', cupy.__version__, 'multiplies with cuBLAS')"
    )
    return _tried("cuBLAS", code, "Without it, no share of cuBLAS is shown. " + INSTALL)


def browser() -> Check:
    """Can `lab` open a browser here?"""
    from course_lib.commands.lab import has_screen

    if has_screen():
        return Check("browser", True, "`lab` opens JupyterLab in your browser")
    return Check(
        "browser", False, "no screen here; `lab` prints an address that you can open elsewhere"
    )


def _tried(topic: str, code: str, mend: str) -> Check:
    good, said = _ask(code)
    return Check(topic, good, said, "" if good else mend)


def _ask(code: str, lines: int = 1) -> tuple[bool, str]:
    """Run a few lines in a Python of their own: did they end well, and their last words."""
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
    try:
        done = subprocess.run(
            [sys.executable, "-c", code],
            capture_output=True,
            text=True,
            timeout=ASK_SECONDS,
            env=environment,
        )
    except (OSError, subprocess.TimeoutExpired) as problem:
        return False, f"no answer: {problem}"
    said = done.stdout if done.stdout.strip() else done.stderr
    return done.returncode == 0, "\n".join(said.strip("\n").splitlines()[-lines:])


def _output(command: list[str]) -> str:
    try:
        return subprocess.run(command, capture_output=True, text=True, timeout=20).stdout.strip()
    except (OSError, subprocess.TimeoutExpired):
        return ""
