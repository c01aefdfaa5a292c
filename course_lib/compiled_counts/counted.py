"""From a launch that was emulated to its counts as compiled: compile, lay out, walk, compare."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from course_lib.compiled_counts.launch import lay_out, walk
from course_lib.compiled_counts.operands import NotFollowed
from course_lib.emulator import AsCompiled, Budget, KeptLaunch, Profile, copies_of, emulate
from course_lib.errors import PlainError
from course_lib.machine_code.compiler import (
    Compiled,
    CompilerMissing,
    capability,
    compile_kernel,
    find_tool,
)
from course_lib.machine_code.report import resources
from course_lib.machine_code.sass import parse

# Both sides round their sums in an order of their own, and atomics in any.
RELATIVE, ABSOLUTE = 1e-3, 1e-4


class NotCounted(PlainError):
    """A launch's machine code could not be counted; the message says why, in one sentence."""


def count(kept: KeptLaunch, profile: Profile, cc: str, made: Compiled | None = None) -> AsCompiled:
    """Compile a launch's kernel for a compute capability such as "9.0", follow it, and count.

    Args:
        kept: the launch with its arguments as they were before.
        profile: what the emulator counted of it.
        made: its kernel compiled for `cc`, where somebody has done so.

    Raises:
        CompilerMissing: naming the packages to install.
        CompileFailed: with the compiler's reason.
        NotCounted: for a launch whose arrays were not kept or that has errors, for machine code
            that is not followed here, and where it leaves other results than the source.
    """
    wanted = capability(cc)
    if kept.arguments is None:
        raise NotCounted(
            f"The arrays of this launch, {kept.bytes >> 20} MiB, were too large to keep, so it "
            "can't be counted as compiled: launch the kernel on smaller ones."
        )
    if not profile.finished or profile.errors:
        raise NotCounted(
            f"{profile.kernel_name} has errors, so its machine code is not counted: "
            "profile.findings has them."
        )
    if made is None:
        made = next(iter(compile_kernel(kept.kernel, kept.arguments, wanted).values()))
    if made.sass is None:
        refused = NotCounted if find_tool("nvdisasm") else CompilerMissing
        raise refused(re.sub("^(The instruction mix|There is no instruction mix)", "Counting "
                             "machine code", made.note))  # fmt: skip
    name = f"{profile.kernel_name}, compiled for {cc},"
    try:
        found, arrays = _follow(kept, made, wanted)
    except NotFollowed as reason:
        raise NotCounted(f"{name} can't be counted: {reason} is not followed here.") from None
    if (odd := _other_result(kept, profile, arrays)) is not None:
        raise NotCounted(
            f"{name} can't be counted: followed here, it leaves other numbers in argument "
            f"{odd + 1} than the source does, so its counts would not be certain."
        )
    found.profile, found.cc, found.versions = profile, cc, made.versions
    return found


def _follow(
    kept: KeptLaunch, made: Compiled, cc: tuple[int, int]
) -> tuple[AsCompiled, dict[int, np.ndarray]]:
    """The counts, and what each array holds afterwards, by its place among the arguments."""
    assert made.sass is not None and kept.arguments is not None
    code = parse(made.sass, made.entry)
    needs = resources(made.log, made.entry)
    laid_out = lay_out(kept.arguments, cc, kept.grid, kept.block, made.constants, made.tables)
    shared = needs["static_shared_bytes"] + kept.dynamic_shared_bytes
    tally = walk(code, laid_out, kept.grid, kept.block, shared, needs["stack_bytes"])
    found = AsCompiled(lines=dict(sorted(tally.lines.items())))
    for each in tally.lines.values():
        found.add(each)
    return found, {position: laid_out.array(position) for position in laid_out.arrays}


def _other_result(kept: KeptLaunch, profile: Profile, arrays: dict[int, np.ndarray]) -> int | None:
    """The first array in which the machine code leaves other numbers than the source."""
    assert kept.arguments is not None
    copies = copies_of(kept.arguments)
    options: dict[str, Any] = {"counters": False, "races": False}
    options["max_dynamic_shared"] = max(kept.dynamic_shared_bytes, 48 * 1024)
    budget = Budget(steps=2 * profile.steps + 10_000)
    launch = emulate(kept.kernel, budget=budget, **options)[
        kept.grid, kept.block, 0, kept.dynamic_shared_bytes
    ]
    launch(*copies)
    for position, value in enumerate(_flat(copies)):
        if position in arrays and not _alike(arrays[position], value):
            return position
    return None


def _alike(found: np.ndarray, expected: np.ndarray) -> bool:
    if expected.dtype.kind not in "fc":
        return bool(np.array_equal(found, expected))
    with np.errstate(all="ignore"):
        size = np.nanmax(np.abs(expected), initial=0.0)
    bound = ABSOLUTE * (size if np.isfinite(size) else 1.0)
    return bool(np.allclose(found, expected, RELATIVE, bound, equal_nan=True))


def _flat(arguments: Sequence[Any]) -> list[Any]:
    found: list[Any] = []
    for each in arguments:
        found += _flat(each) if isinstance(each, tuple) else [each]
    return found
