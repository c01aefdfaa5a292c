"""From a kernel and its launch to counts as compiled: compile, lay out, walk."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from course_lib.compiled_counts.launch import Triple, lay_out, walk
from course_lib.compiled_counts.operands import NotFollowed
from course_lib.emulator import Counters, LineCounters
from course_lib.errors import PlainError
from course_lib.machine_code.compiler import Compiled, capability, compile_kernel
from course_lib.machine_code.report import resources
from course_lib.machine_code.sass import parse


class NotCounted(PlainError):
    """A launch's machine code could not be counted; the message says why, in one sentence."""


@dataclass(frozen=True)
class Launched:
    """A launch: kernel, grid, block, bytes of dynamic shared memory, and its arguments before it."""

    kernel: Any
    grid: Triple
    block: Triple
    dynamic_shared_bytes: int
    arguments: Sequence[Any]


@dataclass(frozen=True)
class Counted:
    """What the machine code of a launch costs.

    Attributes:
        versions: who compiled.
        total: the counters of the launch; `executed` counts machine instructions of warps.
        lines: the same for each source line.
        arrays: what the arrays among the arguments hold after it, in their order.
    """

    versions: str
    total: Counters
    lines: dict[int, LineCounters] = field(default_factory=dict)
    arrays: tuple[np.ndarray, ...] = ()


def count(launched: Launched, cc: str) -> Counted:
    """Compile a launch's kernel for a compute capability such as "9.0", walk it, and count.

    Raises:
        CompilerMissing: naming the packages to install.
        CompileFailed: with the compiler's reason.
        NotCounted: for machine code that is not followed here, with the instruction and its line.
    """
    wanted = capability(cc)
    made = next(iter(compile_kernel(launched.kernel, tuple(launched.arguments), wanted).values()))
    if made.sass is None:
        raise NotCounted(made.note.replace("The instruction mix needs", "Counting needs"))
    try:
        return _count(launched, made, wanted)
    except NotFollowed as reason:
        raise NotCounted(
            f"The machine code for {cc} can't be counted: it has {reason}, which is not "
            "followed here."
        ) from None


def _count(launched: Launched, made: Compiled, cc: tuple[int, int]) -> Counted:
    assert made.sass is not None
    code = parse(made.sass, made.entry)
    needs = resources(made.log, made.entry)
    laid_out = lay_out(launched.arguments, cc, launched.grid, launched.block, {})
    shared = needs["static_shared_bytes"] + launched.dynamic_shared_bytes
    tally = walk(code, laid_out, launched.grid, launched.block, shared, needs["stack_bytes"])
    total = Counters()
    for each in tally.lines.values():
        total.add(each)
    arrays = tuple(laid_out.array(position).copy() for position in laid_out.arrays)
    return Counted(made.versions, total, dict(sorted(tally.lines.items())), arrays)
