"""Decides which answers count from run to run, and says each change.

What counts is the truth of a folder of grades, and every table is made from it. A later run changes
it by three rules; each change is one sentence for the instructor and one line of the history:

1. An answer given with `--only`, other than what counted, counts until another is given so.
2. Otherwise what the command of the class is given counts.
3. No answer gives way to none: what is gone, or cannot be read, replaces nothing.
"""

import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from course_lib.grading.gradebook.class_list import (
    SHOWN_DIGITS,
    Counted,
    Event,
    Graded,
    digest_of,
    matched,
    refuse_losses,
    refuse_two_of_a_name,
    shown,
    some,
)
from course_lib.grading.gradebook.tables import grade, lateness, one_line
from course_lib.grading.records import FoundAnswer, GradebookRow, Submission
from course_lib.wording.words import counted, decimal

MOST_CHARACTERS = 500  # of a command


# --- The rules ----------------------------------------------------------------------------------


@dataclass
class WhatCounts:
    """What counts from now on."""

    counted: list[Counted] = field(default_factory=list)  # all students
    # what counted of each of them, by key; nothing of whoever is new
    before: dict[str, Counted] = field(default_factory=dict)
    # the answers that were given and do not count, each with its student's key
    passed_over: list[tuple[str, FoundAnswer]] = field(default_factory=list)
    graded: set[str] = field(default_factory=set)  # the keys of those that this run was given


def choose(
    found: Sequence[Graded], earlier: Sequence[Counted], by_name: bool, out: object
) -> WhatCounts:
    """Apply the rules to what a run was given; with `--only`, if it is `by_name`.

    Raises CannotGrade if a row would be lost, or if two submissions would have one name.
    """
    pairs, rest = matched(found, earlier, by_name)
    if not by_name:
        refuse_losses(pairs, rest, out)
    choice = WhatCounts(
        counted=list(rest), before={record.submission.key: record for record in rest}
    )
    for given, before in pairs:
        now, passed_over = _joined(given, before, by_name)
        key = now.submission.key
        choice.counted.append(now)
        choice.graded.add(key)
        choice.passed_over += [(key, answer) for answer in passed_over]
        if before is not None:
            choice.before[key] = before
    refuse_two_of_a_name([record.submission for record in choice.counted], choice.graded)
    choice.counted.sort(key=lambda record: record.submission.key)
    return choice


def _joined(
    given: Graded, before: Counted | None, by_name: bool
) -> tuple[Counted, list[FoundAnswer]]:
    """One student's answers after a run, and which of the given ones do not count."""
    submission, answers = given
    before = before or Counted(submission, in_class=False)
    now: dict[str, FoundAnswer] = {}
    named, replaced = before.named, dict(before.replaced)
    passed_over = []
    for answer in answers:
        old = before.answer(answer.exercise)
        if old is not None and _keeps(old, answer, answer.exercise in before.named, by_name):
            now[answer.exercise] = old
            if digest_of(old) != digest_of(answer):
                passed_over.append(answer)
        else:
            now[answer.exercise] = answer
            is_other = old is None or digest_of(old) != digest_of(answer)
            if not by_name:
                named -= {answer.exercise}
            elif is_other:
                named |= {answer.exercise}
            if old is not None and is_other and digest_of(old):
                replaced[digest_of(old)] = old.text
    for old in before.answers:
        now.setdefault(old.exercise, old)
    if len(now) > 1:
        now.pop("", None)  # about no exercise, until now
    kept = {answer.file for answer in now.values() if answer not in answers}
    labels = {file.label for file in submission.files}
    files = [file for file in before.submission.files if file.label in kept - labels]
    has_answer = any(digest_of(answer) for answer in now.values())
    joined = replace(
        submission,
        files=(*submission.files, *files),
        problem=None if has_answer else submission.problem,
    )
    history = {name: events for name, events in before.history.items() if name in now}
    in_class = before.in_class or not by_name
    return (
        Counted(joined, tuple(now.values()), named & now.keys(), in_class, history, replaced),
        passed_over,
    )


def _keeps(old: FoundAnswer, new: FoundAnswer, was_named: bool, by_name: bool) -> bool:
    """Whether an answer goes on counting where another one is given; see the rules."""
    stays_named = was_named and not by_name
    if digest_of(new):
        return stays_named and bool(digest_of(old))
    return stays_named or bool(digest_of(old))


# --- What happened, for the history -------------------------------------------------------------


def with_history(
    counted: Iterable[Counted], rows: Sequence[GradebookRow], when: str, command: str
) -> list[Counted]:
    """Each row with one event more, if anything about it is another than before."""
    events: dict[str, dict[str, Event]] = {}
    for row in rows:
        theirs = events.setdefault(row.submission.key, {})
        theirs[row.exercise] = _event(row, when, command[:MOST_CHARACTERS])
    return [_with_events(record, events[record.submission.key]) for record in counted]


def _event(row: GradebookRow, when: str, command: str) -> Event:
    points = grade([row])
    given = None if points is None else decimal(points)
    why = ("set by hand" if row.is_set else "", lateness([row]).rstrip("."))
    return Event(when, command, None, "", given, row.verdict, tuple(filter(None, why)))


def _with_events(counted: Counted, now: Mapping[str, Event]) -> Counted:
    history = dict(counted.history)
    for answer in counted.answers:
        event = replace(now[answer.exercise], file=answer.file, digest=digest_of(answer))
        known = history.get(answer.exercise, ())
        if not known or known[-1].is_like != event.is_like:
            history[answer.exercise] = (*known, event)
    return replace(counted, history=history)


def what_changed(choice: WhatCounts, after: Sequence[Counted]) -> list[str]:
    """Every change of what counted before this run, and every answer that was given in vain."""
    said: list[str] = []
    new: list[str] = []
    other_points: list[str] = []
    for now in after:
        before = choice.before.get(now.submission.key)
        if before is None:
            continue
        if before.submission.student != now.submission.student:
            said.append(_renamed(before.submission, now.submission))
        for answer in now.answers:
            old = before.answer(answer.exercise)
            row = RowChange(now, answer, before)
            if old is None:
                new.append(row.name)
            elif digest_of(old) != digest_of(answer):
                said.append(row.counts_now(old))
            elif row.points_changed:
                other_points.append(row.other_points())
    by_key = {counted.submission.key: counted for counted in after}
    for key, given in choice.passed_over:
        now = by_key[key]
        if kept := now.answer(given.exercise):
            said.append(RowChange(now, kept, choice.before.get(key)).kept(given))
    if new:
        said.append(f"new: {some(new, '; ')}.")
    if other_points:
        said.append(f"Other points for the same answers: {some(other_points)}.")
    return said


def _renamed(before: Submission, now: Submission) -> str:
    number = f" ({now.platform_id})" if now.platform_id else ""
    return f"{one_line(before.student)}{number} is called {one_line(now.student)} now."


def who_is_graded(choice: WhatCounts, by_name: bool) -> Iterator[str]:
    """Who is graded anew, who comes in, and who or how many stay as they were."""
    new = [e.submission for e in choice.counted if e.submission.key not in choice.before]
    fresh = f"new: {some([one_line(record.student) for record in new])}"
    if by_name:
        given = [e.submission for e in choice.counted if e.submission.key in choice.graded]
        again = [one_line(record.student) for record in given if record not in new]
        rest = counted(len(choice.counted) - len(given), "other submission")
        parts = [f"graded again: {some(again)}"] * bool(again) + [fresh] * bool(new)
        yield f"{'; '.join([*parts, f'{rest} kept'])}."
        return
    apart = [e for e in choice.counted if not e.in_class and e.submission.key not in choice.graded]
    if apart:
        names = some([one_line(e.submission.student) for e in apart])
        yield f"Kept, as graded with --only and not among these submissions: {names}."
    if new and choice.before:
        yield f"{fresh}."


@dataclass(frozen=True)
class RowChange:
    """One row before and after a run, for the sentences about it."""

    now: Counted
    answer: FoundAnswer
    before: Counted | None

    @property
    def name(self) -> str:
        return f"{one_line(self.now.submission.student)}, {self.answer.exercise or 'no exercise'}"

    @property
    def last(self) -> Event | None:
        """What was known before this run."""
        events = self.before.history.get(self.answer.exercise, ()) if self.before else ()
        return events[-1] if events else None

    @property
    def event(self) -> Event:
        return self.now.history[self.answer.exercise][-1]

    @property
    def points_changed(self) -> bool:
        return self.last is not None and self.last.is_like != self.event.is_like

    @property
    def only(self) -> str:
        return f"`--only {shlex.quote(self.now.submission.key)}`"

    def counts_now(self, old: FoundAnswer) -> str:
        """Another answer counts."""
        until_now = "until now there was none"
        back = ""
        if digest_of(old):
            points = f", {_points(self.last)}" if self.last else ""
            until_now = f"until now {_place(old)}{points}"
            back = f"; to keep the old one, give its file with {self.only}"
        return (
            f"{self.name}: {_place(self.answer)} counts now, {_points(self.event)}; "
            f"{until_now}{back}."
        )

    def kept(self, given: FoundAnswer) -> str:
        """What was given does not count."""
        if not digest_of(given):
            why = "there is no answer to it in what was given now"
        else:
            known = {event.digest for event in self.now.history.get(self.answer.exercise, ())}
            new = "counted before" if digest_of(given) in known else "has not counted so far"
            why = (
                f"it was graded with --only, so {_place(given)}, which {new}, does not replace it; "
                f"to take that, give it with {self.only}"
            )
        return f"{self.name}: {_place(self.answer)} still counts, {_points(self.event)}; {why}."

    def other_points(self) -> str:
        before = "?" if self.last is None else shown(self.last.points)
        return f"{self.name} {before} → {shown(self.event.points)} ({self.event.since(self.last)})"


def _place(answer: FoundAnswer) -> str:
    where = one_line(answer.file) if answer.file else "an answer"
    digest = digest_of(answer)
    return f"{where} [{digest[:SHOWN_DIGITS]}]" if digest else where


def _points(event: Event) -> str:
    if event.points is None:
        return "points still open"
    return f"{event.points} point{'' if event.points == '1' else 's'}"
