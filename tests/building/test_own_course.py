"""A course of one's own: its file decides what is released, made into a book, and graded."""

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from child import python
from every_case import every_case

from course_lib.book.site import front_page
from course_lib.building.notebook import BuildError, Cell, code, exercise_id, markdown, source
from course_lib.building.own_course import _task_name, _without, notebook_of
from course_lib.building.placed import tasks_of
from course_lib.building.project import Project, open_project
from course_lib.building.release import make_release
from course_lib.commands import release as command
from course_lib.commands.own_course import with_settings
from course_lib.curriculum import TASKS, Task
from course_lib.grading.records import CannotGrade

ROOT = Path(__file__).resolve().parents[2]
FILE = """\
title = "GPU programming, autumn"
lessons = ["03", "02", "05", "07"]
exercises = ["block_scan", "matmul_tiled"]
tasks = ["00", "02-03", "reverse_sixteen", "load_tile"]
[points]
matmul_tiled = 20
"""
pytestmark = pytest.mark.workshop


def project(folder: Path, text: str = FILE) -> Project:
    path = folder / "course.toml"
    path.write_text(text, encoding="utf-8")
    return with_settings(open_project(ROOT), path)


def test_a_release_holds_what_is_named_and_nothing_else(tmp_path: Path) -> None:
    made = make_release(project(tmp_path))
    exercises = {name for name in made.files if name.startswith("exercises/")}
    names = ("05_shared_memory_tiling.ipynb", "07_bank_conflicts.ipynb", "course_lib.py")
    assert exercises == {f"exercises/{name}" for name in names}
    seven = made.files["exercises/07_bank_conflicts.ipynb"].decode()
    assert "block_scan" in seven and "transpose_tiled" not in seven
    readme = made.files["README.md"].decode()
    assert readme.startswith("# GPU programming, autumn\n")
    assert "`matmul_tiled` (20 points)" in readme
    assert readme.index("[03 ·") < readme.index("[02 ·") < readme.index("[05 ·")
    assert "(20 points)" in made.files["exercises/05_shared_memory_tiling.ipynb"].decode()


def test_what_stays_of_a_lesson_is_whole(tmp_path: Path) -> None:
    own = project(tmp_path)
    for lesson in own.lessons:
        cells = notebook_of(own, lesson, "notebooks")["cells"]
        asked = {task.id for task in tasks_of(cells)}
        assert asked == {name for name in own.tasks or () if TASKS[name].lesson == lesson.number}
        texts = "\n".join(map(source, cells))
        for path in re.findall(r"\]\(([^)\s:]+\.ipynb)\)", texts):
            assert Path(path).stem in {each.stem for each in own.lessons}, path
    five = next(each for each in own.lessons if each.number == "05")
    texts = "\n".join(map(source, notebook_of(own, five, "notebooks")["cells"]))
    assert "Two small kernels" in texts and "place_the_barriers" not in texts
    assert 'yours_or_ours("one_tile_product")' not in texts  # its section is gone, too


def sections(cells: Sequence[Cell]) -> dict[str, str]:
    """The text of a notebook by the heading that it stands under, wherever in a cell that is."""
    authored = [cell for cell in cells if not cell["id"].startswith("ours-")]
    text = "\n\n".join(each for cell in authored if (each := source(cell)))
    return {part.partition("\n")[0]: part for part in re.split(r"(?m)^(?=## )", text)[1:]}


@pytest.mark.slow
@every_case("task", list(TASKS.values()), ids=lambda task: task.id)
def test_a_section_goes_with_its_task_and_no_other(task: Task) -> None:
    """Or its text says that the task is left out."""
    own = replace(open_project(ROOT), tasks=frozenset(TASKS) - {task.id})
    lesson = next(each for each in own.lessons if each.number == task.lesson)
    before = sections(notebook_of(open_project(ROOT), lesson, "notebooks")["cells"])
    after = sections(notebook_of(own, lesson, "notebooks")["cells"])
    for heading, text in before.items():
        asked = re.findall(r"(?m)^# TASK (\w+)", text)
        if asked == [task.id]:
            assert heading not in after
        elif task.id in asked:
            assert f"leaves out the task `{task.id}`" in after[heading]
        elif not re.search(rf"\b{task.id}\b", text):
            assert after[heading] == text


def a_lesson(gives: str) -> list[Cell]:
    """One section asks for a task and gives something, another one uses it."""
    task = code("# TASK load_tile\ndef load_tile(): ...")
    one = [markdown("# Lesson"), markdown("## One"), task, code(gives)]
    return [*one, markdown("## Two"), code("print(T)")]


def without_any_task(cells: Sequence[Cell]) -> list[Cell]:
    return _without(cells, "## ", _task_name, lambda each: False)


@every_case("gives", ["for T in range(16): print(T)", "T = 4\nT += 1", "S = 4\nT = S + 1"])
def test_what_takes_more_than_a_line_is_not_left_out(gives: str) -> None:
    with pytest.raises(BuildError, match="a part that stays uses `T`, which belongs to a part"):
        without_any_task(a_lesson(gives))


def test_an_exercise_that_is_left_out_needs_a_heading() -> None:
    asked = [f"# EXERCISE {name}\ndef {name}(): ..." for name in ("block_scan", "transpose_tiled")]
    cells = [markdown("# Both"), *map(code, asked)]
    with pytest.raises(BuildError, match="no heading says where transpose_tiled begins"):
        _without(cells, "## Exercise", exercise_id, lambda each: each == "block_scan")


def test_the_first_page_of_the_book_follows(tmp_path: Path) -> None:
    page = front_page(project(tmp_path))
    assert "# GPU programming, autumn" in page
    assert page.index("[03 ·") < page.index("[02 ·") and "notebooks/08" not in page
    assert "(20 points)" in page


@pytest.mark.parametrize(("text", "said"), [
    ('lessons = ["99"]', "`lessons`: there is no lesson '99'"),
    ('lessons = ["05-02"]', "`lessons`: '05-02' ends before it begins."),
    ("lessons = []", "`lessons` is []; write a list of lessons, such as"),
    ('lessons = "05"', "`lessons` is '05'; write a list of lessons, such as"),
    ('lessons = ["05", "05"]', "`lessons` has '05' twice"),
    ('lessons = ["05"]\nexercises = ["07"]', "transpose_tiled, which belongs to lesson 07"),
    ('lessons = ["05"]\ntasks = ["put_sevens"]', "there is no task 'put_sevens'; did you mean"),
    ('lessons = ["05"]\ntasks = ["turn_tile"]', "turn_tile, which belongs to lesson 07; add"),
    ('tasks = ["matmul_tiled"]', "`tasks` has matmul_tiled, which is graded; write it into"),
    ("tasks = 3", "`tasks` is 3; write a list of tasks or lessons"),
    ('exercises = ["convolve"]', "convolve is a task of lesson 05, and tasks are not graded"),
])  # fmt: skip
def test_a_bad_line_is_one_sentence(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(CannotGrade) as caught:
        project(tmp_path, text)
    message = str(caught.value)
    assert message.startswith(f"{tmp_path / 'course.toml'}: ") and said in message, message
    assert "\n" not in message and message.endswith((".", "?"))


@every_case(("text", "more", "said"), [
    ('lessons = ["99"]', [], "there is no lesson '99'"), (FILE, ["--lessons", "05"], "--lessons"),
])  # fmt: skip
def test_the_command_says_it_before_anything_is_made(tmp_path, capsys, text, more, said):
    (tmp_path / "course.toml").write_text(text)
    out = tmp_path / "out"
    asked = ["--out", str(out), "--settings", str(tmp_path / "course.toml"), *more]
    assert command.main(asked) == 2
    assert said in capsys.readouterr().err and not out.exists()


@pytest.mark.slow
def test_its_lessons_run(tmp_path: Path) -> None:
    """As `course.py run` runs them: lesson 05 with ours for the tasks that are left out."""
    text = 'lessons = ["05", "07"]\ntasks = ["mirror_rows", "one_tile_product"]\n'
    (tmp_path / "course.toml").write_text(text)
    out = tmp_path / "out"
    assert command.main(["--out", str(out), "--settings", str(tmp_path / "course.toml")]) == 0
    python("-m", "course_lib.cli", "run", "05", "07", cwd=out, PYTHONPATH=str(out))


def test_grades_follow_the_order_of_the_file(tmp_path: Path) -> None:
    from course_lib.grading.settings import exercise_ids, load_settings

    (tmp_path / "course.toml").write_text(FILE)
    settings = load_settings(tmp_path / "course.toml")
    assert settings.exercises == ("block_scan", "matmul_tiled")
    assert sorted(["matmul_tiled", "mat_add", "block_scan"], key=settings.place) == [
        "block_scan", "matmul_tiled", "mat_add",
    ]  # fmt: skip
    assert exercise_ids(["05", "07"], settings.exercises) == ("block_scan", "matmul_tiled")
    with pytest.raises(CannotGrade, match="mat_add is not in this course, which has block_scan"):
        exercise_ids(["mat_add"], settings.exercises)
    assert replace(settings, exercises=None).place("mat_add") < settings.place("zzz")
