"""`course.py autograder`: the course as a zip file that Gradescope grades with."""

from __future__ import annotations

import secrets
import shlex
import sys
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from course_lib.building.notebook import BuildError
from course_lib.building.project import Project, open_project
from course_lib.commands.options import read_options
from course_lib.commands.places import REPOSITORY
from course_lib.curriculum import EXERCISES, lessons_meant

# --- What the zip file holds: the course, and the scripts that Gradescope calls -------------------


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


# --- The command ----------------------------------------------------------------------------------


OPTIONS = """\
--out ZIP           the file to write
--exercises ID …    the exercises on which everyone is graded, or the numbers of lessons
--settings FILE     the file of a course of your own (course.toml)
--seed N            the seed for inputs and shapes (default: a new one, which is printed)
"""


def main(arguments: list[str]) -> int:
    """Write the zip file; 0 if it is there, 2 for arguments that are wrong."""
    parser = read_options("autograder", __doc__, OPTIONS, required=("out",), read={"seed": int})
    options = parser.parse_args(arguments)
    seed = secrets.randbelow(2**32) if options.seed is None else options.seed
    try:
        for name in options.exercises or ():
            if name not in EXERCISES and not options.settings:
                lessons_meant([name])
        count = write_autograder(
            open_project(REPOSITORY), options.out, options.exercises or (), options.settings, seed
        )
    except KeyError as problem:
        print(f"The autograder was not made: {problem.args[0]}.", file=sys.stderr)
        return 2
    except BuildError as problem:
        print(f"The autograder was not made: {problem}", file=sys.stderr)
        return 1
    except OSError as problem:
        print(
            f"The autograder was not made: {problem.strerror}: {problem.filename}", file=sys.stderr
        )
        return 1
    size = options.out.stat().st_size / 1e6
    print(f"{options.out}: {count} files, {size:.1f} MB, seed {seed}.")
    print("In Gradescope: Configure Autograder, Ubuntu 24.04, upload this file.")
    return 0
