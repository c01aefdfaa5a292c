"""What a page asks and is answered: JSON both ways, nothing raised, nothing typed ever run."""

import json
from pathlib import Path
from typing import Any

import pytest

from course_lib.curriculum import EXERCISES, TASKS
from course_lib.student import progress
from course_lib.tab.requests import ANSWERED_BY, answer

RACE = TASKS["place_the_barriers"].answer.replace("cuda.syncthreads()\n        total", "total")
MAT_ADD = """\
@cuda.jit
def mat_add(A, B, C):
    x, y = cuda.grid(2)
    if y < C.shape[0] and x < C.shape[1]:
        C[y, x] = A[y, x] + B[y, x]
"""
TILE_CHOICE = "BM = BN = 64\nBK = 8\nTM = TN = 4\n"


pytestmark = pytest.mark.usefixtures("session_of_its_own")


def ask(do: str, **fields: Any) -> dict[str, Any]:
    """The answer to a request."""
    return json.loads(answer(json.dumps({"do": do, **fields})))


def check(name: str, text: str, **more: str) -> dict[str, Any]:
    found = ask("check", id=name, text=text, **more)
    assert found["ok"], found
    return found


@pytest.mark.parametrize("name", ["load_tile", "sectors", "one_tile_product"])
def test_a_right_answer_passes_and_is_kept(name: str) -> None:
    found = check(name, TASKS[name].answer)
    assert found["passed"] and not found["waits"] and found["marks"] == []
    assert f"{name}: passed" in found["text"] and f"{name}: passed" in found["html"]
    assert TASKS[name].meaning.split()[0] in found["html"] and "par" in found["html"]
    kept = json.loads(found["progress"])["answers"][name]
    assert kept["passed"] and kept["text"] == TASKS[name].answer


def test_a_wrong_answer_is_marked_at_its_lines() -> None:
    found = check("place_the_barriers", RACE)
    assert not found["passed"]
    own = next(each for each in found["marks"] if each["severity"] == "error")
    other = next(each for each in found["marks"] if each["severity"] == "other")
    lines = RACE.split("\n")
    assert "total +=" in lines[own["line"] - 1] and "buffer[i] =" in lines[other["line"] - 1]
    assert own["hint"] and own["title"].startswith("race") and str(own["line"]) in other["title"]
    assert "cuda.syncthreads" not in own["hint"]
    assert json.loads(found["progress"])["answers"]["place_the_barriers"]["in_a_row"] == 1
    # The page shows the lines that it speaks of, and no others.
    assert "Line 9: race" in found["html"] and "total += buffer[63 - i]" in found["html"]
    assert "def place_the_barriers" not in found["html"]


def told_early(name: str, text: str) -> list[dict[str, Any]]:
    """What a page hears before the answer to its check."""
    told: list[str] = []
    answer(json.dumps({"do": "check", "id": name, "text": text}), told.append)
    return [json.loads(each) for each in told]


def test_wrong_numbers_are_told_before_their_cause() -> None:
    wrong = MAT_ADD.replace("B[y, x]", "B[x, y]")
    (early,) = told_early("mat_add", wrong)
    assert "mat_add: not yet" in early["html"] and "What was tried" in early["html"]
    assert "points" not in early["html"] and "One change here" not in early["html"]
    assert "One change here" in check("mat_add", wrong)["html"]
    filled = TASKS["load_tile"].answer.replace("tile[ty, tx] = 0", "tile[ty, tx] = 1")
    (early,) = told_early("load_tile", filled)
    assert "load_tile: not yet" in early["html"]


def test_right_answers_and_given_code_are_told_once() -> None:
    assert told_early("one_tile_product", TASKS["one_tile_product"].answer) == []
    assert told_early("add_ten", TASKS["add_ten"].given) == []


CHANGES = {
    "unchanged": lambda given: given,
    "a comment more": lambda given: given + "    # so\n",
    "another docstring": lambda given: given.replace('"""', '"""Mine: ', 1),
    "a line less": lambda given: given.rstrip().rpartition("\n")[0] + "\n",
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_page_says_one_thing_of_code_that_is_nearly_as_given(change: Any) -> None:
    """The line beside the button waits where the report does, and nowhere else."""
    for name in ("add_ten", "add_ten_guarded", "place_the_barriers", "repair_copy", "sectors"):
        found = check(name, change(TASKS[name].given))
        assert not found["passed"], name
        assert found["waits"] == ('data-said="open"' in found["html"]), name
        assert found["waits"] == (not found["marks"]), name


def test_after_three_failures_an_answer_is_offered_by_the_button() -> None:
    wrong = TASKS["add_ten"].answer.replace("10", "11")
    found = [check("add_ten", wrong) for _ in range(3)]
    assert [each["offers_answer"] for each in found] == [False, False, True]
    assert "Show one answer" in found[-1]["html"] and "course_lib." not in found[-1]["html"]
    shown = ask("answer", id="add_ten")
    assert shown["text"] == TASKS["add_ten"].answer
    assert json.loads(shown["progress"])["answers"]["add_ten"]["shown_in"] == "00"


def test_a_graded_exercise_counts_points_leads_on_and_shows_no_answer() -> None:
    found = check("mat_add", MAT_ADD)
    assert found["passed"] and f"of {EXERCISES['mat_add'].max_points} points" in found["text"]
    assert 'href="../notebooks/01_where_numbers_live.html"' in found["html"]
    assert check("pick_a_tile", TILE_CHOICE)["passed"] is not None
    refused = ask("answer", id="mat_add")
    assert not refused["ok"] and "graded" in refused["said"]


def test_an_earlier_function_is_the_students_where_they_passed_it() -> None:
    uses = TASKS["one_tile_product"].answer
    assert "load_tile: ours stands in" in check("one_tile_product", uses)["text"]
    check("load_tile", TASKS["load_tile"].answer.replace("tile[ty, tx] = 0", "tile[ty, tx] = 0."))
    found = check("one_tile_product", uses)
    assert found["passed"] and "load_tile: yours" in found["text"]
    assert "load_tile: yours" in found["html"]


def test_a_function_from_a_doctored_record_is_not_believed() -> None:
    entry = {
        "passed": True,
        "text": "@cuda.jit(device=True)\ndef load_tile(t, M, a, b):\n    ...\n",
    }
    ask("restore", file=json.dumps({"answers": {"load_tile": entry}}))
    found = check("one_tile_product", TASKS["one_tile_product"].answer)
    assert found["passed"] and "ours stands in" in found["text"]


def test_nothing_that_is_typed_is_run(tmp_path: Path) -> None:
    target = tmp_path / "written"
    text = f"open({str(target)!r}, 'w').write('')\nimport os; os.mkdir({str(target)!r})\n"
    check("add_ten", text + TASKS["add_ten"].answer)
    ask("play", text=text + TASKS["add_ten"].answer, grid=1, block=4, arrays=[
        {"name": "a", "made": f"open({str(target)!r}, 'w')"}, {"name": "out", "made": "np.ones(4)"},
    ])  # fmt: skip
    assert not target.exists()


@pytest.mark.parametrize(
    "asked",
    [
        "", "[]", "null", "{", '{"do": []}', '{"do": "fly"}', '{"do": "check"}', "[" * 100_000,
        '{"do": "check", "id": 3, "text": ""}', '{"do": "check", "id": "nothing", "text": ""}',
        '{"do": "check", "id": "add_ten", "text": null}', '{"do": "answer", "id": "nothing"}',
        '{"do": "restore", "file": "[]"}', '{"do": "restore"}', '{"do": "play"}',
        '{"do": "figure", "id": "add_ten", "text": "", "figure": "race"}',
        '{"do": "figure", "id": "bank_of", "text": "", "figure": "sectors"}',
    ],
)  # fmt: skip
def test_what_cannot_be_answered_is_refused_in_a_sentence(asked: str) -> None:
    found = json.loads(answer(asked))
    assert found["ok"] is False and set(found) == {"ok", "said"}
    assert found["said"][0].isupper() and found["said"].endswith((".", "?"))
    assert "failed" not in found["said"], "these are the asker's faults"


def test_a_fault_of_the_course_does_not_end_the_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    def fall(fields: object, tell: object) -> dict[str, Any]:
        raise ZeroDivisionError("oh")

    monkeypatch.setitem(ANSWERED_BY, "check", fall)  # type: ignore[misc]
    said = ask("check")["said"]
    assert "ZeroDivisionError" in said and "not your mistake" in said


def test_progress_goes_out_and_comes_back() -> None:
    check("add_ten", TASKS["add_ten"].answer)
    file = ask("restore", file='{"answers": {}}')["progress"]
    progress._session = progress._Session()
    found = ask("restore", file=file)
    assert found["ok"] and found["progress"] == file
    damaged = ask("restore", file=file[:-20])
    assert not damaged["ok"] and "damaged" in damaged["said"]
    assert ask("restore", file=file)["progress"] == file, "nothing was lost by it"
