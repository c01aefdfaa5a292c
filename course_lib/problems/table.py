"""The families of problems by name, and the problem of each exercise."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from course_lib.curriculum import Exercise, Task
from course_lib.problems.attention import Attention
from course_lib.problems.attention_mma import MmaAttention
from course_lib.problems.described import (
    DescribedProblem,
    TaskProblem,
    right_result,
    with_fixed,
)
from course_lib.problems.problem import Problem, Shape
from course_lib.problems.products import (
    BoxProduct,
    NarrowProduct,
    Product,
    RegisterProduct,
    Sum,
    Transpose,
)
from course_lib.problems.scan import Scan
from course_lib.registry import entry_checks as entries
from course_lib.registry.entry_checks import axes as _axes
from course_lib.registry.kinds import TileKind

# The families of problems; each exercise of one brings the sizes to try.
FAMILIES: dict[str, Problem] = {
    "sum": Sum("C = A + B", ()),
    "product": Product("C = A @ B", ()),
    "register product": RegisterProduct("C = A @ B", ()),
    "product of boxes": BoxProduct("C = A @ B", ()),
    "transpose": Transpose("B = A.T", ()),
    "scan": Scan("y = running sums of x, run by run", ()),
    "attention": Attention("O = softmax(Q Kᵀ / √32) V", ()),
    "attention on tensor cores": MmaAttention("O = softmax(Q Kᵀ / 8) V", ()),
}
SMALL: Shape = (3, 5, 7)  # sizes that differ, so that exchanged axes show


def check_reference(exercise: Exercise) -> None:
    """Compute a reference once on small arrays, and see that its result is what the entry says.

    Raises:
        BadEntry: if there is nothing to compare answers with, or it does not fit.
    """
    if not exercise.kind.is_launched and not isinstance(exercise.kind, TileKind):
        return
    if exercise.reference is None:
        if not can_be_judged(exercise):
            if exercise.family:
                why = f"there is no family {exercise.family!r}; there are {', '.join(FAMILIES)}"
                raise entries.refuse(exercise, "family", why)
            why = "there is no `reference`, so nothing can be compared"
            raise entries.refuse(exercise, "reference", why)
        return
    problem = DescribedProblem(exercise)
    shape = with_fixed(problem.sizes, SMALL)
    said = f"for {problem.label(shape)} `reference`"
    try:
        result = right_result(exercise, problem.operands(shape, np.random.default_rng(0)))
    except Exception as error:
        why = f"{said} fails ({type(error).__name__}: {' '.join(str(error).split())[:200]})"
        raise entries.refuse(exercise, "reference", why) from None
    if result.shape != problem.covered(shape):
        wanted = problem.covered(shape)
        why = f"{said} gives shape {result.shape}, and by `shapes` {exercise.output} has {wanted}"
        raise entries.refuse(exercise, "reference", why)
    if not np.isfinite(result).all():
        raise entries.refuse(exercise, "reference", f"{said} gives numbers that are not finite")


def problem_of(exercise: Exercise) -> Problem:
    """What an exercise asks for: as it says itself, or as this course knows it."""
    if exercise.reference:
        return TaskProblem(exercise) if isinstance(exercise, Task) else DescribedProblem(exercise)
    formats = exercise.formats if exercise.dtypes else ()
    boxes = {exercise.parameters.index(name): box for name, box in exercise.boxes.items()}
    problem = replace(
        FAMILIES[exercise.family],
        shapes=exercise.sizes,
        order=exercise.order,
        formats=formats,
        boxes=boxes,
    )
    if exercise.multiples:
        multiples = tuple(exercise.multiples.get(axis, 1) for axis in entries.AXES)
        problem = replace(problem, multiples=multiples)
    if isinstance(exercise, Task) and exercise.family == "product" and exercise.shapes:
        rows, columns = _axes(exercise.shapes[-1])
        sizes = (rows, columns, _axes(exercise.shapes[0])[1])
        if not all(map(entries.is_free, sizes)):
            problem = NarrowProduct(problem, sizes)
    return problem


def problems(exercises: Mapping[str, Exercise]) -> dict[str, Problem]:
    """What each of these exercises asks for whose kernel is launched."""
    return {
        name: problem_of(exercise)
        for name, exercise in exercises.items()
        if exercise.kind.is_launched
    }


def can_be_judged(exercise: Exercise) -> bool:
    """Whether there is anything to compare an answer with."""
    return bool(not exercise.kind.is_launched or exercise.reference or exercise.family in FAMILIES)
