"""The notebooks of the course: in form, by the rules, at one address; and exercises run."""

import re
from pathlib import Path

import nbformat
import pytest
from every_case import every_case
from lesson_rules.quick_checks import quiz_rules
from lesson_rules.rules import (
    SETUP_LINES,
    common_rules,
    lesson_rules,
    solution_rules,
)
from with_nbval import nbval

import course_lib
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
from course_lib.building.project import PLACEHOLDER, open_project
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

# Addresses of our own repository, wherever they are written.
OURS = re.compile(
    r"colab\.research\.google\.com/github/([\w.-]+/[\w.-]+)/blob"
    r"|mybinder\.org/v2/gh/([\w.-]+/[\w.-]+)/"
    r"|github\.com/([\w.-]+/[\w.-]+)/archive"
    r"|git clone https://github\.com/([\w.-]+/[\w.-]+?)(?:\.git)?\s"
    r'|repository-code: "https://github\.com/([\w.-]+/[\w.-]+)"'
)


def name(path: Path) -> str:
    return f"{path.parent.name}/{path.stem}"


def notebook(folder: str, lesson) -> dict:
    return read(ROOT / folder / f"{lesson.stem}.ipynb")


def test_every_lesson_and_exercise_of_the_registry_is_there():
    expected = {f"notebooks/{each.stem}" for each in LESSONS}
    expected |= {f"{folder}/{each.stem}" for each in WITH_EXERCISES for folder in FOLDERS[1:]}
    assert {name(path) for path in PATHS} == expected


def test_nothing_has_drifted():
    said: list[str] = []
    assert check(PROJECT, say=said.append) == 0, "\n".join(said)


@every_case("path", PATHS, ids=name)
def test_a_notebook_is_valid_and_keeps_the_common_rules(path):
    nbformat.validate(nbformat.read(path, as_version=4))
    assert list(common_rules(read(path))) == []


@every_case("lesson", LESSONS, ids=lambda each: each.number)
def test_a_lesson_has_its_anatomy(lesson):
    assert list(lesson_rules(notebook("notebooks", lesson), lesson)) == []


@every_case("lesson", LESSONS, ids=lambda each: each.number)
def test_a_lesson_asks_its_quick_checks(lesson):
    assert list(quiz_rules(notebook("notebooks", lesson), lesson)) == []


@every_case("lesson", LESSONS, ids=lambda each: each.number)
def test_stored_quick_checks_ask_what_the_questions_ask(lesson):
    stored = [
        text_of(output)
        for cell in tagged(notebook("notebooks", lesson), "quiz")
        for output in cell["outputs"]
    ]
    written = [question_text(question) for question in quick_checks(lesson.number).values()]
    assert sorted(stored) == sorted(written), f"build --execute {lesson.number}"


@every_case("lesson", WITH_EXERCISES, ids=lambda each: each.number)
def test_a_solution_has_its_exercises_in_order(lesson):
    """What is taken out of it for the exercise is held by `check`, and by test_exercises."""
    assert list(solution_rules(notebook("solutions", lesson), lesson)) == []


@every_case("path", PATHS, ids=name)
def test_a_notebook_opens_runs_and_leads_on(path):
    cells = read(path)["cells"]
    assert "launch" in tags(cells[0]) and "next" in tags(cells[-1])
    heading, *below = source(cells[0]).split("\n\n")
    assert re.fullmatch(r"# (Exercise |Solution )?\d\d[a-z]? · .+", heading)
    address = f"{PROJECT.repository}/blob/main/{path.parent.name}/{path.name})"
    assert any(address in each for each in below) == PROJECT.has_address
    first_code = next(cell for cell in cells if cell["cell_type"] == "code")
    assert "setup" in tags(first_code)
    number = path.name.split("_")[0] if path.parent.name == "notebooks" else ""
    assert source(first_code).endswith(f'course_lib.start("{number}")' if number else ".start()")
    lines = [line for line in source(first_code).splitlines() if line]
    assert len(lines) <= SETUP_LINES


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


def test_the_address_is_the_same_everywhere():
    files = [*PATHS, *(ROOT / each for each in ("README.md", "CONTRIBUTING.md", "CITATION.cff"))]
    found = {
        (path.name, next(filter(None, match.groups())))
        for path in files
        if path.exists()
        for match in OURS.finditer(path.read_text(encoding="utf-8"))
    }
    assert {repository for _, repository in found} == {PROJECT.repository}
    with_address = {file for file, _ in found} & {path.name for path in PATHS}
    assert with_address == ({path.name for path in PATHS} if PROJECT.has_address else set())


def test_badges_and_setup_cells_name_one_ref():
    # A student gets the library that belongs to the notebook, from one branch or tag.
    assert PROJECT.version == course_lib.__version__
    text = "\n".join(path.read_text(encoding="utf-8") for path in PATHS)
    refs = {*re.findall(r"/blob/([^/]+)/", text), *re.findall(r"/archive/(.+?)\.zip", text)}
    assert refs == ({PROJECT.ref} if PROJECT.has_address else set())
    assert [name(path) for path in PATHS if PLACEHOLDER in path.read_text(encoding="utf-8")] == []


def cells_of(paths: list[Path], *, checks_only: bool = False) -> set[tuple[str, int]]:
    return {
        (path.stem, number)
        for path in paths
        for number, cell in enumerate(code_cells(read(path)))
        if not checks_only or "check" in tags(cell)
    }


def of_folder(folder: str) -> list[Path]:
    return [path for path in PATHS if path.parent.name == folder]


@pytest.mark.notebook
@pytest.mark.parametrize(
    "path",
    [
        pytest.param(path, marks=pytest.mark.slow if path.name[:2] == "05" else pytest.mark.long)
        for path in of_folder("exercises")
    ],
    ids=name,
)
def test_an_unsolved_exercise_fails_exactly_at_its_checks(tmp_path, path):
    said = nbval(tmp_path, path)
    assert said.failed == cells_of([path], checks_only=True), said.text
    assert said.passed == cells_of([path]) - said.failed
    # Where the given code runs without its gaps, its check says what is wrong with it.
    told = ("missing-answer", "no answer yet", "is not right yet")
    assert any(each in said.text for each in told), said.text


@pytest.mark.notebook
@pytest.mark.parametrize(
    "lesson",
    [
        pytest.param(each, marks=pytest.mark.slow if each.number == "05" else pytest.mark.long)
        for each in WITH_EXERCISES
    ],
    ids=lambda each: each.number,
)
def test_an_exercise_that_is_solved_by_hand_passes(tmp_path, lesson):
    done = solve(notebook("exercises", lesson), notebook("solutions", lesson))
    solved = tmp_path / "exercises" / f"{lesson.stem}.ipynb"
    solved.parent.mkdir()
    solved.write_text(dumps(done), encoding="utf-8")
    said = nbval(tmp_path, solved)
    assert said.status == 0, said.text
    assert said.passed == cells_of([solved])
