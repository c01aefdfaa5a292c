"""`choose(usual, 3, other, 7, another)`: in the blocks of z = 3 `other`, of z = 7 `another`.

No kernel of a student calls it: many variants of one kernel run as the blocks of one launch, and
where they differ the function chooses. See diagnosis/repair/schemata.py, and machine/choice.py
for how it runs.
"""

from __future__ import annotations

import ast
from functools import reduce
from typing import Any

import numpy as np

from course_lib.emulator.functions.intrinsics import (
    INTRINSICS,
    Arguments,
    Intrinsic,
    Keywords,
    Typed,
    need,
)
from course_lib.emulator.functions.runner import Runner
from course_lib.emulator.language import types as T

CHOOSE = "course_lib.emulator.choose"  # what its name stands for in a kernel's namespace


class Alternatives(Intrinsic):
    """The one function whose arguments are not all worked out: each in its own blocks alone."""


def _typing(arguments: Arguments, keywords: Keywords) -> Typed:
    kinds = [each.type for each in arguments]
    need(all(map(T.is_scalar, kinds)), "chooses between numbers")
    usual = kinds[0]
    if isinstance(usual, np.dtype) and usual.kind == "u":  # bits, which have to stay as many
        return Typed(usual)
    whole = reduce(T.unify, (kind for kind in kinds if T.is_integer(kind)), usual)
    return Typed(whole if T.is_integer(whole) else usual)


def _run(machine: Runner, node: ast.Call, values: list[Any]) -> Any:
    raise NotImplementedError


INTRINSICS[CHOOSE] = Alternatives(_typing, _run)
