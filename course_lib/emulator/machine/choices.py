"""Values of which each lane takes its own: one of two, or none that means anything."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from course_lib.emulator.errors import rejection
from course_lib.emulator.language import types as T
from course_lib.emulator.state.lanes import Mask, Value
from course_lib.emulator.state.memory import ArrayView, poison


def chosen(truth: Value, yes: Any, no: Any, line: int) -> Any:
    """`yes` for the lanes where `truth` holds, `no` for the others; of tuples, item by item."""
    if yes is None or no is None:  # of arrays: what no lane has chosen
        return no if yes is None else yes
    if isinstance(yes, tuple):
        return tuple(chosen(truth, one, other, line) for one, other in zip(yes, no, strict=True))
    if isinstance(yes, ArrayView):
        return one_view(truth, yes, no, line)
    return np.where(truth, yes, no)


def one_view(truth: Value, yes: ArrayView, no: ArrayView, line: int) -> ArrayView:
    """The part of an array that each lane has chosen: of one and the same array."""
    if yes is no:
        return yes
    if yes.allocation is not no.allocation or yes.strides != no.strides:
        message = "Threads of one launch choose between different arrays here."
        raise rejection("unsupported", message, line, "Choose between elements instead.")
    lengths = (
        one if one is other else np.where(truth, one, other)
        for one, other in zip(yes.shape, no.shape, strict=True)
    )
    inside = None
    if yes.inside is not None or no.inside is not None:
        held = [np.True_ if each.inside is None else each.inside.full_array for each in (yes, no)]
        space = (yes.inside or no.inside).space  # type: ignore[union-attr]
        inside = Mask.of(space, np.where(truth, *held))
    offset = np.where(truth, yes.offset, no.offset)
    return replace(yes, shape=tuple(lengths), offset=offset, inside=inside)


def poison_of_type(kind: T.Type) -> Any:
    if isinstance(kind, T.TupleType):
        return tuple(poison_of_type(item) for item in kind.items)
    if isinstance(kind, T.VectorType):
        return (poison(kind.dtype),) * kind.size
    return poison(kind) if isinstance(kind, np.dtype) else None
