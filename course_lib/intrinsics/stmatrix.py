"""From registers to shared memory, the way back of `ldmatrix` (compute capability 9.0).

A lane's results lie all over a tile: two here, two eight rows below. Written as they are, a row of
eight 16-bit numbers would go out in four pieces. `stmatrix_x4` lets the lanes of a warp exchange
them on the way: of an 8 x 8 matrix lane l hands over the numbers 2 (l % 4) and the next of row
l // 4, and every row is written as the 16 bytes that it is. The sums become bfloat16 first, two in
a word (`pack_bf16`). For float32 a lane's two neighbours are 8 bytes (`store_shared2`).

These functions take addresses in shared memory (`shared_address`).

PTX ISA, "stmatrix", "cvt" (.bf16x2), "st".
"""

from __future__ import annotations

from typing import Any

from course_lib.intrinsics.lowering import Refused, device_function, instruction, ir, ptx, types


@device_function
def pack_bf16(context: Any, first: Any, second: Any) -> Any:
    """`word = pack_bf16(first, second)`: two float32, rounded, the first in the lower half."""
    for argument_type in (first, second):
        if argument_type != types.float32:
            raise Refused(f"pack_bf16 needs two float32, not {argument_type}")
    return instruction("cvt.rn.bf16x2.f32 $0, $2, $1;", "ff", (first, second), "r")


@device_function
def stmatrix_x4(context: Any, address: Any, words: Any) -> Any:
    """`stmatrix_x4(address, words)`: a warp writes four 8 x 8 matrices of 16-bit numbers.

    `words` are four, one of each matrix, as `ldmatrix_x4` would give them. `address` is where this
    lane's row starts: lane l gives that of row l % 8 of matrix l // 8. Multiples of 16 bytes.
    """
    return _four_matrices("stmatrix_x4", "", words)


@device_function
def stmatrix_x4_trans(context: Any, address: Any, words: Any) -> Any:
    """`stmatrix_x4_trans(address, words)`: the same, each matrix transposed on the way."""
    return _four_matrices("stmatrix_x4_trans", ".trans", words)


def _four_matrices(name: str, how: str, words: Any) -> Any:
    if words != types.UniTuple(types.uint32, 4):
        raise Refused(f"{name} needs a tuple of four uint32, not {words}")
    text = f"stmatrix.sync.aligned.m8n8.x4{how}.shared.b16 [$0], {{$1, $2, $3, $4}};"

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        four = [builder.extract_value(arguments[1], i) for i in range(4)]
        ptx(builder, ir.VoidType(), text, "r,r,r,r,r", [arguments[0], *four])
        return context.get_dummy_value()

    return types.void(types.uint32, words), generate


@device_function
def store_shared(context: Any, address: Any, value: Any) -> Any:
    """`store_shared(address, value)`: one float32."""
    return instruction("st.shared.f32 [$0], $1;", "rf", (address, value))


@device_function
def store_shared2(context: Any, address: Any, first: Any, second: Any) -> Any:
    """`store_shared2(address, first, second)`: two neighbouring float32, 8 bytes, one store."""
    return instruction("st.shared.v2.f32 [$0], {$1, $2};", "rff", (address, first, second))
