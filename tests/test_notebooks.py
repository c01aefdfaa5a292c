"""The notebooks of the course: in form, by the rules, at one address; and exercises run."""

import re
from pathlib import Path

import nbformat
import pytest
from every_case import every_case
from lesson_rules.quick_checks import quiz_rules
from lesson_rules.rules import common_rules, lesson_rules, solution_rules
from with_nbval import nbval

from course_lib.building.notebook import (
    code_cells,
    dumps,
    markdown_cells,
    read,
    solve,
    source,
    tagged,
    tags,
)
from course_lib.building.outputs import text_of
from course_lib.building.project import open_project
from course_lib.commands import lab
from course_lib.commands.build import check
from course_lib.curriculum import LESSONS
from course_lib.questions import quick_checks
from course_lib.questions.card import text_of as question_text

ROOT = Path(__file__).resolve().parents[1]
PROJECT = open_project(ROOT)
WITH_EXERCISES = [each for each in LESSONS if each.exercises]
FOLDERS = ("notebooks", "solutions", "exercises")
PATHS = sorted(path for folder in FOLDERS for path in (ROOT / folder).glob("*.ipynb"))


def name(path: Path) -> str:
    return f"{path.parent.name}/{path.stem}"


def notebook(folder: str, lesson) -> dict:
    return read(ROOT / folder / f"{lesson.stem}.ipynb")


def test_nothing_has_drifted():
    said: list[str] = []
    assert check(PROJECT, say=said.append) == 0, "\n".join(said)


@every_case("path", PATHS, ids=name)
def test_a_notebook_is_valid_and_keeps_the_common_rules(path):
    nbformat.validate(nbformat.read(path, as_version=4))
    assert list(common_rules(read(path))) == []


@every_case("lesson", LESSONS, ids=lambda each: each.number)
def test_a_lesson_has_its_anatomy_and_asks_its_quick_checks_as_they_are_written(lesson):
    assert list(lesson_rules(notebook("notebooks", lesson), lesson)) == []
    assert list(quiz_rules(notebook("notebooks", lesson), lesson)) == []
    cells = tagged(notebook("notebooks", lesson), "quiz")
    stored = [text_of(output) for cell in cells for output in cell["outputs"]]
    written = [question_text(question) for question in quick_checks(lesson.number).values()]
    assert sorted(stored) == sorted(written), f"build --execute {lesson.number}"


@every_case("lesson", WITH_EXERCISES, ids=lambda each: each.number)
def test_a_solution_has_its_exercises_in_order(lesson):
    """What is taken out of it for the exercise is held by `check`, and by test_cells."""
    assert list(solution_rules(notebook("solutions", lesson), lesson)) == []


@every_case("path", PATHS, ids=name)
def test_links_to_files_of_the_course_resolve(path):
    text = "\n\n".join(source(cell) for cell in markdown_cells(read(path)))
    text = re.sub(r"`[^`]*`", "", text)  # `kernel[grid, block](arguments)` is no link
    targets = re.findall(r"\]\((?!https?:|#|mailto:)([^)\s#]+)", text)
    assert targets, "not even a link to the next notebook"
    assert [each for each in targets if not (path.parent / each).exists()] == []
    if path.parent.name != "solutions":  # a student's copy lies one folder deeper, with these
        folders = {(path.parent / each).resolve().relative_to(ROOT).parts[0] for each in targets}
        assert folders <= set(lab.FOLDERS)


def test_every_notebook_was_run_on_the_emulator_and_no_exercise_was():
    for path in PATHS:
        counts = [cell["execution_count"] for cell in code_cells(read(path))]
        run = [count for count in counts if count is not None]  # not all above the first task
        assert run == sorted(set(run)), name(path)
        assert bool(run) == (path.parent.name != "exercises"), name(path)
        assert not run or (run[-1] == len(counts) and len(run) > len(counts) / 2), name(path)


def test_pictures_are_stored_where_lessons_show_them():
    for path in PATHS:
        if path.parent.name == "notebooks":
            for cell in tagged(read(path), "figure"):
                kinds = [kind for output in cell["outputs"] for kind in output.get("data", {})]
                assert "image/png" in kinds, f"{name(path)}, cell {cell['id']}"


def cells_of(paths: list[Path], *, checks_only: bool = False) -> set[tuple[str, int]]:
    return {
        (path.stem, number)
        for path in paths
        for number, cell in enumerate(code_cells(read(path)))
        if not checks_only or "check" in tags(cell)
    }


def of_folder(folder: str) -> list[Path]:
    return [path for path in PATHS if path.parent.name == folder]


def slow_if(five: bool) -> pytest.MarkDecorator:
    """Lesson 05 stands for the others."""
    return pytest.mark.slow if five else pytest.mark.long


@pytest.mark.notebook
@pytest.mark.parametrize("path", [
    pytest.param(path, id=name(path), marks=slow_if(path.name[:2] == "05"))
    for path in of_folder("exercises")
])  # fmt: skip
def test_an_unsolved_exercise_fails_exactly_at_its_checks(tmp_path, path):
    said = nbval(tmp_path, path)
    assert said.failed == cells_of([path], checks_only=True), said.text
    assert said.passed == cells_of([path]) - said.failed
    # Where the given code runs without its gaps, its check says what is wrong with it.
    told = ("missing-answer", "no answer yet", "is not right yet")
    assert any(each in said.text for each in told), said.text


@pytest.mark.notebook
@pytest.mark.parametrize("lesson", [
    pytest.param(each, id=each.number, marks=slow_if(each.number == "05"))
    for each in WITH_EXERCISES
])  # fmt: skip
def test_an_exercise_that_is_solved_by_hand_passes(tmp_path, lesson):
    done = solve(notebook("exercises", lesson), notebook("solutions", lesson))
    solved = tmp_path / "exercises" / f"{lesson.stem}.ipynb"
    solved.parent.mkdir()
    solved.write_text(dumps(done), encoding="utf-8")
    said = nbval(tmp_path, solved)
    assert said.status == 0, said.text
    assert said.passed == cells_of([solved])
