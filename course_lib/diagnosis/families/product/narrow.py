"""A product with sizes that are always the same, such as one row times one column."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar

import numpy as np

from course_lib import entries
from course_lib.diagnosis.families.product.formula import diagnose_matmul
from course_lib.diagnosis.families.product.problem import Product
from course_lib.diagnosis.families.product.steps import left_out
from course_lib.diagnosis.launches.outcome import Outcome
from course_lib.diagnosis.problems.fresh_shapes import Shape
from course_lib.diagnosis.problems.problem import Case, Problem
from course_lib.diagnosis.slip import Slip


class NarrowProduct(Product):
    """C = A @ B where some of M, N and K are numbers."""

    always: ClassVar[tuple[str, ...]]

    def __init__(self, product: Problem, sizes: Sequence[str]) -> None:
        """Take the product of a task; `sizes` has M, N and K, as letters or as numbers."""
        super().__init__(
            product.formula, product.shapes, diagnose, product.mapping, formats=product.formats
        )
        free = tuple(place for place, size in enumerate(sizes) if entries.is_free(size))
        for name, value in (("always", tuple(sizes)), ("directions", free)):
            object.__setattr__(self, name, value)  # the base class is frozen

    def exact(self, side: int) -> Shape:
        return self._narrowed(super().exact(side))

    def cases(self, first: Shape, seed: int) -> list[Case]:
        cases = super().cases(first, seed)
        return [replace(each, shape=self._narrowed(each.shape)) for each in cases]

    def gpu_cases(self) -> list[Case]:
        cases = super().gpu_cases()
        return [replace(each, shape=self._narrowed(each.shape)) for each in cases]

    def _narrowed(self, shape: Shape) -> Shape:
        sizes = zip(self.always, shape, strict=True)
        return tuple(size if entries.is_free(each) else int(each) for each, size in sizes)


def diagnose(outcome: Outcome) -> Slip | None:
    """The slip that explains a wrong product."""
    with np.errstate(all="ignore"):
        run = None if outcome.right.all() else _run_of_steps(outcome)
    if run is None:
        return diagnose_matmul(outcome)
    missing = np.ones(outcome.sizes.steps, bool)
    missing[run] = False
    return left_out(missing, outcome.sizes)


def _run_of_steps(outcome: Outcome) -> slice | None:
    """The first or the last steps of k whose sum came out, the nearest where several may have."""
    A, B = outcome.A.astype(np.float64), outcome.B.astype(np.float64)
    K = outcome.sizes.steps
    runs = [slice(0, end) for end in range(1, K)] + [slice(first, K) for first in range(1, K)]
    sums = [A[:, run] @ B[run] for run in runs]
    if not sums or not outcome.known.all():
        return None
    nearest = int(np.argmin([np.abs(each - outcome.values).max() for each in sums]))
    return runs[nearest] if outcome.matches(sums[nearest]) else None
