"""Each fp32 rung in machine code: registers, widths, share of multiply-adds, and its C++ twin."""

import json
import os
from concurrent.futures import ProcessPoolExecutor
from importlib.util import find_spec
from types import SimpleNamespace

import pytest
import twins_of_the_rungs as twins

from course_lib.machine_code import CompileReport, compile_report, compile_reports

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(find_spec("numba_cuda") is None,
        reason="shared arrays aligned to 16 bytes need numba-cuda; Numba alone has none"),
]  # fmt: skip

SIGNATURE = "void(float32[:, ::1], float32[:, ::1], float32[:, ::1])"

# rung: most registers, shared bytes, least share of FFMA, loads of shared and of global memory a
# trip by their bits, and the most instructions for a multiply-add, as a multiple of the twin's
ROWS: dict[str, tuple[int, int, float, dict[int, int], dict[int, int], float | None]] = {
    "naive": (48, 0, 0.02, {}, {32: 8}, None),
    "naive_while": (40, 0, 0.12, {}, {32: 8}, 1.5),
    "coalesced": (48, 0, 0.02, {}, {32: 8}, None),
    "coalesced_while": (64, 0, 0.15, {}, {32: 32}, 1.25),
    "tiled": (64, 8192, 0.22, {32: 32, 128: 8}, {32: 2}, 1.45),
    "tiled_while": (64, 8192, 0.28, {32: 32, 128: 8}, {32: 2}, 1.08),
    "register_1d": (80, 4096, 0.54, {32: 8, 128: 16}, {32: 2}, 1.08),
    "register_2d": (128, 8192, 0.85, {128: 32}, {32: 8}, 1.08),
    "vectorised": (128, 8320, 0.88, {128: 32}, {128: 2}, 1.08),
    "warp_tiled": (255, 16640, 0.91, {128: 96}, {128: 8}, 1.08),
    "double_buffered": (128, 16640, 0.86, {128: 32}, {128: 2}, 1.08),
    "cp_async": (255, 37248, 0.90, {128: 48}, {}, 1.08),
}
LONG = pytest.mark.long  # nvcc takes a second for each twin and GPU
# Under `long`, too: Numba takes some ten seconds for each, and the rungs beside them have what they
# are made of, vectorised the wide loads, cp_async the warp tiles and the two buffers.
COSTLY = ("warp_tiled", "double_buffered")
# The oldest and the newest of the GPUs that a rung runs on; those between them under `long`.
OF_ALL = [(name, cc) for name in ROWS for cc in ("8.0" if name == "cp_async" else "7.5", "9.0")]
ENDS = [(name, cc) for name, cc in OF_ALL if name not in COSTLY]
BETWEEN = [(name, "8.0") for name in ROWS if name != "cp_async"]
BETWEEN += [(name, cc) for name, cc in OF_ALL if name in COSTLY]


def row_of(report: CompileReport) -> SimpleNamespace:
    """What is asked of a report; a report itself can't travel between processes."""
    mix = report.mix
    assert mix is not None, report.note
    return SimpleNamespace(
        registers=report.registers, shared=report.static_shared_bytes, instructions=mix.total,
        in_local_memory=report.stack_bytes + report.spill_store_bytes + report.spill_load_bytes,
        ffma=mix.ffma, lds=dict(mix.lds), ldg=dict(mix.ldg), opcodes=dict(mix.opcodes),
    )  # fmt: skip


def rows_of(name: str, ccs: list[str]) -> dict[tuple[str, str], SimpleNamespace]:
    from course_lib.kernels import RUNG_KERNELS

    reports = compile_reports(RUNG_KERNELS[name].kernel, SIGNATURE, ccs)
    return {(name, cc): row_of(report) for cc, report in reports.items()}


def rows_of_all(cases: list[tuple[str, str]]) -> dict[tuple[str, str], SimpleNamespace]:
    """All of them at once, the slowest first."""
    names = list(reversed(dict(cases)))
    ccs = [[cc for each, cc in cases if each == name] for name in names]
    with ProcessPoolExecutor(min(2, os.cpu_count() or 1)) as pool:
        return {case: row for some in pool.map(rows_of, names, ccs) for case, row in some.items()}


@pytest.fixture(scope="module")
def rows(corpus) -> dict[tuple[str, str], SimpleNamespace]:
    return rows_of_all(ENDS)


@pytest.fixture(scope="module")
def rows_between(corpus) -> dict[tuple[str, str], SimpleNamespace]:
    return rows_of_all(BETWEEN)


@pytest.mark.parametrize(("name", "cc"), ENDS)
def test_row(rows, name, cc):
    holds(rows[name, cc], name, cc)


@LONG
@pytest.mark.parametrize(("name", "cc"), BETWEEN)
def test_row_between(rows_between, name, cc):
    holds(rows_between[name, cc], name, cc)


def holds(row: SimpleNamespace, name: str, cc: str) -> None:
    registers, shared, share, lds, ldg, most = ROWS[name]
    assert row.registers <= registers
    assert row.shared == shared
    assert row.in_local_memory == 0
    assert row.ffma / row.instructions >= share
    assert row.ldg == ldg
    # Narrow loads beside the wide ones are of numbers put away, such as an address: three at most.
    if 32 not in lds:
        assert row.lds.pop(32, 0) <= 3
    assert row.lds == lds
    if most is not None:
        twin = json.loads(twins.KEPT.read_text())[name.removesuffix("_while")][cc]
        assert row.instructions / row.ffma <= most * twin["instructions"] / twin["ffma"]


def test_compiled_for_one_gpu_alone_the_counts_are_the_same(rows):
    from course_lib.kernels import RUNG_KERNELS

    alone = row_of(compile_report(RUNG_KERNELS["register_1d"].kernel, SIGNATURE, "9.0"))
    together = rows["register_1d", "9.0"]
    assert (alone.ffma, alone.lds, alone.ldg) == (together.ffma, together.lds, together.ldg)
    assert alone.instructions == pytest.approx(together.instructions, rel=0.02)


@pytest.mark.parametrize("cc", ("8.0", "9.0"))
def test_cp_async_copies_without_registers(rows, cc):
    opcodes = rows["cp_async", cc].opcodes
    copies = {opcode: count for opcode, count in opcodes.items() if opcode.startswith("LDGSTS")}
    assert sum(copies.values()) == 6  # 4 of one element of A, 2 of four of B
    assert sum(count for opcode, count in copies.items() if "BYPASS.128" in opcode) == 2
    assert not [opcode for opcode in opcodes if opcode.startswith("STS")]


@pytest.mark.parametrize("name", twins.NAMES)
def test_the_kept_numbers_are_of_this_twin(name):
    kept = json.loads(twins.KEPT.read_text())
    assert kept[name]["source"] == twins.fingerprint(name), f"run {twins.__file__}"


@pytest.mark.parametrize(
    ("cc", "one_in"), [("9.0", 3), *(pytest.param(cc, 1, marks=LONG) for cc in twins.CAPABILITIES)]
)
def test_the_kept_numbers_are_what_nvcc_makes_of_the_twins(nvcc, cc, one_in):
    """So the ratios above are to twins compiled now, not to a table that somebody wrote."""
    kept = json.loads(twins.KEPT.read_text())
    names = [name for name in twins.NAMES if cc in kept[name]][::one_in]
    for name, found in twins.compiled(names, (cc,)).items():
        assert found[cc]["ffma"] == kept[name][cc]["ffma"]
        # Another release of nvcc may differ a little.
        near = kept[name][cc]["instructions"]
        assert found[cc]["instructions"] == pytest.approx(near, rel=0.02), name
