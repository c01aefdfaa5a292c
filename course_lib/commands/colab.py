"""A second environment with Colab's versions, so that lessons are tried on what students have.

Colab's own system cannot be had here. Its Python and the versions in tests/colab/pins.txt can.
"""

from __future__ import annotations

import glob
import os
import shutil
import subprocess
from pathlib import Path

from course_lib.commands import environments
from course_lib.commands.environments import CannotMake
from course_lib.commands.places import REPOSITORY

VENV = ".venv-colab"
LOCK = REPOSITORY / "locks" / "colab.txt"
PINS = REPOSITORY / "tests" / "colab" / "pins.txt"
TOOLS = REPOSITORY / "tests" / "colab" / "tools.txt"
COLABS_PYTHON = (3, 13)


def make(freeze: str = "") -> Path:
    """The environment's Python; the environment is made first where there is none.

    Args:
        freeze: what Colab's `pip freeze` says today, to take the versions from there.
    """
    wanted = newest(freeze) if freeze else LOCK.read_text(encoding="utf-8")
    return environments.make(VENV, find_python(), wanted, hashed=not freeze)


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
    return environments.this_python()


def _is_colabs(python: str) -> bool:
    """Does it run (a pyenv shim may not), and is it the version that it says it is?"""
    ask = f"import sys, venv; raise SystemExit(sys.version_info[:2] != {COLABS_PYTHON})"
    return subprocess.run([python, "-c", ask], capture_output=True).returncode == 0
