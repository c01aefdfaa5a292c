"""From a slip to the line it is on: which finder knows the kind of place that a slip names."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from course_lib.diagnosis.launches.trail import Trail
from course_lib.diagnosis.places.access import (
    call_place,
    load_place,
    store_place,
)
from course_lib.diagnosis.places.steps import (
    division_place,
    divisor_place,
    exchange_place,
    exponential_place,
    largest_place,
    mask_place,
    named_place,
    product_place,
    start_of_place,
    test_place,
)
from course_lib.diagnosis.places.sums import (
    chosen_place,
    integer_place,
    loop_place,
    start_place,
    sum_place,
    zero_place,
)
from course_lib.diagnosis.slip import Evidence, Slip, SlipLocation
from course_lib.diagnosis.source.source import Source

# The kinds of places, as slips and entries name them; what else a place says goes to the finder.
FINDERS: dict[str, Callable[[Evidence, list[str]], SlipLocation]] = {
    "load": load_place,
    "store": store_place,
    "call": call_place,
    "sum": sum_place,
    "start": start_place,
    "integer": integer_place,
    "named": named_place,
    "product": product_place,
    "divisor": divisor_place,
    "division": division_place,
    "start of": start_of_place,
    "exponential": exponential_place,
    "largest": largest_place,
    "mask": mask_place,
    "test": test_place,
    "exchange": exchange_place,
    "zero": zero_place,
    "chosen": chosen_place,
    "loop": loop_place,
}


def locate(
    slip: Slip,
    source: Source,
    trail: Trail,
    names: Sequence[str],
    letters: Sequence[str] = "ABC",
) -> SlipLocation:
    """The line to blame for a slip; `names` are the kernel's own for the exercise's letters.

    The letter "A" in a slip's place always stands for the first input.
    """
    kind, *details = slip.place or ("",)
    if kind not in FINDERS:
        return SlipLocation(None)
    translate = {"A": names[0], **dict(zip(letters, names, strict=False))}
    evidence = Evidence(source, trail, names)
    return FINDERS[kind](evidence, [translate.get(each, each) for each in details])
