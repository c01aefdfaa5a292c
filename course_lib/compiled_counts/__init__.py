"""Follow a kernel's machine code instruction by instruction, and count what a GPU would count.

Owns: what each instruction of the machine code does to registers and memory.
May import: `curriculum`, `diagnosis`, `emulator`, `host`, `machine_code`, `registry`, `wording`.
Start with: `launch`, then `walker`.

`launch` compiles a launch and lays its arguments out as a GPU's memory, `walker` walks the code
for many warps at once. What an instruction does stands in `whole_numbers`, `floats`,
`crossing` (lanes that see each other), `tensor_cores` and `memory`; `operands` reads them and holds
the registers, and `tally` counts by the rules of the emulator's meter.
"""

from course_lib.compiled_counts.launch import NotCounted, count

__all__ = ["NotCounted", "count"]
