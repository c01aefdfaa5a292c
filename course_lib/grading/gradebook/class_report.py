"""Writes the page about the class: how it went, where it hurts, who has to be looked at."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import quote

from markupsafe import Markup

from course_lib import __version__
from course_lib.diagnosis.points import costs_everything, property_of
from course_lib.grading.gradebook.alike import Alike
from course_lib.grading.gradebook.feedback import drawn, filled
from course_lib.grading.gradebook.tables import (
    PLATFORMS,
    by_submission,
    grade,
    lateness,
    left_out,
    names,
)
from course_lib.grading.records import GRADED, VERDICTS, GradebookRow, Verdict
from course_lib.grading.settings import Settings, total
from course_lib.grading.version import grader_version
from course_lib.wording.findings import CODES, Finding
from course_lib.wording.words import counted, decimal

BINS = 10
MOST_FINDINGS = 8  # of an exercise; what is rarer is no matter of the class


def class_report(
    rows: Sequence[GradebookRow], settings: Settings, seed: int, hints: Sequence[Alike] = ()
) -> str:
    """The page; `hints` are answers that are alike."""
    by_student = by_submission(rows)
    by_exercise = _by_exercise(rows, settings)
    counts = {name: Counter(row.verdict for row in rows) for name, rows in by_exercise.items()}
    shares = [share for share in map(_share, by_student) if share is not None]
    platforms = [(platform, left_out(platform, rows)) for platform in PLATFORMS]
    return filled(
        "class_report.html",
        f"The class · {settings.title}",
        course=settings.title,
        called=names(rows),
        page_of=_page_of,
        first={row.submission.key: row for row in rows},
        alike=hints,
        said=_how_it_went(len(by_student), shares),
        distribution=histogram(shares) if shares else "",
        verdicts=VERDICTS,
        bars=verdict_bars(counts) if counts else "",
        exercises=[(name, counts[name], _mean(rows)) for name, rows in by_exercise.items()],
        waiting=[row for row in rows if row.points is None and not _is_in_words(row, settings)],
        unread=sum(row.points is None and _is_in_words(row, settings) for row in rows),
        missing=[row for row in rows if row.verdict == "missing" and not row.is_set],
        by_hand=list(_by_hand(by_student)),
        left_out=[(platform, left) for platform, left in platforms if left],
        findings=[
            (name, found)
            for name, rows in by_exercise.items()
            if (found := list(_most_frequent(name, rows)))
        ],
        students=[_student(rows, list(by_exercise)) for rows in by_student],
        seed=seed,
        version=__version__,
        grader=grader_version(),
        points=[_worth(name, settings) for name in by_exercise],
    )


def histogram(shares: Sequence[float]) -> Markup:
    """How many submissions have which share of the points, in ten columns.

    There is a share, from 0 to 1, for each submission whose points are all decided.
    """
    counts = Counter(min(int(share * BINS + 1e-9), BINS - 1) for share in shares)
    bins = [(f"{tenth * 10}–{tenth * 10 + 10}", counts[tenth]) for tenth in range(BINS)]
    said = ", ".join(f"{name} per cent: {count}" for name, count in bins)
    return drawn("histogram", bins, said)


def verdict_bars(counts: Mapping[str, Mapping[Verdict, int]]) -> Markup:
    """A bar for each exercise, cut by verdict: how many answers got which."""
    said = [
        f"{name}: "
        + ", ".join(f"{of[verdict]} {verdict}" for verdict in VERDICTS if of.get(verdict))
        for name, of in counts.items()
    ]
    return drawn("bars", counts, VERDICTS, "; ".join(said))


def _is_in_words(row: GradebookRow, settings: Settings) -> bool:
    """Whether there is an answer that a person reads, and that no tool could have judged."""
    return row.exercise in settings.questions and row.answer is not None


def _by_hand(
    by_student: Iterable[Sequence[GradebookRow]],
) -> Iterator[tuple[GradebookRow, str, str, str]]:
    """What the instructor has set: a row of the student, the exercise, the points, the comment."""
    for theirs in by_student:
        first, late = theirs[0], lateness(theirs)
        if late or first.standing.comment:
            yield first, "", late, first.standing.comment
        for row in theirs:
            if row.is_set or row.override.comment:
                yield row, row.exercise, _instead(row), row.override.comment


def _instead(row: GradebookRow) -> str:
    if row.override.points is None:
        return ""
    judged = "open" if row.judged_points is None else decimal(row.judged_points)
    return f"{decimal(row.override.points)} instead of {judged}"


def _by_exercise(rows: Iterable[GradebookRow], settings: Settings) -> dict[str, list[GradebookRow]]:
    found: dict[str, list[GradebookRow]] = {}
    for row in rows:
        if row.exercise:
            found.setdefault(row.exercise, []).append(row)
    return dict(sorted(found.items(), key=lambda exercise_rows: settings.place(exercise_rows[0])))


def _how_it_went(submissions: int, shares: Sequence[float]) -> str:
    said, open_ones = counted(submissions, "submission"), submissions - len(shares)
    if shares:
        said += f", on average {100 * sum(shares) / len(shares):.0f} % of the points"
    if open_ones:
        said += f"; {open_ones} with points still open, which the picture leaves out"
    return f"{said}."


def _share(rows: Sequence[GradebookRow]) -> float | None:
    """A student's share of the points; None while some are open."""
    points, most = grade(rows), total(row.max_points for row in rows)
    if points is None:
        return None
    return float(points / most) if most else 0.0


def _mean(rows: Sequence[GradebookRow]) -> str:
    """The mean of the points, with a digit more than the exercise counts."""
    points = [row.points for row in rows if row.points is not None]
    if not points:
        return "open"
    most = decimal(rows[0].max_points)
    digits = len(most.partition(".")[2]) + 1
    return f"{total(points) / len(points):.{digits}f} of {most}"


def _most_frequent(name: str, rows: Sequence[GradebookRow]) -> Iterator[dict[str, Any]]:
    """What answers have in common: each code once per answer, at the line where it is first."""
    answers: Counter[str] = Counter()
    lines: dict[str, Counter[int]] = {}
    example: dict[str, Finding] = {}
    for row in rows:
        if row.judgement is None or row.verdict == "needs review":
            continue  # what they cost is not decided
        firsts: dict[str, Finding] = {}
        for finding in row.judgement.findings:
            firsts.setdefault(finding.code, finding)
        for code, first in firsts.items():
            answers[code] += 1
            # An error somewhere says what the code costs; elsewhere it may be a mere warning.
            if code not in example or first.severity == "error":
                example[code] = first
            if first.line is not None:
                lines.setdefault(code, Counter())[first.line] += 1
    common = sorted(answers, key=lambda code: (-answers[code], CODES[code].rank))
    for code in common[:MOST_FINDINGS]:
        yield {
            "title": CODES[code].title,
            "code": code,
            "costs": _costs(name, example[code]),
            "place": _place(lines.get(code)),
            "answers": answers[code],
        }


def _costs(name: str, finding: Finding) -> str:
    if finding.severity != "error" or name not in GRADED:
        return "nothing (a warning)"
    if costs_everything(GRADED[name], finding.code):
        return "everything"
    return property_of(GRADED[name], finding.code)


def _place(lines: Counter[int] | None) -> str:
    """The line that is blamed most often, and how often."""
    if not lines:
        return ""
    line, times = min(lines.items(), key=lambda line_times: (-line_times[1], line_times[0]))
    return f"line {line}" if times == 1 else f"line {line} ({times} times)"


def _page_of(row: GradebookRow) -> str:
    """Where the page of a row's submission is, seen from the report."""
    return quote(f"feedback/{row.submission.key}.html")


def _student(
    rows: Sequence[GradebookRow], exercises: Sequence[str]
) -> tuple[GradebookRow, str, list[GradebookRow | None]]:
    """One row of theirs, the sum, and the row of each exercise where there is one."""
    by_exercise = {row.exercise: row for row in rows}
    whole = grade(rows)
    of_each = [by_exercise.get(name) for name in exercises]
    return rows[0], "open" if whole is None else decimal(whole), of_each


def _worth(name: str, settings: Settings) -> tuple[str, str, str]:
    """An exercise, what there are points for, and their sum."""
    points = settings.points_of(name)
    said = ", ".join(f"{prop} {decimal(worth)}" for prop, worth in points.items())
    return name, said, decimal(total(points.values()))
