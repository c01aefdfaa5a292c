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
FIRST = (
    statements.moved_into_a_loop,
    statements.moved_out_of_a_loop,
    names.exchanged_in_a_call,
    names.exchanged_in_a_loop,
    names.exchanged_indices,
    names.exchanged_in_a_return,
    names.exchanged_in_a_product,
    names.other_axis,
    formulas.brackets,
    formulas.comparisons,
    formulas.calls,
    statements.set_otherwise,
    names.same_number_twice,
)
OF_FUNCTIONS = (
    formulas.shifts,
    formulas.turned_round,
    formulas.surplus,
    formulas.operators,
    formulas.opposites,
    names.other_names,
)
# Of a kernel, each try is a launch: more of its slips are a wrong name than a wrong operator.
OF_KERNELS = (names.other_names, formulas.operators, formulas.surplus)
LAST = (names.other_numbers, formulas.factors)


def changes(function: Original) -> Iterator[Change]:
    """All small changes to a function, the likeliest first."""
    others = (
        (*OF_KERNELS, *LAST) if function.is_kernel else (*OF_FUNCTIONS, *LAST, formulas.divisions)
    )
    for places in (*FIRST, *others):
        yield from places(function)
