"""Grades a class: finds the answers, has them judged in batches, scores them, writes the outputs.

Whatever happens to one batch or to this process, what has been judged stays in the journal. A
judgement depends on the answer, its exercise, the seed and the grader alone. So it does not matter
in which order, in what company or on which machine answers are judged, and equal answers are
judged once.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from course_lib.grading.answers.assembling import (
    TextQuestion,
    asked_of,
    read_questions,
    text_answer,
)
from course_lib.grading.answers.search import find_answers, recognised_exercises
from course_lib.grading.gradebook import class_list, outputs, scoring
from course_lib.grading.gradebook.class_list import Graded
from course_lib.grading.gradebook.scoring import Overrides, score
from course_lib.grading.gradebook.which_counts import choose, who_is_graded
from course_lib.grading.judging.batches import Item, batch_notebook, read_tasks
from course_lib.grading.judging.executors import Workplace, run_all
from course_lib.grading.judging.worker import Batch, BatchLimits, read_result, run_batch
from course_lib.grading.records import (
    FORMER,
    GRADED,
    AssignedExercise,
    CannotGrade,
    FoundAnswer,
    GradebookRow,
    Judgement,
    Submission,
)
from course_lib.grading.run_folder import Journal, RunFolder, key_of
from course_lib.grading.settings import Settings
from course_lib.problems.table import check_reference
from course_lib.registry.entry_checks import BadEntry

MOST_A_BATCH = 32
FEWEST_A_BATCH = 8
_LOG = logging.getLogger(__name__)
NOT_RECOGNISED = "No answer to an exercise of the course was found in this submission."


@dataclass
class Progress:
    """How far a run is."""

    total: int = 0  # answers to judge, with those known from earlier runs
    known: int = 0  # how many earlier runs have judged
    done: int = 0  # how many are judged
    # what was found odd on the way, for the instructor
    notes: list[str] = field(default_factory=list)


def grade(
    grader: Grader,
    submissions: Iterable[Submission],
    exercise_ids: Sequence[str] | None,
    folder: RunFolder,
    only: Sequence[str] | None = None,
    overrides: Overrides | None = None,
) -> list[GradebookRow]:
    """Grade the submissions and write all outputs into the folder.

    Args:
        grader: finds the answers, and has them judged.
        submissions: gone through once, so they may be read one at a time.
        exercise_ids: what everyone is expected to answer; None: what each submission is about.
        folder: where outputs go, and what counted in earlier runs.
        only: grade these students alone (all that are given, if none is named), and keep the rows
            of everybody else; None: the submissions are the whole class.
        overrides: what the instructor has set by hand.

    Raises:
        CannotGrade: if the instructor gave something that cannot be used, or if a row of an earlier
            run would be lost.
    """
    earlier = folder.counted()
    found = grader.find(submissions, exercise_ids)
    if only is not None:
        found = class_list.chosen(found, only, [record.graded for record in earlier])
    choice = choose(found, earlier, only is not None, folder.out)
    for sentence in who_is_graded(choice, by_name=only is not None):
        _say(sentence)
    everybody = [record.graded for record in choice.counted]
    set_for = scoring.whose(overrides or Overrides(), everybody)
    rows = scoring.with_what_is_set(grader.rows(everybody), set_for)
    settings, seed = grader.settings, grader.seed
    folder.replace(lambda new: outputs.write_all(rows, settings, seed, new), choice, rows, _say)
    return rows


def _say(sentence: str) -> None:
    _LOG.warning("Note: %s", sentence)


@dataclass
class Grader:
    """Finds the answers of submissions, has them judged, and scores them."""

    settings: Settings  # the course's own choices
    seed: int  # draws inputs and shapes
    journal: Journal  # what earlier runs have judged
    workplace: Workplace  # where batches are run
    # called whenever there is progress
    report: Callable[[Progress], None] = lambda progress: None
    # a folder for copies of the batch notebooks, to be looked at or run by hand
    keep: Path | None = None
    _progress: Progress = field(default_factory=Progress)
    _waiting: dict[str, deque[Item]] = field(default_factory=dict)  # by notebook
    # batches that cost a worker its life
    _again: deque[list[Item]] = field(default_factory=deque)
    _given_out: dict[str, list[Item]] = field(default_factory=dict)  # by job

    @cached_property
    def tasks(self) -> dict[str, AssignedExercise]:
        return read_tasks(self.settings.notebooks)

    def find(
        self, submissions: Iterable[Submission], exercise_ids: Sequence[str] | None
    ) -> list[Graded]:
        """The submissions with their answers, and without the rest of what was handed in."""
        self._check_tasks(exercise_ids or ())
        questions = read_questions(self.settings.notebooks, self.settings.questions)
        return [self._found(submission, exercise_ids, questions) for submission in submissions]

    def rows(self, found: Sequence[Graded]) -> list[GradebookRow]:
        """The rows of these answers, judged where they are not known yet."""
        answers = [answer for _, theirs in found for answer in theirs]
        asked = dict.fromkeys(answer.exercise for answer in answers if answer.exercise)
        self._check_tasks([fromkey for fromkey in asked if fromkey not in self.settings.questions])
        self._queue(found)
        self._judge()
        return [
            score(submission, answer, self._judgement(answer), self.settings)
            for submission, theirs in found
            for answer in theirs
        ]

    def _check_tasks(self, exercise_ids: Iterable[str]) -> None:
        for name in exercise_ids:
            if name not in self.tasks:
                raise CannotGrade(
                    f"No notebook in {self.settings.notebooks} has the exercise {name}; there are "
                    f"{', '.join(task for task in self.tasks if task not in FORMER)}."
                )
            try:
                check_reference(GRADED[name])
            except BadEntry as problem:
                raise CannotGrade(str(problem)) from None

    def _found(
        self,
        submission: Submission,
        expected: Sequence[str] | None,
        questions: Mapping[str, TextQuestion],
    ) -> Graded:
        if expected is None:
            # Whoever answers one exercise of a notebook is asked for all of them.
            about = recognised_exercises(submission)
            asked = {name: task for name, task in self.tasks.items() if not task.is_former}
            notebooks = {asked[name].notebook for name in about if name in asked}
            expected = [
                name
                for name, task in self.tasks.items()
                if (name in about if task.is_former else task.notebook in notebooks)
            ]
        answers: tuple[FoundAnswer, ...] = (_no_answer(submission),)
        if expected:
            answers = find_answers(submission, expected, self.tasks)
        in_words = [text_answer(submission, question) for question in asked_of(questions, expected)]
        return class_list.without_cells(submission), (*answers, *in_words)

    # --- judging ------------------------------------------------------------------------------

    def _queue(self, found: Iterable[Graded]) -> None:
        """Put every answer that is not known yet, once, in the queue of its notebook."""
        queued: set[str] = set()
        for submission, answers in found:
            for answer in filter(self._can_be_judged, answers):
                key = self._key(answer)
                if key in queued:
                    continue
                queued.add(key)
                self._progress.total += 1
                if key in self.journal:
                    self._progress.known += 1
                    continue
                name = f"{submission.key}::{answer.exercise}"
                item = Item(key, name, answer.exercise, answer.text)
                notebook = self.tasks[answer.exercise].notebook
                self._waiting.setdefault(notebook, deque()).append(item)
        self._progress.done = self._progress.known

    def _judgement(self, answer: FoundAnswer) -> Judgement | None:
        return self.journal[self._key(answer)] if self._can_be_judged(answer) else None

    def _judge(self) -> None:
        """Have all that is waiting judged."""
        self.report(self._progress)
        if not self._waiting:
            return
        # Closed whatever happens, so that no worker goes on after an error or Ctrl-C.
        with closing(run_all(run_batch, self.workplace, self._next_job)) as results:
            for job, result in results:
                self._take(self._given_out.pop(job), result)
                self.report(self._progress)

    def _take(self, given: Sequence[Item], text: str | None) -> None:
        """Write down what came of a batch; None: its worker died, again and again."""
        if text is not None:
            judged = self._judged(given, text)
        elif len(given) == 1:
            died = Judgement(given[0].exercise, needs_review=True, outcome="died")
            judged = {given[0].key: died}
        else:  # find out at whose answer
            self._again.extend([item] for item in given)
            return
        self.journal.add(judged)
        self._progress.done += len(judged)

    def _judged(self, given: Sequence[Item], text: str) -> dict[str, Judgement]:
        result = read_result(text, given)
        self._progress.notes += result.notes
        judged = result.judgements
        if result.problem is None and len(judged) == len(given):
            return judged
        self.journal.add(judged)  # of use to the next run
        raise CannotGrade(
            result.problem
            or f"A worker left out {len(given) - len(judged)} of {len(given)} answers; install the "
            "same version of the course everywhere."
        )

    def _next_job(self) -> str | None:
        batch = self._next_batch()
        if not batch:
            return None
        names = {item.exercise for item in batch}
        tasks = {name: task for name, task in self.tasks.items() if name in names}
        if self.keep:
            _keep_copy(self.keep, tasks, batch, self.seed)
        job = Batch(tasks, tuple(batch), self.seed, BatchLimits()).to_json()
        self._given_out[job] = batch
        return job

    def _next_batch(self) -> list[Item]:
        """Batches get smaller towards the end, so that no worker is left with a long one."""
        if self._again:
            return self._again.popleft()
        if not self._waiting:
            return []
        left = sum(map(len, self._waiting.values()))
        fair = -(-left // (2 * self.workplace.width))
        size = min(max(fair, FEWEST_A_BATCH), MOST_A_BATCH)
        # Later lessons take longer for each answer, so they go first.
        notebook = max(self._waiting)
        queue = self._waiting[notebook]
        batch = [queue.popleft() for _ in range(min(size, len(queue)))]
        if not queue:
            del self._waiting[notebook]
        return batch

    def _can_be_judged(self, answer: FoundAnswer) -> bool:
        """Neither missing nor in words."""
        return answer.exercise in self.tasks and answer.problem is None

    def _key(self, answer: FoundAnswer) -> str:
        context = self.tasks[answer.exercise].context
        return key_of(answer.exercise, answer.text, context, self.seed)


def _no_answer(submission: Submission) -> FoundAnswer:
    problems = [submission.problem, *(file.problem for file in submission.files)]
    return FoundAnswer(
        "",
        problem=next(filter(None, problems), NOT_RECOGNISED),
        needs_review=any(file.is_unread for file in submission.files),
    )


def _keep_copy(
    folder: Path, tasks: Mapping[str, AssignedExercise], items: Sequence[Item], seed: int
) -> None:
    """Write a batch notebook beside those that are there already."""
    folder.mkdir(parents=True, exist_ok=True)
    stem = next(iter(tasks.values())).notebook
    number = len(list(folder.glob(f"{stem}-batch-*.ipynb"))) + 1
    path = folder / f"{stem}-batch-{number:03}.ipynb"
    path.write_text(batch_notebook(tasks, items, seed), encoding="ascii")
