"""Addresses in shared memory, which Hopper's functions take in place of arrays and indices.

Barriers, tiles and descriptors are all named by the 32-bit address, in bytes, that PTX's
instructions take. It is a plain number that a kernel may add to, so one array of bytes can hold
everything.
"""

from __future__ import annotations

from typing import Any

from course_lib.intrinsics import lowering
from course_lib.intrinsics.lowering import (
    device_function,
    element_pointer,
    instruction,
    ir,
    need_array,
    types,
)


@device_function
def shared_address(context: Any, array: Any) -> Any:
    """`address = shared_address(array)`: where a shared array begins, in bytes; a uint32.

    For TMA and wgmma declare the array with `alignment=1024`.
    """
    need_array("shared_address", array, (8, 16, 32, 64))

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        start = ir.Constant(ir.IntType(64), 0)
        first = element_pointer(context, builder, signature.args[0], arguments[0], start)
        return lowering.shared_address(builder, first)

    return types.uint32(array), generate


@device_function
def uniform(context: Any, number: Any) -> Any:
    """`number = uniform(number)`: the value of lane 0, for all lanes of the warp; a uint32.

    For a number that is the same in all lanes already, such as the warp's own. The compiler cannot
    know that; told so, it keeps what follows from it (roles, addresses, descriptors) in uniform
    registers, once a warp.
    """
    return instruction("shfl.sync.idx.b32 $0, $1, 0, 31, -1;", "r", (number,), "r")
