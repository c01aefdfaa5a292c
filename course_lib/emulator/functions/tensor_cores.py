"""The twins of `course_lib.intrinsics` for tensor cores: `ldmatrix`, `mma`, and number formats.

A warp holds a small matrix together: each of its 32 lanes has a few words of it, its fragment.
Here the words of all warps are put together to matrices (one for each warp), NumPy multiplies
those, and the result is dealt out to the lanes again. With g = lane // 4 and t = lane % 4, word w
of A holds row g (+ 8 if w is odd), word w of B column g, and each the t-th piece of 8 columns (of
A) or rows (of B) from 8 (w // 2) or 8 w on: two 16-bit numbers, or one tf32 of 4. (PTX ISA,
"Matrix Fragments for mma.m16n8k8" and its neighbours.)

Products of float16, bfloat16 and tf32 numbers are exact in float32. Sums are rounded to float32
at each step; a tensor core adds with more or fewer bits, in an order of its own.
"""

import ast
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from course_lib.emulator.errors import rejection
from course_lib.emulator.functions.math_functions import elementwise
from course_lib.emulator.functions.wide_functions import AN_INDEX, HOME, an_array, taking
from course_lib.emulator.language import types as T
from course_lib.emulator.language.intrinsics import (
    INTRINSICS,
    Intrinsic,
    Typed,
    need,
)
from course_lib.emulator.machine.machine import Machine
from course_lib.emulator.state.indices import elements_at_once
from course_lib.emulator.state.lanes import WARP_SIZE, Mask, Value
from course_lib.emulator.state.memory import poison
from course_lib.wording.sentences import say

ROWS, COLUMNS = 16, 8  # of the result of an mma
ROWS_OF_MATRIX = 8  # of a matrix that ldmatrix fetches; its rows have 16 bytes
TF32_BITS = np.uint32(0xFFFFE000)
_FOUR_SUMS = T.TupleType((T.FLOAT32,) * 4)
# NumPy looks numbers up in half the time in which it converts them.
_ALL_FLOAT16 = np.arange(1 << 16).astype(T.UINT16).view(T.FLOAT16).astype(T.FLOAT32)

MMA_TAKES = (
    "Its arguments are the sums, the words of A, and the words of B, in this order. A word is a "
    "uint32 with two numbers of 16 bits."
)

FromWords = Callable[[np.ndarray], np.ndarray]


# -- numbers in words -----------------------------------------------------------------------------


def _from_float16(words: np.ndarray) -> np.ndarray:
    found: np.ndarray = _ALL_FLOAT16.take(np.ascontiguousarray(words).view(T.UINT16))
    return found


def _from_bfloat16(words: np.ndarray) -> np.ndarray:
    return (np.ascontiguousarray(words).view(T.UINT16).astype(T.UINT32) << np.uint32(16)).view(
        T.FLOAT32
    )


def _from_tf32(words: np.ndarray) -> np.ndarray:
    """The upper 19 bits count: sign, 8 of exponent, 10 of fraction."""
    return np.ascontiguousarray(words & TF32_BITS).view(T.FLOAT32)


def tf32_of(numbers: Value) -> Value:
    """The bits of float32 numbers, rounded to tf32: to nearest, ties away from zero."""
    bits = numbers.view(T.UINT32)
    rounded = (bits + np.uint32(0x1000)) & TF32_BITS
    return np.where(np.isfinite(numbers), rounded, np.where(np.isnan(numbers), 0x7FFFFFFF, bits))


def bfloat16_of(numbers: Value) -> Value:
    """The 16 bits of float32 numbers rounded to bfloat16: to nearest, ties to even."""
    bits = numbers.view(T.UINT32)
    half = np.uint32(0x7FFF) + ((bits >> np.uint32(16)) & np.uint32(1))
    return np.where(np.isnan(numbers), 0x7FFF, (bits + half) >> np.uint32(16))


# -- fragments and matrices -----------------------------------------------------------------------


def a_matrices(words: np.ndarray, numbers: FromWords) -> np.ndarray:
    """The 16 x k matrices A of which each lane holds `words`, shape (words, warps, 32)."""
    pieces = _pieces(words, numbers)
    across, warps, inner = len(words) // 2, words.shape[1], pieces.shape[-1]
    apart = pieces.reshape(across, 2, warps, ROWS_OF_MATRIX, inner)
    return apart.transpose(2, 1, 3, 0, 4).reshape(warps, ROWS, across * inner)


def b_matrices(words: np.ndarray, numbers: FromWords) -> np.ndarray:
    """The k x 8 matrices B of which each lane holds `words`."""
    pieces = _pieces(words, numbers)
    return pieces.transpose(1, 0, 3, 2).reshape(words.shape[1], -1, COLUMNS)


def _pieces(words: np.ndarray, numbers: FromWords) -> np.ndarray:
    """For each word and warp 8 rows (of A; columns of B), each in the order of its lanes."""
    return numbers(words).reshape(*words.shape[:2], ROWS_OF_MATRIX, -1)


def c_matrices(sums: np.ndarray) -> np.ndarray:
    """The 16 x 8 matrices of which each lane holds four sums, shape (4, warps, 32)."""
    warps = sums.shape[1]
    apart = sums.reshape(2, 2, warps, ROWS_OF_MATRIX, COLUMNS // 2)
    return apart.transpose(2, 0, 3, 4, 1).reshape(warps, ROWS, COLUMNS)


def sums_of(matrices: np.ndarray) -> np.ndarray:
    """The inverse of `c_matrices`."""
    apart = matrices.reshape(-1, 2, ROWS_OF_MATRIX, COLUMNS // 2, 2)
    return apart.transpose(1, 4, 0, 2, 3).reshape(4, -1, WARP_SIZE)


# -- whole warps ----------------------------------------------------------------------------------


def _whole_warps(machine: Machine, node: ast.Call) -> np.ndarray:
    """Which warps take part; a finding if only a part of one does."""
    space, active = machine.space, machine.active
    if active.array is None and space.block_size % WARP_SIZE == 0:
        return np.ones(space.warp_count, bool)
    rows = space.warps_of(active.full_array, False).reshape(-1, WARP_SIZE)
    whole = np.asarray(rows.all(axis=1))
    if (rows.any(axis=1) & ~whole).any():
        name = ast.unparse(node.func).rpartition(".")[2]
        machine.observers.broken_warp(name, active, machine.line)
    return whole


def _of_warps(machine: Machine, values: Sequence[Value], whole: np.ndarray) -> np.ndarray:
    """Values of the lanes of whole warps, shape (values, warps, 32)."""
    space = machine.space
    lanes = np.empty((len(values), *space.shape), values[0].dtype)
    for row, value in zip(lanes, values, strict=True):
        row[...] = value
    if space.block_size % WARP_SIZE:
        stacked = np.stack([space.warps_of(row).reshape(-1, WARP_SIZE) for row in lanes])
    else:
        stacked = lanes.reshape(len(values), -1, WARP_SIZE)
    return stacked if whole.all() else np.ascontiguousarray(stacked[:, whole])


def _to_lanes(machine: Machine, rows: np.ndarray, whole: np.ndarray) -> tuple[Value, ...]:
    """The inverse; lanes of other warps get poison."""
    if not whole.all():
        everyone = np.full((len(rows), len(whole), WARP_SIZE), poison(rows.dtype), rows.dtype)
        everyone[:, whole] = rows
        rows = everyone
    return tuple(machine.space.from_warps(row) for row in rows)


# -- ldmatrix -------------------------------------------------------------------------------------


def _ldmatrix(count: int, transposed: bool) -> Intrinsic:
    """Fetches `count` matrices of 8 rows; lane l points at row l % 8 of matrix l // 8."""

    array = an_array(*((2,) if transposed else (2, 4)), name="a shared array")
    typing = taking(T.TupleType((T.UINT32,) * count), array, AN_INDEX)

    def run(machine: Machine, node: ast.Call, values: list[Any]) -> tuple[Value, ...]:
        view, index = values
        if view.allocation.space != "shared":
            raise rejection("unsupported", "ldmatrix reads shared memory only.", node)
        whole = _whole_warps(machine, node)
        pointing = _pointing(machine, whole, ROWS_OF_MATRIX * count)
        if pointing.empty:
            return (poison(T.UINT32),) * count
        elements = elements_at_once(view.allocation.dtype)
        loaded = machine.unit.load_wide(view, index, elements, pointing, machine.line)
        rows = np.moveaxis(_of_warps(machine, list(loaded), whole), 0, -1)
        rows = np.ascontiguousarray(rows[:, : ROWS_OF_MATRIX * count])
        return _to_lanes(machine, dealt_out(rows, count, transposed), whole)

    return Intrinsic(typing, run)


def dealt_out(rows: np.ndarray, count: int, transposed: bool) -> np.ndarray:
    """What the lanes get of the rows that they point at.

    These have the shape (warps, 8 `count`, elements of a row). Each lane gets a word of each of
    `count` matrices, which may be `transposed` on their way: shape (count, warps, 32), where lane l
    has word l % 4 of row l // 4.
    """
    matrices = rows.reshape(len(rows), count, ROWS_OF_MATRIX, -1)
    if transposed:
        matrices = np.ascontiguousarray(matrices.swapaxes(2, 3))
    return matrices.view(T.UINT32).reshape(len(rows), count, WARP_SIZE).swapaxes(0, 1)


def _pointing(machine: Machine, whole: np.ndarray, lanes: int) -> Mask:
    """The lanes that give an address: the first of each whole warp."""
    space = machine.space
    mask = machine.active
    if not whole.all():
        whole_warps = np.repeat(whole.reshape(-1, 1), WARP_SIZE, axis=1)
        mask = mask.where(space.from_warps(whole_warps))
    return mask if lanes == WARP_SIZE else mask.where(space.thread_in_block % WARP_SIZE < lanes)


for _count in (2, 4):
    INTRINSICS[f"{HOME}.ldmatrix_x{_count}"] = _ldmatrix(_count, transposed=False)
    INTRINSICS[f"{HOME}.ldmatrix_x{_count}_trans"] = _ldmatrix(_count, transposed=True)


# -- mma ------------------------------------------------------------------------------------------


def _mma(k: int, numbers: FromWords, a_words: int, b_words: int) -> Intrinsic:
    """D = A B + C for every warp: A 16 x k, B k x 8, C and D 16 x 8."""

    words = zip(("a fragment of A", "a fragment of B"), (a_words, b_words), strict=True)
    fragments = ((name, _exactly(_words_type(count))) for name, count in words)
    typing = taking(_FOUR_SUMS, ("the sums", _exactly(_FOUR_SUMS)), *fragments)

    def run(machine: Machine, node: ast.Call, values: list[Any]) -> tuple[Value, ...]:
        whole = _whole_warps(machine, node)
        if not whole.any():
            return (poison(T.FLOAT32),) * 4
        sums, a = (_of_warps(machine, value, whole) for value in values[:2])
        b = _of_warps(machine, values[2] if b_words > 1 else values[2:], whole)
        product = np.matmul(a_matrices(a, numbers), b_matrices(b, numbers))
        flops = 2 * ROWS * COLUMNS * k * int(np.count_nonzero(whole))
        machine.observers.flops(machine.line, machine.active, flops, False, True)
        machine.observers.by_tensor_cores(machine.line, flops)
        return _to_lanes(machine, sums + sums_of(product), whole)

    return Intrinsic(typing, run)


def _exactly(wanted: T.Type) -> Callable[[Typed], None]:
    def check(argument: Typed) -> None:
        said = say("needs {wanted}, not {type}", wanted=wanted, type=argument.type)
        need(argument.type == wanted, said, MMA_TAKES)

    return check


def _words_type(count: int) -> T.Type:
    return T.UINT32 if count == 1 else T.TupleType((T.UINT32,) * count)


INTRINSICS[f"{HOME}.mma_m16n8k8_f16"] = _mma(8, _from_float16, 2, 1)
INTRINSICS[f"{HOME}.mma_m16n8k16_f16"] = _mma(16, _from_float16, 4, 2)
INTRINSICS[f"{HOME}.mma_m16n8k16_bf16"] = _mma(16, _from_bfloat16, 4, 2)
INTRINSICS[f"{HOME}.mma_m16n8k8_tf32"] = _mma(8, _from_tf32, 4, 2)


# -- formats --------------------------------------------------------------------------------------


def _format(result: np.dtype, function: Callable[[Value], Value]) -> Intrinsic:
    def kind(kinds: list[np.dtype]) -> np.dtype:
        need(kinds[0] == T.FLOAT32, say("needs a float32, not {type}: cast it", type=kinds[0]))
        return result

    return elementwise(function, kind, operands=lambda kinds: kinds[0])


INTRINSICS[f"{HOME}.float_bits"] = _format(T.UINT32, lambda numbers: numbers.view(T.UINT32))
INTRINSICS[f"{HOME}.to_tf32"] = _format(T.UINT32, tf32_of)
INTRINSICS[f"{HOME}.bf16_bits"] = _format(T.UINT16, bfloat16_of)
