"""Writes the page about the class: how it went, where it hurts, who has to be looked at."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from urllib.parse import quote

from course_lib import __version__
from course_lib.diagnosis.points import costs_everything, property_of
from course_lib.findings import CODES, Finding
from course_lib.grading.gradebook.charts import histogram, verdict_bars
from course_lib.grading.gradebook.page import document, verdict_badge
from course_lib.grading.gradebook.safe_text import as_html, counted, number
from course_lib.grading.gradebook.tables import PLATFORMS, by_submission, grade, left_out, names
from course_lib.grading.graded import GRADED
from course_lib.grading.records import VERDICTS, Row
from course_lib.grading.settings import Settings, total
from course_lib.grading.version import grader_version

MOST_FINDINGS = 8  # of an exercise; what is rarer is no matter of the class


def class_report(rows: Sequence[Row], settings: Settings, seed: int) -> str:
    """The page.

    Args:
        rows: of all submissions.
        settings: the course's title and weights.
        seed: what drew the shapes and inputs.
    """
    called = names(rows)
    by_student = by_submission(rows)
    by_exercise = _by_exercise(rows)
    parts = [
        f"<h1>{as_html(settings.title)}</h1>",
        *_how_it_went(by_student),
        *_exercises(by_exercise),
        *_to_look_at(rows, called),
        *_missing(rows, called),
        *_left_out(rows, called),
        *_findings(by_exercise),
        *_students(by_student, called, list(by_exercise)),
        *_how_it_was_graded(by_exercise, settings, seed),
    ]
    return document(f"The class · {settings.title}", "\n".join(parts))


def _by_exercise(rows: Iterable[Row]) -> dict[str, list[Row]]:
    found: dict[str, list[Row]] = {}
    for row in rows:
        if row.exercise:
            found.setdefault(row.exercise, []).append(row)
    order = list(GRADED)
    return dict(
        sorted(found.items(), key=lambda each: (each[0] not in GRADED, _at(order, each[0])))
    )


def _at(order: Sequence[str], name: str) -> int:
    return order.index(name) if name in order else len(order)


def _how_it_went(by_student: Sequence[Sequence[Row]]) -> Iterator[str]:
    shares = [share for share in map(_share, by_student) if share is not None]
    open_ones = len(by_student) - len(shares)
    said = counted(len(by_student), "submission")
    if shares:
        said += f", on average {100 * sum(shares) / len(shares):.0f} % of the points"
    if open_ones:
        said += f"; {open_ones} with points still open, which the picture leaves out"
    yield f'<p class="lead">{said}.</p>'
    if shares:
        yield _wide("distribution", histogram(shares))


def _share(rows: Sequence[Row]) -> float | None:
    """A student's share of the points; None while some are open."""
    points, most = grade(rows), total(row.max_points for row in rows)
    if points is None:
        return None
    return points / most if most else 0.0


def _exercises(by_exercise: dict[str, list[Row]]) -> Iterator[str]:
    """How each exercise went, as a picture and as a table."""
    counts = {name: Counter(row.verdict for row in rows) for name, rows in by_exercise.items()}
    yield "<h2>Exercises</h2>"
    if not counts:
        yield "<p>No submission is about any exercise.</p>"
        return
    yield _wide("verdicts by exercise", verdict_bars(counts))
    lines = [
        [_code(name), *(str(counts[name][each]) for each in VERDICTS), _mean(rows)]
        for name, rows in by_exercise.items()
    ]
    yield _table(["exercise", *VERDICTS, "mean points"], lines)


def _mean(rows: Sequence[Row]) -> str:
    points = [row.points for row in rows if row.points is not None]
    if not points:
        return "open"
    return f"{sum(points) / len(points):.1f} of {number(rows[0].max_points)}"


def _to_look_at(rows: Sequence[Row], called: dict[str, str]) -> Iterator[str]:
    """Every row that a person has to decide, with the reason."""
    waiting = [row for row in rows if row.verdict == "needs review"]
    yield "<h2>Needs review</h2>"
    if not waiting:
        yield "<p>Nothing: every answer could be judged.</p>"
        return
    yield (
        "<p>The tools could not decide these, so they have no points yet. Read the answer, and "
        "write the points into the gradebook yourself. "
        "<code>grade --explain STUDENT EXERCISE</code> shows all that is known.</p>"
    )
    yield _reasons(waiting, called)


def _missing(rows: Sequence[Row], called: dict[str, str]) -> Iterator[str]:
    """Every row that has 0 points because nothing was found, with the reason."""
    missing = [row for row in rows if row.verdict == "missing"]
    if missing:
        yield "<h2>Missing</h2>"
        yield "<p>Nothing was found to judge here, so these have 0 points. Look at each once.</p>"
        yield _reasons(missing, called)


def _reasons(rows: Sequence[Row], called: dict[str, str]) -> str:
    lines = [
        [_link(row, called), _code(row.exercise), f"<span>{as_html(row.reason)}</span>"]
        for row in rows
    ]
    return _table(["submission", "exercise", "reason"], lines, numbers_from=3)


def _findings(by_exercise: dict[str, list[Row]]) -> Iterator[str]:
    """What was found most often, and which points that cost."""
    yield "<h2>Most frequent findings</h2>"
    anything = False
    for name, rows in by_exercise.items():
        lines = list(_most_frequent(name, rows))
        if lines:
            anything = True
            yield f"<h3>{_code(name)}</h3>"
            yield _table(["finding", "costs", "most often at", "answers"], lines, numbers_from=3)
    if not anything:
        yield "<p>None.</p>"


def _most_frequent(name: str, rows: Sequence[Row]) -> Iterator[list[str]]:
    """Each code once per answer, at the line where the answer has it first."""
    answers: Counter[str] = Counter()
    lines: dict[str, Counter[int]] = {}
    example: dict[str, Finding] = {}
    for row in rows:
        if row.judgement is None or row.points is None:
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
        what = f"{as_html(CODES[code].title)} <code>{code}</code>"
        yield [what, _costs(name, example[code]), _place(lines.get(code)), str(answers[code])]


def _costs(name: str, each: Finding) -> str:
    if each.severity != "error" or name not in GRADED:
        return "nothing (a warning)"
    if costs_everything(GRADED[name], each.code):
        return "everything"
    return as_html(property_of(GRADED[name], each.code))


def _place(lines: Counter[int] | None) -> str:
    """The line that is blamed most often, and how often."""
    if not lines:
        return ""
    line, times = min(lines.items(), key=lambda each: (-each[1], each[0]))
    return f"line {line}" if times == 1 else f"line {line} ({times} times)"


def _students(
    by_student: Sequence[Sequence[Row]], called: dict[str, str], exercises: Sequence[str]
) -> Iterator[str]:
    """The gradebook as a table, each name a link to the student's page."""
    lines = []
    for rows in by_student:
        points = {row.exercise: row for row in rows}
        cells = [_points(points.get(name)) for name in exercises]
        whole = grade(rows)
        sum_of = "open" if whole is None else number(whole)
        lines.append([_link(rows[0], called), f"<strong>{sum_of}</strong>", *cells])
    yield "<h2>Submissions</h2>"
    yield _table(["submission", "sum", *exercises], lines)


def _points(row: Row | None) -> str:
    if row is None:
        return ""
    if row.points is None:
        return verdict_badge(row.verdict)
    return number(row.points) if row.verdict != "missing" else verdict_badge(row.verdict)


def _how_it_was_graded(
    by_exercise: dict[str, list[Row]], settings: Settings, seed: int
) -> Iterator[str]:
    """What decides the grades: for an appeal, and for whoever does it again."""
    yield "<h2>How this was graded</h2>"
    yield (
        f"<p>Seed {seed}, Matmul Ladder {as_html(__version__)}, grader {grader_version()}. The "
        "same submissions, seed, settings and grader give the same grades on any machine.</p>"
    )
    lines = []
    for name in by_exercise:
        points = settings.points_of(name)
        said = ", ".join(f"{prop} {number(worth)}" for prop, worth in points.items())
        lines.append([_code(name), as_html(said), number(total(points.values()))])
    if lines:
        yield _table(["exercise", "points for", "sum"], lines, numbers_from=2)


def _left_out(rows: Sequence[Row], called: dict[str, str]) -> Iterator[str]:
    """Who is not in a file for a platform, and why: their grades have to be entered by hand."""
    for platform in PLATFORMS:
        left = left_out(platform, rows)
        if left:
            yield f"<h2>Not in {platform}.csv</h2>"
            lines = [[as_html(called[key]), as_html(why)] for key, why in left.items()]
            yield _table(["submission", "reason"], lines, numbers_from=2)


def _table(head: Sequence[str], lines: Iterable[Sequence[str]], numbers_from: int = 1) -> str:
    """A table of HTML cells; columns from `numbers_from` on stand to the right."""

    def cells(tag: str, line: Sequence[str]) -> str:
        return "".join(
            f'<{tag} class="number">{each}</{tag}>'
            if place >= numbers_from
            else f"<{tag}>{each}</{tag}>"
            for place, each in enumerate(line)
        )

    top = cells("th", [as_html(each) for each in head])
    body = "\n".join(f"<tr>{cells('td', line)}</tr>" for line in lines)
    return _wide(head[0], f"<table><thead><tr>{top}</tr></thead>\n<tbody>{body}</tbody></table>")


def _wide(name: str, html: str) -> str:
    """What may be wider than a phone: it scrolls by itself, also with the keyboard."""
    return f'<div class="wide" role="region" aria-label="{name}" tabindex="0">{html}</div>'


def _link(row: Row, called: dict[str, str]) -> str:
    page = quote(f"feedback/{row.submission.key}.html")
    return f'<a href="{page}">{as_html(called[row.submission.key])}</a>'


def _code(name: str) -> str:
    return f"<code>{as_html(name)}</code>"
