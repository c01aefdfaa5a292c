"""Every small change to a kernel: another name, number, operator, comparison, index, statement."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from course_lib.diagnosis.repair.edit import Edit
from course_lib.diagnosis.repair.exchanges import (
    arguments_exchanged,
    indices_exchanged,
    names_exchanged,
    registers_exchanged,
    targets_exchanged,
)
from course_lib.diagnosis.repair.expressions import of_expressions
from course_lib.diagnosis.repair.ingredients import Ingredients
from course_lib.diagnosis.repair.plain import of_plain_expressions
from course_lib.diagnosis.repair.statements import of_statements
from course_lib.diagnosis.repair.together import (
    alike_comparisons,
    alike_numbers,
    both_indices_off,
    guarded_loads,
    on_both_axes,
)
from course_lib.diagnosis.source.nodes import names_bound, names_read
from course_lib.emulator.inference.typings import Typing


def edits_of(
    typing: Typing,
    constants: Sequence[str],
    given: Collection[str],
    numbers: Sequence[int] = (),
    fields: Sequence[str] = (),
) -> list[Edit]:
    """Every small change to one function, but for lines that stand where every student is given
    them; of a plain function, `numbers` may stand in place of its own, and `fields` of records."""
    function = Ingredients(typing, constants, numbers, fields)
    found = [
        *of_expressions(function),
        *(of_plain_expressions(function) if numbers else ()),
        *of_statements(function),
        *registers_exchanged(function, [()], 2),
        *on_both_axes(function),
        *both_indices_off(function),
        *alike_comparisons(function),
        *alike_numbers(function),
        *indices_exchanged(function),
        *names_exchanged(function),
        *targets_exchanged(function),
        *arguments_exchanged(function),
        *guarded_loads(function),
    ]
    lines = enumerate(typing.kernel.source.splitlines(), typing.kernel.first_line)
    kept = {number for number, line in lines if line.rstrip() in given}
    return [edit for edit in found if edit.line not in kept and _has_all_values(edit, function)]


def _has_all_values(edit: Edit, function: Ingredients) -> bool:
    """Does every variable that a statement reads have a value where the statement is put?"""
    return not any(
        (names_read(statement) & function.variables) - names_bound(statement) - known
        for path, change in edit.statements.items()
        for known in [function.known_at(path)]
        for statement in (*change.before, *(change.instead or ()))
    )
