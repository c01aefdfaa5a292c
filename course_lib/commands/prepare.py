"""`course.py prepare`: say what is ready, once course.py has installed it, and what comes next."""

from __future__ import annotations

import platform
import sys
from importlib.metadata import distributions

from course_lib.commands import lab
from course_lib.commands.options import read_options
from course_lib.commands.places import FIRST_LESSON, HOME, REPOSITORY

OPTIONS = "[COMMAND …]  such as lab or test; lab"


def main(arguments: list[str]) -> int:
    """Say what stands; the installing itself is course.py's, before any package is there."""
    about = (
        "Install what JupyterLab and the lessons need, or what the commands that you name need, "
        "and open nothing. This is useful for a classroom or an image, or before a journey "
        "without a network. If everything is already installed, nothing is done."
    )
    options = read_options("prepare", about, OPTIONS).parse_args(arguments)
    asked = list(dict.fromkeys(options.command or ["lab"]))
    if not lab.runs_in_venv():
        print(
            f"{sys.prefix} is not the course's .venv, so nothing is installed there: `python3 "
            "course.py prepare` makes .venv and installs into it.",
            file=sys.stderr,
        )
        return 1
    count = sum(1 for _ in distributions())
    print(
        f"Ready for {', '.join(asked)}: Python {platform.python_version()}, {count} packages "
        f"in {sys.prefix}."
    )
    print("Next, also without a network:")
    for name in asked:
        print(f"  python3 course.py {name}")
    if "lab" in asked and (copy := _first_copy()):
        print(f"or open {copy} in VS Code, with the kernel .venv.")
    return 0


def _first_copy() -> str:
    """The student's copy of the first lesson, made if need be; "" where there can be none."""
    try:
        lab.make(REPOSITORY, HOME)
    except OSError:  # `lab` says why, and opens the lesson itself
        return ""
    copy = HOME / "my" / FIRST_LESSON.relative_to(REPOSITORY)
    return str(copy.relative_to(REPOSITORY) if HOME == REPOSITORY else copy)
