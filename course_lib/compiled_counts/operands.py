"""An instruction's operands, and the registers of many warps that it reads and writes."""

from __future__ import annotations

import re
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from course_lib.machine_code import Instruction


class NotFollowed(Exception):
    """Something in the machine code that is not followed here; the message names it."""


ZERO = 255  # RZ, and URZ in its own file
ALWAYS = 7  # PT and UPT


@dataclass(frozen=True)
class Register:
    """R5, -R5, |R5|, ~R5, R5.H1_H1, or a uniform one such as UR5; `half` is 0 or 1."""

    number: int
    uniform: bool = False
    negated: bool = False
    absolute: bool = False
    inverted: bool = False
    half: int | None = None


@dataclass(frozen=True)
class Predicate:
    """P0, !P0, or a uniform one."""

    number: int
    uniform: bool = False
    inverted: bool = False


@dataclass(frozen=True)
class Constant:
    """c[0x0][0x28], or c[0x3][R2+0x10]."""

    bank: int
    offset: int
    index: Register | None = None
    negated: bool = False
    absolute: bool = False
    inverted: bool = False


@dataclass(frozen=True)
class WrittenNumber:
    """A number as it is written; `text` tells an integer from a float."""

    text: str

    @property
    def bits(self) -> int:
        """32 bits: of an integer its own, of a float its float32's."""
        if re.fullmatch(r"-?0x[0-9a-f]+", self.text):
            return int(self.text, 16) & 0xFFFFFFFF
        return int(struct.unpack("<I", struct.pack("<f", self.value))[0])

    @property
    def value(self) -> float:
        """The float that is meant."""
        if re.fullmatch(r"-?0x[0-9a-f]+", self.text):
            bits = int(self.text, 16) & 0xFFFFFFFF
            return float(struct.unpack("<f", struct.pack("<I", bits))[0])
        return float(self.text.replace("QNAN", "nan").replace("SNAN", "nan"))


@dataclass(frozen=True)
class Address:
    """[R2.64+UR4+0x10]: up to two registers, the first one's scale, and an offset in bytes."""

    register: Register | None
    wide: bool
    scale: int
    uniform: Register | None
    offset: int


@dataclass(frozen=True)
class Label:
    """`(.L_x_1): where to go on."""

    name: str


@dataclass(frozen=True)
class Special:
    """A special register such as SR_TID.X, B0 of a BSSY, SB0 of a DEPBAR, or PR, all predicates."""

    name: str


Operand = Register | Predicate | Constant | WrittenNumber | Address | Label | Special

_REGISTER = re.compile(
    r"(?P<sign>-?)(?P<tilde>~?)(?P<bar>\|?)(?P<u>U?)R(?P<number>Z|\d+)(?P<rest>(?:\.\w+)*)\|?(?P<more>(?:\.\w+)*)$"
)
_PREDICATE = re.compile(r"(?P<no>!?)(?P<u>U?)P(?P<number>T|\d)$")
_CONSTANT = re.compile(
    r"(?P<sign>-?)(?P<tilde>~?)(?P<bar>\|?)c\[0x(?P<bank>[0-9a-f]+)\]\[(?P<place>[^\]]+)\]\|?(?:\.\w+)*$"
)
_PART = re.compile(r"(?P<u>U?)R(?P<number>Z|\d+)(?P<rest>(?:\.\w+)*)$")


@lru_cache(maxsize=4096)
def operands_of(instruction: Instruction) -> tuple[Operand, ...]:
    """The operands in their order.

    Raises:
        NotFollowed: for one that is not known here.
    """
    return tuple(_operand(text, instruction) for text in _split(instruction.operands))


def _split(text: str) -> list[str]:
    """At commas, and before a label behind a register without a comma."""
    text = re.sub(r"desc\[[^\]]*\]", "", text)
    text = re.sub(r"(?<=[\w\]]) (?=`\()", ", ", text)
    return [part.strip() for part in text.split(",") if part.strip()]


def _operand(text: str, instruction: Instruction) -> Operand:
    text = text.replace(".reuse", "")
    if found := _PREDICATE.match(text):
        number = ALWAYS if found["number"] == "T" else int(found["number"])
        return Predicate(number, bool(found["u"]), bool(found["no"]))
    if found := _REGISTER.match(text):
        rest = found["rest"] + found["more"]
        half = 1 if ".H1" in rest else 0 if ".H0" in rest else None
        return Register(
            _number(found["number"]),
            bool(found["u"]),
            bool(found["sign"]),
            bool(found["bar"]),
            bool(found["tilde"]),
            half,
        )
    if found := _CONSTANT.match(text):
        return _constant(found)
    if text.startswith("`("):
        return Label(text[2:-1])
    if text.startswith("["):
        return _address(text[1:-1], instruction)
    if text.startswith(("SR_", "SRZ")) or re.fullmatch(r"S?B\d+|PR", text):
        return Special(text)
    try:
        found_number = WrittenNumber(text)
        _ = found_number.bits
    except (ValueError, OverflowError):
        raise NotFollowed(f"the operand {text} of {instruction}") from None
    return found_number


def _number(text: str) -> int:
    return ZERO if text == "Z" else int(text)


def _constant(found: re.Match[str]) -> Constant:
    offset, index = 0, None
    for part in found["place"].split("+"):
        if register := _PART.match(part):
            index = Register(_number(register["number"]), bool(register["u"]))
        else:
            offset += int(part, 16)
    signs = bool(found["sign"]), bool(found["bar"]), bool(found["tilde"])
    return Constant(int(found["bank"], 16), offset, index, *signs)


def _address(text: str, instruction: Instruction) -> Address:
    register, uniform, wide, scale, offset = None, None, False, 1, 0
    for part in text.replace("+-", "+ -").split("+"):
        part = part.strip()
        found = _PART.match(part)
        if found and found["u"]:
            uniform = Register(_number(found["number"]), True)
            wide |= ".64" in found["rest"]
        elif found:
            register = Register(_number(found["number"]))
            wide |= ".64" in found["rest"]
            times = re.search(r"\.X(\d+)", found["rest"])
            scale = int(times[1]) if times else 1
        else:
            try:
                offset += int(part, 16)
            except ValueError:
                raise NotFollowed(f"the address [{text}] of {instruction}") from None
    return Address(register, wide, scale, uniform, offset)


# --- The registers of many warps side by side -----------------------------------------------------


WARP = 32
LOW = np.uint64(0xFFFFFFFF)
WORD = np.uint64(32)


class LaneRegisters:
    """The registers of `count` lanes, 32 neighbours a warp.

    A uniform register, one for a whole warp, is kept in every lane of it.

    Attributes:
        active: the lanes that carry out the instruction at hand.
    """

    def __init__(self, count: int, registers: int, constants: Mapping[int, bytes]) -> None:
        self.count = count
        self._files = {
            False: np.zeros((registers, count), np.uint32),
            True: np.zeros((64, count), np.uint32),
        }
        self._predicates = {False: np.zeros((8, count), bool), True: np.zeros((8, count), bool)}
        for file in self._predicates.values():
            file[ALWAYS] = True
        self._constants = constants
        self.active = np.ones(count, bool)
        self._zero = np.zeros(1, np.uint32)

    # -- 32 bits ------------------------------------------------------------------------------

    def word(self, operand: Operand, above: int = 0) -> np.ndarray:
        """An operand's 32 bits as they are, without its sign; `above` words further on."""
        if isinstance(operand, Register):
            if operand.number == ZERO or (operand.uniform and operand.number == 63):
                return self._zero
            result: np.ndarray = self._files[operand.uniform][operand.number + above]
            return result
        if isinstance(operand, Constant):
            return self.constant(operand, above)
        if isinstance(operand, WrittenNumber):
            return np.array([operand.bits], np.uint32)
        raise NotFollowed(f"the operand {operand}")

    def constant(self, operand: Constant, above: int = 0) -> np.ndarray:
        """A word of a constant bank."""
        bank = self._constants.get(operand.bank)
        place = operand.offset + 4 * above
        if bank is None or operand.index is not None or not 0 <= place <= len(bank) - 4:
            raise NotFollowed(f"the constant c[{operand.bank:#x}][{operand.offset:#x}]")
        return np.frombuffer(bank, np.uint32, 1, place)

    def indexed_constant(self, operand: Constant) -> tuple[np.ndarray, np.ndarray]:
        """The bytes of a bank, and where in it each lane reads."""
        bank = self._constants.get(operand.bank)
        if bank is None:
            raise NotFollowed(f"constants of bank {operand.bank}")
        start = self.word(operand.index) if operand.index else self._zero
        return np.frombuffer(bank, np.uint8), start.astype(np.int64) + operand.offset

    def integer(self, operand: Operand) -> np.ndarray:
        """An operand as an unsigned integer, negated or inverted as it says; uint32."""
        value = self.word(operand)
        if isinstance(operand, Register | Constant):
            if operand.absolute:
                value = np.abs(value.view(np.int32)).view(np.uint32)
            if operand.inverted:
                value = ~value
            if operand.negated:
                value = np.uint32(0) - value
        return value

    def term(self, operand: Operand) -> np.ndarray:
        """An operand as a part of a sum that may carry: int64, with 2^32 - x for -x."""
        value = self.word(operand).astype(np.int64)
        if isinstance(operand, Register | Constant):
            if operand.inverted:
                value = np.int64(0xFFFFFFFF) - value
            if operand.negated:
                value = np.int64(1 << 32) - value
        return value

    def signed(self, operand: Operand) -> np.ndarray:
        """An operand as a signed integer: int64."""
        return self.integer(operand).view(np.int32).astype(np.int64)

    # -- 64 bits ------------------------------------------------------------------------------

    def pair(self, operand: Operand) -> np.ndarray:
        """64 bits from two neighbouring registers or words; uint64, negated as it says."""
        if isinstance(operand, WrittenNumber):
            return self.word(operand).astype(np.uint64)
        low, high = self.word(operand).astype(np.uint64), self.word(operand, 1).astype(np.uint64)
        value = low | (high << WORD)
        if isinstance(operand, Register | Constant) and operand.negated:
            value = np.uint64(0) - value
        return value

    # -- floats -------------------------------------------------------------------------------

    def float32(self, operand: Operand) -> np.ndarray:
        """An operand as float32."""
        if isinstance(operand, WrittenNumber):
            return np.array([operand.value], np.float32)
        return _signed(self.word(operand).view(np.float32), operand)

    def float64(self, operand: Operand) -> np.ndarray:
        """An operand as float64, from two registers."""
        if isinstance(operand, WrittenNumber):
            return np.array([operand.value], np.float64)
        bare = operand
        if isinstance(operand, Register):
            bare = Register(operand.number, operand.uniform)
        elif isinstance(operand, Constant):
            bare = Constant(operand.bank, operand.offset, operand.index)
        return _signed(self.pair(bare).view(np.float64), operand)

    def halves(self, operand: Operand) -> tuple[np.ndarray, np.ndarray]:
        """An operand as two float16, low and high."""
        word = self.word(operand)
        low = (word & np.uint32(0xFFFF)).astype(np.uint16).view(np.float16)
        high = (word >> np.uint32(16)).astype(np.uint16).view(np.float16)
        if isinstance(operand, Register) and operand.half is not None:
            low = high = (low, high)[operand.half]
        return _signed(low, operand), _signed(high, operand)

    # -- predicates ---------------------------------------------------------------------------

    def predicate(self, operand: Operand) -> np.ndarray:
        """A predicate of every lane."""
        if not isinstance(operand, Predicate):
            raise NotFollowed(f"{operand} as a predicate")
        value: np.ndarray = self._predicates[operand.uniform][operand.number]
        return ~value if operand.inverted else value

    def set_predicate(self, operand: Operand, value: np.ndarray) -> None:
        """Write a predicate in the active lanes."""
        assert isinstance(operand, Predicate)
        if operand.number != ALWAYS:
            where = self.whole_warps() if operand.uniform else self.active
            np.copyto(self._predicates[operand.uniform][operand.number], value, where=where)

    # -- results ------------------------------------------------------------------------------

    def whole_warps(self) -> np.ndarray:
        """All lanes of the warps that have an active one."""
        some = self.active.reshape(-1, WARP).any(axis=1)
        return np.repeat(some, WARP)

    def put(self, operand: Operand, value: np.ndarray, above: int = 0) -> None:
        """Write 32 bits into a register of the active lanes."""
        assert isinstance(operand, Register)
        if operand.number == ZERO or (operand.uniform and operand.number == 63):
            return
        bits = value if value.dtype == np.uint32 else _bits(value)
        where = self.whole_warps() if operand.uniform else self.active
        np.copyto(self._files[operand.uniform][operand.number + above], bits, where=where)

    def put_pair(self, operand: Operand, value: np.ndarray) -> None:
        """Write 64 bits into two registers."""
        bits = value.view(np.uint64)
        self.put(operand, (bits & LOW).astype(np.uint32))
        self.put(operand, (bits >> WORD).astype(np.uint32), 1)


def _bits(value: np.ndarray) -> np.ndarray:
    if value.dtype in (np.float32, np.int32):
        return value.view(np.uint32)
    return (value.astype(np.int64) & np.int64(0xFFFFFFFF)).astype(np.uint32)


def _signed(value: np.ndarray, operand: Operand) -> np.ndarray:
    if isinstance(operand, Register | Constant):
        if operand.absolute:
            value = np.abs(value)
        if operand.negated:
            value = -value
    return value
