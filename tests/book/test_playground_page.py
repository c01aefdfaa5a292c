"""The playground's page: its examples do what their titles say, and the page holds them whole."""

import html
import json
import re

import pytest

from course_lib.book.playground import EXAMPLES, SMOOTH, holder, playground_page, report_on
from course_lib.book.site import front_page
from course_lib.tab.requests import answer

MARKED = {  # the lines at which the judge has something to say, by the kernel's name
    "smooth": {"near[t] = x[i]", "y[i] = (near[left] + near[t] + near[right]) / float32(3)"},
    "transpose": {"B[left + ty, top + tx] = tile[tx, ty]"},
    "histogram": {"counts[x[i]] += 1"},
}


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda each: each.kernel)
def test_an_example_runs_and_is_told_what_its_title_says(example) -> None:
    request = example.as_request()
    answered = json.loads(answer(json.dumps(request)))
    assert answered["ok"], answered
    lines = request["text"].splitlines()
    marked = {lines[each["line"] - 1].strip() for each in answered["marks"]}
    assert marked == MARKED.get(example.kernel, set())
    assert all(each["changed"] for each in answered["outputs"][-1:])


def test_the_mended_example_of_the_first_page_has_no_findings() -> None:
    request = SMOOTH.as_request()
    barrier = "    cuda.syncthreads()\n    left"
    request["text"] = request["text"].replace("    left", barrier)
    answered = json.loads(answer(json.dumps(request)))
    assert answered["ok"] and not answered["marks"]


def test_the_page_holds_every_example_and_the_first_one_to_read() -> None:
    data = re.search(r'<script type="application/json">(.*?)</script>', playground_page())
    assert data is not None
    assert json.loads(data[1]) == [each.as_data() for each in EXAMPLES]
    assert html.escape(EXAMPLES[0].as_data()["text"], quote=True) in playground_page()


def test_the_first_page_shows_the_report_before_anything_runs() -> None:
    assert report_on(SMOOTH) in front_page_of_this_course()
    assert "hidden" not in holder([SMOOTH], report="<p>x</p>").split('class="report"')[1][:60]


def front_page_of_this_course() -> str:
    from pathlib import Path

    from course_lib.building.project import open_project

    return front_page(open_project(Path(__file__).resolve().parents[2]))
