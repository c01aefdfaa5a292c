"""What a tab unpacks: the same bytes each time, small, and enough for every kind of request."""

import ast
import json
import tarfile
from pathlib import Path
from typing import Any

import pytest
from child import python
from kernels_to_play import MATRICES, TILED
from stored_answers import right_answers, right_answers_to, wrong_answers_to

from course_lib.curriculum import EXERCISES, TASKS
from course_lib.tab import bundle
from course_lib.tab.requests import ANSWERED_BY

ALONE = Path(__file__).with_name("alone.py")


def answered(name: str) -> dict[str, Any]:
    return {"do": "check", "id": name, "text": TASKS[name].answer}


RACE = {**answered("place_the_barriers"), "do": "figure"}
PRODUCT = {
    "do": "play", "text": TILED, "grid": [2, 2], "block": [8, 8],
    "arrays": [{"name": name, "made": line} for name, line in MATRICES.items()],
}  # fmt: skip
IN_TILES = [answered(name) for name in ("ct_add", "tl_add")]
# Checking needs NumPy alone, whatever the exercise; every other one is tried here.
RIGHT = [
    {"do": "check", "id": name, "text": next(iter(right_answers_to(name).values()))}
    for name in sorted({exercise for exercise, _ in right_answers()})[::2]
]
WRONG = wrong_answers_to("matmul_tiled")["second_barrier_missing"]
REQUESTS: list[dict[str, Any]] = [
    *IN_TILES,
    *RIGHT,
    {"do": "check", "id": "matmul_tiled", "text": WRONG},
    answered("add_ten"),
    {"do": "check", "id": "sectors", "text": TASKS["sectors"].given},
    {"do": "check", "id": "pick_a_tile", "text": "BM = BN = 64\nBK = 8\nTM = TN = 4\n"},
    {"do": "answer", "id": "add_ten"},
    {**answered("put_seven"), "do": "figure", "figure": "sectors"},
    *({**RACE, "figure": each} for each in ("sectors", "banks", "race")),
    {**answered("one_tile_product"), "do": "figure", "figure": "owners"},
    PRODUCT,
    {**PRODUCT, "figure": "step"},
    {"do": "restore", "file": '{"answers": {"put_seven": {"passed": true}}}'},
]


@pytest.mark.slow
def test_it_is_the_same_each_time_and_small(packed: Path, tmp_path: Path) -> None:
    again = tmp_path / "again.tar.gz"
    assert bundle.write(again) == packed.stat().st_size
    assert again.read_bytes() == packed.read_bytes()
    assert packed.stat().st_size < 700_000, "the kernel languages, for a phone's connection"


def test_it_holds_what_a_tab_needs_and_nothing_else() -> None:
    names = [path.relative_to(bundle.LIBRARY.parent).as_posix() for path in bundle.files()]
    parts = {name.split("/")[1].removesuffix(".py") for name in names}
    nobodys = {"bench", "book", "build", "building", "cli", "commands", "grading", "machine_code"}
    assert not parts & (nobodys | {"kernels", "timing"})
    for name in TASKS:
        assert f"course_lib/tasks/{name}.py" in names
    for name in EXERCISES:
        assert f"course_lib/exercises/{name}.py" in names


def test_a_module_without_docstrings_is_the_same_code_at_the_same_lines() -> None:
    text = b'''"""One.

    Two: \xc3\xa9."""
import os

class Empty:
    """Only a docstring."""

def f(x): "short"; return x
def g():
    """Long,
    with an end."""
    return os.sep, """kept"""
'''
    less = bundle.without_docstrings(text)
    assert b"kept" in less
    assert not any(word in less for word in (b"One", b"Two", b"Only", b"short", b"Long"))
    whole, stripped = ast.parse(text), ast.parse(less)
    for tree in (whole, stripped):
        for node in ast.walk(tree):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
                del node.body[0]
    assert ast.dump(whole) == ast.dump(stripped)
    statements = [[each for each in ast.walk(tree) if isinstance(each, ast.stmt)]
                  for tree in (whole, stripped)]  # fmt: skip
    assert all(one.lineno == other.lineno for one, other in zip(*statements, strict=True))


@pytest.mark.slow
def test_it_answers_every_kind_of_request_with_numpy_alone(packed: Path, tmp_path: Path) -> None:
    assert {each["do"] for each in REQUESTS} == set(ANSWERED_BY)
    with tarfile.open(packed) as held:
        held.extractall(tmp_path, filter="data")
    done = python("-I", ALONE, tmp_path, said="\n".join(map(json.dumps, REQUESTS)))
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert [each for each in answers if not each["ok"]] == []
    assert len(answers) == len(REQUESTS)
    right = len(IN_TILES) + len(RIGHT)
    assert all(each["passed"] for each in answers[:right]) and not answers[right]["passed"]


COMPILED = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from course_lib.tab.compiled import compile_all
compile_all(sys.argv[1])
assert "numpy" not in sys.modules
for path in Path(sys.argv[1]).rglob("*.py"):
    path.write_text("raise SystemExit('compiled anew')")
from course_lib.tab.requests import warm_up
warm_up()
print(type(sys.modules["course_lib.checking"].__loader__).__name__)
"""


@pytest.mark.slow
def test_what_is_compiled_before_numpy_comes_is_what_is_imported(packed, tmp_path):
    with tarfile.open(packed) as held:
        held.extractall(tmp_path, filter="data")
    assert python("-I", "-c", COMPILED, tmp_path).stdout == "_Compiled\n"
