"""The tensor-core rungs as machine code: what they claim, no spills, near their twins."""

from __future__ import annotations

import importlib
import importlib.util
import subprocess
import tempfile
from collections import Counter
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from numba import cuda, float32

from course_lib import compile_report, runtime
from course_lib.bench import counts
from course_lib.ceilings import ceiling
from course_lib.intrinsics import (
    bf16_bits,
    ldmatrix_x2,
    ldmatrix_x2_trans,
    load_words,
    mma_m16n8k16_f16,
    store2,
    store_words,
    to_tf32,
)
from course_lib.kernels import RUNG_KERNELS
from course_lib.machine_code import CompileReport, compile_reports, compiler, sass
from course_lib.machine_code.report import InstructionMix, mix_of, resources

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        importlib.util.find_spec("numba_cuda") is None,
        reason="shared arrays aligned to 16 bytes need numba-cuda; Numba alone has none",
    ),
]
TWINS = Path(__file__).parents[2] / "benchmarks" / "twins"
SIGNATURES = {
    "float16": "void(float16[:, ::1], float16[:, ::1], float32[:, ::1])",
    "uint16": "void(uint16[:, ::1], uint16[:, ::1], float32[:, ::1])",
    "float32": "void(float32[:, ::1], float32[:, ::1], float32[:, ::1])",
}
# Instructions of a trip through the twin's loop, which holds 64 HMMA or 4 HGMMA (nvcc 13.0).
TWIN_LOOPS = {
    ("tensor_core_f16", "7.5"): 107,
    ("tensor_core_f16", "8.0"): 107,
    ("tensor_core_f16", "9.0"): 104,
    ("tensor_core_bf16", "8.0"): 115,
    ("tensor_core_bf16", "9.0"): 116,
    ("tensor_core_tf32", "8.0"): 139,
    ("tensor_core_tf32", "9.0"): 141,
}
TRIP = 64
# What a trip must hold besides: fragments, copies past the registers, 16-byte loads and stores.
CLAIMS = {
    "tensor_core_f16": {"LDSM": 12, "LDG": 4, "STS": 4, "LDGSTS": 0},
    "tensor_core_bf16": {"LDSM": 16, "LDG": 0, "STS": 0, "LDGSTS": 6},
    "tensor_core_tf32": {"LDSM": 8, "LDG": 0, "STS": 0, "LDGSTS": 6},
}
REGISTERS = {"tensor_core_f16": 128, "tensor_core_bf16": 255, "tensor_core_tf32": 255}


@pytest.fixture(scope="module")
def reports(corpus: ModuleType) -> Callable[[str], dict[str, CompileReport]]:
    """What a rung became for every GPU of the table; Numba compiles it once."""

    @cache
    def of(name: str) -> dict[str, CompileReport]:
        rung = RUNG_KERNELS[name]
        ccs = [cc for each, cc in TWIN_LOOPS if each == name]
        return compile_reports(rung.kernel, SIGNATURES[rung.dtype], ccs)

    return of


@pytest.mark.parametrize(("name", "cc"), TWIN_LOOPS)
def test_tensor_core(
    reports: Callable[[str], dict[str, CompileReport]], name: str, cc: str
) -> None:
    made = reports(name)[cc]
    assert made.mix is not None
    assert made.spill_load_bytes == made.spill_store_bytes == made.stack_bytes == 0
    assert made.registers <= REGISTERS[name]
    assert made.mix.hmma == TRIP
    assert {each: count(made.mix, each) for each in CLAIMS[name]} == CLAIMS[name]
    for opcode in made.mix.opcodes:
        if opcode.startswith(("LDG.", "STS.", "LDGSTS.")):
            assert "128" in opcode, opcode
    assert made.mix.total <= 1.2 * TWIN_LOOPS[name, cc]


@pytest.mark.parametrize(
    ("name", "share"), [("tensor_core_f16", 1 / 2), ("tensor_core_tf32", 2 / 3)]
)
def test_ceiling_on_a_gpu_whose_peak_is_of_another_instruction(
    reports: Callable[[str], dict[str, CompileReport]], name: str, share: float
) -> None:
    rung = RUNG_KERNELS[name]
    rows, columns, depth = rung.tile
    profile, _ = counts._emulate(rung, (rows, columns, 2 * depth))
    found = ceiling(profile, reports(name)["9.0"], "H200", dram_intensity=1000)
    assert found.share == pytest.approx(share) and found.binds == "tensor cores"
    assert found.peak == ("TF32" if "tf32" in name else "FP16")


def test_wgmma_overlaps(corpus: ModuleType) -> None:
    """Four HGMMA a trip, and the wait at its end lets the newest group run on."""
    loop, log = hopper("course_lib.kernels.rung_11_wgmma", "wgmma")
    assert resources(log, "wgmma")["spill_load_bytes"] == 0
    assert "serialized" not in log
    waits = [each for each in loop if each.opcode.startswith("WARPGROUP.DEPBAR")]
    assert count(mix_of(loop), "HGMMA") == 4 and count(mix_of(loop), "LDGSTS") == 12
    assert [each.operands.strip() for each in waits] == ["gsb0, 0x1"]


@pytest.mark.parametrize(
    ("name", "cc"),
    [
        case if case[1] == "9.0" else pytest.param(*case, marks=pytest.mark.long)
        for case in TWIN_LOOPS
    ],
)
def test_twins_are_as_noted(
    corpus: ModuleType, nvcc: str, tmp_path: Path, name: str, cc: str
) -> None:
    cubin = tmp_path / "twin.cubin"
    number = cc.replace(".", "")
    command = [nvcc, "-O3", "-std=c++17", "-cubin", f"-arch=sm_{number}", "-o", str(cubin)]
    subprocess.run([*command, str(TWINS / f"{name}.cu")], check=True, timeout=120)
    loop = sass.hot_loop(sass.parse(disassembled(cubin), name))
    assert mix_of(loop).hmma == TRIP
    # Another release of nvcc may differ a little.
    assert len(loop) == pytest.approx(TWIN_LOOPS[name, cc], rel=0.05)


def count(mix: InstructionMix, operation: str) -> int:
    return sum(n for opcode, n in mix.opcodes.items() if opcode.partition(".")[0] == operation)


def disassembled(cubin: Path) -> str:
    tool = compiler.find_tool("nvdisasm")
    assert tool is not None
    done = subprocess.run([tool, "--print-code", str(cubin)], capture_output=True, text=True)
    return done.stdout


def hopper(module: str, name: str) -> tuple[tuple[sass.Instruction, ...], str]:
    """The hot loop and ptxas's log, for sm_90a: what only Hopper has is not in sm_90."""
    kernel = getattr(importlib.import_module(module), name)
    with runtime.untouched_numba():
        cuda = compiler._cuda_with_compiler()
        arguments = compiler.argument_types(SIGNATURES["uint16"])
        try:
            with compiler._device_of((9, 0)):
                ptx, _ = cuda.compile_ptx(kernel.py_func, arguments, device=False, cc=(9, 0, "a"))
        except (TypeError, ValueError) as reason:
            pytest.skip(f"needs numba-cuda 0.30 or newer: {reason}")
    return _hopper_code(ptx)


def _hopper_code(ptx: str) -> tuple[tuple[sass.Instruction, ...], str]:
    with tempfile.TemporaryDirectory() as folder:
        source, cubin = Path(folder, "kernel.ptx"), Path(folder, "kernel.cubin")
        source.write_text(ptx)
        log = compiler._to_machine_code(source, cubin, (9, "0a"), None)  # type: ignore[arg-type]
        entry = compiler._entry(ptx)
        loop = sass.hot_loop(sass.parse(disassembled(cubin), entry))
    return loop, log.replace(entry, "wgmma")


@cuda.jit
def the_other_intrinsics(A, B, C):
    """Those that no rung uses."""
    tile = cuda.shared.array(512, np.uint16, alignment=16)
    lane = np.uint32(cuda.threadIdx.x)
    store_words(tile, lane * 8, load_words(A, lane * 8))
    tile[256 + lane] = bf16_bits(C[0, lane])
    cuda.syncthreads()
    x, y = ldmatrix_x2(tile, lane % 16 * 8)
    b = ldmatrix_x2_trans(tile, lane % 16 * 8)
    acc = (float32(0), float32(0), float32(0), float32(0))
    c0, c1, c2, c3 = mma_m16n8k16_f16(acc, (x, y, to_tf32(C[1, lane]), x), b)
    store2(C, lane * 2, (c0 + c2, c1 + c3))


def test_the_other_intrinsics(corpus: ModuleType) -> None:
    made = compile_report(the_other_intrinsics, SIGNATURES["uint16"], "8.0")
    held = Counter(each.operation for each in made.code)
    opcodes = {each.opcode for each in made.code}
    assert held["HMMA"] == 1 and held["LDSM"] == 2
    assert {"LDSM.16.M88.2", "LDSM.16.MT88.2", "STS.128", "LDG.E.128", "STG.E.64"} <= opcodes
