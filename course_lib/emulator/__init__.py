"""A GPU in NumPy: runs `numba.cuda` kernels on the CPU, counts, and never executes them.

Owns: the kernel language, its meaning, the counters and the races.
May import: `findings`, `sentences`.
Start with: `launch`, then `parse` and `machine`.

The story, one file a step: `parse` reads the source, `infer` types it as Numba would, `machine`
walks it for thousands of lanes at once over the `memory`, `meter` and `cost` count what the
hardware's counters would count, `races` judges what nothing orders, `launch` ties it together
and returns a `Profile`. Beside the machine, `plain` walks functions that are no kernels.
"""

from course_lib.emulator.budget import INTERACTIVE, Budget, OpenLoop
from course_lib.emulator.errors import EmulatorError, KernelRejected
from course_lib.emulator.launch import Emulation, emulate
from course_lib.emulator.parse import Kernel, Program, kernel_from, load_program
from course_lib.emulator.plain_values import Record
from course_lib.emulator.profile import (
    ArrayTraffic,
    Counters,
    LineCounters,
    Profile,
    SharedArrayUse,
    StaleRead,
    TracedAccess,
    TracedStatement,
)
from course_lib.emulator.surroundings import names_around

__all__ = [
    "INTERACTIVE",
    "ArrayTraffic",
    "Budget",
    "Counters",
    "Emulation",
    "EmulatorError",
    "Kernel",
    "KernelRejected",
    "LineCounters",
    "OpenLoop",
    "Profile",
    "Program",
    "Record",
    "SharedArrayUse",
    "StaleRead",
    "TracedAccess",
    "TracedStatement",
    "emulate",
    "kernel_from",
    "load_program",
    "names_around",
]
