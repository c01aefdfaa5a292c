"""Floating-point instructions, and conversions between kinds of numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from course_lib.compiled_counts.operands import (
    LaneRegisters,
    NotFollowed,
    Operand,
    Predicate,
    WrittenNumber,
)
from course_lib.compiled_counts.whole_numbers import (
    COMPARE,
    Modifiers,
    Operation,
    set_compared,
)

_FUNCTIONS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "RCP": lambda x: 1.0 / x,
    "RSQ": lambda x: 1.0 / np.sqrt(x),
    "SQRT": np.sqrt,
    "EX2": np.exp2,
    "LG2": np.log2,
    "SIN": np.sin,
    "COS": np.cos,
    "TANH": np.tanh,
}


def fused(lanes: LaneRegisters, how: Modifiers, given: Sequence[Operand]) -> None:
    """FFMA, FMUL, FADD in one: a product of two exact in float64, a sum, one rounding."""
    result, a, b, *c = [operand for operand in given if not isinstance(operand, Predicate)]
    total = lanes.float32(a).astype(np.float64) * lanes.float32(b)
    if c:
        total = total + lanes.float32(c[0])
    _put_rounded(lanes, how, result, total)


def add(lanes: LaneRegisters, how: Modifiers, given: Sequence[Operand]) -> None:
    """FADD."""
    result, a, b = given
    _put_rounded(lanes, how, result, lanes.float32(a).astype(np.float64) + lanes.float32(b))


def _put_rounded(lanes: LaneRegisters, how: Modifiers, result: Operand, exact: np.ndarray) -> None:
    rounded = exact.astype(np.float32)
    if "RM" in how or ("RZ" in how):
        down = np.where(rounded > exact, np.nextafter(rounded, np.float32(-np.inf)), rounded)
        up = np.where(rounded < exact, np.nextafter(rounded, np.float32(np.inf)), rounded)
        rounded = np.where(exact < 0, up, down) if "RZ" in how else down
    elif "RP" in how:
        rounded = np.where(rounded < exact, np.nextafter(rounded, np.float32(np.inf)), rounded)
    if "SAT" in how:
        rounded = np.clip(np.nan_to_num(rounded, nan=0.0), np.float32(0), np.float32(1))
    lanes.put(result, rounded.astype(np.float32))


def compare(lanes: LaneRegisters, how: Modifiers, given: Sequence[Operand]) -> None:
    """FSETP and DSETP."""
    first, second, a, b, join = given
    set_compared(lanes, how, (first, second), _compared(lanes, how, a, b), lanes.predicate(join))


def _compared(lanes: LaneRegisters, how: Modifiers, a: Operand, b: Operand) -> np.ndarray:
    read = lanes.float64 if "double" in how else lanes.float32
    left, right = read(a), read(b)
    unordered = np.isnan(left) | np.isnan(right)
    if "NAN" in how or "NUM" in how:
        return np.asarray(unordered if "NAN" in how else ~unordered)
    for name, function in COMPARE.items():
        if name in how:
            return np.asarray(function(left, right) & ~unordered)
        if name + "U" in how:
            return np.asarray(function(left, right) | unordered)
    if how & {"T", "F"}:
        return np.full(1, "T" in how)
    raise NotFollowed(f"the comparison {'.'.join(sorted(how))}")


def smaller_or_larger(lanes: LaneRegisters, how: Modifiers, given: Sequence[Operand]) -> None:
    """FMNMX: the smaller where the predicate holds, else the larger; NaN gives way."""
    result, a, b, choice = given
    left, right = lanes.float32(a), lanes.float32(b)
    small = np.where(lanes.predicate(choice), np.fmin(left, right), np.fmax(left, right))
    lanes.put(result, small)


def function(lanes: LaneRegisters, how: Modifiers, given: Sequence[Operand]) -> None:
    """MUFU: reciprocal, roots, powers of two, sine …"""
    result, source = given
    if how & {"RCP64H", "RSQ64H"}:
        high = lanes.word(source).astype(np.uint64) << np.uint64(32)
        name = "RCP" if "RCP64H" in how else "RSQ"
        value = _FUNCTIONS[name](high.view(np.float64)).view(np.uint64)
        lanes.put(result, (value >> np.uint64(32)).astype(np.uint32))
        return
    name = next((modifier for modifier in how if modifier in _FUNCTIONS), "")
    if not name:
        raise NotFollowed(f"MUFU.{'.'.join(sorted(how))}")
    x = lanes.float32(source)
    if name in ("SIN", "COS"):
        x = x.astype(np.float64)
    lanes.put(result, _FUNCTIONS[name](x).astype(np.float32))


def may_divide(lanes: LaneRegisters, how: Modifiers, given: Sequence[Operand]) -> None:
    """FCHK: whether a quotient needs the slow way: where numbers are very large or small."""
    out, a, b = given
    left, right = lanes.float32(a), lanes.float32(b)
    exponents = [np.frexp(np.abs(operand.astype(np.float64)))[1] for operand in (left, right)]
    strange = ~np.isfinite(left) | ~np.isfinite(right) | (right == 0)
    apart = exponents[0] - exponents[1]
    slow = strange | (np.abs(apart) > 125) | (np.abs(exponents[1]) > 125)
    # A dividend near underflow loses bits on the fast way.
    slow |= (left != 0) & (exponents[0] < -101)
    lanes.set_predicate(out, slow)


def double(lanes: LaneRegisters, how: Modifiers, given: Sequence[Operand]) -> None:
    """DFMA: a product and a sum in float64; the product is rounded once more than on a GPU."""
    result, a, b, c = given
    wide = lanes.float64(a).astype(np.longdouble) * lanes.float64(b) + lanes.float64(c)
    lanes.put_pair(result, wide.astype(np.float64))


def double_product(lanes: LaneRegisters, how: Modifiers, given: Sequence[Operand]) -> None:
    """DMUL."""
    lanes.put_pair(given[0], lanes.float64(given[1]) * lanes.float64(given[2]))


def double_sum(lanes: LaneRegisters, how: Modifiers, given: Sequence[Operand]) -> None:
    """DADD."""
    lanes.put_pair(given[0], lanes.float64(given[1]) + lanes.float64(given[2]))


def compare_double(lanes: LaneRegisters, how: Modifiers, given: Sequence[Operand]) -> None:
    """DSETP."""
    compare(lanes, how | {"double"}, given)


# -- conversions -----------------------------------------------------------------------------------


def from_integer(lanes: LaneRegisters, how: Modifiers, given: Sequence[Operand]) -> None:
    """I2F: an integer as a float."""
    result, source = given
    if how & {"S64", "U64"}:
        whole = lanes.pair(source)
        value = whole if "U64" in how else whole.view(np.int64)
    else:
        value = _narrow(lanes.integer(source), how)
    if "F64" in how:
        lanes.put_pair(result, value.astype(np.float64))
    elif "F16" in how:
        lanes.put(result, _half_bits(value.astype(np.float16)))
    else:
        _put_rounded(lanes, how, result, value.astype(np.float64))


def _narrow(word: np.ndarray, how: Modifiers) -> np.ndarray:
    for bits in (8, 16):
        if how & {f"U{bits}", f"S{bits}"}:
            kind = np.dtype(f"u{bits // 8}" if f"U{bits}" in how else f"i{bits // 8}")
            return (word & np.uint32((1 << bits) - 1)).astype(f"u{bits // 8}").view(kind)
    return word if "U32" in how else word.view(np.int32)


def to_integer(lanes: LaneRegisters, how: Modifiers, given: Sequence[Operand]) -> None:
    """F2I: a float as an integer, cut off at the type's ends."""
    result, source = given
    value = (lanes.float64(source) if "F64" in how else lanes.float32(source)).astype(np.longdouble)
    value = np.nan_to_num(_to_whole(value, how), nan=0.0)
    wide, unsigned = bool(how & {"S64", "U64"}), bool(how & {"U64", "U32", "U16", "U8"})
    bits = 64 if wide else 32
    low, high = (0, 2**bits - 1) if unsigned else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
    clipped = np.clip(value, np.longdouble(low), np.longdouble(high))
    whole = clipped.astype(np.uint64 if unsigned else np.int64)
    if wide:
        lanes.put_pair(result, whole)
    else:
        lanes.put(result, whole.astype(np.int64))


def _to_whole(value: np.ndarray, how: Modifiers) -> np.ndarray:
    for name, whole in (("TRUNC", np.trunc), ("FLOOR", np.floor), ("CEIL", np.ceil)):
        if name in how:
            return np.asarray(whole(value))
    return np.asarray(np.rint(value))


def to_whole(lanes: LaneRegisters, how: Modifiers, given: Sequence[Operand]) -> None:
    """FRND: a float rounded to a whole float."""
    result, source = given
    if "F64" in how:
        lanes.put_pair(result, _to_whole(lanes.float64(source), how))
    else:
        lanes.put(result, _to_whole(lanes.float32(source), how).astype(np.float32))


def between_floats(lanes: LaneRegisters, how: Modifiers, given: Sequence[Operand]) -> None:
    """F2F between float32 and float64; the order of modifiers says which way."""
    result, source = given
    if "to64" in how:
        lanes.put_pair(result, lanes.float32(source).astype(np.float64))
    elif "to32" in how:
        lanes.put(result, lanes.float64(source).astype(np.float32))
    elif "to16" in how:
        lanes.put(result, _half_bits(lanes.float32(source).astype(np.float16)))
    else:
        raise NotFollowed(f"F2F.{'.'.join(sorted(how))}")


def _half_bits(value: np.ndarray) -> np.ndarray:
    return np.asarray(value.view(np.uint16).astype(np.uint32))


def pack_halves(lanes: LaneRegisters, how: Modifiers, given: Sequence[Operand]) -> None:
    """F2FP: two float32 as two 16-bit floats in one word."""
    result, high, low, *_ = given
    words = []
    for operand in (high, low):
        value = lanes.float32(operand)
        if "BF16" in how:
            bits = value.view(np.uint32).astype(np.uint64)
            odd = (bits >> np.uint64(16)) & np.uint64(1)
            words.append(((bits + np.uint64(0x7FFF) + odd) >> np.uint64(16)).astype(np.uint32))
        elif "F16" in how:
            words.append(_half_bits(value.astype(np.float16)))
        else:
            raise NotFollowed(f"F2FP.{'.'.join(sorted(how))}")
    lanes.put(result, (words[0] << np.uint32(16)) | (words[1] & np.uint32(0xFFFF)))


def halves(lanes: LaneRegisters, how: Modifiers, given: Sequence[Operand]) -> None:
    """HADD2, HMUL2, HFMA2: two float16 at once; with F32 one half as a float32."""
    if how & {"BF16_V2", "BF16"}:
        raise NotFollowed("arithmetic in bfloat16")
    result, *parts = given
    pairs = _halves_of(lanes, parts)
    if "F32" in how:
        value = pairs[0][0].astype(np.float32) + pairs[1][0].astype(np.float32)
        lanes.put(result, value)
        return
    words = []
    for side in (0, 1):
        values = [pair[side].astype(np.float64) for pair in pairs]
        if "product" in how:
            total = values[0] * values[1] + (values[2] if len(values) > 2 else 0.0)
        else:
            total = values[0] + values[1]
        words.append(_half_bits(total.astype(np.float16)))
    lanes.put(result, (words[1] << np.uint32(16)) | words[0])


def _halves_of(
    lanes: LaneRegisters, parts: Sequence[Operand]
) -> list[tuple[np.ndarray, np.ndarray]]:
    """Each operand as a low and a high half; two numbers in a row are one operand's."""
    found, waiting = [], None
    for part in parts:
        if isinstance(part, WrittenNumber):
            value = np.array([part.value]).astype(np.float16)
            if waiting is None:
                waiting = value
            else:
                found.append((value, waiting))
                waiting = None
        elif not isinstance(part, Predicate):
            found.append(lanes.halves(part))
    return found


def half_product(lanes: LaneRegisters, how: Modifiers, given: Sequence[Operand]) -> None:
    """HMUL2 and HFMA2."""
    halves(lanes, how | {"product"}, given)


OPERATIONS: dict[str, Operation] = {
    **dict.fromkeys(("FFMA", "FMUL", "FMUL32I", "FFMA32I"), fused),
    **dict.fromkeys(("FADD", "FADD32I"), add),
    "FSETP": compare,
    "FMNMX": smaller_or_larger,
    "MUFU": function,
    "FCHK": may_divide,
    "DFMA": double,
    "DMUL": double_product,
    "DADD": double_sum,
    "DSETP": compare_double,
    **dict.fromkeys(("I2F", "I2FP"), from_integer),
    "F2I": to_integer,
    "FRND": to_whole,
    "F2F": between_floats,
    "F2FP": pack_halves,
    "HADD2": halves,
    **dict.fromkeys(("HMUL2", "HFMA2"), half_product),
}
