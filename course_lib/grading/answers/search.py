"""Chooses the answers of a submission, by marker and name, from the segments of its cells.

Where an exercise is answered several times, the last complete answer counts: one that Python can
read, and that defines what is asked for with more in it than the exercise gave. Only copies below
"Break it", which the exercise itself asks for, stand back behind an answer elsewhere.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property

from course_lib.curriculum import Exercise
from course_lib.grading.answers.assembling import assemble, surroundings
from course_lib.grading.answers.doubts import doubt_about, doubt_without_answer, why_none
from course_lib.grading.answers.segments import Form, Segment, read_code, segments_of, shapes_of
from course_lib.grading.records import FORMER, GRADED, AssignedExercise, FoundAnswer, Submission

_MOST_CONTINUATIONS = 8
_FARTHEST_CONTINUATION = 24  # cells below, with those that are empty or text
_MOST_NOTES = 6


def find_answers(
    submission: Submission,
    exercise_ids: Sequence[str],
    given: Mapping[str, AssignedExercise] | None = None,
) -> tuple[FoundAnswer, ...]:
    """One answer for each id, in their order; with a problem where there is none.

    With the instructor's notebooks, `given`, an answer that is still as it was given is recognised,
    and what they import is not looked for in the student's cells.
    """
    segments = segments_of(submission)
    return tuple(
        _Search(GRADED[name], submission, segments, (given or {}).get(name)).answer()
        for name in exercise_ids
    )


def recognised_exercises(submission: Submission) -> tuple[str, ...]:
    """The exercises whose marker, function or constants stand in a submission.

    One of an earlier edition is known by its marker alone: lessons have a task of this name.
    """
    segments = segments_of(submission)
    return tuple(
        name
        for name, exercise in GRADED.items()
        if any(_is_about(segment, exercise) for segment in segments)
    )


def _is_about(segment: Segment, exercise: Exercise) -> bool:
    if segment.marker:
        return segment.marker == exercise.id
    if exercise.id in FORMER or segment.in_lesson:
        return False
    if segment.code.error and segment.mentions(exercise.id):
        # It was begun, and a colon is missing: the examination says so.
        return segment.runs and Form(exercise).is_begun_in(segment)
    return _defines(segment, exercise)


def _defines(segment: Segment, exercise: Exercise) -> bool:
    """Whether a segment defines what an exercise asks for, complete or not."""
    return Form(exercise).is_defined_in(segment)


def _is_indented(segment: Segment) -> bool:
    """Jupyter would have run it for itself, without its indent."""
    first = next((line for line in segment.text.split("\n") if line.strip()), "")
    return first[:1] in (" ", "\t")


def _says_nothing(segment: Segment) -> bool:
    """It is empty, or a comment from the left margin."""
    if segment.text.lstrip()[:1] not in ("", "#"):  # much faster
        return False
    return all(not line.strip() or line.startswith("#") for line in segment.text.split("\n"))


class _Search:
    """The search for one answer."""

    def __init__(
        self,
        exercise: Exercise,
        submission: Submission,
        segments: Sequence[Segment],
        given: AssignedExercise | None,
    ) -> None:
        self.exercise = exercise
        self.form = Form(exercise)
        self.submission = submission
        self.segments = segments
        self.stub = self._shapes(given.stub) if given else frozenset()
        self.given = surroundings(given.context) if given else None
        around = (given.context, given.stub) if given else ()
        self.as_given = frozenset[str]().union(*(surroundings(text).shapes for text in around))
        self.marked_files = {segment.file for segment in segments if segment.marker == exercise.id}
        self.mine = [segment for segment in segments if self._may_answer(segment)]

    def answer(self) -> FoundAnswer:
        if self.complete:
            return self._found(max(self.complete, key=self._rank), self.complete)
        broken = [segment for segment in self.mine if self._is_broken(segment)]
        if broken:
            return self._broken(max(broken, key=self._rank))
        doubt = doubt_without_answer(self.exercise.id, self.segments, self._place)
        if doubt:
            return FoundAnswer(self.exercise.id, problem=doubt, needs_review=True)
        texts = [
            segment for segment in self.mine if self._is_complete(segment) and not segment.is_code
        ]
        if texts:
            chosen = max(texts, key=self._rank)
            note = f"Cell {chosen.cell} is not a code cell; the code in its text is judged."
            return self._found(chosen, texts, note)
        stubs = [
            segment for segment in self.mine if segment.is_code and _defines(segment, self.exercise)
        ]
        none = why_none(
            self.exercise, self.submission, self.segments, stubs, self._place, self.as_given
        )
        if stubs and (unused := self._unused_rest(stubs[-1])):
            return replace(none, problem=f"{none.problem} {unused}", needs_review=True)
        return none

    # --- what a segment is --------------------------------------------------------------------

    def _may_answer(self, segment: Segment) -> bool:
        if segment.marker == self.exercise.id:
            return True
        if segment.in_lesson:  # its kernels are ours
            return False
        return segment.marker is None or self.form.is_one_function

    def _rank(self, segment: Segment) -> tuple[bool, bool, int]:
        return (not segment.is_experiment, segment.file in self.marked_files, segment.order)

    def _is_complete(self, segment: Segment) -> bool:
        if not _defines(segment, self.exercise):
            return False
        return self.form.is_changed_in(segment, self.stub)

    def _is_broken(self, segment: Segment) -> bool:
        """It answers, but cannot be read or is no `def`: the examination says more about that."""
        marked = segment.marker == self.exercise.id
        if not (marked or segment.mentions(self.exercise.id)) or not segment.runs:
            return False
        if segment.code.error:
            return marked or self.form.is_begun_in(segment)
        if _defines(segment, self.exercise):
            return False
        return self.form.is_attempted_in(segment, marked)

    def _shapes(self, text: str) -> frozenset[str]:
        """What tells whether an answer is still the one that was given."""
        return shapes_of(self.form.names, read_code(text))

    # --- answers over several cells -----------------------------------------------------------

    @cached_property
    def complete(self) -> list[Segment]:
        """The complete answers in code; constants with the cells below that set more of them."""
        found = [
            segment for segment in map(self._whole, self.mine) if self._is_complete_code(segment)
        ]
        # What carries on an answer is no answer of its own.
        taken = {(segment.file, cell) for segment in found for cell in segment.continued_in}
        return [segment for segment in found if (segment.file, segment.cell) not in taken]

    def _is_complete_code(self, segment: Segment) -> bool:
        return segment.is_code and self._is_complete(segment) and segment.runs

    def _whole(self, segment: Segment) -> Segment:
        """A segment, with more constants where it is an answer, or says that it is one."""
        if self.form.is_one_function or not segment.is_code:
            return segment
        if segment.marker != self.exercise.id and not self._is_complete(segment):
            return segment
        names = frozenset(self.form.names)
        for following in self._below(segment):
            statements = following.code.statements
            if not statements or not all(
                statement.kind == "constant" and statement.binds & names for statement in statements
            ):
                break
            segment = segment.joined(following)
        return segment

    def _calls_it(self, segment: Segment) -> bool:
        pattern = rf"(?<!def )\b{self.exercise.id}[ \t]*[\[(]"
        return re.search(pattern, segment.text) is not None

    def _below(self, segment: Segment) -> Iterator[Segment]:
        """The next cells of code below a segment, up to the next answer."""
        count = 0
        begin = segment.order + 1
        for following in self.segments[begin : begin + _FARTHEST_CONTINUATION]:
            # Below "Break it", experiments begin.
            same_part = following.is_experiment == segment.is_experiment
            if following.file != segment.file or following.marker or not same_part:
                return
            if not following.is_code or _says_nothing(following):
                continue
            count += 1
            if not following.runs or count > _MOST_CONTINUATIONS:
                return
            yield following

    def _unused_rest(self, chosen: Segment) -> str | None:
        """Says that a cell below looks like the rest of the answer: Jupyter would not take it so,
        and no more do we."""
        if not self.form.is_one_function:
            return None
        for following in self._below(chosen):
            if not _is_indented(following) or self._calls_it(following):
                return None
            return (
                f"{self._place(following).capitalize()} begins indented, like the rest of a "
                "function, and is not part of the answer."
            )
        return None

    # --- answers ------------------------------------------------------------------------------

    def _found(self, chosen: Segment, others: Sequence[Segment], *notes: str) -> FoundAnswer:
        assembled = assemble(chosen, self.form.names, self.segments, self.given)
        doubt = doubt_about(self.exercise, chosen, assembled.needed, self.segments, self._place)
        if doubt := doubt or self._unused_rest(chosen):
            return self._unclear(chosen, doubt)
        notes = (*notes, *self._notes(chosen, others), *chosen.code.repairs, *assembled.notes)
        return FoundAnswer(
            self.exercise.id,
            assembled.text,
            notes[:_MOST_NOTES],
            file=chosen.label,
            cell=chosen.cell,
            first_line=assembled.first_line,
        )

    def _unclear(self, chosen: Segment, problem: str) -> FoundAnswer:
        """An answer that a person has to look at."""
        return FoundAnswer(
            self.exercise.id,
            problem=problem,
            file=chosen.label,
            cell=chosen.cell,
            needs_review=True,
        )

    def _broken(self, chosen: Segment) -> FoundAnswer:
        code = chosen.code
        if code.is_too_long:
            problem = f"{self._place(chosen).capitalize()} cannot be judged: {code.error}."
            return self._unclear(chosen, problem)
        doubt = doubt_about(self.exercise, chosen, [self.exercise.id], self.segments, self._place)
        if doubt := doubt or self._unused_rest(chosen):
            return self._unclear(chosen, doubt)
        notes = (*self._notes(chosen, [chosen]), *code.repairs)
        return FoundAnswer(
            self.exercise.id, code.text, notes[:_MOST_NOTES], file=chosen.label, cell=chosen.cell
        )

    def _notes(self, chosen: Segment, complete: Sequence[Segment]) -> Iterator[str]:
        if chosen.continued_in:
            cells = ", ".join(map(str, (chosen.cell, *chosen.continued_in)))
            yield f"The answer was split over several cells ({cells}), which are read as one."
        if len(complete) > 1:
            yield self._which_counts(chosen, complete)
        for segment in self.mine:
            if segment.order > chosen.order and self._is_broken(segment):
                why = segment.code.error or "it is not a function definition"
                yield f"A later answer in {self._place(segment)} cannot be read: {why}."
        later = [file for file in self.marked_files if file > chosen.file]
        if later and chosen.file in self.marked_files:
            label = self.submission.files[max(later)].label
            yield f"The answer in {label}, which comes later, is not complete."
        if chosen.marker != self.exercise.id:
            line = f"`# EXERCISE {self.exercise.id}`"
            yield f"The line {line} is not above the answer; the answer was found by its name."

    def _which_counts(self, chosen: Segment, complete: Sequence[Segment]) -> str:
        places = ", ".join(self._place(segment) for segment in complete[:6])
        rule = "the last one counts"
        if any(segment.is_experiment and segment.order > chosen.order for segment in complete):
            rule = "what comes below “Break it” is an experiment, and the last of the others counts"
        elif any(segment.order > chosen.order for segment in complete):
            rule = "in the notebook with the exercise's marker, the last one counts"
        return f"There are {len(complete)} answers ({places}): {rule}, {self._place(chosen)}."

    def _place(self, segment: Segment) -> str:
        several = len(self.submission.files) > 1
        return f"cell {segment.cell} of {segment.label}" if several else f"cell {segment.cell}"
