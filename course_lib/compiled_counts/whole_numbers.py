"""Integer and logic instructions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from course_lib.compiled_counts.operands import (
    ALWAYS,
    LOW,
    WORD,
    LaneRegisters,
    NotFollowed,
    Operand,
    Predicate,
    Register,
    Special,
    WrittenNumber,
)

Modifiers = frozenset[str]
Operation = Callable[[LaneRegisters, Modifiers, Sequence[Operand]], None]

COMPARE: dict[str, Callable[[np.ndarray, np.ndarray], np.ndarray]] = {
    "LT": np.less,
    "LE": np.less_equal,
    "GT": np.greater,
    "GE": np.greater_equal,
    "EQ": np.equal,
    "NE": np.not_equal,
}
JOIN: dict[str, Callable[[np.ndarray, np.ndarray], np.ndarray]] = {
    "AND": np.logical_and,
    "OR": np.logical_or,
    "XOR": np.logical_xor,
}
_CARRY = np.int64(1 << 32)
WIDE = frozenset({"64", "S64", "U64"})
NO_PREDICATE = Predicate(ALWAYS)


def results_first(operands: Sequence[Operand]) -> tuple[list[Operand], list[Operand]]:
    """The predicates written, before or behind the result register; that register and the rest."""
    at = 0
    while isinstance(operands[at], Predicate):
        at += 1
    behind = at + 1
    while behind < len(operands) and isinstance(operands[behind], Predicate):
        behind += 1
    outs = [*operands[:at], *operands[at + 1 : behind]]
    return outs, [operands[at], *operands[behind:]]


def _carries(lanes: LaneRegisters, operands: Sequence[Operand]) -> np.ndarray:
    """How many of the predicates hold: what is carried in."""
    total = np.zeros(1, np.int64)
    for operand in operands:
        total = total + lanes.predicate(operand).astype(np.int64)
    return total


def _carry_out(lanes: LaneRegisters, outs: Sequence[Operand], total: np.ndarray) -> None:
    for at, out in enumerate(outs, start=1):
        lanes.set_predicate(out, total >= at * _CARRY)


def add(lanes: LaneRegisters, how: Modifiers, given: Sequence[Operand]) -> None:
    """IADD3, VIADD: a sum of up to three, with carries; IADD.64 of pairs."""
    if "64" in how:
        return add_64(lanes, given)
    outs, (result, *parts) = results_first(given)
    total = _carries(lanes, [operand for operand in parts if isinstance(operand, Predicate)])
    for part in parts:
        if not isinstance(part, Predicate):
            total = total + lanes.term(part)
    lanes.put(result, total)
    _carry_out(lanes, outs, total)


def add_64(lanes: LaneRegisters, given: Sequence[Operand]) -> None:
    """IADD.64: a sum of pairs."""
    outs, (result, *parts) = results_first(given)
    if any(out != NO_PREDICATE for out in map(_not_uniform, outs)):
        raise NotFollowed("a carry out of 64 bits")
    total = np.zeros(1, np.uint64)
    for part in parts:
        total = total + pair(lanes, part)
    lanes.put_pair(result, total)


def pair(lanes: LaneRegisters, operand: Operand) -> np.ndarray:
    """64 bits; of a number as it stands there, with its sign."""
    if isinstance(operand, WrittenNumber):
        return lanes.signed(operand).view(np.uint64)
    return lanes.pair(operand)


def pairs_compared(
    lanes: LaneRegisters, how: Modifiers, operands: Sequence[Operand]
) -> list[np.ndarray]:
    """Pairs as signed or, with U64, unsigned integers of 64 bits."""
    words = [pair(lanes, operand) for operand in operands]
    return words if "U64" in how else [word.view(np.int64) for word in words]


def multiply_add(lanes: LaneRegisters, how: Modifiers, given: Sequence[Operand]) -> None:
    """IMAD and its kinds: a * b + c in 32 or 64 bits, or the upper half."""
    outs, (result, a, b, c, *ins) = results_first(given)
    carried = _carries(lanes, ins)
    if "WIDE" in how or "HI" in how:
        read = lanes.integer if "U32" in how else lanes.signed
        product = read(a).astype(np.int64).view(np.uint64) * read(b).astype(np.int64).view(
            np.uint64
        )
        addend = lanes.pair(c)
        total = product + addend + carried.view(np.uint64)
        if outs:
            lanes.set_predicate(outs[0], (total < addend) | ((total == addend) & (product > 0)))
        if "WIDE" in how:
            lanes.put_pair(result, total)
        else:
            lanes.put(result, (total >> WORD).astype(np.uint32))
        return
    total = lanes.integer(a).astype(np.int64) * lanes.integer(b) + lanes.term(c) + carried
    _carry_out(lanes, outs, total)
    lanes.put(result, total)


def shifted_add(lanes: LaneRegisters, how: Modifiers, given: Sequence[Operand]) -> None:
    """LEA: (a << s) + b; with HI the upper word of (a with its upper half << s), and b."""
    outs, (result, a, b, *rest) = results_first(given)
    ins = [operand for operand in rest if isinstance(operand, Predicate)]
    rest = [operand for operand in rest if not isinstance(operand, Predicate)]
    shift = lanes.integer(rest[-1])[0] if rest else np.uint32(0)
    low = lanes.integer(a).astype(np.uint64)
    if "HI" not in how:
        moved = ((low << np.uint64(shift)) & LOW).view(np.int64)
    else:
        if "SX32" in how:
            whole = lanes.signed(a).view(np.uint64)
        else:
            whole = low | (lanes.integer(rest[0]).astype(np.uint64) << WORD)
        moved = ((whole << np.uint64(shift)) >> WORD).view(np.int64)
    total = moved + lanes.term(b) + _carries(lanes, ins)
    lanes.put(result, total)
    _carry_out(lanes, outs, total)


def logic(lanes: LaneRegisters, how: Modifiers, given: Sequence[Operand]) -> None:
    """LOP3: any function of three words, bit by bit, as a table of eight bits."""
    outs, (result, a, b, c, table, *_) = results_first(given)
    assert isinstance(table, WrittenNumber)
    words = [lanes.integer(operand) for operand in (a, b, c)]
    found = _by_table(table.bits, words, np.uint32(0xFFFFFFFF))
    lanes.put(result, np.broadcast_to(found, (lanes.count,)))
    if outs:
        lanes.set_predicate(outs[0], found != 0)


def _by_table(table: int, words: Sequence[np.ndarray], ones: Any) -> np.ndarray:
    known = {0xC0: words[0] & words[1], 0xFC: words[0] | words[1], 0x3C: words[0] ^ words[1]}
    if table in known:
        found: np.ndarray = known[table]
        return found
    found = words[0] & words[1] & ~words[0]  # zeros, in the right shape
    for row in range(8):
        if table >> row & 1:
            term = ones
            for at, word in enumerate(words):
                term = term & (word if row >> (2 - at) & 1 else ~word)
            found = found | term
    return found


def predicate_logic(lanes: LaneRegisters, how: Modifiers, given: Sequence[Operand]) -> None:
    """PLOP3: two functions of three predicates."""
    first, second, a, b, c, *tables = given
    words = [lanes.predicate(operand) for operand in (a, b, c)]
    results = []
    for table in tables[:2]:
        assert isinstance(table, WrittenNumber)
        results.append(_by_table(table.bits, words, np.bool_(True)))
    for out, value in zip((first, second), results, strict=False):
        lanes.set_predicate(out, value)


def compare(lanes: LaneRegisters, how: Modifiers, given: Sequence[Operand]) -> None:
    """ISETP: compare, join with a predicate; EX goes on from the lower words' result."""
    first, second, a, b, join, *below = given
    name = next(modifier for modifier in how if modifier in COMPARE)
    read = lanes.integer if "U32" in how else lanes.signed
    left, right = read(a), read(b)
    if how & WIDE:
        left, right = pairs_compared(lanes, how, (a, b))
    if "EX" in how:
        low = lanes.predicate(below[0])
        strict = {"LE": "LT", "GE": "GT"}.get(name, name)
        same = left == right
        result = (same & low) if name == "EQ" else COMPARE[strict](left, right) | (same & low)
    else:
        result = COMPARE[name](left, right)
    set_compared(lanes, how, (first, second), result, lanes.predicate(join))


def set_compared(
    lanes: LaneRegisters,
    how: Modifiers,
    outs: Sequence[Operand],
    result: np.ndarray,
    other: np.ndarray,
) -> None:
    """Join a comparison's result with a predicate, and write it and its opposite."""
    together = next((JOIN[modifier] for modifier in how if modifier in JOIN), np.logical_and)
    values = together(result, other), together(~result, other)
    for out, value in zip(outs, values, strict=True):
        lanes.set_predicate(out, value)


def select(lanes: LaneRegisters, how: Modifiers, given: Sequence[Operand]) -> None:
    """SEL, FSEL: one of two words, or with 64 of two pairs."""
    result, a, b, choice = given
    if "64" in how:
        chosen = np.where(lanes.predicate(choice), pair(lanes, a), pair(lanes, b))
        return lanes.put_pair(result, chosen)
    lanes.put(result, np.where(lanes.predicate(choice), _as_it_is(lanes, a), _as_it_is(lanes, b)))


def _as_it_is(lanes: LaneRegisters, operand: Operand) -> np.ndarray:
    if isinstance(operand, Register) and (operand.negated or operand.absolute):
        return lanes.float32(operand).view(np.uint32)  # an FSEL; SEL has no signs
    return lanes.word(operand)


def funnel_shift(lanes: LaneRegisters, how: Modifiers, given: Sequence[Operand]) -> None:
    """SHF: a word of two words shifted as one."""
    result, low, count, high = given
    bits = lanes.integer(count).astype(np.uint64)
    most = 64 if how & {"U64", "S64"} else 32
    bits = bits & np.uint64(most - 1) if "W" in how else np.minimum(bits, np.uint64(most))
    both = lanes.integer(low).astype(np.uint64) | (lanes.integer(high).astype(np.uint64) << WORD)
    if "L" in how:
        moved = _left(both, bits)
        wanted = moved >> WORD if "HI" in how else moved
        if "HI" in how and not how & {"U64", "S64"}:
            wanted = _left(both, bits) >> WORD
    else:
        moved = _right(both, bits, signed=bool(how & {"S32", "S64"}))
        wanted = moved >> WORD if "HI" in how else moved
    lanes.put(result, (wanted & LOW).astype(np.uint32))


def _left(value: np.ndarray, bits: np.ndarray) -> np.ndarray:
    return np.where(bits > 63, np.uint64(0), value << np.minimum(bits, np.uint64(63)))


def _right(value: np.ndarray, bits: np.ndarray, signed: bool) -> np.ndarray:
    few = np.minimum(bits, np.uint64(63))
    if signed:
        shifted: np.ndarray = (value.view(np.int64) >> few.astype(np.int64)).view(np.uint64)
        return shifted
    return np.where(bits > 63, np.uint64(0), value >> few)


def smaller_or_larger(lanes: LaneRegisters, how: Modifiers, given: Sequence[Operand]) -> None:
    """IMNMX, VIMNMX: the smaller of two where the predicate holds, else the larger."""
    outs, (result, a, b, *rest) = results_first(given)
    if any(out != NO_PREDICATE for out in map(_not_uniform, outs)):
        raise NotFollowed("a minimum that says which one it was")
    read = lanes.integer if "U32" in how else lanes.signed
    left, right = pairs_compared(lanes, how, (a, b)) if how & WIDE else (read(a), read(b))
    small = lanes.predicate(rest[0])
    found = np.where(small, np.minimum(left, right), np.maximum(left, right))
    if how & WIDE:
        lanes.put_pair(result, found)
    else:
        lanes.put(result, found)


def _not_uniform(operand: Operand) -> Operand:
    return Predicate(operand.number) if isinstance(operand, Predicate) else operand


def permute(lanes: LaneRegisters, how: Modifiers, given: Sequence[Operand]) -> None:
    """PRMT: four bytes chosen from two words."""
    result, a, selector, b = given
    if how - {"U"}:
        raise NotFollowed(f"PRMT.{'.'.join(sorted(how))}")
    both = lanes.integer(a).astype(np.uint64) | (lanes.integer(b).astype(np.uint64) << WORD)
    chosen = lanes.integer(selector).astype(np.uint64)
    found = np.zeros(1, np.uint64)
    for at in range(4):
        nibble = chosen >> np.uint64(4 * at)
        byte = (both >> ((nibble & np.uint64(7)) * np.uint64(8))) & np.uint64(0xFF)
        sign = np.where(byte & np.uint64(0x80), np.uint64(0xFF), np.uint64(0))
        byte = np.where(nibble & np.uint64(8), sign, byte)
        found = found | (byte << np.uint64(8 * at))
    lanes.put(result, found.astype(np.uint32))


def move(lanes: LaneRegisters, how: Modifiers, given: Sequence[Operand]) -> None:
    """MOV, UMOV: a word, or with 64 two of them; R2UR and S2UR see crossing.py."""
    if "64" in how:
        lanes.put_pair(given[0], pair(lanes, given[1]))
    else:
        lanes.put(given[0], lanes.integer(given[1]))


def clear(lanes: LaneRegisters, how: Modifiers, given: Sequence[Operand]) -> None:
    """CS2R R, SRZ: zero in two registers, or in one."""
    result, source = given
    if source != Special("SRZ"):
        raise NotFollowed(f"reading {source}")
    lanes.put(result, np.zeros(1, np.uint32))
    if "32" not in how:
        lanes.put(result, np.zeros(1, np.uint32), 1)


def absolute(lanes: LaneRegisters, how: Modifiers, given: Sequence[Operand]) -> None:
    """IABS."""
    lanes.put(given[0], np.abs(lanes.signed(given[1])))


def count_ones(lanes: LaneRegisters, how: Modifiers, given: Sequence[Operand]) -> None:
    """POPC."""
    lanes.put(given[0], np.bitwise_count(lanes.integer(given[1])).astype(np.uint32))


def find_leading(lanes: LaneRegisters, how: Modifiers, given: Sequence[Operand]) -> None:
    """FLO: the position of the highest bit that is set, all ones if there is none."""
    outs, (result, source) = results_first(given)
    word = lanes.integer(source)
    if "U32" not in how:
        word = np.where(word.view(np.int32) < 0, ~word, word)
    place = np.frexp(word.astype(np.float64))[1] - 1
    if "SH" in how:
        place = 31 - place
    lanes.put(result, np.where(word == 0, np.int64(0xFFFFFFFF), place))
    if outs:
        lanes.set_predicate(outs[0], word != 0)


def reverse_bits(lanes: LaneRegisters, how: Modifiers, given: Sequence[Operand]) -> None:
    """BREV."""
    word = lanes.integer(given[1])
    found = np.zeros(1, np.uint32)
    for bit in range(32):
        found = found | (((word >> np.uint32(bit)) & np.uint32(1)) << np.uint32(31 - bit))
    lanes.put(given[0], found)


def extend_sign(lanes: LaneRegisters, how: Modifiers, given: Sequence[Operand]) -> None:
    """SGXT: keep so many low bits, with their sign unless U32."""
    result, source, count = given
    width = np.minimum(lanes.integer(count), np.uint32(32)).astype(np.int64)
    free = np.int64(64) - width
    word = lanes.integer(source).astype(np.int64) << np.minimum(free, np.int64(63))
    if "U32" in how:
        value = (word.view(np.uint64) >> np.minimum(free, 63).astype(np.uint64)).view(np.int64)
    else:
        value = word >> np.minimum(free, np.int64(63))
    lanes.put(result, value)


def bit_mask(lanes: LaneRegisters, how: Modifiers, given: Sequence[Operand]) -> None:
    """BMSK: so many ones from a position on."""
    result, start, count = given
    width = np.minimum(lanes.integer(count), np.uint32(32)).astype(np.uint64)
    ones = (np.uint64(1) << width) - np.uint64(1)
    at = np.minimum(lanes.integer(start), np.uint32(32)).astype(np.uint64)
    lanes.put(result, ((ones << at) & LOW).astype(np.uint32))


def predicates_to_register(lanes: LaneRegisters, how: Modifiers, given: Sequence[Operand]) -> None:
    """P2R: the predicates as bits, under a mask, over another register's other bits."""
    result, *rest = given
    mask = lanes.integer(rest[-1])
    base = lanes.integer(rest[-2]) if len(rest) > 2 else np.zeros(1, np.uint32)
    if how - {"R2P"} and "B0" not in how:
        raise NotFollowed(f"P2R.{'.'.join(sorted(how))}")
    uniform = isinstance(result, Register) and result.uniform
    bits = np.zeros(1, np.uint32)
    for number in range(7):
        held = lanes.predicate(Predicate(number, uniform)).astype(np.uint32)
        bits = bits | (held << np.uint32(number))
    lanes.put(result, (bits & mask) | (base & ~mask))


def register_to_predicates(lanes: LaneRegisters, how: Modifiers, given: Sequence[Operand]) -> None:
    """R2P: predicates from bits, under a mask."""
    _, source, mask = given
    if how - {"B0", "B1", "B2", "B3"}:
        raise NotFollowed(f"R2P.{'.'.join(sorted(how))}")
    byte = next((int(modifier[1]) for modifier in how if modifier.startswith("B")), 0)
    word, chosen = lanes.integer(source) >> np.uint32(8 * byte), int(lanes.integer(mask)[0])
    for number in range(7):
        if chosen >> number & 1:
            bit = (word >> np.uint32(number)) & np.uint32(1)
            lanes.set_predicate(Predicate(number), bit != 0)


def nothing(lanes: LaneRegisters, how: Modifiers, given: Sequence[Operand]) -> None:
    """NOP and what orders or prefetches: no effect on values."""


OPERATIONS: dict[str, Operation] = {
    **dict.fromkeys(("IADD3", "VIADD", "IADD"), add),
    **dict.fromkeys(("IMAD", "IMUL"), multiply_add),
    "LEA": shifted_add,
    "LOP3": logic,
    "PLOP3": predicate_logic,
    "ISETP": compare,
    **dict.fromkeys(("SEL", "FSEL"), select),
    "SHF": funnel_shift,
    **dict.fromkeys(("IMNMX", "VIMNMX"), smaller_or_larger),
    "PRMT": permute,
    **dict.fromkeys(("MOV", "MOV32I"), move),
    "CS2R": clear,
    "IABS": absolute,
    "POPC": count_ones,
    "FLO": find_leading,
    "BREV": reverse_bits,
    "SGXT": extend_sign,
    "BMSK": bit_mask,
    "P2R": predicates_to_register,
    "R2P": register_to_predicates,
    **dict.fromkeys(("NOP", "YIELD", "DEPBAR", "LDGDEPBAR", "MEMBAR", "ERRBAR", "CCTL"), nothing),
    **dict.fromkeys(("WARPSYNC", "NANOSLEEP", "FENCE", "PREEXIT", "ACQBULK", "LDGDEPBAR"), nothing),
}
