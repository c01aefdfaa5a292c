"""The registry agrees with itself and with the design; a mistake in an entry is told at once."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from child import python
from every_case import every_case

from course_lib.curriculum import EXERCISES, LESSONS, TASKS, Exercise, Launch, lesson
from course_lib.exercises import matmul_naive
from course_lib.grading.records import FORMER, GRADED, CannotGrade
from course_lib.grading.settings import Settings, exercise_ids
from course_lib.registry import entry_checks as entries
from course_lib.registry.entry_checks import BadEntry
from course_lib.registry.kinds import FUNCTION


def test_lessons_have_the_exercises_that_name_them():
    named = [(each, le.number) for le in LESSONS for each in le.exercises]
    assert named == [(ex.id, ex.lesson) for ex in EXERCISES.values()]
    assert all(key == exercise.id for key, exercise in EXERCISES.items())


@every_case("each", LESSONS, ids=lambda each: each.number)
def test_a_lesson_has_three_short_goals(each):
    assert len(set(each.goals)) == 3
    for goal in each.goals:
        assert goal[0].isupper() and not goal.endswith(".") and len(goal) < 90
    assert 10 <= each.minutes <= 90


@every_case("each", EXERCISES.values(), ids=lambda each: each.id)
def test_a_kernel_has_to_be_float32(each):
    """What else an entry has to be, its checks say: see test_a_mistake_is_told."""
    assert "right" not in each.requirements
    assert ("float32" in each.requirements) or each.kind.name != "kernel"


@every_case(("name", "shape", "grid", "block"), [
    ("mat_add", (33, 50), (4, 3), (16, 16)),
    ("matmul_naive", (1, 17), (2, 1), (16, 16)),
    ("matmul_column_major", (33, 50), (7, 2), (256,)),
    ("matmul_tiled", (31, 65), (5, 2), (16, 16)),
    ("block_scan", (65,), (2,), (64,)),
    ("attention", (33,), (3,), (32, 16)),
    ("attention_mma", (65,), (2,), (128,)),
    ("matmul_tma", (65, 64), (1, 2), (160,)),
])  # fmt: skip
def test_the_default_launch_covers_the_output(name, shape, grid, block):
    assert EXERCISES[name].launch(shape) == Launch(grid, block)


def test_an_answers_own_constants_and_its_threads_parts_decide_the_launch():
    tiled, add = EXERCISES["matmul_tiled"], EXERCISES["mat_add"]
    assert tiled.launch((100, 65), {"TILE": 32}) == Launch((3, 4), (32, 32))
    assert tiled.launch((100, 65), {"TILE": np.int32(8)}) == Launch((9, 13), (8, 8))
    assert add.launch((100, 65), {"BLOCK": (32, 8)}) == Launch((3, 13), (32, 8))
    assert add.launch((100, 65), {"BLOCK": (32, 8)}, block=(8, 8)) == Launch((9, 13), (8, 8))
    transpose = EXERCISES["transpose_tiled"]
    assert transpose.launch((40, 100), {"BLOCK": (32, 8)}) == Launch((4, 2), (32, 8))
    assert tiled.launch((64, 64), {"other": "text"}) == Launch((4, 4), (16, 16))
    square = EXERCISES["matmul_2d"]
    eights = {"BM": 128, "BN": 64, "TM": 8, "TN": 8}
    assert square.launch((256, 64), eights) == Launch((1, 2), (128,))
    assert square.launch((64, 64), {"BLOCK": (16, 16)}) == Launch((1, 1), (16, 16))
    with pytest.raises(ValueError, match="64 rows and 64 columns does not fall into pieces of 6"):
        square.launch((64, 64), {"TM": 6})


@pytest.mark.parametrize("bad", [0, -1, 2.5, "x", None, True])
def test_an_impossible_size_is_refused(bad):
    with pytest.raises(ValueError, match="TILE = "):
        EXERCISES["matmul_tiled"].launch((8, 8), {"TILE": bad})


def test_nobody_can_change_the_registry_by_accident_and_an_unknown_lesson_is_named():
    with pytest.raises(TypeError):
        EXERCISES["mat_add"].points["right"] = 100
    with pytest.raises(TypeError):
        EXERCISES["matmul_tiled"].constants["TILE"] = 1
    with pytest.raises(KeyError, match="there is no lesson '77'"):
        lesson("77")


# Every exercise that was ever graded, with its points: grades of earlier terms stay what they are,
# and an instructor's list of exercises keeps its meaning. Add to it; take nothing away. One that a
# lesson gives away becomes a task, which says what it was worth and what is graded in its place.
EVER_GRADED = {
    "mat_add": "right 4, bounds 2, coalesced 2, float32 2",
    "matmul_naive": "right 5, bounds 3, float32 2",
    "matmul_coalesced": "right 3, bounds 2, coalesced 4, float32 1",
    "matmul_column_major": "right 3, bounds 2, coalesced 4, float32 1",
    "matmul_tiled": "right 3, bounds 1, shared-memory 1, race-free 2, reuse 2, float32 1",
    "blocks_per_sm": "right 8, refusals 2",
    "pick_a_tile": "right 4, resident 3, intensity 3",
    "transpose_tiled": "right 3, bounds 1, coalesced 2, conflict-free 2, race-free 1, float32 1",
    "block_scan": "right 4, bounds 1, race-free 3, reuse 1, float32 1",
    "matmul_1d": "right 3, bounds 1, race-free 2, reuse 1, registers 2, float32 1",
    "matmul_2d": "right 3, bounds 1, race-free 2, reuse 1, registers 2, float32 1",
    "matmul_wide": "right 3, bounds 1, race-free 1, reuse 1, wide 3, float32 1",
    "matmul_warp_tiled": "right 3, bounds 1, race-free 1, reuse 1, conflict-free 3, float32 1",
    "matmul_two_buffers": "right 3, bounds 1, race-free 2, reuse 1, overlap 2, float32 1",
    "matmul_async": "right 3, bounds 1, race-free 2, reuse 1, asynchronous 2, float32 1",
    "matmul_mma": "right 3, bounds 1, race-free 2, reuse 1, tensor 2, float32 1",
    "matmul_tma": "right 3, bounds 1, race-free 3, reuse 1, tensor 1, float32 1",
    "attention": "right 4, bounds 1, shared-memory 1, race-free 2, reuse 1, float32 1",
    "attention_mma": "right 4, bounds 1, race-free 2, reuse 1, tensor 1, float32 1",
    "distance_sum": "right 3, bounds 2, shared-memory 2, race-free 2, float32 1",
    "square_sum": "right 3, bounds 2, shared-memory 2, race-free 2, float32 1",
}


def test_what_was_ever_graded_can_be_graded_with_its_old_points():
    now = {
        name: ", ".join(f"{key} {points}" for key, points in each.points.items())
        for name, each in GRADED.items()
    }
    assert now == EVER_GRADED
    assert set(exercise_ids(EVER_GRADED)) == set(EVER_GRADED)
    assert {name: Settings().max_points(name) for name in now} == dict.fromkeys(now, 10)


# What was graded once and is a task now, with the exercise that took its place. Add to it as well.
NO_LONGER_GRADED = {"matmul_coalesced": "matmul_column_major"}


def test_what_is_no_longer_graded_is_a_task_and_names_what_is():
    assert FORMER == NO_LONGER_GRADED
    for name, now in NO_LONGER_GRADED.items():
        assert TASKS[name].signature.startswith(name)
        assert EXERCISES[now].lesson == TASKS[name].lesson
        assert name not in exercise_ids([TASKS[name].lesson])
    with pytest.raises(CannotGrade, match="put_seven is a task of lesson 00, and tasks are not"):
        exercise_ids(["put_seven"])


GOOD: dict[str, object] = {
    "id": "outer_product",
    "title": "Every product of two vectors",
    "lesson": "04",
    "parameters": ("x", "y", "C"),
    "points": {"right": 4, "bounds": 2, "coalesced": 2, "float32": 2},
    "reference": lambda x, y: x[:, None] * y,
    "shapes": ("M", "N", "M,N"),
}
BAD = {
    "sum": ({"points": {"right": 4, "bounds": 7}},
        "the points sum to 11, and every exercise has 10"),
    "property": ({"points": {"right": 4, "speed": 6}}, "a kernel is not judged by 'speed', but by"),
    "of a function": ({"points": {"right": 4, "refusals": 6}}, "not judged by 'refusals'"),
    "of a kernel": ({"points": {"right": 4, "bounds": 6}, "kind": FUNCTION}, "by 'bounds'"),
    "order": ({"points": {"bounds": 4, "right": 6}}, "`right` has to come first"),
    "no points": ({"points": {}}, "`right` has to come first"),
    "half": ({"points": {"right": 9.5, "bounds": 0.5}}, "write a whole number from 1 on"),
    "nothing": ({"points": {"right": 10, "bounds": 0}}, "bounds has 0 points"),
    "id": ({"id": "outer product"}, "'outer product' is no name in Python"),
    "keyword": ({"parameters": ("x", "in", "C")}, "'in' is no name in Python"),
    "twice": ({"parameters": ("x", "x", "C")}, "two parameters have one name"),
    "output": ({"output": "D"}, "the output D is none of the parameters (x, y, C)"),
    "not last": ({"output": "x"}, "the last parameter has to be the output"),
    "one shape": ({"shapes": ("M", "M,N")}, "one entry for each of x, y, C"),
    "four letters": ({"shapes": ("M,K", "N,L", "M,N")}, "three letters together"),
    "a number": ({"shapes": ("M", "N", "")}, "one or two axes"),
    "square": ({"shapes": ("M", "M", "M,M")}, "letters of their own"),
    "no reference": ({"reference": None}, "there are shapes but no `reference`"),
    "no function": ({"reference": 7}, "has to be a function"),
    "block": ({"block": (64, 32)}, "at most 1,024 threads"),
    "constant": ({"block": ("TILE", "TILE")}, "TILE is none of the constants"),
    "size": ({"block": (16, 0)}, "not 0"),
}  # fmt: skip


@every_case(("changes", "words"), BAD.values(), ids=BAD.keys())
def test_a_mistake_is_told(changes: dict[str, object], words: str) -> None:
    with pytest.raises(BadEntry) as told:
        Exercise(**{**GOOD, **changes})  # type: ignore[arg-type]
    said = str(told.value)
    assert words in said and said.startswith(f"{Path(__file__).name}, line ")
    assert said.endswith(".") and "\n" not in said and told.value._render_traceback_() == [said]


def test_an_exercise_names_its_lesson() -> None:
    good = Exercise(**GOOD)  # type: ignore[arg-type]
    several = (*EXERCISES.values(), good)
    entries.by_id(several, LESSONS)
    with pytest.raises(BadEntry, match="there is no lesson '99'"):
        entries.by_id((replace(good, lesson="99"),), LESSONS)
    with pytest.raises(BadEntry, match="another exercise of this id"):
        entries.by_id((*several, good), LESSONS)


def test_every_command_says_the_line_of_the_field(tmp_path: Path) -> None:
    """As an instructor meets it: an entry whose points sum to 11."""
    text = Path(matmul_naive.__file__).read_text(encoding="utf-8")
    wrong = text.replace('"bounds": 3, "float32": 2', '"bounds": 4, "float32": 2')
    line = next(n for n, each in enumerate(wrong.splitlines(), 1) if '"bounds": 4, "float' in each)
    path = tmp_path / "matmul_naive.py"
    path.write_text(wrong, encoding="utf-8")
    code = (
        "import sys, importlib.util as u\n"
        "from course_lib import cli\n"
        "asked = name = 'course_lib.exercises.matmul_naive'\n"
        f"s = u.spec_from_file_location(name, {str(path)!r})\n"
        "class Finder:\n"
        "    def find_spec(self, name, *rest):\n"
        "        return s if name == asked else None\n"
        "sys.meta_path.insert(0, Finder())\n"
        "sys.exit(cli.main(sys.argv[1:]))\n"
    )
    for command in (["grade", "x", "--out", "y"], ["release", "--out", "y"]):
        assert python("-c", code, *command, status=1).stderr == (
            f"matmul_naive.py, line {line}: matmul_naive: the points sum to 11, and every "
            "exercise has 10.\n"
        )
