"""The registry agrees with itself and with the design's table of exercises."""

import numpy as np
import pytest
from every_case import every_case

from course_lib.curriculum import EXERCISES, LESSONS, PROPERTIES, TASKS, Launch, lesson
from course_lib.grading.records import FORMER, GRADED, CannotGrade
from course_lib.grading.settings import Settings, exercise_ids


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
def test_an_exercise_is_judged_by_known_properties(each):
    assert next(iter(each.points)) == "right"
    assert set(each.points) <= set(PROPERTIES)
    assert "right" not in each.requirements
    assert each.max_points == 10
    assert all(points > 0 for points in each.points.values())
    if each.kind.name == "kernel":
        assert "float32" in each.requirements
        assert each.output in each.parameters
    assert each.id.isidentifier()


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


def test_an_answers_own_constants_replace_the_defaults():
    tiled, add = EXERCISES["matmul_tiled"], EXERCISES["mat_add"]
    assert tiled.launch((100, 65), {"TILE": 32}) == Launch((3, 4), (32, 32))
    assert tiled.launch((100, 65), {"TILE": np.int32(8)}) == Launch((9, 13), (8, 8))
    assert add.launch((100, 65), {"BLOCK": (32, 8)}) == Launch((3, 13), (32, 8))
    assert add.launch((100, 65), {"BLOCK": (32, 8)}, block=(8, 8)) == Launch((9, 13), (8, 8))
    transpose = EXERCISES["transpose_tiled"]
    assert transpose.launch((40, 100), {"BLOCK": (32, 8)}) == Launch((4, 2), (32, 8))
    assert tiled.launch((64, 64), {"other": "text"}) == Launch((4, 4), (16, 16))


def test_a_threads_part_of_the_tile_decides_how_many_threads_there_are():
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


def test_nobody_can_change_the_registry_by_accident():
    with pytest.raises(TypeError):
        EXERCISES["mat_add"].points["right"] = 100
    with pytest.raises(TypeError):
        EXERCISES["matmul_tiled"].constants["TILE"] = 1


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


def test_an_unknown_lesson_is_named():
    with pytest.raises(KeyError, match="there is no lesson '77'"):
        lesson("77")
