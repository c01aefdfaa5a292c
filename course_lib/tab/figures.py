"""Draws the figures to play with of an answer's own run, as HTML that needs nothing else."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from course_lib import entries
from course_lib.diagnosis.launcher import BUDGET
from course_lib.diagnosis.problems.inputs import as_held, make_inputs
from course_lib.diagnosis.problems.problem import Case
from course_lib.diagnosis.problems.table import problem_of
from course_lib.emulator import KernelRejected, Profile, emulate
from course_lib.figures.explore.banks import explore_banks
from course_lib.figures.explore.sectors import explore_sectors
from course_lib.figures.interactive import Interactive
from course_lib.figures.watch.ownership import who_owns_what
from course_lib.figures.watch.race import watch_race
from course_lib.figures.watch.stepping import step_through_k
from course_lib.own_ladder import chosen_constants
from course_lib.sentences import Line
from course_lib.tab.around import around
from course_lib.tab.checks import answer_in, exercise_asked
from course_lib.tab.fields import Fields, Refused, text
from course_lib.tab.offers import OFFERS, Own

BUDGET_OF_A_TRACE = replace(BUDGET, steps=100_000, access_steps=6)
OWNED_SIDE = 20  # rows and columns of C, where the tiles are smaller


def figure(fields: Fields) -> dict[str, Any]:
    """One figure of the run of an answer."""
    exercise, typed = exercise_asked(fields), text(fields, "text")
    wanted = text(fields, "figure")
    kernel = answer_in(exercise, typed, around(exercise, text(fields, "context", "")).context)
    if kernel is None or not exercise.kind.is_launched:
        raise Refused(f"There is no kernel called {exercise.id} to draw.")
    own = Own(exercise, kernel)
    if wanted not in _DRAWN or not _fits(own, wanted):
        raise Refused(f"There is no such figure of {exercise.id}.")
    return {"html": html_of(lambda: _DRAWN[wanted](own, typed))}


def html_of(draw: Callable[[], Interactive]) -> str:
    """The HTML of a figure.

    Raises:
        Refused: with a sentence, if it cannot be drawn of this run.
    """
    try:
        return draw().html()
    except KernelRejected as rejected:
        raise Refused(str(rejected.findings[0])) from None
    except ValueError as problem:  # NothingToDraw among them, and more HTML than a page may hold
        raise Refused(str(problem)) from None


def of_launch(profile: Profile, wanted: str) -> Interactive:
    """The sectors or the banks of a launch that was traced."""
    draw: dict[str, Callable[[Profile], Interactive]] = {
        "sectors": explore_sectors,
        "banks": explore_banks,
    }
    return draw[wanted](profile)


def traced(own: Own, typed: str) -> Profile:
    """A launch of the answer on the sizes that its tiles divide, with its own lines alone.

    Raises:
        Refused: if the launch does not end.
        KernelRejected, ValueError: if there can be none.
    """
    exercise, kernel = own.exercise, own.launched
    problem = problem_of(exercise)
    constants = chosen_constants(exercise, own.kernel.namespace)
    tile = exercise.tile_of_a_block(constants)
    about = exercise.launch(problem.covered(problem.exact(64)), constants)
    case = Case(problem.first(about, tile, 1, 0))
    inputs = make_inputs(problem, case, 0)
    output = np.full(problem.answer(*inputs)[0].shape, np.nan, np.float32, problem.order)
    launch = exercise.launch(problem.covered(case.shape), constants)
    emulation = emulate(kernel, trace=True, budget=BUDGET_OF_A_TRACE)
    profile = emulation[launch.grid, launch.block](*as_held(problem, inputs), output)
    if not profile.finished:
        raise Refused(f"{exercise.id} does not end, so there is no run to draw.")
    mine = [each for each in profile.trace if each.line < Line.FIRST_AROUND]
    return replace(profile, trace=mine, source=typed, first_line=1, kernel_name=exercise.id)


def _fits(own: Own, wanted: str) -> bool:
    return any(each.id == wanted and each.fits(own) for each in OFFERS)


def _owners(own: Own, typed: str) -> Interactive:
    exercise = own.exercise
    constants = chosen_constants(exercise, own.kernel.namespace)
    side = max(OWNED_SIDE, *exercise.tile_of_a_block(constants))
    launch = exercise.launch((side, side), constants)
    of_a = entries.axes(exercise.shapes[0]) if exercise.shapes else ()
    depth = [int(size) for size in of_a if not entries.is_free(size)]
    shape = (side, side, depth[0]) if depth else (side, side)
    return who_owns_what(shape, launch.block, kernel=own.launched, grid=launch.grid)


def _race(own: Own, typed: str) -> Interactive:
    return watch_race(own.launched, task=own.exercise.id if own.fixed_sizes else "")


_DRAWN: Mapping[str, Callable[[Own, str], Interactive]] = {
    "sectors": lambda own, typed: of_launch(traced(own, typed), "sectors"),
    "banks": lambda own, typed: of_launch(traced(own, typed), "banks"),
    "owners": _owners,
    "step": lambda own, typed: step_through_k(own.launched),
    "race": _race,
}
