"""The page that one student gets: answers, findings at their lines, and the exercise's hints.

A template escapes every value. A page has no script and requests nothing: its own policy forbids
both, so even text that slipped through the escaping would stay text.
"""

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from course_lib.building.notebook import BuildError, exercise_id, read, source
from course_lib.curriculum import PROPERTIES
from course_lib.grading.gradebook.scoring import lost_by
from course_lib.grading.gradebook.tables import as_html, grade, lateness, lines_to_show, shortened
from course_lib.grading.records import GRADED, FoundAnswer, GradebookRow, Judgement
from course_lib.grading.settings import Settings, total
from course_lib.web import escape, read_beside
from course_lib.wording.findings import CODES, Finding
from course_lib.wording.sentences import whole
from course_lib.wording.words import decimal

GENERATOR = "matmul-ladder grade"
POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"

HOME = "course_lib.grading.gradebook"
Shown = dict[str, Any]  # what a template shows of something, by the names that it uses


def filled(template: str, title: str, **values: object) -> str:
    """A whole page of one of the `templates`; `title` is what the browser's tab says.

    Text among the values is escaped, and what cannot be seen in it is marked; HTML of ours comes as
    Markup.
    """
    style = Markup(read_beside("course_lib.web", "theme.css") + read_beside(HOME, "page.css"))
    page = _templates().get_template(template)
    policy = Markup(POLICY)
    return page.render(title=title, style=style, policy=policy, generator=GENERATOR, **values)


def drawn(picture: str, *values: object) -> Markup:
    """A picture of `pictures.html`."""
    macro = getattr(_templates().get_template("pictures.html").module, picture)
    return Markup(macro(*values).strip())


@cache
def _templates() -> Environment:
    environment = Environment(
        loader=PackageLoader(HOME),
        autoescape=True,
        finalize=_shown,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= {"points": decimal, "source": _source, "dot1": "{:.1f}".format}
    return environment


def _shown(value: object) -> Markup:
    """What the page shows for a value."""
    return (
        value
        if isinstance(value, Markup)
        else Markup(as_html(value if isinstance(value, str) else str(value)))
    )


def _source(text: str) -> Markup:
    """A line of code: of white space it keeps tabs alone."""
    return Markup(as_html(text, keep="\t"))


# --- Hints, read from the folds in the instructor's notebook --------------------------------------


_FOLD = re.compile(r"<details>\s*<summary>(Hint[^<]*)</summary>(.*?)</details>", re.DOTALL)
_MARKS = (
    (re.compile(r"`([^`]+)`"), r"<code>\1</code>"),
    (re.compile(r"\*\*([^*]+)\*\*"), r"<strong>\1</strong>"),
    (re.compile(r"(?<!\*)\*([^*\s][^*]*)\*(?!\*)"), r"<em>\1</em>"),
)


@dataclass(frozen=True)
class Hint:
    """One fold: its title, and its text; of Markdown they use code, bold and italics."""

    title: str
    text: str

    def title_as_html(self) -> Markup:
        """The title between tags."""
        return Markup(_inline(self.title))

    def as_html(self) -> Markup:
        """The text as paragraphs."""
        return Markup("".join(f"<p>{_inline(array)}</p>" for array in self.text.split("\n\n")))


@cache
def read_hints(folder: Path) -> dict[str, tuple[Hint, ...]]:
    """The hints of every exercise in a folder of notebooks: those that follow its answer cell."""
    found: dict[str, tuple[Hint, ...]] = {}
    for path in sorted(folder.glob("*.ipynb")):
        try:
            cells = read(path)["cells"]
        except (BuildError, OSError):
            continue  # its exercises have no hints; that costs nobody a point
        current = None
        for cell in cells:
            current = exercise_id(cell) or current
            if current and cell["cell_type"] == "markdown":
                hints = (Hint(*map(str.strip, fold)) for fold in _FOLD.findall(source(cell)))
                found[current] = (*found.get(current, ()), *hints)
    return found


def _inline(paragraph: str) -> str:
    text = escape(" ".join(paragraph.split()))
    for mark, html in _MARKS:
        text = mark.sub(html, text)
    return text


# --- The page -------------------------------------------------------------------------------------
# What a page shows: the student's own text, sizes (shapes, launches), places and counts. What it
# never shows: a number that was drawn for the inputs, or that came out of them, rightly or
# wrongly: an answer could carry an input out in what it computes. A finding's sentences leave them
# out for this reader, and tell them to instructors; the seed stands in the instructors' report
# alone.


MOST_FINDINGS = 20  # of an answer; nobody mends more at a time
MOST_CHARACTERS = 1_000  # of a message


def feedback_page(rows: Sequence[GradebookRow], name: str, settings: Settings) -> str:
    """The page of one submission, from its rows; `name` is how the gradebook calls it."""
    hints = read_hints(settings.notebooks)
    sections = [_section(row, hints.get(row.exercise, ()), settings) for row in rows]
    return filled(
        "feedback.html",
        f"{name} · {settings.title}",
        course=settings.title,
        name=name,
        said=_sum_of(rows),
        late=lateness(rows),
        comment=rows[0].standing.comment.splitlines(),
        sections=sections,
    )


def _sum_of(rows: Sequence[GradebookRow]) -> str:
    points, most = grade(rows), decimal(total(row.max_points for row in rows))
    if points is not None:
        return f"{decimal(points)} of {most} points."
    known = decimal(total(row.points for row in rows if row.points is not None))
    return f"{known} of {most} points so far; an instructor still has to look at an answer."


def _section(row: GradebookRow, hints: Sequence[Hint], settings: Settings) -> Shown:
    """All that is said about one exercise, or about the submission as a whole."""
    exercise, judged = GRADED.get(row.exercise), row.judgement
    given = "open" if row.points is None else decimal(row.points)
    properties: list[Shown] = []
    alike = ""
    if judged and row.earned:
        properties, alike = _properties(row, judged, settings)
    return {
        "row": row,
        "anchor": row.exercise or "submission",
        "title": exercise.title if exercise else "",
        "points": f"{given} of {decimal(row.max_points)}",
        "by_hand": _by_hand(row),
        "comment": row.override.comment.splitlines(),
        "notes": row.answer.notes if row.answer else (),
        "launched": judged.launched if judged else "",
        "held": judged.held if judged else (),
        "listing": _listing(row, row.answer) if row.answer and row.answer.text else None,
        "properties": properties,
        "lost_alike": alike,
        "hints": hints if row.verdict != "passed" else (),
    }


def _by_hand(row: GradebookRow) -> str:
    """Whose points these are, where they are not the checker's."""
    if not row.is_set:
        return ""
    if row.judged_points is None:
        return "Your instructor has set these points; the checker left them open."
    given = decimal(row.judged_points)
    return f"Your instructor has set these points; the checker gave {given} ({row.verdict})."


# --- Points ------------------------------------------------------------------------------------


def _properties(
    row: GradebookRow, judgement: Judgement, settings: Settings
) -> tuple[list[Shown], str]:
    """What each property earned; and what cost them, where that is the same for all."""
    points, lost = settings.points_of(row.exercise), lost_by(judgement, settings)
    reasons = {lost.get(name, "") for name in points}
    # Said once, above the table.
    alike = whole(reasons.pop(), "graded student") if len(reasons) == 1 else ""
    properties: list[Shown] = [
        {
            "name": name,
            "meaning": PROPERTIES[name],
            "worth": f"{decimal(row.earned.get(name, Decimal(0)))} of {decimal(most)}",
            "lost": "" if alike else lost.get(name, ""),
        }
        for name, most in points.items()
    ]
    return properties, alike


# --- The answer and its findings ---------------------------------------------------------------


def _listing(row: GradebookRow, answer: FoundAnswer) -> Shown:
    """The answer line by line, where it stood, and what has no line of its own."""
    shown, left = lines_to_show(answer.text)
    at_line: dict[int, list[Shown]] = defaultdict(list)
    apart = []
    findings = row.judgement.findings if row.judgement else ()
    for rank, finding in enumerate(findings[:MOST_FINDINGS], start=1):
        said = _in_words(rank, finding)
        if finding.line is not None and 1 <= finding.line <= len(shown):
            at_line[finding.line].append(said)
        else:
            apart.append(said)
    lines = [
        (text, _classes(at_line[place], place < answer.first_line), at_line[place])
        for place, text in enumerate(shown, start=1)
    ]
    more = [f"And {left} more lines."] if left else []
    if len(findings) > MOST_FINDINGS:
        more += [f"And {len(findings) - MOST_FINDINGS} more findings; fix these first."]
    if answer.first_line > 1:
        more += [f"Lines 1 to {answer.first_line - 1} come from other cells."]
    stood = (answer.file or "") + (f", cell {answer.cell}" if answer.file and answer.cell else "")
    return {"stood": stood, "apart": apart, "lines": lines, "more": more}


def _classes(findings: Sequence[Shown], from_elsewhere: bool) -> str:
    """How a line looks: by the worst that was found there, and by where it comes from."""
    kinds = {shown["severity"] for shown in findings}
    classes = ["error"] if "error" in kinds else sorted(kinds)
    return " ".join([*classes, "other"] if from_elsewhere else classes)


def _in_words(rank: int, finding: Finding) -> Shown:
    """One finding; its number says in which order to mend."""
    kind = "Mistake" if finding.severity == "error" else "Warning"
    where = f"line {finding.line}" if finding.line is not None else "the answer as a whole"
    message, hint = (
        shortened(whole(said, "graded student"), MOST_CHARACTERS)
        for said in (finding.message, finding.hint)
    )
    what = f"{kind} {rank}, {where}: {CODES[finding.code].title}"
    return {"severity": finding.severity, "what": what, "message": message, "hint": hint}
