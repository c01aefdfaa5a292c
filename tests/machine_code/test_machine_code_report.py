"""The report says what is missing in one sentence, and reads what ptxas says."""

import numpy as np
import pytest

import course_lib
from course_lib.machine_code import (
    CompileFailed,
    CompilerMissing,
    compiler,
    front_ends,
    missing,
    report,
)
from course_lib.machine_code.front_ends import NUMBA, NumbaFrontEnd
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
        "registers": 48,
        "static_shared_bytes": 8192,
        "stack_bytes": 32,
        "spill_store_bytes": 24,
        "spill_load_bytes": 20,
    }
    assert report.resources(LOG, "other")["registers"] == 255
    assert (
        report.resources(LOG.replace(" 8192 bytes smem,", ""), "kernel")["static_shared_bytes"] == 0
    )


@pytest.mark.parametrize("text", ["7.5", "sm_75", "sm75", (7, 5)])
def test_spellings_of_a_compute_capability(text):
    assert compiler.capability(text) == (7, 5)


def test_a_capability_of_two_digits():
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


@pytest.mark.parametrize(
    ("kernel", "signature", "reason"),
    [
        (3, "void(float32[::1])", "Only a Python function or a @cuda.jit kernel"),
        (a_kernel, "void(float32[::1]", "can't read the signature"),
        (a_kernel, "int32(float32[::1])", "A kernel returns nothing"),
        (a_kernel, np.zeros(3), "a tuple with a type or an example"),
    ],
)
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
