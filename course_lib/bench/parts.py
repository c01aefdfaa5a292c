"""Measure what lessons quote beside the ladder, each part by its scripts in benchmarks/.

A part is a package of `course_lib.measurements`, and its `WRITTEN_BY` names the scripts. Each runs
in a process of its own: what one of them breaks on the GPU is whole again for the next, and a
second library that brings its own cuBLAS meets nobody.
"""

from __future__ import annotations

import importlib
import pkgutil
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

from course_lib import measurements
from course_lib.host import runtime
from course_lib.wording.errors import PlainError

LADDER, TUNING = "ladder", "tuning"  # these two the bench measures itself
COUNTERS, COMPILED = "what_binds", "machine_code"


def scripts() -> dict[str, tuple[str, ...]]:
    """The scripts of each part, by the part's name."""
    found = {}
    for module in pkgutil.iter_modules(measurements.__path__):
        if module.ispkg and module.name != TUNING:
            package = importlib.import_module(f"{measurements.__name__}.{module.name}")
            found[module.name] = package.WRITTEN_BY
    return found


def choose(names: Iterable[str] | None = None) -> tuple[str, ...]:
    """The parts of these names, or all of them, in the order in which they are measured.

    Raises:
        PlainError: with the names that there are.
    """
    there = (LADDER, TUNING, *scripts())
    unknown = [name for name in names or () if name not in there]
    if unknown:
        raise PlainError(f"There is no part {unknown[0]!r}; there are: {', '.join(there)}.")
    return tuple(name for name in there if names is None or name in names)


def measure(script: Path, store: bool) -> str:
    """Run a script; what it printed.

    Raises:
        PlainError: with the last line that it said, if it did not come to its end.
    """
    if not script.exists():
        raise PlainError(f"This copy of the course has no {script.parent.name}/{script.name}.")
    command = [sys.executable, str(script), *(["--store"] if store else [])]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    said = done.stdout.strip()
    if done.returncode:
        raise PlainError(said.splitlines()[-1] if said else f"It ended with {done.returncode}.")
    return said


def needs_a_gpu(part: str) -> None:
    """Refuse what only a GPU can say where there is none.

    Raises:
        PlainError: if so.
    """
    if part != COMPILED and not runtime.on_gpu():
        raise PlainError("This can only be measured on a GPU, and there is none here.")
