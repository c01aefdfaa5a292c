"""Every small change to a function, so that the one that repairs it can be found by trying.

A change is one step: other brackets, exchanged indices, another operator, name or number, a
statement moved into a loop or out of it. Who tries them knows whether the changed function is
right; then what the change says is true, and it never says what belongs there instead.
"""

from __future__ import annotations

from collections.abc import Iterator

from course_lib.diagnosis.repairs import formulas as formulas
from course_lib.diagnosis.repairs import names as names
from course_lib.diagnosis.repairs import statements as statements
from course_lib.diagnosis.repairs.change import Change, Original

# What is confused most often, and what leaves least to chance, comes first.
CHANGES = (
    statements.moved_into_a_loop,
    statements.moved_out_of_a_loop,
    names.exchanged_indices,
    formulas.brackets,
    formulas.comparisons,
    formulas.calls,
    statements.set_otherwise,
    names.same_number_twice,
    formulas.shifts,
    formulas.turned_round,
    formulas.surplus,
    formulas.operators,
    formulas.opposites,
    names.other_names,
    names.other_numbers,
    formulas.factors,
    formulas.divisions,
)


def changes(function: Original) -> Iterator[Change]:
    """All small changes to a function, the likeliest first."""
    for places in CHANGES:
        yield from places(function)
