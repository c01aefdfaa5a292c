"""Tables for gradebooks (grades.csv, canvas.csv, moodle.csv), and text from outside made safe.

Text is made safe for a page, a terminal, a spreadsheet, XML. What a reader cannot see can mislead:
characters that turn the direction of a line, have no width, or move a terminal's cursor. They are
shown by their number, as ⟨U+202E⟩.
"""

import csv
import io
import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from decimal import Decimal

from course_lib.grading.records import GradebookRow, Submission
from course_lib.grading.settings import Settings, total
from course_lib.web import escape
from course_lib.wording.words import counted, decimal

# Format, control, surrogate and private characters, and separators other than a space.
_UNSEEN = {"Cc", "Cf", "Cs", "Co", "Zl", "Zp", "Zs"}
# Letters and symbols by category, blank to the eye.
_BLANK = {"\u115f", "\u1160", "\u2800", "\u3164", "\uffa0"}
MOST_LINES, MOST_CHARACTERS = 2_000, 60_000  # of an answer; ours have 60 lines at most
MOST_OF_A_LINE = 1_000
_MOST_MARKS = 3  # stacked on one letter; more of them reach into the lines above
_FORMULA = "=+-@\uff1d\uff0b\uff0d\uff20"  # first characters that a spreadsheet may act upon
_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def is_unseen(character: str) -> bool:
    """Is it a character that a reader would overlook?"""
    if character == " ":
        return False
    return unicodedata.category(character) in _UNSEEN or character in _BLANK


def name_of(character: str) -> str:
    """A character by its number: "U+202E"."""
    return f"U+{ord(character):04X}"


def visible(text: str, keep: str = "\n\t") -> str:
    """The text with what cannot be seen shown by its number; those in `keep` stay."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(
        f"⟨{name_of(character)}⟩" if odd else character for character, odd in _odd_ones(text, keep)
    )


def as_html(text: str, keep: str = "\n\t") -> str:
    """The text for a page, escaped, and with what cannot be seen marked."""
    if text.isascii() and text.isprintable():
        return escape(text)
    return "".join(
        _marked(character) if odd else escape(character) for character, odd in _odd_ones(text, keep)
    )


def _marked(character: str) -> str:
    name = unicodedata.name(character, "a control character").lower()
    return f'<span class="unseen" title="{escape(name)}">{name_of(character)}</span>'


def _odd_ones(text: str, keep: str) -> list[tuple[str, bool]]:
    """Each character, and whether it has to be shown by its number."""
    found, marks = [], 0
    for character in text:
        marks = marks + 1 if unicodedata.category(character) in ("Mn", "Me") else 0
        found.append(
            (character, character not in keep and (is_unseen(character) or marks > _MOST_MARKS))
        )
    return found


def one_line(text: str) -> str:
    """The text on one line, every run of white space a single space."""
    return visible(" ".join(text.split()), keep="")


def for_spreadsheet(text: str) -> str:
    """Text that no spreadsheet takes for a formula, on one line."""
    line = one_line(text)
    return f"'{line}" if line[:1] and line[0] in _FORMULA else line


def for_xml(text: str) -> str:
    """Text that XML can hold, not yet escaped: other characters are shown by their number."""
    return _NOT_XML.sub(lambda found: f"⟨{name_of(found.group())}⟩", text)


def shortened(text: str, most: int) -> str:
    """The text, or its beginning."""
    return text if len(text) <= most else text[: most - 2] + " …"


def source_lines(text: str) -> list[str]:
    """The lines as Python counts them; other line breaks, such as U+2028, end no line there."""
    lines = re.split("\r\n|\r|\n", text)
    return lines[:-1] if len(lines) > 1 and not lines[-1] else lines


def lines_to_show(text: str) -> tuple[list[str], int]:
    """The lines of an answer that a reader gets, long ones cut, and how many are left out."""
    lines = source_lines(text)
    shown, room = [], MOST_CHARACTERS
    for line in lines[:MOST_LINES]:
        shown.append(shortened(line, MOST_OF_A_LINE))
        room -= len(shown[-1])
        if room < 0:
            break
    return shown, len(lines) - len(shown)


# --- The tables -----------------------------------------------------------------------------------
# grades.csv has a line for each submission and exercise. It is UTF-8 without a byte order mark, as
# programs expect it; Excel reads it by Data > From Text/CSV. All text stands in quotes, so that a
# name cannot end a cell where a semicolon separates them, and text that a spreadsheet could take
# for a formula begins with an apostrophe.
#
# canvas.csv and moodle.csv have a line for each student whose number on that platform is known
# from the names of the files. Their grade is the sum over all exercises, less what late days cost.
# While points are open for one of them the student is left out: an empty cell could wipe out a
# grade that is there already. Whoever is left out is named by `left_out`, in what the command says
# and in the report.


PLATFORMS = ("canvas", "moodle")  # that get a file of their own
COLUMNS = (
    "submission exercise points max verdict reason judged set late_days comment student_comment "
    "late"
).split()

# As Canvas's own export has them; its import finds a student by ID, the numbers in the names of
# downloaded files, and takes every further column for an assignment.
CANVAS_COLUMNS = ("Student", "ID", "SIS User ID", "SIS Login ID", "Section")
# What the import of Moodle's offline grading worksheet insists on, in English.
MOODLE_COLUMNS = (
    "Identifier",
    "Full name",
    "Grade",
    "Maximum grade",
    "Last modified (grade)",
    "Feedback comments",
)


class _Number(Decimal):
    """A number that `csv` writes without quotes, as people do."""

    def __str__(self) -> str:
        return decimal(self)


Cell = str | _Number


def names(rows: Iterable[GradebookRow]) -> dict[str, str]:
    """The name of each submission by its key: the student's, or the key where two share it.

    Keys are unique, so no line can be taken for another's.
    """
    submissions = {row.submission.key: row.submission for row in rows}
    shown = {
        key: for_spreadsheet(submission.student) or key for key, submission in submissions.items()
    }
    count = Counter(name.casefold() for name in shown.values())
    keys = {key.casefold() for key in submissions}

    def is_theirs_alone(name: str, key: str) -> bool:
        folded = name.casefold()
        return count[folded] == 1 and (folded not in keys or folded == key.casefold())

    return {
        key: name if is_theirs_alone(name, key) else for_spreadsheet(key)
        for key, name in shown.items()
    }


def grades_csv(rows: Sequence[GradebookRow]) -> str:
    """The gradebook, a line for each row."""
    called = names(rows)
    lines = [
        [
            called[row.submission.key],
            row.exercise,
            _or_empty(grade([row])),
            _Number(row.max_points),
            row.verdict,
            for_spreadsheet(row.reason),
            _or_empty(row.judged_points),
            _or_empty(row.override.points),
            _Number(row.standing.late_days or 0),
            for_spreadsheet(row.override.comment),
            for_spreadsheet(row.standing.comment),
            "yes" if row.standing.is_late else "",
        ]
        for row in rows
    ]
    return _table([COLUMNS, *lines])


def _or_empty(points: Decimal | None) -> Cell:
    return "" if points is None else _Number(points)


def canvas_csv(rows: Sequence[GradebookRow], settings: Settings) -> str | None:
    """What Canvas's gradebook imports; None if no submission has a number there."""
    students = known_to("canvas", rows)
    if not students:
        return None
    title = settings.canvas_assignment or settings.title
    most = max(total(row.max_points for row in theirs) for _, theirs in students)
    lines: list[list[Cell]] = [["    Points Possible", "", "", "", "", _Number(most)]]
    for submission, theirs in students:
        points = grade(theirs)
        if points is None:
            continue
        # Canvas takes a line for that of the points if the name says so.
        name = for_spreadsheet(submission.student).replace("Points Possible", "points possible")
        lines.append([name, submission.platform_id or "", "", "", "", _Number(points)])
    return _table([[*CANVAS_COLUMNS, for_spreadsheet(title)], *lines])


def moodle_csv(rows: Sequence[GradebookRow]) -> str | None:
    """What Moodle's "Upload grading worksheet" imports; None if it knows no submission."""
    students = known_to("moodle", rows)
    if not students:
        return None
    lines: list[list[Cell]] = []
    for submission, theirs in students:
        points = grade(theirs)
        if points is None:
            continue
        most = total(row.max_points for row in theirs)
        who = [f"Participant {submission.platform_id}", for_spreadsheet(submission.student)]
        said = for_spreadsheet(escape(_in_words(theirs)))
        lines.append([*who, _Number(points), _Number(most), "", said])
    return _table([MOODLE_COLUMNS, *lines])


def by_submission(rows: Iterable[GradebookRow]) -> list[list[GradebookRow]]:
    """The rows of each submission."""
    found: dict[str, list[GradebookRow]] = {}
    for row in rows:
        found.setdefault(row.submission.key, []).append(row)
    return list(found.values())


def grade(rows: Sequence[GradebookRow]) -> Decimal | None:
    """What counts of a student's rows, late days taken off; None while one of them is undecided."""
    points = sum_of(rows)
    return None if points is None else points * rows[0].standing.share


def sum_of(rows: Sequence[GradebookRow]) -> Decimal | None:
    """The sum over a student's rows, before late days; None while one of them is undecided."""
    points = [row.points for row in rows]
    return None if None in points else total(point for point in points if point is not None)


def lateness(rows: Sequence[GradebookRow]) -> str:
    """What being late has cost a student, as a sentence; empty if nothing."""
    standing, before, after = rows[0].standing, sum_of(rows), grade(rows)
    days = standing.late_days
    if not days and not standing.is_late:
        return ""
    how = f"{counted(days, 'day')} late" if days else "Handed in late"
    if standing.share == 1:
        return f"{how}."
    begins = f"{how}: {decimal(100 * standing.share)} % of"
    if before is None or after is None:
        return f"{begins} the points count."
    return f"{begins} {decimal(before)} points are {decimal(after)}."


def known_to(
    platform: str, rows: Sequence[GradebookRow]
) -> list[tuple[Submission, list[GradebookRow]]]:
    """The submissions that the platform has a number for, each with its rows.

    Where two share a number nobody can say which one counts, so both are left out.
    """
    known = [row for row in rows if row.submission.platform == platform]
    known = [row for row in known if re.fullmatch("[0-9]{1,18}", row.submission.platform_id or "")]
    found = [(theirs[0].submission, theirs) for theirs in by_submission(known)]
    uses = Counter(int(submission.platform_id or 0) for submission, _ in found)
    return [pair for pair in found if uses[int(pair[0].platform_id or 0)] == 1]


def left_out(platform: str, rows: Sequence[GradebookRow]) -> dict[str, str]:
    """The submissions, by key, that the platform's file does not hold, each with the reason.

    Nothing if there is no such file.
    """
    known = {submission.key for submission, _ in known_to(platform, rows)}
    return {
        theirs[0].submission.key: why
        for theirs in (by_submission(rows) if known else ())
        if (why := _why_left_out(platform, theirs, known))
    }


def _why_left_out(platform: str, theirs: Sequence[GradebookRow], known: Collection[str]) -> str:
    submission = theirs[0].submission
    if submission.key not in known:
        shared = submission.platform == platform and submission.platform_id
        return "shares a number with another submission" if shared else "no number of this platform"
    if grade(theirs) is not None:
        return ""
    still = ", ".join(row.exercise or "the submission" for row in theirs if row.points is None)
    return f"points are still open: {still}"


def _in_words(rows: Sequence[GradebookRow]) -> str:
    """A student's points and the instructor's comments, for a field of Moodle's that is HTML."""
    parts = [*map(_in_short, rows), lateness(rows).rstrip("."), rows[0].standing.comment]
    return "; ".join(filter(None, parts))


def _in_short(row: GradebookRow) -> str:
    points = "open" if row.points is None else decimal(row.points)
    how = "set by the instructor" if row.is_set else row.verdict
    said = f"{row.exercise}: {points} of {decimal(row.max_points)} ({how})"
    return f"{said}: {row.override.comment}" if row.override.comment else said


def _table(lines: Iterable[Sequence[Cell]]) -> str:
    """A CSV file by RFC 4180, with quotes around all text."""
    text = io.StringIO(newline="")
    csv.writer(text, quoting=csv.QUOTE_NONNUMERIC, lineterminator="\r\n").writerows(lines)
    return text.getvalue()
