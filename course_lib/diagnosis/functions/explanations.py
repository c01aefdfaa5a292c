"""What numbers mean that came out of every call: a wrong idea, a factor, an unused parameter."""

from __future__ import annotations

import ast
import math
from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import NamedTuple

from course_lib.diagnosis.functions.function_calls import Call, alike, call, same_numbers
from course_lib.diagnosis.repair.causes import MOVES, code_of
from course_lib.diagnosis.repair.edit import Edit
from course_lib.diagnosis.repair.words import said_of
from course_lib.diagnosis.source.tree import node_at
from course_lib.emulator import Kernel
from course_lib.registry.exercise import Task
from course_lib.wording.sentences import say
from course_lib.wording.words import joined

LOOPS = (ast.For, ast.While, ast.comprehension)


class Explanation(NamedTuple):
    """What came out, said behind the call that shows it; or the change that makes it right."""

    code: str
    says: str
    hint: str
    is_of_the_edit: bool = False


def explanations(
    task: Task, calls: Sequence[Call], edit: Edit | None, function: Kernel
) -> Iterator[Explanation]:
    """All that explains what came out of every call, the most telling first."""
    if edit and _decides(edit):
        yield _of_the_edit(edit)
    yield from _wrong_ideas(task, calls)
    if len({each.number for each in calls}) == 1:
        says = "the same number comes out of every call"
        hint = say("How does it depend on {parameters}?", parameters=joined(task.parameters))
        yield Explanation("hardcoded-answer", says, hint)
    if edit:
        yield _of_the_edit(edit)
    yield from _only_where_two_are_equal(task, calls, function)
    yield from _only_for_one_value(task, calls)
    yield from _unused(function)
    apart = {None if each.number is None else each.number - each.wanted for each in calls}
    if len(apart) == 1:
        says = "every result is off by the same number"
        yield Explanation("wrong-formula", says, "Does the count begin with 0 or with 1?")
    yield from _by_a_factor(calls)
    if all(_is_nearly_right(each) for each in calls):
        says = "a whole number is asked for, and this is a fraction"
        yield Explanation("wrong-formula", says, "What does // do, and / not?")


def _of_the_edit(edit: Edit) -> Explanation:
    says, hint = said_of(edit)
    return Explanation(code_of(edit, "wrong-formula"), says, hint, is_of_the_edit=True)


def _decides(edit: Edit) -> bool:
    """Does the text alone say why the numbers are wrong, more than any meaning of them can?

    In a loop other brackets may come out right by chance.
    """
    around = [node_at(edit.tree, path[:n]) for path in edit.paths for n in range(len(path))]
    in_loop = any(isinstance(node, LOOPS) for node in around)
    return edit.kind in MOVES or (edit.kind == "brackets" and not in_loop)


def _wrong_ideas(task: Task, calls: Sequence[Call]) -> Iterator[Explanation]:
    """What the task knows of: the formula of another idea gives these numbers."""
    ran = [each for each in calls if not each.stopped]  # a division by 0 ends one and not the idea
    for idea in task.wrong_ideas:
        computed = [idea.computes(*each.arguments) for each in ran]
        if same_numbers([each.number for each in ran], computed):
            yield Explanation("wrong-formula", idea.says, idea.hint)


def _only_where_two_are_equal(
    task: Task, calls: Sequence[Call], function: Kernel
) -> Iterator[Explanation]:
    pairs = [
        (task.parameters[one], task.parameters[two])
        for one, two in combinations(range(len(task.parameters)), 2)
        if all(c.right == (c.arguments[one] == c.arguments[two]) for c in calls)
        and _right_where_equal(task, function, calls, one, two)
    ]
    if len(pairs) == 1 and any(each.right for each in calls):
        (first, second), *_ = pairs
        says = say("it is right only where {a} and {b} are equal", a=first, b=second)
        yield Explanation(
            "wrong-formula", says, say("Where do {a} and {b} come in?", a=first, b=second)
        )


def _right_where_equal(
    task: Task, function: Kernel, calls: Sequence[Call], one: int, two: int
) -> bool:
    """Is it right wherever these two are equal, and not by chance in the one call of the table?"""
    for each in calls:
        arguments = list(each.arguments)
        arguments[two] = arguments[one]
        if not call(task, function, tuple(arguments)).right:
            return False
    return True


def _only_for_one_value(task: Task, calls: Sequence[Call]) -> Iterator[Explanation]:
    """One parameter is taken for a number."""
    assert task.reference is not None
    values = [each.number for each in calls]
    for place, name in enumerate(task.parameters):
        for value in sorted({each.arguments[place] for each in calls}):  # type: ignore[type-var]
            fixed = [(*c.arguments[:place], value, *c.arguments[place + 1 :]) for c in calls]
            if values == [task.reference(*each) for each in fixed]:
                says = say("it is right only where {name} is {value}", name=name, value=value)
                yield Explanation(
                    "wrong-formula", says, say("Where does {name} come in?", name=name)
                )


def _unused(function: Kernel) -> Iterator[Explanation]:
    read = {each.id for each in ast.walk(function.tree) if isinstance(each, ast.Name)}
    unread = [f"`{each}`" for each in function.parameters if each not in read]
    if unread:
        names = joined(unread)
        says = say("it makes no use of {names}", names=names)
        verb = "does" if len(unread) == 1 else "do"
        yield Explanation(
            "wrong-formula", says, say("Where {verb} {names} come in?", verb=verb, names=names)
        )


def _by_a_factor(calls: Sequence[Call]) -> Iterator[Explanation]:
    """Every result is too large, or too small, by the same whole factor."""
    quotients = [
        each.number / each.wanted for each in calls if each.number is not None and each.wanted
    ]
    first = quotients[0] if len(quotients) == len(calls) else 0.0
    if first <= 0 or not same_numbers(quotients, [first] * len(quotients)):
        return
    for factor, size in ((first, "large"), (1 / first, "small")):
        if factor > 1.5 and all(_is_times(each, round(factor), size) for each in calls):
            says = say("every result is {factor} times too {size}", factor=round(factor), size=size)
            yield Explanation(
                "wrong-formula",
                says,
                say("Where does the factor {f} come from?", f=round(factor)),
            )


def _is_times(call: Call, factor: int, size: str) -> bool:
    """Is the result this many times too large, or too small?"""
    value, wanted = call.number or 0, call.wanted
    return alike(value, factor * wanted) if size == "large" else alike(factor * value, wanted)


def _is_nearly_right(call: Call) -> bool:
    """Is it the whole number that is asked for, but for a fraction?"""
    apart = math.inf if call.number is None else abs(call.number - call.wanted)
    return isinstance(call.wanted, int) and apart < 1
