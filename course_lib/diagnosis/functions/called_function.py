"""Examines answers that are no kernels, and says why numbers are wrong.

A plain function is called on a table of arguments. It is never executed: the emulator's walk over
plain functions interprets it, so that a student's own machine and a grader's come to the same
verdict. What is right says the reference of the table; what wrong results mean, its wrong ideas,
the one change that mends them, and a few things that all functions have in common.
"""

from __future__ import annotations

import ast
from collections import ChainMap, defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import combinations
from typing import NamedTuple

from course_lib.curriculum import Exercise
from course_lib.devices.number_formats import is_bit_pattern
from course_lib.diagnosis.functions import words
from course_lib.diagnosis.functions.function_calls import (
    Call,
    alike,
    all_calls,
    edit_that_repairs,
    ends_all,
    last_return,
    line_of,
    same_numbers,
)
from course_lib.diagnosis.functions.words import tell
from course_lib.diagnosis.repair.causes import MOVES, code_of
from course_lib.diagnosis.repair.edit import Edit
from course_lib.diagnosis.repair.words import said_of
from course_lib.diagnosis.report import Report, Tried, make_report
from course_lib.diagnosis.source.tree import node_at, nodes_in
from course_lib.emulator import Kernel
from course_lib.problems import tile_choice
from course_lib.problems.call_table import CallTable
from course_lib.problems.constants import Numbers
from course_lib.registry.exercise import Task, WrongIdea
from course_lib.wording.findings import Finding
from course_lib.wording.words import joined


def examine_function(table: CallTable, function: Kernel) -> Report:
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
        meant = next(explanations(calls, edit), ())
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
    calls = nodes_in(function.tree, ast.Call)
    return next((call.lineno for call in calls if getattr(call.func, "id", "") == "print"), None)


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


# --- What wrong results mean ----------------------------------------------------------------------


LOOPS = (ast.For, ast.While, ast.comprehension)
MOST_IDEAS = 3  # that are looked for at once
FORMULA = "wrong-formula"


class Explanation(NamedTuple):
    """What came out, said behind the call that shows it; or the change that makes it right.

    Attributes:
        kind: the row of its words.
        facts: for them.
        code: of the finding, where it is not that of the row.
        place: what the line to blame names, where no change says which line it is.
        shows: the call that shows it best, if not just any.
    """

    kind: str
    facts: Mapping[str, object] = {}
    code: str = ""
    place: tuple[str, ...] = ()
    shows: Call | None = None

    def at(self, line: int) -> Finding:
        found = tell(self.kind, line, **self.facts)
        return replace(found, code=self.code or found.code)


def explanations(calls: Sequence[Call], edit: Edit | None) -> Iterator[tuple[Explanation, ...]]:
    """All that explains the results of every call, the most telling first.

    Each is one thing, or several that are wrong together.
    """
    if edit and _decides(edit):
        yield (_of_the_edit(edit),)
    yield from _wrong_ideas(calls)
    if len({call.number for call in calls}) == 1:
        parameters = joined(calls[0].table.entry.parameters)
        yield (Explanation("one number", {"parameters": parameters}),)
    if edit:
        yield (_of_the_edit(edit),)


def _of_the_edit(edit: Edit) -> Explanation:
    says, hint = said_of(edit)
    return Explanation("edit", {"says": says, "hint": hint}, code_of(edit, FORMULA))


def _decides(edit: Edit) -> bool:
    """Does the text alone say why the numbers are wrong, more than any meaning of them can?

    In a loop other brackets may come out right by chance.
    """
    around = [node_at(edit.tree, path[:n]) for path in edit.paths for n in range(len(path))]
    in_loop = any(isinstance(node, LOOPS) for node in around)
    return edit.kind in MOVES or (edit.kind == "brackets" and not in_loop)


# --- Ideas that the entry itself names ------------------------------------------------------------


def _wrong_ideas(calls: Sequence[Call]) -> Iterator[tuple[Explanation, ...]]:
    """The formula of another idea gives these numbers, or that of the fewest together."""
    ran = [call for call in calls if not call.stopped]  # a division by 0 ends one and not the idea
    ran.sort(key=lambda call: call.right)  # what went wrong rules most ideas out
    for ideas, computes in _together(calls[0].table):
        if ran and not ran[0].right and _gives(computes, ran):
            yield tuple(_of_an_idea(idea, ran) for idea in ideas)


Ideas = tuple[WrongIdea, ...]


def _together(table: CallTable) -> Iterator[tuple[Ideas, Callable[..., float]]]:
    """Every idea, then pairs and more of those that change different parts of one formula."""
    parts = []
    for idea in table.wrong_ideas:
        yield (idea,), idea.computes
        if isinstance(idea.computes, partial):
            parts.append((idea, idea.computes))
    for count in range(2, MOST_IDEAS + 1):
        for some in combinations(parts, count):
            ideas, changes = zip(*some, strict=True)
            keywords = ChainMap(*(change.keywords for change in changes))
            changed = sum(len(change.keywords) for change in changes)
            if len(keywords) == changed and len({change.func for change in changes}) == 1:
                yield ideas, partial(changes[0].func, **keywords)


def _gives(computes: Callable[..., float], calls: Sequence[Call]) -> bool:
    """Does a formula give what came out of all of these calls?"""
    return all(_is_from(computes, call) for call in calls)


def _is_from(computes: Callable[..., float], call: Call) -> bool:
    if call.right and not call.wanted:  # it may be refused before anything is worked out
        return True
    try:
        return call.number is not None and alike(call.number, computes(*call.arguments))
    except ZeroDivisionError:
        return False


def _of_an_idea(idea: WrongIdea, calls: Sequence[Call]) -> Explanation:
    """With the call that it alone gets wrong, if there is one."""
    shows = next((call for call in calls if not call.right and _is_from(idea.computes, call)), None)
    facts = {"says": idea.says, "hint": idea.hint}
    return Explanation("wrong idea", facts, idea.code, idea.place, shows)


# --- Answers that are a few numbers ---------------------------------------------------------------


Check = Callable[[Exercise, Numbers], tuple[list[Finding], list[str] | None]]
# By family: what is wrong with the numbers of an answer, and what can be said for them if they can
# be meant at all.
CHECKS: Mapping[str, Check] = {"tile choice": tile_choice.check}


def examine_numbers(exercise: Exercise, numbers: Numbers) -> Report:
    """The verdict on constants: by a task's reference, or by the check of a family."""
    if isinstance(exercise, Task):
        return _asked_numbers(exercise, numbers)
    found, held = CHECKS[exercise.family](exercise, numbers)
    return make_report(exercise, found, held or (), numbers_right=held is not None)


def _asked_numbers(task: Task, numbers: Numbers) -> Report:
    """The verdict on the constants; the reference returns the right ones by name."""
    assert task.reference is not None
    wanted = task.reference()
    found = [
        finding for name in task.parameters for finding in _of_a_number(name, wanted[name], numbers)
    ]
    return make_report(task, found, numbers_right=not found)


def _of_a_number(name: str, wanted: object, numbers: Numbers) -> Iterator[Finding]:
    value, line = numbers.values.get(name, ...), numbers.line(name)
    if value is ...:
        yield tell("no value", line, name=name)
    elif isinstance(value, bool) or not isinstance(value, (int, float)):
        yield tell("value no number", line, name=name, value=repr(value))
    elif value != wanted:
        yield tell("not right", line, name=name, value=value)
