"""A GPU in NumPy: runs `numba.cuda` kernels on the CPU, counts, and never executes them.

Owns: the kernel language, its meaning, the counters and the races.
May import: `wording`.
Start with: `launch`, then `run`; docs/emulator.md says what each file is for.

The story, one folder a step: `language` reads the source, `inference` types it as Numba would,
`machine` walks it for thousands of lanes at once over the lanes and memories of `state`, with the
`functions` that a kernel may call. `observers` listen to it and count and judge, `launch` ties it
together and returns the `profile`. Beside the machine, `plain` walks functions that are no kernels.
"""

from course_lib.emulator.budget import INTERACTIVE, Budget, OpenLoop
from course_lib.emulator.errors import EmulatorError, KernelRejected
from course_lib.emulator.language.kernel import Kernel, Program, says_nothing
from course_lib.emulator.language.parse import freeze, kernel_from, load_program
from course_lib.emulator.language.surroundings import CORE, applied, device_function, names_around
from course_lib.emulator.launch import Emulation, emulate, result_type, shared_bytes_of
from course_lib.emulator.plain.values import Record
from course_lib.emulator.profile.as_compiled import AsCompiled, KeptLaunch, copies_of
from course_lib.emulator.profile.counters import Counters, LineCounters
from course_lib.emulator.profile.profile import (
    ArrayTraffic,
    Profile,
    SharedArrayUse,
    StaleRead,
    TracedAccess,
)
from course_lib.emulator.state.hopper import TensorMap

__all__ = [
    "CORE",
    "INTERACTIVE",
    "ArrayTraffic",
    "AsCompiled",
    "Budget",
    "Counters",
    "Emulation",
    "EmulatorError",
    "KeptLaunch",
    "Kernel",
    "KernelRejected",
    "LineCounters",
    "OpenLoop",
    "Profile",
    "Program",
    "Record",
    "SharedArrayUse",
    "StaleRead",
    "TensorMap",
    "TracedAccess",
    "applied",
    "copies_of",
    "device_function",
    "emulate",
    "freeze",
    "kernel_from",
    "load_program",
    "names_around",
    "result_type",
    "says_nothing",
    "shared_bytes_of",
]
