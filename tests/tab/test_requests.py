"""What a page asks and is answered: JSON both ways, nothing raised, nothing typed ever run."""

import json
from html import unescape
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from every_case import every_case
from kernels_to_play import MATRICES, NEIGHBOURS, TILED, VECTORS
from known_kernels import MAT_ADD
from known_kernels import TILED as WHOLE
from sampling import few

from course_lib.curriculum import EXERCISES, TASKS
from course_lib.figures.interactive import MAX_BYTES
from course_lib.student import progress
from course_lib.tab.arrays import made
from course_lib.tab.fields import Refused
from course_lib.tab.requests import ANSWERED_BY, answer

pytestmark = pytest.mark.usefixtures("session_of_its_own")

RACE = TASKS["place_the_barriers"].answer.replace("cuda.syncthreads()\n        total", "total")

TILE_CHOICE = "BM = BN = 64\nBK = 8\nTM = TN = 4\n"


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


def test_wrong_numbers_are_told_before_their_cause_and_right_answers_once() -> None:
    wrong = MAT_ADD.replace("B[y, x]", "B[x, y]")
    (early,) = told_early("mat_add", wrong)
    assert "mat_add: not yet" in early["html"] and "What was tried" in early["html"]
    assert "points" not in early["html"] and "One change here" not in early["html"]
    assert "One change here" in check("mat_add", wrong)["html"]
    filled = TASKS["load_tile"].answer.replace("tile[ty, tx] = 0", "tile[ty, tx] = 1")
    (early,) = told_early("load_tile", filled)
    assert "load_tile: not yet" in early["html"]
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
    text = "@cuda.jit(device=True)\ndef load_tile(t, M, a, b):\n    ...\n"
    record = {"answers": {"load_tile": {"passed": True, "text": text}}}
    ask("restore", file=json.dumps(record))
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


def play(text: str, grid: Any, block: Any, arrays: dict[str, str], **more: Any) -> dict[str, Any]:
    made = [{"name": name, "made": line} for name, line in arrays.items()]
    return ask("play", text=text, grid=grid, block=block, arrays=made, **more)


def test_a_missing_barrier_is_found_marked_and_seen_in_the_numbers() -> None:
    found = play(NEIGHBOURS, 1, 64, VECTORS)
    errors = [each for each in found["marks"] if each["severity"] == "error"]
    told = [(each["line"], each["title"]) for each in errors]
    assert told == [(14, "race: perhaps read before it was written")]
    assert [each["line"] for each in found["marks"] if each["severity"] == "other"] == [13]
    x, y = found["outputs"]
    assert (x["changed"], y["changed"]) == (False, True) and x["shape"] == [64]
    assert x["same_in_every_order"] and not y["same_in_every_order"]
    assert "decides what is in y" in found["html"] and "1 error" in found["html"]


def test_a_product_has_the_figures_of_products() -> None:
    found = play(TILED, [2, 2], [8, 8], MATRICES)
    assert found["ok"] and "no findings" in found["html"]
    offered = [each["id"] for each in found["figures"]]
    assert offered == ["sectors", "banks", "owners", "step", "race"]
    drawn = play(TILED, [2, 2], [8, 8], MATRICES, figure="banks")
    assert drawn["ok"] and 10_000 < len(drawn["html"].encode()) < 300_000
    assert not play(NEIGHBOURS, 1, 64, VECTORS, figure="step")["ok"]


@every_case(("text", "grid", "block", "said"), [
    ("x = (", 1, 1, "not valid Python"),
    (NEIGHBOURS, 1, 2048, "the most that a GPU allows"),
    (NEIGHBOURS, 0, 64, "whole numbers above zero"),
    (NEIGHBOURS, 1, [1, 1, 1, 1], "whole numbers above zero"),
    (NEIGHBOURS, "many", 64, "whole numbers above zero"),
    (NEIGHBOURS, None, 64, "whole numbers above zero"),
    (NEIGHBOURS.replace("x[t]", "open(x)"), 1, 64, "open"),
    (NEIGHBOURS.replace("s[t] = x[t]", "while True:\n        s[t] = x[t]"), 1, 64, "loop"),
])  # fmt: skip
def test_what_cannot_run_is_told_as_a_finding(text: str, grid: Any, block: Any, said: str) -> None:
    found = play(text, grid, block, VECTORS)
    assert found["ok"] and said in found["html"] and 'data-is="error"' in found["html"]


@pytest.mark.parametrize(("text", "arrays", "said"), [
    ("N = 3\n", {}, "There is no kernel here"),
    (NEIGHBOURS, {"x": "np.zeros(64)"}, "neighbours takes y"),
    (NEIGHBOURS, {**VECTORS, "z": "3"}, "no parameter called z"),
    (NEIGHBOURS, {**VECTORS, "y": "np.load('y')"}, "y: "),
    ("@staticmethod\ndef f(x):\n    x[0] = 1\n", {"x": "np.zeros(1)"}, "decorator in line 1"),
])  # fmt: skip
def test_what_cannot_be_read_is_told_in_the_place_of_a_verdict(text, arrays, said):
    found = play(text, 1, 64, arrays)
    assert said in found["status"] and found["status"] in unescape(found["html"])
    assert 'data-said="wrong"' in found["html"] and not found["outputs"]


NAMED = "TILE = 16\n\n" + WHOLE
WRITTEN_OUT = WHOLE.replace("TILE", "16")
WITHOUT_A_BARRIER = NAMED.replace("        cuda.syncthreads()\n        for k", "        for k")
OUT_OF_STEP = NAMED.replace("sA[ty, k]", "sA[k, ty]")


def offered(name: str, text: str) -> list[str]:
    return [each["id"] for each in check(name, text)["figures"]]


def drawn_of(name: str, text: str, figure: str) -> dict[str, Any]:
    return ask("figure", id=name, text=text, figure=figure)


@pytest.mark.parametrize(("name", "text", "figures"), few([
    ("matmul_tiled", NAMED, ["sectors", "banks", "owners", "step", "race"]),
    ("matmul_tiled", WITHOUT_A_BARRIER, ["sectors", "banks", "owners", "step", "race"]),
    ("matmul_tiled", OUT_OF_STEP, ["sectors", "banks", "owners", "step"]),
    ("matmul_tiled", WRITTEN_OUT, ["sectors", "banks", "owners"]),
    ("matmul_tiled", WHOLE.replace("(A, B, C)", "(A, B"), []),
    ("place_the_barriers", TASKS["place_the_barriers"].answer, ["sectors", "banks", "race"]),
    ("sums_of_four", TASKS["sums_of_four"].answer, ["sectors", "banks"]),
    ("load_tile", TASKS["load_tile"].answer, ["sectors", "banks"]),
    ("naive_by_rows", TASKS["naive_by_rows"].answer, ["sectors", "owners"]),
    ("add_ten", TASKS["add_ten"].answer, ["sectors"]),
    ("add_ten", TASKS["add_ten"].given, []),
    ("bank_of", TASKS["bank_of"].answer, []),
], 2))  # fmt: skip
def test_what_fits_is_offered(name: str, text: str, figures: list[str]) -> None:
    assert offered(name, text) == figures


@pytest.mark.parametrize("figure", few(["sectors", "banks", "owners", "step", "race"], 1))
def test_each_is_drawn_of_the_answers_own_run(figure: str) -> None:
    drawn = drawn_of("matmul_tiled", WITHOUT_A_BARRIER, figure)
    assert drawn["ok"], drawn
    html = drawn["html"]
    assert 10_000 < len(html.encode()) <= MAX_BYTES and "matmul_tiled" in html
    assert "http" not in html.replace("http://www.w3.org/", "")


def test_lines_of_what_the_course_adds_are_left_out_and_what_does_not_fit_is_refused() -> None:
    for name in ("load_tile", "one_tile_product"):
        html = drawn_of(name, TASKS[name].answer, "sectors")["html"]
        assert "line 1000" not in html and "line 1,000" not in html
    refused = drawn_of("matmul_tiled", WRITTEN_OUT, "step")
    assert not refused["ok"] and "no such figure" in refused["said"]


@pytest.mark.slow
def test_a_kernel_without_an_end_is_told_in_a_sentence() -> None:
    text = TASKS["add_ten"].answer.rstrip() + "\n    while True:\n        out[0] = 1\n"
    refused = drawn_of("add_ten", text, "sectors")
    said = "add_ten does not end, so there is no run to draw."
    assert not refused["ok"] and refused["said"] == said
    assert offered("add_ten", text) == []


N, TILE = 8, 4


@every_case(
    "line",
    [
        "np.zeros(4)", "np.zeros((2, 3), np.float32)", "np.ones([2, 2], dtype=np.int32)",
        "np.full((2, N), -1.5, dtype='float32')", "np.arange(10)", "np.arange(2, 9, 2.5)",
        "np.arange(64, dtype=np.float32).reshape(N, 8)", "np.arange(6).reshape((2, -1)).T",
        "np.linspace(0, 1, 5, dtype=np.float32)", "np.eye(3)", "np.eye(2, 3, dtype=np.float32)",
        "np.array([[1, 2], [3, 4]], dtype=np.float64)", "np.random.default_rng(7).random((3, 3))",
        "np.random.default_rng(7).random(3, dtype=np.float32)",
        "np.random.default_rng(7).integers(0, 9, 5)", "np.random.default_rng(7).permutation(5)",
        "np.random.default_rng(7).standard_normal((2, 2)).astype(np.float32)",
        "np.random.default_rng(7).uniform(-1, 1, 4)", "np.arange(N * TILE) % 7 - 3",
        "(np.arange(4) / 3).astype('float32')", "np.zeros(2**10)", "np.float32(2.5)", "3", "-0.5",
        "np.uint8(200)", "np.ones(3, bool)", "np.zeros((1 << 3,))", "np.zeros(*[3])",
        "np.sin(np.arange(9) / N)[::2]", "np.arange(TILE) @ np.ones((TILE, 2))", "max(N, TILE)",
        "2 * np.pi * np.linspace(0, 1, 9)", "numpy.zeros(3, int)", "np.zeros((3,), np.float16)",
    ],
)  # fmt: skip
def test_known_forms_are_what_numpy_makes(line: str) -> None:
    names = {"np": np, "numpy": np, "N": N, "TILE": TILE}
    expected = np.asarray(eval(line, names))
    found = np.asarray(made(line, {"N": N, "TILE": TILE}))
    assert found.dtype == expected.dtype and found.shape == expected.shape
    assert np.array_equal(found, expected)


@every_case(
    ("line", "said"),
    [
        ("", "is not a Python expression"), ("np.zeros(", "is not a Python expression"),
        ("x = np.zeros(3)", "is not a Python expression"),
        ("open('/etc/passwd')", "open is not supported"),
        ("__import__('os').system('ls')", "__import__ is not supported"),
        ("np.load('x.npy')", "np.load is not supported"),
        ("np.zeros(3).tofile('x')", "tofile is not supported"),
        ("np.zeros.__globals__", "__globals__ is not supported"),
        ("[each for each in (1, 2)]", "neither an array nor a number"),
        ("zeros(3)", "Nothing is called zeros"), ("np.zeros(N)", "Nothing is called N"),
        ("np.zeros(-1)", "A shape is"), ("np.zeros(2.5)", "A shape is"),
        ("np.zeros(10**9)", "too large"), ("np.ones((2**11, 2**11))", "too large"),
        ("np.arange(0, 1, 1e-300)", "too large"), ("np.eye(2**20)", "too large"),
        ("np.linspace(np.zeros(99), 1, 2**20)", "but a number is needed"),
        ("np.array([np.zeros(2**20)] * 9)", "too large"),
        ("np.array([np.zeros(2**20), np.zeros(2**20)])", "too large"),
        ("np.random.default_rng(0).integers(np.zeros((9999, 1)), np.ones(9999), ())", "too large"),
        ("np.ones((2**20, 1)) + np.ones((1, 2**20))", "too large"), ("9**9**9", "too big"),
        ("'abc'", "neither an array nor a number"), ("(1, 2)", "neither an array nor a number"),
        ("np.random.default_rng(0)", "neither an array nor a number"),
        ("np.zeros(3, dtype='U9')", "is not a known type"),
        ("np.zeros(3, dtype=object)", "object is not supported"),
        ("np.arange(6).reshape(4, 4)", "Python stops here: cannot reshape"),
        ("np.zeros(3, nonsense=1)", "Python stops here"), ("1 / 0", "division by zero"),
        ("sum(i for i in range(10**9))", "too many steps"), ("-" * 1999 + "1", "too deeply"),
        ("1" * 3000, "too many"),
    ],
)  # fmt: skip
def test_everything_else_is_refused_in_a_sentence(line: str, said: str) -> None:
    with pytest.raises(Refused, match=said) as refused:
        made(line)
    assert str(refused.value).endswith(".")
