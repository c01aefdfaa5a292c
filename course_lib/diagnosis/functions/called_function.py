"""Examines a plain function that a task asks for: calls it on a table of arguments.

The function is never executed: the emulator's walk over plain functions interprets it. What is
right says the task's reference; what wrong results mean, its `wrong_ideas`, and a few that all
functions have in common.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import replace

from course_lib.devices.number_formats import in_hexadecimal, is_bit_pattern
from course_lib.diagnosis.functions.explanations import explanations
from course_lib.diagnosis.functions.function_calls import (
    STEPS_PER_CALL,
    Call,
    call,
    same_numbers,
)
from course_lib.diagnosis.repair.edit import Edit
from course_lib.diagnosis.repair.edits import edits_of
from course_lib.diagnosis.report import Report, Tried, make_report
from course_lib.emulator import Budget, Kernel, KernelRejected
from course_lib.emulator.language import types as T
from course_lib.emulator.language.typings import Typing
from course_lib.emulator.plain.interpreter import Interpreter
from course_lib.emulator.plain.values import kind_of
from course_lib.registry.exercise import Task
from course_lib.wording.findings import Finding, finding
from course_lib.wording.sentences import say

STEPS_OF_ALL_CHANGES = 100_000
USUAL_NUMBERS = (4, 8, 32)  # bytes, bits, threads


def examine(task: Task, function: Kernel) -> Report:
    """The verdict on a function."""
    if len(function.parameters) != len(task.parameters):
        message: str = say(
            "It takes ({own_parameters}); the task asks for {signature}.",
            own_parameters=", ".join(function.parameters),
            signature=task.signature,
        )
        line = function.tree.lineno
        return make_report(
            task, [finding("missing-answer", message, line, "Compare the parameters.")]
        )
    if function.is_empty:
        message = "The function is still empty: it returns nothing."
        hint = "What should it return for the smallest case that you can think of?"
        return make_report(task, [finding("missing-answer", message, function.tree.lineno, hint)])
    calls = [call(task, function, each) for each in task.arguments]
    wrong = [each for each in calls if not each.right]
    found = [_why(task, calls, wrong, function)] if wrong else []
    right = len(calls) - len(wrong)
    held = [f"right for {right} of {len(calls)} calls"] if right else []
    report = make_report(task, found, held, numbers_right=not wrong)
    return replace(report, tried=tuple(Tried(_of(task, each), each.right) for each in calls))


def _why(task: Task, calls: Sequence[Call], wrong: Sequence[Call], function: Kernel) -> Finding:
    """The finding for wrong results."""
    # Where Python itself stops, that says more than another call's wrong number.
    shown = next((each for each in wrong if each.stopped), wrong[0])
    if shown.stopped:
        message = say("{seen} Seen on {call}.", seen=shown.stopped.message, call=_of(task, shown))
        return replace(shown.stopped, message=message)
    line = _last_return(function)
    if shown.value is None:
        message = say(
            "{call} returns nothing, and should return {wanted}.",
            call=_of(task, shown),
            wanted=_show(shown.wanted),
        )
        hint = "Does every way through it end in a return?"
        printed = _print(function) if all(each.value is None for each in calls) else None
        if printed:
            line, hint = printed, "What can a caller do with a number that is only printed?"
        return finding("wrong-formula", message, line, hint)
    compared = say(
        "{call} returns {value}, and right is {wanted}",
        call=_of(task, shown),
        value=_show(shown.value, shown.wanted),
        wanted=_show(shown.wanted),
    )
    if shown.number is None:
        return finding(
            "wrong-formula",
            say("{compared}.", compared=compared),
            line,
            "What kind of value is asked for?",
        )
    if shown.whole and same_numbers(
        [each.number for each in calls], [each.wanted for each in calls]
    ):
        return finding(
            "wrong-formula",
            say("{compared}, an int.", compared=compared),
            line,
            "What does // do, and / not?",
        )
    edit = edit_that_repairs(task, function, calls)
    for code, says, hint, is_of_the_edit in explanations(task, calls, edit, function):
        template = "{compared}. With one change here it would be right: {says}."
        said = say(
            template if is_of_the_edit else "{compared}: {says}.", compared=compared, says=says
        )
        return finding(code, said, edit.line if edit else line, hint)
    hint = "Work out this one call with a pencil."
    if is_bit_pattern(shown.wanted):
        hint = "Each digit after 0x is four bits. Which bits are not yet right?"
    return finding("wrong-result", say("{compared}.", compared=compared), line, hint)


def edit_that_repairs(task: Task, function: Kernel, calls: Sequence[Call]) -> Edit | None:
    """The first small change with which every call is right."""
    if not isinstance(function.tree, ast.FunctionDef):
        return None
    numbers = [
        node.value
        for node in ast.walk(ast.parse(task.answer))
        if isinstance(node, ast.Constant) and type(node.value) is int
    ]
    edits = edits_of(_as_typed(function), (), (), numbers or USUAL_NUMBERS)
    # What went wrong comes first: one such call rules most changes out.
    telling = sorted(calls, key=lambda each: each.right)
    left = STEPS_OF_ALL_CHANGES
    for edit in sorted(edits, key=lambda edit: edit.cost):
        changed = replace(function, tree=edit.changed())
        for each in telling:
            right, steps = _is_right(changed, each, Budget(steps=max(1, min(left, STEPS_PER_CALL))))
            left -= steps
            if not right:
                break
        else:
            return edit
        if left <= 0:
            break
    return None


def _as_typed(function: Kernel) -> Typing:
    """A plain function's values are numbers: whole ones, as far as changes go."""
    parts = (node for node in ast.walk(function.tree) if isinstance(node, ast.expr))
    return Typing(function, dict.fromkeys(parts, T.INT64))


def _is_right(function: Kernel, call: Call, budget: Budget) -> tuple[bool, int]:
    """Does a function return what this call should, and how many steps does that take?"""
    walk = Interpreter(budget)
    try:
        value = walk.run(function, list(call.arguments))
    except KernelRejected:
        return False, budget.steps - walk.steps.left
    return call.is_number(value), budget.steps - walk.steps.left


def _of(task: Task, call: Call) -> str:
    """The call as it is written: "sectors(2, 0)"."""
    return f"{task.id}({', '.join(map(repr, call.arguments))})"


def _show(value: object, beside: object = None) -> str:
    if type(value) is int and (is_bit_pattern(value) or is_bit_pattern(beside)):
        return in_hexadecimal(value)
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return repr(value) if is_number else kind_of(value)


def _print(function: Kernel) -> int | None:
    """The line of a call of print."""
    for each in ast.walk(function.tree):
        if isinstance(each, ast.Call) and getattr(each.func, "id", "") == "print":
            return each.lineno
    return None


def _last_return(function: Kernel) -> int:
    returns = [each.lineno for each in ast.walk(function.tree) if isinstance(each, ast.Return)]
    return max(returns, default=function.tree.lineno)
