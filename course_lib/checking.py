"""Examines an answer: tries it on the emulator, and tells what holds, what does not, and why.

The steps are small and each has its module in `diagnosis`: cases (what to try), examination (the
launches and the conclusions), numbers, slips and steps (what a wrong output equals instead),
trail, source and locate (which line that is), causes (what follows from what), requirements (cost
and tools), report (how it reads). Answers that are no kernels have one module each:
plain_function (with resident_slips) and tile_choice.
"""

from __future__ import annotations

import ast
import difflib
import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace

from course_lib import runtime
from course_lib.curriculum import EXERCISES, Exercise
from course_lib.diagnosis import plain_function, tile_choice
from course_lib.diagnosis.examination import Answer, examine_kernel
from course_lib.diagnosis.generic import check_reference
from course_lib.diagnosis.report import Report, make_report
from course_lib.emulator import KernelRejected, kernel_from, load_program, names_around
from course_lib.emulator.errors import rejection
from course_lib.emulator.parse import plain_from
from course_lib.emulator.surroundings import FIRST_LINE as AROUND
from course_lib.entries import BadEntry
from course_lib.errors import PlainError, interruptible
from course_lib.findings import CODES, Finding, by_importance, finding

LONGEST_SENTENCE = 800  # characters
MOST_FINDINGS = 100
_LINE_AROUND = re.compile(r"\blines? 1\d{6}\b")


class CheckFailed(PlainError):
    """An answer did not pass; the verdict has been printed."""


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
        kernel: decorated with @cuda.jit, or a plain function; for an exercise that asks for
            constants, a dict of them.
        block: threads per block, x first, in place of the exercise's.
        seed: draws the inputs and one of the shapes.
        debug: let the library's own errors through.
    """

    def judge(exercise: Exercise) -> Report:
        if exercise.kind == "function":
            return plain_function.examine(exercise, plain_from(kernel), seed)
        if exercise.kind == "constants":
            return tile_choice.examine(exercise, tile_choice.from_object(kernel))
        return examine_kernel(exercise, _answer_of_object(kernel), block, seed)

    return _shielded(exercise_id, judge, debug)


def examine_source(
    exercise_id: str,
    text: str,
    block: Sequence[int] | None = None,
    seed: int = 0,
    debug: bool = False,
    context: str = "",
) -> Report:
    """Judge an answer's source text, which is never executed. Otherwise as `examine`.

    Args:
        exercise_id: such as "matmul_tiled".
        text: the answer; the lines of the findings are its lines.
        block: as for `examine`.
        seed: as for `examine`.
        debug: as for `examine`.
        context: the source around the answer, such as the notebook's imports. What names mean
            there they mean in the answer, too, unless it says otherwise. It answers nothing.
    """

    def judge(exercise: Exercise) -> Report:
        program = load_program(text, surroundings=names_around(context))
        if exercise.kind == "constants":
            return tile_choice.examine(exercise, tile_choice.from_program(program))
        if exercise_id not in program.functions:
            _refuse_unknown_form(exercise_id, text)
        if exercise.kind == "function":
            return plain_function.examine(exercise, program.kernel(exercise_id), seed)
        answer = Answer(program.kernel(exercise_id))
        return examine_kernel(exercise, answer, block, seed)

    return _shielded(exercise_id, judge, debug)


def _refuse_unknown_form(name: str, text: str) -> None:
    """Say that an answer is there, if only in a form that cannot be followed without running it.

    Raises:
        KernelRejected: with `unsupported` if the text gives the name a value in some way.
    """
    line = _line_of_binding(name, ast.parse(text))
    if line is not None:
        raise rejection(
            "unsupported",
            f"{name} is defined here, but in a form that cannot be judged without running it.",
            line,
            f"Define it with `def {name}(…):` at the left margin; a kernel, below `@cuda.jit`.",
        )


def _line_of_binding(name: str, tree: ast.Module) -> int | None:
    """The last line at which a function of the text gets a name in a way that we do not follow.

    That is a `def` below `if`, `try` or `with`, or a call that is handed a function: `cuda.jit(f)`.
    Whatever else gets the name is no answer: a value, a class, somebody else's function.
    """
    functions: set[str] = set()
    calls: list[ast.Assign] = []
    lines: list[int] = []
    waiting: list[ast.AST] = list(tree.body)
    while waiting:
        match node := waiting.pop():
            case ast.FunctionDef():
                functions.add(node.name)
                lines += [node.lineno] if node.name == name and node not in tree.body else []
            case ast.Assign(targets=[ast.Name(id=bound)], value=ast.Call()) if bound == name:
                calls.append(node)
            case ast.If() | ast.Try() | ast.With():  # what stands in a function is its own
                waiting += ast.iter_child_nodes(node)
    for call in calls:
        used = {each.id for each in ast.walk(call.value) if isinstance(each, ast.Name)}
        lines += [call.lineno] if used & functions else []
    return max(lines, default=None)


def check(exercise_id: str, kernel: object, block: Sequence[int] | None = None) -> None:
    """Judge a kernel and print the verdict.

    Raises:
        CheckFailed: if it did not pass; a notebook shows this as one line.
    """
    unread = _unreadable_answer(exercise_id)
    if unread is not None:
        print(
            f"Careful: the answer cell is no valid Python (line {unread.lineno}: {unread.msg}), so "
            "it did not run.\nThis judges the answer that ran before it.\n"
        )
    runtime.speak_plainly()
    with interruptible("the answer has not been judged."):
        report = examine(exercise_id, kernel, block)
    print(report)
    if not report.passed:
        sys.stdout.flush()
        # pytest shows this line alone, without what was printed; so the cause stands in it.
        cause = by_importance(report.findings)[0]
        where = f"line {cause.line}: " if cause.line else ""
        raise CheckFailed(
            f"{exercise_id} is not right yet. {where.capitalize()}{CODES[cause.code].title} "
            f"[{cause.code}]; the verdict above says where to look."
        )


def _unreadable_answer(exercise_id: str) -> SyntaxError | None:
    """What is wrong with the answer cell as last run in this notebook, if it could not be read.

    After a syntax error the name still stands for the answer before it.
    """
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    cells = shell.user_ns.get("In", []) if shell else []
    marker = f"# EXERCISE {exercise_id}"
    answer = next((cell for cell in reversed(cells) if cell.lstrip().startswith(marker)), "")
    try:
        ast.parse(answer)
    except SyntaxError as error:
        return error
    return None


def _answer_of_object(kernel: object) -> Answer:
    tree = kernel_from(kernel)
    if hasattr(kernel, "py_func") and runtime.on_gpu():
        return Answer(tree, kernel, runtime.run)
    return Answer(tree)


def _shielded(exercise_id: str, judge: Callable[[Exercise], Report], debug: bool) -> Report:
    """Examine, and turn whatever goes wrong into a report."""
    exercise = EXERCISES.get(exercise_id) if isinstance(exercise_id, str) else None
    if exercise is None:
        return _no_such_exercise(exercise_id)
    try:
        check_reference(exercise)
        return _fit_to_print(judge(exercise))
    except KernelRejected as rejected:
        return _fit_to_print(make_report(exercise, rejected.findings))
    except BadEntry as problem:
        hint = "This is not your mistake. Show it to whoever has written the exercise."
        report = make_report(exercise, [finding("unsupported", str(problem), None, hint, "error")])
        return replace(report, needs_review=True)
    except RecursionError:
        message = "Expressions, blocks or calls lie in each other too deeply."
        return make_report(exercise, [finding("not-allowed", message)])
    except Exception as error:  # the checker's own mistake must not cost a student anything
        if debug:
            raise
        message = f"The checker itself failed on this answer ({type(error).__name__}: {error})."
        hint = "This is not your mistake. Ask your instructor to look at the answer."
        report = make_report(exercise, [finding("unsupported", message, None, hint, "error")])
        return replace(report, needs_review=True)


def _fit_to_print(report: Report) -> Report:
    """The report without lines of the notebook around the answer, and without what is endless.

    Names and texts of an answer stand in the sentences, and they can be as long and as strange as
    the answer's author likes.
    """
    return replace(report, findings=tuple(map(_fit_sentence, report.findings[:MOST_FINDINGS])))


def _fit_sentence(each: Finding) -> Finding:
    line, other = (
        number if number is None or number < AROUND else None
        for number in (each.line, each.other_line)
    )
    message = _LINE_AROUND.sub("a line of the notebook", each.message)
    return replace(
        each,
        line=line,
        other_line=other,
        message=_shortened(message),
        hint=_shortened(each.hint),
        values=_shortened(each.values),
        cell=_shortened(each.cell),
    )


def _shortened(text: str) -> str:
    """The text in printable characters, its middle left out where it is long."""
    if len(text) > LONGEST_SENTENCE:
        half = LONGEST_SENTENCE // 2
        text = f"{text[:half]} … {text[-half:]}"
    return text if text.isprintable() else "".join(c if c.isprintable() else " " for c in text)


def _no_such_exercise(exercise_id: object) -> Report:
    known = list(EXERCISES)
    near = difflib.get_close_matches(str(exercise_id), known, n=3, cutoff=0.4) or known
    message = f"There is no exercise {exercise_id!r}; did you mean {' or '.join(near)}?"
    return Report(str(exercise_id), (finding("missing-answer", message),))
