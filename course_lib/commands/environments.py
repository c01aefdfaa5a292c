"""Make environments of their own for tests that need other packages than .venv has."""

from __future__ import annotations

import glob
import hashlib
import importlib.util
import os
import shutil
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

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
    """The first of these versions of Python that this machine has; this one where it has none."""
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
