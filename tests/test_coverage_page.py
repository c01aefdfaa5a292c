"""docs/coverage.md: where each of the 101 teaching elements of the sources is, or why it is not."""

import json
import re
from pathlib import Path

import pytest
from every_case import every_case
from lesson_rules.shown import in_order

pytestmark = pytest.mark.workshop

ROOT = Path(__file__).resolve().parents[1]
PAGE = (ROOT / "docs" / "coverage.md").read_text(encoding="utf-8")
ROWS = re.findall(r"^\| (\d{3}-\d{2}) \| ([^|]+) \| ([^|]+) \|$", PAGE, re.MULTILINE)
# How many elements each of the five source documents has.
ELEMENTS = {"000": 19, "001": 19, "002": 20, "003": 33, "004": 10}
PLACE = re.compile(r"\[(\d\d[a-z]?)\]\(\.\./((?:notebooks|exercises)/[\w]+\.ipynb)\) `([\w-]+)`")
# Elements that are nothing but words: summaries, lists to remember, what to know before.
IN_WORDS = {"002-02", "002-19", "002-20", "004-09"}


def cell_ids(path: Path) -> set[str]:
    return {cell["id"] for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]}


def test_every_element_has_one_row_and_is_counted():
    expected = [f"{file}-{n:02}" for file, count in ELEMENTS.items() for n in range(1, count + 1)]
    assert [element for element, _, _ in ROWS] == expected
    assert sum(ELEMENTS.values()) == 101
    assert f"**{len(ROWS)} elements are placed, 0 are still to come, and 0 are left out.**" in PAGE


@every_case(("element", "what", "where"), ROWS, ids=[row[0] for row in ROWS])
def test_an_element_is_where_the_page_says_and_done_or_seen_there(element, what, where) -> None:
    places = PLACE.findall(where)
    for number, file, cell in places:
        path = ROOT / file
        assert path.exists(), f"{element}: there is no {file}"
        assert path.name.startswith(number), f"{element}: {file} is not lesson {number}"
        assert cell in cell_ids(path), f"{element}: {file} has no cell {cell}"
    assert places and len(what) > 10, f"{element}: no place"
    done = [cell for _, file, cell in places if does_or_shows(ROOT / file, cell)]
    assert ("*in words*" in where) == (element in IN_WORDS)
    assert bool(done) != (element in IN_WORDS), f"{element}: told, and neither done nor seen"


def does_or_shows(path: Path, cell: str) -> bool:
    """Whether a student types, guesses, runs or sees something in this cell.

    The text of a prediction counts: its answer stands in the next cell.
    """
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    kind = next(each["cell_type"] for each in cells if each["id"] == cell)
    return cell.startswith("question-") or (kind == "code" and cell not in {"setup", "imports"})


# What a text had wrong, named to tell it from what is right: no cell has to repeat it.
NAMED_TO_CONTRADICT = {
    "001-13": {"17"},
    "001-16": {"2", "3", "7.8"},
    "002-05": {"64"},
    "002-12": {"5"},
    "003-01": {"4", "6.4"},
}
NOTE = re.compile(r"\((?:corrected|here)\b([^)]*)\)")
COUNT = re.compile(r"(?<![\w.,-])\d[\d,]*(?:\.\d+)?(?!\w|\.\d)")


@pytest.fixture(scope="module")
def shown() -> dict[str, str]:
    """By "notebooks/NAME.ipynb, cell ID": all that a student reads there."""
    found: dict[str, str] = {}
    for piece in in_order(ROOT):
        found[piece.where] = f"{found.get(piece.where, '')}\n{piece.text}"
    return found


def numbers(text: str) -> set[str]:
    return {each.strip(",").replace(",", "") for each in COUNT.findall(text)}


def test_what_a_row_says_is_here_stands_in_the_cells_it_cites(shown: dict[str, str]) -> None:
    missing = {}
    for element, what, where in ROWS:
        cited = "\n".join(shown[f"{file}, cell {cell}"] for _, file, cell in PLACE.findall(where))
        said = numbers(re.sub(r"lessons? \d\d\w?( to \d\d)?", "", " ".join(NOTE.findall(what))))
        lost = said - numbers(cited) - NAMED_TO_CONTRADICT.get(element, set())
        missing |= {element: lost} if lost else {}
    assert missing == {}
