"""Writes the page that one student gets: the answers, and what was found at which line.

What a page shows: the student's own text, sizes (shapes, launches), places and counts. What it
never shows: a number that was drawn for the inputs, or that came out of them, rightly or wrongly:
an answer could carry an input out in what it computes. A finding's sentences leave them out for
this reader, and tell them to instructors; the seed stands in the instructors' report alone.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from course_lib.curriculum import PROPERTIES
from course_lib.findings import CODES, Finding
from course_lib.grading.gradebook.hints import Hint, read_hints
from course_lib.grading.gradebook.page import document, verdict_badge
from course_lib.grading.gradebook.safe_text import as_html, lines_to_show, number, shortened
from course_lib.grading.gradebook.scoring import lost_by
from course_lib.grading.gradebook.tables import grade
from course_lib.grading.graded import GRADED
from course_lib.grading.records import FoundAnswer, Judgement, Row
from course_lib.grading.settings import Settings, total
from course_lib.sentences import whole

MOST_FINDINGS = 20  # of an answer; nobody mends more at a time
MOST_CHARACTERS = 1_000  # of a message

TAB = "\t"


def feedback_page(rows: Sequence[Row], name: str, settings: Settings) -> str:
    """The page of one submission.

    Args:
        rows: its rows, at least one.
        name: how the gradebook calls it.
        settings: the course's title, weights and notebooks.
    """
    hints = read_hints(settings.notebooks)
    parts = [f"<h1>{as_html(settings.title)}</h1>", f'<p class="lead">{as_html(name)}</p>']
    parts += [_overview(rows)]
    parts += [_section(row, hints.get(row.exercise, ()), settings) for row in rows]
    parts += [
        "<footer><p>This page was made from your notebook by the course's checker, which reads an "
        "answer and never runs it. It tries every answer on many sizes, some of them new to you. "
        "If you think that it is wrong, show your instructor this page: the same notebook gives "
        "the same verdict again.</p></footer>"
    ]
    return document(f"{name} · {settings.title}", "\n".join(parts))


def _overview(rows: Sequence[Row]) -> str:
    """The sum, and a line for each exercise."""
    points, most = grade(rows), number(total(row.max_points for row in rows))
    if points is None:
        known = number(total(row.points for row in rows if row.points is not None))
        said = f"{known} of {most} points so far; an instructor still has to look at an answer."
    else:
        said = f"{number(points)} of {most} points."
    lines = "".join(
        f'<tr><td><a href="#{_anchor(row)}">{as_html(row.exercise or "the submission")}</a></td>'
        f'<td>{verdict_badge(row.verdict)}</td><td class="number">{_points(row)}</td></tr>'
        for row in rows
    )
    head = '<tr><th>exercise</th><th>verdict</th><th class="number">points</th></tr>'
    table = f"<table><thead>{head}</thead><tbody>{lines}</tbody></table>"
    return f'<p class="lead">{said}</p>\n{table if len(rows) > 1 else ""}'


def _points(row: Row) -> str:
    given = "open" if row.points is None else number(row.points)
    return f"{given} of {number(row.max_points)}"


def _anchor(row: Row) -> str:
    return row.exercise or "submission"


def _section(row: Row, hints: Sequence[Hint], settings: Settings) -> str:
    """All that is said about one exercise."""
    exercise = GRADED.get(row.exercise)
    title = f"<code>{as_html(row.exercise)}</code>" if row.exercise else "The submission"
    if exercise:
        title += f" · {as_html(exercise.title)}"
    parts = [
        f'<section aria-labelledby="{_anchor(row)}">',
        f'<h2 id="{_anchor(row)}">{title}</h2>',
        f"<p>{verdict_badge(row.verdict)} {_points(row)} points. {as_html(row.reason)}</p>",
    ]
    if row.answer and row.answer.notes:
        notes = "".join(f"<li>{as_html(note)}</li>" for note in row.answer.notes)
        parts.append(f"<h3>How your answer was read</h3><ul>{notes}</ul>")
    if row.judgement and row.judgement.launched:
        parts.append(f"<p>{as_html(row.judgement.launched)}</p>")
    if row.judgement and row.judgement.held:
        held = "".join(f"<li>{as_html(each)}</li>" for each in row.judgement.held)
        parts.append(f"<h3>What holds</h3><ul>{held}</ul>")
    if row.answer and row.answer.text:
        parts.append(_listing(row, row.answer))
    if row.judgement and row.earned:
        parts.append(_property_table(row, row.judgement, settings))
    if hints and row.verdict != "passed":
        folds = "".join(
            f"<details><summary>{each.title_as_html()}</summary>{each.as_html()}</details>"
            for each in hints
        )
        parts.append(f"<h3>Hints</h3>{folds}")
    return "\n".join([*parts, "</section>"])


# --- points ---------------------------------------------------------------------------------


def _property_table(row: Row, judgement: Judgement, settings: Settings) -> str:
    """What each property earned, and what cost it."""
    points, lost = settings.points_of(row.exercise), lost_by(judgement, settings)
    reasons = {lost.get(name, "") for name in points}
    # Said once, above the table.
    alike = whole(reasons.pop(), "graded student") if len(reasons) == 1 else ""
    lines = ""
    for name, most in points.items():
        why = as_html(lost.get(name, "")) if not alike else ""
        why = f'<br><span class="look">Lost: {why}.</span>' if why else ""
        worth = f"{number(row.earned.get(name, 0.0))} of {number(most)}"
        lines += (
            f"<tr><td><strong>{as_html(name)}</strong>: {as_html(PROPERTIES[name])}{why}</td>"
            f'<td class="number">{worth}</td></tr>'
        )
    said = f"<p>{as_html(alike)}.</p>" if alike else ""
    head = '<tr><th>judged by</th><th class="number">points</th></tr>'
    return f"<h3>Points</h3>{said}<table><thead>{head}</thead><tbody>{lines}</tbody></table>"


# --- the answer and its findings ------------------------------------------------------------


def _listing(row: Row, answer: FoundAnswer) -> str:
    """The answer with line numbers, and each finding below its line."""
    shown, left = lines_to_show(answer.text)
    at_line: dict[int, list[tuple[int, Finding]]] = defaultdict(list)
    apart = ""
    findings = row.judgement.findings if row.judgement else ()
    for rank, each in enumerate(findings[:MOST_FINDINGS], start=1):
        if each.line is not None and 1 <= each.line <= len(shown):
            at_line[each.line].append((rank, each))
        else:
            apart += _finding(rank, each)
    items = "\n".join(
        _line(text, at_line.get(place, []), place < answer.first_line)
        for place, text in enumerate(shown, start=1)
    )
    more = f"<p>And {left} more lines.</p>" if left else ""
    if len(findings) > MOST_FINDINGS:
        more += f"<p>And {len(findings) - MOST_FINDINGS} more findings; mend these first.</p>"
    if answer.first_line > 1:
        more += f"<p>Lines 1 to {answer.first_line - 1} come from other cells.</p>"
    heading = f"<h3>Your answer{_where_it_stood(answer)}</h3>"
    return f'{heading}{apart}\n<ol class="listing">\n{items}\n</ol>{more}'


def _where_it_stood(answer: FoundAnswer) -> str:
    if answer.file is None:
        return ""
    cell = f", cell {answer.cell}" if answer.cell is not None else ""
    return f" ({as_html(answer.file)}{cell})"


def _line(text: str, findings: Sequence[tuple[int, Finding]], from_elsewhere: bool) -> str:
    kinds = {each.severity for _, each in findings}
    classes = ["error"] if "error" in kinds else sorted(kinds)
    classes += ["other"] if from_elsewhere else []
    attribute = f' class="{" ".join(classes)}"' if classes else ""
    source = f'<code class="source">{as_html(text, keep=TAB)}</code>'
    below = "".join(_finding(rank, each) for rank, each in findings)
    return f"<li{attribute}>{source}{below}</li>"


def _finding(rank: int, each: Finding) -> str:
    """One finding in words; its number says in which order to mend."""
    kind = "Mistake" if each.severity == "error" else "Warning"
    where = f"line {each.line}" if each.line is not None else "the answer as a whole"
    message, hint = (
        as_html(shortened(whole(said, "graded student"), MOST_CHARACTERS))
        for said in (each.message, each.hint)
    )
    look = f'<p class="look">Look at: {hint}</p>' if hint else ""
    return (
        f'<div class="finding {each.severity}">'
        f'<p class="what">{kind} {rank}, {where}: {as_html(CODES[each.code].title)}</p>'
        f"<p>{message}</p>{look}</div>"
    )
