"""`choose(usual, 3, other, 7, another)`: in the blocks of z = 3 `other`, of z = 7 `another`.

No kernel of a student calls it: many variants of one kernel run as the blocks of one launch, and
where they differ the function chooses. See diagnosis/schemata.py.
"""

from __future__ import annotations

import ast
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
from course_lib.emulator.state.lanes import Value, joint_shape

CHOOSE = "course_lib.emulator.choose"  # what its name stands for in a kernel's namespace


def _typing(arguments: Arguments, keywords: Keywords) -> Typed:
    need(all(T.is_scalar(each.type) for each in arguments), "chooses between numbers")
    return Typed(arguments[0].type)


def _run(machine: Runner, node: ast.Call, values: list[Any]) -> Value:
    dtype = machine.typing.types[node]
    usual, *others = (machine.convert(value, dtype) for value in (values[0], *values[2::2]))
    numbers = [int(number) for number in values[1::2]]
    first, count = machine.space.first_block[0], machine.space.blocks[0]
    here = [
        (number - first, other)
        for number, other in zip(numbers, others, strict=True)
        if first <= number < first + count
    ]
    if not here:
        result: Value = usual
        return result
    shape = joint_shape(usual, *(other for _, other in here))
    mixed = np.empty((count, *shape[1:]), usual.dtype)
    mixed[...] = usual
    for place, other in here:
        mixed[place] = other[min(place, len(other) - 1)] if other.ndim else other
    return mixed


INTRINSICS[CHOOSE] = Intrinsic(_typing, _run)
