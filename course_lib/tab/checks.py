"""A check in the tab: the answer with the code around it, its verdict, and figures of its run."""

from __future__ import annotations

import difflib
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np

from course_lib.answer_text import context as callers
from course_lib.checking import examine_source
from course_lib.curriculum import EXERCISES, TASKS, Exercise, Task
from course_lib.diagnosis.launcher import BUDGET
from course_lib.diagnosis.report import Report
from course_lib.emulator import Kernel, KernelRejected, Profile, emulate, load_program, names_around
from course_lib.emulator.state.lanes import WARP_SIZE
from course_lib.figures.explore.banks import explore_banks
from course_lib.figures.explore.sectors import explore_sectors
from course_lib.figures.interactive import Interactive
from course_lib.figures.watch.kernels import (
    MOST_BARRIERS,
    NothingToDraw,
    barrier_lines,
    in_tiles_of,
    shared_shapes,
)
from course_lib.figures.watch.ownership import who_owns_what
from course_lib.figures.watch.race import watch_race
from course_lib.figures.watch.stepping import step_through_k
from course_lib.own_ladder import chosen_constants
from course_lib.problems.inputs import as_held, make_inputs
from course_lib.problems.problem import Case
from course_lib.problems.table import problem_of
from course_lib.registry import entry_checks as entries
from course_lib.shown_answers import why_no_answer
from course_lib.student import progress
from course_lib.tab.fields import Fields, Refused, text
from course_lib.verdicts import page
from course_lib.verdicts.page import marks
from course_lib.verdicts.showing import note
from course_lib.verdicts.typed import listings
from course_lib.verdicts.verdict import PAGE, Verdict, text_of, verdict_of
from course_lib.wording.sentences import Line

INTRINSICS = (
    "cp_async16 cp_async_commit cp_async_wait ldmatrix_x2_trans ldmatrix_x4 ldmatrix_x4_trans "
    "load4 mma_m16n8k16_bf16 pack_bf16 store4 unroll unrolled"
).split()
IMPORTS = f"{callers.HEAD}from course_lib.intrinsics import {', '.join(INTRINSICS)}\n"


@dataclass(frozen=True)
class Around:
    """The text around an answer, and a sentence on each function that comes from an earlier task.

    Attributes:
        context: as `examine_source` takes it.
        said: whose function it is, the student's or the course's.
    """

    context: str
    said: tuple[str, ...] = ()


def around(exercise: Exercise, more: str = "") -> Around:
    """What an answer to this exercise finds around it; `more` is what the page adds."""
    uses = exercise.uses if isinstance(exercise, Task) else ()
    passed = {name: _passed(name) for name in uses}
    said = tuple(
        f"{name}: yours, since you have passed it."
        if text
        else f"{name}: ours stands in, since you have not passed it yet."
        for name, text in passed.items()
    )
    ours = callers.used_by(exercise)
    return Around("\n".join(filter(None, (IMPORTS, ours, *passed.values(), more))), said)


def _passed(name: str) -> str:
    """The student's answer to an earlier task, if there is one that passes; "" otherwise."""
    known = progress.entry(name)
    return known.text if known.passed and _passes(name, known.text) else ""


@lru_cache(maxsize=len(TASKS))
def _passes(name: str, text: str) -> bool:
    """Does it pass? A record of progress that came from elsewhere may hold anything."""
    return examine_source(name, text, context=IMPORTS).passed


# --- Which figures fit an answer ------------------------------------------------------------------
# Nothing is run for it. A figure that was offered may still find nothing to draw, and says why.


PRODUCTS = ("product", "register product", "product of boxes")  # families
SMALL_TILE = 2  # a tile that can be drawn number by number
WARPS_IN_A_RACE = range(2, 5)
# A run that ends with one of these shows nothing of the kernel.
NO_RUN = {
    *("compile-error", "invalid-launch", "missing-answer", "not-allowed", "timeout", "unsupported")
}


@dataclass(frozen=True)
class Own:
    """An answer that can be launched.

    Attributes:
        exercise: what was asked.
        kernel: the function that the answer defines.
    """

    exercise: Exercise
    kernel: Kernel

    @property
    def launched(self) -> Kernel:
        """What is launched: the function itself, or what calls it."""
        return callers.as_launched(self.exercise, self.kernel)

    @property
    def sizes(self) -> tuple[str, ...]:
        """Letters and numbers: the axes of all arrays, as far as the exercise describes them."""
        return tuple(size for shape in self.exercise.shapes for size in entries.axes(shape))

    @property
    def fixed_sizes(self) -> tuple[tuple[int, ...], ...]:
        """The sizes of all arrays where the exercise has fixed all of them; otherwise ()."""
        if any(map(entries.is_free, self.sizes)):
            return ()
        return tuple(tuple(map(int, entries.axes(shape))) for shape in self.exercise.shapes)


@dataclass(frozen=True)
class Offer:
    """A figure, and for which answers it can be drawn."""

    id: str
    title: str
    fits: Callable[[Own], bool]


def offered(own: Own, report: Report) -> Iterator[Offer]:
    """The figures to offer beside a verdict."""
    if not own.exercise.kind.is_launched or any(error.code in NO_RUN for error in report.errors):
        return
    in_step = all(error.code.startswith(("race-", "barrier-")) for error in report.errors)
    for offer in OFFERS:
        # A race is watched where everything else is right: it tells which of two values came.
        if offer.fits(own) and (in_step or offer.id != "race"):
            yield offer


def _loads_or_stores(own: Own) -> bool:
    return True


def _shares(own: Own) -> bool:
    return bool(shared_shapes(own.launched)) or bool(shared_shapes(own.kernel))


def _is_product(own: Own) -> bool:
    return own.exercise.family in PRODUCTS and "1" not in own.sizes


def _stages_tiles(own: Own) -> bool:
    """Is it a product, one thread an output, in tiles whose size has a name?"""
    if own.exercise.family != "product" or not all(map(entries.is_free, own.sizes)):
        return False
    if not _shares(own):
        return False
    try:
        in_tiles_of(own.kernel, SMALL_TILE)
    except NothingToDraw:
        return False
    return True


def _may_race(own: Own) -> bool:
    if not _shares(own) or len(barrier_lines(own.launched)) > MOST_BARRIERS:
        return False
    return _stages_tiles(own) or _is_one_small_block(own)


def _is_one_small_block(own: Own) -> bool:
    """Are all sizes numbers, one block of a few warps, and as many outputs as make a square?"""
    sizes, task = own.fixed_sizes, own.exercise
    if not sizes or not isinstance(task, Task) or task.caller:
        return False
    launch = task.launch(sizes[-1])
    count = math.prod(sizes[-1])
    warps = -(-math.prod(launch.block) // WARP_SIZE)
    is_square = math.isqrt(count) ** 2 == count
    return math.prod(launch.grid) == 1 and warps in WARPS_IN_A_RACE and is_square


OFFERS = (
    Offer("sectors", "Sectors: what a warp's loads and stores move", _loads_or_stores),
    Offer("banks", "Banks: which lane is served in which pass", _shares),
    Offer("owners", "Who owns what: the elements that a thread has written", _is_product),
    Offer("step", "Step through k, tile by tile", _stages_tiles),
    Offer("race", "Watch the race: take a barrier out", _may_race),
)


# --- The verdict, the marks of its lines, and what can be drawn -----------------------------------


Tell = Callable[[dict[str, Any]], object]  # what is known of an answer before all is


def check(fields: Fields, tell: Tell) -> dict[str, Any]:
    """Judge an answer, and keep in the progress what came of it.

    Of an answer with wrong numbers `tell` is told how the verdict looks before the cause is known.
    """
    exercise, typed = exercise_asked(fields), text(fields, "text")
    progress.begin(text(fields, "lesson", exercise.lesson))
    stands = around(exercise, text(fields, "context", ""))
    answer = answer_in(exercise, typed, stands.context)

    def told_early(seen: Report) -> None:
        early = Verdict(seen, exercise, listings(answer), stands_in=stands.said, medium=PAGE)
        tell({"html": page.html_of(early)})

    report = examine_source(exercise.id, typed, context=stands.context, early=told_early)
    note(report, exercise, answer, typed)
    verdict = verdict_of(report, exercise, answer, PAGE, stands.said)
    figures = offered(Own(exercise, answer), report) if answer is not None else ()
    return {
        "passed": report.passed,
        "waits": verdict.waits,
        "html": page.html_of(verdict),
        "text": text_of(verdict),
        "marks": [] if verdict.waits else [asdict(mark) for mark in marks(report.shown, typed)],
        "figures": [{"id": figure.id, "title": figure.title} for figure in figures],
        "offers_answer": verdict.offers_answer,
        "counts": dict(report.counts),
        "progress": progress.exported(),
    }


def show_answer(fields: Fields) -> dict[str, Any]:
    """An answer to a task; a later lesson asks for the task again, unaided."""
    task = TASKS.get(text(fields, "id"))
    if task is None:
        raise Refused(why_no_answer(fields["id"]))
    progress.begin(text(fields, "lesson", task.lesson))
    progress.note_shown(task.id, task.lesson)
    return {"text": task.answer.strip() + "\n", "progress": progress.exported()}


def exercise_asked(fields: Fields) -> Exercise:
    """The task or exercise that a request is about.

    Raises:
        Refused: if there is none of that id.
    """
    name = text(fields, "id")
    known: dict[str, Exercise] = {**TASKS, **EXERCISES}
    if name not in known:
        near = difflib.get_close_matches(name, known, n=1, cutoff=0.4)
        meant = f" Is {near[0]} meant?" if near else ""
        raise Refused(f"There is no task or exercise {name!r}.{meant}")
    return known[name]


def answer_in(exercise: Exercise, typed: str, context: str) -> Kernel | None:
    """The function that was asked for, as the emulator reads it; None if the text has none."""
    try:
        program = load_program(typed, surroundings=names_around(context))
    except (KernelRejected, RecursionError):
        return None
    return program.functions.get(exercise.id)


# --- Figures of an answer's own run, as HTML ------------------------------------------------------


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
    mine = [access for access in profile.trace if access.line < Line.FIRST_AROUND]
    return replace(profile, trace=mine, source=typed, first_line=1, kernel_name=exercise.id)


def _fits(own: Own, wanted: str) -> bool:
    return any(offer.id == wanted and offer.fits(own) for offer in OFFERS)


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
