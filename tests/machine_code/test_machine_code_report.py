"""The report says what is missing in one sentence, and reads what ptxas and nvdisasm say."""

import numpy as np
import pytest
from every_case import every_case

import course_lib
from course_lib.machine_code import (
    CompileFailed,
    CompilerMissing,
    compiler,
    front_ends,
    missing,
    report,
    sass,
)
from course_lib.machine_code.front_ends import NUMBA, NumbaFrontEnd
from course_lib.machine_code.report import kind_of, mix_of, width_of
from course_lib.machine_code.sass import Instruction

LOG = """\
ptxas info    : 8 bytes gmem, 8 bytes cmem[4]
ptxas info    : Compiling entry function 'other' for 'sm_75'
ptxas info    : Function properties for other
    16 bytes stack frame, 12 bytes spill stores, 8 bytes spill loads
ptxas info    : Used 255 registers, used 0 barriers, 512 bytes smem, 568 bytes cmem[0]
ptxas info    : Compiling entry function 'kernel' for 'sm_75'
ptxas info    : Function properties for helper
    0 bytes stack frame, 4 bytes spill stores, 4 bytes spill loads
ptxas info    : Function properties for kernel
    32 bytes stack frame, 24 bytes spill stores, 20 bytes spill loads
ptxas info    : Used 48 registers, used 1 barriers, 8192 bytes smem, 568 bytes cmem[0]
ptxas info    : Compile time = 15.393 ms
"""


def a_kernel(A):
    A[0] = 1


def test_ptxas_is_read_for_the_kernel_that_is_meant():
    assert report.resources(LOG, "kernel") == {
        "registers": 48, "static_shared_bytes": 8192, "stack_bytes": 32, "spill_store_bytes": 24,
        "spill_load_bytes": 20,
    }  # fmt: skip
    assert report.resources(LOG, "other")["registers"] == 255
    without = report.resources(LOG.replace(" 8192 bytes smem,", ""), "kernel")
    assert without["static_shared_bytes"] == 0


def test_spellings_of_a_compute_capability():
    assert {*map(compiler.capability, ["7.5", "sm_75", "sm75", (7, 5)])} == {(7, 5)}
    assert compiler.capability("10.0") == compiler.capability("sm_100") == (10, 0)
    with pytest.raises(CompileFailed, match="A compute capability looks like"):
        compiler.capability("75")


def test_without_numbas_compiler_one_sentence_names_the_package(monkeypatch):
    def no_compiler(self):
        raise CompilerMissing(f"No NVVM: {front_ends.GET_COMPILER}.")

    monkeypatch.setattr(NumbaFrontEnd, "load", no_compiler)
    with pytest.raises(CompilerMissing, match=r"numba-cuda\[cu12\]") as caught:
        course_lib.compile_report(a_kernel, "void(float32[::1])")
    assert caught.value._render_traceback_() == [str(caught.value)]
    assert "numba-cuda[cu12]" in missing()


def test_what_numba_itself_says_is_part_of_the_sentence(monkeypatch):
    def broken(self):
        raise ImportError("libnvvm.so: cannot open shared object file\nand more")

    monkeypatch.setattr(front_ends.probe.ThisMachine, "load_cuda", broken)
    said = missing()
    assert "libnvvm.so: cannot open shared object file" in said
    assert "and more" not in said
    assert front_ends.GET_COMPILER in said


def test_without_ptxas_too(monkeypatch):
    monkeypatch.setattr(NumbaFrontEnd, "load", lambda self: None)
    monkeypatch.setattr(compiler, "find_tool", lambda name: None)
    assert compiler.GET_PTXAS in missing()


def test_tools_are_looked_for_in_packages_first(monkeypatch, tmp_path):
    class Spec:
        submodule_search_locations = (str(tmp_path),)

    for folder in ("cuda_nvcc", "cu13"):
        tool = tmp_path / folder / "bin" / "ptxas"
        tool.parent.mkdir(parents=True)
        tool.write_text("")
        tool.chmod(0o755)
    monkeypatch.setattr(compiler.importlib.util, "find_spec", lambda name: Spec)
    assert compiler.find_tool("ptxas") == str(tmp_path / "cu13" / "bin" / "ptxas")
    assert compiler.find_tool("no-such-tool") is None


@pytest.mark.parametrize(("kernel", "signature", "reason"), [
    (3, "void(float32[::1])", "Only a Python function or a @cuda.jit kernel"),
    (a_kernel, "void(float32[::1]", "can't read the signature"),
    (a_kernel, "int32(float32[::1])", "A kernel returns nothing"),
    (a_kernel, np.zeros(3), "a tuple with a type or an example"),
])  # fmt: skip
def test_what_cannot_be_compiled_is_refused_in_a_sentence(monkeypatch, kernel, signature, reason):
    monkeypatch.setattr(NumbaFrontEnd, "load", lambda self: None)
    with pytest.raises(CompileFailed, match=reason):
        course_lib.compile_report(kernel, signature)


def test_signatures_in_every_spelling():
    from numba import float32, types, void

    wanted = (types.Array(types.float32, 2, "C"), types.int64)
    assert NUMBA.argument_types("void(float32[:, ::1], int64)") == wanted
    assert NUMBA.argument_types("(float32[:, ::1], int64)") == wanted
    assert NUMBA.argument_types(void(float32[:, ::1], types.int64)) == wanted
    assert NUMBA.argument_types((float32[:, ::1], 3)) == wanted
    assert NUMBA.argument_types((np.zeros((2, 2), np.float32), 3)) == wanted
    (fortran, strided) = NUMBA.argument_types(
        [np.zeros((2, 3), np.float32, order="F"), np.zeros((6, 6))[::2, ::2]]
    )
    assert (fortran.layout, strided.layout, str(strided.dtype)) == ("F", "A", "float64")


@pytest.mark.parametrize(
    ("shape", "strides", "layout"),
    [((4, 3), None, "C"), ((4, 3), (4, 16), "F"), ((4, 3), (64, 8), "A")],
)
def test_an_array_on_a_device_is_described_without_copying(shape, strides, layout):
    class OnDevice:
        __cuda_array_interface__ = {"shape": shape, "typestr": "<f4", "strides": strides}  # noqa: RUF012

    (found,) = NUMBA.argument_types((OnDevice(),))
    assert (found.ndim, found.layout, str(found.dtype)) == (2, layout, "float32")


def made(**changes: object) -> report.CompileReport:
    loop = tuple(
        Instruction(16 * at, "", opcode, "R0, R1, R2, R0", __file__, 1 + at // 4)
        for at, opcode in enumerate(["LDS.128", *["FFMA"] * 5, "IADD3", "IADD3", "BRA"])
    )
    fields = {
        "kernel": "k", "arguments": "(float32,)", "cc": "7.5", "registers": 40,
        "static_shared_bytes": 8192, "stack_bytes": 0, "spill_store_bytes": 24,
        "spill_load_bytes": 20, "mix": report.mix_of(loop), "loop": loop, "note": "",
        "versions": "some compilers", "code": loop,
    }  # fmt: skip
    return report.CompileReport(**(fields | changes))


def test_the_text_holds_every_number(capsys):
    made().show()
    said = capsys.readouterr().out
    for part in (
        "k for sm_75, some compilers",
        "40 registers · 8192 B static shared memory · 0 B stack",
        "24 B stored, 20 B loaded",
        "9 instructions a trip, 5 FFMA: 1.80 instructions per FFMA",
        "FFMA 5 · integer 2 · shared load 1 · control 1",
        "and 4 more",
        '4     1  """The report says what is missing',
    ):
        assert part in said, part


def test_a_long_listing_is_cut():
    whole = made().text(rows=None).splitlines()
    short = made().text(rows=3).splitlines()
    assert "rows more: report.show(rows=None)" in short[-1]
    assert len(short) < len(whole)


def test_without_a_disassembler_the_rest_still_stands():
    text = made(mix=None, loop=(), code=(), note="The instruction mix needs nvdisasm.").text()
    assert "40 registers" in text
    assert text.endswith("The instruction mix needs nvdisasm.")


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


def test_only_the_kernels_own_section_is_read():
    parsed = code(".L_x_0:", '//## File "/a b/k.py", line 7', "@!P0 BRA `(.L_x_0)", "EXIT")
    assert [str(each) for each in parsed.instructions] == ["@!P0 BRA `(.L_x_0)", "EXIT"]
    assert parsed.labels == {".L_x_0": 0}
    assert {(each.file, each.line) for each in parsed.instructions} == {("/a b/k.py", 7)}
    assert [each.address for each in parsed.instructions] == [0, 16]


FFMA, HGMMA = "FFMA R0, R1, R2, R0", "HGMMA.64x256x16.F32.BF16 R0, R1, R2, R0"
WITHIN = [
    ".L_x_0:", "LDG.E R2, [R4]", ".L_x_1:", "STS [R3], R2", "@P1 BRA `(.L_x_1)", *[FFMA] * 4,
    "@P0 BRA `(.L_x_0)", "EXIT",
]  # fmt: skip
PADDED = ["FADD R0, R1, R2", "EXIT", ".L_x_0:", "BRA `(.L_x_0)", "NOP"]


def nested(inside: int) -> list[str]:
    """A loop within one that holds five products: the first trip, and the last, written out."""
    inner = [".L_x_1:", *[HGMMA] * inside, "@P1 BRA `(.L_x_1)"]
    return [".L_x_0:", *[HGMMA] * 5, *inner, "@P0 BRA `(.L_x_0)", "EXIT"]


# Rows of machine code, and the instructions of the hot loop.
HOT = {
    "the shorter loop with more multiply-adds": (
        ["MOV R1, RZ", ".L_x_0:", *["IADD3 R1, R1, 1, RZ"] * 9, FFMA, "@P0 BRA `(.L_x_0)",
         ".L_x_1:", FFMA, FFMA, "@P1 BRA `(.L_x_1)", "EXIT"], "FFMA FFMA BRA"),
    "an outer loop without the one that copies": (WITHIN, "LDG.E FFMA FFMA FFMA FFMA BRA"),
    "the loop within": (nested(4), "HGMMA HGMMA HGMMA HGMMA BRA"),
    "with less to do than what is around it": (nested(2), "HGMMA HGMMA HGMMA HGMMA HGMMA BRA"),
    "padding after the end": (PADDED, ""),
    "a guarded exit goes on": (
        [".L_x_0:", "@P0 EXIT", FFMA, "BRA `(.L_x_0)"], "EXIT FFMA BRA"),
    "a meeting point lies elsewhere": (
        [".L_x_0:", "BSSY.RECONVERGENT B1, `(.L_x_1)", "@P0 BRA `(.L_x_2)", ".L_x_1:", FFMA,
         "@P1 BRA `(.L_x_0)", "EXIT", ".L_x_2:", "FADD R0, R0, R1", "BSYNC.RECONVERGENT B1"],
        "BSSY.RECONVERGENT BRA FFMA BRA FADD BSYNC.RECONVERGENT"),
}  # fmt: skip


@every_case(("rows", "expected"), HOT.values(), ids=HOT)
def test_which_loop_is_hot(rows: list[str], expected: str) -> None:
    found = " ".join(each.opcode for each in sass.hot_loop(code(*rows)))
    assert found.replace(".64x256x16.F32.BF16", "") == expected


def test_an_inner_loop_is_no_part_of_the_outer_one_and_padding_is_not_reached() -> None:
    outer, inner = sorted(sass.loops(code(*WITHIN)), key=lambda loop: loop.head)
    assert inner.members < outer.members
    assert not set(outer.own) & inner.members
    assert [each.opcode for each in sass.reachable(code(*PADDED))] == ["FADD", "EXIT"]


@every_case(("text", "kind", "width"), [
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
])  # fmt: skip
def test_what_an_instruction_is_for(text: str, kind: str, width: int):
    (found,) = code(text).instructions
    assert (kind_of(found), width_of(found)) == (kind, width)


def test_the_mix_adds_up():
    rows = [
        *[FFMA] * 4, "FFMA2 R0, R2, R4, R0", *["LDS R1, [R2]"] * 2, "LDS.128 R4, [R2]",
        "LDG.E.128 R8, [R2]", "LDGSTS.E.128 [R1], [R2]", "LDSM.16.M88.4 R4, [R8]",
        "HMMA.1688.F32 R4, R8, R12, R4", "IADD3 R1, R1, 1, RZ", "BRA.U UP0, `(.L)",
        "STS.64 [R1], R2",
    ]  # fmt: skip
    mix = mix_of(code(*rows).instructions)
    assert mix.total == 15 == sum(mix.kinds.values()) == sum(mix.opcodes.values())
    assert mix.ffma == 6  # FFMA2 works on two
    assert dict(mix.lds) == {32: 2, 128: 1}
    assert dict(mix.ldg) == {128: 1}
    assert dict(mix.widths["shared store"]) == {64: 1}
    assert (mix.integer, mix.hmma, mix.ldgsts, mix.other) == (1, 1, 1, 2)
    assert mix.instructions_per_ffma == 15 / 6
    assert mix.lds_per_ffma == 3 / 6
    assert mix_of((Instruction(0, "", "EXIT", ""),)).instructions_per_ffma is None
