"""Examines a plain function: calls it on a table of arguments, and says why numbers are wrong.

The function is never executed: the emulator's walk over plain functions interprets it, so that a
student's own machine and a grader's come to the same verdict. What is right says the reference of
the table; what wrong results mean, its wrong ideas, the one change that mends them, and a few
things that all functions have in common.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from course_lib.devices.number_formats import is_bit_pattern
from course_lib.diagnosis.functions import words
from course_lib.diagnosis.functions.explanations import FORMULA, Explanation, explanations
from course_lib.diagnosis.functions.function_calls import (
    Call,
    all_calls,
    ends_all,
    same_numbers,
)
from course_lib.diagnosis.functions.mended import edit_that_repairs, last_return, line_of
from course_lib.diagnosis.functions.words import tell
from course_lib.diagnosis.repair.edit import Edit
from course_lib.diagnosis.report import Report, Tried, make_report
from course_lib.emulator import Kernel
from course_lib.problems.call_table import CallTable
from course_lib.registry.exercise import Task
from course_lib.wording.findings import Finding


def examine(table: CallTable, function: Kernel) -> Report:
    """The verdict on a function."""
    missing = _missing(table, function)
    if missing:
        return make_report(table.entry, [missing])
    calls = list(all_calls(table, function))
    possible = [call for call in calls if not call.refused]
    wrong = [call for call in possible if not call.right]
    if ends_all(calls[-1]):
        found = [_stopped(calls[-1])]
    else:
        found = list(_why(possible, wrong, function)) if wrong else []
    works = any(call.right and call.wanted for call in possible)
    if works and all(finding.code == FORMULA for finding in found):  # else it is too early
        found += _accepted(calls, function, {finding.line for finding in found})
    right = sum(call.right for call in calls)
    held = [f"right for {right} of {len(calls)} calls"] if right else []
    report = make_report(table.entry, found, held, numbers_right=not wrong)
    tried = () if table.drawn else tuple(Tried(words.written(call), call.right) for call in calls)
    return replace(report, tried=tried)


def _missing(table: CallTable, function: Kernel) -> Finding | None:
    if len(function.parameters) != len(table.entry.parameters):
        return tell(
            "parameters",
            function.tree.lineno,
            own_parameters=", ".join(function.parameters),
            what="the task" if isinstance(table.entry, Task) else "the exercise",
            signature=table.entry.signature,
        )
    return tell("empty", function.tree.lineno) if function.is_empty else None


def _why(calls: Sequence[Call], wrong: Sequence[Call], function: Kernel) -> Iterator[Finding]:
    """The findings for wrong results."""
    ended = [call for call in wrong if not call.stopped]
    stop = next((call for call in wrong if call.stopped), None)
    # Where Python itself stops, that says more than a wrong number, if it is not of the arithmetic.
    if stop and stop.stopped and (not ended or stop.stopped.code != FORMULA):
        yield _stopped(stop)
        return
    shown, returned = ended[0], last_return(function)
    nothing = next((call for call in ended if call.value is None), None)
    if nothing:
        yield _nothing(nothing, calls, function)
    elif shown.number is None:
        yield tell("no number", returned, compared=words.compared(shown))
    elif shown.table.whole and same_numbers(
        [call.number for call in calls], [call.wanted for call in calls]
    ):
        yield _in_a_call("no int", shown, returned)
    else:
        edit = edit_that_repairs(function, calls)
        meant = next(explanations(calls, edit, function), ())
        yield from (_told(explanation, ended, edit, function) for explanation in meant)
        if stop and not meant:
            yield _stopped(stop)
        elif not meant:
            bits = is_bit_pattern(shown.wanted)
            yield _in_a_call("unexplained bits" if bits else "unexplained", shown, returned)


def _told(
    meant: Explanation, wrong: Sequence[Call], edit: Edit | None, function: Kernel
) -> Finding:
    """An explanation with the call that shows it, at the line that a change names, if one does."""
    shown = meant.shows or wrong[0]
    line = edit.line if edit else line_of(_own_names(meant.place, shown, function), function)
    frame = "mended" if meant.kind == "edit" else "explained"
    facts = {"compared": words.compared(shown), "worked": words.worked(shown)}
    return tell.again(frame, meant.at(line), **facts)


def _own_names(place: Sequence[str], call: Call, function: Kernel) -> list[str]:
    """Names of parameters as the function has them."""
    own = dict(zip(call.table.entry.parameters, function.parameters, strict=True))
    return [own.get(name, name) for name in place]


def _in_a_call(kind: str, shown: Call, line: int) -> Finding:
    return tell(kind, line, compared=words.compared(shown), worked=words.worked(shown))


def _stopped(shown: Call) -> Finding:
    assert shown.stopped is not None
    found = replace(shown.stopped, message=words.stopped(shown))
    return tell.again("no hint", found) if found.code == FORMULA and not found.hint else found


def _nothing(shown: Call, calls: Sequence[Call], function: Kernel) -> Finding:
    if any(call.value is not None for call in calls):
        return _in_a_call("no return", shown, _empty_return(function))
    printed = _print(function)
    if printed:
        return tell("printed", printed)
    return tell("nothing returned", function.tree.lineno)


def _print(function: Kernel) -> int | None:
    """The line of a call of print."""
    for node in ast.walk(function.tree):
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "print":
            return node.lineno
    return None


def _empty_return(function: Kernel) -> int:
    """The line of a return without a number, or of the last one."""
    for node in ast.walk(function.tree):
        match node:
            case ast.Return(value=None | ast.Constant(value=None)):
                return node.lineno
    return last_return(function)


def _accepted(
    calls: Sequence[Call], function: Kernel, told: Collection[int | None]
) -> Iterator[Finding]:
    """What is refused by a rule, and got an answer other than that; each rule is told once.

    That the function stops there too is nothing new where a line was told already.
    """
    possible = [call for call in calls if not call.refused and call.right]
    by_rule = defaultdict[str, list[Call]](list)
    for call in calls:
        # 0.0 refuses it as well; that it should be an int is said of the other calls.
        if call.refused and call.number != call.wanted:
            by_rule[call.refused[0]].append(call)
    for shown, *others in by_rule.values():
        if shown.stopped:
            if shown.stopped.line not in told:
                told = {*told, shown.stopped.line}
                yield _stopped(shown)
        elif shown.value is None:
            yield _in_a_call("refused", shown, _empty_return(function))
        else:
            edit = edit_that_repairs(function, [shown, *others, *possible])
            yield _in_a_call("refused", shown, edit.line if edit else function.tree.lineno)
