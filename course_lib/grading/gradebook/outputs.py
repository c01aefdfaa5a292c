"""Writes everything that an instructor gets, each file whole or not at all.

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

import contextlib
import logging
import os
import tempfile
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO

from course_lib.grading.answers.free_text import read_questions
from course_lib.grading.gradebook.alike import alike, alike_csv
from course_lib.grading.gradebook.class_report import class_report
from course_lib.grading.gradebook.feedback import feedback_page
from course_lib.grading.gradebook.hand_changes import Written
from course_lib.grading.gradebook.junit import junit_xml
from course_lib.grading.gradebook.page import GENERATOR
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
from course_lib.grading.settings import Settings

# What stands directly in the folder; the pages are beside it, in feedback.
FILES = (
    "grades.csv",
    "canvas.csv",
    "moodle.csv",
    "junit.xml",
    "moodle_feedback.zip",
    "alike.csv",
    "answers.html",
    "report.html",
)
_LOG = logging.getLogger(__name__)
LONG_AGO = (1980, 1, 1, 0, 0, 0)  # the first moment that a zip file can hold


def write_all(
    rows: Sequence[GradebookRow],
    settings: Settings,
    seed: int,
    out: Path,
    written: Written | None = None,
) -> None:
    """Write all files below `out`, and remove what an earlier run left of them.

    The order of the rows is that of the gradebook: by submission, then by exercise. What `written`
    says was changed by hand since an earlier run is copied first.
    """
    if written is not None and (changed := written.keep_changed()):
        _LOG.warning("Note: changed by hand since the last run, and kept: %s.", ", ".join(changed))
    ordered = sorted(rows, key=lambda row: (row.submission.key, settings.place(row.exercise)))
    _write(out / "grades.csv", grades_csv(ordered), written)
    _write_or_remove(out / "canvas.csv", canvas_csv(ordered, settings), written)
    _write_or_remove(out / "moodle.csv", moodle_csv(ordered), written)
    _write(out / "junit.xml", junit_xml(ordered, settings.title), written)
    _write_pages(ordered, settings, out / "feedback", written)
    _write_pages_for_moodle(ordered, out / "feedback", out / "moodle_feedback.zip")
    questions = read_questions(settings.notebooks, settings.questions)
    page = text_answers_page(ordered, questions, settings, names(ordered))
    _write_or_remove(out / "answers.html", page, written)
    hints = alike(ordered, settings)
    _write_or_remove(out / "alike.csv", alike_csv(hints, names(ordered)), written)
    _write(out / "report.html", class_report(ordered, settings, seed, hints), written)


def _write_pages(
    rows: Sequence[GradebookRow], settings: Settings, folder: Path, written: Written | None
) -> None:
    called = names(rows)
    fresh = set()
    for theirs in by_submission(rows):
        key = theirs[0].submission.key
        page = folder / f"{key}.html"
        _write(page, feedback_page(theirs, called[key], settings), written)
        fresh.add(page.name)
    for path in sorted(folder.glob("*.html")) if folder.is_dir() else ():
        if path.name not in fresh and _is_ours(path):
            path.unlink()


def _write_pages_for_moodle(rows: Sequence[GradebookRow], folder: Path, archive: Path) -> None:
    """The pages of the students that Moodle has a number for, in one file, if there are any.

    Its import of feedback files takes a name apart at the underscores: anything, the number, the
    kind of plugin and the plugin (mod/assign/feedback/file/importziplib.php).
    """
    students = known_to("moodle", rows)
    if not students:
        archive.unlink(missing_ok=True)
        return
    with _in_one_step(archive) as file, zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as zipped:
        for submission, _ in students:
            name = f"Participant_{submission.platform_id}_assignfeedback_file_/feedback.html"
            entry = zipfile.ZipInfo(name, LONG_AGO)
            entry.external_attr = 0o644 << 16
            entry.create_system = 3  # the same on Windows
            zipped.writestr(entry, (folder / f"{submission.key}.html").read_bytes())


def _is_ours(page: Path) -> bool:
    """Was this page written by an earlier run?"""
    if page.is_symlink() or not page.is_file():
        return False
    with page.open(encoding="utf-8", errors="replace") as file:
        return GENERATOR in file.read(1000)


def _write_or_remove(path: Path, text: str | None, written: Written | None) -> None:
    if text is None:
        path.unlink(missing_ok=True)
    else:
        _write(path, text, written)


def _write(path: Path, text: str, written: Written | None) -> None:
    data = text.encode("utf-8")
    if written is not None:
        written.add(path, data)
    with _in_one_step(path) as file:
        file.write(data)


@contextlib.contextmanager
def _in_one_step(path: Path) -> Iterator[IO[bytes]]:
    """Write a file that takes its place only when it is whole, so that nobody meets half of it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=".part-")
    try:
        with os.fdopen(handle, "w+b") as file:
            yield file
        os.chmod(temporary, 0o644)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise
