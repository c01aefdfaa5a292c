"""The tensor-core rungs as machine code: what they claim, no spills, near their twins."""

import importlib.util
import subprocess
import tempfile
from collections import Counter
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from numba import cuda, float32

from course_lib import compile_report, intrinsics
from course_lib.bench import counts
from course_lib.devices import device
from course_lib.host import runtime
from course_lib.kernels import RUNG_KERNELS
from course_lib.kernels.tile_plan import PAIR, TilePlan
from course_lib.kernels.tma_room import room_for, threads_of
from course_lib.machine_code import CompileReport, compile_reports, compiler, sass
from course_lib.machine_code.front_ends import NUMBA
from course_lib.machine_code.report import InstructionMix, mix_of, resources
from course_lib.roofline.ceilings import ceiling

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(importlib.util.find_spec("numba_cuda") is None,
        reason="shared arrays aligned to 16 bytes need numba-cuda; Numba alone has none"),
]  # fmt: skip
TWINS = Path(__file__).parents[2] / "benchmarks" / "twins"
SIGNATURES = {
    "float16": "void(float16[:, ::1], float16[:, ::1], float32[:, ::1])",
    "uint16": "void(uint16[:, ::1], uint16[:, ::1], float32[:, ::1])",
    "float32": "void(float32[:, ::1], float32[:, ::1], float32[:, ::1])",
}
# Instructions of a trip through the twin's loop, which holds 64 HMMA or 4 HGMMA (nvcc 13.0).
TWIN_LOOPS = {
    ("tensor_core_f16", "7.5"): 107, ("tensor_core_f16", "8.0"): 107,
    ("tensor_core_f16", "9.0"): 104, ("tensor_core_bf16", "8.0"): 115,
    ("tensor_core_bf16", "9.0"): 116, ("tensor_core_tf32", "8.0"): 139,
    ("tensor_core_tf32", "9.0"): 141,
}  # fmt: skip
TRIP = 64
# What a trip must hold besides: fragments, copies past the registers, 16-byte loads and stores.
CLAIMS = {
    "tensor_core_f16": {"LDSM": 12, "LDG": 4, "STS": 4, "LDGSTS": 0},
    "tensor_core_bf16": {"LDSM": 16, "LDG": 0, "STS": 0, "LDGSTS": 6},
    "tensor_core_tf32": {"LDSM": 8, "LDG": 0, "STS": 0, "LDGSTS": 6},
}
# Plans of rung 12: usual tiles and turned ones, one of them with two panels for each warpgroup.
PLANS = TilePlan(), TilePlan(1, 64), PAIR, TilePlan(2, 256, 152, beside=True)
TURNED = TilePlan(2, 192, 176)
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
def test_tensor_core(reports, name, cc):
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
def test_ceiling_on_a_gpu_whose_peak_is_of_another_instruction(reports, name, share):
    rung = RUNG_KERNELS[name]
    rows, columns, depth = rung.tile
    profile, _ = counts._emulate(rung, (rows, columns, 2 * depth))
    found = ceiling(profile, reports(name)["9.0"], "H200", dram_intensity=1000)
    bounds = {each.resource: each.share for each in found.bounds}
    assert bounds["tensor cores"] == pytest.approx(share)
    # float16 has no asynchronous copies: its stores fill shared memory, which ncu sees 82 % busy.
    assert found.binds == ("shared memory" if name == "tensor_core_f16" else "tensor cores")
    assert found.peak == ("TF32" if "tf32" in name else "FP16")


def test_wgmma_overlaps(corpus: ModuleType) -> None:
    """Four HGMMA a trip, and the wait at its end lets the newest group run on."""
    code, log = hopper(RUNG_KERNELS["wgmma"].kernel, SIGNATURES["uint16"])
    loop = sass.hot_loop(code)
    assert resources(log, "kernel")["spill_load_bytes"] == 0
    assert "serialized" not in log
    assert count(mix_of(loop), "HGMMA") == 4 and count(mix_of(loop), "LDGSTS") == 12
    assert waits(loop) == ["gsb0, 0x1"]


@pytest.mark.parametrize(("name", "plan"), [
    *(("tma_bf16", plan) for plan in PLANS[::3]),
    *(pytest.param("tma_bf16", plan, marks=pytest.mark.long) for plan in PLANS[1:3]),
    ("tma", TURNED),
    *(pytest.param("tma", plan, marks=pytest.mark.long) for plan in PLANS),
    pytest.param("tma_bf16", TURNED, marks=pytest.mark.long),
    pytest.param("tma_bf16", TilePlan(2), marks=pytest.mark.long),
], ids=str)  # fmt: skip
def test_tma_multiplies_and_does_nothing_else(corpus, name, plan):
    """A consumer's trip is four HGMMA a panel, a wait and a release; the engine copies."""
    rung, room = RUNG_KERNELS[name], room_for(plan.columns, plan.rows)
    kernel = rung.kernel_of(plan)
    threads = threads_of(room)
    code, log = hopper(kernel, rung.signature, launch_bounds=(threads, 1))
    found = resources(log, "kernel")
    # Pairs reload up to 31 numbers for each tile; never in the loop.
    spilled = max(found["spill_load_bytes"], found["spill_store_bytes"])
    assert spilled <= (124 if plan.cluster > 1 and room.each == 1 else 0)
    # What a thread has at the launch; consumers of two panels have more later, as ptxas knows.
    assert found["registers"] <= 65_536 // threads // 8 * 8 and "C75" not in log
    changes = [each for each in code.instructions if each.opcode.startswith("USETMAXREG")]
    assert bool(changes) == (room.each > 1)
    all_of_it, loop = mix_of(code.instructions), sass.hot_loop(code)
    products = [each.opcode for each in loop if each.opcode.startswith("HGMMA")]
    trips = len(products) // (4 * room.each)  # that ptxas has written out one after the other
    assert {each.split(".F32")[0] for each in products} == {f"HGMMA.64x{room.width}x16"}
    assert trips and len(products) == 4 * room.each * trips
    assert waits(loop) == trips * ["gsb0, 0x1"]
    assert len(loop) <= 62 * room.each * trips
    assert {count(mix_of(loop), each) for each in ("LDL", "STL")} == {0}
    assert {count(all_of_it, each) for each in ("LDGSTS", "STG")} == {0}
    boxes = [each.opcode for each in code.instructions if each.opcode.startswith("UTMALDG")]
    # What the blocks of a cluster share is asked for by each in part, for both.
    for_both = sum("MULTICAST" in each for each in boxes)
    assert 0 < for_both < len(boxes) if plan.cluster > 1 else boxes and not for_both
    results = room.each * room.width
    stores, staged = (results // 64, "STSM") if name == "tma_bf16" else (results // 32, "STS")
    assert count(all_of_it, "UTMASTG") >= stores
    assert count(all_of_it, staged) >= results // 16


def waits(code: Sequence[sass.Instruction]) -> list[str]:
    """How many groups of products may still run after each wait."""
    found = [each for each in code if each.opcode.startswith("WARPGROUP.DEPBAR")]
    return [each.operands.strip() for each in found]


def test_the_report_on_wgmma_is_of_what_a_gpu_runs(corpus: ModuleType) -> None:
    """sm_90 has no wgmma; a launch, and so a report, is for sm_90a."""
    report = compile_report(RUNG_KERNELS["wgmma"].kernel, SIGNATURES["uint16"], cc="9.0")
    assert report.mix is not None and report.mix.hmma == 4 and report.mix.ldgsts == 12
    assert "wgmma for sm_90a" in report.text() and report.cc == "9.0"
    assert report.stack_bytes == report.spill_store_bytes == 0
    found = counts.ceiling(RUNG_KERNELS["wgmma"], device("H200"))
    assert {each.resource for each in found.bounds} == {"shared memory", "DRAM", "issue slots"}
    assert found.share == 1 and found.binds == "tensor cores"


@pytest.mark.parametrize(("name", "cc"), [
    case if case[1] == "9.0" else pytest.param(*case, marks=pytest.mark.long) for case in TWIN_LOOPS
])  # fmt: skip
def test_twins_are_as_noted(corpus, nvcc, tmp_path, name, cc):
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


def hopper(kernel: Any, signature: str, **options: Any) -> tuple[sass.Disassembly, str]:
    """The code and ptxas's log, for sm_90a: what only Hopper has is not in sm_90."""
    with runtime.untouched_numba():
        cuda = NUMBA.load()
        arguments = NUMBA.argument_types(signature)
        try:
            with NUMBA.device_of((9, 0)):
                ptx, _ = cuda.compile_ptx(
                    kernel.py_func, arguments, device=False, cc=(9, 0, "a"), **options
                )
        except (TypeError, ValueError) as reason:
            if "Signature mismatch" in str(reason):
                raise  # the test's mistake, in every version
            pytest.skip(f"needs numba-cuda 0.30 or newer: {reason}")
    with tempfile.TemporaryDirectory() as folder:
        source, cubin = Path(folder, "kernel.ptx"), Path(folder, "kernel.cubin")
        source.write_text(ptx)
        log = compiler._to_machine_code(source, cubin, (9, 0), None)
        entry = compiler._entry(ptx)
        return sass.parse(disassembled(cubin), entry), log.replace(entry, "kernel")


@cuda.jit
def what_rung_12_leaves_out(boxes, lines):
    """Boxes of three axes and of one; an arrival without bytes."""
    tile = cuda.shared.array(8192, np.uint16, alignment=1024)
    barriers = cuda.shared.array(1, np.uint64, alignment=8)
    here, barrier = intrinsics.shared_address(tile), intrinsics.shared_address(barriers)
    if cuda.threadIdx.x == 0:
        intrinsics.mbarrier_init(barrier, 1)
        intrinsics.fence_mbarrier_init()
        intrinsics.tma_load(here, boxes, (0, 8, cuda.blockIdx.x), barrier)
        intrinsics.mbarrier_arrive(barrier)
    cuda.syncthreads()
    intrinsics.mbarrier_wait(barrier, 0)
    if cuda.threadIdx.x == 0:
        intrinsics.tma_store(lines, (64,), here)
        intrinsics.tma_store_wait(0)


def test_copies_of_other_ranks(corpus: ModuleType) -> None:
    code, _ = hopper(what_rung_12_leaves_out, "void(uint64[::1], uint64[::1])")
    opcodes = {each.opcode for each in code.instructions}
    assert {"UTMALDG.3D", "UTMASTG.1D"} <= opcodes


@cuda.jit
def the_other_intrinsics(A, B, C):
    """Those that no rung uses."""
    tile = cuda.shared.array(512, np.uint16, alignment=16)
    lane = np.uint32(cuda.threadIdx.x)
    intrinsics.store_words(tile, lane * 8, intrinsics.load_words(A, lane * 8))
    tile[256 + lane] = intrinsics.bf16_bits(C[0, lane])
    cuda.syncthreads()
    x, y = intrinsics.ldmatrix_x2(tile, lane % 16 * 8)
    b = intrinsics.ldmatrix_x2_trans(tile, lane % 16 * 8)
    acc = (float32(0), float32(0), float32(0), float32(0))
    c0, c1, c2, c3 = intrinsics.mma_m16n8k16_f16(acc, (x, y, intrinsics.to_tf32(C[1, lane]), x), b)
    intrinsics.store2(C, lane * 2, (c0 + c2, c1 + c3))


def test_the_other_intrinsics(corpus: ModuleType) -> None:
    made = compile_report(the_other_intrinsics, SIGNATURES["uint16"], "8.0")
    held = Counter(each.operation for each in made.code)
    opcodes = {each.opcode for each in made.code}
    assert held["HMMA"] == 1 and held["LDSM"] == 2
    assert {"LDSM.16.M88.2", "LDSM.16.MT88.2", "STS.128", "LDG.E.128", "STG.E.64"} <= opcodes
