"""`cuda.syncthreads`, the fences, and `cuda.nanosleep`."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from course_lib.emulator.functions.intrinsics import (
    INTRINSICS,
    Arguments,
    Barrier,
    Intrinsic,
    Keywords,
    Typed,
    scalars,
)
from course_lib.emulator.functions.runner import Runner
from course_lib.emulator.language import types as T


def _nothing(low: int, high: int) -> Callable[[Arguments, Keywords], Typed]:
    def typing(arguments: Arguments, keywords: Keywords) -> Typed:
        scalars(arguments, low, high)
        return Typed(T.Static(None))

    return typing


def _ignore(machine: Runner, node: ast.Call, values: list[Any]) -> None:
    """A fence orders what one thread does, and that is in order here; time does not pass.

    Nor does a barrier do more than make threads wait.
    """


INTRINSICS["numba.cuda.syncthreads"] = Barrier(_nothing(0, 0), _ignore, _ignore)
for _fence in ("threadfence", "threadfence_block", "threadfence_system"):
    INTRINSICS[f"numba.cuda.{_fence}"] = Intrinsic(_nothing(0, 0), _ignore)
INTRINSICS["numba.cuda.nanosleep"] = Intrinsic(_nothing(1, 1), _ignore)
