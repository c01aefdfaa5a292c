"""Profile a student's own kernel with Nsight Compute, beside its counts as written and as compiled.

Owns: running `ncu` on a kernel, and NVIDIA's names of the counters.
May import: `compiled_counts`, `emulator`, `host`, `machine_code`, `measurements`, `wording`.
Start with: `report`.

`ncu_report(kernel)[grid, block](A, B)` runs the kernel on the emulator, and once more on the GPU
under `ncu` where the machine allows it. `kernel_file` writes the kernel into a file, and launches
that file in a process of its own, `reading` starts `ncu`, reads its table and says which of
NVIDIA's metrics goes with which counter, `report` lays both sides next to each other.
"""

from course_lib.ncu.reading import METRICS, NoCounters, counters_of, parse_ncu
from course_lib.ncu.report import NcuReport, ncu_report, stored_report

__all__ = [
    "METRICS",
    "NcuReport",
    "NoCounters",
    "counters_of",
    "ncu_report",
    "parse_ncu",
    "stored_report",
]
