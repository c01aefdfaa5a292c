"""A second environment with Colab's versions, so that lessons are tried on what students have.

Colab's own system cannot be had here. Its Python and the versions in tests/colab/pins.txt can.
"""

from __future__ import annotations

import glob
import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

from course_lib.commands.places import REPOSITORY

VENV = REPOSITORY / ".venv-colab"
PYTHON = VENV / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
LOCK = REPOSITORY / "locks" / "colab.txt"
PINS = REPOSITORY / "tests" / "colab" / "pins.txt"
TOOLS = REPOSITORY / "tests" / "colab" / "tools.txt"
STAMP = VENV / "course-stamp"
COLABS_PYTHON = (3, 13)


class CannotMake(Exception):
    """The environment could not be made; the message says why."""


def make(freeze: str = "") -> Path:
    """The environment's Python; the environment is made first where there is none.

    Args:
        freeze: what Colab's `pip freeze` says today, to take the versions from there.
    """
    wanted = newest(freeze) if freeze else LOCK.read_text(encoding="utf-8")
    stamp = hashlib.sha256(wanted.encode()).hexdigest()
    if PYTHON.exists() and STAMP.exists() and STAMP.read_text() == stamp:
        return PYTHON
    shutil.rmtree(VENV, ignore_errors=True)
    base = find_python()
    print(f"Making {VENV.name} with Colab's versions, on {base} …", flush=True)
    _call([base, "-m", "venv", str(VENV)])
    requirements = VENV / "requirements.txt"
    requirements.write_text(wanted, encoding="utf-8")
    options = ["--quiet", "--no-compile", "--disable-pip-version-check", "--only-binary", ":all:"]
    options += [] if freeze else ["--require-hashes"]
    pip = [str(PYTHON), "-m", "pip", "install", *options, "--requirement", str(requirements)]
    _call(pip)
    STAMP.write_text(stamp)
    return PYTHON


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


def find_python() -> str:
    """A Python of Colab's version; this one where there is none."""
    name = "python{}.{}".format(*COLABS_PYTHON)
    folders = os.path.expanduser("~/.pyenv/versions/{}.{}*/bin".format(*COLABS_PYTHON))
    beside = [os.path.join(folder, name) for folder in sorted(glob.glob(folders))]
    for candidate in (shutil.which(name), *beside):
        if candidate and _is_colabs(candidate):
            return candidate
    return getattr(sys, "_base_executable", sys.executable)


def _is_colabs(python: str) -> bool:
    """Does it run (a pyenv shim may not), and is it the version that it says it is?"""
    ask = f"import sys, venv; raise SystemExit(sys.version_info[:2] != {COLABS_PYTHON})"
    return subprocess.run([python, "-c", ask], capture_output=True).returncode == 0


def _call(command: list[str]) -> None:
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode:
        lines = [line for line in done.stdout.splitlines() if "is ignored" not in line]
        raise CannotMake("\n".join(lines[-8:]))
