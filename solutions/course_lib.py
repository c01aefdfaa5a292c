"""Leads `import course_lib` of the notebooks beside this file to the course in a folder above."""

import sys
from pathlib import Path

_above = Path(__file__).resolve().parents[1:3]  # a copy in my/notebooks lies one folder deeper
_found = [each for each in _above if (each / "course_lib" / "__init__.py").is_file()]
if not _found:
    raise ModuleNotFoundError("the course lies in neither of the two folders above this one")
sys.path.insert(0, str(_found[0]))
del sys.modules[__name__]  # the import that began with this file ends with the library
import course_lib  # noqa: E402, F401
