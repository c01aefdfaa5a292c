"""The report reproduces what was counted before: FACTS §4.4 to 4.6 and the ladder's tables."""

import re

import numpy as np
import pytest

import course_lib
from course_lib.host import runtime
from course_lib.machine_code import (
    CompileFailed,
    CompileReport,
    compile_reports,
    compiler,
    front_ends,
    sass,
)
from course_lib.machine_code.front_ends import NUMBA
from course_lib.machine_code.report import mix_of
from course_lib.roofline import ceiling

pytestmark = pytest.mark.slow

MATRICES = "void(float32[:, ::1], float32[:, ::1], float32[:, ::1])"

# kernel, cc, registers, static shared memory, FFMA and instructions a trip, LDS by width, LDG
LADDER = [
    ("naive", "7.5", 40, 0, 4, 136, {}, 8),
    ("naive", "8.6", None, 0, 4, 135, {}, 8),
    ("naive", "9.0", 28, 0, 4, 144, {}, 8),
    ("naive_while", "7.5", 38, 0, 4, 31, {}, 8),
    ("naive_while", "8.6", None, 0, 4, 29, {}, 8),
    ("naive_while", "9.0", 32, 0, 4, 30, {}, 8),
    ("tiled", "7.5", 46, 8192, 32, 115, {32: 32, 128: 8}, 2),
    ("tiled", "8.0", 32, 8192, 32, None, {32: 32, 128: 8}, 2),
    ("tiled", "8.6", 38, 8192, 32, 115, {32: 32, 128: 8}, 2),
    ("tiled", "9.0", 32, 8192, 32, 115, {32: 32, 128: 8}, 2),
    ("tiled_uint32", "7.5", 45, 8192, 32, 87, {32: 32, 128: 8}, 2),
    ("tiled_uint32", "9.0", 31, 8192, 32, 87, {32: 32, 128: 8}, 2),
    ("tiled_padded_uint32", "7.5", None, 8448, 32, 113, {32: 64}, 2),
    ("tiled_padded_uint32", "9.0", None, 8448, 32, 111, {32: 64}, 2),
    ("outputs_1d", "7.5", None, 4096, 16, 75, {32: 18}, 0),
    ("outputs_1d", "9.0", None, 4096, 16, 96, {32: 18}, 0),
    ("outputs_2d", "7.5", 150, 8192, 64, 111, {32: 16}, 0),
    ("outputs_2d", "9.0", 130, 8192, 64, 127, {32: 16}, 0),
]

# Compilers move. A few instructions or registers more or less don't change what a lesson says.
NEAR = 0.1


@pytest.fixture(scope="module")
def compiled(corpus):
    """Reports on the kernels of the corpus; Numba compiles each once for all GPUs of the tables."""
    known: dict[tuple[str, str], CompileReport] = {}
    targets: dict[str, set[str]] = {}
    for name, cc in [(row[0], row[1]) for row in LADDER] + [(row[0], row[2]) for row in CEILINGS]:
        targets.setdefault(name, {"7.5"}).add(cc)

    def report(name: str, cc: str = "7.5") -> CompileReport:
        if (name, cc) not in known:
            wanted = {cc} | (targets.get(name) or set())
            made = compile_reports(getattr(corpus, name), MATRICES, sorted(wanted))
            known.update({(name, each): found for each, found in made.items()})
        return known[name, cc]

    return report


@pytest.mark.parametrize(
    ("name", "cc", "registers", "shared", "ffma", "total", "lds", "ldg"), LADDER
)
def test_row_of_the_ladder(compiled, name, cc, registers, shared, ffma, total, lds, ldg):
    report = compiled(name, cc)
    assert report.static_shared_bytes == shared
    assert (report.stack_bytes, report.spill_store_bytes, report.spill_load_bytes) == (0, 0, 0)
    if registers:
        assert report.registers == pytest.approx(registers, rel=NEAR)
    assert report.mix.ffma == ffma
    assert dict(report.mix.lds) == lds
    assert sum(report.mix.ldg.values()) == ldg
    if total:
        assert report.mix.total == pytest.approx(total, rel=NEAR)
        per_ffma = report.mix.instructions_per_ffma
        assert per_ffma == pytest.approx(total / ffma, rel=NEAR)


def test_a_float64_sum_is_named(compiled):
    report = compiled("naive_float64")
    assert report.mix.ffma == 0
    assert report.mix.kinds["float64"] == 4
    assert report.mix.total == pytest.approx(144, rel=NEAR)
    assert "float64" in report.note


def test_a_kernel_without_a_loop(compiled):
    report = compiled("add")
    assert report.mix.kinds["float32"] == 1
    assert report.mix.opcodes["EXIT"] >= 1
    assert "NOP" not in report.mix.opcodes
    assert "no loop" in report.note


def test_helper_functions_compile_as_well(compiled):
    assert compiled("naive_with_helper").mix.opcodes == compiled("naive_while").mix.opcodes


def test_between_start_and_launch(corpus, compiled):
    """The runtime's replacements are put aside while compiling, and come back."""
    before = compiled("naive_with_helper", "9.0")
    runtime.start()
    try:
        A = np.ones((4, 4), np.float32)
        again = course_lib.compile_report(corpus.naive_with_helper, (A, A, A), "9.0")
        corpus.naive_with_helper[(1, 1), (4, 4)](A, A, A)
        assert np.array_equal(A, np.full((4, 4), 4.0)) or not runtime.on_gpu()
    finally:
        runtime.stop()
    assert again.mix == before.mix
    assert again.registers == before.registers


def test_the_listing_points_into_the_source(compiled):
    text = compiled("naive_while").text()
    assert "acc += A[row, k] * B[k, col]" in text
    assert "FFMA" in text
    source = {each.file.rpartition("/")[2] for each in compiled("naive_while").loop}
    assert source == {"machine_code_corpus.py"}


def test_line_numbers_change_no_instruction(corpus, compiled, monkeypatch):
    seen = []

    def without_lines(self, cuda, function, arguments, cc, options, alone=True):
        seen.append(function.__name__)
        with self.device_of(cc):
            return cuda.compile_ptx(function, arguments, device=False, cc=cc)[0]

    monkeypatch.setattr(front_ends.NumbaFrontEnd, "to_ptx", without_lines)
    report = course_lib.compile_report(corpus.tiled, MATRICES)
    assert seen == ["tiled"]
    assert report.mix.opcodes == compiled("tiled").mix.opcodes
    assert report.registers == compiled("tiled").registers


@pytest.mark.parametrize("name", ["naive", "tiled_uint32"])
def test_link_time_optimisation_changes_nothing(corpus, compiled, tmp_path, name):
    """numba-cuda launches what nvJitLink makes of it; the report must be about the same code."""
    linker = pytest.importorskip("cuda.bindings.nvjitlink", reason="numba-cuda without nvJitLink")
    from numba import cuda

    try:
        handle = linker.create(3, ["-arch=sm_75", "-lto", "-O3"])
    except Exception as problem:
        pytest.skip(f"nvJitLink does not load: {problem}")
    function, arguments = getattr(corpus, name).py_func, NUMBA.argument_types(MATRICES)
    options = {"device": False, "cc": (7, 5), "abi": "numba", "output": "ltoir"}
    code, _ = cuda.compile(function, arguments, **options)
    linker.add_data(handle, linker.InputType.LTOIR, code, len(code), name)
    linker.complete(handle)
    linked = bytearray(linker.get_linked_cubin_size(handle))
    linker.get_linked_cubin(handle, linked)
    cubin = tmp_path / "linked.cubin"
    cubin.write_bytes(linked)
    text, _ = compiler.disassemble(cubin, (7, 5))
    entry = re.search(r"\.section\s+\.text\.([\w$]+),", text)[1]
    assert mix_of(sass.hot_loop(sass.parse(text, entry))) == compiled(name).mix
    assert f"SHI_REGISTERS={compiled(name).registers}" in text


def test_options_of_the_kernel_count(corpus):
    from numba import cuda

    few = cuda.jit(max_registers=64)(corpus.outputs_2d.py_func)
    report = course_lib.compile_report(few, MATRICES)
    assert report.registers <= 64
    assert report.spill_store_bytes > 0
    assert report.mix.kinds["local"] > 0


def test_without_a_disassembler(corpus, monkeypatch):
    find = compiler.find_tool
    monkeypatch.setattr(
        compiler, "find_tool", lambda name: None if name == "nvdisasm" else find(name)
    )
    report = course_lib.compile_report(corpus.naive, MATRICES)
    assert report.registers > 20
    assert report.mix is None
    assert compiler.GET_DISASSEMBLER in report.note


def test_what_the_compiler_refuses_is_one_sentence(corpus):
    def wrong(A):
        A[0] = no_such_name + 1  # noqa: F821

    with pytest.raises(CompileFailed, match="no_such_name") as caught:
        course_lib.compile_report(wrong, "void(float32[::1])")
    assert len(str(caught.value)) < 400
    with pytest.raises(CompileFailed, match="device function"):
        course_lib.compile_report(corpus.product, "float32(float32, float32)")


# kernel, GPU, cc, highest share of FP32 peak, what binds (FACTS §4.5 and 4.6)
CEILINGS = [
    ("naive", "A6000", "8.6", 0.029, "issue slots"),
    ("naive", "T4", "7.5", 0.059, "issue slots"),
    ("tiled_uint32", "A6000", "8.6", 1 / 6, "shared memory"),
    ("tiled_uint32", "H100", "9.0", 1 / 6, "shared memory"),
    ("tiled_uint32", "A100-40", "8.0", 1 / 3, "shared memory"),
    ("tiled_uint32", "T4", "7.5", 1 / 6, "shared memory"),
    ("tiled_padded_uint32", "A6000", "8.6", 0.125, "shared memory"),
    ("outputs_2d", "A6000", "8.6", 1 / 3, "shared memory"),
    ("outputs_2d", "A100-40", "8.0", 2 / 3, "shared memory"),
]


@pytest.fixture(scope="module")
def profiles(corpus):
    """Profiles of small launches, whose patterns are those of large ones."""
    launches = {"outputs_1d": ((1, 1), 512, 64), "outputs_2d": ((1, 1), 256, 128)}
    known = {}

    def profile(name: str):
        if name not in known:
            grid, block, edge = launches.get(name, ((2, 2), (32, 32), 64))
            A = np.ones((edge, edge), np.float32)
            known[name] = course_lib.emulate(getattr(corpus, name))[grid, block](A, A, A.copy())
        return known[name]

    return profile


@pytest.mark.parametrize(("name", "gpu", "cc", "share", "binds"), CEILINGS)
def test_ceilings_of_the_fact_sheet(compiled, profiles, name, gpu, cc, share, binds):
    found = ceiling(profiles(name), compiled(name, cc), gpu, dram_intensity=1000)
    assert found.share == pytest.approx(share, rel=0.05)
    assert found.binds == binds


# Nsight Compute on an H200 at M = N = K = 4096 (driver 580.159.04, November 2026), the same cubins:
# per FFMA, issued instructions, LDS and wavefronts of shared loads; and the speed in GFLOP/s.
# Instructions are those of the whole kernel, so a hot loop within a loop has fewer.
MEASURED = [
    ("naive", None, None, None, 1380),
    ("naive_while", 7.523, 0, 0, 2878),
    ("tiled", None, None, None, 8136),
    ("tiled_uint32", 2.732, 1.25, 1.5004, 8941),
    ("tiled_padded_uint32", 3.482, 2, 2.0003, 7107),
    ("outputs_1d", None, 1.125, 1.1250, 8473),
    ("outputs_2d", None, 0.25, 0.7500, 13892),
]


@pytest.mark.parametrize(("name", "instructions", "lds", "wavefronts", "gflops"), MEASURED)
def test_a_gpu_counted_the_same(compiled, profiles, name, instructions, lds, wavefronts, gflops):
    report = compiled(name, "9.0")
    found = ceiling(profiles(name), report, "H200", dram_intensity=1000)
    assert gflops < found.gflops
    assert gflops > 0.3 * found.gflops  # a ceiling that is far away would explain nothing
    if instructions:
        assert report.mix.instructions_per_ffma == pytest.approx(instructions, rel=0.02)
    if lds:
        assert report.mix.lds_per_ffma == pytest.approx(lds, rel=0.001)
        (shared,) = [each for each in found.bounds if each.resource == "shared memory"]
        # That counter was of the loads alone. A store takes a pass; those of outputs_2d, which
        # are eight words apart, up to eight.
        stores = report.mix.sts / report.mix.ffma
        least, most = wavefronts + stores, wavefronts + stores * (8 if name == "outputs_2d" else 1)
        assert 0.999 / (4 * most) <= shared.share <= 1.001 / (4 * least)
