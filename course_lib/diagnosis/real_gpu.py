"""Runs an answer on the student's own GPU as well, at larger sizes.

The emulator checks every index; a GPU checks none. So each array lies between guard bands, and
a band that changed shows a store outside.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np

from course_lib.curriculum import Launch
from course_lib.diagnosis.launches.outcome import Outcome, by_how_much, where
from course_lib.diagnosis.words import tell
from course_lib.problems.inputs import as_held, make_inputs
from course_lib.problems.problem import Case, Problem
from course_lib.wording.findings import Finding
from course_lib.wording.sentences import with_values

GUARD = 4096  # elements before and after an array
PATTERN = 31337.0


def try_on_gpu(
    kernel: object,
    problem: Problem,
    launch: Callable[[Case], Launch],
    seed: int,
    run: Callable[..., object],
    names: Sequence[str],
) -> list[Finding]:
    """What went wrong on the GPU; empty if nothing did. `names` are the kernel's parameters."""

    def wrong_on(case: Case) -> Finding | None:
        inputs = make_inputs(problem, case, seed)
        expected, tolerance = problem.answer(*inputs)
        output = np.full(expected.shape, case.poison, np.float32, problem.order)
        given = dict(zip(names, (*as_held(problem, inputs), output), strict=True))
        buffers = {name: guarded(array) for name, array in given.items() if array.ndim}
        plan = launch(case)
        arguments = (buffers.get(name, (0, given[name]))[1] for name in given)
        run(kernel, plan.grid, plan.block, *arguments)
        for name, (whole, _) in buffers.items():
            if not bands_intact(whole.copy_to_host()):
                return tell("overwritten on a GPU", None, sizes=case.label(problem), name=name)
        got = buffers[names[-1]][1].copy_to_host()
        sizes = problem.geometry((16, 16))
        outcome = Outcome(inputs, expected, got, tolerance, sizes, case.poison, names[-1])
        if outcome.right.all():
            return None
        place = where(~outcome.right, outcome.sizes)
        found = tell("wrong on a GPU", None, sizes=case.label(problem), where=place)
        return replace(found, message=with_values(found.message, f"{by_how_much(outcome)}."))

    found = next(filter(None, map(wrong_on, problem.gpu_cases())), None)
    return [found] if found else []


def guarded(array: np.ndarray) -> tuple[Any, Any]:
    """A device buffer with guard bands, and the array within it."""
    from numba import cuda

    whole = np.full(array.size + 2 * GUARD, PATTERN, array.dtype)
    order: Literal["C", "F"] = "C" if array.flags.c_contiguous else "F"
    whole[GUARD : GUARD + array.size] = array.reshape(-1, order=order)
    device = cuda.to_device(whole)
    return device, device[GUARD : GUARD + array.size].reshape(array.shape, order=order)


def bands_intact(whole: np.ndarray) -> bool:
    """Do both guard bands still hold their pattern?"""
    pattern = np.array(PATTERN).astype(whole.dtype)
    return bool((whole[:GUARD] == pattern).all() and (whole[-GUARD:] == pattern).all())
