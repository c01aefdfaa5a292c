"""Warpgroups that do different work in one block: registers for each, and taking turns (9.0).

A kernel's threads all get the same number of registers at the launch. Where one warpgroup only
fetches and the others compute, that is a waste: `fewer_registers` gives some back to the block,
and `more_registers` takes what was given back. All threads of a warpgroup must come there together.
The compiler takes note of them only in a kernel with `launch_bounds=(threads, 1)`.

`group_arrive` is the half of `group_sync` that does not wait: it lets somebody else go on.

PTX ISA, "setmaxnreg", "barrier" (bar.arrive).
"""

from __future__ import annotations

from typing import Any

from course_lib.intrinsics.lowering import (
    Refused,
    device_function,
    instruction,
    ir,
    literal_integer,
    ptx,
    types,
)


@device_function
def more_registers(context: Any, count: Any) -> Any:
    """`more_registers(n)`: this warpgroup's threads may use n registers from now on.

    n is a constant, a multiple of 8 from 24 to 256. Waits until as many have been given back.
    """
    return _set_registers("more_registers", "inc", count)


@device_function
def fewer_registers(context: Any, count: Any) -> Any:
    """`fewer_registers(n)`: this warpgroup's threads need n registers; the rest is given back."""
    return _set_registers("fewer_registers", "dec", count)


@device_function
def group_arrive(context: Any, number: Any, threads: Any) -> Any:
    """`group_arrive(number, threads)`: arrive at the barrier of `group_sync`, and do not wait.

    `threads` counts both those who arrive and those who wait.
    """
    return instruction("bar.arrive $0, $1;", "rr", (number, threads))


def _set_registers(name: str, way: str, count: Any) -> Any:
    registers = literal_integer(name, count)
    if registers % 8 or not 24 <= registers <= 256:
        raise Refused(f"{name} takes a multiple of 8 from 24 to 256, not {registers}")

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        text = f"setmaxnreg.{way}.sync.aligned.u32 {registers};"
        ptx(builder, ir.VoidType(), text, "", [])
        return context.get_dummy_value()

    return types.void(count), generate
