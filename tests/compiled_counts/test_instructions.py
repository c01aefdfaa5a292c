"""What single machine instructions do; what is said where a launch can't be counted."""

import math
import random
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from every_case import every_case

import course_lib
from course_lib.compiled_counts import NotCounted, launch
from course_lib.compiled_counts.launch import lay_out
from course_lib.compiled_counts.operands import (
    LaneRegisters,
    NotFollowed,
    Predicate,
    Register,
    operands_of,
)
from course_lib.compiled_counts.walker import OPERATIONS, prepare
from course_lib.emulator import EmulatorError, KeptLaunch, Profile, copies_of
from course_lib.host import runtime
from course_lib.machine_code import CompilerMissing, Instruction

LOW = 0xFFFFFFFF
EDGES = (0, 1, 2, 5, 31, 0x7FFFFFFF, 0x80000000, 0x80000001, 0xFFFFFFFE, 0xFFFFFFFF)
LANES = 64


def words(seed: int) -> list[int]:
    """64 words with edges among them."""
    draw = random.Random(seed)
    return [draw.choice(EDGES) if draw.random() < 0.5 else draw.getrandbits(32)
            for _ in range(LANES)]  # fmt: skip


class Warps:
    """Registers R2, R3, … and predicates P0, P1 with given or drawn contents; R20… are results."""

    def __init__(self) -> None:
        self.registers = LaneRegisters(LANES, 32, {0: bytes(256)})
        self.held: dict[int, list[int]] = {}
        for number in range(2, 10):
            self.put(number, words(number))
        self.bits = [
            [random.Random(40 + number + lane).random() < 0.5 for lane in range(LANES)]
            for number in range(2)
        ]
        for number, values in enumerate(self.bits):
            self.registers.set_predicate(Predicate(number), np.array(values))

    def put(self, number: int, values: list[int]) -> None:
        self.held[number] = values
        self.registers.put(Register(number), np.array(values, np.uint32))

    def do(self, text: str) -> None:
        opcode, _, operands = text.partition(" ")
        ready = prepare(Instruction(0, "", opcode, operands))
        OPERATIONS[ready.name](self.registers, ready.how, ready.operands)

    def result(self, number: int = 20) -> list[int]:
        held = self.registers.word(Register(number))
        return [int(each) for each in np.broadcast_to(held, (LANES,))]

    def predicate(self, number: int) -> list[bool]:
        return [bool(each) for each in self.registers.predicate(Predicate(number))]


def signed(word: int, bits: int = 32) -> int:
    return word - (1 << bits) if word >> (bits - 1) else word


def funnel(high: int, low: int) -> int:
    return high << 32 | low


# The instruction with R20 as its result, and what it should be from R2, R3, R4, R5, P0 and P1.
Expected = Callable[[int, int, int, int, bool, bool], int]
RESULTS: dict[str, Expected] = {
    "IADD3 R20, R2, R3, R4": lambda a, b, c, d, p, q: a + b + c,
    "IADD3 R20, R2, -R3, RZ": lambda a, b, c, d, p, q: a - b,
    "IADD3.X R20, R2, ~R3, RZ, P0, !PT": lambda a, b, c, d, p, q: a + (LOW - b) + p,
    "IADD3.X R20, R2, R3, R4, P0, P1": lambda a, b, c, d, p, q: a + b + c + p + q,
    "VIADD R20, R2, 0xfffffffe": lambda a, b, c, d, p, q: a - 2,
    "IMAD R20, R2, R3, R4": lambda a, b, c, d, p, q: a * b + c,
    "IMAD.MOV R20, RZ, RZ, -R2": lambda a, b, c, d, p, q: -a,
    "IMAD.X R20, R2, 0x1, R3, P0": lambda a, b, c, d, p, q: a + b + p,
    "IMAD.HI.U32 R20, R2, R3, R4": lambda a, b, c, d, p, q: (a * b + funnel(d, c)) >> 32,
    "IMAD.HI R20, R2, R3, RZ": lambda a, b, c, d, p, q: (signed(a) * signed(b)) >> 32,
    "LEA R20, R2, R3, 0x4": lambda a, b, c, d, p, q: (a << 4) + b,
    "LEA.HI R20, R2, R3, RZ, 0x5": lambda a, b, c, d, p, q: (a >> 27) + b,
    "LEA.HI.X R20, R2, R3, R4, 0x2, P0": lambda a, b, c, d, p, q: (
        ((funnel(c, a) << 2) >> 32) + b + p
    ),
    "LEA.HI.X.SX32 R20, R2, R3, 0x3, P0": lambda a, b, c, d, p, q: (signed(a) << 3 >> 32) + b + p,
    "LOP3.LUT R20, R2, R3, R4, 0xc0, !PT": lambda a, b, c, d, p, q: a & b,
    "LOP3.LUT R20, R2, R3, R4, 0xfe, !PT": lambda a, b, c, d, p, q: a | b | c,
    "LOP3.LUT R20, R2, R3, R4, 0x96, !PT": lambda a, b, c, d, p, q: a ^ b ^ c,
    "LOP3.LUT R20, R2, R3, R4, 0xca, !PT": lambda a, b, c, d, p, q: a & b | ~a & c,
    "LOP3.LUT R20, RZ, R3, RZ, 0x33, !PT": lambda a, b, c, d, p, q: ~b,
    "SHF.R.S32.HI R20, RZ, 0x1f, R2": lambda a, b, c, d, p, q: signed(a) >> 31,
    "SHF.R.U32.HI R20, RZ, 0x7, R2": lambda a, b, c, d, p, q: a >> 7,
    "SHF.R.U64 R20, R2, 0x6, R3": lambda a, b, c, d, p, q: funnel(b, a) >> 6,
    "SHF.L.U32 R20, R2, R3, RZ": lambda a, b, c, d, p, q: a << b if b < 32 else 0,
    "SHF.L.U64.HI R20, R2, 0x3, R3": lambda a, b, c, d, p, q: funnel(b, a) << 3 >> 32,
    "SEL R20, R2, R3, !P0": lambda a, b, c, d, p, q: b if p else a,
    "IMNMX R20, R2, R3, PT": lambda a, b, c, d, p, q: min(signed(a), signed(b)),
    "VIMNMX.U32 R20, R2, R3, !PT": lambda a, b, c, d, p, q: max(a, b),
    "IABS R20, R2": lambda a, b, c, d, p, q: abs(signed(a)),
    "POPC R20, R2": lambda a, b, c, d, p, q: a.bit_count(),
    "BREV R20, R2": lambda a, b, c, d, p, q: int(f"{a:032b}"[::-1], 2),
    "FLO.U32 R20, R2": lambda a, b, c, d, p, q: a.bit_length() - 1 if a else LOW,
    "PRMT R20, R2, 0x5410, R3": lambda a, b, c, d, p, q: a & 0xFFFF | (b & 0xFFFF) << 16,
    "PRMT R20, R2, 0x8880, RZ": lambda a, b, c, d, p, q: a & 0xFF | (0xFFFFFF00 if a & 0x80 else 0),
    "SGXT R20, R2, 0x10": lambda a, b, c, d, p, q: signed(a & 0xFFFF, 16),
    "BMSK R20, RZ, 0x5": lambda a, b, c, d, p, q: 31,
}


@every_case("text, expected", RESULTS.items(), ids=str)
def test_a_result_is_that_of_unbounded_integers(text: str, expected: Expected) -> None:
    warps = Warps()
    warps.do(text)
    for lane, found in enumerate(warps.result()):
        a, b, c, d = (warps.held[number][lane] for number in (2, 3, 4, 5))
        p, q = (held[lane] for held in warps.bits)
        assert found == expected(a, b, c, d, p, q) & LOW, (lane, a, b, c, d, p, q)


PAIRS: dict[str, Callable[[int, int, int], int]] = {
    "IMAD.WIDE R20, R2, R3, R4": lambda a, b, c: signed(a) * signed(b) + c,
    "IMAD.WIDE.U32 R20, R2, R3, R4": lambda a, b, c: a * b + c,
    "IMAD.WIDE.U32 R20, R2, 0x10, R4": lambda a, b, c: a * 16 + c,
}


@every_case("text, expected", PAIRS.items(), ids=str)
def test_a_wide_product_fills_two_registers(
    text: str, expected: Callable[[int, int, int], int]
) -> None:
    warps = Warps()
    warps.do(text)
    for lane, found in enumerate(zip(warps.result(20), warps.result(21), strict=True)):
        a, b, c, d = (warps.held[number][lane] for number in (2, 3, 4, 5))
        assert funnel(found[1], found[0]) == expected(a, b, funnel(d, c)) & (1 << 64) - 1


def test_carries_make_sums_of_64_bits() -> None:
    """How compilers add and subtract pairs, with the carry in a predicate between the two."""
    warps = Warps()
    warps.do("IADD3 R20, P2, R2, R4, RZ")
    warps.do("IADD3.X R21, R3, R5, RZ, P2, !PT")
    warps.do("IADD3 R22, P3, R2, -R4, RZ")
    warps.do("IADD3.X R23, R3, ~R5, RZ, P3, !PT")
    for lane in range(LANES):
        a, b, c, d = (warps.held[number][lane] for number in (2, 3, 4, 5))
        left, right = funnel(b, a), funnel(d, c)
        found = [warps.result(number)[lane] for number in (20, 21, 22, 23)]
        assert funnel(found[1], found[0]) == (left + right) & (1 << 64) - 1
        assert funnel(found[3], found[2]) == (left - right) & (1 << 64) - 1


COMPARISONS = {"LT": int.__lt__, "LE": int.__le__, "GT": int.__gt__, "GE": int.__ge__,
               "EQ": int.__eq__, "NE": int.__ne__}  # fmt: skip


@every_case("name, holds", COMPARISONS.items(), ids=str)
def test_two_comparisons_make_one_of_64_bits(name: str, holds: Callable[[int, int], bool]) -> None:
    warps = Warps()
    same = [b if lane % 3 else d for lane, (b, d) in enumerate(zip(warps.held[3], warps.held[5],
                                                                  strict=True))]  # fmt: skip
    warps.put(5, same)
    warps.do(f"ISETP.{name}.U32.AND P2, PT, R2, R4, PT")
    warps.do(f"ISETP.{name}.AND.EX P3, P4, R3, R5, PT, P2")
    for lane in range(LANES):
        a, b, c, d = (warps.held[number][lane] for number in (2, 3, 4, 5))
        expected = holds(signed(funnel(b, a), 64), signed(funnel(d, c), 64))
        assert warps.predicate(3)[lane] == expected, lane
        assert warps.predicate(4)[lane] == (not expected)


def test_every_table_of_three_predicates() -> None:
    for table in range(256):
        warps = Warps()
        warps.do(f"PLOP3.LUT P2, P3, P0, P1, !P0, {table:#x}, 0x0")
        for lane in range(0, LANES, 7):
            p, q = (held[lane] for held in warps.bits)
            row = p << 2 | q << 1 | (not p)
            assert warps.predicate(2)[lane] == bool(table >> row & 1)
            assert not warps.predicate(3)[lane]


def test_a_multiply_add_is_rounded_once() -> None:
    warps = Warps()
    a, b, c = np.float32(1 + 2**-12), np.float32(1 + 2**-12), np.float32(-1)
    for number, value in ((2, a), (3, b), (4, c)):
        warps.put(number, [int(value.view(np.uint32))] * LANES)
    warps.do("FFMA R20, R2, R3, R4")
    found = np.uint32(warps.result()[0]).view(np.float32)
    assert found == np.float32(float(a) * float(b) - 1.0) != a * b + c


@every_case("text, word, expected", [
    ("I2F.U32.RP R20, R2", 0xFFFFFFFF, 2.0**32),
    ("I2FP.F32.S32 R20, R2", 0xFFFFFFFF, -1.0),
    ("MUFU.RSQ R20, 4", 0, 0.5),
    ("FADD R20, -RZ, |R2|", 0xC0000000, 2.0),
    ("FFMA.SAT R20, R2, 1, 0.5", 0x40000000, 1.0),
    ("FSEL R20, R2, +INF, !PT", 0, math.inf),
], ids=str)  # fmt: skip
def test_floats(text: str, word: int, expected: float) -> None:
    warps = Warps()
    warps.put(2, [word] * LANES)
    warps.do(text)
    assert np.uint32(warps.result()[0]).view(np.float32) == np.float32(expected)


@every_case("text, value, expected", [
    ("F2I.TRUNC.NTZ R20, R2", -2.7, -2),
    ("F2I.U32.TRUNC.NTZ R20, R2", -2.7, 0),
    ("F2I.FLOOR.NTZ R20, R2", -2.7, -3),
    ("F2I.TRUNC.NTZ R20, R2", 1e20, 2**31 - 1),
], ids=str)  # fmt: skip
def test_a_float_becomes_an_integer(text: str, value: float, expected: int) -> None:
    warps = Warps()
    warps.put(2, [int(np.float32(value).view(np.uint32))] * LANES)
    warps.do(text)
    assert warps.result()[0] == expected & LOW


@every_case("text, source", [
    ("SHFL.DOWN PT, R20, R2, 0x10, 0x1f", lambda lane: lane + 16 if lane < 16 else lane),
    ("SHFL.UP PT, R20, R2, 0x3, RZ", lambda lane: lane - 3 if lane >= 3 else lane),
    ("SHFL.BFLY PT, R20, R2, 0x5, 0x1f", lambda lane: lane ^ 5),
    ("SHFL.IDX PT, R20, R2, 0x2, 0x181f", lambda lane: lane // 8 * 8 + 2),
], ids=str)  # fmt: skip
def test_a_shuffle_stays_within_its_warp(text: str, source: Callable[[int], int]) -> None:
    warps = Warps()
    warps.do(text)
    for lane, found in enumerate(warps.result()):
        assert found == warps.held[2][lane // 32 * 32 + source(lane % 32)]


def test_a_uniform_register_belongs_to_the_whole_warp() -> None:
    warps = Warps()
    warps.registers.active = np.arange(LANES) % 32 >= 4
    warps.do("R2UR UR4, R2")
    held = warps.registers.word(Register(4, uniform=True))
    assert [int(held[0]), int(held[40])] == [warps.held[2][4], warps.held[2][36]]


def test_inactive_lanes_keep_their_registers() -> None:
    warps = Warps()
    warps.put(20, [7] * LANES)
    warps.registers.active = np.arange(LANES) < 5
    warps.do("MOV R20, 0x9")
    assert warps.result() == [9] * 5 + [7] * 59


def test_operands_as_disassemblers_write_them() -> None:
    text = "desc[UR4][R2.64+-0x10], -R5.reuse, |R6|, c[0x0][0x210], !P1, UP0, `(.L_x_1), SR_TID.X"
    address, minus, bars, constant, not_p, uniform, label, special = operands_of(
        Instruction(0, "", "X", text)
    )
    assert (address.register, address.wide, address.offset) == (Register(2), True, -16)
    assert (minus.negated, bars.absolute, constant.offset) == (True, True, 0x210)
    assert (not_p.inverted, uniform.uniform, label.name) == (True, True, ".L_x_1")
    assert special.name == "SR_TID.X"


def test_what_is_not_known_is_named() -> None:
    with pytest.raises(NotFollowed, match=r"\?strange"):
        operands_of(Instruction(0, "", "MOV", "R2, ?strange"))


pytest.importorskip("numba")


def double(data):
    i = cuda.threadIdx.x  # noqa: F821
    data[i] = 2 * data[i]


def launched(size: int = 32, block: int = 32) -> Any:
    from numba import cuda

    double.__globals__["cuda"] = cuda
    return course_lib.emulate(double)[1, block](np.ones(size, np.float32))


def test_without_a_compiler_the_sentence_names_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    def none(*_: Any) -> None:
        raise CompilerMissing("Compiling a kernel needs numba-cuda: pip install it.")

    monkeypatch.setattr(launch, "compile_kernel", none)
    with pytest.raises(CompilerMissing, match="pip install"):
        launched().as_compiled("9.0")


def test_without_a_disassembler_the_compiler_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    lacks = SimpleNamespace(sass=None, note="The instruction mix needs nvdisasm: pip install it.")
    monkeypatch.setattr(launch, "compile_kernel", lambda *_: {(): lacks})
    monkeypatch.setattr(launch, "find_tool", lambda name: None)
    with pytest.raises(CompilerMissing, match=r"^Counting machine code needs nvdisasm"):
        launched().as_compiled("9.0")


def test_a_launch_that_was_not_kept_says_how_to_keep_one() -> None:
    with pytest.raises(EmulatorError, match=r"course_lib\.emulate\(k\)\[grid, block\]"):
        Profile(kernel_name="k").as_compiled("9.0")


def test_large_arrays_are_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runtime, "KEPT_BYTES", 100)
    with pytest.raises(NotCounted, match="too large to keep"):
        launched().as_compiled("9.0")


def test_a_launch_with_errors_is_not_counted() -> None:
    with pytest.raises(NotCounted, match=r"has errors.*profile\.findings"):
        launched(size=16).as_compiled("9.0")


def test_arguments_are_kept_as_they_were_and_one_given_twice_stays_one() -> None:
    data, other = np.zeros((2, 3), order="F"), np.ones(2)
    first, second, inside, number = copies_of((data, data, (other, 5), 7))
    data[:] = 9
    assert first is second and not first.any() and first.flags.f_contiguous
    assert number == 7 and inside[1] == 5 and inside[0] is not other


def test_parameters_lie_as_numba_passes_them() -> None:
    matrix = np.arange(6, dtype=np.float32).reshape(2, 3)
    launch = lay_out((np.int8(-1), matrix, 5, True), (9, 0), (2, 1, 1), (32, 4, 1), {})
    bank = launch.constants[0][0x210:]
    words = np.frombuffer(bank, np.int64, 11)
    assert bank[0] == 255 and list(words[3:5]) == [6, 4]
    assert list(words[6:10]) == [2, 3, 12, 4] and words[10] == 5 and bank[88] == 1
    assert list(np.frombuffer(launch.constants[0], np.uint32, 6)) == [32, 4, 1, 2, 1, 1]
    assert np.array_equal(launch.array(1), matrix)


def test_an_array_with_gaps_is_refused() -> None:
    with pytest.raises(NotFollowed, match="one piece"):
        lay_out((np.zeros((4, 4))[:, ::2],), (9, 0), (1, 1, 1), (1, 1, 1), {})


def test_a_kept_launch_counts_what_it_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    """The profile hands on its own launch, itself and the compute capability."""
    seen: list[Any] = []
    monkeypatch.setattr("course_lib.compiled_counts.count", lambda *given: seen.append(given))
    profile = launched()
    profile.as_compiled("8.6")
    kept, whose, cc = seen[0]
    assert isinstance(kept, KeptLaunch) and whose is profile and cc == "8.6"
    assert (kept.block, kept.arguments[0].sum()) == ((32, 1, 1), 32)
