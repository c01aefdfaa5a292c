"""Draws the two pictures of the class report as SVG that stands in the page itself.

Each has its words, which say every number in it, for who cannot see it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import quote

from markupsafe import Markup

from course_lib import __version__
from course_lib.diagnosis.report import costs_everything, property_of
from course_lib.grading.gradebook.alike import Alike
from course_lib.grading.gradebook.feedback import filled
from course_lib.grading.gradebook.tables import (
    PLATFORMS,
    as_html,
    by_submission,
    grade,
    lateness,
    left_out,
    names,
)
from course_lib.grading.graded import GRADED
from course_lib.grading.records import VERDICTS, GradebookRow, Verdict
from course_lib.grading.settings import Settings, total
from course_lib.grading.version import grader_version
from course_lib.wording.findings import CODES, Finding
from course_lib.wording.words import counted, decimal

WIDTH = 640
BINS = 10


def histogram(shares: Sequence[float]) -> str:
    """How many submissions have which share of the points, in ten columns.

    Args:
        shares: from 0 to 1, one for each submission whose points are all decided.
    """
    counts = [0] * BINS
    for share in shares:
        counts[min(int(share * BINS + 1e-9), BINS - 1)] += 1
    top, left, bottom, high = 26, 30, 40, 150
    step = (WIDTH - left - 10) / BINS
    tallest = max([*counts, 1])
    parts = []
    for place, count in enumerate(counts):
        height = high * count / tallest
        x, y = left + place * step, top + high - height
        parts.append(
            f'<rect class="bar" x="{x + 3:.1f}" y="{y:.1f}" width="{step - 6:.1f}" '
            f'height="{height:.1f}" rx="2"/>'
        )
        middle = x + step / 2
        if count:
            parts.append(_text(middle, y - 6, str(count)))
        parts.append(_text(middle, top + high + 18, _bin(place), "quiet"))
    base = top + high
    parts.append(
        f'<line class="axis" x1="{left}" y1="{base}" x2="{WIDTH - 10}" y2="{base}" '
        'stroke-width="1.5"/>'
    )
    parts.append(_text(WIDTH / 2, base + 36, "share of all points, in per cent", "quiet"))
    said = ", ".join(f"{_bin(place)} per cent: {count}" for place, count in enumerate(counts))
    return _picture("Submissions by their share of the points", said, base + bottom, parts)


def verdict_bars(counts: Mapping[str, Mapping[Verdict, int]]) -> str:
    """A bar for each exercise, cut by verdict.

    Each part is labelled by its place in the order of VERDICTS and by its number, so colours only
    help.

    Args:
        counts: for each exercise, how many answers got which verdict.
    """
    left, row, bar = 150, 30, 20
    parts, said = [], []
    for place, (exercise, by_verdict) in enumerate(counts.items()):
        y = 6 + place * row
        parts.append(_text(left - 10, y + 15, exercise, anchor="end"))
        whole = sum(by_verdict.values()) or 1
        x = float(left)
        for verdict in VERDICTS:
            count = by_verdict.get(verdict, 0)
            wide = (WIDTH - left - 6) * count / whole
            if not count:
                continue
            kind = verdict.replace(" ", "-")
            parts.append(
                f'<rect class="of-{kind}" x="{x:.1f}" y="{y}" width="{wide:.1f}" height="{bar}"/>'
            )
            if wide > 22:
                parts.append(_text(x + wide / 2, y + 15, str(count), "on"))
            x += wide
        said.append(f"{exercise}: {_in_words(by_verdict)}")
    y = 10 + len(counts) * row
    x = float(left)
    for verdict in VERDICTS:
        kind = verdict.replace(" ", "-")
        parts.append(
            f'<rect class="of-{kind}" x="{x:.1f}" y="{y + 2}" width="13" height="13"/>'
            + _text(x + 19, y + 13, verdict, "quiet", anchor="start")
        )
        x += 42 + 7.2 * len(verdict)
    return _picture("Verdicts by exercise", "; ".join(said), y + 24, parts)


def _bin(place: int) -> str:
    return f"{place * 10}–{place * 10 + 10}"


def _in_words(by_verdict: Mapping[Verdict, int]) -> str:
    return ", ".join(f"{by_verdict[each]} {each}" for each in VERDICTS if by_verdict.get(each))


def _text(x: float, y: float, words: str, kind: str = "", anchor: str = "middle") -> str:
    chosen = f' class="{kind}"' if kind else ""
    return f'<text{chosen} x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{as_html(words)}</text>'


def _picture(title: str, said: str, height: float, parts: Sequence[str]) -> str:
    """An SVG, and what a screen reader says in its place."""
    label = f"{as_html(title)}. {as_html(said)}."
    size = f"0 0 {WIDTH} {height:.0f}"
    return f'<svg viewBox="{size}" role="img" aria-label="{label}">{"".join(parts)}</svg>'


# --- Writes the page about the class: how it went, where it hurts, who has to be looked at --------


MOST_FINDINGS = 8  # of an exercise; what is rarer is no matter of the class


def class_report(
    rows: Sequence[GradebookRow], settings: Settings, seed: int, hints: Sequence[Alike] = ()
) -> str:
    """The page.

    Args:
        rows: of all submissions.
        settings: the course's title and weights.
        seed: what drew the shapes and inputs.
        hints: answers that are alike.
    """
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
        distribution=Markup(histogram(shares)) if shares else "",
        verdicts=VERDICTS,
        bars=Markup(verdict_bars(counts)) if counts else "",
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
    return dict(sorted(found.items(), key=lambda each: settings.place(each[0])))


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


@dataclass(frozen=True)
class FrequentFinding:
    """What answers to one exercise have in common: what it costs, and where it stands mostly."""

    title: str
    code: str
    costs: str
    place: str
    answers: int


def _most_frequent(name: str, rows: Sequence[GradebookRow]) -> Iterator[FrequentFinding]:
    """Each code once per answer, at the line where the answer has it first."""
    answers: Counter[str] = Counter()
    lines: dict[str, Counter[int]] = {}
    example: dict[str, Finding] = {}
    for row in rows:
        if row.judgement is None or row.verdict == "needs review":
            continue  # what they cost is not decided
        firsts: dict[str, Finding] = {}
        for each in row.judgement.findings:
            firsts.setdefault(each.code, each)
        for code, each in firsts.items():
            answers[code] += 1
            # An error somewhere says what the code costs; elsewhere it may be a mere warning.
            if code not in example or each.severity == "error":
                example[code] = each
            if each.line is not None:
                lines.setdefault(code, Counter())[each.line] += 1
    common = sorted(answers, key=lambda code: (-answers[code], CODES[code].rank))
    for code in common[:MOST_FINDINGS]:
        yield FrequentFinding(
            CODES[code].title,
            code,
            _costs(name, example[code]),
            _place(lines.get(code)),
            answers[code],
        )


def _costs(name: str, each: Finding) -> str:
    if each.severity != "error" or name not in GRADED:
        return "nothing (a warning)"
    if costs_everything(GRADED[name], each.code):
        return "everything"
    return property_of(GRADED[name], each.code)


def _place(lines: Counter[int] | None) -> str:
    """The line that is blamed most often, and how often."""
    if not lines:
        return ""
    line, times = min(lines.items(), key=lambda each: (-each[1], each[0]))
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
