"""`course.py autograder`: the course as a zip file that Gradescope grades with."""

from __future__ import annotations

import secrets
import sys

from course_lib.building.autograder import write_autograder
from course_lib.building.notebook import BuildError
from course_lib.building.project import open_project
from course_lib.commands.options import read_options
from course_lib.commands.places import REPOSITORY
from course_lib.curriculum import EXERCISES, lessons_meant

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
