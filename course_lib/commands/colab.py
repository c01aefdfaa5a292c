"""A second environment with Colab's versions, so that lessons are tried on what students have.

Colab's own system cannot be had here. Its Python and the versions in tests/colab/pins.txt can.
"""

from __future__ import annotations

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
    return environments.make(
        VENV, environments.find_python([COLABS_PYTHON]), wanted, hashed=not freeze
    )


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
