"""Read an instruction's operands: registers, predicates, constants, numbers and addresses."""

from __future__ import annotations

import re
import struct
from dataclasses import dataclass
from functools import lru_cache

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
    """A number as it stands there; `text` tells an integer from a float."""

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
    """The operands in the order in which they stand.

    Raises:
        NotFollowed: for one that is not known here.
    """
    return tuple(_operand(text, instruction) for text in _split(instruction.operands))


def _split(text: str) -> list[str]:
    """At commas, and before a label that stands behind a register without one."""
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
