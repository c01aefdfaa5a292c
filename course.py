"""The front door: `python3 course.py COMMAND` prepares .venv here and runs COMMAND in it.

Any Python can read this file, Python 2 as well, so that an old one is told what it lacks; the work
is done in course_lib/commands/front_door.py.
"""

import os
import sys

if sys.version_info < (3, 11):
    sys.stderr.write(
        "The course needs Python 3.11 or newer; this is %d.%d at %s.\n"
        % (sys.version_info[0], sys.version_info[1], sys.executable)
    )
    sys.exit(2)

if __name__ == "__main__":
    sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
    sys.dont_write_bytecode = True  # the course's folder may belong to someone else
    from course_lib.commands.front_door import main

    sys.exit(main(sys.argv[1:]))
