"""The solutions keep lesson 08's habits, as far as their own lesson has taught them."""

import importlib.util
import json
from pathlib import Path
from typing import NamedTuple

import pytest
from by_path import module_at

from course_lib import machine_code
from course_lib.machine_code import CompileReport, compile_report

ROOT = Path(__file__).resolve().parents[2]
HEAD = "import math\n\nimport numpy as np\nfrom numba import cuda, float32\n"


class Held(NamedTuple):
    """A solution's multiply-adds of a thread for a tile, and the most instructions for each."""

    lesson: str
    multiply_adds: int
    most: float
    arguments: int = 3
    layout: str = "[:, ::1]"


pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(bool(machine_code.missing()), reason="no compiler here"),
    pytest.mark.skipif(importlib.util.find_spec("numba_cuda") is None,
        reason="Numba alone has no instructions of tensor cores, and needs a driver for `max`"),
]  # fmt: skip


def report_on(name: str, lesson: str, signature: str, cc: str, folder: Path) -> CompileReport:
    """What the compiler makes of the answer to an exercise in its notebook."""
    cells = json.loads((ROOT / "solutions" / f"{lesson}.ipynb").read_text())["cells"]
    (text,) = (t for t in ("".join(c["source"]) for c in cells) if f"# EXERCISE {name}\n" in t)
    file = folder / f"{name}.py"
    file.write_text(HEAD + text)
    report = compile_report(getattr(module_at(file), name), signature, cc=cc)
    if report.mix is None:
        pytest.skip(report.note)
    assert report.spill_store_bytes == report.spill_load_bytes == 0
    return report


# On sm_75; what is left over 1 are loads, and tests against edges on every element.
HELD = {
    # With `range` it is 34: Numba's count of a length that is known at launch hides that k grows.
    # Unsigned indices change nothing here.
    "matmul_naive": Held("02_naive_matmul", 1, 8),
    "matmul_column_major": Held("03_coalescing", 1, 8, layout="[::1, :]"),
    # With signed indices, as lesson 05 knows them, `while` takes 6.5. Unsigned ones, which lesson
    # 08 teaches, would take 4.3 with `while` and 5.9 with `range`.
    "matmul_tiled": Held("05_shared_memory_tiling", 16, 6),
    # With `range` over k it is 4.6 and 2.9.
    "matmul_1d": Held("08_register_tiling", 8 * 8, 2.0),
    "matmul_2d": Held("08_register_tiling", 8 * 16, 1.65),
    "matmul_wide": Held("09_wide_loads_and_warp_tiles", 8 * 16, 1.55),
    "matmul_warp_tiled": Held("09_wide_loads_and_warp_tiles", 8 * 64, 1.25),
    "matmul_two_buffers": Held("09b_copies_in_the_background", 8 * 64, 1.25),
    # Loads in `range(ty, TILE, 16)` keep a loop of their own, and 64 registers instead of 46. The
    # compiler writes out by itself what `unroll` would: that saves 1 of 308 instructions.
    "attention": Held("11_flash_attention", 2 * 32, 4.3, arguments=4),
}


@pytest.mark.parametrize("name", HELD)
def test_a_solution_spends_few_instructions_for_each_multiply_add(name: str, tmp_path: Path):
    held = HELD[name]
    signature = f"void({', '.join([f'float32{held.layout}'] * held.arguments)})"
    report = report_on(name, held.lesson, signature, "7.5", tmp_path)
    each = report.over_a_tile(held.multiply_adds)
    assert each is not None and each <= held.most


FFMA_OF_AN_EXPONENTIAL = 5


class Mixed(NamedTuple):
    """A solution on tensor cores: for which GPU, of what signature, with what in its hot loop."""

    lesson: str
    signature: str
    cc: str
    counts: dict[str, int]
    exponentials: int = 0  # in the hot loop


ON_TENSOR_CORES = {
    "matmul_mma": Mixed("10_tensor_cores",
        "void(float16[:, ::1], float16[:, ::1], float32[:, ::1])", "7.5", {"HMMA": 16, "LDSM": 4}),
    "matmul_tma": Mixed("10b_hopper", "void(uint64[::1], uint64[::1], int32, float32[:, ::1])",
        "9.0", {"HGMMA": 4}),
    "attention_mma": Mixed(
        "11b_attention_on_tensor_cores",
        "void(uint16[:, ::1], uint16[:, ::1], uint16[:, ::1], float32[:, ::1])",
        "8.0",
        {"HMMA": 32, "LDSM": 16},
        exponentials=4 * 4 + 2,  # the weights of a tile, and two factors
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", ON_TENSOR_CORES)
def test_a_solution_on_tensor_cores_multiplies_with_them_alone(name: str, tmp_path: Path):
    held = ON_TENSOR_CORES[name]
    report = report_on(name, held.lesson, held.signature, held.cc, tmp_path)
    made = report.mix.opcodes if report.mix else {}
    found = {each: sum(n for op, n in made.items() if op.startswith(each)) for each in held.counts}
    # Of a loop that the compiler has written out twice, a trip has twice as many.
    assert all(found[each] and found[each] % count == 0 for each, count in held.counts.items())
    beside = sum(n for op, n in made.items() if op.startswith("FFMA"))
    assert beside <= FFMA_OF_AN_EXPONENTIAL * held.exponentials
    assert report.spill_store_bytes == report.spill_load_bytes == 0
