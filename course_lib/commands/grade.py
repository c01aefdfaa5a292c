"""`course.py grade`: from a folder or zip of submissions to a gradebook."""

from __future__ import annotations

import argparse
import importlib.util
import os
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from course_lib.commands.grade_says import ProgressLine, Terminated, ended_by_signal, summary
from course_lib.commands.options import read_options
from course_lib.grading.records import CannotGrade

if TYPE_CHECKING:
    from course_lib.grading.engine import Progress
    from course_lib.grading.gradebook.scoring import Overrides
    from course_lib.grading.judging.executors import Workplace
    from course_lib.grading.records import GradebookRow
    from course_lib.grading.run_folder import RunFolder
    from course_lib.grading.settings import Settings

BATCHES = "batches"
PACKAGES = ("ipykernel", "jinja2", "nbformat", "nbval", "psutil", "pytest")


def main(arguments: list[str]) -> int:
    """Grade; 0 whatever the grades, 1 if it could not be done, 2 for arguments that are wrong."""
    options = _parser().parse_args(arguments)
    line = ProgressLine()
    try:
        _check_packages()
        with ended_by_signal(line):
            if options.explain:
                return _explain(options)
            return _grade(options, line, shlex.join(["grade", *arguments]))
    except _WrongArguments as problem:
        line.clear()
        print(problem, file=sys.stderr)
        return 2
    except CannotGrade as problem:
        line.clear()
        print(problem, file=sys.stderr)
        return 1
    except BrokenPipeError:  # whoever read what is printed has seen enough, as `| head` has
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except OSError as problem:
        line.clear()
        where = problem.filename2 or problem.filename or options.out
        print(
            f"{where} cannot be written or read ({problem.strerror}). What has been judged is "
            "kept; the same command continues from there.",
            file=sys.stderr,
        )
        return 1
    except KeyboardInterrupt as stop:
        line.clear()
        print(f"\nStopped. {line.so_far} The same command continues from there.", file=sys.stderr)
        return 143 if isinstance(stop, Terminated) else 130


def _check_packages() -> None:
    for name in PACKAGES:
        if importlib.util.find_spec(name) is None:
            raise CannotGrade(
                f"Grading needs the package {name}. `python3 course.py grade` installs what is "
                "missing, or you can use pip: `pip install -e .[grade]`."
            )


def _grade(options: argparse.Namespace, line: ProgressLine, command: str) -> int:
    from course_lib.grading.engine import Grader, grade
    from course_lib.grading.intake.submissions import each_submission
    from course_lib.grading.run_folder import RunFolder
    from course_lib.wording.words import counted

    _check_candidates(options)
    if options.pretest and not options.items:
        raise _WrongArguments(
            "--pretest needs --items FILE, the file into which the table is written."
        )
    settings, exercises = _settings(options)
    with RunFolder(options.out, options.submissions, command) as folder:
        settings, exercises = _as_before(folder, options, settings, exercises)
        if options.settings is None and folder.settings():
            _say_what_is_kept(settings, options.out)
        submissions = each_submission(options.submissions)
        seed = folder.seed(options.seed)
        overrides = _overrides(folder, options, settings)
        if overrides.path is not None:
            print(
                f"{overrides.path} has entries for {counted(len(overrides.students), 'student')}."
            )
        if exercises is None:
            print(
                "Each submission is graded on the lessons that it belongs to. To grade everyone on "
                "the same exercises, name them: --exercises ID …"
            )
        if folder.journal.dropped:
            lines = f"{counted(folder.journal.dropped, 'line')} of {folder.journal.path}"
            are = "is" if folder.journal.dropped == 1 else "are"
            print(f"{lines} {are} damaged; if an answer from there is needed, it is judged again.")
        workplace = _workplace(options)

        def report(now: Progress) -> None:
            # First called when all submissions are found, and before any is judged.
            folder.keep(seed, exercises, settings.stored(), overrides.path)
            line.show(now)

        line.begin()
        keep = options.out / BATCHES if options.keep_batches else None
        grader = Grader(settings, seed, folder.journal, workplace, report, keep)
        rows = grade(grader, submissions, exercises, folder, options.only, overrides)
    line.clear()
    for note in line.notes:
        print(f"Note: {note}")
    if options.candidates:
        _collect(rows, seed, options.candidates)
    if options.gradescope:
        from course_lib.grading.gradebook.other_graders import results_json

        options.gradescope.write_text(results_json(rows), encoding="utf-8")
    if options.nbgrader:
        from course_lib.grading.gradebook.other_graders import write_scores

        database, assignment = options.nbgrader
        for said in write_scores(rows, Path(database), assignment):
            print(f"Note: {said}")
    if options.items:
        from course_lib.grading.learning.statistics import write_items

        print(write_items(options.items, grader, options.submissions, rows, options.pretest))
    print(summary(rows, seed, options.out), flush=True)
    return 0


def _check_candidates(options: argparse.Namespace) -> None:
    """What is collected must not lie where the next run looks for submissions."""
    if options.candidates is None:
        return
    there, here = options.submissions.resolve(), options.candidates.resolve()
    if there in (here, *here.parents) or (here.exists() and not here.is_dir()):
        raise _WrongArguments(
            f"--candidates {options.candidates}: name a folder outside {options.submissions}."
        )


def _collect(rows: list[GradebookRow], seed: int, folder: Path) -> None:
    """Write out what the judge could not explain, without the students' names."""
    from course_lib.grading.gradebook.outputs import candidates, write_candidates
    from course_lib.wording.words import counted

    texts = candidates(rows, seed)
    write_candidates(folder, texts)
    print(
        f"{counted(len(texts), 'answer')} that the judge could not explain, without names: "
        f"{folder}."
    )


def _explain(options: argparse.Namespace) -> int:
    """Say how one verdict came about: what the journal has, or the answer judged anew."""
    from course_lib.grading.engine import Grader
    from course_lib.grading.gradebook import scoring
    from course_lib.grading.gradebook.class_list import called
    from course_lib.grading.gradebook.explain import explain
    from course_lib.grading.run_folder import RunFolder

    student, exercise = options.explain
    settings, _ = _settings(options)
    with RunFolder(options.out, options.submissions) as folder:
        settings, _ = _as_before(folder, options, settings, None)
        if exercise not in settings.questions:
            (exercise,) = _exercises([exercise], one=True)
        seed = folder.seed(options.seed, may_draw=False)
        counted_there = folder.counted()
        graded = [record.graded for record in counted_there]
        meant = called(student, graded)
        if not meant:
            raise _WrongArguments(
                f"There is no submission of {student!r}; the names are in the first column of "
                f"{options.out / 'grades.csv'}."
            )
        asked = {answer.exercise for _, answers in meant for answer in answers}
        known = (
            *(folder.exercises() or sorted(asked - {*settings.questions})),
            *settings.questions,
        )
        _check_asked(exercise, known, f"{student} was graded")
        theirs = [
            (submission, tuple(answer for answer in answers if answer.exercise == exercise))
            for submission, answers in meant
        ]
        set_for = scoring.whose(_overrides(folder, options, settings), graded)
        grader = Grader(settings, seed, folder.journal, _workplace(options))
        rows = scoring.with_what_is_set(grader.rows(theirs), set_for)
    by_key = {record.submission.key: record for record in counted_there}
    print(
        "\n\n".join(
            explain(row, settings, theirs.history.get(row.exercise, ()), theirs.replaced)
            for row in rows
            for theirs in [by_key[row.submission.key]]
        ),
        flush=True,
    )
    return 0


def _as_before(
    folder: RunFolder,
    options: argparse.Namespace,
    settings: Settings,
    exercises: tuple[str, ...] | None,
) -> tuple[Settings, tuple[str, ...] | None]:
    """Options that a run was not given are taken from the run before, as its seed is."""
    from dataclasses import replace

    before = folder.settings()
    if before and options.settings is None:
        restored = settings.restored(before)
        settings = replace(restored, notebooks=options.notebooks or restored.notebooks)
    asked = folder.exercises()
    if options.only is not None and asked and exercises and set(exercises) != set(asked):
        raise CannotGrade(
            f"{options.out} was graded on {', '.join(asked)}; with --only this cannot change: "
            "leave out --exercises, or choose another --out."
        )
    if settings.exercises is None:  # the order of tables and pages
        settings = replace(settings, exercises=asked)
    return settings, exercises or asked


def _say_what_is_kept(settings: Settings, out: Path) -> None:
    if choices := settings.choices():
        print(f"As in the last run into {out}: {choices}.")
    if changed := settings.what_became_of_the_file():
        print(changed)


def _overrides(folder: RunFolder, options: argparse.Namespace, settings: Settings) -> Overrides:
    """What is set by hand: in the file named, beside the settings, where it was, or here."""
    from course_lib.grading.gradebook.scoring import FILE, beside, load_overrides

    path = options.overrides or beside(options.settings) or folder.overrides()
    if path == folder.overrides() and path is not None and not path.exists():
        raise CannotGrade(
            f"{path} is gone; from it, the last run read what you had set by hand. Put it back, or "
            "name another file with --overrides (an empty file sets nothing)."
        )
    path = path or beside(settings.file)
    if path is None and (here := Path(FILE)).exists():
        # One student's file may lie where that student has put others, too.
        if options.submissions.is_file() and options.submissions.suffix.lower() != ".zip":
            print(f"{here} is not read: name it with --overrides if it is yours.")
        else:
            path = here
    return load_overrides(path, settings, options.submissions)


def _check_asked(exercise: str, asked: Sequence[str], who: str) -> None:
    """What was not asked for has no row in the gradebook, so there is nothing to explain."""
    if exercise not in asked:
        known = ", ".join(filter(None, asked)) or "nothing of the course"
        raise _WrongArguments(f"{who} only on {known}, so there is no verdict on {exercise}.")


# --- Arguments and settings --------------------------------------------------------------------


class _WrongArguments(Exception):
    """An argument that cannot be meant; the message says which."""


OPTIONS = """\
SUBMISSIONS          a folder of notebooks, a folder with one folder for each student, a zip file of
                     either, or one student's notebook
--out DIR            where the gradebook goes
--exercises ID …     the exercises on which everyone is graded, or the numbers of lessons
--settings FILE      the file of a course of your own, with its exercises and points (course.toml)
--overrides FILE     points, comments and late days set by hand (default: overrides.toml beside the
                     settings, or here)
--seed N             the seed for inputs and shapes (default: a new one, which is printed)
--notebooks FOLDER   your own exercise notebooks, if you changed them (exercises/)
--workers N          how many processes to use (default: one per processor)
--dask ADDRESS       use the cluster of this Dask scheduler instead
--only [STUDENT …]   grade only these students, separated by spaces or commas (all of SUBMISSIONS if
                     you name none), and keep everybody else's rows in DIR
--explain STUDENT EXERCISE
                     only explain how this verdict came about, with the seed of DIR
--candidates FOLDER  also collect, without names, the answers that the judge could not explain
--gradescope FILE    also write the result of a single submission as Gradescope reads it
                     (results.json)
--nbgrader DATABASE ASSIGNMENT
                     also write the points into nbgrader's gradebook (gradebook.db)
--items FILE         also write the results of a test, question by question, without names (CSV)
--pretest SUBMISSIONS
                     with --items: what the same class handed in before the course, to see how much
                     it gained
--keep-batches       also write the notebooks that nbval runs to DIR/batches; run one again with
                     `pytest --nbval-lax --nbval-current-env NOTEBOOK`
"""


def _parser() -> argparse.ArgumentParser:
    about = (
        "Grade notebooks. Answers are read as text and never run. If a run was stopped, give the "
        "same command again, and it continues where it stopped."
    )
    read = {"seed": _seed, "workers": _count}
    return read_options("grade", about, OPTIONS, required=("out",), read=read)


def _seed(text: str) -> int:
    from course_lib.grading.records import MOST_SEED

    if not text.isdecimal() or int(text) > MOST_SEED:
        raise argparse.ArgumentTypeError(f"a seed is a whole number from 0 to {MOST_SEED}")
    return int(text)


def _count(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= 1000:
        raise argparse.ArgumentTypeError("the number of workers must be from 1 to 1000")
    return int(text)


def _settings(options: argparse.Namespace) -> tuple[Settings, tuple[str, ...] | None]:
    """The settings, and the exercises that the command or they name."""
    from course_lib.grading.settings import load_settings

    settings = load_settings(options.settings, options.notebooks)
    course = settings.exercises
    exercises = _exercises(options.exercises, course) if options.exercises else course
    return settings, exercises


def _exercises(
    names: list[str], course: tuple[str, ...] | None = None, one: bool = False
) -> tuple[str, ...]:
    from course_lib.grading.settings import exercise_ids

    try:
        found = exercise_ids(names, course)
    except CannotGrade as problem:
        option = "--explain" if one else "--exercises"
        raise _WrongArguments(f"{option}: {problem}") from None
    if one and len(found) != 1:
        raise _WrongArguments(f"{names[0]} has several exercises: {', '.join(found)}; name one.")
    return found


def _workplace(options: argparse.Namespace) -> Workplace:
    from course_lib.grading.judging import executors

    if options.dask:
        return executors.dask_cluster(options.dask)
    return executors.process_pool(options.workers)
