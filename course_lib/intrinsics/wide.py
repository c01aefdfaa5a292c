"""16 bytes at once: one load or store moves four float32 (LDG.128, LDS.128, STS.128, STG.128).

A scalar load moves 4 bytes a thread, and costs an issue slot whether it moves 4 bytes or 16. The
compiler merges neighbouring scalar loads of shared memory by itself, but never those of global
memory, because it cannot know that their address is a multiple of 16. These functions promise it.

PTX ISA, "ld" and "st" with .v4: the address must be a multiple of 16 bytes, else the launch fails
with "misaligned address". An array's first element is aligned to 256 bytes in global memory;
in shared memory ask for it: `cuda.shared.array(SIZE, float32, alignment=16)`.
"""

from __future__ import annotations

from typing import Any

from course_lib.intrinsics.lowering import (
    Refused,
    device_function,
    element_pointer,
    ir,
    need_array,
    need_integer,
    types,
)

LANES = 4
BYTES = 16


@device_function
def load4(context: Any, array: Any, index: Any) -> Any:
    """`x, y, z, w = load4(array, index)`: four neighbouring elements in one 16-byte load.

    `index` counts elements from the array's first, however many axes it has (row * columns +
    column), and must be a multiple of 4. `array` is C-contiguous, of float32 or another type of
    32 bits, in global or shared memory.
    """
    need_array("load4", array, (32,))
    need_integer("load4", index)
    result = types.UniTuple(array.dtype, LANES)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        pointer = element_pointer(context, builder, signature.args[0], *arguments)
        vector = builder.load(_as_vector(builder, pointer), align=BYTES)
        lanes = [builder.extract_element(vector, _lane(i)) for i in range(LANES)]
        return context.make_tuple(builder, signature.return_type, lanes)

    return result(array, types.intp), generate


@device_function
def store4(context: Any, array: Any, index: Any, values: Any) -> Any:
    """`store4(array, index, (x, y, z, w))`: four neighbouring elements in one 16-byte store.

    The same rules as for `load4`; the values have the array's own type.
    """
    need_array("store4", array, (32,))
    need_integer("store4", index)
    if not isinstance(values, types.UniTuple) or len(values) != LANES:
        raise Refused(f"store4 needs a tuple of four {array.dtype}, not {values}")
    if values.dtype != array.dtype:
        raise Refused(f"store4 writes {array.dtype}, not {values.dtype}: cast the values")

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        target, index, lanes = arguments
        pointer = element_pointer(context, builder, signature.args[0], target, index)
        place = _as_vector(builder, pointer)
        vector = ir.Constant(place.type.pointee, ir.Undefined)
        for i in range(LANES):
            vector = builder.insert_element(vector, builder.extract_value(lanes, i), _lane(i))
        builder.store(vector, place, align=BYTES)
        return context.get_dummy_value()

    return types.void(array, types.intp, values), generate


def _as_vector(builder: Any, pointer: Any) -> Any:
    vector = ir.VectorType(pointer.type.pointee, LANES)
    return builder.bitcast(pointer, ir.PointerType(vector, pointer.type.addrspace))


def _lane(i: int) -> Any:
    return ir.Constant(ir.IntType(32), i)
