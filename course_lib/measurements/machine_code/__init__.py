"""Read what the compiler made of the lessons' kernels, for machines that have no compiler.

One file for each compute capability; tests/machine_code/test_stored_counts.py holds it to the
compiler at hand.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from course_lib.measurements.files import content_of

FOLDER = Path(__file__).resolve().parent
WRITTEN_BY = ("stored_machine_code.py",)


@dataclass(frozen=True)
class CompiledCounts:
    """What a kernel became.

    Attributes:
        label: who compiled, and for what.
        registers: of a thread.
        spilled_bytes: what each thread stores for want of registers.
        kinds: instructions of one trip through the hot loop, by what they are for.
        instructions: for each multiply-add, over a trip of the loop over tiles.
        loads: load instructions from shared memory for each multiply-add, in the hot loop.
    """

    label: str
    registers: int
    spilled_bytes: int
    kinds: Mapping[str, int]
    instructions: float
    loads: float


def counted(kernel: str, target: str = "sm_75") -> CompiledCounts:
    """The stored counts of a kernel, such as "register_2d".

    Raises:
        KeyError: if it was not counted.
    """
    stored = _file(target)
    return CompiledCounts(label=stored["label"], **stored["kernels"][kernel])


def global_loads(kernel: str, target: str = "sm_75") -> int:
    """How many instructions of a small kernel load from global memory, as compiled.

    "between" asks for a number, stores another one, and asks for the first again; "held" takes the
    number into a variable before it stores. test_stored_counts.py has their texts.

    Raises:
        KeyError: if it was not counted.
    """
    return int(_file(target)["global_loads"][kernel])


def names(target: str = "sm_75") -> tuple[str, ...]:
    """The kernels that were counted."""
    return tuple(_file(target)["kernels"])


def _file(target: str) -> dict[str, Any]:
    return content_of(FOLDER, target, "nothing was compiled for")
