"""Wrong results of a plain function explained: by wrong ideas, a factor, an unused parameter."""

from __future__ import annotations

import ast
import math
from collections import ChainMap
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import combinations
from typing import NamedTuple

from course_lib.diagnosis.functions.function_calls import (
    Call,
    alike,
    call,
    same_numbers,
)
from course_lib.diagnosis.functions.words import in_a_call, tell
from course_lib.diagnosis.repair.causes import MOVES, code_of
from course_lib.diagnosis.repair.edit import Edit
from course_lib.diagnosis.repair.words import said_of
from course_lib.diagnosis.source.tree import node_at
from course_lib.emulator import Kernel, Record
from course_lib.problems.call_table import CallTable
from course_lib.registry.exercise import WrongIdea
from course_lib.wording.findings import Finding
from course_lib.wording.words import joined

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


def explanations(
    calls: Sequence[Call], edit: Edit | None, function: Kernel
) -> Iterator[tuple[Explanation, ...]]:
    """All that explains the results of every call, the most telling first.

    Each is one thing, or several that are wrong together.
    """
    if edit and _decides(edit):
        yield (_of_the_edit(edit),)
    yield from _wrong_ideas(calls)
    if len({each.number for each in calls}) == 1:
        parameters = joined(calls[0].table.entry.parameters)
        yield (Explanation("one number", {"parameters": parameters}),)
    if edit:
        yield (_of_the_edit(edit),)
    if any(each.stopped for each in calls):  # which says more than what follows
        return
    for one in (_only_where_two_are_equal, _only_for_one_value, _unused, _of_the_results):
        for each in one(calls, function):
            yield (each,)
    yield from _rounded_down(calls)


FRACTION = Explanation("fraction", place=("/",))


def _rounded_down(calls: Sequence[Call]) -> Iterator[tuple[Explanation, ...]]:
    """Fractions where whole numbers are asked for, which the ideas explain when rounded down."""
    if calls[0].table.whole and any(isinstance(each.value, float) for each in calls):
        for ideas in _wrong_ideas([_floor(each) for each in calls]):
            yield (FRACTION, *(idea._replace(shows=None) for idea in ideas))


def _floor(call: Call) -> Call:
    number = call.number
    whole = math.floor(number) if number is not None and math.isfinite(number) else None
    return replace(call, value=whole)


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
    ran = [each for each in calls if not each.stopped]  # a division by 0 ends one and not the idea
    ran.sort(key=lambda each: each.right)  # what went wrong rules most ideas out
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
    return all(_is_from(computes, each) for each in calls)


def _is_from(computes: Callable[..., float], call: Call) -> bool:
    if call.right and not call.wanted:  # it may be refused before anything is worked out
        return True
    try:
        return call.number is not None and alike(call.number, computes(*call.arguments))
    except ZeroDivisionError:
        return False


def _of_an_idea(idea: WrongIdea, calls: Sequence[Call]) -> Explanation:
    """With the call that it alone gets wrong, if there is one."""
    shows = next((each for each in calls if not each.right and _is_from(idea.computes, each)), None)
    facts = {"says": idea.says, "hint": idea.hint}
    return Explanation("wrong idea", facts, idea.code, idea.place, shows)


# --- Mistakes that any function may have ----------------------------------------------------------


def _only_where_two_are_equal(calls: Sequence[Call], function: Kernel) -> Iterator[Explanation]:
    names = calls[0].table.entry.parameters
    pairs = [
        {"a": names[one], "b": names[two]}
        for one, two in combinations(range(len(names)), 2)
        if any(each.right for each in calls)
        and all(c.right == (c.arguments[one] == c.arguments[two]) for c in calls)
        and _right_where_equal(function, calls, one, two)
    ]
    if len(pairs) == 1:
        yield Explanation("two equal", pairs[0])


def _right_where_equal(function: Kernel, calls: Sequence[Call], one: int, two: int) -> bool:
    """Is it right wherever these two are equal, and not by chance in the one call of the table?"""
    for each in calls:
        arguments = list(each.arguments)
        arguments[two] = arguments[one]
        if not call(each.table, function, tuple(arguments)).right:
            return False
    return True


def _only_for_one_value(calls: Sequence[Call], function: Kernel) -> Iterator[Explanation]:
    """One parameter is taken for a number, or for one record."""
    telling = sorted(calls, key=lambda each: each.right)
    for place, name in enumerate(calls[0].table.entry.parameters):
        for value in dict.fromkeys(each.arguments[place] for each in calls):
            if all(_is_right_with(each, place, value) for each in telling):
                facts = {"name": name, "value": in_a_call(value)}
                if isinstance(value, Record):
                    numbers = tuple(str(each) for each in value.values.values())
                    yield Explanation("one record", facts, place=numbers)
                else:
                    yield Explanation("one value", facts)


def _is_right_with(call: Call, place: int, value: object) -> bool:
    """Would this number be right if one argument were another?"""
    arguments = (*call.arguments[:place], value, *call.arguments[place + 1 :])
    return call.number == call.table.reference(*arguments)


def _unused(calls: Sequence[Call], function: Kernel) -> Iterator[Explanation]:
    read = {node.id for node in ast.walk(function.tree) if isinstance(node, ast.Name)}
    unread = [f"`{parameter}`" for parameter in function.parameters if parameter not in read]
    if unread:
        kind = "one unused" if len(unread) == 1 else "unused"
        yield Explanation(kind, {"names": joined(unread)})


def _of_the_results(calls: Sequence[Call], function: Kernel) -> Iterator[Explanation]:
    """Every result is off by the same number, by the same factor, or by less than 1."""
    if len({None if each.number is None else each.number - each.wanted for each in calls}) == 1:
        yield Explanation("off")
    quotients = [
        each.number / each.wanted for each in calls if each.number is not None and each.wanted
    ]
    first = quotients[0] if len(quotients) == len(calls) else 0.0
    if first > 0 and same_numbers(quotients, [first] * len(quotients)):
        for factor, kind in ((first, "too large"), (1 / first, "too small")):
            if factor > 1.5 and all(_is_times(each, round(factor), kind) for each in calls):
                yield Explanation(kind, {"factor": round(factor)})
    if all(_is_nearly_right(each) for each in calls):
        yield FRACTION


def _is_times(call: Call, factor: int, kind: str) -> bool:
    """Is the result this many times too large, or too small?"""
    value, wanted = call.number or 0, call.wanted
    large = kind == "too large"
    return alike(value, factor * wanted) if large else alike(factor * value, wanted)


def _is_nearly_right(call: Call) -> bool:
    """Is it the whole number that is asked for, but for a fraction?"""
    apart = math.inf if call.number is None else abs(call.number - call.wanted)
    return isinstance(call.wanted, int) and apart < 1
