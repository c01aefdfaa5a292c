"""What students get: all that they need, and no solution."""

import ast
import io
import os
import re
import shutil
import zipfile
from functools import cache, partial
from pathlib import Path

import pytest
from child import python
from sampling import few

from course_lib.building import release
from course_lib.building.notebook import BEGIN, END, BuildError, answer_cells, dumps, read, source
from course_lib.building.project import open_project
from course_lib.building.release import (
    MARK,
    Release,
    chosen_lessons,
    make_release,
    write_folder,
    zipped,
)
from course_lib.commands import release as command
from course_lib.curriculum import EXERCISES

REPOSITORY = Path(__file__).resolve().parents[2]
LONG_ENOUGH = 20  # characters: a shorter line is anybody's
RELEASES = [[], ["00-07"], ["05"]]
pytestmark = pytest.mark.workshop


@cache
def made(*names: str) -> Release:
    return make_release(open_project(REPOSITORY, chosen_lessons(names)))


def text(content: bytes) -> str:
    return content.decode("utf-8", "replace")


def lines_of(notebook: Path) -> set[str]:
    return {line.strip() for cell in read(notebook)["cells"] for line in source(cell).splitlines()}


def solution_lines(notebook: Path) -> set[str]:
    """What the solutions of a notebook have between their markers, but for comments."""
    found, inside = set(), False
    for cell in answer_cells(read(notebook)).values():
        for line in map(str.strip, source(cell).splitlines()):
            inside = line == BEGIN or (inside and line != END)
            if inside and len(line) >= LONG_ENOUGH and not line.startswith("#"):
                found.add(line)
    return found


SOLUTIONS = [*(REPOSITORY / "solutions").glob("*.ipynb")]


@cache
def secret_lines() -> set[str]:
    """The lines of all solutions, but for what the course shows anyway."""
    shown = set().union(*map(lines_of, (REPOSITORY / "notebooks").glob("*.ipynb")))
    # What a lesson asks in its quick checks is shown there as well, and tasks may show an answer.
    library = REPOSITORY / "course_lib"
    # The rungs themselves are part of the library, and lesson 09 shows them.
    folders = ("questions", "tasks", "kernels")
    for path in (path for folder in folders for path in library.glob(f"{folder}/*.py")):
        shown |= set(map(str.strip, path.read_text(encoding="utf-8").splitlines()))
    given = ""
    # And an exercise that starts from another one's answer gives its lines.
    for path in (REPOSITORY / "exercises").glob("*.ipynb"):
        for name, cell in answer_cells(read(path)).items():
            given += source(cell) if EXERCISES[name].starts_from else ""
    secret = set().union(*map(solution_lines, SOLUTIONS)) - shown
    return {line for line in secret if line not in given}


@pytest.mark.parametrize("names", few(RELEASES), ids=str)
def test_no_line_of_a_solution_is_in_it_but_what_lessons_show(names: list[str]) -> None:
    release, secret = made(*names), secret_lines()
    assert len(secret) > 50
    named = tuple(release.shows)
    for path, content in release.files.items():
        if not path.startswith(named):
            # A later exercise gives what its student has typed before.
            typed = [each for each in SOLUTIONS if path.startswith("exercises/")
                     and each.name < Path(path).name]  # fmt: skip
            before = set().union(*map(solution_lines, typed))
            shown = text(content)
            leaked = [line for line in secret - before if line in shown]
            # The one that is a part of a longer line in a lesson.
            assert set(leaked) <= {"tid = cuda.threadIdx.x"}, (path, leaked)


@pytest.mark.parametrize("names", RELEASES, ids=str)
def test_what_only_instructors_and_maintainers_need_is_not_there(names: list[str]) -> None:
    for path in made(*names).files:
        assert not re.match(r"(solutions|tests|benchmarks|executed|\.github|\.ci|\.venv)", path)
        assert not re.match(r"course_lib/(grading|building|book)/", path)
        assert "__pycache__" not in path and path.count("..") == 0
    assert not [path for path in made("00-07").files if path.startswith("course_lib/kernels")]


def test_a_solved_exercise_is_not_handed_out(tmp_path: Path) -> None:
    name = "02_naive_matmul.ipynb"
    solution = REPOSITORY / "solutions" / name
    notebook = read(REPOSITORY / "exercises" / name)
    release._refuse_answers(REPOSITORY / "exercises" / name, solution)
    answer_cells(notebook)["matmul_naive"]["source"] += ["\n    C[0, 0] = 1"]
    (tmp_path / name).write_text(dumps(notebook), encoding="utf-8")
    with pytest.raises(BuildError, match="contains an answer to matmul_naive; "):
        release._refuse_answers(tmp_path / name, solution)


@pytest.mark.slow
@pytest.mark.parametrize("names", RELEASES[:2], ids=str)
def test_every_import_of_the_library_is_there(names: list[str]) -> None:
    files = made(*names).files
    for path, content in files.items():
        if not path.endswith(".py"):
            continue
        for node in ast.walk(ast.parse(content)):
            wanted = []
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("course_lib"):
                wanted = [node.module or ""]
            if isinstance(node, ast.Import):
                wanted = [each.name for each in node.names if each.name.startswith("course_lib")]
            for name in wanted:
                place = name.replace(".", "/")
                assert {f"{place}.py", f"{place}/__init__.py"} & files.keys(), (path, name)


@pytest.mark.parametrize("names", RELEASES, ids=str)
def test_the_links_of_its_pages_lead_somewhere(names: list[str]) -> None:
    files = made(*names).files
    for page in [path for path in files if path.endswith(".md")]:
        prose = re.sub(r"```.*?```", "", text(files[page]), flags=re.DOTALL)
        for link in re.findall(r"\]\((?!https?:|#)([^)#\s]+)", prose):
            target = os.path.normpath(Path(page).parent / link).replace(os.sep, "/")
            assert target in files, (page, link)


def test_only_students_commands_are_left() -> None:
    for names, commands in (
        (["00-07"], ["lab", "prepare", "run", "doctor"]),
        ([], ["lab", "prepare", "run", "doctor", "bench"]),
    ):
        door = text(made(*names).files["course_lib/commands/front_door.py"])
        table = door.partition("\nCOMMANDS = {\n")[2].partition("\n}")[0]
        assert re.findall(r'^    "(\w+)":', table, re.MULTILINE) == commands
        ast.parse(door)
        for name in re.findall(r"course\.py (\w+)", text(made(*names).files["README.md"])):
            assert name in commands


def test_a_release_of_some_lessons_has_their_notebooks_alone() -> None:
    names = [name for name in made("05").files if name.endswith(".ipynb")]
    assert names == [
        "exercises/00_start_here.ipynb",
        "exercises/05_shared_memory_tiling.ipynb",
        "notebooks/00_start_here.ipynb",
        "notebooks/05_shared_memory_tiling.ipynb",
        "notebooks/05b_what_the_clock_says.ipynb",
        "notebooks/05c_find_the_bug.ipynb",
    ]
    assert "05 · Shared-memory tiling" in text(made("05").files["README.md"])
    assert "06 · " not in text(made("05").files["README.md"])


def small(**files: bytes) -> Release:
    return Release((), {MARK: b"", **files}, {})


def test_equal_releases_are_equal_bytes() -> None:
    first, again = (
        make_release(open_project(REPOSITORY, chosen_lessons(["05"]))) for _ in range(2)
    )
    assert list(again.files) == sorted(again.files)
    assert zipped(again, "course") == zipped(first, "course")
    with zipfile.ZipFile(io.BytesIO(zipped(again, "course"))) as archive:
        assert archive.testzip() is None
        assert {each.date_time[0] for each in archive.infolist()} == {1980}
        assert all(each.filename.startswith("course/") for each in archive.infolist())


def test_an_earlier_release_is_replaced_and_other_files_are_not(tmp_path: Path) -> None:
    out = tmp_path / "course"
    write_folder(small(old=b"1"), out)
    write_folder(small(new=b"2"), out)
    assert {path.name for path in out.iterdir()} == {MARK, "new"}
    assert [path.name for path in tmp_path.iterdir()] == ["course"]
    (out / MARK).unlink()
    with pytest.raises(BuildError, match="contains other files; name a new or empty folder"):
        write_folder(small(new=b"3"), out)
    assert (out / "new").read_bytes() == b"2"


def test_a_file_or_a_link_in_its_place_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    with pytest.raises(BuildError, match="is not a folder"):
        write_folder(small(), tmp_path / "file")
    if os.name != "nt":
        (tmp_path / "link").symlink_to(tmp_path / "elsewhere")
        with pytest.raises(BuildError, match="is not a folder"):
            write_folder(small(), tmp_path / "link")


def test_a_zip_that_is_no_release_stays(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What lies beside the bundle may be the zip in which a class has handed in."""
    theirs = tmp_path / "week5.zip"
    with zipfile.ZipFile(theirs, "w") as archive:
        archive.writestr("student-01_4001_assignsubmission_file_/a.ipynb", "{}")
    before = theirs.read_bytes()
    arguments = ["--out", str(tmp_path / "week5"), "--lessons", "00", "--zip"]
    assert command.main(arguments) == 2
    assert "week5.zip exists and is not a release" in capsys.readouterr().err
    assert theirs.read_bytes() == before and not (tmp_path / "week5").exists()
    theirs.write_bytes(b"no zip at all")
    assert command.main(arguments) == 2


def test_the_command_says_what_it_made(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "bundle"
    assert command.main(["--out", str(out), "--lessons", "00-07", "--zip"]) == 0
    said = capsys.readouterr().out
    assert said.startswith("10 lessons (00 to 07), 8 exercises, ") and "bundle.zip" in said
    assert "can find a way to solve matmul_tiled in course_lib/figures/watch/kernels.py" in said
    assert zipfile.is_zipfile(tmp_path / "bundle.zip")
    assert command.main(["--out", str(out), "--lessons", "03", "--zip"]) == 0
    assert capsys.readouterr().out.startswith("2 lessons (00, 03), 2 exercises, ")
    shutil.rmtree(out)
    assert command.main(["--out", str(out)]) == 0
    assert "release fewer lessons: --lessons 00-08b." in capsys.readouterr().out
    assert command.main(["--out", str(out), "--lessons", "x"]) == 2
    assert "there is no lesson 'x'" in capsys.readouterr().err


def test_nothing_has_to_be_installed_to_make_a_release(tmp_path: Path) -> None:
    program = (
        "import sys; from course_lib.commands.release import main; sys.exit(main(sys.argv[1:]))"
    )
    python("-S", "-c", program, "--out", tmp_path / "out", "--lessons", "00")
    assert (tmp_path / "out" / "notebooks" / "00_start_here.ipynb").is_file()


@pytest.mark.slow
def test_it_works_on_its_own(tmp_path: Path) -> None:
    """What course.py would start once everything is installed."""
    course = tmp_path / "course"
    write_folder(made("00-07"), course)
    call = partial(python, "-P", cwd=course, PYTHONPATH=str(course))
    front_door = call("course.py", "--help")
    assert "grade" not in front_door.stdout and "doctor" in front_door.stdout
    assert "1 of 1 ran to the end" in call("-m", "course_lib.cli", "run", "00").stdout
    missing = call("-m", "course_lib.cli", "grade", status=2)
    assert "no command 'grade'" in missing.stderr
