"""Writes everything that an instructor gets into an empty folder.

    grades.csv           a line for each submission and exercise
    canvas.csv           for import, if the file names hold Canvas's numbers
    moodle.csv           likewise for Moodle
    feedback/KEY.html    a page for each student
    moodle_feedback.zip  these pages as Moodle takes them in
    report.html          a page about the class
    junit.xml            for continuous integration

Equal rows, settings and seed give equal bytes: there is no clock in any of it.
"""

from __future__ import annotations

import zipfile
from collections.abc import Sequence
from pathlib import Path

from course_lib.grading.answers.free_text import read_questions
from course_lib.grading.gradebook.alike import alike, alike_csv
from course_lib.grading.gradebook.class_report import class_report
from course_lib.grading.gradebook.feedback import feedback_page
from course_lib.grading.gradebook.junit import junit_xml
from course_lib.grading.gradebook.tables import (
    by_submission,
    canvas_csv,
    grades_csv,
    known_to,
    moodle_csv,
    names,
)
from course_lib.grading.gradebook.text_answers import text_answers_page
from course_lib.grading.records import GradebookRow
from course_lib.grading.sealed import PRIVATE, private_folder, settle, write_whole
from course_lib.grading.settings import Settings

FEEDBACK = "feedback"
FOR_MOODLE = "moodle_feedback.zip"
# What stands directly in the folder; the pages are beside it, in feedback.
FILES = (
    "grades.csv",
    "canvas.csv",
    "moodle.csv",
    "junit.xml",
    FOR_MOODLE,
    "alike.csv",
    "answers.html",
    "report.html",
)
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
