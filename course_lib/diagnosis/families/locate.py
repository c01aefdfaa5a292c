"""From a slip to the line it is on: which finder knows the kind of place that a slip names."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from course_lib.diagnosis.families.access_lines import (
    call_place,
    guard_place,
    load_place,
    store_place,
)
from course_lib.diagnosis.families.attention.lines import attention_place, exponential_place
from course_lib.diagnosis.families.scan.lines import (
    adds_place,
    copied_place,
    exclusive_place,
    stride_place,
    tree_place,
)
from course_lib.diagnosis.families.sum_lines import (
    chosen_place,
    integer_place,
    loop_place,
    scale_place,
    start_place,
    sum_place,
    zero_place,
)
from course_lib.diagnosis.launches.trail import Trail
from course_lib.diagnosis.slip import Evidence, Slip, SlipLocation
from course_lib.diagnosis.source.source import Source

# The kinds of places, as slips and entries name them; what else a place says goes to the finder.
FINDERS: dict[str, Callable[[Evidence, list[str]], SlipLocation]] = {
    "load": load_place,
    "store": store_place,
    "call": call_place,
    "scale": scale_place,
    "sum": sum_place,
    "start": start_place,
    "guard": guard_place,
    "integer": integer_place,
    "stride": stride_place,
    "adds": adds_place,
    "tree": tree_place,
    "exclusive": exclusive_place,
    "copied": copied_place,
    "attention": attention_place,
    "zero": zero_place,
    "exponential": exponential_place,
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
    evidence = Evidence(source, trail, names, slip.steps)
    return FINDERS[kind](evidence, [translate.get(each, each) for each in details])
