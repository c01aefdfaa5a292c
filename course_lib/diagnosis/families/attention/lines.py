"""Where in an attention kernel a step stands: which finder knows it."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence

from course_lib.diagnosis.families.attention.mask_lines import mask_line, mask_value_line, size_line
from course_lib.diagnosis.families.attention.maximum_lines import (
    first_maximum_line,
    maximum_line,
    old_maximum_line,
    tie_line,
)
from course_lib.diagnosis.families.attention.shuffle_lines import (
    max_shuffle_line,
    reduction_end_line,
    reduction_line,
    sum_reduction_line,
    total_reduction_end_line,
    total_reduction_line,
    total_shuffle_line,
)
from course_lib.diagnosis.families.attention.step_lines import (
    division_line,
    equal_weights_line,
    exponential_line,
    exponential_lines,
    factor_line,
    factor_use_line,
    first_out_line,
    first_total_line,
    products_line,
    rescaling_line,
    scale_line,
    score_line,
    store_line,
    tiles_line,
    total_line,
    weighing_line,
)
from course_lib.diagnosis.families.sum_lines import sum_place
from course_lib.diagnosis.slip import Evidence, SlipLocation
from course_lib.diagnosis.source.nodes import indices_of, loop_names, names_bound
from course_lib.diagnosis.source.source import Source

# The steps of attention, as slips and entries name them.
STEPS: dict[str, Callable[[Source, Sequence[str]], int | None]] = {
    "scale": scale_line,
    "exp": exponential_line,
    "weigh": weighing_line,
    "mask": mask_line,
    "mask value": mask_value_line,
    "loop": tiles_line,
    "out": weighing_line,
    "total": total_line,
    "factor": factor_line,
    "rescale": rescaling_line,
    "factor use": factor_use_line,
    "equal weights": equal_weights_line,
    "tie": tie_line,
    "size": size_line,
    "sum reduction": sum_reduction_line,
    "total reduction": total_reduction_line,
    "total reduction end": total_reduction_end_line,
    "total shuffle": total_shuffle_line,
    "max": maximum_line,
    "old maximum": old_maximum_line,
    "first maximum": first_maximum_line,
    "first total": first_total_line,
    "first out": first_out_line,
    "reduction": reduction_line,
    "reduction end": reduction_end_line,
    "max shuffle": max_shuffle_line,
    "products": products_line,
    "store": store_line,
    "divide": division_line,
    "keys": score_line,
    "values": weighing_line,
}


def step_line(source: Source, step: str, names: Sequence[str]) -> int | None:
    """The line of one step; `names` are the kernel's own for Q, K, V and O."""
    return STEPS[step](source, names)


def attention_place(at: Evidence, details: list[str]) -> SlipLocation:
    """A step between the two products of attention."""
    if details[0] == "loop":
        load = _load_that_stays(at.source, at.names[1])
        if load:
            return SlipLocation(load, "wrong-index")
    return SlipLocation(step_line(at.source, details[0], at.names))


def _load_that_stays(source: Source, array: str) -> int | None:
    """A load within the loop over tiles whose row is the same in every round of that loop."""
    for access in source.accesses(array, store=False):
        loops = source.loops_around(access)
        if loops and not source.origins(indices_of(access)[0]) & _changing(loops[0]):
            return access.lineno
    return None


def _changing(loop: ast.For | ast.While) -> set[str]:
    """The variables that a loop sets or changes, its own among them."""
    inner = {
        name
        for node in ast.walk(loop)
        if isinstance(node, ast.For) and node is not loop
        for name in loop_names(node)
    }
    return {*loop_names(loop), *names_bound(loop)} - inner


def exponential_place(at: Evidence, details: list[str]) -> SlipLocation:
    """The last exponential, or the "first"; where there is none, the sum."""
    lines = exponential_lines(at.source)
    line = (min if "first" in details else max)(lines, default=None)
    return SlipLocation(line) if line else sum_place(at, details)
