"""What can be said in favour of an answer, taken from what all of its launches found.

Findings are looked at as the emulator made them: a cause that explains a symptom away does not
make the symptom unseen.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from course_lib.curriculum import Exercise
from course_lib.diagnosis.codes import OUTSIDE
from course_lib.diagnosis.trial import Trial
from course_lib.problems.problem import Problem
from course_lib.wording.findings import Finding

# What an exercise may ask for: the codes of errors that say it is missed, and how it is praised.
TOOLS: dict[str, tuple[tuple[str, ...], str]] = {
    "shared-memory": (("not-used",), "shared memory is used"),
    "wide": (("not-used",), "each access moves 16 bytes"),
    "overlap": (("serial-work",), "each tile travels while another one is multiplied"),
    "asynchronous": (("not-used",), "asynchronous copies fill shared memory"),
    "tensor": (("not-used",), "tensor cores make all products"),
    "reuse": (("not-used", "excess-global-traffic"), "each element is fetched once per tile"),
    "coalesced": (
        ("not-used", "uncoalesced"),
        "global memory is accessed in neighbouring elements",
    ),
    # Without neighbours on both sides there is no column to walk, and nothing to praise.
    "conflict-free": (("not-used", "uncoalesced", "bank-conflict"), "no bank conflicts"),
}


def what_holds(
    exercise: Exercise,
    found: Sequence[Finding],
    launches: Sequence[Trial],
    problem: Problem,
    numbers_right: bool,
    right_where_even: bool,
    usual: int,
) -> list[str]:
    """What holds, one sentence each.

    Args:
        exercise: what is asked.
        found: what the student is told, causes for symptoms.
        launches: every launch.
        problem: what is computed.
        numbers_right: the numbers are right but for what races do to them.
        right_where_even: they are right where the blocks divide all sizes, equal or not.
        usual: how many launches every answer has; further ones are not counted.
    """
    errors = {finding.code for finding in found if finding.severity == "error"}
    faults = [finding for launch in launches for finding in launch.profile.findings]
    seen = errors | {fault.code for fault in faults}
    # An index that is negative on purpose leaves no array, and is warned of.
    seen_errors = errors | {fault.code for fault in faults if fault.severity == "error"}
    if "timeout" in seen:
        return []
    held = _right_where(launches, problem, numbers_right, right_where_even, usual)
    if not seen_errors & {*OUTSIDE, "wrong-bounds-check", "wrong-index"}:
        held.append("no thread leaves an array")
    several = any(prod((*trial.profile.grid, *trial.profile.block)) > 1 for trial in launches)
    if several and not any(
        code.startswith("race") or code == "barrier-divergence" for code in seen
    ):
        held.append("no races")
    for tool, (codes, praise) in TOOLS.items() if numbers_right else ():
        if tool in exercise.points and not any(error.startswith(codes) for error in errors):
            held.append(praise)
    if "float64-arithmetic" not in {*seen, *exercise.forgiven}:
        held.append("float32 throughout")
    return held


def _right_where(
    launches: Sequence[Trial],
    problem: Problem,
    numbers_right: bool,
    right_where_even: bool,
    usual: int,
) -> list[str]:
    """Where the numbers are right, if anywhere."""
    right = [launch for launch in launches if launch.right and launch.case.is_counted]
    wrong = [launch.case for launch in launches if not launch.right]
    if numbers_right and not wrong and not problem.sizes_vary:
        return [problem.formula]
    if numbers_right and not wrong:
        return [f"{problem.formula} on all {len({trial.case.shape for trial in right})} shapes"]
    if numbers_right:
        return [f"{problem.formula} as long as the warps run in step"]
    only_beyond_a_size = all(case.along is not None or case.allowed for case in wrong)
    exact = {launch.case.shape for launch in right if launch.case.exact}
    with_other_numbers = any(case.shape in exact for case in wrong)
    if right_where_even and not only_beyond_a_size and not with_other_numbers:
        return ["right where the blocks divide all sizes"]
    if len(right) == usual:
        return [f"right on all {usual} usual launches"]
    return [f"right on {len(right)} of {usual} launches"] if right else []
