"""The points that an answer has earned, property by property, and what is said in its favour.

`grading/gradebook/scoring.py` only weighs them, by what a course sets.

The rule, in the order in which it is applied:

1. What cannot be run, does not end, does not look at its inputs or computes with what nobody wrote,
   also where the blocks divide all sizes, earns nothing.
2. An answer has to work somewhere: a kernel on the exact launch (a problem that its blocks divide,
   with inputs that nobody has seen), any other answer everywhere. Below that nothing is earned, or
   an empty kernel would be free of races.
3. Every error costs the property that it is about. An error that is about no property, or about
   one that the exercise does not ask for, means that the answer is not right.
4. A kernel whose numbers are wrong on some shapes is not right, and has not mastered the bounds.
   What it shows on even ones (neighbours, reuse, barriers, float32) stays earned: it is worth what
   an honest answer is worth that has no edge handling, and no more.
5. A race, or a barrier that not all threads reach, costs race-free, and right as well: some order
   of the warps may give the right numbers, but nobody can rely on them. So it is never worth more
   than cells that stay empty at the edges alone, which cost right and bounds by rule 4.
6. Points are earned with the tool that the task asks for. Where the threads of a block hand nothing
   to each other, there is no race, no bank conflict and no reuse to get right: an answer that
   misses what it should have shared that way earns nothing for their absence.
7. Where the answer to an earlier exercise is handed out, points are for what is changed in it: an
   answer that shows nothing which is new in this exercise earns nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from math import prod

from course_lib.curriculum import EXERCISES, Exercise
from course_lib.diagnosis.launches.outcome import OUTSIDE, Trial
from course_lib.problems.problem import Problem
from course_lib.registry.kinds import CONSTANTS, CUTILE, FUNCTION, KERNEL, TRITON, Kind
from course_lib.wording.findings import CODES, Finding

# The property that a finding costs; see rule 3 for what stands in neither table.
PROPERTY_OF: dict[str, str] = {
    "out-of-bounds-read": "bounds",
    "out-of-bounds-write": "bounds",
    "wrong-bounds-check": "bounds",
    "barrier-divergence": "race-free",
    "uninitialised-read": "bounds",
    "race-read-after-write": "race-free",
    "race-write-after-read": "race-free",
    "race-write-after-write": "race-free",
    "uncoalesced-load": "coalesced",
    "uncoalesced-store": "coalesced",
    "not-used": "shared-memory",
    "excess-global-traffic": "reuse",
    "bank-conflict": "conflict-free",
    "serial-work": "overlap",
    "float64-arithmetic": "float32",
}


# What some codes cost where the answer is no kernel.
OF_KIND: dict[Kind, dict[str, str]] = {
    FUNCTION: {"invalid-launch": "refusals"},
    CONSTANTS: {"not-used": "resident", "excess-global-traffic": "intensity"},
}


# What threads reach by working together.
COME_OF_SHARING = {"registers", "reuse", "coalesced"}


# After one of these there is nothing left to judge.
FATAL = {
    "missing-answer",
    "not-allowed",
    "compile-error",
    "unsupported",
    "timeout",
    "hardcoded-answer",
    "uninitialised-read",
}


def property_of(exercise: Exercise, code: str) -> str:
    """The property that an error of this code costs in this exercise: one that it asks for."""
    name = OF_KIND.get(exercise.kind, {}).get(code) or PROPERTY_OF.get(code, "right")
    if name == "shared-memory":  # registers are filled from there; the others are tools, too
        tools = ("registers", "wide", "asynchronous", "tensor")
        name = next((tool for tool in tools if tool in exercise.points), name)
    return name if name in exercise.points else "right"


def costs_everything(exercise: Exercise, code: str) -> bool:
    """Whether an error of this code leaves nothing to judge."""
    return code in FATAL or (code == "invalid-launch" and exercise.kind != FUNCTION)


def lost_properties(
    exercise: Exercise,
    findings: Sequence[Finding],
    numbers_right: bool,
    right_where_even: bool = False,
    shares: bool = True,
    also: Collection[str] = (),
) -> dict[str, str]:
    """The properties that an answer has not shown, each with the reason, a phrase.

    Args:
        exercise: what was asked.
        findings: all that was found, errors first.
        numbers_right: every launch gave the right numbers.
        right_where_even: the launches did whose blocks divide all sizes.
        shares: the threads of a block hand numbers to each other, in shared memory or by shuffles.
        also: further properties that a course gives points to; a warning costs these.
    """
    judged = (*exercise.points, *also)
    errors = [finding for finding in findings if finding.severity == "error"]
    edges = {"uninitialised-read"} if right_where_even else set()  # only where tiles are partial
    fatal = (finding for finding in errors if costs_everything(exercise, finding.code))
    stopped = next((finding for finding in fatal if finding.code not in edges), None)
    if stopped:
        return dict.fromkeys(judged, f"nothing to judge before this is mended: {_named(stopped)}")
    if not (numbers_right or right_where_even):
        return dict.fromkeys(judged, _NOWHERE[exercise.kind])
    lost: dict[str, str] = {}
    for finding in errors:
        lost.setdefault(property_of(exercise, finding.code), _named(finding))
        if PROPERTY_OF.get(finding.code) == "race-free" or finding.code in edges:
            lost.setdefault("right", _named(finding))
    if not numbers_right:
        lost.setdefault("right", _SOME)
        lost.setdefault("bounds", _SOME)
    if not exercise.kind.is_launched and "right" in lost:
        return dict.fromkeys(judged, f"nothing is earned by a wrong result: {lost['right']}")
    for finding in findings:
        if PROPERTY_OF.get(finding.code) in also:
            lost.setdefault(PROPERTY_OF[finding.code], _named(finding))
    if "coalesced" in lost:
        lost.setdefault("conflict-free", "a conflict to avoid comes with the detour through a tile")
    if "shared-memory" in lost or (not shares and lost.keys() & COME_OF_SHARING):
        for name, why in _NOT_SHARED.items():
            lost.setdefault(name, why)
    new = _new_in(exercise)
    if new and new <= lost.keys():
        why = "; ".join(lost[name] for name in judged if name in new)
        return dict.fromkeys(judged, f"{_NOTHING_NEW}: {why}")
    return {name: lost[name] for name in judged if name in lost}


def _new_in(exercise: Exercise) -> set[str]:
    """The properties that are judged here, and not in the exercise whose answer is handed out."""
    given = EXERCISES.get(exercise.starts_from)
    return set(exercise.points) - set(given.points) if given else set()


_NOTHING_NEW = "the kernel that was given can do all that this one does"


_NOT_SHARED = {
    "reuse": "without shared memory nothing can be reused",
    "race-free": "threads that share nothing have no race to avoid",
    "conflict-free": "without shared memory there are no banks to meet at",
    "overlap": "without shared memory no tile is on its way there",
    "asynchronous": "without shared memory no copy goes there",
}


_SOME = "the numbers are wrong for some sizes"


_NOWHERE: dict[Kind, str] = {
    KERNEL: "nothing is earned before the numbers are right where the blocks divide the sizes",
    **dict.fromkeys((FUNCTION, CUTILE, TRITON), "nothing is earned before the result is right"),
    CONSTANTS: "nothing is earned before the numbers fit together",
}


def _named(found: Finding) -> str:
    """A finding as a phrase: "line 12: write outside an array"."""
    where = f"line {found.line}: " if found.line is not None else ""
    return where + CODES[found.code].title


def earned_points(
    exercise: Exercise,
    findings: Sequence[Finding],
    numbers_right: bool,
    right_where_even: bool = False,
    shares: bool = True,
) -> dict[str, int]:
    """The points of each property, as curriculum.py weighs them."""
    lost = lost_properties(exercise, findings, numbers_right, right_where_even, shares)
    return {name: 0 if name in lost else points for name, points in exercise.points.items()}


# --- What can be said in favour of an answer ------------------------------------------------------
# Findings are looked at as the emulator made them: a cause that explains a symptom away does not
# make the symptom unseen.


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
    if not wrong and right:  # the others would have taken too long, or what they show is known
        return [f"right on the launches that could be tried, {len(right)} of {usual}"]
    return [f"right on {len(right)} of {usual} launches"] if right else []
