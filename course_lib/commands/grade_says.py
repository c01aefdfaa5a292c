"""What `course.py grade` says on its way and at its end, and how it is stopped tidily."""

from __future__ import annotations

import contextlib
import signal
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from course_lib.commands import progress

if TYPE_CHECKING:
    from course_lib.grading.engine import Progress
    from course_lib.grading.records import GradebookRow

SECONDS_BETWEEN_LINES = 10
MOST_NAMED = 10  # the report names all


class Terminated(KeyboardInterrupt):
    """Someone asked this process to end; what is judged is safe, as after Ctrl-C."""


class ProgressLine:
    """The line of progress: how far, how fast, how long still. In a log, a line now and then."""

    def __init__(self) -> None:
        self._began = self._said = time.monotonic()
        self._last: Progress | None = None
        self.stopped_by: type[KeyboardInterrupt] | None = None

    def begin(self) -> None:
        self._began = self._said = time.monotonic()

    @property
    def so_far(self) -> str:
        if self._last is None:
            return "Nothing has been judged yet."
        return f"{self._last.done} of {self._last.total} answers have been judged."

    @property
    def notes(self) -> list[str]:
        return list(self._last.notes) if self._last else []

    def show(self, now: Progress) -> None:
        first = self._last is None
        self._last = now
        if self.stopped_by is not None:
            raise self.stopped_by
        if first and now.known:
            print(f"{now.known} of {now.total} answers were judged in an earlier run.", flush=True)
        text = f"{now.done} of {now.total} answers{self._speed(now)}"
        if sys.stdout.isatty():
            progress.show(f"{progress.bar(now.done / max(now.total, 1))} {text}")
        elif time.monotonic() - self._said >= SECONDS_BETWEEN_LINES:
            self._said = time.monotonic()
            print(text, flush=True)

    def _speed(self, now: Progress) -> str:
        minutes = (time.monotonic() - self._began) / 60
        judged = now.done - now.known
        if not judged or not minutes:
            return ""
        rate = judged / minutes
        left = progress.duration((now.total - now.done) / rate * 60)
        return f" · {rate:.0f} a minute · about {left} left"

    def clear(self) -> None:
        progress.clear()


def summary(rows: list[GradebookRow], seed: int, out: Path) -> str:
    from course_lib.grading.records import VERDICTS
    from course_lib.wording.words import counted

    counts = Counter(row.verdict for row in rows)
    by_hand = sum(row.is_set for row in rows)
    students = len({row.submission.key for row in rows})
    verdicts = ", ".join(f"{counts[verdict]} {verdict}" for verdict in VERDICTS if counts[verdict])
    size = f"{counted(students, 'submission')}, {counted(len(rows), 'row')}"
    lines = [
        f"{size}: {verdicts or 'nothing to grade'}.",
        f"The gradebook is {out / 'grades.csv'}, and the report on the class is "
        f"{out / 'report.html'}.",
        f"Seed {seed}: `--seed {seed}` gives the same grades anywhere.",
    ]
    if by_hand:
        lines.insert(1, f"You have set the points of {counted(by_hand, 'row')} by hand.")
    if any(row.points is None for row in rows):
        lines.insert(1, "Answers that need review have no points yet: please look at them.")
    return "\n".join([*lines[:-1], *_left_out(rows), *_late(rows), lines[-1]])


def _late(rows: list[GradebookRow]) -> Iterator[str]:
    """Who is late by the platform's flag alone, which does not say by how many days."""
    from course_lib.grading.gradebook.tables import names, one_line

    flagged = [row for row in rows if row.standing.flagged]
    if flagged:
        called = names(rows)
        who = dict.fromkeys(one_line(called[row.submission.key]) for row in flagged)
        costs = "" if flagged[0].standing.share < 1 else " (this alone costs no points)"
        yield (
            f"Late, according to the file names: {_some([*who])}{costs}. Write into "
            "overrides.toml, as late_days, how many days each of them was late; 0 excuses a "
            "student."
        )


def _some(names: list[str]) -> str:
    """The first of these names, and how many more there are."""
    more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
    return ", ".join(names[:MOST_NAMED]) + more


def _left_out(rows: list[GradebookRow]) -> Iterator[str]:
    """Whose grades have to be entered by hand."""
    from course_lib.grading.gradebook.tables import PLATFORMS, left_out, names, one_line

    called = names(rows)
    for platform in PLATFORMS:
        left = left_out(platform, rows)
        if left:
            said = [f"{one_line(called[key])} ({why})" for key, why in left.items()]
            yield f"Not in {platform}.csv: {_some(said)}."


@contextlib.contextmanager
def ended_by_signal(line: ProgressLine) -> Iterator[None]:
    """Ctrl-C and SIGTERM end a run tidily.

    What a handler raises can get lost, where Python happens to be in a finaliser. So the line of
    progress is told, too, and raises it again.
    """

    def end(number: int, frame: object) -> None:
        line.stopped_by = Terminated if number == signal.SIGTERM else KeyboardInterrupt
        raise line.stopped_by

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.signal(number, end) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
