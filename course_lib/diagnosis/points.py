"""Which points an answer has earned, property by property."""

from __future__ import annotations

from collections.abc import Sequence

from course_lib.curriculum import Exercise
from course_lib.findings import Finding

# The property that a finding costs. Every other error, and an error whose property the exercise
# does not list, means that the answer is not right.
PROPERTY_OF: dict[str, str] = {
    "out-of-bounds-read": "bounds",
    "out-of-bounds-write": "bounds",
    "wrong-bounds-check": "bounds",
    "barrier-divergence": "race-free",
    "race-read-after-write": "race-free",
    "race-write-after-read": "race-free",
    "race-write-after-write": "race-free",
    "uncoalesced-load": "coalesced",
    "uncoalesced-store": "coalesced",
    "not-used": "shared-memory",
    "excess-global-traffic": "reuse",
    "bank-conflict": "conflict-free",
    "float64-arithmetic": "float32",
}
# What some codes cost where the answer is no kernel.
OF_KIND: dict[str, dict[str, str]] = {
    "function": {"invalid-launch": "refusals"},
    "constants": {"not-used": "resident", "excess-global-traffic": "intensity"},
}


def earned_points(
    exercise: Exercise, findings: Sequence[Finding], numbers_right: bool
) -> dict[str, int]:
    """The points of each property; without a right result nothing is earned."""
    property_of = {**PROPERTY_OF, **OF_KIND.get(exercise.kind, {})}
    lost = {property_of.get(each.code, "right") for each in findings if each.severity == "error"}
    if "shared-memory" in lost and "registers" in exercise.points:
        lost = lost - {"shared-memory"} | {"registers"}  # registers are filled from there
    lost = {name if name in exercise.points else "right" for name in lost}
    if "coalesced" in lost:
        lost.add("conflict-free")  # a conflict to avoid comes with the detour that both sides need
    if "shared-memory" in lost:
        lost.add("reuse")  # without shared memory nothing can be reused
    if not numbers_right or "right" in lost:
        return dict.fromkeys(exercise.points, 0)
    return {name: 0 if name in lost else points for name, points in exercise.points.items()}
