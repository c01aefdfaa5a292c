"""Makes an array of a line of NumPy, such as "np.arange(64, dtype=np.float32).reshape(8, 8)".

The line is an expression of the host part of a program (`programs`), and walked like one: read as a
syntax tree and never executed, sizes looked at before anything is made.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Any

import numpy as np

from course_lib.emulator import KernelRejected
from course_lib.emulator.budget import BudgetExceeded
from course_lib.emulator.language.names import Reference
from course_lib.tab.fields import Refused
from course_lib.tab.programs.calls import HostCalls
from course_lib.tab.programs.names import NotRun
from course_lib.wording.words import shortened

LONGEST_LINE = 2000  # characters
NAMES = {
    "np": Reference("numpy"),
    "numpy": Reference("numpy"),
    "math": Reference("math"),
    "float32": Reference("numpy.float32"),
}


def made(line: str, names: Mapping[str, Any] | None = None) -> np.ndarray | np.generic | float:
    """The array, or the number, that a line of NumPy describes.

    Args:
        line: an expression.
        names: numbers that have a name, such as the constants beside a kernel.

    Raises:
        Refused: with a sentence on what cannot be read.
    """
    if len(line) > LONGEST_LINE:
        raise Refused(f"This line has {len(line):,} characters: too many for an array.")
    said = shortened(line.strip(), 80)
    try:
        tree = ast.parse(line.strip(), mode="eval")
        value = _value(tree.body, {**NAMES, **(names or {})})
    except SyntaxError as error:
        raise Refused(f"{said!r} is not a Python expression ({error.msg}).") from None
    except (RecursionError, MemoryError):
        raise Refused("This line is too deeply nested to be read.") from None
    except BudgetExceeded:
        raise Refused("This line takes too many steps.") from None
    except NotRun as reason:
        raise Refused(f"No array can be made of {said!r}: {reason.said}") from None
    except KernelRejected as rejected:
        why = rejected.findings[0].message
        raise Refused(f"No array can be made of {said!r}: {why}") from None
    is_known = isinstance(value, (np.ndarray, np.generic, bool, int, float))
    if is_known and np.asarray(value).dtype.kind in "biuf":
        result: np.ndarray | np.generic | float = value
        return result
    raise Refused(f"{said!r} is neither an array nor a number.")


def _value(tree: ast.expr, names: dict[str, Any]) -> Any:
    with np.errstate(all="ignore"):
        host = HostCalls("", names, lambda *launch: None)
        return host.value(tree, host.top)
