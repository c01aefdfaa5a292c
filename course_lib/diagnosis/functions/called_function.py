"""Examines a plain function that a task asks for: calls it on a table of arguments.

The function is never executed: the emulator's walk over plain functions interprets it. What is
right says the task's reference; what wrong results mean, its `wrong_ideas`, and a few that all
functions have in common.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from course_lib.diagnosis.repairs.change import Change, Original
from course_lib.diagnosis.repairs.one_change import changes
from course_lib.diagnosis.report import Report, Tried, make_report
from course_lib.emulator import Budget, Kernel, KernelRejected
from course_lib.emulator.plain.interpreter import Interpreter
from course_lib.emulator.plain.values import kind_of
from course_lib.exercise import Task
from course_lib.findings import Finding, finding
from course_lib.number_formats import in_hexadecimal, is_bit_pattern
from course_lib.sentences import say
from course_lib.words import joined

STEPS_PER_CALL = 20_000
STEPS_OF_ALL_CHANGES = 100_000
USUAL_NUMBERS = (4, 8, 32)  # bytes, bits, threads
CLOSE = 1e-9  # of the right number: how far a fraction may be off


@dataclass(frozen=True)
class Call:
    """One call: its arguments, what is right, and what came of it."""

    arguments: tuple[object, ...]
    wanted: float
    whole: bool  # does the task ask for whole numbers?
    value: object = None
    stopped: Finding | None = None

    @property
    def number(self) -> float | None:
        """The value, if it is a number."""
        is_number = isinstance(self.value, (int, float)) and not isinstance(self.value, bool)
        return self.value if is_number else None  # type: ignore[return-value]

    @property
    def right(self) -> bool:
        return self.is_number(self.value)

    def is_number(self, value: object) -> bool:
        """Is this the right number, and whole where only whole ones are asked for?"""
        if not isinstance(value, (int, float)) or isinstance(value, bool):
            return False
        if self.whole and not isinstance(value, int):
            return False
        if self.whole:  # however large: a bit of 64 is no fraction of the number
            return bool(value == self.wanted)
        return bool(abs(value - self.wanted) <= CLOSE * abs(self.wanted))


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
    calls = [_call(task, function, each) for each in task.arguments]
    wrong = [each for each in calls if not each.right]
    found = [_why(task, calls, wrong, function)] if wrong else []
    right = len(calls) - len(wrong)
    held = [f"right for {right} of {len(calls)} calls"] if right else []
    report = make_report(task, found, held, numbers_right=not wrong)
    return replace(report, tried=tuple(Tried(_of(task, each), each.right) for each in calls))


def _call(task: Task, function: Kernel, arguments: tuple[object, ...]) -> Call:
    assert task.reference is not None
    wanted = task.reference(*arguments)
    whole = all(isinstance(task.reference(*each), int) for each in task.arguments)
    try:
        value = Interpreter(Budget(steps=STEPS_PER_CALL)).run(function, list(arguments))
    except KernelRejected as stop:
        return Call(arguments, wanted, whole, stopped=stop.findings[0])
    return Call(arguments, wanted, whole, value)


def _why(task: Task, calls: Sequence[Call], wrong: Sequence[Call], function: Kernel) -> Finding:
    """The finding for wrong results."""
    shown = wrong[0]
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
    if shown.whole and _same([each.number for each in calls], [each.wanted for each in calls]):
        return finding(
            "wrong-formula",
            say("{compared}, an int.", compared=compared),
            line,
            "What does // do, and / not?",
        )
    change = change_that_repairs(task, function, calls)
    if change and change.kind != "factor":  # which may stand anywhere in a product
        line = change.line
    for code, says, hint in _explanations(task, calls, change, function):
        place = change.line if change and says == change.says else line
        return finding(code, say("{compared}: {says}.", compared=compared, says=says), place, hint)
    hint = "Work out this one call with a pencil."
    if is_bit_pattern(shown.wanted):
        hint = "Each digit after 0x is four bits. Which bits are not yet right?"
    return finding("wrong-result", say("{compared}.", compared=compared), line, hint)


def change_that_repairs(task: Task, function: Kernel, calls: Sequence[Call]) -> Change | None:
    """The first small change with which every call is right."""
    if not isinstance(function.tree, ast.FunctionDef):
        return None
    numbers = [
        node.value
        for node in ast.walk(ast.parse(task.answer))
        if isinstance(node, ast.Constant) and type(node.value) is int
    ]
    # What went wrong comes first: one such call rules most changes out.
    telling = sorted(calls, key=lambda each: each.right)
    left = STEPS_OF_ALL_CHANGES
    for change in changes(Original(function.tree, numbers=[*USUAL_NUMBERS, *numbers])):
        changed = replace(function, tree=change.tree)
        for each in telling:
            right, steps = _is_right(changed, each, Budget(steps=max(1, min(left, STEPS_PER_CALL))))
            left -= steps
            if not right:
                break
        else:
            return change
        if left <= 0:
            break
    return None


def _decides(change: Change) -> bool:
    """Does the text alone say why the numbers are wrong, more than any meaning of them can?"""
    of_brackets = change.kind == "precedence" and not change.in_loop
    return of_brackets or change.kind == "indentation"


def _is_right(function: Kernel, call: Call, budget: Budget) -> tuple[bool, int]:
    """Does a function return what this call should, and how many steps does that take?"""
    walk = Interpreter(budget)
    try:
        value = walk.run(function, list(call.arguments))
    except KernelRejected:
        return False, budget.steps - walk.steps.left
    return call.is_number(value), budget.steps - walk.steps.left


def _explanations(
    task: Task, calls: Sequence[Call], change: Change | None, function: Kernel
) -> Iterator[tuple[str, str, str]]:
    """Code, what it means and hint of all that explains what came out of every call."""
    assert task.reference is not None
    if change and _decides(change):
        yield change.code, change.says, change.hint
    values = [each.number for each in calls]
    ran = [each for each in calls if not each.stopped]  # a division by 0 ends one and not the idea
    for idea in task.wrong_ideas:
        computed = [idea.computes(*each.arguments) for each in ran]
        if _same([each.number for each in ran], computed):
            yield "wrong-formula", idea.says, idea.hint
    if len(set(values)) == 1:
        says = "the same number comes out of every call"
        yield (
            "hardcoded-answer",
            says,
            say("How does it depend on {parameters}?", parameters=joined(task.parameters)),
        )
    if change:
        yield change.code, change.says, change.hint
    pairs = [
        (task.parameters[one], task.parameters[two])
        for one, two in combinations(range(len(task.parameters)), 2)
        if all(c.right == (c.arguments[one] == c.arguments[two]) for c in calls)
        and _right_where_equal(task, function, calls, one, two)
    ]
    if len(pairs) == 1 and any(each.right for each in calls):
        (first, second), *_ = pairs
        says = say("it is right only where {a} and {b} are equal", a=first, b=second)
        yield "wrong-formula", says, say("Where do {a} and {b} come in?", a=first, b=second)
    for place, name in enumerate(task.parameters):
        for value in sorted({each.arguments[place] for each in calls}):  # type: ignore[type-var]
            fixed = [(*c.arguments[:place], value, *c.arguments[place + 1 :]) for c in calls]
            if values == [task.reference(*each) for each in fixed]:
                says = say("it is right only where {name} is {value}", name=name, value=value)
                yield "wrong-formula", says, say("Where does {name} come in?", name=name)
    read = {each.id for each in ast.walk(function.tree) if isinstance(each, ast.Name)}
    unread = [f"`{each}`" for each in function.parameters if each not in read]
    if unread:
        names = joined(unread)
        says = say("it makes no use of {names}", names=names)
        verb = "does" if len(unread) == 1 else "do"
        yield "wrong-formula", says, say("Where {verb} {names} come in?", verb=verb, names=names)
    apart = {None if each.number is None else each.number - each.wanted for each in calls}
    if len(apart) == 1:
        says = "every result is off by the same number"
        yield "wrong-formula", says, "Does the count begin with 0 or with 1?"
    yield from _by_a_factor(calls)
    if all(_is_nearly_right(each) for each in calls):
        says = "a whole number is asked for, and this is a fraction"
        yield "wrong-formula", says, "What does // do, and / not?"


def _right_where_equal(
    task: Task, function: Kernel, calls: Sequence[Call], one: int, two: int
) -> bool:
    """Is it right wherever these two are equal, and not by chance in the one call of the table?"""
    for each in calls:
        arguments = list(each.arguments)
        arguments[two] = arguments[one]
        if not _call(task, function, tuple(arguments)).right:
            return False
    return True


def _by_a_factor(calls: Sequence[Call]) -> Iterator[tuple[str, str, str]]:
    """Every result is too large, or too small, by the same whole factor."""
    quotients = [
        each.number / each.wanted for each in calls if each.number is not None and each.wanted
    ]
    first = quotients[0] if len(quotients) == len(calls) else 0.0
    if first <= 0 or not _same(quotients, [first] * len(quotients)):
        return
    for factor, size in ((first, "large"), (1 / first, "small")):
        if factor > 1.5 and all(_is_times(each, round(factor), size) for each in calls):
            says = say("every result is {factor} times too {size}", factor=round(factor), size=size)
            yield (
                "wrong-formula",
                says,
                say("Where does the factor {f} come from?", f=round(factor)),
            )


def _is_times(call: Call, factor: int, size: str) -> bool:
    """Is the result this many times too large, or too small?"""
    value, wanted = call.number or 0, call.wanted
    return _alike(value, factor * wanted) if size == "large" else _alike(factor * value, wanted)


def _is_nearly_right(call: Call) -> bool:
    """Is it the whole number that is asked for, but for a fraction?"""
    apart = math.inf if call.number is None else abs(call.number - call.wanted)
    return isinstance(call.wanted, int) and apart < 1


def _same(values: Sequence[float | None], others: Sequence[float]) -> bool:
    """Are these the same numbers, however a fraction was rounded on the way?"""
    return all(
        value is not None and _alike(value, other)
        for value, other in zip(values, others, strict=True)
    )


def _alike(value: float, other: float) -> bool:
    """Two whole numbers are the same or they are not; a fraction may have been rounded."""
    if isinstance(value, int) and isinstance(other, int):
        return value == other
    return math.isclose(value, other, rel_tol=CLOSE)


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
