"""An environment with the newest packages of the day, so that what they break is known early.

No version in it is pinned and no upper bound is kept: pip takes the newest that go together. What
is known to break, and its mend, stands in `newer_packages`.
"""

from __future__ import annotations

import datetime
import json
import re
import subprocess
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from course_lib.commands import environments
from course_lib.commands.places import REPOSITORY

VENV = ".venv-upstream"
WATCHED = ("numpy", "numba", "numba-cuda", "numba-cuda-mlir")
PYTHONS = ((3, 14), (3, 13), (3, 12))  # the newest NumPy is not made for older ones
EXTRAS = ("lab", "grade", "test", "compiler")


def make(bounds: Sequence[str] = (), pre: bool = False) -> Path:
    """The environment's Python; the environment is made anew each day, and for other bounds.

    Args:
        bounds: requirements to keep to, such as "numpy<2.5"; without any, the newest of all.
        pre: whether versions before their release count.

    Raises:
        CannotMake: if pip cannot install them; with what it said.
    """
    text = requirements((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"), bounds, pre)
    today = f"# the newest of {datetime.date.today().isoformat()}\n"
    return environments.make(VENV, environments.find_python(PYTHONS), today + text, hashed=False)


def requirements(pyproject: str, bounds: Sequence[str], pre: bool) -> str:
    """A requirement file with the project's packages and the watched ones, without upper bounds.

    Lower bounds stay: else pip might go back to versions that the course never had.
    """
    project = tomllib.loads(pyproject)["project"]
    extras = project["optional-dependencies"]
    listed = [*project["dependencies"], *(line for each in EXTRAS for line in extras[each])]
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
        _normal(each["name"]): each["version"] for each in _pip(python, "list", "--format=json")
    }
    report = _pip(
        python, "install", "--dry-run", "--upgrade", "--no-deps", "--report=-", "--quiet", *WATCHED
    )
    newest = {
        _normal(each["metadata"]["name"]): each["metadata"]["version"]
        for each in report.get("install", [])
    }
    return [
        f"{name} {here[name]}"
        + (f"; {newest[name]} is out, but does not go with the others" if name in newest else "")
        for name in WATCHED
    ]


def _normal(name: str) -> str:
    return name.lower().replace("_", "-")


def _pip(python: Path, *arguments: str) -> Any:
    """What pip says as JSON."""
    command = [str(python), "-m", "pip", "--disable-pip-version-check", *arguments]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise environments.CannotMake("\n".join(done.stderr.splitlines()[-8:]))
    return json.loads(done.stdout)
