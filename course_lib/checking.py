"""Examines an answer: tries it on the emulator, and tells what holds, what does not, and why.

The steps are small and each has its place in `diagnosis`: examination.py (all launches, and the
conclusions), problems (what to try), faults (what follows from what), provenance and repair (why a
result is wrong, and on which line), costs (cost and tools), report.py (how it reads).
Answers that are no kernels are judged in `functions`.
"""

from __future__ import annotations

import difflib
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import BuiltinFunctionType, FunctionType

from course_lib.answer_text import context as callers
from course_lib.answer_text.refusals import (
    function_in,
    refuse_decorators,
    refuse_given,
    refuse_unknown_form,
)
from course_lib.curriculum import EXERCISES, TASKS, Exercise, Task
from course_lib.diagnosis.answer import Answer
from course_lib.diagnosis.examination import examine_kernel
from course_lib.diagnosis.functions import called_function
from course_lib.diagnosis.report import Hearer, Report, make_report, nobody
from course_lib.diagnosis.tiles import tile_kernel
from course_lib.emulator import (
    Kernel,
    KernelRejected,
    Program,
    kernel_from,
    load_program,
    names_around,
)
from course_lib.emulator.errors import rejection
from course_lib.emulator.language.parse import plain_from
from course_lib.host import runtime
from course_lib.problems.call_table import CallTable, table_of
from course_lib.problems.constants import from_object, from_program
from course_lib.problems.resident_blocks import resident_blocks
from course_lib.problems.table import check_reference
from course_lib.registry.entry_checks import BadEntry
from course_lib.registry.kinds import CONSTANTS, CUTILE, FUNCTION, KERNEL, TRITON, Kind, TileKind
from course_lib.tiles.reading import TileProgram, function_behind, read_kernel, read_text
from course_lib.wording.errors import PlainError, interruptible
from course_lib.wording.findings import CODES, Finding, by_importance, finding
from course_lib.wording.sentences import AUDIENCES, Line, facts_of, in_words, say, told

LONGEST_SENTENCE = 800  # characters
MOST_FINDINGS = 100


class CheckFailed(PlainError):
    """An answer did not pass; the verdict has been shown."""

    def _render_traceback_(self) -> list[str]:
        """A notebook shows the verdict above this, and nothing is said twice."""
        from course_lib.student import (
            front_end,  # it decides no verdict, so the grader is without it
        )

        if front_end.shows_html() and not front_end.is_tested():
            return ["The cells below wait until this answer passes."]
        return super()._render_traceback_()


def examine(
    exercise_id: str,
    kernel: object,
    block: Sequence[int] | None = None,
    seed: int = 0,
    debug: bool = False,
) -> Report:
    """Judge an answer. Raises nothing (but with `debug`, an error of this library is raised).

    Args:
        exercise_id: such as "matmul_tiled".
        kernel: decorated with @cuda.jit; for an exercise that asks for a plain function, that, and
            for one that asks for constants, a dict of them.
        block: threads per block, x first, in place of the exercise's.
        seed: draws the inputs and one of the shapes.
        debug: let the library's own errors through.
    """

    def judge(exercise: Exercise) -> Report:
        return JUDGES[exercise.kind].of_object(exercise, kernel, block, seed)

    return _shielded(exercise_id, judge, debug)


def examine_source(
    exercise_id: str | Exercise,
    text: str,
    block: Sequence[int] | None = None,
    seed: int = 0,
    debug: bool = False,
    context: str = "",
    early: Hearer = nobody,
) -> Report:
    """Judge an answer's source text, which is never executed. Otherwise as `examine`.

    Args:
        exercise_id: such as "matmul_tiled"; or an exercise that no lesson has.
        text: the answer; the lines of the findings are its lines.
        block: as for `examine`.
        seed: as for `examine`.
        debug: as for `examine`.
        context: the source around the answer, such as the notebook's imports. What names mean
            there they mean in the answer, too, unless it says otherwise. It answers nothing.
        early: is told of wrong numbers as soon as they are seen, by a report without the cause,
            which may take long to find, and without points.
    """

    def judge(exercise: Exercise) -> Report:
        known = "\n".join(filter(None, (callers.used_by(exercise), context)))
        around = names_around(known)
        typed = TypedAnswer(load_program(text, surroundings=around), known)
        return JUDGES[exercise.kind].of_text(exercise, typed, block, seed, told_early)

    def told_early(report: Report) -> None:
        early(_fit_to_print(report))

    return _shielded(exercise_id, judge, debug)


Block = Sequence[int] | None


@dataclass(frozen=True)
class TypedAnswer:
    """An answer as a text, as the emulator reads it, and the text around it."""

    program: Program
    around: str


@dataclass(frozen=True)
class Judge:
    """How one kind of answer is judged, handed over as an object or written as text."""

    of_object: Callable[[Exercise, object, Block, int], Report]
    of_text: Callable[[Exercise, TypedAnswer, Block, int, Hearer], Report]


def _kernel_object(exercise: Exercise, kernel: object, block: Block, seed: int) -> Report:
    answer = _answer_of_object(kernel)
    if answer.run_native and isinstance(exercise, Task) and exercise.asynchronous:
        if not runtime.can_copy_asynchronously():  # a T4, say: the emulator alone judges
            answer = Answer(answer.kernel)
    refuse_decorators(exercise, answer.kernel, is_object=True)
    refuse_given(exercise, answer.kernel)
    return _examined(exercise, answer, block, seed)


def _kernel_text(
    exercise: Exercise, typed: TypedAnswer, block: Block, seed: int, early: Hearer
) -> Report:
    answer = Answer(function_in(exercise, typed.program))
    return _examined(exercise, answer, block, seed, early)


def _examined(
    exercise: Exercise, answer: Answer, block: Block, seed: int, early: Hearer = nobody
) -> Report:
    launched = callers.as_launched(exercise, answer.kernel)
    kernel = callers.with_others_apart(launched, answer.kernel)
    judged = replace(answer, kernel=kernel)
    if isinstance(exercise, Task) and exercise.caller:
        judged = Answer(kernel)

    def at_its_lines(report: Report) -> Report:
        ours = (exercise, kernel, answer.kernel)
        found = [callers.at_the_call(*ours, finding) for finding in report.findings]
        if isinstance(exercise, Task) and exercise.caller:
            found = [callers.within_answer(exercise, answer.kernel, finding) for finding in found]
        found = [callers.in_another_cell(kernel, finding) for finding in found]
        return replace(report, findings=tuple(found))

    def told_early(report: Report) -> None:
        early(at_its_lines(report))

    return at_its_lines(examine_kernel(exercise, judged, block, seed, told_early))


def _function_object(exercise: Exercise, function: object, block: Block, seed: int) -> Report:
    plain = plain_from(function)
    refuse_decorators(exercise, plain, is_object=True)
    return _called(exercise, plain, seed)


def _function_text(
    exercise: Exercise, typed: TypedAnswer, block: Block, seed: int, early: Hearer
) -> Report:
    return _called(exercise, function_in(exercise, typed.program), seed)


def _constants_object(exercise: Exercise, numbers: object, block: Block, seed: int) -> Report:
    return called_function.examine_numbers(exercise, from_object(numbers))


def _constants_text(
    exercise: Exercise, typed: TypedAnswer, block: Block, seed: int, early: Hearer
) -> Report:
    return called_function.examine_numbers(exercise, from_program(typed.program))


def _tiles_object(exercise: Exercise, kernel: object, block: Block, seed: int) -> Report:
    function = function_behind(kernel)
    if function is None:
        message = say("This is not a kernel. Its type is {kind}.", kind=type(kernel).__name__)
        raise rejection("missing-answer", message, None)
    return _tiles(exercise, read_kernel(kernel)[0], plain_from(function), seed)


def _tiles_text(
    exercise: Exercise, typed: TypedAnswer, block: Block, seed: int, early: Hearer
) -> Report:
    if exercise.id not in typed.program.functions:
        refuse_unknown_form(exercise.id, typed.program)
    function = typed.program.kernel(exercise.id)
    return _tiles(exercise, read_text(typed.program.source, typed.around), function, seed)


def _tiles(exercise: Exercise, program: TileProgram, function: Kernel, seed: int) -> Report:
    """The verdict on a tile kernel: what is asked for, in the text's own words."""
    assert isinstance(exercise, Task) and isinstance(exercise.kind, TileKind)
    refuse_given(exercise, function)
    return tile_kernel.examine(exercise, program, function.name, function.tree.lineno, seed)


# Families of exercises that are no kernels; those of kernels stand in problems/table.py.
FUNCTION_FAMILIES: Mapping[str, Callable[[Exercise, int], CallTable]] = {
    "blocks per SM": resident_blocks,
}


def _called(exercise: Exercise, function: Kernel, seed: int) -> Report:
    refuse_given(exercise, function)
    if isinstance(exercise, Task):
        return called_function.examine_function(table_of(exercise), function)
    return called_function.examine_function(
        FUNCTION_FAMILIES[exercise.family](exercise, seed), function
    )


JUDGES: Mapping[Kind, Judge] = {
    KERNEL: Judge(_kernel_object, _kernel_text),
    FUNCTION: Judge(_function_object, _function_text),
    CONSTANTS: Judge(_constants_object, _constants_text),
    CUTILE: Judge(_tiles_object, _tiles_text),
    TRITON: Judge(_tiles_object, _tiles_text),
}


def check(exercise_id: str, kernel: object, block: Sequence[int] | None = None) -> None:
    """Judge an answer and show the verdict: in a notebook beside its lines, elsewhere as text.

    Raises:
        CheckFailed: if a graded exercise did not pass; a notebook shows this as one line. A task
            of a lesson raises nothing: the lesson goes on.
    """
    # Imported late: grading judges without it.
    from course_lib import verdicts
    from course_lib.student import exam

    runtime.speak_plainly()
    with interruptible("the answer has not been judged."):
        failed = verdicts.failed_since(exercise_id, kernel)
        report = _not_defined(exercise_id, failed) or examine(exercise_id, kernel, block)
        if exercise_id in TASKS and TASKS[exercise_id].instructions and report.passed:
            # Imported late: a browser has no compiler, and no Numba to ask.
            from course_lib.compiled_counts.compiled_answer import with_machine_code

            report = with_machine_code(TASKS[exercise_id], kernel, report)
    if exam.is_on() and (report.passed or report.errors[0].code != "missing-answer"):
        print(f"{exercise_id}: {'right' if report.passed else 'not right'}")
        if not report.passed:
            raise CheckFailed(f"{exercise_id} is not right. {exam.WHY_NOT}")
        return
    verdicts.show(report, None if failed else kernel, block)
    if not report.passed and exercise_id not in TASKS:
        sys.stdout.flush()
        # pytest shows this line alone, without what was printed; so the cause stands in it.
        cause = by_importance(report.findings)[0]
        where = f"line {cause.line}: " if cause.line else ""
        raise CheckFailed(
            f"{exercise_id} is not right yet. {where.capitalize()}{CODES[cause.code].title} "
            f"[{cause.code}]; the verdict above says where to look."
        )


def _not_defined(exercise_id: str, failed: list[Finding]) -> Report | None:
    """The verdict on an answer whose cell, as it was run last, did not define it."""
    exercise = {**TASKS, **EXERCISES}.get(exercise_id)
    return _fit_to_print(make_report(exercise, failed)) if exercise and failed else None


def _answer_of_object(kernel: object) -> Answer:
    """A kernel that came as an object.

    Raises:
        KernelRejected: if it is none, or its text cannot be found.
    """
    made = callable(kernel) and not isinstance(kernel, (FunctionType, BuiltinFunctionType, type))
    if made and not isinstance(kernel, Kernel) and not hasattr(kernel, "py_func"):
        what = f"{type(kernel).__name__} object"
        hint = "Check the kernel itself, as @cuda.jit has made it."
        message = say("The judge cannot tell what this {what} does.", what=what)
        raise rejection("unsupported", message, None, hint)
    tree = kernel_from(kernel)
    if hasattr(kernel, "py_func") and runtime.on_gpu():
        return Answer(tree, kernel, runtime.run)
    return Answer(tree)


def _shielded(
    exercise_id: str | Exercise, judge: Callable[[Exercise], Report], debug: bool
) -> Report:
    """Examine, and turn whatever goes wrong into a report."""
    known = {**TASKS, **EXERCISES}
    exercise = known.get(exercise_id) if isinstance(exercise_id, str) else exercise_id
    if not isinstance(exercise, Exercise):
        return _no_such_exercise(exercise_id)
    try:
        check_reference(exercise)
        return _fit_to_print(judge(exercise))
    except KernelRejected as rejected:
        return _fit_to_print(make_report(exercise, rejected.findings))
    except BadEntry as problem:
        hint = "This is not your mistake. Please show it to the author of the exercise."
        report = make_report(exercise, [finding("unsupported", str(problem), None, hint, "error")])
        return replace(report, needs_review=True)
    except RecursionError:
        message = "Expressions, blocks or calls are nested too deeply."
        return make_report(exercise, [finding("not-allowed", message)])
    except Exception as error:  # the checker's own mistake must not cost a student anything
        if debug:
            raise
        message = say(
            "The checker itself failed on this answer ({error}: {said}).",
            error=type(error).__name__,
            said=str(error),
        )
        hint = "This is not your mistake. Ask your instructor to look at the answer."
        report = make_report(exercise, [finding("unsupported", message, None, hint, "error")])
        return replace(report, needs_review=True)


def _fit_to_print(report: Report) -> Report:
    """The report without lines of the notebook around the answer, and without what is endless.

    Names and texts of an answer stand in the sentences, and they can be as long and as strange as
    the answer's author likes.
    """
    return replace(report, findings=tuple(map(_fit_sentence, report.findings[:MOST_FINDINGS])))


def _fit_sentence(finding: Finding) -> Finding:
    line, other = (
        number if number is None or number < Line.FIRST_AROUND else None
        for number in (finding.line, finding.other_line)
    )
    return replace(
        finding,
        line=line,
        other_line=other,
        message=_fit_words(finding.message),
        hint=_fit_words(finding.hint),
        cell=_shortened(finding.cell),
    )


def _fit_words(said: str) -> str:
    heard = [told(said, audience) for audience in AUDIENCES]
    fitting = [*map(_shortened, heard)]
    return said if fitting == heard else in_words(fitting, facts_of(said))


def _shortened(text: str) -> str:
    """The text in printable characters, its middle left out where it is long."""
    if len(text) > LONGEST_SENTENCE:
        half = LONGEST_SENTENCE // 2
        text = f"{text[:half]} … {text[-half:]}"
    return text if text.isprintable() else "".join(c if c.isprintable() else " " for c in text)


def _no_such_exercise(exercise_id: object) -> Report:
    known = [*EXERCISES, *TASKS]
    near = difflib.get_close_matches(str(exercise_id), known, n=3, cutoff=0.4) or known
    message = say(
        "There is no exercise {exercise_id}; did you mean {near}?",
        exercise_id=repr(exercise_id),
        near=" or ".join(near),
    )
    return Report(str(exercise_id), (finding("missing-answer", message),))
