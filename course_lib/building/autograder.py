"""Gradescope's autograder as one zip file: the course, and the scripts that Gradescope calls."""

from __future__ import annotations

import shlex
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from course_lib.building.project import Project

COURSE = "course"
FILES = ("LICENSE", "LICENSE-TEXT", "course.py", "locks/grade.txt", "pyproject.toml")
FOLDERS = ("course_lib", "exercises", "notebooks")
SETTINGS = "course.toml"

SETUP = """\
#!/usr/bin/env bash
# Gradescope runs this once, when it builds the image (choose Ubuntu 24.04, which has Python 3.12).
set -euo pipefail
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
apt-get install -qq --yes --no-install-recommends python3 python3-venv
cd "$(dirname "$0")/course"
MATMUL_LADDER_GPU=off python3 course.py prepare grade
"""
RUN = """\
#!/usr/bin/env bash
# Gradescope runs this for each submission. Nothing that was submitted is ever run.
set -uo pipefail
home="${{AUTOGRADER:-/autograder}}"
work="$(mktemp -d)"
mkdir "$work/in" && cp -r "$home/submission" "$work/in/submission"
cd "$home/source/course"
export MATMUL_LADDER_GPU=off
if ! said="$(python3 course.py grade "$work/in" --out "$work/out" --workers 1 {options} \\
    --gradescope "$home/results/results.json" 2>&1)"; then
  python3 -c 'import json, sys; json.dump({{"score": 0, "output": sys.argv[1]}}, sys.stdout)' \\
    "$said" > "$home/results/results.json"
fi
"""


def write_autograder(
    project: Project, archive: Path, exercises: Sequence[str], settings: Path | None, seed: int
) -> int:
    """Write the zip file, in one step.

    Args:
        project: the course's folder.
        archive: where it goes.
        exercises: what everyone is graded on; what each submission is about, if none are named.
        settings: a course of one's own.
        seed: draws shapes and inputs, the same for everybody.

    Returns:
        How many files it holds.

    Raises:
        OSError: if it cannot be written.
    """
    options = [f"--seed {seed}"]
    options += ["--exercises " + " ".join(map(shlex.quote, exercises))] if exercises else []
    options += [f"--settings {SETTINGS}"] if settings else []
    unfinished = archive.with_name(f".{archive.name}.unfinished")
    with zipfile.ZipFile(unfinished, "w", zipfile.ZIP_DEFLATED) as zipped:
        for name, text in (
            ("setup.sh", SETUP),
            ("run_autograder", RUN.format(options=" ".join(options))),
        ):
            entry = zipfile.ZipInfo(name)
            entry.external_attr = 0o755 << 16
            zipped.writestr(entry, text)
        for path in _files(project.root):
            zipped.write(path, f"{COURSE}/{path.relative_to(project.root).as_posix()}")
        if settings:
            zipped.write(settings, f"{COURSE}/{SETTINGS}")
        count = len(zipped.namelist())
    unfinished.replace(archive)
    return count


def _files(root: Path) -> Iterator[Path]:
    yield from (root / name for name in FILES)
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob("*")):
            hidden = any(part.startswith(".") for part in path.relative_to(root).parts)
            if path.is_file() and "__pycache__" not in path.parts and not hidden:
                yield path
