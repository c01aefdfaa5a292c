"""junit.xml: what continuous integration reads."""

from xml.etree import ElementTree

from hypothesis import given
from hypothesis import strategies as st
from rows_of_a_class import SETTINGS, a_class, submission

from course_lib.grading.gradebook.outputs import junit_xml
from course_lib.grading.gradebook.scoring import score
from course_lib.grading.records import FoundAnswer

# What the schemas in use (Jenkins, Ant, GitLab) agree on: attributes that must be there, those
# that may be, and children.
SCHEMA: dict[str, tuple[set[str], set[str], set[str]]] = {
    "testsuites": (set(), {"name", "tests", "failures", "errors", "time"}, {"testsuite"}),
    "testsuite": (
        {"name", "tests", "failures", "errors"},
        {"skipped", "time", "timestamp", "hostname", "id", "package"},
        {"testcase", "properties", "system-out", "system-err"},
    ),
    "testcase": (
        {"name", "classname"},
        {"time", "assertions", "status"},
        {"failure", "error", "skipped", "system-out", "system-err"},
    ),
    "failure": (set(), {"message", "type"}, set()),
    "skipped": (set(), {"message"}, set()),
}


def valid(element: ElementTree.Element) -> ElementTree.Element:
    """The element, if it and all below it follow the schema."""
    needed, allowed, children = SCHEMA[element.tag]
    assert needed <= set(element.attrib) <= needed | allowed, element.attrib
    assert {each.tag for each in element} <= children
    for each in element:
        valid(each)
    return element


def suite(text: str) -> ElementTree.Element:
    root = valid(ElementTree.fromstring(text.encode("utf-8")))
    (only,) = root
    return only


def test_a_case_for_each_row() -> None:
    found = suite(junit_xml(a_class(), "Week 5"))
    assert found.attrib["name"] == "Week 5"
    counts = {name: found.attrib[name] for name in ("tests", "failures", "skipped", "errors")}
    assert counts == {"tests": "10", "failures": "8", "skipped": "1", "errors": "0"}
    assert len(found.findall("testcase/failure")) == 8
    first = found[0]
    assert (first.attrib["classname"], first.attrib["name"]) == ("s01", "matmul_tiled")
    assert len(first) == 0
    (failure,) = found[1]
    assert failure.attrib["type"] == "partly" and failure.text == "5 of 10 points"
    assert failure.attrib["message"].startswith("Line 5: race")
    (skipped,) = found[4]
    assert skipped.tag == "skipped" and "does not support" in skipped.attrib["message"]


@given(st.text(st.characters(exclude_categories=()), max_size=40))
def test_any_text_is_valid_xml(text: str) -> None:
    answer = FoundAnswer("mat_add", problem=text)
    suite(junit_xml([score(submission("s01", text or "x"), answer, None, SETTINGS)], text))
