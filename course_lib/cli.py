"""The commands of the course: picks the module of a command and runs it.

`python3 course.py COMMAND` ends up here; where the packages are already installed (conda, Binder),
`python -m course_lib.cli COMMAND` does the same. `COMMAND --help` works with the standard library
alone: a command's module imports what needs a package only when it is at work.
"""

from __future__ import annotations

import difflib
import importlib
import sys
from pathlib import Path

from course_lib.registry.entry_checks import BadEntry

SHIPPED = Path(__file__).with_name("shipped")  # the course's files, in an installed package

# Each command is a module with main(arguments) -> exit status, imported only when it is asked for.
COMMANDS = {
    "lab": "course_lib.commands.lab",
    "prepare": "course_lib.commands.prepare",
    "run": "course_lib.commands.run_lessons",
    "test": "course_lib.commands.run_tests",
    "doctor": "course_lib.commands.doctor",
    "bench": "course_lib.commands.bench",
    "build": "course_lib.commands.build",
    "book": "course_lib.commands.book",
    "grade": "course_lib.commands.grade",
    "release": "course_lib.commands.release",
    "autograder": "course_lib.commands.autograder",
    "board": "course_lib.commands.board",
    "lock": "course_lib.commands.lock",
}


def main(arguments: list[str] | None = None) -> int:
    """Run one command and return its exit status: 0 well, 1 not well, 2 not understood."""
    arguments = sys.argv[1:] if arguments is None else arguments
    if SHIPPED.is_dir():
        return int(importlib.import_module("course_lib.commands.course_folder").main(arguments))
    if not arguments or arguments[0] in ("-h", "--help"):
        print(f"usage: python3 course.py {{{','.join(COMMANDS)}}} [arguments]")
        return 0 if arguments else 2
    name, *rest = arguments
    if name == "--version":
        import course_lib

        print("Matmul Ladder", course_lib.__version__)
        return 0
    if name not in COMMANDS:
        near = difflib.get_close_matches(name, COMMANDS, n=1)
        meant = f"did you mean {near[0]}? The commands are" if near else "choose one of"
        print(f"There is no command {name!r}; {meant}: {', '.join(COMMANDS)}.", file=sys.stderr)
        return 2
    try:
        return importlib.import_module(COMMANDS[name]).main(rest) or 0
    except BadEntry as problem:  # an exercise of one's own that does not hold together
        print(problem, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nStopped.", file=sys.stderr)
        return 130


if __name__ == "__main__":
    sys.exit(main())
