"""`course_lib.emulate` as students have it: its profiles can be counted as compiled as well."""

from __future__ import annotations

from typing import Any

from course_lib.emulator import AsCompiled, KeptLaunch, Profile
from course_lib.host import runtime


def emulate(kernel: Any, *, steps: int | None = None, **options: Any) -> runtime.Emulated:
    """`emulate(kernel)[grid, block](…)` runs the kernel on the emulator and returns its Profile.

    The kernel may be a `@cuda.jit` kernel or a plain function; arrays may lie anywhere and are
    changed as on a GPU. Prints what the kernel printed, and gives up after a few seconds' worth of
    steps: then it says so, and the arrays may be half written. Copies of the arrays are kept with
    the profile, up to 64 MiB, for `profile.as_compiled("9.0")`.

    Args:
        kernel: what to run.
        steps: allow more steps (or fewer). They are counted, so a launch stops at the same place
            on every machine.
        options: `schedule`, `seed`, `counters`, `races`, `budget`, `trace`, as
            `course_lib.emulator.emulate` has them.

    Raises:
        PlainError: if it is no kernel.
    """
    emulated = runtime.emulate(kernel, steps=steps, **options)
    emulated.recount = _recount
    return emulated


def _recount(kept: KeptLaunch, profile: Profile, cc: str) -> AsCompiled:
    # Imported late: few launches are counted so, and it takes the compiler's modules.
    from course_lib.compiled_counts import count

    return count(kept, profile, cc)
