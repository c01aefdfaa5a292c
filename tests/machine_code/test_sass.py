"""Loops are found in the control flow, whatever the code between looks like."""

import pytest

from course_lib.machine_code import sass
from course_lib.machine_code.report import kind_of, mix_of, width_of
from course_lib.machine_code.sass import Instruction


def code(*rows: str) -> sass.Disassembly:
    """Rows as nvdisasm prints them, without addresses; a row that ends in ':' is a label."""
    lines, address = ["//---------- .text.other ----------", "/*0000*/ FFMA R9, R9, R9, R9 ;"], 0
    lines.append("//---------- .text.kernel ----------")
    for row in rows:
        if row.endswith(":") or row.startswith("//##"):
            lines.append(row)
        else:
            lines.append(f"        /*{address:04x}*/                   {row} ;")
            address += 16
    lines += ["//---------- .text.after ----------", "/*0000*/ FFMA R9, R9, R9, R9 ;"]
    return sass.parse("\n".join(lines), "kernel")


def opcodes(*rows: str) -> list[str]:
    return [each.opcode for each in sass.hot_loop(code(*rows))]


def test_only_the_kernels_own_section_is_read():
    parsed = code(".L_x_0:", '//## File "/a b/k.py", line 7', "@!P0 BRA `(.L_x_0)", "EXIT")
    assert [str(each) for each in parsed.instructions] == ["@!P0 BRA `(.L_x_0)", "EXIT"]
    assert parsed.labels == {".L_x_0": 0}
    assert {(each.file, each.line) for each in parsed.instructions} == {("/a b/k.py", 7)}
    assert [each.address for each in parsed.instructions] == [0, 16]


def test_the_loop_with_more_multiply_adds_is_hot():
    found = opcodes(
        "MOV R1, RZ",
        ".L_x_0:",  # longer, one multiply-add
        *["IADD3 R1, R1, 1, RZ"] * 9,
        "FFMA R0, R1, R2, R0",
        "@P0 BRA `(.L_x_0)",
        ".L_x_1:",  # shorter, two
        *["FFMA R0, R1, R2, R0"] * 2,
        "@P1 BRA `(.L_x_1)",
        "EXIT",
    )
    assert found == ["FFMA", "FFMA", "BRA"]


def test_an_outer_loop_is_counted_without_the_inner_one():
    rows = (
        ".L_x_0:",
        "LDG.E R2, [R4]",
        ".L_x_1:",  # a loop that copies
        "STS [R3], R2",
        "@P1 BRA `(.L_x_1)",
        *["FFMA R0, R1, R2, R0"] * 4,
        "@P0 BRA `(.L_x_0)",
        "EXIT",
    )
    assert opcodes(*rows) == ["LDG.E", "FFMA", "FFMA", "FFMA", "FFMA", "BRA"]
    outer, inner = sorted(sass.loops(code(*rows)), key=lambda loop: loop.head)
    assert inner.members < outer.members
    assert not set(outer.own) & inner.members


def test_the_loop_within_is_hot_where_the_one_around_it_holds_a_trip_written_out():
    def nested(inside: int) -> list[str]:
        return opcodes(
            ".L_x_0:",
            *["HGMMA.64x256x16.F32.BF16 R0, R1, R2, R0"] * 5,  # the first trip, and the last
            ".L_x_1:",
            *["HGMMA.64x256x16.F32.BF16 R0, R1, R2, R0"] * inside,
            "@P1 BRA `(.L_x_1)",
            "@P0 BRA `(.L_x_0)",
            "EXIT",
        )

    assert len(nested(4)) == 4 + 1
    assert len(nested(2)) == 5 + 1  # a loop with less to do than what is around it


def test_padding_after_the_end_is_no_loop():
    rows = ("FADD R0, R1, R2", "EXIT", ".L_x_0:", "BRA `(.L_x_0)", "NOP")
    assert opcodes(*rows) == []
    assert [each.opcode for each in sass.reachable(code(*rows))] == ["FADD", "EXIT"]


def test_a_guarded_exit_goes_on():
    found = opcodes(".L_x_0:", "@P0 EXIT", "FFMA R0, R1, R2, R0", "BRA `(.L_x_0)")
    assert found == ["EXIT", "FFMA", "BRA"]


def test_a_meeting_point_may_lie_elsewhere():
    found = opcodes(
        ".L_x_0:",
        "BSSY.RECONVERGENT B1, `(.L_x_1)",
        "@P0 BRA `(.L_x_2)",
        ".L_x_1:",
        "FFMA R0, R1, R2, R0",
        "@P1 BRA `(.L_x_0)",
        "EXIT",
        ".L_x_2:",
        "FADD R0, R0, R1",
        "BSYNC.RECONVERGENT B1",
    )
    assert found == ["BSSY.RECONVERGENT", "BRA", "FFMA", "BRA", "FADD", "BSYNC.RECONVERGENT"]


@pytest.mark.parametrize(
    ("text", "kind", "width"),
    [
        ("FFMA R0, R1, R2, R0", "FFMA", 32), ("LDS.U.128 R12, [R34]", "shared load", 128),
        ("LDS R4, [R31]", "shared load", 32), ("LDS.U8 R4, [R31]", "shared load", 8),
        ("LDG.E.128.SYS R4, [R31]", "global load", 128), ("LDG.E.64 R4, [R31]", "global load", 64),
        ("LDGSTS.E.BYPASS.LTC128B.128 [R1], [R2.64]", "LDGSTS", 128),
        ("LDSM.M88.4 R4, [R8]", "LDSM", 32), ("HMMA.16816.F32 R4, R8, R12, R4", "HMMA", 32),
        ("IMAD.MOV.U32 R1, RZ, RZ, R2", "move", 32),
        ("IMAD.WIDE.U32 R2, R3, R4, RZ", "integer", 32),
        ("ULOP3.LUT UR4, UR5, UR6, URZ, 0xc0, !UPT", "integer", 32),
        ("UIADD3.X UR6, UR5, 0x1, URZ", "integer", 32), ("HFMA2 R1, -RZ, RZ, 0, 0", "move", 32),
        ("HFMA2 R1, R2, R3, R1", "float16", 32), ("DFMA R2, R4, R6, R2", "float64", 32),
        ("STL [R1], R2", "local", 32), ("BAR.SYNC.DEFER_BLOCKING 0x0", "control", 32),
        ("TEX R0, R1", "other", 32),
    ],
)  # fmt: skip
def test_what_an_instruction_is_for(text: str, kind: str, width: int):
    (found,) = code(text).instructions
    assert (kind_of(found), width_of(found)) == (kind, width)


def test_the_mix_adds_up():
    mix = mix_of(
        code(
            *["FFMA R0, R1, R2, R0"] * 4,
            "FFMA2 R0, R2, R4, R0",
            *["LDS R1, [R2]"] * 2,
            "LDS.128 R4, [R2]",
            "LDG.E.128 R8, [R2]",
            "LDGSTS.E.128 [R1], [R2]",
            "LDSM.16.M88.4 R4, [R8]",
            "HMMA.1688.F32 R4, R8, R12, R4",
            "IADD3 R1, R1, 1, RZ",
            "BRA.U UP0, `(.L)",
            "STS.64 [R1], R2",
        ).instructions
    )
    assert mix.total == 15 == sum(mix.kinds.values()) == sum(mix.opcodes.values())
    assert mix.ffma == 6  # FFMA2 works on two
    assert dict(mix.lds) == {32: 2, 128: 1}
    assert dict(mix.ldg) == {128: 1}
    assert dict(mix.widths["shared store"]) == {64: 1}
    assert (mix.integer, mix.hmma, mix.ldgsts, mix.other) == (1, 1, 1, 2)
    assert mix.instructions_per_ffma == 15 / 6
    assert mix.lds_per_ffma == 3 / 6
    assert mix_of((Instruction(0, "", "EXIT", ""),)).instructions_per_ffma is None
