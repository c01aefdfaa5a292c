"""`course.py lock`: work out the pinned, hashed requirement files in locks/ anew.

For maintainers, and the only command that needs a tool of its own (uv, put into a throw-away
environment). One run makes every lock, each within the versions of the one before, so that groups
can be installed on top of each other.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import venv
from dataclasses import dataclass
from pathlib import Path

from course_lib.commands.options import read_options
from course_lib.commands.places import REPOSITORY

OLDEST_PYTHON = "3.11"


# Every group shares one NumPy, so it is one that numba-cuda can import (before 2.5), except on
# Python 3.15, for which there is no numba-cuda yet and no older NumPy. Wheels for Macs with Intel
# processors end with Numba 0.62.1.
INTEL_MAC = "sys_platform == 'darwin' and platform_machine == 'x86_64'"
OTHERS = "(sys_platform != 'darwin' or platform_machine != 'x86_64')"
EVERYWHERE = (
    f"numba==0.62.1 ; {INTEL_MAC}",
    f"numba>0.62.1 ; {OTHERS}",
    f"numpy>=2.4,<2.5 ; {OTHERS} and python_version < '3.15'",
    f"numpy>=2.5 ; {OTHERS} and python_version >= '3.15'",
)


@dataclass(frozen=True)
class Lock:
    """One file of locks/: what goes in, and whose versions it has to agree with."""

    group: str
    extras: tuple[str, ...] = ()
    agrees_with: str | None = None
    bounds: tuple[str, ...] = EVERYWHERE
    sources: tuple[str, ...] = ("pyproject.toml",)


# The oldest CUDA toolkit of each major that knows the GPUs of the course: a driver runs what a
# toolkit up to its own version has built.
CUDA_12 = ("cuda-toolkit==12.8.*", "nvidia-nvjitlink-cu12<12.9")
CUDA_13 = ("cuda-toolkit==13.0.*", "nvidia-nvjitlink<13.1")

LOCKS = (
    Lock("test", ("grade", "lab", "test")),
    Lock("lab", ("lab",), "test"),
    Lock("grade", ("grade",), "test"),
    Lock("book", ("book",), "test"),
    Lock("browser", ("browser",), "test"),
    Lock("fuzz", ("fuzz",), "test"),
    Lock("gpu-cu12", ("gpu-cu12",), "test", EVERYWHERE + CUDA_12),
    Lock("gpu-cu13", ("gpu-cu13",), "test", EVERYWHERE + CUDA_13),
    Lock(
        "compiler",
        ("compiler",),
        "test",
        EVERYWHERE + CUDA_13,
        sources=("pyproject.toml", "tests/machine_code/tools.txt"),
    ),
    Lock("tiles", ("tiles",), "test"),
    Lock("colab", bounds=(), sources=("tests/colab/pins.txt", "tests/colab/tools.txt")),
)

HEADER = """\
# Made by `python3 course.py lock` from pyproject.toml; do not edit.
# Versions and hashes for every system and Python that the course supports.
"""
OPTIONS = "--upgrade  move all packages to their newest versions, not only the new packages"


def main(arguments: list[str]) -> int:
    """Write every lock, or with --upgrade let versions move to the newest."""
    about = __doc__.splitlines()[0]
    options = read_options("lock", about, OPTIONS).parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        uv = _install_uv(Path(folder))
        for lock in LOCKS:
            _compile(uv, lock, Path(folder), upgrade=options.upgrade)
    return 0


def _install_uv(folder: Path) -> Path:
    """Put uv into an environment that is gone when the command ends."""
    venv.create(folder / "uv", with_pip=True)
    binaries = folder / "uv" / ("Scripts" if os.name == "nt" else "bin")
    pip: list[str | Path] = [binaries / "python", "-m", "pip", "install", "--quiet", "uv"]
    finished = subprocess.run(pip, capture_output=True, text=True)
    if finished.returncode:
        lines = (finished.stderr or finished.stdout).strip().splitlines()
        sys.exit(f"uv could not be installed: {lines[-1] if lines else 'no reason given'}")
    return binaries / "uv"


def _compile(uv: Path, lock: Lock, folder: Path, upgrade: bool) -> None:
    """Ask uv for one lock and write it with our header."""
    target = REPOSITORY / "locks" / f"{lock.group}.txt"
    made = folder / f"{lock.group}.made"
    if target.exists() and not upgrade:
        made.write_bytes(target.read_bytes())  # uv keeps the versions that it finds in its output
    bounds = folder / f"{lock.group}.in"
    bounds.write_text("\n".join(lock.bounds) + "\n", encoding="utf-8")
    command: list[str | Path] = [uv, "pip", "compile", *lock.sources, bounds]
    command += ["--output-file", made, "--universal"]
    command += ["--python-version", OLDEST_PYTHON, "--generate-hashes", "--only-binary", ":all:"]
    command += ["--no-emit-index-url", "--no-emit-find-links", "--no-annotate", "--no-header"]
    command += ["--no-emit-package", "matmul-ladder", "--quiet"]
    command += [part for extra in lock.extras for part in ("--extra", extra)]
    if lock.agrees_with:
        command += ["--constraint", _versions_only(lock.agrees_with, folder)]
    finished = subprocess.run(command, capture_output=True, text=True, cwd=REPOSITORY)
    if finished.returncode:
        sys.exit(f"locks/{target.name} could not be made:\n{finished.stderr.strip()}")
    lines = made.read_text(encoding="utf-8").splitlines(keepends=True)
    body = "".join(line for line in lines if not line.lstrip().startswith("#"))
    target.write_text(HEADER + body, encoding="utf-8")
    print(f"locks/{target.name}: {len(re.findall('^[a-z]', body, re.MULTILINE))} packages")


def _versions_only(group: str, folder: Path) -> Path:
    """Another lock as a constraint: its versions and markers, without its hashes."""
    text = (REPOSITORY / "locks" / f"{group}.txt").read_text(encoding="utf-8")
    pins = re.findall(r"^[^#\s][^\\\n]*", text, re.MULTILINE)
    path = folder / f"{group}.versions"
    path.write_text("\n".join(pins) + "\n", encoding="utf-8")
    return path
