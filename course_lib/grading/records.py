"""What grading hands from step to step: submissions, answers, judgements, rows.

Plain frozen data. A judgement crosses a process boundary, so it has a strict JSON form; nothing
that came from a student is ever unpickled, imported or executed.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Literal, get_args

from course_lib.curriculum import EXERCISES, TASKS, Exercise
from course_lib.grading.transfer import TRANSFER
from course_lib.wording.findings import CODES, Finding
from course_lib.wording.sentences import AUDIENCES, in_words, told


class CannotGrade(Exception):
    """The instructor gave something that cannot be used; the message says what, and the mend."""


FORMER: dict[str, str] = {
    name: task.replaced_by for name, task in TASKS.items() if task.replaced_by
}  # id -> the exercise that is graded in its place

GRADED: Mapping[str, Exercise] = {
    exercise.id: exercise
    for exercise in (
        *EXERCISES.values(),
        *(TASKS[name].as_it_was_graded() for name in FORMER),
        *TRANSFER.values(),
    )
}  # today's in the course's order; an earlier edition's, asked of who answered it; those of tests


def why_not_graded(name: str) -> str:
    """Why a task of a lesson has no points, as the end of a sentence that begins with its name."""
    return f"is a task of lesson {TASKS[name].lesson}, and tasks are not graded"


MOST_SEED = 2**32 - 1
CellKind = Literal["code", "markdown", "raw"]
Outcome = Literal["judged", "died", "stopped-by-clock"]
Verdict = Literal["passed", "partly", "failed", "missing", "needs review"]
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)  # from best to undecided


class BadRecord(ValueError):
    """A judgement in JSON that is not one; the message says what is wrong with it."""


@dataclass(frozen=True)
class AssignedExercise:
    """One exercise of the instructor's notebook."""

    exercise: str  # the id
    notebook: str  # the name of the file, without the suffix
    title: str  # the notebook's first cell of text
    statement: str  # the cell of text that says what to do
    context: str  # the code above the answer: imports, constants, helpers
    stub: str = ""  # the answer cell as students get it
    # it is of an earlier edition, and asked only of those who have answered it
    is_former: bool = False


@dataclass(frozen=True)
class TextCell:
    """One cell of a submitted notebook, as text alone."""

    kind: CellKind  # "code", "markdown" or "raw", as the file says
    text: str  # its source
    number: int  # its place in the notebook, from 1, counting cells of every kind


@dataclass(frozen=True)
class SubmittedFile:
    """One notebook file of a submission."""

    label: str  # its path within the submissions, cleaned for display
    cells: tuple[TextCell, ...] = ()  # what could be read of it
    problem: str | None = None  # one sentence if it could not be read; then there are no cells
    left_out: bool = False  # it could be read, but does not count; `problem` says why

    @property
    def is_unread(self) -> bool:
        """An answer may be in it, and nobody has seen it."""
        return self.problem is not None and not self.left_out


@dataclass(frozen=True)
class Submission:
    """What one student handed in."""

    student: str  # the name for people to read, cleaned of control characters
    key: str  # unique among the submissions, and safe as a file name on every system
    # the notebooks, in the order of their names; of two answers, the later one counts
    files: tuple[SubmittedFile, ...] = ()
    problem: str | None = None  # one sentence if nothing in it could be read
    # "canvas", "moodle", "blackboard" or "brightspace" where the file names say so
    platform: str | None = None
    # the learning platform's own number of the student or participant
    platform_id: str | None = None
    is_late: bool = False  # the platform says so, in the names of the files


@dataclass(frozen=True)
class FoundAnswer:
    """The answer to one exercise in a submission, as text."""

    exercise: str  # the id
    text: str = ""  # what is judged; empty if there is no answer
    # sentences for student and instructor: which of several definitions counts, what was taken from
    # another cell, what was repaired
    notes: tuple[str, ...] = ()
    problem: str | None = None  # one sentence if there is no answer that can be judged
    file: str | None = None  # the label of its file
    cell: int | None = None  # the number of its cell
    # the line of `text` on which that cell begins; lines before it come from others
    first_line: int = 1
    # there is a problem, and yet there may be an answer: a person should look
    needs_review: bool = False


@dataclass(frozen=True)
class Judgement:
    """What the examination of one answer found; independent of points and of the clock."""

    exercise: str  # the id
    findings: tuple[Finding, ...] = ()  # errors first, causes before symptoms
    held: tuple[str, ...] = ()  # what holds, one sentence each
    numbers_right: bool = False  # every launch gave the right numbers
    # the launches did whose blocks divide all sizes; see diagnosis.points
    right_where_even: bool = False
    needs_review: bool = False  # a person should look: the tools, not the answer, may be at fault
    shares: bool = True  # the threads of a block hand numbers to each other; see diagnosis.points
    launched: str = ""  # how it was launched, where that was not the usual way: a sentence, or ""
    outcome: Outcome = "judged"  # "judged", or what kept it from being judged

    def to_json(self) -> str:
        """One line of JSON with its keys in order, so that equal judgements are equal bytes."""
        findings = [
            [
                finding.code,
                finding.severity,
                _wordings(finding.message),
                finding.line,
                _wordings(finding.hint),
            ]
            for finding in self.findings
        ]
        return json.dumps({**vars(self), "findings": findings}, sort_keys=True)

    @classmethod
    def from_json(cls, text: str) -> Judgement:
        """The judgement that `to_json` wrote. Raises BadRecord for anything else."""
        try:
            fields = json.loads(text)
            findings = tuple(_finding(*finding) for finding in fields.pop("findings"))
            held = tuple(_text(sentence) for sentence in fields.pop("held"))
            judgement = cls(findings=findings, held=held, **fields)
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
            raise BadRecord(f"this is no judgement: {error}") from error
        _text(judgement.exercise)
        _text(judgement.launched)
        if judgement.outcome not in get_args(Outcome):
            raise BadRecord(f"there is no outcome {judgement.outcome!r}")
        answers = (judgement.numbers_right, judgement.right_where_even, judgement.needs_review)
        if not all(type(flag) is bool for flag in (*answers, judgement.shares)):
            raise BadRecord("a judgement's yes or no is neither of the two")
        return judgement


def _finding(
    code: object, severity: object, message: object, line: object, hint: object
) -> Finding:
    if code not in CODES or severity not in ("error", "warning"):
        raise BadRecord(f"there is no finding {code!r} of severity {severity!r}")
    if line is not None and type(line) is not int:
        raise BadRecord(f"a line is a whole number, not {line!r}")
    return Finding(_text(code), severity, _in_words(message), line, _in_words(hint))


def _wordings(said: str) -> list[str]:
    """A sentence for each of its readers."""
    return [told(said, audience) for audience in AUDIENCES]


def _in_words(value: object) -> str:
    if type(value) is not list or len(value) != len(AUDIENCES):
        raise BadRecord(f"these should be the wordings for {len(AUDIENCES)} readers: {value!r}")
    return in_words([*map(_text, value)])


def _text(value: object) -> str:
    if type(value) is not str:
        raise BadRecord(f"this should be text: {value!r}")
    return value


@dataclass(frozen=True)
class Override:
    """What an instructor has set for one answer."""

    points: Decimal | None = None  # instead of the judge's; None leaves those
    comment: str = ""  # for the student; empty if there is none


@dataclass(frozen=True)
class Standing:
    """What holds for all that a student has handed in."""

    comment: str = ""  # for the student; empty if there is none
    late_days: int | None = None  # how late the submission was; None if nobody has noted it
    share: Decimal = Decimal(1)  # what of the sum of points counts, from 0 to 1
    flagged: bool = False  # the platform says that it was late, and nobody has noted by how much

    @property
    def is_late(self) -> bool:
        return self.flagged or bool(self.late_days)


@dataclass(frozen=True)
class GradebookRow:
    """One line of the gradebook: a submission and an exercise."""

    submission: Submission  # whose it is
    exercise: str  # the id; empty if the submission is not about any exercise
    # after the course's own weights, and what was set by hand; None while they are open. Late days
    # are taken off the sum, by `tables.grade`.
    points: Decimal | None
    max_points: Decimal
    verdict: Verdict  # "needs review" never means 0 points, it means that none are decided
    reason: str  # one sentence
    earned: dict[str, Decimal] = field(default_factory=dict)  # the points of each property
    answer: FoundAnswer | None = None  # what was judged, if there was something
    judgement: Judgement | None = None  # what was found, if it was judged
    judged_points: Decimal | None = None  # what the judge gave; None if that is open
    override: Override = Override()  # what the instructor has set for this answer
    standing: Standing = Standing()  # what holds for all rows of the student

    @property
    def is_set(self) -> bool:
        """The points are the instructor's, whatever the verdict is."""
        return self.override.points is not None
