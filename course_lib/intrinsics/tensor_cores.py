"""Tensor cores: a warp multiplies small matrices that its 32 lanes hold together in registers.

`mma_m16n8k16_bf16` and its like compute D = A B + C: C and D 16 x 8, A 16 x k, B k x 8. No lane
holds a matrix: each holds a fixed share, its **fragment**. With g = lane // 4 and t = lane % 4, the
PTX ISA ("Matrix Fragments for mma.m16n8k16" and its neighbours) gives lane (g, t):

| operand | word | 16-bit numbers, low half first | tf32 |
|---|---|---|---|
| A, 16 x k | 0 | (g, 2t), (g, 2t + 1) | (g, t) |
| | 1 | (g + 8, 2t), (g + 8, 2t + 1) | (g + 8, t) |
| | 2 (k = 16; tf32) | (g, 2t + 8), (g, 2t + 9) | (g, t + 4) |
| | 3 (k = 16; tf32) | (g + 8, 2t + 8), (g + 8, 2t + 9) | (g + 8, t + 4) |
| B, k x 8 | 0 | (2t, g), (2t + 1, g) | (t, g) |
| | 1 (k = 16; tf32) | (2t + 8, g), (2t + 9, g) | (t + 4, g) |
| C and D, 16 x 8 | 0, 1 | float32 (g, 2t), (g, 2t + 1) | the same |
| | 2, 3 | float32 (g + 8, 2t), (g + 8, 2t + 1) | the same |

`ldmatrix_x4` fetches four 8 x 8 matrices of 16-bit numbers from shared memory into just that
arrangement: lane l gives the address of row l % 8 of matrix l // 8, and gets word l % 4 of row
l // 4 of each matrix. With `_trans` each matrix is transposed on the way, as B needs it, which lies
in memory row by row while its fragment runs down the columns.

All 32 lanes of a warp must take part in each of these functions.
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
    ptx,
    shared_address,
    types,
)

HALF = (16,)  # float16, or bfloat16 as uint16
HALF_OR_FLOAT = (16, 32)


# --- From shared memory into fragments ---------------------------------------------------------


@device_function
def ldmatrix_x4(context: Any, shared: Any, index: Any) -> Any:
    """`a = ldmatrix_x4(shared, index)`: four words a lane, one of each 8 x 8 matrix.

    `index` is the flat index at which this lane's row of 16 bytes starts, a multiple of 8 (of 4
    for float32, whose rows of four serve as tf32 fragments of A).
    """
    return _ldmatrix("ldmatrix_x4", shared, index, 4, "")


@device_function
def ldmatrix_x4_trans(context: Any, shared: Any, index: Any) -> Any:
    """The same, each matrix transposed: the lanes' rows become columns."""
    return _ldmatrix("ldmatrix_x4_trans", shared, index, 4, ".trans")


@device_function
def ldmatrix_x2(context: Any, shared: Any, index: Any) -> Any:
    """Two matrices, two words a lane; lanes 0 to 15 give the addresses."""
    return _ldmatrix("ldmatrix_x2", shared, index, 2, "")


@device_function
def ldmatrix_x2_trans(context: Any, shared: Any, index: Any) -> Any:
    """Two matrices, each transposed."""
    return _ldmatrix("ldmatrix_x2_trans", shared, index, 2, ".trans")


def _ldmatrix(name: str, shared: Any, index: Any, count: int, trans: str) -> Any:
    need_array(name, shared, HALF if trans else HALF_OR_FLOAT)
    need_integer(name, index)
    targets = ", ".join(f"${i}" for i in range(count))
    text = f"ldmatrix.sync.aligned.m8n8.x{count}{trans}.shared.b16 {{{targets}}}, [${count}];"
    result = types.UniTuple(types.uint32, count)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        pointer = element_pointer(context, builder, signature.args[0], *arguments)
        address = shared_address(builder, pointer)
        words = _several(ir.IntType(32), count)
        got = ptx(builder, words, text, ",".join(["=r"] * count + ["r"]), [address])
        return _tuple(context, builder, result, got)

    return result(shared, types.intp), generate


# --- The products ------------------------------------------------------------------------------


@device_function
def mma_m16n8k8_f16(context: Any, acc: Any, a: Any, b: Any) -> Any:
    """`acc = mma_m16n8k8_f16(acc, a, b)`: float16, k = 8, from compute capability 7.5 on.

    `acc` four float32, `a` two words, `b` one word (no tuple).
    """
    return _mma("mma_m16n8k8_f16", "m16n8k8", "f16", (acc, a, b), 2, 1)


@device_function
def mma_m16n8k16_f16(context: Any, acc: Any, a: Any, b: Any) -> Any:
    """`acc = mma_m16n8k16_f16(acc, a, b)`: float16, from 8.0 on; `a` four words, `b` two."""
    return _mma("mma_m16n8k16_f16", "m16n8k16", "f16", (acc, a, b), 4, 2)


@device_function
def mma_m16n8k16_bf16(context: Any, acc: Any, a: Any, b: Any) -> Any:
    """`acc = mma_m16n8k16_bf16(acc, a, b)`: bfloat16, from 8.0 on; `a` four words, `b` two."""
    return _mma("mma_m16n8k16_bf16", "m16n8k16", "bf16", (acc, a, b), 4, 2)


@device_function
def mma_m16n8k8_tf32(context: Any, acc: Any, a: Any, b: Any) -> Any:
    """`acc = mma_m16n8k8_tf32(acc, a, b)`: float32 words whose upper 19 bits count, from 8.0 on.

    The lower 13 bits are ignored, which truncates; `to_tf32` rounds before.
    """
    return _mma("mma_m16n8k8_tf32", "m16n8k8", "tf32", (acc, a, b), 4, 2)


def _mma(name: str, shape: str, kind: str, operands: Any, a_words: int, b_words: int) -> Any:
    acc, a, b = operands
    _need_tuple(name, "acc", acc, types.float32, 4)
    _need_tuple(name, "a", a, types.uint32, a_words)
    _need_tuple(name, "b", b, types.uint32, b_words)
    ends = (4, 4 + a_words, 4 + a_words + b_words, 8 + a_words + b_words)
    d, fa, fb, c = (
        "{" + ", ".join(f"${i}" for i in range(first, last)) + "}"
        for first, last in zip((0, *ends), ends, strict=False)
    )
    text = f"mma.sync.aligned.{shape}.row.col.f32.{kind}.{kind}.f32 {d}, {fa}, {fb}, {c};"
    constraints = ",".join(["=f"] * 4 + ["r"] * (a_words + b_words) + ["f"] * 4)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        sums, left, right = (_parts(builder, argument) for argument in arguments)
        code = ir.FunctionType(
            _several(ir.FloatType(), 4), [value.type for value in (*left, *right, *sums)]
        )
        # No memory is touched, so the compiler may move it: an mma is arithmetic.
        made = builder.call(ir.InlineAsm(code, text, constraints), [*left, *right, *sums])
        return _tuple(context, builder, signature.return_type, made)

    return types.UniTuple(types.float32, 4)(acc, a, b), generate


# --- Formats -----------------------------------------------------------------------------------


@device_function
def float_bits(context: Any, value: Any) -> Any:
    """`float_bits(x)`: the 32 bits of a float32 as uint32, as tf32 operands are handed over."""
    _need_float32("float_bits", value)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.bitcast(arguments[0], ir.IntType(32))

    return types.uint32(types.float32), generate


@device_function
def to_tf32(context: Any, value: Any) -> Any:
    """`to_tf32(x)`: the bits of a float32 rounded to tf32's 10 bits of fraction (from 8.0 on)."""
    _need_float32("to_tf32", value)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return ptx(builder, ir.IntType(32), "cvt.rna.tf32.f32 $0, $1;", "=r,f", list(arguments))

    return types.uint32(types.float32), generate


@device_function
def bf16_bits(context: Any, value: Any) -> Any:
    """`bf16_bits(x)`: a float32 rounded to bfloat16, as its 16 bits in a uint16 (from 8.0 on)."""
    _need_float32("bf16_bits", value)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return ptx(builder, ir.IntType(16), "cvt.rn.bf16.f32 $0, $1;", "=h,f", list(arguments))

    return types.uint16(types.float32), generate


# --- Wide accesses for 16-bit matrices and for results -----------------------------------------


@device_function
def load_words(context: Any, array: Any, index: Any) -> Any:
    """`words = load_words(array, index)`: eight 16-bit elements as four words, one 16-byte load.

    `index` is flat and a multiple of 8.
    """
    need_array("load_words", array, HALF)
    need_integer("load_words", index)
    result = types.UniTuple(types.uint32, 4)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        place = _words_at(builder, element_pointer(context, builder, signature.args[0], *arguments))
        vector = builder.load(place, align=16)
        lanes = [builder.extract_element(vector, _number(i)) for i in range(4)]
        return context.make_tuple(builder, result, lanes)

    return result(array, types.intp), generate


@device_function
def store_words(context: Any, array: Any, index: Any, words: Any) -> Any:
    """`store_words(array, index, words)`: four words as eight 16-bit elements, one store."""
    need_array("store_words", array, HALF)
    need_integer("store_words", index)
    _need_tuple("store_words", "words", words, types.uint32, 4)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        target, index, words = arguments
        kind = signature.args[0]
        place = _words_at(builder, element_pointer(context, builder, kind, target, index))
        _store_vector(builder, place, _parts(builder, words), 16)
        return context.get_dummy_value()

    return types.void(array, types.intp, words), generate


@device_function
def store2(context: Any, array: Any, index: Any, values: Any) -> Any:
    """`store2(array, index, (x, y))`: two neighbouring float32 in one 8-byte store; index even.

    That is what a lane holds of a row of an mma's result.
    """
    need_array("store2", array, (32,))
    need_integer("store2", index)
    _need_tuple("store2", "values", values, array.dtype, 2)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        target, index, values = arguments
        pointer = element_pointer(context, builder, signature.args[0], target, index)
        vector = ir.VectorType(pointer.type.pointee, 2)
        place = builder.bitcast(pointer, ir.PointerType(vector, pointer.type.addrspace))
        _store_vector(builder, place, _parts(builder, values), 8)
        return context.get_dummy_value()

    return types.void(array, types.intp, values), generate


# --- Parts of the definitions above ------------------------------------------------------------


def _need_tuple(name: str, role: str, given: Any, element: Any, count: int) -> None:
    """Refuse anything but `count` values of a type; one word is no tuple."""
    wanted = element if count == 1 else types.UniTuple(element, count)
    if given != wanted:
        raise Refused(f"{name} needs {role} as {count} {element}, not {given}")


def _need_float32(name: str, value: Any) -> None:
    if value != types.float32:
        raise Refused(f"{name} needs a float32, not {value}: cast it")


def _several(element: Any, count: int) -> Any:
    return ir.LiteralStructType([element] * count)


def _parts(builder: Any, value: Any) -> list[Any]:
    """The members of a tuple; a single value is its own."""
    kind = value.type
    members = len(kind.elements) if hasattr(kind, "elements") else getattr(kind, "count", 0)
    return [builder.extract_value(value, i) for i in range(members)] if members else [value]


def _tuple(context: Any, builder: Any, kind: Any, struct: Any) -> Any:
    """A tuple of Numba's out of a struct, as PTX with several results returns it."""
    return context.make_tuple(builder, kind, _parts(builder, struct))


def _words_at(builder: Any, pointer: Any) -> Any:
    vector = ir.VectorType(ir.IntType(32), 4)
    return builder.bitcast(pointer, ir.PointerType(vector, pointer.type.addrspace))


def _store_vector(builder: Any, place: Any, values: list[Any], align: int) -> None:
    vector = ir.Constant(place.type.pointee, ir.Undefined)
    for i, value in enumerate(values):
        vector = builder.insert_element(vector, value, _number(i))
    builder.store(vector, place, align=align)


def _number(i: int) -> Any:
    return ir.Constant(ir.IntType(32), i)
