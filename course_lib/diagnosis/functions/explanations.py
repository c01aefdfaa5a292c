"""Wrong results of a plain function explained: by wrong ideas, a factor, an unused parameter."""

from __future__ import annotations

import ast
from collections import ChainMap
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import combinations
from typing import NamedTuple

from course_lib.diagnosis.functions.function_calls import (
    Call,
    alike,
)
from course_lib.diagnosis.functions.words import tell
from course_lib.diagnosis.repair.causes import MOVES, code_of
from course_lib.diagnosis.repair.edit import Edit
from course_lib.diagnosis.repair.words import said_of
from course_lib.diagnosis.source.tree import node_at
from course_lib.emulator import Kernel
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
