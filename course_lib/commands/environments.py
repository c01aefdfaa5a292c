"""Environments for tests that need other packages than .venv: Colab's versions, and the newest."""

from __future__ import annotations

import datetime
import glob
import hashlib
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from course_lib.commands.places import REPOSITORY


class CannotMake(Exception):
    """The environment could not be made; the message says why."""


def make(
    folder: str, base: str, requirements: str, hashed: bool = True, own_pip: bool = True
) -> Path:
    """The Python of the environment in this folder; it is made anew where requirements changed.

    Args:
        folder: its name below the repository.
        base: the Python to make it with.
        requirements: what to install, the text of a requirement file.
        hashed: whether every line has its hash.
        own_pip: whether it needs a pip; to put one there takes as long as to install ten packages.
    """
    venv = REPOSITORY / folder
    python = venv / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    stamp_file = venv / "course-stamp"
    stamp = hashlib.sha256(requirements.encode()).hexdigest()
    if python.exists() and stamp_file.exists() and stamp_file.read_text() == stamp:
        return python
    shutil.rmtree(venv, ignore_errors=True)
    print(f"Making {folder} with {base} …", flush=True)
    if own_pip or importlib.util.find_spec("pip") is None:
        _call([base, "-m", "venv", str(venv)])
        pip = [str(python), "-m", "pip"]
    else:
        _call([base, "-m", "venv", "--without-pip", str(venv)])
        pip = [sys.executable, "-m", "pip", "--python", str(python)]
    listed = venv / "requirements.txt"
    listed.write_text(requirements, encoding="utf-8")
    options = ["--quiet", "--no-compile", "--disable-pip-version-check", "--only-binary", ":all:"]
    options += ["--require-hashes"] if hashed else []
    _call([*pip, "install", *options, "--requirement", str(listed)])
    stamp_file.write_text(stamp)
    return python


def find_python(wanted: Iterable[tuple[int, int]]) -> str:
    """The first of these versions of Python on this machine; the running one if there is none."""
    for version in wanted:
        name = "python{}.{}".format(*version)
        folders = os.path.expanduser("~/.pyenv/versions/{}.{}.*/bin".format(*version))
        beside = [os.path.join(folder, name) for folder in sorted(glob.glob(folders))]
        for candidate in (shutil.which(name), *beside):
            if candidate and _is_version(candidate, version):
                return candidate
    return this_python()


def _is_version(python: str, version: tuple[int, int]) -> bool:
    """Does it run (a pyenv shim may not), and is it the version that it says it is?"""
    ask = f"import sys, venv; raise SystemExit(sys.version_info[:2] != {version})"
    return subprocess.run([python, "-c", ask], capture_output=True).returncode == 0


def this_python() -> str:
    """The Python that .venv was made with."""
    return getattr(sys, "_base_executable", None) or sys.executable


def _call(command: list[str]) -> None:
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode:
        lines = [line for line in done.stdout.splitlines() if "is ignored" not in line]
        raise CannotMake("\n".join(lines[-8:]))


# --- Colab's versions, so that lessons are tried on what students have ----------------------------
# Colab's own system cannot be had here. Its Python and the versions in tests/colab/pins.txt can.


COLAB = ".venv-colab"
LOCK = REPOSITORY / "locks" / "colab.txt"
PINS = REPOSITORY / "tests" / "colab" / "pins.txt"
TOOLS = REPOSITORY / "tests" / "colab" / "tools.txt"
COLABS_PYTHON = (3, 13)


def make_colabs(freeze: str = "") -> Path:
    """The environment's Python; the environment is made first where there is none.

    Args:
        freeze: what Colab's `pip freeze` says today, to take the versions from there.
    """
    wanted = newest(freeze) if freeze else LOCK.read_text(encoding="utf-8")
    return make(COLAB, find_python([COLABS_PYTHON]), wanted, hashed=not freeze)


def newest(freeze: str) -> str:
    """The lines of a `pip freeze` that name a package of pins.txt, and the tools."""
    names = {_name(line) for line in PINS.read_text(encoding="utf-8").splitlines()}
    found = [line for line in freeze.splitlines() if "==" in line and _name(line) in names]
    if not found:
        raise CannotMake("None of the packages of tests/colab/pins.txt is in that list.")
    return "\n".join([*found, TOOLS.read_text(encoding="utf-8")])


def _name(requirement: str) -> str:
    """The package of a line such as "jupyter_client==7.4.9", in the spelling that compares."""
    return requirement.partition("==")[0].strip().lower().replace("_", "-")


# --- The newest packages of the day, so that what they break is known early -----------------------
# No version in it is pinned and no upper bound is kept: pip takes the newest that go together.
# What is known to break, and its mend, stands in `newer_packages`.


UPSTREAM = ".venv-upstream"
WATCHED = ("numpy", "numba", "numba-cuda", "numba-cuda-mlir")
PYTHONS = ((3, 14), (3, 13), (3, 12))  # the newest NumPy is not made for older ones
EXTRAS = ("lab", "grade", "test", "compiler")


def make_newest(bounds: Sequence[str] = (), pre: bool = False) -> Path:
    """The environment's Python; the environment is made anew each day, and for other bounds.

    Args:
        bounds: requirements to keep to, such as "numpy<2.5"; without any, the newest of all.
        pre: whether versions before their release count.

    Raises:
        CannotMake: if pip cannot install them; with what it said.
    """
    text = requirements((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"), bounds, pre)
    today = f"# the newest of {datetime.date.today().isoformat()}\n"
    return make(UPSTREAM, find_python(PYTHONS), today + text, hashed=False)


def requirements(pyproject: str, bounds: Sequence[str], pre: bool) -> str:
    """A requirement file with the project's packages and the watched ones, without upper bounds.

    Lower bounds stay: else pip might go back to versions that the course never had.
    """
    project = tomllib.loads(pyproject)["project"]
    extras = project["optional-dependencies"]
    listed = [*project["dependencies"], *(line for extra in EXTRAS for line in extras[extra])]
    lines = {_without_upper_bound(line) for line in listed if not line.startswith(project["name"])}
    return "\n".join([*(["--pre"] if pre else []), *sorted(lines), *WATCHED, *bounds, ""])


def _without_upper_bound(line: str) -> str:
    """ "a[b]>=1" from "a[b]>=1,<2 ; marker"."""
    name = re.match(r"[\w.-]+(\[[\w,.-]*\])?", line)
    lower = re.search(r">=\s*[\w.]+", line.partition(";")[0])
    return (name.group() if name else line) + (lower.group() if lower else "")


def versions(python: Path) -> list[str]:
    """A line for each watched package: what is installed, and what newer version could not be."""
    here = {
        _name(package["name"]): package["version"]
        for package in _pip(python, "list", "--format=json")
    }
    report = _pip(
        python, "install", "--dry-run", "--upgrade", "--no-deps", "--report=-", "--quiet", *WATCHED
    )
    newest = {
        _name(package["metadata"]["name"]): package["metadata"]["version"]
        for package in report.get("install", [])
    }
    return [
        f"{name} {here[name]}"
        + (
            f"; {newest[name]} has been released, but does not work with the others"
            if name in newest
            else ""
        )
        for name in WATCHED
    ]


def _pip(python: Path, *arguments: str) -> Any:
    """What pip says as JSON."""
    command = [str(python), "-m", "pip", "--disable-pip-version-check", *arguments]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise CannotMake("\n".join(done.stderr.splitlines()[-8:]))
    return json.loads(done.stdout)
