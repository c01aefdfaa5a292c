"""Read a kernel's machine code without a GPU: what the compiler made of the source.

Owns: compiling without a GPU, and reading SASS.
May import: `host`, `wording`.
Start with: `report`, then `sass`.

`compile_report(kernel, signature, cc="7.5")` compiles for a GPU that need not be there. The path
is the one a launch takes: Numba's types, NVVM, and ptxas from its PTX to machine code (SASS).
"""

from course_lib.machine_code.compiler import missing
from course_lib.machine_code.front_ends import CompileFailed, CompilerMissing
from course_lib.machine_code.report import (
    CompileReport,
    InstructionMix,
    compile_report,
    compile_reports,
)
from course_lib.machine_code.sass import Instruction

__all__ = [
    "CompileFailed",
    "CompileReport",
    "CompilerMissing",
    "Instruction",
    "InstructionMix",
    "compile_report",
    "compile_reports",
    "missing",
]
