"""What students get: all that they need, no solution, for an exam no hints; publishing."""

import ast
import dataclasses
import io
import os
import re
import shutil
import subprocess
import zipfile
from functools import cache, partial
from pathlib import Path

import pytest
from child import python
from sampling import few

from course_lib.building import release
from course_lib.building.notebook import BEGIN, END, BuildError, answer_cells, dumps, read, source
from course_lib.building.project import Project, open_project
from course_lib.building.release import (
    MARK,
    Release,
    chosen_lessons,
    is_tag,
    make_release,
    steps_left,
    write_folder,
    zipped,
)
from course_lib.commands import release as command
from course_lib.curriculum import EXERCISES
from course_lib.student import exam

REPOSITORY = Path(__file__).resolve().parents[2]
LONG_ENOUGH = 20  # characters: a shorter line is anybody's
RELEASES = [[], ["00-07"], ["05"]]


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


@pytest.mark.workshop
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


@pytest.mark.workshop
@pytest.mark.parametrize("names", RELEASES, ids=str)
def test_what_only_others_need_is_not_there_and_links_lead_somewhere(names: list[str]) -> None:
    for path in made(*names).files:
        assert not re.match(r"(solutions|tests|benchmarks|executed|\.github|\.ci|\.venv)", path)
        assert not re.match(r"course_lib/(grading|building|book)/", path)
        assert "__pycache__" not in path and path.count("..") == 0
    assert not [path for path in made("00-07").files if path.startswith("course_lib/kernels")]
    files = made(*names).files
    for page in [path for path in files if path.endswith(".md")]:
        prose = re.sub(r"```.*?```", "", text(files[page]), flags=re.DOTALL)
        for link in re.findall(r"\]\((?!https?:|#)([^)#\s]+)", prose):
            target = os.path.normpath(Path(page).parent / link).replace(os.sep, "/")
            assert target in files, (page, link)


@pytest.mark.workshop
def test_a_solved_exercise_is_not_handed_out(tmp_path: Path) -> None:
    name = "02_naive_matmul.ipynb"
    solution = REPOSITORY / "solutions" / name
    notebook = read(REPOSITORY / "exercises" / name)
    release._refuse_answers(REPOSITORY / "exercises" / name, solution)
    answer_cells(notebook)["matmul_naive"]["source"] += ["\n    C[0, 0] = 1"]
    (tmp_path / name).write_text(dumps(notebook), encoding="utf-8")
    with pytest.raises(BuildError, match="contains an answer to matmul_naive; "):
        release._refuse_answers(tmp_path / name, solution)


@pytest.mark.workshop
@pytest.mark.slow
@pytest.mark.parametrize("names", RELEASES[:2], ids=str)
def test_every_import_of_the_library_is_there(names: list[str]) -> None:
    files = made(*names).files
    for path, content in files.items():
        if not path.endswith(".py"):
            continue
        for node in ast.walk(ast.parse(content)):
            wanted = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            wanted += [each.name for each in node.names] if isinstance(node, ast.Import) else []
            for name in (each for each in wanted if each.startswith("course_lib")):
                place = name.replace(".", "/")
                assert {f"{place}.py", f"{place}/__init__.py"} & files.keys(), (path, name)


@pytest.mark.workshop
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


@pytest.mark.workshop
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


@pytest.mark.workshop
def test_equal_releases_are_equal_bytes() -> None:
    lessons = chosen_lessons(["05"])
    first, again = (make_release(open_project(REPOSITORY, lessons)) for _ in range(2))
    assert list(again.files) == sorted(again.files)
    assert zipped(again, "course") == zipped(first, "course")
    with zipfile.ZipFile(io.BytesIO(zipped(again, "course"))) as archive:
        assert archive.testzip() is None
        assert {each.date_time[0] for each in archive.infolist()} == {1980}
        assert all(each.filename.startswith("course/") for each in archive.infolist())


@pytest.mark.workshop
def test_an_earlier_release_is_replaced_and_what_is_none_is_refused(tmp_path: Path) -> None:
    out = tmp_path / "course"
    write_folder(small(old=b"1"), out)
    write_folder(small(new=b"2"), out)
    assert {path.name for path in out.iterdir()} == {MARK, "new"}
    assert [path.name for path in tmp_path.iterdir()] == ["course"]
    (out / MARK).unlink()
    with pytest.raises(BuildError, match="contains other files; name a new or empty folder"):
        write_folder(small(new=b"3"), out)
    assert (out / "new").read_bytes() == b"2"
    (tmp_path / "file").write_text("mine")
    with pytest.raises(BuildError, match="is not a folder"):
        write_folder(small(), tmp_path / "file")
    if os.name != "nt":
        (tmp_path / "link").symlink_to(tmp_path / "elsewhere")
        with pytest.raises(BuildError, match="is not a folder"):
            write_folder(small(), tmp_path / "link")


@pytest.mark.workshop
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


@pytest.mark.workshop
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


@pytest.mark.workshop
def test_nothing_has_to_be_installed_to_make_a_release(tmp_path: Path) -> None:
    program = (
        "import sys; from course_lib.commands.release import main; sys.exit(main(sys.argv[1:]))"
    )
    python("-S", "-c", program, "--out", tmp_path / "out", "--lessons", "00")
    assert (tmp_path / "out" / "notebooks" / "00_start_here.ipynb").is_file()


@pytest.mark.workshop
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


ASKED = """
import course_lib
from numba import cuda, float32

course_lib.show_answer("double_matrix")
"""
TRIED = """
@cuda.jit
def matmul_naive(A, B, C):
    column, row = cuda.grid(2)
    if row < C.shape[0] and column < C.shape[1]:
        total = float32({start})
        for k in range(A.shape[1]):
            total += A[row, k] * B[k, column]
        C[row, column] = total

course_lib.check("matmul_naive", matmul_naive)
"""


@pytest.fixture(scope="module")
def exam_copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("exam") / "course"
    assert command.main(["--out", str(folder), "--lessons", "02", "--exam"]) == 0
    return folder


def test_the_exercises_of_an_exam_hold_no_hints(exam_copy: Path) -> None:
    texts = [source(cell) for cell in read(exam_copy / "exercises/02_naive_matmul.ipynb")["cells"]]
    assert not [text for text in texts if "Hint" in text or "hint" in text]
    assert any(text.startswith("# EXERCISE matmul_naive") for text in texts)


@pytest.mark.slow
def test_a_check_says_whether_and_not_why(exam_copy: Path) -> None:
    script = exam_copy / "try.py"
    script.write_text(ASKED + TRIED.format(start=0) + TRIED.format(start=1))
    ran = python(script, cwd=exam_copy, status=None, PYTHONPATH=str(exam_copy))
    said = [exam.WHY_NOT, "matmul_naive: right", "matmul_naive: not right"]
    assert ran.stdout.splitlines() == said
    assert ran.stderr.splitlines()[-1].endswith(f"matmul_naive is not right. {exam.WHY_NOT}")


HOME = "https://github.com/some-one/course"
PUBLIC = f"{HOME} must be public: Colab asks without a password."


@pytest.fixture
def placed(course: Project) -> Project:
    """The tiny course, all of it committed on the branch main, with an address."""
    git(course, "init", "-q", "-b", "main")
    commit(course)
    return dataclasses.replace(course, repository="some-one/course")


def git(project: Project, *words: str) -> None:
    names = {f"GIT_{who}": "x@y" for who in
             ("AUTHOR_NAME", "AUTHOR_EMAIL", "COMMITTER_NAME", "COMMITTER_EMAIL")}  # fmt: skip
    command = ["git", "-C", str(project.root), *words]
    subprocess.run(command, check=True, capture_output=True, env=os.environ | names)


def commit(project: Project) -> None:
    git(project, "add", "--all")
    git(project, "commit", "-q", "-m", "x")


def pushed(project: Project, folder: Path) -> None:
    """As if `origin` were GitHub: a bare repository whose address is replaced afterwards."""
    bare = folder / "bare.git"
    subprocess.run(["git", "init", "-q", "--bare", str(bare)], check=True)
    git(project, "remote", "add", "origin", str(bare))
    git(project, "push", "-q", "origin", "HEAD:main")
    git(project, "remote", "set-url", "origin", f"{HOME}.git")


def test_without_an_address_that_comes_first_and_another_remote_is_told(course, placed):
    assert steps_left(course) == ["python3 course.py build --repository OWNER/NAME"]
    git(placed, "remote", "add", "origin", "https://github.com/other/place.git")
    assert steps_left(placed)[0] == (
        f"git remote set-url origin {HOME}.git    (it is https://github.com/other/place.git)"
    )


def test_a_branch_needs_no_tag(placed: Project, tmp_path_factory: pytest.TempPathFactory) -> None:
    assert steps_left(placed) == [
        f"git remote add origin {HOME}.git", "git push origin main", PUBLIC,
    ]  # fmt: skip
    pushed(placed, tmp_path_factory.mktemp("github"))
    assert steps_left(placed) == [PUBLIC]
    (placed.root / "README.md").write_text("changed")
    assert [each.split(" --message")[0] for each in steps_left(placed)] == [
        "git commit --all", "git push origin main", PUBLIC,
    ]  # fmt: skip
    commit(placed)
    assert steps_left(placed) == ["git push origin main", PUBLIC]
    git(placed, "switch", "-q", "-c", "draft")
    assert steps_left(placed) == ["git push origin HEAD:main", PUBLIC]


def test_a_tag_is_made_and_pushed(placed, tmp_path_factory):
    pushed(placed, tmp_path_factory.mktemp("github"))
    project = dataclasses.replace(placed, ref="v1.2.3")
    assert steps_left(project) == ["git tag v1.2.3", "git push origin v1.2.3", PUBLIC]
    git(project, "tag", "v1.2.3")
    assert steps_left(project) == ["git push origin v1.2.3    (unless it is there)", PUBLIC]
    (project.root / "README.md").write_text("changed")
    commit(project)
    assert steps_left(project) == [
        "git tag --force v1.2.3", "git push --force origin v1.2.3", PUBLIC,
    ]  # fmt: skip


def test_what_is_not_there_yet_is_a_tag_if_it_looks_like_a_version(placed):
    assert not is_tag(dataclasses.replace(placed, ref="main"))
    for ref, tag in ("v1.2.3", True), ("1.0", True), ("spring", False):
        project = dataclasses.replace(placed, ref=ref)
        assert is_tag(project) == tag
        git(project, "branch" if tag else "tag", ref)
        assert is_tag(project) != tag
