"""All files that an instructor gets: junit.xml, candidates for new cases, pages, tables.

junit.xml is for continuous integration, a test case for each row: the class name is the submission,
the name the exercise. A lost point is a failure, a missing answer too; needs review is `skipped`,
for nobody has decided yet. What late days take is no failure, and stands beside it. There are no
times in it, so that equal rows are equal bytes.
"""

import ast
import hashlib
import io
import re
import tokenize
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from xml.etree import ElementTree

from course_lib.grading.answers.assembling import read_questions
from course_lib.grading.gradebook.alike import alike, alike_csv, structure_of
from course_lib.grading.gradebook.class_report import class_report
from course_lib.grading.gradebook.explain import text_answers_page
from course_lib.grading.gradebook.feedback import feedback_page
from course_lib.grading.gradebook.tables import (
    by_submission,
    canvas_csv,
    for_xml,
    grade,
    grades_csv,
    known_to,
    lateness,
    moodle_csv,
    names,
    one_line,
)
from course_lib.grading.records import GradebookRow, Judgement, Submission
from course_lib.grading.sealed import PRIVATE, private_folder, settle, write_whole
from course_lib.grading.settings import Settings
from course_lib.grading.version import grader_version
from course_lib.wording.findings import CODES
from course_lib.wording.sentences import whole
from course_lib.wording.words import decimal

FAILURES = ("partly", "failed", "missing")


def junit_xml(rows: Sequence[GradebookRow], title: str) -> str:
    """All rows as one test suite."""
    called = names(rows)
    suite = ElementTree.Element(
        "testsuite",
        name=for_xml(title),
        tests=str(len(rows)),
        failures=str(sum(map(_fails, rows))),
        errors="0",
        skipped=str(sum(row.points is None for row in rows)),
        time="0",
    )
    for row in rows:
        suite.append(_case(row, called[row.submission.key]))
    suites = ElementTree.Element("testsuites")
    suites.append(suite)
    ElementTree.indent(suites)
    body = ElementTree.tostring(suites, encoding="unicode")
    return f'<?xml version="1.0" encoding="utf-8"?>\n{body}\n'


def _fails(row: GradebookRow) -> bool:
    """Points were lost: by the judge's verdict, or by what the instructor has set."""
    if row.is_set and row.points is not None:
        return row.points < row.max_points
    return row.verdict in FAILURES


def _case(row: GradebookRow, name: str) -> ElementTree.Element:
    case = ElementTree.Element(
        "testcase",
        classname=for_xml(one_line(name)),
        name=for_xml(one_line(row.exercise)) or "the submission",
        time="0",
    )
    reason = for_xml(one_line(row.reason))
    points = grade([row])
    if points is None:
        ElementTree.SubElement(case, "skipped", message=reason)
    elif _fails(row):
        failure = ElementTree.SubElement(case, "failure", type=row.verdict, message=reason)
        failure.text = f"{decimal(points)} of {decimal(row.max_points)} points"
    if late := lateness([row]):
        ElementTree.SubElement(case, "system-out").text = late
    return case


# --- Candidates for new cases: answers that the judge could not explain, without names ------------
# Such an answer is wrong and nobody has said why, or the emulator does not know what it uses, or a
# clock or a crash ended it. Comments and texts that stand alone, in which people sign their work,
# are taken out, and every line keeps its number. An answer is left out where its author's name is
# still in it.


SHORTEST_NAME = 3  # letters: a shorter word is in any answer


def candidates(rows: Iterable[GradebookRow], seed: int) -> dict[str, str]:
    """A text for each such answer, by the name of its file; one for each structure.

    Each text is the answer as Python, and below it as comments what was judged and said.
    """
    found: dict[str, str] = {}
    known: set[tuple[str, str]] = set()
    for row in rows:
        if row.answer is None or row.judgement is None or not is_unexplained(row.judgement):
            continue
        code, structure = without_texts(row.answer.text), structure_of(row.answer.text)
        if code is None or structure is None or (row.exercise, structure.whole) in known:
            continue
        said = "\n".join(_report(row.judgement, seed))
        if _names_its_author(f"{code}\n{said}", row.submission):
            continue
        known.add((row.exercise, structure.whole))
        digest = hashlib.sha256(structure.whole.encode()).hexdigest()[:8]
        found[f"{row.exercise}-{digest}.py"] = f"{code}\n\n{said}\n"
    return found


def write_candidates(folder: Path, texts: dict[str, str]) -> None:
    """Write the files into a folder, beside those of other classes."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")


def is_unexplained(judgement: Judgement) -> bool:
    """Whether the tools have found no cause."""
    errors = [finding for finding in judgement.findings if finding.severity == "error"]
    wrong = bool(errors) and errors[0].code == "wrong-result"
    return judgement.outcome != "judged" or judgement.needs_review or wrong


def without_texts(text: str) -> str | None:
    """The code without comments, and with texts that are statements emptied; None if no Python."""
    try:
        tree = ast.parse(text)
        tokens = list(tokenize.generate_tokens(io.StringIO(text).readline))
    except (SyntaxError, ValueError, MemoryError, RecursionError, tokenize.TokenError):
        return None
    alone = {
        (node.lineno, node.col_offset)
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    lines = text.splitlines(keepends=True)
    for token in reversed(tokens):  # from the end, so that places above stay
        if token.type == tokenize.COMMENT:
            _replace(lines, token, "")
        elif token.type == tokenize.STRING and token.start in alone:
            breaks = "\n" * token.string.count("\n")
            _replace(lines, token, f'"""{breaks}"""')
    return "".join(lines).rstrip()


def _replace(lines: list[str], token: tokenize.TokenInfo, by: str) -> None:
    (first, left), (last, right) = token.start, token.end
    joined = lines[first - 1][:left] + by + lines[last - 1][right:]
    lines[first - 1 : last] = joined.splitlines(keepends=True)


def _report(judgement: Judgement, seed: int) -> Iterator[str]:
    """What was tried and said, as comments."""
    yield f"# exercise {judgement.exercise}, seed {seed}, grader {grader_version()}"
    yield f"# judging: {judgement.outcome}" + ("; needs review" if judgement.needs_review else "")
    if judgement.launched:
        yield f"# {one_line(judgement.launched)}"
    for sentence in judgement.held:
        yield f"# holds: {one_line(sentence)}"
    for found in judgement.findings:
        where = f"line {found.line}" if found.line is not None else "the answer"
        yield f"# {where}: {CODES[found.code].title} [{found.code}]"
        yield f"#   {one_line(whole(found.message, 'instructor'))}"


def _names_its_author(text: str, submission: Submission) -> bool:
    """Whether a word of the author's name is a word, or a part of a name, in the text."""
    words = set(re.findall(r"[^\W\d_]+", text.casefold()))
    names = re.findall(r"[^\W\d_]+", f"{submission.student} {submission.key}".casefold())
    return any(len(name) >= SHORTEST_NAME and name in words for name in names)


# --- The folder of files --------------------------------------------------------------------------
# grades.csv           a line for each submission and exercise
#     canvas.csv           for import, if the file names hold Canvas's numbers
#     moodle.csv           likewise for Moodle
#     feedback/KEY.html    a page for each student
#     moodle_feedback.zip  these pages as Moodle takes them in
#     report.html          a page about the class
#     junit.xml            for continuous integration
#
# Equal rows, settings and seed give equal bytes: there is no clock in any of it.


FEEDBACK = "feedback"
FOR_MOODLE = "moodle_feedback.zip"
# What stands directly in the folder; the pages are beside it, in feedback.
FILES = (
    f"grades.csv canvas.csv moodle.csv junit.xml {FOR_MOODLE} alike.csv answers.html report.html"
).split()
READABLE = 0o644
LONG_AGO = (1980, 1, 1, 0, 0, 0)  # the first moment that a zip file can hold


def write_all(rows: Sequence[GradebookRow], settings: Settings, seed: int, folder: Path) -> None:
    """Write all files into an empty folder.

    The order of the rows is that of the gradebook: by submission, then by exercise.
    """
    ordered = sorted(rows, key=lambda row: (row.submission.key, settings.place(row.exercise)))
    folder.mkdir(parents=True, exist_ok=True)
    questions = read_questions(settings.notebooks, settings.questions)
    hints = alike(ordered, settings)
    for name, text in (
        ("grades.csv", grades_csv(ordered)),
        ("canvas.csv", canvas_csv(ordered, settings)),
        ("moodle.csv", moodle_csv(ordered)),
        ("junit.xml", junit_xml(ordered, settings.title)),
        ("answers.html", text_answers_page(ordered, questions, settings, names(ordered))),
        ("alike.csv", alike_csv(hints, names(ordered))),
        ("report.html", class_report(ordered, settings, seed, hints)),
    ):
        if text is not None:
            write_whole(folder / name, text.encode("utf-8"), READABLE)
    _write_pages(ordered, settings, folder / FEEDBACK)
    _write_pages_for_moodle(ordered, folder / FEEDBACK, folder / FOR_MOODLE)


def _write_pages(rows: Sequence[GradebookRow], settings: Settings, folder: Path) -> None:
    called = names(rows)
    private_folder(folder)
    for theirs in by_submission(rows):
        key = theirs[0].submission.key
        page = feedback_page(theirs, called[key], settings)
        write_whole(folder / f"{key}.html", page.encode("utf-8"), PRIVATE)


def _write_pages_for_moodle(rows: Sequence[GradebookRow], folder: Path, archive: Path) -> None:
    """The pages of the students that Moodle has a number for, in one file, if there are any.

    Its import of feedback files takes a name apart at the underscores: anything, the number, the
    kind of plugin and the plugin (mod/assign/feedback/file/importziplib.php).
    """
    students = known_to("moodle", rows)
    if not students:
        return
    with archive.open("wb") as file:
        with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as zipped:
            for submission, _ in students:
                name = f"Participant_{submission.platform_id}_assignfeedback_file_/feedback.html"
                entry = zipfile.ZipInfo(name, LONG_AGO)
                entry.external_attr = 0o644 << 16
                entry.create_system = 3  # the same on Windows
                zipped.writestr(entry, (folder / f"{submission.key}.html").read_bytes())
        settle(file, PRIVATE)
