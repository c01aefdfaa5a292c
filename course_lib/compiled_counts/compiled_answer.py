"""Hold a task's answer to its machine code, where this machine has a compiler."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from course_lib import machine_code
from course_lib.curriculum import Task
from course_lib.diagnosis.report import Report, make_report
from course_lib.registry import entry_checks as entries
from course_lib.wording.findings import Finding, finding
from course_lib.wording.sentences import say

COMPUTE_CAPABILITY = "7.5"


def with_machine_code(task: Task, kernel: Any, report: Report) -> Report:
    """The report on an answer that is right, and on its instructions if the task counts them.

    Where no compiler is, the report says by name what was skipped.
    """
    if not task.instructions or not report.passed:
        return report
    skipped = f"Skipped: the machine instructions of {task.id}. "
    reason = machine_code.missing()
    if reason:
        return replace(report, note=skipped + "No compiler is installed here.")
    try:
        compiled = machine_code.compile_report(kernel, _signature(task), cc=COMPUTE_CAPABILITY)
    except machine_code.CompileFailed as failure:
        found = finding("compile-error", str(failure), None, severity="error")
        return _not_yet(task, report, found)
    if compiled.mix is None:
        return replace(report, note=skipped + "No disassembler is installed here.")
    per_multiply_add = compiled.over_a_tile(task.multiply_adds)
    if (
        compiled.spill_store_bytes
        or per_multiply_add is None
        or per_multiply_add > task.instructions
    ):
        return _not_yet(task, report, _too_many(task, compiled, per_multiply_add))
    return replace(
        report,
        note=f"On sm_75: {per_multiply_add:.2f} instructions for each multiply-add, over a whole "
        "tile.",
    )


def _not_yet(task: Task, report: Report, found: Finding) -> Report:
    """The report with one more finding; what it knew of the launches stays."""
    made = make_report(task, (*report.findings, found), report.held, report.numbers_right)
    return replace(made, tried=report.tried, counts=report.counts, launched=report.launched)


def _too_many(
    task: Task, compiled: machine_code.CompileReport, per_multiply_add: float | None
) -> Finding:
    """What stands in the way of a lean loop: a copy in a loop, spills, or too many instructions."""
    assert compiled.mix is not None
    line = _busiest_line(compiled)
    if per_multiply_add is None:
        message = say(
            "The machine code has {loops} in the loop over tiles, beside the one that multiplies, "
            "so the instructions of a whole tile cannot be counted.",
            loops="another loop" if compiled.loops_beside == 1 else "more loops",
        )
        hint = "Which loop has a number of trips that the compiler cannot know?"
    elif compiled.spill_store_bytes:
        message = say(
            "{registers} registers are not enough: {bytes} bytes of each thread spill into local "
            "memory.",
            registers=compiled.registers,
            bytes=compiled.spill_store_bytes,
        )
        hint = "How many numbers does a thread keep at the same time?"
    else:
        message = say(
            "The result is right. On sm_75 it takes {each} instructions for each multiply-add over "
            "a whole tile, and {most} are asked for. In a trip of the hot loop: {mix}.",
            each=f"{per_multiply_add:.2f}",
            most=f"{task.instructions:g}",
            mix=str(compiled.mix),
        )
        hint = _hint(task, compiled)
    return finding("not-used", message, line, hint, "error")


def _hint(task: Task, compiled: machine_code.CompileReport) -> str:
    assert compiled.mix is not None
    if compiled.mix.ffma < task.multiply_adds:
        return (
            f"A trip has {compiled.mix.ffma} of a tile's {task.multiply_adds:,} multiply-adds, so "
            "the loop over k is still a loop. Which word writes it out?"
        )
    return "Which numbers of this kernel can never be negative, and does Numba know it?"


def _busiest_line(compiled: machine_code.CompileReport) -> int | None:
    """The line of the source that most of the hot loop's multiply-adds come from."""
    lines = [
        instruction.line
        for instruction in compiled.loop
        if instruction.multiply_adds and instruction.line
    ]
    return max(set(lines), key=lines.count, default=None)


def _signature(task: Task) -> str:
    """The types of the task's arrays, all float32 and row-major."""
    axes = (len(entries.axes(shape)) for shape in task.shapes)
    return f"void({', '.join('float32[:, ::1]' if n > 1 else 'float32[::1]' for n in axes)})"
