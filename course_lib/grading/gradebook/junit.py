"""Writes junit.xml, which continuous integration shows: a test case for each row.

The class name is the submission, the name the exercise. A lost point is a failure, a missing
answer too; needs review is `skipped`, for nobody has decided yet. What late days take is no
failure, and stands beside it. There are no times in it, so that equal rows are equal bytes.
"""

from __future__ import annotations

from collections.abc import Sequence
from xml.etree import ElementTree

from course_lib.grading.gradebook.safe_text import for_xml, one_line
from course_lib.grading.gradebook.tables import grade, lateness, names
from course_lib.grading.records import GradebookRow
from course_lib.words import decimal

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
