"""The commands of the course: picks the module of a command and runs it.

`python3 course.py COMMAND` ends up here; where the packages are already installed (conda, Binder),
`python -m course_lib.cli COMMAND` does the same. `COMMAND --help` works with the standard library
alone: a command's module imports what needs a package only when it is at work.
"""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

from course_lib.commands import front_door
from course_lib.registry.entry_checks import BadEntry

SHIPPED = Path(__file__).with_name("shipped")  # the course's files, in an installed package

# Each command is a module with main(arguments) -> exit status, imported only when it is asked for,
# and called as the command is, but for these.
MODULES = {"run": "run_lessons", "test": "run_tests"}


def main(arguments: list[str] | None = None) -> int:
    """Run one command and return its exit status: 0 well, 1 not well, 2 not understood."""
    arguments = sys.argv[1:] if arguments is None else arguments
    if SHIPPED.is_dir():
        return int(importlib.import_module("course_lib.commands.course_folder").main(arguments))
    if (status := front_door.answered(arguments, _version)) is not None:
        return status
    name, *rest = arguments
    try:
        module = importlib.import_module(f"course_lib.commands.{MODULES.get(name, name)}")
        return module.main(rest) or 0
    except BadEntry as problem:  # an exercise of one's own that does not hold together
        print(problem, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nStopped.", file=sys.stderr)
        return 130


def _version() -> str:
    import course_lib

    return course_lib.__version__


if __name__ == "__main__":
    sys.exit(main())
