"""The kernels of the tests before and after a course: problems that no lesson has.

Both add up over all pairs of two vectors, so both ask for what the course is about (tiles in shared
memory, two barriers, a last tile that is not full) where no matrix is in sight. Zeros as padding
are wrong in both. They are judged as exercises are, and stand in no lesson.
"""

from collections.abc import Callable, Mapping
from typing import Any

from course_lib.registry.exercise import Exercise

LESSON = "05"  # whose ideas they ask for
POINTS = {"right": 3, "bounds": 2, "shared-memory": 2, "race-free": 2, "float32": 1}


def _sum_over_pairs(name: str, title: str, term: str, reference: Callable[..., Any]) -> Exercise:
    return Exercise(
        id=name,
        title=title,
        lesson=LESSON,
        parameters=("x", "z", "y"),
        output="y",
        block=(64,),
        points=POINTS,
        reference=reference,
        shapes=("M", "N", "M"),
        formula=f"y[i] = the sum of {term} over j",
    )


DISTANCE_SUM = _sum_over_pairs(
    "distance_sum",
    "How far from all others",
    "abs(x[i] - z[j])",
    lambda x, z: abs(x[:, None] - z).sum(axis=1),
)
SQUARE_SUM = _sum_over_pairs(
    "square_sum",
    "How far from all others, squared",
    "(x[i] - z[j])**2",
    lambda x, z: ((x[:, None] - z) ** 2).sum(axis=1),
)
TRANSFER: Mapping[str, Exercise] = {kernel.id: kernel for kernel in (DISTANCE_SUM, SQUARE_SUM)}
TESTS = {"pretest": DISTANCE_SUM.id, "posttest": SQUARE_SUM.id}  # by what a command calls them
