"""A task's answer is held to its machine code where a compiler is; where none is, it says so."""

import pytest
from sampling import few

from course_lib import machine_code
from course_lib.checking import examine_source
from course_lib.compiled_counts.compiled_answer import with_machine_code
from course_lib.curriculum import TASKS
from course_lib.machine_code import sass
from course_lib.machine_code.report import CompileReport, mix_of

TASK = TASKS["eight_by_eight"]
ABOVE = "from numba import cuda, float32\n\n\n"
# A loop over tiles (20 instructions of its own) around one over k, and perhaps one that copies.
COPY = "{MOV}\n.L_copy:\n{LDG}\n{BRA copy}\n"
LOOPS = ".L_tile:\n{COPY}{MOV 18}\n.L_k:\n{FFMA 8}\n{MOV 1}\n{BRA k}\n{BAR}\n{BRA tile}\n{EXIT}\n"


def listing(copy: bool) -> str:
    """The loops as the disassembler writes them."""
    rows, address = ["//----- .text.f -----"], 0
    for row in LOOPS.replace("{COPY}", COPY if copy else "").splitlines():
        if not row.startswith("{"):
            rows.append(row)
            continue
        name, _, more = row.strip("{}").partition(" ")
        times = int(more) if more.isdecimal() else 1
        operands = f"`(.L_{more})" if name == "BRA" else "R0, R1"
        for _ in range(times):
            guard = "@P0 " if name == "BRA" else ""
            rows.append(f"        /*{address:04x}*/                   {guard}{name} {operands} ;")
            address += 16
    return "\n".join(rows)


def report_of(copy: bool, spilled: int = 0) -> CompileReport:
    code = sass.parse(listing(copy), "f")
    loop = sass.hot_loop(code)
    around, beside = sass.around_hot_loop(code)
    return CompileReport(
        kernel="f", arguments="", cc="7.5", registers=9, static_shared_bytes=0, stack_bytes=0,
        spill_store_bytes=spilled, spill_load_bytes=0, mix=mix_of(loop), loop=loop, note="",
        versions="", code=code.instructions, around=around, loops_beside=beside,
    )  # fmt: skip


def test_a_tile_is_the_hot_loop_as_often_as_it_takes_and_what_stands_around_it() -> None:
    report = report_of(copy=False)
    assert report.over_a_tile(80) == (10 * 10 + 20) / 80
    assert report.over_a_tile(8) == 10 / 8  # the hot loop is the loop over tiles
    assert report_of(copy=True).over_a_tile(80) is None


@pytest.fixture(scope="module")
def passed():
    found = examine_source(TASK.id, ABOVE + TASK.answer, debug=True)
    assert found.passed
    return found


def test_without_a_compiler_it_is_skipped_by_name(monkeypatch, passed) -> None:
    monkeypatch.setattr(machine_code, "missing", lambda: "Get one.")
    report = with_machine_code(TASK, None, passed)
    assert report.passed
    assert "Skipped: the machine instructions of eight_by_eight." in str(report)
    assert with_machine_code(TASKS["four_sums"], None, passed) is passed  # it counts none


@pytest.mark.parametrize(("made", "words"), few([
    (report_of(copy=False), "1.27 instructions for each multiply-add over a whole tile"),
    (report_of(copy=True), "has another loop in the loop over tiles"),
    (report_of(copy=False, spilled=8), "8 bytes of each thread spill"),
], 1))  # fmt: skip
def test_what_is_not_lean_is_told_why(monkeypatch, passed, made, words) -> None:
    monkeypatch.setattr(machine_code, "missing", lambda: "")
    monkeypatch.setattr(machine_code, "compile_report", lambda *_, **__: made)
    report = with_machine_code(TASK, None, passed)
    assert not report.passed and words in report.errors[0].message
